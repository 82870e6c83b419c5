"""Starts one coding agent as its users do, with the settings that docs/frameworks.md has below its heading, and looks at how it
ends: work, an agent that is stuck for each `kill.status`, and one that gets a final message. `python3 run.py NAME`, started by
tests/sdk/coding_agents.rs. The row that it prints stands in the document."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

URL = os.environ["SENTINEL_URL"]
ADMIN = os.environ["SENTINEL_ADMIN"]
MODULES = Path(os.environ["SENTINEL_CODING_AGENTS"]).resolve()
NODE = Path(os.environ["SENTINEL_NODE"]).resolve()
PAGES = int(os.environ["SENTINEL_PAGES"])
DONE = os.environ["SENTINEL_DONE"]
FAILING = Path(os.environ["SENTINEL_FAILING"].split()[0]).name
NOTE = os.environ["SENTINEL_NOTE"]
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "frameworks.md"
TASK = "Read the eight pages of the report one by one and tell me the total."
STOPPED = "This agent was stopped because "
# What an agent says that takes a kill for a wrong key.
WRONG_KEY = re.compile(r"failed to authenticate|authentication failed", re.IGNORECASE)
# An agent that does not end is a failure of the test.
PATIENCE = 120


@dataclass
class Agent:
    """How an agent is started."""

    heading: str
    program: str
    arguments: list[str]
    # Where its settings go in its home; without it they are commands for the shell.
    settings: str | None = None
    environment: dict[str, str] = field(default_factory=lambda: {"OPENAI_API_KEY": "sk-none"})
    # What only the test needs in the agent's home: no questions, and no calls to anybody else.
    files: dict[str, dict] = field(default_factory=dict)
    # What it is called in the table, if that is not its heading.
    name: str = ""
    # Which scene is a loop that the agent itself does not end before the gateway does.
    loop: str = "stuck"


AGENTS = {
    "claude-code": Agent(
        "Claude Code", "@anthropic-ai/claude-code-linux-x64/claude", ["-p", TASK, "--allowedTools", "Bash"],
        environment={"ANTHROPIC_API_KEY": "sk-none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}),
    "claude-agent-sdk": Agent(
        "Claude Code", str(NODE), [str(Path(__file__).with_name("agent_sdk.mjs")), TASK], name="Claude Agent SDK",
        environment={"ANTHROPIC_API_KEY": "sk-none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                     "SENTINEL_MORE_CODING_AGENTS": str(MODULES),
                     "SENTINEL_CLAUDE_CODE": str(MODULES / "../../coding-agents/node_modules/@anthropic-ai/claude-code-linux-x64/claude")}),
    "codex": Agent(
        "Codex", ".bin/codex", ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK],
        ".codex/config.toml"),
    "gemini-cli": Agent(
        "Gemini CLI", ".bin/gemini", ["-p", TASK, "--yolo", "--skip-trust"], environment={"GEMINI_API_KEY": "none"},
        files={".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}},
                                         "model": {"disableLoopDetection": True},
                                         "general": {"disableAutoUpdate": True}, "privacy": {"usageStatisticsEnabled": False}}}),
    "copilot-cli": Agent(
        "Copilot CLI", ".bin/copilot", ["-p", TASK, "--allow-all-tools"],
        environment={"OPENAI_API_KEY": "sk-none", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}),
    "opencode": Agent(
        "opencode", "opencode-linux-x64-baseline/bin/opencode", ["run", TASK], ".config/opencode/opencode.json",
        {"OPENAI_API_KEY": "sk-none", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}),
    "qwen-code": Agent("Qwen Code", ".bin/qwen", ["-p", TASK, "--yolo"], ".qwen/settings.json", loop="circling"),
    "cline": Agent("Cline", "@cline/cli-linux-x64/bin/cline", ["-P", "openai-compatible", TASK],
                   ".cline/data/settings/providers.json", loop="circling"),
    "pi": Agent("pi", ".bin/pi", ["-p", TASK, "--provider", "sentinel", "--model", "gpt-4o-mini"], ".pi/agent/models.json"),
}


def settings(heading, name):
    """The first block of settings below this heading of the document, with this stack's address and this agent's name."""
    section = DOCUMENT.read_text().split(f"\n### {heading}\n", 1)[1]
    text = re.search(r"```(?:sh|toml|json)\n(.*?)```", section, re.DOTALL).group(1)
    expect("billing-bot-7" in text and "task-42" in text, text)
    text = re.sub(r"http://127\.0\.0\.1:10000/(openai|anthropic|gemini)\b", URL, text)
    return text.replace("billing-bot-7", name).replace("task-42", "run-of-" + name)


def run(agent, name):
    """Starts the agent on the task. Returns its exit code and all that it wrote."""
    text = settings(agent.heading, name)
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        files = {path: json.dumps(content) for path, content in agent.files.items()}
        if agent.settings:
            files[agent.settings] = text
        for path, content in files.items():
            home.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
            home.joinpath(path).write_text(content)
        home.mkdir(exist_ok=True)
        lay_out(work)
        shell = "" if agent.settings else text
        command = ["bash", "-c", f'{shell}\nexec "$@"', agent.heading, str(MODULES / agent.program), *agent.arguments]
        path = os.pathsep.join([str(NODE.parent), "/usr/local/bin", "/usr/bin", "/bin"])
        environment = {"HOME": str(home), "TMPDIR": folder, "PATH": path, "LANG": "C.UTF-8", "NO_PROXY": "*", "NO_COLOR": "1"}
        begun = time.monotonic()
        try:
            ended = subprocess.run(command, cwd=work, env=environment | agent.environment, stdin=subprocess.DEVNULL,
                                   capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"{name} does not end: {late.stdout} {late.stderr}") from None
        finally:
            end_what_is_left(home)
        said = (ended.stdout + ended.stderr).decode(errors="replace")
        print(f"--- {name}: exit code {ended.returncode} after {time.monotonic() - begun:.1f} s\n{said}")
        return ended.returncode, said


def end_what_is_left(home):
    """Ends what the agent has started and left running, as Cline does with its hub. It is known by its home: that is a new folder, which
    only this agent was given."""
    mark = b"HOME=" + os.fsencode(home)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The handle is opened before the look at the process: another one that gets this number later is not ended.
            handle = os.pidfd_open(int(folder.name))
        except OSError:
            continue
        try:
            if mark in folder.joinpath("environ").read_bytes().split(b"\0"):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                # The folder is removed next, and must not be written to meanwhile.
                select.select([handle], [], [], 10)
                print(f"ended {folder.name}, which the agent had left running")
        except OSError:
            # It has ended by itself, or it is another user's.
            pass
        finally:
            os.close(handle)


def lay_out(work):
    """The pages of the report, the command that always fails, and the notes of a project, under the names that agents look for."""
    work.mkdir()
    for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md"):
        work.joinpath(name).write_text(f"# Notes\n\n{NOTE}\n")
    for page in range(1, PAGES + 1):
        town = ("Kiel", "Bonn", "Ulm", "Trier", "Jena")[page % 5]
        work.joinpath(f"page-{page}.txt").write_text(f"Page {page}: the branch in {town} sold {page * 37 % 101} units.\n")
    script = work / FAILING
    # It takes a moment, as a call of a service does. Qwen Code now and then loses what a command says that ends at once
    # (`Output: (empty)`). Then its results differ, and nobody stops it.
    script.write_text('#!/bin/sh\necho "error: the invoice service answered 503 for invoice $1" >&2\nsleep 0.3\nexit 1\n')
    script.chmod(0o755)


def kills():
    """Requests that the filter has killed so far."""
    with urllib.request.urlopen(ADMIN + "/stats?filter=wasmcustom.sentinel_verdicts_total") as answer:
        lines = answer.read().decode().splitlines()
    return sum(int(line.rsplit(": ", 1)[1]) for line in lines if ".verdict.kill." in line)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def how_it_ends(agent, name, key):
    """A cell of the table: what the user of a stuck agent sees of a kill of this kind."""
    before = kills()
    code, said = run(agent, f"{key}.shell.{agent.loop}.{name}")
    again = kills() - before - 1
    expect(again >= 0, f"nobody stopped it: {said}")
    print(f"ok {name}: stuck, {key}")
    if key == "final":
        expect(code == 0 and STOPPED in said, f"exit code {code}: {said}")
        return "is the answer"
    expect(code != 0, f"{name} ends as if all were well: {said}")
    what = "the reason" if STOPPED in said else "no reason"
    if WRONG_KEY.search(said):
        what += ", and that the key is wrong"
    return what + (f", after {again} more tries" if again else "")


def main(name):
    agent = AGENTS[name]
    code, said = run(agent, f"400.shell.healthy.{name}")
    expect(code == 0 and DONE in said, f"exit code {code}: {said}")
    print(f"ok {name}: healthy")
    cells = [how_it_ends(agent, name, key) for key in ("400", "403", "422", "final")]
    expect(cells[0].startswith("the reason"), f"the default status hides the reason: {cells[0]}")
    anchor = agent.heading.lower().replace(" ", "-")
    print(f"row | [{agent.name or agent.heading}](#{anchor}) | {' | '.join(cells)} |")


main(sys.argv[1])
