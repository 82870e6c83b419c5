// Drives the console as somebody would who sees it for the first time, and judges each page with axe-core. What is to happen behind the
// console it asks for by a line on its output.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";
import zlib from "node:zlib";

const { CONSOLE, KEY, CHROMIUM, MODULES, PICTURES } = process.env;
const require = createRequire(path.join(MODULES, "index.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(path.join(MODULES, "axe-core", "axe.min.js"), "utf8");

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function behind(what) {
  console.log(what);
  return (await answers.next()).value;
}

process.on("uncaughtException", async (error) => {
  console.log(`PROBLEM ${error.stack}`);
  // There may be no page yet.
  const shown = async () => latest.locator("body").innerText({ timeout: 1000 });
  console.log(await shown().catch(String));
  process.exit(1);
});
// The tab that was opened last.
let latest;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const problems = [];

// A tab whose faults are noted. `bypassCSP` only where axe is to be put into the page.
async function tab(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  latest = page;
  page.on("pageerror", (error) => problems.push(`a script failed: ${error}`));
  page.on("dialog", (dialog) => { problems.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("console", (message) => {
    const text = message.text();
    // The connection is cut on purpose.
    if (message.type() === "error" && !/ERR_CONNECTION|ERR_INCOMPLETE|status of 40|ERR_EMPTY/.test(text)) problems.push(text);
  });
  return page;
}

async function logIn(page, next) {
  await page.goto(`${CONSOLE}/console/login?next=${encodeURIComponent(next)}`);
  await page.getByLabel("Key", { exact: true }).fill(KEY);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(`${CONSOLE}${next}`);
}

async function judge(page, name) {
  const found = await page.evaluate(async (source) => {
    (0, eval)(source);
    const { violations } = await window.axe.run(document);
    return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
      .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html} ${any.map((one) => one.message).join(" ")}`).join(" | ")}`);
  }, axe);
  found.forEach((one) => problems.push(`${name}: ${one}`));
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (over > 0) problems.push(`${name}: the page is ${over} pixels too wide`);
}

// Nothing has happened yet; then an agent is stuck, and the page says so by itself.
const page = await tab();
await page.goto(`${CONSOLE}/console`);
await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
await page.getByText("● live").or(page.locator("#connection[data-state=live]")).first().waitFor();
await behind("agents many");
await behind("agents ended");
await behind("agents cycle");
const before = Date.now();
await behind("agents stuck");
const sentence = page.getByRole("link", { name: "read_file failed 4 times with the same error; the model was told twice." });
await sentence.waitFor();
console.log(`a stuck agent was seen ${Date.now() - before} ms after its report`);
const costs = await page.locator(".needed .cost").allInnerTexts();
assert.deepEqual(costs.map((cost) => cost.match(/\$[0-9.]+/)[0]), ["$0.639", "$0.210"], "the most expensive is first");

// It is opened and read. Without the key nothing can be stopped.
await sentence.click();
await page.getByRole("heading", { level: 1, name: "read_file failed 4 times" }).waitFor();
const words = await page.locator(".glance .half:not(.round)").allInnerTexts();
const repeated = words.filter((word) => word !== "");
assert.deepEqual(repeated, [0, 1, 0, 1, 0, 1, 0, 1].map((place) => repeated[place]), "A B A B is seen in the marks");
assert.notEqual(repeated[0], repeated[1]);
await page.getByText("4 of 4").first().waitFor();
// The link leads to the trace that the filter makes of this run.
assert.equal(await page.getByRole("link", { name: "Trace" }).getAttribute("href"), "https://tempo.example/trace/4c3c621f55dd6bae133c22e2aa768bda");
await page.getByRole("link", { name: "Stop…" }).click();
await page.getByLabel("Key", { exact: true }).fill("not-the-key-at-all");
await page.getByRole("button", { name: "Log in" }).click();
await page.getByRole("alert").filter({ hasText: "This is not the key." }).waitFor();
await page.getByLabel("Key", { exact: true }).fill(KEY);
await page.getByRole("button", { name: "Log in" }).click();

// It is stopped by keyboard, and the workers are told.
await page.getByRole("button", { name: "Stop…" }).focus();
await page.keyboard.press("Enter");
await page.getByLabel("Reason").fill("It cannot find its file");
await page.getByLabel("Your name").fill("Anna");
await page.keyboard.press("Enter");
await page.getByText("It cannot find its file").waitFor();
assert.equal(await behind("agents directives"), "1", "the worker is told of the stop");

// Another is stopped from the list, after its number was shown; the address holds the filter.
await page.goto(`${CONSOLE}/console/runs`);
await page.keyboard.press("/");
await page.keyboard.type("invoice-bot");
await page.keyboard.press("Enter");
await page.waitForURL(/agent=invoice-bot/);
await page.getByText("1 run", { exact: true }).waitFor();
await page.getByRole("checkbox", { name: "Choose invoice-bot" }).check();
await page.getByRole("button", { name: "Stop 1…" }).click();
await page.getByRole("heading", { name: "Stop 1 run?" }).waitFor();
await page.getByRole("button", { name: "Stop 1 run" }).click();
await page.waitForURL(/agent=invoice-bot/);
await page.goto(`${CONSOLE}/console/stops`);
assert.equal(await page.locator(".banner").count(), 2);
await page.locator(".banner", { hasText: "invoice-bot" }).getByRole("button", { name: "Lift…" }).click();
await page.getByRole("button", { name: "Lift the stop" }).locator("visible=true").click();
await page.waitForURL(`${CONSOLE}/console/stops`);
await page.locator(".banner").nth(1).waitFor({ state: "detached" });

// From the page Now an agent is only observed with one click, and judged again with another.
await page.goto(`${CONSOLE}/console`);
const invoices = page.locator(".needed .trouble", { hasText: "invoice-bot" });
await invoices.getByRole("button", { name: "Only observe" }).click();
await invoices.getByRole("button", { name: "Judge it again" }).click();
await invoices.getByRole("button", { name: "Only observe" }).waitFor();

// What an agent has spent in the last hour is a curve.
await page.goto(`${CONSOLE}/console/agents`);
await page.getByRole("row", { name: /crawler/ }).getByRole("img", { name: /^\$[0-9.]+ spent in the last hour$/ }).waitFor();

// A budget is raised, and the run goes on.
assert.equal(await behind("agents reserve"), "refused");
await page.goto(`${CONSOLE}/console/budgets`);
await page.locator("section", { hasText: "each-task" }).getByRole("button", { name: "Change…" }).click();
await page.getByLabel("US dollars").locator("visible=true").fill("5");
await page.getByRole("button", { name: "Show what it means" }).locator("visible=true").click();
await page.getByText("$1.00 → $5.00").waitFor();
await page.getByText("1 reached a limit. With the new limits that would have been 0").waitFor();
await page.getByText(/long-case: would have gone on/).waitFor();
await page.getByLabel("Your name").fill("Anna");
await page.getByRole("button", { name: "Change the limits" }).click();
await page.waitForURL(`${CONSOLE}/console/budgets`);
assert.equal(await behind("agents reserve"), "granted");

// A setting is changed with one click; one that is not valid is refused with its place.
await page.goto(`${CONSOLE}/console/settings`);
await page.getByRole("row", { name: /planner/ }).getByRole("button", { name: "Only observe" }).click();
await page.getByRole("row", { name: /planner.*only observed/ }).waitFor();
await page.getByLabel("Settings, as JSON").fill('{"agents": [{"name": "planner", "settings": {"mode": "sleep"}}]}');
await page.getByRole("button", { name: "Show what it means" }).click();
await page.getByRole("alert").filter({ hasText: "agents[0].settings.mode" }).waitFor();

// A setting of one agent is a field with the reference beside it. What is no number is refused with its place.
await page.goto(`${CONSOLE}/console/settings`);
await page.getByRole("link", { name: "Settings of crawler" }).click();
await page.getByRole("heading", { level: 1, name: "Settings of crawler" }).waitFor();
const steps = page.locator("details.group", { has: page.locator("summary", { hasText: /^steps/ }) });
await steps.locator("summary").click();
const kill = page.getByLabel("steps.repeated_step.kill", { exact: true });
assert.equal(await kill.getAttribute("placeholder"), "5");
await page.getByText("The filter kills from this count on.").first().waitFor();
await kill.fill("1");
await page.getByRole("button", { name: "Show what it means" }).click();
await page.getByRole("alert").filter({ hasText: "settings.steps.repeated_step" }).waitFor();
assert.equal(await kill.inputValue(), "1", "what was typed in is still there");

// Before it is saved, it is tried: the run that was ended at the fifth failure would have gone on. A lower hint cannot be judged, and the page says so.
await kill.fill("8");
await page.getByLabel("steps.cycle.hint", { exact: true }).fill("2");
await page.getByRole("button", { name: "Show what it means" }).click();
await page.getByText("1 run would not have been ended").waitFor();
await page.getByRole("link", { name: /crawler.*site-map/ }).waitFor();
await page.getByText("steps.cycle.hint: turns that were let pass keep no counts").waitFor();
await page.getByLabel("Your name").fill("Anna");
await page.getByLabel("Reason").fill("Its pages fail often");
await page.getByRole("button", { name: "Change the settings" }).click();
await page.waitForURL(`${CONSOLE}/console/settings`);
await page.getByRole("link", { name: "Settings of crawler" }).click();
assert.equal(await kill.inputValue(), "8");
await page.locator(".field", { has: kill }).getByText(/Changed in version \d+, by Anna, .*“Its pages fail often”/).waitFor();
assert.match(await behind("agents directives"), /^[1-9]/, "the worker is told of the settings");
await page.goto(`${CONSOLE}/console/settings`);

// A file of recorded runs is dropped and judged here: nothing but the core is loaded, and nothing is sent.
const RUNS = path.join(path.dirname(process.argv[1]), "runs.jsonl");
const judged = (look) => look.getByText("5 runs. 1 would have been ended, 2 told, 2 let pass.");
const sent = [];
page.on("request", (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname.split("/").pop()} ${request.postDataBuffer()?.length ?? 0}`));
await page.keyboard.press("g");
await page.keyboard.press("p");
await page.waitForURL(`${CONSOLE}/console/replay`);
if (await page.getByText("built without the core").isVisible()) {
  throw new Error("the service has no core for the page Replay: build it with SENTINEL_REPLAY_CORE, as `make test-programs` does");
}
await page.evaluate(async (text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "runs.jsonl"));
  document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, fs.readFileSync(RUNS, "utf8"));
await judged(page).waitFor();
await page.getByText("2 lines could not be judged").click();
await page.getByText(/^Line 3: not JSON/).waitFor();
await page.getByText(/^Line 7: not a run/).waitFor();
assert.match(await page.locator("#list tbody tr").first().innerText(), /ended at turn 7[^]*settings-9[^]*read_file failed 5 times with the same error/, "the worst is first");

// It is chosen by keyboard and read; a threshold is moved, and it is judged again at once.
await page.keyboard.press("j");
await page.keyboard.press("Enter");
await page.getByRole("heading", { name: "read_file failed 5 times with the same error; Sentinel would have ended the run." }).waitFor();
await page.locator("#story").getByText("5 of 5").first().waitFor();
await page.getByText("Here Sentinel ended it.").waitFor();
const slider = page.getByLabel("steps.repeated_step.kill", { exact: true });
await slider.focus();
await page.keyboard.press("ArrowLeft");
await page.getByText("5 runs. 3 would have been ended, 0 told, 2 let pass.").waitFor();
await page.getByRole("heading", { name: "read_file failed 4 times with the same error; Sentinel would have ended the run." }).waitFor();
await page.keyboard.press("End");
await page.getByRole("heading", { name: "5 steps in a row repeated what it had done and seen before; Sentinel would have ended the run." }).waitFor();
assert.equal(await slider.getAttribute("aria-valuetext"), "never");
// What the filter refuses is said in its words, and what is shown stays.
const mostHint = page.getByLabel("steps.cycle.hint", { exact: true });
await mostHint.focus();
for (const _ of [3, 4, 5]) await page.keyboard.press("ArrowRight");
await page.getByRole("alert").filter({ hasText: "steps.cycle`: `kill` must not be below `hint`" }).waitFor();
await page.getByRole("button", { name: "Back to the defaults" }).click();
await judged(page).waitFor();
await page.getByRole("alert").filter({ hasText: "Not taken" }).waitFor({ state: "detached" });

// Names in the file are shown as names. A file without runs, and one that is packed.
await page.getByRole("link", { name: /<script>/ }).click();
await page.locator("#story").getByText("<img src=x onerror=alert(1)>").waitFor();
assert.notEqual(await page.title(), "broken");
const choose = (name, buffer) => page.locator("#file").setInputFiles({ name, mimeType: "application/x-ndjson", buffer });
await choose("empty.jsonl", Buffer.from("\n \n"));
await page.getByText("empty.jsonl cannot be judged: it holds no run").waitFor();
await choose("runs.jsonl.gz", zlib.gzipSync(fs.readFileSync(RUNS)));
await page.getByText("runs.jsonl.gz: 5 runs.").waitFor();

// A core that fails is started anew: one line is lost, and the page goes on.
await page.reload();
await page.evaluate(() => {
  const { JSON: { parse } } = window;
  let left = 2;
  // What the core says of the second line cannot be read, as after a trap.
  JSON.parse = (text) => { if (--left === 0) throw new WebAssembly.RuntimeError("unreachable"); return parse(text); };
});
await choose("runs.jsonl", fs.readFileSync(RUNS));
await page.getByText("4 runs. 0 would have been ended, 2 told, 2 let pass.").waitFor();
await page.getByText("3 lines could not be judged").click();
await page.getByText("Line 2: The core failed on this run (unreachable). This is a fault of ours.").waitFor();
assert.deepEqual(sent.filter((one) => !/^GET \S+ 0$/.test(one)), [], "nothing is sent");
assert.ok(sent.some((one) => one === "GET replay.wasm 0"), "the core is loaded from the service");

// Keys lead through rows and pages.
await page.keyboard.press("g");
await page.keyboard.press("r");
await page.waitForURL(`${CONSOLE}/console/runs`);
await page.keyboard.press("j");
await page.keyboard.press("j");
const second = await page.locator("tr[data-row] a").nth(1).getAttribute("href");
assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), second);
await page.keyboard.press("Enter");
await page.waitForURL(`${CONSOLE}${second}`);

// Pictures for the documents.
await behind("spent");
const lowered = async (look) => {
  await look.locator("section", { hasText: "support" }).getByRole("button", { name: "Change…" }).last().click();
  await look.getByLabel("US dollars").locator("visible=true").fill("12");
  await look.getByRole("button", { name: "Show what it means" }).locator("visible=true").click();
  await look.getByText(/support-mail: would have been stopped/).waitFor();
};
await page.goto(`${CONSOLE}/console/runs`);
const run = await page.getByRole("link", { name: /repo-fixer/ }).first().getAttribute("href");
const pages = { now: "/console", runs: "/console/runs", run, agents: "/console/agents", budgets: "/console/budgets", settings: "/console/settings", "settings-agent": "/console/settings/agent?agent=crawler" };
async function pictured(name, address, options = {}, then = async () => {}) {
  // Nothing moves while a picture is taken.
  const look = await tab({ reducedMotion: "reduce", ...options });
  await logIn(look, "/console");
  await look.goto(`${CONSOLE}${address}`);
  await look.locator("#connection:not([data-state=live])").waitFor({ state: "detached" });
  await then(look);
  await look.screenshot({ path: path.join(PICTURES, `console-${name}.png`), fullPage: !["runs", "settings-agent"].includes(name) });
  await look.context().close();
}
const changed = (look) => look.locator(".field .changed").first().evaluate((line) => line.scrollIntoView({ block: "center" }));
for (const [name, address] of Object.entries(pages)) await pictured(name, address, {}, name === "settings-agent" ? changed : undefined);
await pictured("budgets-ask", pages.budgets, {}, lowered);
await pictured("settings-ask", pages["settings-agent"].replace("crawler", "repo-fixer"), {}, async (look) => {
  await look.locator("summary", { hasText: /^steps/ }).click();
  await look.getByLabel("steps.repeated_step.hint", { exact: true }).fill("5");
  await look.getByLabel("steps.repeated_step.kill", { exact: true }).fill("8");
  await look.getByLabel("steps.stuck.hint", { exact: true }).fill("4");
  await look.getByRole("button", { name: "Show what it means" }).click();
  await look.getByText("1 run would not have been told").waitFor();
});
const replay = async (look, without = /^$/) => {
  const lines = fs.readFileSync(RUNS, "utf8").split("\n").filter((line) => !without.test(line));
  await look.locator("#file").setInputFiles({ name: "runs.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(lines.join("\n")) });
  await look.getByRole("link", { name: "settings-9" }).click();
  await look.getByText("Here Sentinel ended it.").waitFor();
};
await pictured("replay", "/console/replay", {}, async (look) => { await replay(look, /<script>/); await look.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); }); });
await pictured("run-dark", run, { colorScheme: "dark" });
await pictured("now-small", "/console", { viewport: { width: 400, height: 800 } });

// What is opened and chosen stays so while the page is kept up to date.
await page.goto(`${CONSOLE}/console/runs`);
const box = page.getByRole("checkbox").first();
await box.check();
const chosen = await box.getAttribute("value");
await behind("agents hostile");
await page.getByText("</title><script>").first().waitFor();
assert.equal(await page.locator(`input[value="${chosen}"]`).isChecked(), true);

// Each page as others see it.
const evil = await page.getByRole("link", { name: /<script>/ }).first().getAttribute("href");
await page.goto(`${CONSOLE}/console/settings`);
const evilAgent = await page.getByRole("link", { name: /^Settings of .*<script>/ }).first().getAttribute("href");
for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 400]]) {
  const look = await tab({ colorScheme: scheme, viewport: { width, height: 800 }, bypassCSP: true });
  await logIn(look, "/console");
  const all = { ...pages, evil, stops: "/console/stops", "not-there": "/console/nothing", login: "/console/login", "evil-agent": evilAgent };
  for (const [name, address] of Object.entries(all)) {
    await look.goto(`${CONSOLE}${address}`);
    await look.locator("main").waitFor();
    await judge(look, `${name}, ${scheme}, ${width}`);
    assert.notEqual(await look.title(), "broken", name);
  }
  // All fields of an agent's settings, and the page that asks before they change.
  await look.goto(`${CONSOLE}${all["settings-agent"]}`);
  await look.evaluate(() => document.querySelectorAll("details").forEach((group) => { group.open = true; }));
  await judge(look, `all fields, ${scheme}, ${width}`);
  await look.getByLabel("steps.repeated_step.kill", { exact: true }).fill("9");
  await look.getByRole("button", { name: "Show what it means" }).click();
  await look.getByRole("heading", { name: "Change the settings?" }).waitFor();
  await judge(look, `ask, ${scheme}, ${width}`);
  await look.goto(`${CONSOLE}${pages.budgets}`);
  await lowered(look);
  await judge(look, `ask for limits, ${scheme}, ${width}`);
  // The replay with all its parts.
  await look.goto(`${CONSOLE}/console/replay`);
  await judge(look, `replay without a file, ${scheme}, ${width}`);
  await replay(look);
  await look.evaluate(() => document.querySelectorAll("details").forEach((group) => { group.open = true; }));
  await judge(look, `replay, ${scheme}, ${width}`);
  await look.context().close();
}

// Two tabs; the service goes away and comes back. Both say so, and recover by themselves. The session has outlived the restart.
await page.goto(`${CONSOLE}/console`);
const other = await page.context().newPage();
await other.goto(`${CONSOLE}/console/runs`);
await other.locator("#connection[data-state=live]").waitFor();
await page.bringToFront();
await behind("down");
await page.getByText("connection lost, trying again").waitFor();
await behind("up");
await page.locator("#connection[data-state=live]").waitFor();
await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
await behind("agents stuck");
await sentence.waitFor();
await page.getByRole("button", { name: "Log out" }).waitFor();
await other.bringToFront();
await other.getByText("repo-fixer").first().waitFor();

// After the log-out nothing can be changed.
await page.getByRole("button", { name: "Log out" }).click();
await page.getByRole("link", { name: "Log in" }).waitFor();

await browser.close();
problems.forEach((problem) => console.log(`PROBLEM ${problem}`));
process.exit(problems.length === 0 ? 0 : 1);
