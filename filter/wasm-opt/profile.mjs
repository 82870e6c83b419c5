// How ordinary requests run through the filter: `node profile.mjs MODULE`. The module calls the import `called` with the number of each
// function that it enters, and `taken` with the number of each branch and its condition. Prints as JSON which functions were called, in the
// order of their first call, and for each request which branches it met, with how often it took them and how often not.
//
// The host is as small as it can be. It has a clock and random numbers of its own, so that the same module gives the same profile.

import fs from "node:fs";

/** Configurations: the defaults, and with passes that must be switched on. The functions that the first one needs lie in front. */
const PLAIN = { mode: "enforce", cluster: "embedding_service", semantic: { enabled: false } };
const WITH_PASSES = {
  ...PLAIN, tools: { deny: [{ name: "shell" }] }, guard: { user: "warn", tool: "warn" }, spotlight: { enabled: true },
  bounds: { repair: true, truncation: { enabled: true } },
};
const TASK = "How many orders arrived in March, and which of them are open?";
const INSTRUCTIONS = "You are an assistant for orders. Answer briefly.";
const REPLY = "The order is complete; nothing else is open.";
const json = (value) => Buffer.from(JSON.stringify(value));
const stream = (events) => events.map((event) => Buffer.from(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`));

/** Tool calls with new results, `size` bytes in all: their ids, arguments and texts. */
function steps(size) {
  const steps = [];
  for (let n = 1, bytes = 0; bytes < size; n += 1) {
    const rows = Array.from({ length: 6 }, (_, row) => ({ order: `A-${n * 31 + row}`, city: "Kiel", total: n * 7 + row }));
    const step = { id: `call_${n}`, input: { month: "March", page: n }, text: JSON.stringify({ rows, note: `Page ${n} of the list.` }) };
    steps.push(step);
    bytes += JSON.stringify(step).length + 150;
  }
  return steps;
}

/** In each format: a path, the body of a run with these steps, and the answer in parts. */
const chat = (steps, answer = CHAT_ANSWER) => ({
  path: "/v1/chat/completions",
  body: json({
    model: "gpt-5-mini",
    stream: answer !== CHAT_ANSWER,
    messages: [
      { role: "system", content: INSTRUCTIONS },
      { role: "user", content: TASK },
      ...steps.flatMap(({ id, input, text }) => [
        { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "find_orders", arguments: JSON.stringify(input) } }] },
        { role: "tool", tool_call_id: id, content: text },
      ]),
    ],
  }),
  answer,
});
const CHAT_ANSWER = [json({
  id: "chatcmpl-1", object: "chat.completion", created: 1700000000, model: "gpt-5-mini",
  choices: [{ index: 0, message: { role: "assistant", content: REPLY }, finish_reason: "stop" }],
  usage: { prompt_tokens: 412, completion_tokens: 17, total_tokens: 429 },
})];
const chunk = (delta, finish_reason, more) =>
  ({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1700000000, model: "gpt-5-mini", choices: [{ index: 0, delta, finish_reason }], ...more });
const CHAT_STREAM = [
  ...stream([chunk({ role: "assistant", content: "" }, null), ...REPLY.split(" ").map((word) => chunk({ content: `${word} ` }, null)), chunk({}, "stop", { usage: { prompt_tokens: 412, completion_tokens: 17, total_tokens: 429 } })]),
  Buffer.from("data: [DONE]\n\n"),
];

const messages = (steps) => ({
  path: "/v1/messages",
  body: json({
    model: "claude-sonnet-4-5", max_tokens: 1024, stream: true, system: INSTRUCTIONS,
    messages: [
      { role: "user", content: TASK },
      ...steps.flatMap(({ id, input, text }) => [
        { role: "assistant", content: [{ type: "text", text: "I look at the next page." }, { type: "tool_use", id, name: "find_orders", input }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: [{ type: "text", text }] }] },
      ]),
    ],
  }),
  answer: stream([
    { type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [], stop_reason: null, usage: { input_tokens: 412, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...REPLY.split(" ").map((word) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: `${word} ` } })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 17 } },
    { type: "message_stop" },
  ]),
});

const responses = (steps) => ({
  path: "/v1/responses",
  body: json({
    model: "gpt-5-mini", instructions: INSTRUCTIONS,
    input: [
      { role: "user", content: TASK },
      ...steps.flatMap(({ id, input, text }) => [
        { type: "function_call", call_id: id, name: "find_orders", arguments: JSON.stringify(input) },
        { type: "function_call_output", call_id: id, output: text },
      ]),
    ],
  }),
  answer: [json({
    id: "resp_1", object: "response", created_at: 1700000000, status: "completed", model: "gpt-5-mini",
    output: [{ id: "msg_1", type: "message", status: "completed", role: "assistant", content: [{ type: "output_text", text: REPLY, annotations: [] }] }],
    usage: { input_tokens: 412, output_tokens: 17, total_tokens: 429 },
  })],
});

const gemini = (steps) => ({
  path: "/v1beta/models/gemini-2.5-flash:generateContent",
  body: json({
    systemInstruction: { parts: [{ text: INSTRUCTIONS }] },
    contents: [
      { role: "user", parts: [{ text: TASK }] },
      ...steps.flatMap(({ input, text }) => [
        { role: "model", parts: [{ functionCall: { name: "find_orders", args: input } }] },
        { role: "user", parts: [{ functionResponse: { name: "find_orders", response: { output: text } } }] },
      ]),
    ],
  }),
  answer: [json({
    candidates: [{ content: { role: "model", parts: [{ text: REPLY }] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 412, candidatesTokenCount: 17, totalTokenCount: 429 }, modelVersion: "gemini-2.5-flash",
  })],
});

// The functions of the first lie in front.
const KB = 1024;
const REQUESTS = [chat(steps(16 * KB)), chat(steps(KB)), chat(steps(256 * KB)), chat(steps(4 * KB), CHAT_STREAM), messages(steps(8 * KB)), responses(steps(8 * KB)), gemini(steps(8 * KB))];

// As the ABI of proxy-wasm numbers them.
const [OK, NOT_FOUND, CHANGED] = [0, 1, 8];
const [REQUEST_BODY, RESPONSE_BODY, CONFIGURATION] = [0, 1, 7];
const REQUEST_HEADERS = 0;
const ROOT = 1;

const called = new Set();
/** Of each branch that the request met: how often it was not taken, and how often it was. */
let branches = new Map();
let counts = false;
const stored = new Map();
let clock = 1_700_000_000_000_000_000n;
let config, exported, body, part, headers;
let metrics = 0;

const bytes = () => Buffer.from(exported.memory.buffer);
const put = (at, number) => bytes().writeUInt32LE(number, at);
const text = (at, length) => bytes().toString("latin1", at, at + length);
function give(data, at, length) {
  const to = data.length > 0 ? exported.proxy_on_memory_allocate(data.length) : 0;
  data.copy(bytes(), to);
  put(at, to);
  put(length, data.length);
  return OK;
}
function pairs(list) {
  const parts = list.flat().map((part) => Buffer.from(part));
  const lengths = Buffer.alloc(4 + 4 * parts.length);
  lengths.writeUInt32LE(list.length, 0);
  parts.forEach((part, at) => lengths.writeUInt32LE(part.length, 4 + 4 * at));
  return Buffer.concat([lengths, ...parts.flatMap((part) => [part, Buffer.alloc(1)])]);
}
function now(at) {
  clock += 1_000_000n;
  bytes().writeBigUInt64LE(clock, at);
  return OK;
}

const host = {
  called: (number) => { if (counts) called.add(number); },
  taken(number, condition) {
    if (counts) {
      if (!branches.has(number)) branches.set(number, [0, 0]);
      branches.get(number)[condition ? 1 : 0] += 1;
    }
    return condition;
  },
  proxy_get_current_time_nanoseconds: now,
  clock_time_get: (_clock, _precision, at) => now(at),
  proxy_get_buffer_bytes(kind, start, most, at, length) {
    const data = { [REQUEST_BODY]: body, [RESPONSE_BODY]: part, [CONFIGURATION]: config }[kind];
    return data ? give(data.subarray(start, Math.min(data.length, start + (most >>> 0))), at, length) : NOT_FOUND;
  },
  proxy_get_header_map_pairs: (map, at, length) => give(pairs(headers[map === REQUEST_HEADERS ? 0 : 1]), at, length),
  proxy_get_header_map_value(map, key, keyLength, at, length) {
    const name = text(key, keyLength);
    const found = headers[map === REQUEST_HEADERS ? 0 : 1].find(([known]) => known === name);
    return found ? give(Buffer.from(found[1]), at, length) : NOT_FOUND;
  },
  proxy_define_metric(_kind, _name, _length, at) { metrics += 1; put(at, metrics); return OK; },
  proxy_get_shared_data(key, keyLength, at, length, version) {
    const found = stored.get(text(key, keyLength));
    if (!found) return NOT_FOUND;
    put(version, found.version);
    return give(found.data, at, length);
  },
  proxy_set_shared_data(key, keyLength, at, length, version) {
    const name = text(key, keyLength);
    const known = stored.get(name)?.version ?? 0;
    if (version !== 0 && version !== known) return CHANGED;
    stored.set(name, { data: Buffer.from(bytes().subarray(at, at + length)), version: known + 1 });
    return OK;
  },
  random_get(at, length) { bytes().fill(37, at, at + length); return OK; },
  environ_sizes_get(count, size) { put(count, 0); put(size, 0); return OK; },
  proxy_get_property: () => NOT_FOUND,
};

const module = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  imports[from] ??= {};
  // What is not answered here (a log line, a counter) is merely taken.
  imports[from][name] = host[name] ?? (() => OK);
}
function start(settings) {
  config = json(settings);
  stored.clear();
  exported = new WebAssembly.Instance(module, imports).exports;
  (exported._initialize ?? exported._start)?.();
  exported.proxy_on_context_create(ROOT, 0);
  exported.proxy_on_vm_start?.(ROOT, 0);
  if (!exported.proxy_on_configure(ROOT, config.length)) throw new Error("the filter takes no configuration");
}

let id = ROOT;
function request({ path, answer }) {
  id += 1;
  const isStream = answer.length > 1;
  headers = [
    [
      [":authority", "127.0.0.1"], [":path", path], [":method", "POST"], [":scheme", "http"], ["content-type", "application/json"],
      ["user-agent", "OpenAI/Python 2.8.0"], ["x-agent-id", `local${path}`], ["authorization", "Bearer sk-0123456789abcdef0123456789abcdef"],
      ["content-length", String(body.length)],
    ],
    isStream
      ? [[":status", "200"], ["content-type", "text/event-stream"]]
      : [[":status", "200"], ["content-type", "application/json"], ["content-length", String(answer[0].length)]],
  ];
  exported.proxy_on_context_create(id, ROOT);
  exported.proxy_on_request_headers(id, headers[0].length, 0);
  exported.proxy_on_request_body(id, body.length, 1);
  exported.proxy_on_response_headers(id, headers[1].length, 0);
  answer.forEach((bytes, at) => {
    part = bytes;
    exported.proxy_on_response_body(id, part.length, at + 1 === answer.length ? 1 : 0);
  });
  exported.proxy_on_done(id);
  exported.proxy_on_log?.(id);
  exported.proxy_on_delete(id);
}

const profiles = [PLAIN, WITH_PASSES].flatMap((settings) => {
  counts = false;
  start(settings);
  return REQUESTS.map((each) => {
    body = each.body;
    branches = new Map();
    // The first requests of an agent store what the later ones find.
    for (const last of [false, false, true]) {
      counts = last;
      request(each);
    }
    return Object.fromEntries(branches);
  });
});
if (called.size === 0) throw new Error("no function was called");
console.log(JSON.stringify({ called: [...called], branches: profiles }));
