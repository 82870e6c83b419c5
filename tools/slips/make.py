"""Writes embedding-service/src/cache/equality/slips.txt: `make.py VERSION word_codegen.rs > slips.txt`.

`word_codegen.rs` is a source file of the crate typos-dict, and VERSION the crate's. The service does not depend on the crate, because
the file takes a compiler longer than almost all of the service. A slip is kept if it can mean one word only: one letter too many, missing
or another, or two exchanged; or if it means a word that an order begins with.
"""

import re
import sys
from pathlib import Path

WORDS = Path(__file__).parents[2] / "embedding-service/src/cache/equality/words.txt"
ENTRY = re.compile(r'dictgen::InsensitiveStr::(?:Ascii|Unicode)\("([^"]*)"\),\s*&\[([^\]]*)\]')
# Shorter words are too near to others.
LEAST = 4


def is_near(slip: str, word: str) -> bool:
    if len(slip) == len(word):
        others = [at for at, letter in enumerate(slip) if letter != word[at]]
        are_exchanged = len(others) == 2 and others[1] == others[0] + 1 and sorted(slip) == sorted(word)
        return len(others) == 1 or are_exchanged
    short, long = sorted([slip, word], key=len)
    same = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    return len(long) == len(short) + 1 and short[same:] == long[same + 1:]


def is_plain(word: str) -> bool:
    return re.fullmatch("[a-z]+", word) is not None


def main(version: str, source: Path) -> None:
    lists = dict(line.split(":", 1) for line in WORDS.read_text().splitlines() if not line.startswith("#") and ":" in line)
    orders = {word for name in ["orders", "orders_with_object"] for word in lists[name].split()}
    slips = {}
    for slip, words in ENTRY.findall(source.read_text()):
        slip, words = slip.lower(), re.findall('"([^"]*)"', words)
        if len(words) != 1 or not is_plain(words[0]) or not is_plain(slip):
            continue
        if min(len(slip), len(words[0])) >= LEAST and is_near(slip, words[0]) or words[0] in orders:
            slips[slip] = words[0]
    print(f"# Typing slips and the words that are meant, in order, from the crate typos-dict {version} (MIT or Apache-2.0; NOTICE).")
    print("# Written by tools/slips/make.py.")
    for slip in sorted(slips):
        print(slip, slips[slip])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
