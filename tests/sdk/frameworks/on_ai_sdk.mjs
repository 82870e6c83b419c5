// Agents on Vercel's AI SDK: responses (its default) and chat completions, each streamed too. What stage.py is for Python is
// here at the top.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";

const require = createRequire(path.join(process.env.SENTINEL_NODE_FRAMEWORKS, "index.js"));
const { APICallError, generateText, streamText, tool } = require("ai");
const { z } = require("zod");

const { SENTINEL_URL: url, SENTINEL_ADMIN: admin } = process.env;
// The scenes of every way to run an agent, and those that the first way plays too.
const scenes = process.env.SENTINEL_SCENES.split(" ");
const once = process.env.SENTINEL_ONCE.split(" ").filter((name) => name);
// An agent that hangs is a failure.
setTimeout(() => process.exit(1), 300_000).unref();
process.env.OPENAI_API_KEY ??= "sk-none";
const document = fs.readFileSync(new URL("../../../docs/frameworks.md", import.meta.url), "utf8");
const prompt = "Read the twenty pages of the report one by one and tell me the total.";
const done = "All twenty pages are read, and the total is 4711.";
const stopped = "This agent was stopped because ";
const work = 20;
// The calls that pass, and the one that is stopped.
const stuck = 5 + 1;

let polls = 0;
let changes = 0;
const tools = {
  read_page: tool({
    description: "Reads one page of the report.",
    inputSchema: z.object({ page: z.number() }),
    execute: async ({ page }) => `Page ${page}: the branch sold ${(page * 37) % 101} units in week ${page}.`,
  }),
  find_invoice: tool({
    description: "Looks an invoice up.",
    inputSchema: z.object({ number: z.string() }),
    execute: async ({ number }) => `Invoice ${number}: ACME GmbH, 4,711.00 EUR, due on 2025-12-01, status open.`,
  }),
  fetch_order: tool({
    description: "Fetches an order.",
    inputSchema: z.object({ order: z.string() }),
    execute: async () => {
      const request = Math.random().toString(16).slice(2, 10);
      throw new Error(`the order service answered 503 (request id req-${request})`);
    },
  }),
  write_file: tool({
    description: "Writes a file.",
    inputSchema: z.object({ path: z.string(), text: z.string() }),
    execute: async ({ path, text }) => (changes++, `Wrote ${text.length} characters to ${path}.`),
  }),
  run_tests: tool({
    description: "Runs tests.",
    inputSchema: z.object({ suite: z.string() }),
    execute: async () =>
      changes < work / 2
        ? "FAILED test_report.py::test_total - AssertionError: assert 4700 == 4711. 1 failed, 11 passed."
        : "12 passed.",
  }),
  export_status: tool({
    description: "The status of an export job.",
    inputSchema: z.object({ job: z.string() }),
    execute: async () => (++polls <= work ? "running" : "done: 4711 rows"),
  }),
};

// What the code below the heading of docs/frameworks.md defines, with this stack's address and this agent's name.
function recipe(agent) {
  const block = document.split("\n## Vercel's AI SDK\n")[1].match(/```js\n(.*?)```/s)[1];
  expect(block.includes("billing-bot-7") && block.includes("task-42"), block);
  const code = block
    .replace("http://127.0.0.1:10000/openai", url)
    .replace("billing-bot-7", agent)
    .replace("task-42", `run-of-${agent}`)
    .replace(/^import (\{.*\}) from (".*");$/gm, "const $1 = require($2);");
  return new Function("require", "tools", `${code}\nreturn { openai, settings };`)(require, tools);
}

function made(agent, chat) {
  const { openai, settings } = recipe(agent);
  return { ...settings, prompt, ...(chat ? { model: openai.chat("gpt-4o-mini") } : {}) };
}

const plain = (chat) => async (agent) => (await generateText(made(agent, chat))).text;

// A stream does not throw: the error is one of its parts.
const streamed = (chat) => async (agent) => {
  const pieces = [];
  for await (const part of streamText({ ...made(agent, chat), onError: () => {} }).fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") pieces.push(part.text);
  }
  const said = pieces.join("");
  expect(said.includes(stopped) || pieces.length > 3, pieces);
  return said;
};

function expect(condition, what) {
  if (!condition) throw new Error(typeof what === "string" ? what : JSON.stringify(what));
}

// Requests that have reached Envoy's listener so far.
async function attempts() {
  const text = await (await fetch(`${admin}/stats?filter=http.agents.downstream_rq_total`)).text();
  const line = text.split("\n").find((line) => line.startsWith("http.agents.downstream_rq_total: "));
  return Number(line.split(": ")[1]);
}

async function worked(name, way, run) {
  polls = changes = 0;
  const before = await attempts();
  const said = await run(`400.tool.${name}.${way}`);
  expect(said === done, said);
  const made = (await attempts()) - before;
  const steps = name === "polling" ? work + 1 : work;
  expect(made === steps + 1, `${made} requests for ${steps} steps and an answer`);
  console.log(`ok ${way}: ${name}`);
}

async function killed(name, way, run, status) {
  const before = await attempts();
  let raised = null;
  try {
    await run(`${status}.tool.${name}.${way}`);
  } catch (error) {
    raised = error;
  }
  expect(APICallError.isInstance(raised) && raised.statusCode === status, String(raised));
  expect(raised.message.includes(stopped), raised.message);
  expect(raised.responseHeaders["x-sentinel-verdict"] === "kill", raised.responseHeaders);
  expect(raised.isRetryable === false, "it would be retried");
  const made = (await attempts()) - before;
  expect(made === stuck, `${made} requests`);
  console.log(`ok ${way}: ${name}, killed with ${status}`);
}

// The agent is in the middle of its work when it is stopped or its budget is spent, and its user is told so.
async function ended(way, run) {
  const operator = "an operator stopped it: enough of it";
  const scenes = {
    [way.endsWith("-streamed") ? "cut" : "stopped"]: operator,
    spent: "its budget `each-task` does not allow more",
  };
  for (const [name, reason] of Object.entries(scenes)) {
    let raised = null;
    try {
      await run(`400.tool.${name}.${way}`);
    } catch (error) {
      raised = error;
    }
    expect(raised !== null, `nobody stopped ${way}`);
    // In the middle of a stream the error is what the provider's error event says.
    expect(name === "cut" || (APICallError.isInstance(raised) && raised.isRetryable === false), String(raised));
    const said = raised.message ?? JSON.stringify(raised);
    expect(said.includes(stopped + reason), said);
    console.log(`ok ${way}: ${name}`);
  }
  const said = await run(`final.tool.spent.${way}`);
  expect(said.includes(stopped + scenes.spent), said);
  console.log(`ok ${way}: ended by a final message`);
}

async function play(way, run, statuses) {
  if (process.env.SENTINEL_CONTROL) return ended(way, run);
  for (const name of statuses.length > 1 ? [...scenes, ...once] : scenes) {
    if (["healthy", "polling", "fixing"].includes(name)) await worked(name, way, run);
    else await killed(name, way, run, 400);
  }
  for (const status of statuses) if (status !== 400) await killed("stuck", way, run, status);
  if (statuses.length > 1) {
    const cells = statuses.map(() => "`APICallError`").join(" | ");
    console.log(`row | [Vercel's AI SDK](#vercels-ai-sdk) | ${cells} | is the answer |`);
  }
  const before = await attempts();
  const said = await run(`final.tool.stuck.${way}`);
  expect(said.includes(stopped), said);
  const made = (await attempts()) - before;
  expect(made === stuck, `${made} requests`);
  console.log(`ok ${way}: a final message ends it`);
}

await play("ai-sdk", plain(false), [400, 401, 403, 404, 422]);
await play("ai-sdk-streamed", streamed(false), [400]);
await play("ai-sdk-chat", plain(true), [400]);
await play("ai-sdk-chat-streamed", streamed(true), [400]);
