"""The part that makes the filter smaller once rustc is done with it. It stands apart from `catalogue.py` so that a
change here does not make the others again."""

import shutil
from pathlib import Path

from catalogue import REPOSITORY, Part, node_and_npm
from fetch import npm_ci
from store import Store

PACKAGE = REPOSITORY / "filter" / "wasm-opt"
FILES = [PACKAGE / "package.json", PACKAGE / "package-lock.json"]


def fill_wasm_opt(store: Store, to: Path) -> None:
    folder = to / "wasm-opt"
    folder.mkdir()
    for file in FILES:
        shutil.copy(file, folder)
    node, npm = node_and_npm(store)
    npm_ci(node, npm, folder)
    # The package has ten programs; one file of one of them is needed.
    shutil.move(folder / "node_modules" / "binaryen" / "bin" / "wasm-opt", folder / "wasm-opt")
    shutil.move(folder / "node_modules" / "binaryen" / "LICENSE", folder / "LICENSE")
    shutil.rmtree(folder / "node_modules")


PARTS = [Part("wasm-opt", "Binaryen's wasm-opt 132", ["wasm-opt"], FILES, fill_wasm_opt)]
