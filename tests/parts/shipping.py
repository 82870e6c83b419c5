"""The parts that judge, list and run what is shipped: cargo-deny for the dependencies, the library of CycloneDX for the lists of
components, podman-compose and the Compose specification for compose.yaml.

The first is built here from crates.io, with the lock file that it was published with. They stand apart from `catalogue.py` so that a
change here does not make the others again.
"""

import os
import shutil
from pathlib import Path

from catalogue import PINS, REPOSITORY, Part
from fetch import install_packages, run
from pip_tool import PartError
from store import Store

PINNED = PINS / "cargo.crates"


def version_of(name: str) -> str:
    for line in PINNED.read_text().splitlines():
        crate, _, version = line.partition("==")
        if crate == name:
            return version
    raise PartError(f"{PINNED.name} does not say which {name}; add a line {name}==VERSION")


def cargo_install(name: str, to: Path) -> None:
    """Builds the program of a crate, quickly rather than fast to run, and leaves nothing but the program."""
    unwanted = {"RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_BUILD_RUSTFLAGS"}
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    environment |= {"CARGO_TARGET_DIR": str(to / "built"), "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_OPT_LEVEL": "0"}
    command = ["cargo", "install", "--quiet", "--debug", "--locked", "--no-track", "--root", str(to / "installed"),
               f"{name}@{version_of(name)}"]
    run(command, f"building {name}", environment, cwd=REPOSITORY)
    (to / name).mkdir()
    shutil.move(to / "installed" / "bin" / name, to / name / name)


def fill_cargo_deny(store: Store, to: Path) -> None:
    cargo_install("cargo-deny", to)


def fill_cyclonedx(store: Store, to: Path) -> None:
    install_packages(PINS / "cyclonedx.txt", to / "cyclonedx")


def fill_compose(store: Store, to: Path) -> None:
    install_packages(PINS / "compose.txt", to / "compose")


PARTS = [
    Part("compose", "podman-compose and the Compose specification", ["compose"], [PINS / "compose.txt"], fill_compose,
         per_python=True),
    Part("cargo-deny", "cargo-deny, which judges licences and sources", ["cargo-deny"], [PINNED], fill_cargo_deny,
         ["CARGO_DENY_BIN"]),
    Part("cyclonedx", "the library of CycloneDX, which lists components", ["cyclonedx"], [PINS / "cyclonedx.txt"], fill_cyclonedx,
         per_python=True),
]
