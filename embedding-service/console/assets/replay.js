// The page Replay: reads a file of recorded runs line by line and has each judged by the core, which is WebAssembly. The core keeps
// nothing of a line. So where it fails, it is started anew, and the line that it failed on is shown as bad.
"use strict";
(() => {
  const root = document.getElementById("replay");
  if (!root) return;
  const at = (id) => document.getElementById(id);
  const [file, form, told, refused, bad, list, story] = ["file", "thresholds", "told", "refused", "bad", "list", "story"].map(at);
  const LARGEST = Number(root.dataset.largest);
  const [RUNS, ROWS, BAD] = [root.dataset.runs, root.dataset.rows, root.dataset.bad].map(Number);
  // Milliseconds of judging until the page is drawn again.
  const SLICE = 40;
  const ORDER = { kill: 0, hint: 1, allow: 2 };
  const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

  // The WASI functions that the core's standard library imports: random numbers for its hash tables, no files, no arguments, no clock.
  const NOTHING = 52;
  function host(memory) {
    const set = (address, value) => new DataView(memory().buffer).setUint32(address, value, true);
    return new Proxy({
      random_get: (address, length) => { crypto.getRandomValues(new Uint8Array(memory().buffer, address, Math.min(length, 65536))); return 0; },
      environ_sizes_get: (number, size) => { set(number, 0); set(size, 0); return 0; },
      environ_get: () => 0,
      proc_exit: () => { throw new Error("the core has ended itself"); },
    }, { get: (known, name) => known[name] ?? (() => NOTHING), has: () => true });
  }

  let compiled = null;
  let core = null;
  let settings = "{}";

  async function start() {
    compiled ??= WebAssembly.compileStreaming(fetch(root.dataset.core));
    let exports = null;
    const instance = await WebAssembly.instantiate(await compiled, { wasi_snapshot_preview1: host(() => exports.memory) });
    exports = instance.exports;
    exports._initialize?.();
    core = exports;
    ask("configure", new TextEncoder().encode(settings));
  }

  // Gives bytes to a function of the core, and its answer as a text.
  function ask(name, bytes, ...more) {
    const address = core.input(bytes.length);
    if (address === 0 && bytes.length > 0) throw new Error("the line is too long");
    new Uint8Array(core.memory.buffer, address, bytes.length).set(bytes);
    const length = core[name](...more);
    return new TextDecoder().decode(new Uint8Array(core.memory.buffer, core.output(), length));
  }

  // An answer about a line. A core that has failed is started anew.
  async function about(name, line, ...more) {
    if (!core) await start();
    try {
      return JSON.parse(ask(name, line, ...more));
    } catch (error) {
      core = null;
      return { problem: `The core failed on this run (${error.message}). This is a fault of ours.` };
    }
  }

  // The lines of the file, the runs among them, and what became of those.
  let name = "";
  let lines = [];
  let rows = [];
  let problems = [];
  let chosen = null;
  // Counts the calls of `read` and `judge`. An earlier call stops when a later one begins.
  let turn = 0;

  async function read(given) {
    const mine = ++turn;
    [name, lines, rows, problems, chosen] = [given.name, [], [], [], null];
    story.replaceChildren();
    draw();
    told.textContent = `Reading ${name} …`;
    try {
      const bytes = await unpacked(given);
      if (mine !== turn) return;
      for (let begin = 0, number = 1; begin < bytes.length; number += 1) {
        let end = bytes.indexOf(10, begin);
        if (end < 0) end = bytes.length;
        const line = bytes.subarray(begin, end);
        if (line.some((byte) => byte > 32)) lines.push({ number, line });
        begin = end + 1;
      }
      if (lines.length === 0) throw new Error("it holds no run: choose a file with one JSON object a line");
      await judge();
    } catch (error) {
      if (mine === turn) told.textContent = `${name} cannot be judged: ${error.message}.`;
    }
  }

  async function unpacked(given) {
    const tooLarge = new Error(`it is larger than ${LARGEST >> 20} MB`);
    if (given.size > LARGEST) throw tooLarge;
    const head = new Uint8Array(await given.slice(0, 2).arrayBuffer());
    if (head[0] !== 0x1f || head[1] !== 0x8b) return new Uint8Array(await given.arrayBuffer());
    const parts = [];
    let length = 0;
    const reader = given.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > LARGEST) { reader.cancel(); throw tooLarge; }
      parts.push(part.value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  // Judges all lines, in slices, so that the page stays alive; the run that is being read comes first.
  async function judge() {
    const mine = ++turn;
    const [newRows, newProblems] = [[], []];
    if (chosen) await tell(chosen, false);
    let since = performance.now();
    for (const [place, { number, line }] of lines.entries()) {
      if (mine !== turn) return;
      if (newRows.length >= RUNS) break;
      const answer = await about("judge", line, place);
      if (answer.problem) newProblems.push({ number, problem: answer.problem });
      else newRows.push({ ...answer, place });
      if (performance.now() - since > SLICE) {
        told.textContent = `${name}: ${count(place + 1, "line", "lines")} of ${count(lines.length, "line", "lines")} judged …`;
        await new Promise((done) => setTimeout(done));
        since = performance.now();
      }
    }
    if (mine !== turn) return;
    [rows, problems] = [newRows, newProblems];
    draw();
  }

  function draw() {
    const of = (verdict) => rows.filter((row) => row.verdict === verdict).length;
    if (lines.length > 0) {
      const left = Math.max(0, lines.length - rows.length - problems.length);
      told.textContent = `${name}: ${count(rows.length, "run", "runs")}. ${of("kill")} would have been ended, ${of("hint")} told, ${of("allow")} let pass.`
        + (left > 0 ? ` The last ${count(left, "line was", "lines were")} not read.` : "");
    }
    const sorted = [...rows].sort((a, b) => ORDER[a.verdict] - ORDER[b.verdict] || a.place - b.place);
    list.hidden = rows.length === 0;
    // The core has escaped every text in it.
    list.querySelector("tbody").innerHTML = sorted.slice(0, ROWS).map((row) => row.html).join("");
    list.querySelector(".legend").textContent = rows.length > ROWS ? `The first ${ROWS} of them have a row.` : "";
    mark();
    bad.hidden = problems.length === 0;
    bad.querySelector("summary").textContent = `${count(problems.length, "line", "lines")} could not be judged`;
    bad.querySelector("ul").replaceChildren(...problems.slice(0, BAD).map(({ number, problem }) => {
      const item = document.createElement("li");
      item.textContent = `Line ${number}: ${problem.slice(0, 300)}`;
      return item;
    }));
  }

  function mark() {
    for (const link of list.querySelectorAll("a[data-run]")) {
      if (Number(link.dataset.run) === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  async function tell(place, isNew) {
    const open = new Set([...story.querySelectorAll("details[open]")].map((one) => one.dataset.key));
    const answer = await about("tell", lines[place].line);
    if (place !== chosen) return;
    if (answer.problem) story.textContent = answer.problem;
    else story.innerHTML = answer.html;
    // What was opened stays so while a threshold moves.
    story.querySelectorAll("details").forEach((one, key) => {
      one.dataset.key = String(key);
      one.open = !isNew && open.has(String(key));
    });
    if (isNew) {
      story.focus({ preventScroll: true });
      story.scrollIntoView();
    }
  }

  list.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-run]");
    if (!link) return;
    event.preventDefault();
    chosen = Number(link.dataset.run);
    mark();
    tell(chosen, true);
  });

  // The thresholds. The last place of a slider is "never", which the configuration writes as 0.
  const sliders = () => [...form.querySelectorAll("input[type=range]")];
  const value = (slider) => (slider.value === slider.max ? 0 : Number(slider.value));

  async function configure() {
    const steps = {};
    for (const slider of sliders()) {
      const said = value(slider) === 0 ? "never" : slider.value;
      slider.nextElementSibling.textContent = said;
      slider.setAttribute("aria-valuetext", said);
      const [signal, what] = slider.name.split(".");
      steps[signal] = { ...steps[signal], [what]: value(slider) };
    }
    const wanted = JSON.stringify({ steps });
    if (!core) await start();
    const problem = ask("configure", new TextEncoder().encode(wanted));
    refused.textContent = problem === "" ? "" : `Not taken: ${problem}. What is shown goes by the counts before.`;
    if (problem !== "") return;
    settings = wanted;
    if (lines.length > 0) await judge();
  }
  const failed = (error) => { told.textContent = `The core cannot be started: ${error.message}.`; };
  form.addEventListener("input", () => configure().catch(failed));
  form.addEventListener("reset", () => setTimeout(() => configure().catch(failed)));
  form.addEventListener("submit", (event) => event.preventDefault());

  file.addEventListener("change", () => { if (file.files[0]) read(file.files[0]); });
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
  document.addEventListener("dragover", () => root.classList.add("over"));
  for (const kind of ["dragleave", "drop"]) document.addEventListener(kind, () => root.classList.remove("over"));
  document.addEventListener("drop", (event) => { if (event.dataTransfer.files[0]) read(event.dataTransfer.files[0]); });

  start().catch(failed);
})();
