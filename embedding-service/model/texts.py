"""The texts that the quantisation is fitted to and, apart from those, the texts that it is measured on.

Both come from hand-written lines in texts/, each written out several times with other words put in: questions and prose, and
what agents and their users send. The choice is fixed: every run sees the same texts. Where recorded runs are at hand, it is
measured on these too.
"""

import json
import os
import re
from itertools import count
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "texts"
REPOSITORY = FOLDER.parents[2]
# Texts of recorded runs.
RECORDED = 500
SLOT = re.compile(r"\{([a-z]+)\}")


def lines(name: str) -> list[str]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def words() -> dict[str, list[str]]:
    table = {}
    for line in lines("words.txt"):
        name, values = line.split(":", 1)
        table[name] = [value.strip() for value in values.split(" | ")]
    return table


def written_out(name: str, rounds: int) -> list[str]:
    """Every line of the file `rounds` times with other words, each different text once."""
    table = words()
    # A stride with no factor in common with the lists' lengths walks through all pairs of words.
    turn = count(step=7)

    def put_in(slot: re.Match) -> str:
        values = table.get(slot.group(1))
        return values[next(turn) % len(values)] if values else slot.group(0)

    found = {}
    for _ in range(rounds):
        for line in lines(name):
            found[SLOT.sub(put_in, line).replace("\\n", "\n")] = None
    return list(found)


def joined(texts: list[str], size: int) -> list[str]:
    """Long texts: each is `size` of the given ones, taken from all over the list."""
    step = max(1, len(texts) // size)
    return ["\n\n".join(texts[(start * 5 + part * step) % len(texts)] for part in range(size))
            for start in range(len(texts) // 12)]


def recorded() -> list[str]:
    """What users said in recorded runs of agents, and sentences with their rewordings, where there are any: in the folder that
    SENTINEL_RECORDED_RUNS names, or in ../shared/data beside the repository. They are no part of the project."""
    folder = Path(os.environ.get("SENTINEL_RECORDED_RUNS") or REPOSITORY.parent / "shared" / "data")
    found = {}
    runs = folder / "traces-dev.jsonl"
    if runs.is_file():
        for line in runs.read_text(encoding="utf-8").splitlines():
            for message in json.loads(line)["messages"]:
                if message["role"] == "user" and isinstance(message.get("content"), str):
                    found[message["content"]] = None
    pairs = folder / "paraphrases.json"
    if pairs.is_file():
        for pair in json.loads(pairs.read_text(encoding="utf-8")):
            found |= {pair["origin"]: None, pair["similar"]: None}
    texts = [text for text in found if text.strip()]
    # From all over the list; more of them take long and say the same.
    return texts[::max(1, len(texts) // RECORDED)][:RECORDED]


def calibration() -> list[str]:
    short = written_out("calibration.txt", 6)
    return short + joined(short, 3) + joined(short, 8)


def check() -> list[str]:
    """What the project itself has: the same on every machine."""
    short = list(dict.fromkeys(written_out("check.txt", 2) + written_out("agents.txt", 2)))
    return short + joined(short, 3)
