// An agent on the Claude Agent SDK, which starts Claude Code: `node agent_sdk.mjs TASK`. It writes the answer, or what went wrong.

import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const modules = process.env.SENTINEL_MORE_CODING_AGENTS;
const require = createRequire(path.join(modules, "index.js"));
const { query } = await import(pathToFileURL(require.resolve("@anthropic-ai/claude-agent-sdk")).href);

const options = { allowedTools: ["Bash"], pathToClaudeCodeExecutable: process.env.SENTINEL_CLAUDE_CODE };
let failed = false;
for await (const message of query({ prompt: process.argv[2], options })) {
  if (message.type !== "result") continue;
  failed = message.is_error;
  console.log(message.result ?? message.subtype);
}
process.exit(failed ? 1 : 0);
