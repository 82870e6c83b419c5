"""Makes sure that the Rust toolchain can build for Envoy's WebAssembly.

`rust-toolchain.toml` names the target, but rustup adds it by itself only where automatic installs are on.
"""

import shutil
import subprocess
from pathlib import Path

from pip_tool import PartError

TARGET = "wasm32-wasip1"


def has_target(repository: Path) -> bool:
    try:
        found = subprocess.run(["rustc", "--print", "target-libdir", "--target", TARGET], cwd=repository,
                               capture_output=True, text=True)
    except FileNotFoundError:
        raise PartError("there is no rustc on the PATH; install Rust with rustup, or add ~/.cargo/bin to the PATH") from None
    if found.returncode != 0:
        raise PartError(f"rustc does not work here:\n{found.stderr.strip()}")
    return any(Path(found.stdout.strip()).glob("libstd-*"))


def ensure_wasm_target(repository: Path) -> None:
    if has_target(repository):
        return
    print(f"  adding the Rust target {TARGET} ...", flush=True)
    hint = (f"the filter needs the standard library of {TARGET}; install it for the toolchain that "
            "rust-toolchain.toml names, then call this again")
    if shutil.which("rustup") is None:
        raise PartError(f"{hint} (there is no rustup on the PATH to do it)")
    added = subprocess.run(["rustup", "target", "add", TARGET], cwd=repository, capture_output=True, text=True)
    if added.returncode != 0 or not has_target(repository):
        raise PartError(f"{hint} (`rustup target add {TARGET}` failed: {added.stderr.strip()[-600:]})")
