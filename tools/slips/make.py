"""Writes embedding-service/src/cache/equality/slips.txt: `make.py VERSION word_codegen.rs /usr/share/dict > slips.txt`.

`word_codegen.rs` is a source file of the crate typos-dict, and VERSION the crate's. The service does not depend on the crate, because
the file takes a compiler longer than almost all of the service. A slip is kept if it can mean one word only and has a typical shape: one vowel
for another inside the word, one letter for two or two for one, "ie" for "ei", in words of seven letters and more. Of a word that is asked for
("the captial of", words.txt), every slip of one letter is kept. "Oktober" and "maschine" are no slips: words of other languages
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
# Shorter words are too near to others, and to names.
LEAST = 7
VOWELS = "aeiou"


def is_near(slip: str, word: str) -> bool:
    if len(slip) == len(word):
        others = [at for at, letter in enumerate(slip) if letter != word[at]]
        are_exchanged = len(others) == 2 and others[1] == others[0] + 1 and sorted(slip) == sorted(word)
        return len(others) == 1 or are_exchanged
    short, long = sorted([slip, word], key=len)
    same = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    return len(long) == len(short) + 1 and short[same:] == long[same + 1:]


def is_typical(slip: str, word: str) -> bool:
    if len(slip) == len(word):
        others = [at for at, letter in enumerate(slip) if letter != word[at]]
        first, last = others[0], others[-1]
        if len(others) == 1:
            return 0 < first < len(slip) - 1 and slip[first] in VOWELS and word[first] in VOWELS
        return {slip[first : last + 1], word[first : last + 1]} == {"ie", "ei"}
    short, long = sorted([slip, word], key=len)
    at = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    return at > 0 and long[at] == long[at - 1]


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
    asked_for = set(lists["asked_for"].split())
    slips = {}
    for slip, words in ENTRY.findall(source.read_text()):
        slip, words = slip.lower(), re.findall('"([^"]*)"', words)
        if len(words) != 1 or not is_plain(words[0]) or not is_plain(slip):
            continue
        is_long = min(len(slip), len(words[0])) >= LEAST
        if is_near(slip, words[0]) and (words[0] in asked_for or is_long and is_typical(slip, words[0])):
            slips[slip] = words[0]
    for word in words_elsewhere(dictionaries):
        slips.pop(word, None)
    print(f"# Typing slips and the words that are meant, in order, from the crate typos-dict {version} (MIT or Apache-2.0; NOTICE).")
    print("# Written by tools/slips/make.py.")
    for slip in sorted(slips):
        print(slip, slips[slip])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
