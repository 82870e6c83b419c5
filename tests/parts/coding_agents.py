"""The parts that only the tests of coding agents use: the agents themselves, as npm has them."""

import shutil
from collections.abc import Callable
from pathlib import Path

from catalogue import REPOSITORY, Part, node_and_npm
from fetch import npm_ci
from store import Store

CODING = REPOSITORY / "tests" / "sdk" / "coding"
MORE = CODING / "more"
# Large files of the packages that no test runs: the voice and the "code mode" of Codex, the second build of opencode,
# and the copy of Claude Code that comes with its SDK.
LEFT_OUT = ["@openai/codex-linux-x64/vendor/*/codex-resources/voice", "@openai/codex-linux-x64/vendor/*/bin/codex-code-mode-host",
            "opencode-linux-x64", "@anthropic-ai/claude-agent-sdk-linux-*"]


def filled_from(source: Path, name: str) -> Callable[[Store, Path], None]:
    def fill(store: Store, to: Path) -> None:
        folder = to / name
        folder.mkdir()
        for file in ["package.json", "package-lock.json"]:
            shutil.copy(source / file, folder / file)
        node, npm = node_and_npm(store)
        npm_ci(node, npm, folder)
        for pattern in LEFT_OUT:
            for path in (folder / "node_modules").glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    return fill


def part(name: str, what: str, source: Path) -> Part:
    return Part(name, what, [name], [source / "package.json", source / "package-lock.json"], filled_from(source, name))


PARTS = [part("coding-agents", "coding agents: Claude Code, Codex, Gemini CLI, Copilot CLI", CODING)]
# Set up only when named.
ON_REQUEST = [part("more-coding-agents", "more coding agents: opencode, Qwen Code, Cline, pi, Claude Agent SDK", MORE)]
