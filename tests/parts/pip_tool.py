"""The pip that installs the parts: a pinned wheel that the project carries.

Debian's python3 comes without pip, ensurepip and venv, and the pips that machines do have differ.
So one pip is used everywhere, run straight from its wheel. It reads the machine's own pip configuration
(index, certificates, proxy), which is the only thing that says where packages come from.
"""

import hashlib
import os
import sys
from pathlib import Path

WHEEL = Path(__file__).resolve().parent / "pip-26.3-py3-none-any.whl"
SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"


class PartError(Exception):
    """A part could not be set up; the text says which, why, and what to do."""


def pip_command() -> list[str]:
    """The start of a pip command line. Raises PartError if the wheel is not the pinned one."""
    try:
        digest = hashlib.sha256(WHEEL.read_bytes()).hexdigest()
    except OSError as error:
        raise PartError(f"pip itself, {WHEEL}, cannot be read ({error}); restore it from version control") from None
    if digest != SHA256:
        raise PartError(f"{WHEEL} has SHA-256 {digest}, not the pinned {SHA256}; restore it from version control")
    return [sys.executable, str(WHEEL / "pip"), "--disable-pip-version-check", "--no-input", "--no-python-version-warning"]


def pip_environment() -> dict[str, str]:
    """The machine's environment, less the settings that contradict an install into a folder of our own."""
    unwanted = {"PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_HASHES", "PYTHONPATH"}
    return {name: value for name, value in os.environ.items() if name not in unwanted}
