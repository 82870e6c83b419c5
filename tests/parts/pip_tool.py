"""The pip that installs the parts: one pinned wheel, run as it is.

Debian's python3 comes without pip, ensurepip and venv, and the pips that machines do have differ. So one pip is used everywhere.
Its wheel is fetched once, held to its pinned digest, by whatever pip this machine has (`first_pip.py`). Both read the machine's own
pip configuration (index, certificates, proxy), which is the only thing that says where packages come from.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

import first_pip
from process import PartError, run

HERE = Path(__file__).resolve().parent
PINS = HERE / "pins" / "pip.txt"
FOLDER = HERE.parent.parent / ".parts" / "pip"
NAME = "pip-26.3-py3-none-any.whl"
SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"


def pip_command() -> list[str]:
    """The start of a pip command line. Fetches the wheel where it is not there, or is another one."""
    wheel = FOLDER / NAME
    if digest(wheel) != SHA256:
        fetch()
        if digest(wheel) != SHA256:
            raise PartError(f"{wheel} has SHA-256 {digest(wheel)}, and {PINS.name} and pip_tool.py want {SHA256}; "
                            "one of the two was changed without the other")
    return [sys.executable, str(wheel / "pip"), "--disable-pip-version-check", "--no-input", "--no-python-version-warning"]


def digest(wheel: Path) -> str | None:
    """SHA-256 of the file. Returns `None` when there is none."""
    try:
        return hashlib.sha256(wheel.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def fetch() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        # pip itself refuses what has another digest.
        run([*first_pip.command(Path(scratch)), "--disable-pip-version-check", "--no-input", "download", "--quiet", "--no-deps",
             "--only-binary=:all:", "--require-hashes", "--dest", scratch, "-r", str(PINS)],
            "fetching the pip that installs the parts", pip_environment())
        os.replace(Path(scratch) / NAME, FOLDER / NAME)


def pip_environment() -> dict[str, str]:
    """The machine's environment, less the settings that contradict an install into a folder of our own."""
    unwanted = {"PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_HASHES", "PYTHONPATH"}
    return {name: value for name, value in os.environ.items() if name not in unwanted}
