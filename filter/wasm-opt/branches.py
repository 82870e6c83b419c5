"""The branches of a module in Binaryen's text form: how they are counted, and which way they are expected to go.

V8 places the code for the way that is not expected at the end of the function, where it takes no room in the processor's caches. The hints
are those of the WebAssembly proposal "branch hinting". An engine without it ignores them.
"""

import re
from collections.abc import Iterator

# A branch that depends on a condition. Binaryen writes each part of an expression on a line of its own, one space further in.
BRANCH = re.compile(r"^( *)\((if|br_if)\b")
# A branch gets a hint if it goes one way at least this many times as often as the other way.
OFTEN = 50


def conditions(lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """For each branch its line, and the first and the last line of its condition."""
    for at, line in enumerate(lines):
        if found := BRANCH.match(line):
            parts = list(_parts(lines, at + 1, " " * len(found[1]) + " "))
            # The value that a branch takes along stands before its condition.
            yield at, *(parts[0] if found[2] == "if" else parts[-1])


def _parts(lines: list[str], at: int, indent: str) -> Iterator[tuple[int, int]]:
    """The first and the last line of each part that is indented so."""
    while lines[at].startswith(f"{indent}("):
        first = at
        if lines[at].count("(") > lines[at].count(")"):
            at = lines.index(f"{indent})", at)
        yield first, at
        at += 1


def counted(lines: list[str]) -> list[str]:
    """The module in which each condition is told to the import `taken`, with the number of its branch."""
    new = list(lines)
    for number, (_, first, last) in enumerate(conditions(lines)):
        new[first] = f"(call $taken (i32.const {number})\n{new[first]}"
        new[last] += "\n)"
    return new


def hinted(lines: list[str], requests: list[dict[str, list[int]]]) -> list[str]:
    """The module with a hint at each branch that goes the same way in all requests that meet it. `requests`: for each one, how often a branch
    was not taken and how often it was."""
    ways: dict[int, set[int | None]] = {}
    for met in requests:
        for number, (passed, taken) in met.items():
            ways.setdefault(int(number), set()).add(way(passed, taken))
    new = list(lines)
    for number, (at, _, _) in enumerate(conditions(lines)):
        match list(ways.get(number, ())):
            case [0 | 1 as expected]:
                new[at] = f'(@metadata.code.branch_hint "\\0{expected}")\n{new[at]}'
    return new


def way(passed: int, taken: int) -> int | None:
    if passed >= OFTEN * taken:
        return 0
    return 1 if taken >= OFTEN * passed else None
