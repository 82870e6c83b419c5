// Which functions of the filter an ordinary request calls: `node calls.mjs MODULE`. The module calls the import `called` with the number
// of each function that it enters. Prints these numbers in the order of their first call.
//
// The host is as small as it can be. It has a clock and random numbers of its own, so that the same module gives the same order.

import fs from "node:fs";

const CONFIG = Buffer.from(JSON.stringify({ mode: "enforce", cluster: "embedding_service", semantic: { enabled: false } }));

/** A run of tool calls with new results, as long as `size` bytes. */
function conversation(size) {
  const messages = [
    { role: "system", content: "You are an assistant for orders. Answer briefly." },
    { role: "user", content: "How many orders arrived in March, and which of them are open?" },
  ];
  for (let n = 1; JSON.stringify(messages).length < size; n += 1) {
    const call = { name: "find_orders", arguments: JSON.stringify({ month: "March", page: n }) };
    messages.push({ role: "assistant", content: null, tool_calls: [{ id: `call_${n}`, type: "function", function: call }] });
    const rows = Array.from({ length: 6 }, (_, row) => ({ order: `A-${n * 31 + row}`, city: "Kiel", total: n * 7 + row }));
    messages.push({ role: "tool", tool_call_id: `call_${n}`, content: JSON.stringify({ rows, note: `Page ${n} of the list.` }) });
  }
  return Buffer.from(JSON.stringify({ model: "gpt-5-mini", messages }));
}

const ANSWER = Buffer.from(JSON.stringify({
  id: "chatcmpl-1", object: "chat.completion", created: 1700000000, model: "gpt-5-mini",
  choices: [{ index: 0, message: { role: "assistant", content: "The order is complete; nothing else is open." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 412, completion_tokens: 17, total_tokens: 429 },
}));

// As the ABI of proxy-wasm numbers them.
const [OK, NOT_FOUND, CHANGED] = [0, 1, 8];
const [REQUEST_BODY, RESPONSE_BODY, CONFIGURATION] = [0, 1, 7];
const REQUEST_HEADERS = 0;
const ROOT = 1;

const called = new Set();
let counts = false;
const stored = new Map();
let clock = 1_700_000_000_000_000_000n;
let exported, body, headers;
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
  proxy_get_current_time_nanoseconds: now,
  clock_time_get: (_clock, _precision, at) => now(at),
  proxy_get_buffer_bytes(kind, start, most, at, length) {
    const data = { [REQUEST_BODY]: body, [RESPONSE_BODY]: ANSWER, [CONFIGURATION]: CONFIG }[kind];
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
exported = new WebAssembly.Instance(module, imports).exports;
(exported._initialize ?? exported._start)?.();
exported.proxy_on_context_create(ROOT, 0);
exported.proxy_on_vm_start?.(ROOT, 0);
if (!exported.proxy_on_configure(ROOT, CONFIG.length)) throw new Error("the filter takes no configuration");

let id = ROOT;
function request(agent) {
  id += 1;
  headers = [
    [
      [":authority", "127.0.0.1"], [":path", "/v1/chat/completions"], [":method", "POST"], [":scheme", "http"],
      ["content-type", "application/json"], ["user-agent", "OpenAI/Python 2.8.0"], ["x-agent-id", agent],
      ["authorization", "Bearer sk-0123456789abcdef0123456789abcdef"], ["content-length", String(body.length)],
    ],
    [[":status", "200"], ["content-type", "application/json"], ["content-length", String(ANSWER.length)]],
  ];
  exported.proxy_on_context_create(id, ROOT);
  exported.proxy_on_request_headers(id, headers[0].length, 0);
  exported.proxy_on_request_body(id, body.length, 1);
  exported.proxy_on_response_headers(id, headers[1].length, 0);
  exported.proxy_on_response_body(id, ANSWER.length, 1);
  exported.proxy_on_done(id);
  exported.proxy_on_log?.(id);
  exported.proxy_on_delete(id);
}
for (const size of [16, 1, 256].map((kb) => kb * 1024)) {
  body = conversation(size);
  // The first requests of an agent store what the later ones find.
  for (const last of [false, false, true]) {
    counts = last;
    request("local-0001");
  }
}
if (called.size === 0) throw new Error("no function was called");
console.log([...called].join("\n"));
