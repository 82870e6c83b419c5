// An agent on the openai package for Node: chat completions and responses, each with the ten checks of a gateway that watches for
// loops, or the four of one that answers from its cache (`SENTINEL_CHECKS=cache`).

import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";

const require = createRequire(path.join(process.env.SENTINEL_NODE_MODULES, "index.js"));
const { OpenAI } = require("openai");

const { SENTINEL_URL: url, SENTINEL_ADMIN: admin, SENTINEL_STOPPED: stopped } = process.env;
const model = "gpt-4o-mini";
const question = "Why does the nightly export of the customer table stop half way?";
// The mock provider answers with twenty words.
const words = (text) => text.split(" ").length === 20;
const parameters = {
  type: "object",
  properties: { city: { type: "string" }, unit: { type: "string" } },
  required: ["city", "unit"],
  additionalProperties: false,
};

const client = (agent) =>
  new OpenAI({ apiKey: "sk-none", baseURL: `${url}/v1`, defaultHeaders: { "x-agent-id": agent, "x-run-id": agent } });

const messages = (text) => [{ role: "user", content: text }];

const chat = {
  tools: [{ type: "function", function: { name: "get_weather", parameters, strict: true } }],
  async ask(agent, text) {
    const answer = await client(agent).chat.completions.create({ model, messages: messages(text) });
    expect(answer.choices[0].finish_reason === "stop", answer);
    return answer.choices[0].message.content;
  },
  async stream(agent, text) {
    const pieces = [];
    let reason = null;
    const chunks = await client(agent).chat.completions.create({ model, messages: messages(text), stream: true });
    for await (const { choices } of chunks) {
      for (const choice of choices) {
        if (choice.delta.content) pieces.push(choice.delta.content);
        reason = choice.finish_reason ?? reason;
      }
    }
    expect(reason === "stop", reason);
    return pieces;
  },
  async tool(agent, text) {
    const body = { model, messages: messages(text), tools: this.tools };
    const answer = await client(agent).chat.completions.create(body);
    return answer.choices[0].message.tool_calls[0].function;
  },
  async streamTool(agent, text) {
    const body = { model, messages: messages(text), tools: this.tools };
    const answer = await client(agent).chat.completions.stream(body).finalChatCompletion();
    return answer.choices[0].message.tool_calls[0].function;
  },
  async verdict(agent, text) {
    const body = { model, messages: messages(text) };
    const { data, response } = await client(agent).chat.completions.create(body).withResponse();
    expect(data.choices[0].message.content, "an answer beside the verdict");
    return response.headers.get("x-sentinel-verdict");
  },
};

const responses = {
  tools: [{ type: "function", name: "get_weather", parameters, strict: true }],
  async ask(agent, text) {
    const answer = await client(agent).responses.create({ model, input: text });
    expect(answer.status === "completed", answer);
    return answer.output_text;
  },
  async stream(agent, text) {
    const pieces = [];
    let last = null;
    for await (const event of await client(agent).responses.create({ model, input: text, stream: true })) {
      if (event.type === "response.output_text.delta") pieces.push(event.delta);
      last = event;
    }
    expect(last.type === "response.completed", last);
    return pieces;
  },
  // What the provider keeps is not given again with its calls.
  async tool(agent, text) {
    const answer = await client(agent).responses.create({ model, input: text, tools: this.tools, store: false });
    return answer.output[0];
  },
  async streamTool(agent, text) {
    const answer = await client(agent).responses.stream({ model, input: text, tools: this.tools, store: false }).finalResponse();
    return answer.output[0];
  },
  async verdict(agent, text) {
    const { data, response } = await client(agent).responses.create({ model, input: text }).withResponse();
    expect(data.output_text, "an answer beside the verdict");
    return response.headers.get("x-sentinel-verdict");
  },
};

function expect(condition, what) {
  if (!condition) throw new Error(typeof what === "string" ? what : JSON.stringify(what));
}

// A counter of Envoy's; 0 where it has not counted yet.
async function counter(wanted) {
  const text = await (await fetch(`${admin}/stats?filter=${wanted}`)).text();
  const line = text.split("\n").find((line) => line.startsWith(`${wanted}: `));
  return line ? Number(line.split(": ")[1]) : 0;
}

// Requests that have reached Envoy's listener so far.
const attempts = () => counter("http.agents.downstream_rq_total");

// Requests that were answered from the cache so far.
const hits = () => counter("wasmcustom.sentinel_cache_hits_total.type.exact");

// What was stored from one form is read in both. Each request is another agent's: nobody repeats itself.
async function cached(name, api, done) {
  const said = async (call, agent, text) => {
    const answer = await api[call](`${name}-${agent}`, text);
    return answer.arguments === undefined ? [answer].flat().join("") : `${answer.name} ${answer.arguments}`;
  };
  const isCall = (text) => text === 'get_weather {"city":"Hamburg","unit":"celsius"}';
  for (const [check, first, other, isRight] of [
    ["stored from JSON", "ask", "stream", words],
    ["stored from a stream", "stream", "ask", words],
    ["call stored from JSON", "tool", "streamTool", isCall],
    ["call stored from a stream", "streamTool", "tool", isCall],
  ]) {
    const text = `What does the report on ${name} say about the part that was ${check}?`;
    // An answer is stored behind the response.
    let stored = null;
    for (let turn = 0; turn < 400 && stored === null; turn++) {
      const before = await hits();
      const answer = await said(first, `${first}-${turn}`, text);
      if ((await hits()) > before) stored = answer;
      else await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(stored !== null, "nothing was stored");
    const before = await hits();
    const again = await said(other, `${first}-other`, text);
    expect((await hits()) === before + 1, "the other form was not answered from the cache");
    expect(again === stored && isRight(stored), [stored, again]);
    done(check);
  }
}

async function run(name, api) {
  const done = (check) => console.log(`ok ${name}: ${check}`);
  if (process.env.SENTINEL_CHECKS === "cache") return cached(name, api, done);

  const text = await api.ask(`${name}-normal`, "What does the report say about the third quarter?");
  expect(words(text), text);
  done("normal");

  const pieces = await api.stream(`${name}-stream`, "What does the report say about the fourth quarter?");
  expect(pieces.length > 3 && words(pieces.join("")), pieces);
  done("streaming");

  for (const [check, call] of [["tools", "tool"], ["tools, streaming", "streamTool"]]) {
    const tool = await api[call](`${name}-tool`, `What is the weather in Hamburg today (${check})?`);
    const { city, unit } = JSON.parse(tool.arguments);
    expect(tool.name === "get_weather" && city === "Hamburg" && unit === "celsius", tool);
    done(check);
  }

  // For the unlucky two attempts of each three fail: what the SDK sends again is no repetition.
  for (const [check, agent, requests] of [["hinted", `${name}-hint`, 4], ["retried", `unlucky-${name}`, 12]]) {
    const before = await attempts();
    const verdicts = [];
    for (let turn = 0; turn < 4; turn++) verdicts.push(await api.verdict(agent, question));
    expect(verdicts.join() === "allow,allow,allow,hint", verdicts);
    const made = (await attempts()) - before;
    expect(made === requests, `${made} attempts for four calls`);
    done(check);
  }

  for (const [check, call] of [["killed by an error", "ask"], ["killed by an error, streaming", "stream"]]) {
    const agent = `${name}-${call}-error`;
    for (let turn = 0; turn < 4; turn++) await api[call](agent, question);
    const before = await attempts();
    let refusal = null;
    try {
      await api[call](agent, question);
    } catch (error) {
      refusal = error;
    }
    expect(refusal instanceof OpenAI.BadRequestError, `the fifth repetition: ${refusal}`);
    expect(refusal.status === 400 && refusal.message.includes(stopped), String(refusal));
    const made = (await attempts()) - before;
    expect(made === 1, `${made} attempts for one killed call`);
    done(check);
  }

  for (const [check, call] of [["ended by a message", "ask"], ["ended by a message, streaming", "stream"]]) {
    const agent = `final-${name}-${call}`;
    for (let turn = 0; turn < 4; turn++) await api[call](agent, question);
    const before = await attempts();
    const said = [await api[call](agent, question)].flat().join("");
    expect(said === stopped, said);
    const made = (await attempts()) - before;
    expect(made === 1, `${made} attempts for one killed call`);
    done(check);
  }
}

await run("chat", chat);
await run("responses", responses);
