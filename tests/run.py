"""Runs every test program of the workspace, and the suites in Python: several at once, because most wait for other processes.

`python3 tests/run.py`, with the parts in the environment (`make test` does that). `cargo test` runs one program after the other, which
leaves a processor idle for minutes. What a program says is printed when it has ended, whole. Ends with 1 if one of them has failed.
"""

import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
REPOSITORY = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")

AT_ONCE = 2
# The longest first, or the last one runs alone; the rest is quick.
LONGEST = ["e2e", "it", "sdk", "console", "k8s", "tests/shipping/test_shipping.py", "replay", "docs"]
# How many tests of a program run at once, unless RUST_TEST_THREADS says it.
THREADS = {"e2e": "4", "it": "3"}
OTHER_THREADS = "2"
SUITES = ["tests/shipping/test_shipping.py", "tests/parts/test_parts.py"]


class Program:
    def __init__(self, name: str, command: list[str], folder: Path, *, is_built: bool = False):
        self.name, self.command, self.folder, self.is_built = name, command, folder, is_built
        self.output = tempfile.TemporaryFile()
        self.seconds, self.code = 0.0, None

    def run(self) -> None:
        start = time.monotonic()
        environment = {"RUST_TEST_THREADS": THREADS.get(self.name, OTHER_THREADS)} | os.environ
        # As Cargo does. Cargo itself would take it for a change, and build anew.
        if self.is_built:
            environment["CARGO_MANIFEST_DIR"] = str(self.folder)
        try:
            done = subprocess.run(self.command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=self.output,
                                  stderr=subprocess.STDOUT, check=False)
            self.code = done.returncode
        except OSError as error:
            self.output.write(f"{self.command[0]} cannot be started: {error}\n".encode())
            self.code = 1
        self.seconds = time.monotonic() - start

    def text(self) -> bytes:
        self.output.seek(0)
        return self.output.read()


def built() -> list[Program]:
    """The programs that `cargo test` would run. What is not built yet is built."""
    command = [CARGO, "test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit("tests: the test programs were not built; see above")
    programs = []
    for line in done.stdout.splitlines():
        artifact = json.loads(line)
        if artifact.get("reason") == "compiler-artifact" and artifact["profile"]["test"] and artifact["executable"]:
            folder = Path(artifact["manifest_path"]).parent
            name = artifact["target"]["name"]
            # Each crate has a program of this kind with the tests that stand in its source.
            if "test" not in artifact["target"]["kind"]:
                name = f"{name} (unit tests)"
            programs.append(Program(name, [artifact["executable"]], folder, is_built=True))
    if not programs:
        sys.exit("tests: cargo names no test program")
    return programs


def sources_of(target: dict, package: dict) -> list[Path]:
    """The files of a library or a program; of a program that has no folder of its own, its first."""
    first = Path(target["src_path"])
    others = [Path(other["src_path"]) for other in package["targets"] if other["src_path"] != target["src_path"]]
    is_apart = first.name == "main.rs" and all(other.parent != first.parent for other in others)
    return list(first.parent.rglob("*.rs")) if is_apart or first.name == "lib.rs" else [first]


def check_left_out() -> None:
    """What has no tests in its sources is not built for them: `test = false`. That must be true."""
    command = [CARGO, "metadata", "--no-deps", "--format-version", "1"]
    packages = json.loads(subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True).stdout)["packages"]
    for package in packages:
        for target in package["targets"]:
            is_built_for_them = target["test"] or "bench" in target["kind"] or "custom-build" in target["kind"]
            for source in [] if is_built_for_them else sources_of(target, package):
                if re.search(r"^\s*#\[(\w+::)?test\b", source.read_text(), re.MULTILINE):
                    sys.exit(f"tests: nothing runs the tests in {source}: take `test = false` out of {package['manifest_path']}")


def all_programs() -> list[Program]:
    check_left_out()
    programs = built()
    programs.append(Program("examples in the documentation of crates", [CARGO, "test", "--quiet", "--workspace", "--doc"], REPOSITORY))
    programs += [Program(suite, [sys.executable, suite], REPOSITORY) for suite in SUITES]
    rank = {name: place for place, name in enumerate(LONGEST)}
    return sorted(programs, key=lambda program: rank.get(program.name, len(rank)))


def main() -> int:
    waiting: queue.SimpleQueue[Program] = queue.SimpleQueue()
    ended: queue.SimpleQueue[Program] = queue.SimpleQueue()
    programs = all_programs()
    for program in programs:
        waiting.put(program)

    def work() -> None:
        while True:
            try:
                program = waiting.get_nowait()
            except queue.Empty:
                return
            program.run()
            ended.put(program)

    for _ in range(AT_ONCE):
        threading.Thread(target=work, daemon=True).start()
    failed = []
    for number in range(1, len(programs) + 1):
        program = ended.get()
        print(f"== [{number}/{len(programs)}] {program.name}, {program.seconds:.0f} s", flush=True)
        sys.stdout.buffer.write(program.text())
        sys.stdout.flush()
        if program.code != 0:
            failed.append(program)
    for program in failed:
        print(f"tests: {program.name} failed (exit code {program.code})", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
