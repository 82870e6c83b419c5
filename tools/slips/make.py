"""Writes embedding-service/src/cache/equality/slips.txt: `make.py VERSION word_codegen.rs /usr/share/dict > slips.txt`.

`word_codegen.rs` is a source file of the crate typos-dict, and VERSION the crate's. The service does not depend on the crate, because
the file takes a compiler longer than almost all of the service. A slip is kept if it can mean one word only: one letter too many, missing
or another, or two exchanged; or if it means a word that an order begins with. "Oktober" and "maschine" are no slips: words of other languages
go, by Debian's lists (wfrench, wngerman, wspanish, witalian, wportuguese, wbrazilian, wdutch, wdanish, wswedish, wnorwegian, wpolish,
wcatalan) of Debian 12.
"""

import re
import sys
import unicodedata
from pathlib import Path

WORDS = Path(__file__).parents[2] / "embedding-service/src/cache/equality/words.txt"
ENTRY = re.compile(r'dictgen::InsensitiveStr::(?:Ascii|Unicode)\("([^"]*)"\),\s*&\[([^\]]*)\]')
# Languages by their lists. Of those much used in names, one list is enough; of the others, two.
MUCH_USED = {"french": ["french"], "german": ["ngerman"], "spanish": ["spanish"], "italian": ["italian"]}
OTHERS = {
    "portuguese": ["portuguese", "brazilian"],
    "scandinavian": ["danish", "swedish", "bokmaal", "nynorsk"],
    "dutch": ["dutch"],
    "polish": ["polish"],
    "catalan": ["catalan"],
}
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


def words_of(file: Path) -> set[str]:
    """In lower case, without accents: so they are typed."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        text = file.read_text(encoding="latin-1")
    letters = unicodedata.normalize("NFD", text.lower())
    return set("".join(letter for letter in letters if not unicodedata.combining(letter)).split("\n"))


def words_elsewhere(folder: Path) -> set[str]:
    def of(lists: list[str]) -> set[str]:
        return set().union(*(words_of(folder / name) for name in lists))

    found = set().union(*(of(lists) for lists in MUCH_USED.values()))
    seen = set()
    for lists in OTHERS.values():
        words = of(lists)
        found |= seen & words
        seen |= words
    return found


def main(version: str, source: Path, dictionaries: Path) -> None:
    lists = dict(line.split(":", 1) for line in WORDS.read_text().splitlines() if not line.startswith("#") and ":" in line)
    orders = {word for name in ["orders", "orders_with_object"] for word in lists[name].split()}
    slips = {}
    for slip, words in ENTRY.findall(source.read_text()):
        slip, words = slip.lower(), re.findall('"([^"]*)"', words)
        if len(words) != 1 or not is_plain(words[0]) or not is_plain(slip):
            continue
        if min(len(slip), len(words[0])) >= LEAST and is_near(slip, words[0]) or words[0] in orders:
            slips[slip] = words[0]
    for word in words_elsewhere(dictionaries):
        slips.pop(word, None)
    print(f"# Typing slips and the words that are meant, in order, from the crate typos-dict {version} (MIT or Apache-2.0; NOTICE).")
    print("# Written by tools/slips/make.py.")
    for slip in sorted(slips):
        print(slip, slips[slip])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
