"""Sets up every real part that the demo, the tests and the benches run on, in `<repository>/.parts`.

`python3 tests/parts/setup.py [PART ...]`: all parts of `catalogue.py` and `wasm_opt.py` and Rust's target for the filter, or
the parts named, which may be those of `operations.py`, `frameworks.py`, `coding_agents.py`, `documents.py`, `shipping.py`,
`browser.py`, `guard_model.py`, `limits.py` and `arm64.py` too.
Two names stand for more: `wasm-target` for Rust's target alone, `all` for every part except those that are set up on request.
Needs Python 3.11 to 3.13, no root and no packages. What is ready stays as it is, so a second call is quick; several calls at
once are safe. This file is the
command and knows no part.
"""

import inspect
import os
import platform
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True

import arm64  # noqa: E402
import browser  # noqa: E402
import catalogue  # noqa: E402
import coding_agents  # noqa: E402
import documents  # noqa: E402
import frameworks  # noqa: E402
import guard_model  # noqa: E402
import limits  # noqa: E402
import operations  # noqa: E402
import shipping  # noqa: E402
import wasm_opt  # noqa: E402
from catalogue import REPOSITORY, Part  # noqa: E402
from pip_tool import PartError  # noqa: E402
from store import Store, digest_of, seconds_since  # noqa: E402
from wasm_target import ensure_wasm_target  # noqa: E402


NEEDED_ALWAYS = catalogue.PARTS + wasm_opt.PARTS
PARTS = (NEEDED_ALWAYS + operations.PARTS + frameworks.PARTS + coding_agents.PARTS + documents.PARTS + shipping.PARTS +
         browser.PARTS + guard_model.PARTS + limits.PARTS)


def digest(part: Part) -> str:
    python = ".".join(platform.python_version_tuple()[:2]) if part.per_python else ""
    recipe = Path(inspect.getfile(part.fill))
    return digest_of([*part.sources, recipe], python)


def size_of(folders: list[Path]) -> str:
    total = sum(file.lstat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
    return f"{total / 1e6:.0f} MB"


def check_machine(parts: list[Part]) -> None:
    """Refuses where the published binaries cannot run, unless nothing is to be fetched."""
    if not parts:
        return
    machine = platform.machine()
    if sys.platform != "linux" or machine != "x86_64":
        names = ", ".join(name for part in PARTS for name in part.instead)
        raise PartError(f"the published binaries are for Linux on x86-64, and this is {sys.platform} on {machine}; "
                        f"point at your own with {names}")
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise PartError(f"the packages are pinned for Python 3.11 to 3.13, and this is {platform.python_version()}; "
                        "run `make PYTHON=python3.11 ...`")


def check_own(part: Part) -> None:
    for name in part.instead:
        # A relative path means: from the repository, for whatever is started wherever.
        path = REPOSITORY / os.environ[name]
        if not path.exists():
            raise PartError(f"{name} is {os.environ[name]}, and there is nothing at {path}; "
                            f"correct it, or unset it to have {part.what} set up here")


def not_replaced(parts: list[Part]) -> list[Part]:
    """Those that the user has not brought."""
    for part in parts:
        if part.is_replaced():
            check_own(part)
            print(f"  {part.name}: yours ({', '.join(part.instead)})", flush=True)
    return [part for part in parts if not part.is_replaced()]


def missing(store: Store, parts: list[Part]) -> list[Part]:
    return [part for part in parts if not store.is_ready(part.name, digest(part), part.folders)]


def set_up(store: Store, parts: list[Part]) -> None:
    needed = missing(store, parts)
    check_machine(needed)
    for index, part in enumerate(needed, 1):
        print(f"  [{index}/{len(needed)}] {part.name}: {part.what} ...", flush=True)
        start = time.monotonic()
        store.put(part.name, digest(part), part.folders, lambda scratch, part=part: part.fill(store, scratch))
        size = size_of([store.path(folder) for folder in part.folders])
        print(f"  [{index}/{len(needed)}] {part.name}: done, {size}, {seconds_since(start)}", flush=True)


def chosen(names: list[str]) -> list[Part]:
    if names == ["all"]:
        return PARTS
    known = {part.name: part for part in PARTS + arm64.ON_REQUEST + coding_agents.ON_REQUEST}
    for name in names:
        if name not in known:
            raise PartError(f"there is no part named {name}; there are {', '.join(known)}")
    return [known[name] for name in names] or NEEDED_ALWAYS


def main() -> int:
    store = Store(REPOSITORY / ".parts")
    start = time.monotonic()
    try:
        if sys.argv[1:] == ["wasm-target"]:
            ensure_wasm_target(REPOSITORY)
            return 0
        parts = not_replaced(chosen(sys.argv[1:]))
        wait = lambda: print("  another set-up is at work here; waiting for it ...", flush=True)
        with store.locked(wait, is_done=lambda: not missing(store, parts)) as is_held:
            if is_held:
                set_up(store, parts)
        if not sys.argv[1:]:
            ensure_wasm_target(REPOSITORY)
    except PartError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("set-up: interrupted; call it again and it goes on where it was", file=sys.stderr)
        return 130
    print(f"  parts are ready in {store.root} ({seconds_since(start)})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
