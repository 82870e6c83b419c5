"""Makes the filter smaller and quicker, in place: `optimise.py MODULE NODE WASM_OPT`.

Binaryen optimises what rustc made. Then the module is run with typical requests (`profile.mjs`), and is changed by what they did:

* The functions that they call are put beside each other, because V8 places code in the order of the functions in the module.
* Branches that went the same way in all requests get a hint (`branches.py`).

So a request runs through less memory.

Cargo puts its own output back whenever it looks at the module; what was optimised once is kept beside it.
"""

import hashlib
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import branches  # noqa: E402

# What rustc uses for wasm32-wasip1 and what .cargo/config.toml adds to it; Envoy's V8 knows all of it.
FEATURES = ["--enable-bulk-memory", "--enable-multivalue", "--enable-mutable-globals", "--enable-nontrapping-float-to-int",
            "--enable-reference-types", "--enable-sign-ext", "--enable-simd"]
PASSES = ["-O3", "--merge-similar-functions", "--reorder-functions", "--strip-debug", "--strip-producers"]
# The functions that are called in most places stay in front: their index takes one byte instead of two in each call.
IN_FRONT = 96
PROFILE, BRANCHES = (Path(__file__).with_name(name) for name in ("profile.mjs", "branches.py"))
IMPORTS = [' (import "env" "called" (func $called (param i32)))', ' (import "env" "taken" (func $taken (param i32 i32) (result i32)))']
FUNCTION = re.compile(r" \(func (\$[^\s()]+)")


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def forms(text: str) -> list[str]:
    """The imports, functions and other parts of a module in Binaryen's text form, in which each begins behind one space."""
    return re.split(r"\n(?= \()", text.removesuffix("\n)\n"))


def counted(parts: list[str]) -> str:
    """The module that tells the import `called` the number of each function that is entered, and `taken` each branch."""
    def with_call(part: str, number: int) -> str:
        head = re.match(r"[^\n]*(\n  \(local [^\n]*)*", part)[0]
        return f"{head}\n  (call $called (i32.const {number})){part[len(head):]}"
    first = next(at for at, part in enumerate(parts) if part.startswith(" (import"))
    numbers = itertools.count()
    lines = branches.counted("\n".join(parts).split("\n"))
    parts = [with_call(part, next(numbers)) if FUNCTION.match(part) else part for part in forms("\n".join(lines))]
    return "\n".join([*parts[:first], *IMPORTS, *parts[first:]]) + "\n)\n"


def ordered(parts: list[str], called: list[int]) -> str:
    """The module with the functions that are called in front, in the order of their first call."""
    functions = [part for part in parts if FUNCTION.match(part)]
    order = dict.fromkeys([*range(min(IN_FRONT, len(functions))), *called, *range(len(functions))])
    new = iter(functions[at] for at in order)
    return "\n".join(next(new) if FUNCTION.match(part) else part for part in parts) + "\n)\n"


def main(module: Path, node: str, wasm_opt: Path) -> int:
    made, record = module.with_suffix(".optimised.wasm"), module.with_suffix(".optimised.txt")
    given = digest(module.read_bytes())
    recipe = digest(wasm_opt.read_bytes(), Path(__file__).read_bytes(), PROFILE.read_bytes(), BRANCHES.read_bytes())
    known = record.read_text().split() if record.exists() and made.exists() else ["", "", ""]
    if [recipe, given] == [known[0], known[2]]:
        return 0
    text, trial = module.with_suffix(".wat"), module.with_suffix(".counted.wasm")

    def run(*command: object) -> str:
        return subprocess.run([node, *command], check=True, stdout=subprocess.PIPE, text=True).stdout

    if [recipe, given] != known[:2]:
        print(f"  optimising {module.stat().st_size} bytes ...", flush=True)
        try:
            run(wasm_opt, module, *PASSES, *FEATURES, "-o", made)
            # What is written as text at once is larger in the end.
            run(wasm_opt, made, *FEATURES, "--quiet", "-S", "-o", text)
            parts = forms(text.read_text())
            text.write_text(counted(parts))
            run(wasm_opt, text, *FEATURES, "--quiet", "-o", trial)
            profile = json.loads(run("--no-liftoff", PROFILE, trial))
            lines = branches.hinted("\n".join(parts).split("\n"), profile["branches"])
            text.write_text(ordered(forms("\n".join(lines)), profile["called"]))
            run(wasm_opt, text, *FEATURES, "--quiet", "-o", made)
        except subprocess.CalledProcessError as error:
            print(f"{Path(error.cmd[1]).name} failed on {module}; run `make setup` and try again, or build with cargo alone", file=sys.stderr)
            return 1
        finally:
            text.unlink(missing_ok=True)
            trial.unlink(missing_ok=True)
        record.write_text(f"{recipe} {given} {digest(made.read_bytes())}")
    # A new file in its place: cargo's own is another name of the old one.
    scratch = module.with_suffix(".scratch")
    scratch.write_bytes(made.read_bytes())
    scratch.replace(module)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
