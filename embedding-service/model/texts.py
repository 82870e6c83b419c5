"""The texts that the quantisation is fitted to and, apart from those, the texts that it is measured on.

Both come from hand-written lines in texts/, each written out several times with other words put in. It is measured
on sentences of the documentation of two pinned packages besides. The choice is fixed: every run sees the same texts.
"""

import inspect
import re
from itertools import count
from pathlib import Path

import numpy
from onnx import defs

FOLDER = Path(__file__).resolve().parent / "texts"
SENTENCES = 1600
SENTENCE_WORDS = range(4, 60)
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


def documented() -> list[str]:
    """Sentences of what numpy and the ONNX operators say of themselves: prose, formulas and code of many hands."""
    texts = [schema.doc for schema in sorted(defs.get_all_schemas(), key=lambda schema: (schema.domain, schema.name))]
    texts += [inspect.getdoc(getattr(numpy, name)) or "" for name in sorted(numpy.__all__)]
    sentences = {}
    for text in texts:
        for sentence in re.split(r"(?<=[.:?!])\s|\n\n", text):
            folded = " ".join(sentence.split())
            if len(folded.split()) in SENTENCE_WORDS:
                sentences[folded] = None
    found = list(sentences)
    step = len(found) / SENTENCES
    return [found[int(index * step)] for index in range(SENTENCES)]


def calibration() -> list[str]:
    short = written_out("calibration.txt", 6)
    return short + joined(short, 3) + joined(short, 8)


def check() -> list[str]:
    short = written_out("check.txt", 12)
    return short + joined(short, 3) + documented()
