"""The parts that only the test of the console uses: Chromium, and what drives it.

They stand apart from `catalogue.py` so that a change here does not make the others again.
"""

import shutil
import tempfile
from pathlib import Path

from catalogue import PINS, REPOSITORY, Part, node_and_npm
from debian import download, unpack
from fetch import npm_ci
from pip_tool import PartError
from store import Store

PACKAGES = PINS / "chromium.packages"
NODE = REPOSITORY / "tests" / "console" / "node"

# Finds the libraries and the font beside it, wherever the folder is put.
START = """#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
libraries="$here/usr/lib/x86_64-linux-gnu"
export LD_LIBRARY_PATH="$libraries:$here/lib/x86_64-linux-gnu:$libraries/pulseaudio:$libraries/nss"
export FONTCONFIG_FILE="$here/fonts.conf" FONTCONFIG_SYSROOT="$here"
exec "$here/usr/lib/chromium/chromium" "$@"
"""
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
"""


def fill_chromium(store: Store, to: Path) -> None:
    for tool in ["apt-get", "dpkg-deb"]:
        if shutil.which(tool) is None:
            raise PartError(f"Chromium comes from Debian's packages, and there is no {tool} here; install it your own way and point at "
                            "it by CHROMIUM_BIN")
    names = [line for line in PACKAGES.read_text().splitlines() if not line.startswith("#")]
    folder = to / "chromium"
    folder.mkdir()
    with tempfile.TemporaryDirectory(dir=to) as scratch:
        for file in download(names, Path(scratch)):
            unpack(file, folder)
    (folder / "fonts.conf").write_text(FONTS)
    start = folder / "run"
    start.write_text(START)
    start.chmod(0o755)


def fill_browser_node(store: Store, to: Path) -> None:
    folder = to / "browser-node"
    folder.mkdir()
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(NODE / name, folder / name)
    node, npm = node_and_npm(store)
    npm_ci(node, npm, folder)


PARTS = [
    Part("chromium", "Chromium", ["chromium"], [PACKAGES], fill_chromium, ["CHROMIUM_BIN"]),
    Part("browser-node", "what drives Chromium: playwright-core, axe-core", ["browser-node"],
         [NODE / "package.json", NODE / "package-lock.json"], fill_browser_node),
]
