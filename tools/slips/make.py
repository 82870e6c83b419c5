"""Writes slips.txt, common_words.txt and near_words.txt of embedding-service/src/cache/equality.

`make.py WORD_CODEGEN COUNTS`, after `apt-get install scowl miscfiles wamerican-huge wbritish-huge wfrench wngerman wspanish witalian wportuguese
wbrazilian wdutch wdanish wswedish wnorwegian wpolish wcatalan` (Debian 12) and `pip install wordfreq==3.1.1
names==0.3.0 rapidfuzz==3.14.1`. WORD_CODEGEN is the source file
`word_codegen.rs` of the crate typos-dict 0.14.4, and COUNTS the file `en.json.gz` of the Python package pyspellchecker 0.9.1.

* `common_words.txt`: words of SCOWL's lists up to size 60 that are counted often in COUNTS; the shorter, the more often.
* `near_words.txt`: what a slip of one of them may look like (a letter left out, doubled or exchanged with the next), and is a
  word or a name all the same: it stands in a list of English or of another language, is counted, is a surname or the name of a package, or is
  known to wordfreq, which knows "ambien" and "inflaton". Also the words of real_words.txt beside this file.
  Also what is one letter away from a second English word ("asorption": absorption or adsorption).
* `slips.txt`: of the slips of typos-dict those with one meaning that are one slip away from their word and begin as it does, with no second word
  as near, where the shapes above do not give them. "?" stands behind those that are written so often (by wordfreq) that texts speak of them.

The service does not depend on typos-dict, because that file takes a compiler longer than almost all of the service.
"""

import gzip
import json
import re
import subprocess
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import names as people
from rapidfuzz.distance import OSA
from wordfreq import zipf_frequency

TO = Path(__file__).parents[2] / "embedding-service/src/cache/equality"
REAL = Path(__file__).with_name("real_words.txt")
DICTIONARIES = Path("/usr/share/dict")
ENTRY = re.compile(r'dictgen::InsensitiveStr::(?:Ascii|Unicode)\("([^"]*)"\),\s*&\[([^\]]*)\]')
# Lists of other languages.
ELSEWHERE = ["french", "ngerman", "spanish", "italian", "portuguese", "brazilian", "danish", "swedish", "bokmaal", "nynorsk", "dutch", "polish", "catalan"]
VOWELS = "aeiou"
# A common word: its least number of letters, and how often it is counted at least.
COMMON = [(4, 20_000), (6, 5_000), (8, 500)]
LARGEST_LIST = 60
# The list after this one has misspellings too ("populaton").
LARGEST_KNOWN = 80
# What is asked for in "what is the ... of": of these, all slips of the list are taken.
ASKED_FOR = {"capital", "definition", "difference", "meaning", "population", "temperature", "symptoms", "currency", "distance"}
# Slips of a list that are as long are taken where their shape is typical.
LONG = 7
# A word that may be meant as well: of SCOWL's lists up to this size, and so frequent (as FAMOUS).
LARGEST_RIVAL = 80
RARE = 2.0
# So much less frequent is as good as the same.
NEARLY = 0.5
# A slip that is written more often than this (ten to this power in a thousand million words) is one of which texts speak.
FAMOUS = 1.7


def is_plain(word: str) -> bool:
    return re.fullmatch("[a-z]+", word) is not None


def english(text: str) -> float:
    return zipf_frequency(text, "en")


def is_near(slip: str, word: str) -> bool:
    if len(slip) == len(word):
        others = [at for at, letter in enumerate(slip) if letter != word[at]]
        are_exchanged = len(others) == 2 and others[1] == others[0] + 1 and sorted(slip) == sorted(word)
        return len(others) == 1 or are_exchanged
    short, long = sorted([slip, word], key=len)
    same = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    return len(long) == len(short) + 1 and short[same:] == long[same + 1:]


def without_one(text: str) -> set[str]:
    return {text[:at] + text[at + 1 :] for at in range(len(text))}


class Near:
    """Words, found by what is one slip of any kind away."""

    def __init__(self, words: Iterable[str]) -> None:
        self.found = defaultdict(set)
        for word in words:
            for part in without_one(word) | {word}:
                self.found[part].add(word)

    def words(self, slip: str) -> set[str]:
        parts = without_one(slip) | {slip}
        return {word for part in parts for word in self.found.get(part, ()) if word == slip or is_near(slip, word)}


def is_typical(slip: str, word: str) -> bool:
    """One vowel for another, one letter for two or two for one, "ie" for "ei"."""
    if len(slip) == len(word):
        others = [at for at, letter in enumerate(slip) if letter != word[at]]
        first, last = others[0], others[-1]
        if len(others) == 1:
            return 0 < first < len(slip) - 1 and slip[first] in VOWELS and word[first] in VOWELS
        return {slip[first : last + 1], word[first : last + 1]} == {"ie", "ei"}
    short, long = sorted([slip, word], key=len)
    at = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    return at > 0 and long[at] == long[at - 1]


def slips_of(word: str) -> set[str]:
    """As `slips.rs` reads them back."""
    inner = range(1, len(word) - 1)
    found = {word[:at] + word[at + 1 :] for at in inner if not (at == len(word) - 2 and word[at] in VOWELS)}
    found |= {word[:at] + word[at] + word[at:] for at in inner}
    found |= {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(1, len(word) - 1)}
    return found - {word}


def words_of(file: Path) -> set[str]:
    """In lower case, without accents: so they are typed."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        text = file.read_text(encoding="latin-1")
    letters = unicodedata.normalize("NFD", text.lower())
    return set("".join(letter for letter in letters if not unicodedata.combining(letter)).split("\n"))


def words_elsewhere() -> set[str]:
    return set().union(*(words_of(DICTIONARIES / name) for name in ELSEWHERE))


def names() -> set[str]:
    """The names of persons and of programs: surnames of the United States, and what the names of Debian's packages are made of."""
    persons = {line.split()[0].lower() for line in (Path(people.__file__).parent / "dist.all.last").read_text().splitlines()}
    packages = subprocess.run(["apt-cache", "pkgnames"], check=True, capture_output=True, text=True).stdout
    return persons | {part for part in re.split("[^a-z]+", packages) if len(part) > 3}


def sizes() -> dict[str, int]:
    """The words of SCOWL, each with the smallest of the lists that have it."""
    found: dict[str, int] = {}
    for kind in ["english", "american"]:
        for file in (DICTIONARIES / "scowl").glob(f"{kind}-words.*"):
            size = int(file.suffix[1:])
            for word in filter(is_plain, file.read_text(encoding="latin-1").split("\n")):
                found[word] = min(found.get(word, size), size)
    return found


def is_slip(slip: str, word: str, existing: set[str]) -> bool:
    # A plural of another language: "secretos", "indianos".
    if slip[-2:] in {"os", "as", "es", "is"} and word == slip[:-2] + "s":
        return False
    if word in ASKED_FOR or min(len(slip), len(word)) >= LONG and is_typical(slip, word):
        return True
    # A common word, and a slip that is rare beside it.
    is_rare = english(slip) < 1.7 and (len(slip) >= 6 or len(slip) >= 4 and sorted(slip) == sorted(word))
    is_much_rarer = english(slip) < 3.2 and english(word) - english(slip) >= 2.3 and len(slip) >= LONG
    return slip not in existing and english(word) >= 4.1 and (is_rare or is_much_rarer)


def write(name: str, about: str, lines: Iterable[str]) -> None:
    (TO / name).write_text(f"# {about}\n# Written by tools/slips/make.py; NOTICE names the sources.\n" + "".join(f"{line}\n" for line in sorted(lines)))


def main(source: Path, counted: Path) -> None:
    real = {word for line in REAL.read_text().splitlines() if not line.startswith("#") for word in line.split()}
    counts = json.loads(gzip.decompress(counted.read_bytes()))
    size = sizes()
    huge = set().union(*(words_of(DICTIONARIES / name) for name in ["american-english-huge", "british-english-huge", "web2"]))
    elsewhere = words_elsewhere()
    named = names()

    def exists(word: str) -> bool:
        return word in huge or word in elsewhere or size.get(word, 99) <= LARGEST_KNOWN or word in counts or word in named or english(word) > 0

    common = {word for word in size if size[word] <= LARGEST_LIST
              and any(len(word) >= letters and counts.get(word, 0) >= often for letters, often in COMMON)}
    meanings = defaultdict(set)
    for word in common:
        for slip in slips_of(word):
            meanings[slip].add(word)

    rivals = {word for word in size if size[word] <= LARGEST_RIVAL and english(word) >= RARE}

    near = Near(rivals)

    def is_of_two(slip: str, meant: set[str]) -> bool:
        return not near.words(slip) <= meant

    by_ends = defaultdict(list)
    for word in rivals:
        by_ends[word[0], word[-1]].append(word)

    def may_be_another(slip: str, word: str) -> bool:
        """A word as frequent with the same ends, which is one slip more away: "complection", "accusition"."""
        likely = (other for other in by_ends[slip[0], slip[-1]] if abs(len(other) - len(slip)) < 3 and other != word)
        return any(OSA.distance(slip, other, score_cutoff=2) < 3 and english(other) >= english(word) - NEARLY for other in likely)

    slips = {}
    for slip, words in ENTRY.findall(source.read_text()):
        slip, words = slip.lower(), re.findall('"([^"]*)"', words)
        if len(words) != 1 or not is_plain(words[0]) or not is_plain(slip) or not is_near(slip, words[0]):
            continue
        if slip[0] != words[0][0] or is_of_two(slip, set(words)) or may_be_another(slip, words[0]):
            continue
        by_shape = meanings.get(slip) == set(words) and not exists(slip)
        if not by_shape and not any(slip in words for words in [elsewhere, real, named]) and is_slip(slip, words[0], huge):
            slips[slip] = words[0]
    kept = {slip for slip, words in meanings.items()
            if len(words) == 1 and slip not in common and slip not in slips and (exists(slip) or is_of_two(slip, words))} | real

    write("slips.txt", "Slips and the words that are meant.",
          (f"{slip} {word}{' ?' if english(slip) >= FAMOUS else ''}" for slip, word in slips.items()))
    write("common_words.txt", "Words of every day.", common)
    write("near_words.txt", "Words and names that look like slips of common_words.txt.", kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
