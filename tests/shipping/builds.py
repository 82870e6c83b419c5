"""Builds the module and the service so that the same sources give the same bytes in whatever folder they lie.

Paths of this machine would stand in messages of panics: they are written as /sentinel, /cargo and /target, as the Dockerfiles
write theirs.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from refused import Refused

REPOSITORY = Path(__file__).resolve().parent.parent.parent
LINUX, WASM = "x86_64-unknown-linux-gnu", "wasm32-wasip1"
# As in the Makefile and filter/Dockerfile: the module runs on every request.
MODULE_PROFILE = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "2", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1"}
# Of the modules alone, as in the Makefile.
LAST_CRATE = ["--", "-C", "lto=fat"]
# What C code that writes when it was built (mimalloc's) is told instead: 1980. As in embedding-service/Dockerfile.
BUILT_AT = "315532800"
# What would change the bytes, and is meant for other builds.
UNWANTED = {"RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_INCREMENTAL", "CFLAGS", "CXXFLAGS"}


def part(variable: str) -> Path:
    """A file that the Makefile names by an environment variable."""
    given = os.environ.get(variable)
    if not given:
        raise Refused(f"{variable} is not set: start this by `make dist`")
    path = REPOSITORY / given
    if not path.is_file():
        raise Refused(f"{variable} is {given}, and there is no such file; `make setup` makes one")
    return path


def printed(*command: str) -> str:
    return subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def remapped() -> str:
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo").resolve()
    # With the component rust-src, rustc writes the folder of the standard library's sources; without it, this name.
    compiler = os.environ.get("RUSTC", "rustc")
    library = Path(printed(compiler, "--print", "sysroot")).resolve() / "lib/rustlib/src/rust"
    commit = re.search(r"^commit-hash: (\w+)$", printed(compiler, "-vV"), re.MULTILINE)[1]
    paths = {home: "/cargo", REPOSITORY: "/sentinel", library: f"/rustc/{commit}"}
    return " ".join(f"--remap-path-prefix={path}={name}" for path, name in paths.items())


def cargo(target: Path, command: str, arguments: list[str], more: dict[str, str]) -> None:
    environment = {name: value for name, value in os.environ.items()
                   if name not in UNWANTED and not name.startswith("CARGO_PROFILE_")}
    environment |= {"CARGO_TARGET_DIR": str(target.resolve()), "SOURCE_DATE_EPOCH": BUILT_AT} | more
    for triple in (LINUX, WASM):
        environment[f"CARGO_TARGET_{triple.upper().replace('-', '_')}_RUSTFLAGS"] = remapped()
    whole = [os.environ.get("CARGO", "cargo"), command, "--release", "--locked", *arguments]
    if subprocess.run(whole, cwd=REPOSITORY, env=environment).returncode != 0:
        raise Refused(f"`{' '.join(whole)}` failed; its own words stand above")


def module(target: Path) -> Path:
    cargo(target, "rustc", ["-p", "sentinel-filter", "--lib", "--target", WASM, *LAST_CRATE], MODULE_PROFILE)
    made = target / WASM / "release" / "sentinel_filter.wasm"
    optimise = [sys.executable, str(REPOSITORY / "filter/wasm-opt/optimise.py"), str(made), str(part("NODE_BIN")),
                str(REPOSITORY / ".parts/wasm-opt/wasm-opt")]
    if subprocess.run(optimise).returncode != 0:
        raise Refused(f"`{' '.join(optimise)}` failed; its own words stand above")
    return made


def replay_core(target: Path) -> Path:
    """What the console's page Replay runs in the browser; the service takes it in."""
    cargo(target, "rustc", ["-p", "sentinel-console-replay", "--lib", "--target", WASM, *LAST_CRATE, "-C", "opt-level=s"],
          MODULE_PROFILE)
    return target / WASM / "release" / "sentinel_console_replay.wasm"


def service(target: Path) -> Path:
    """The same set as in embedding-service/Dockerfile: Cargo gives a crate the features that the set wants."""
    cargo(target, "build", ["-p", "embedding-service", "-p", "sentinel-tools", "--bin", "embedding-service", "--bin", "demo"],
          {"SENTINEL_REPLAY_CORE": str(replay_core(target).resolve())})
    return target / "release" / "embedding-service"
