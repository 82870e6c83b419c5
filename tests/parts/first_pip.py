"""Some pip of any version, good for one thing: to fetch the pinned one.

In this order: the one that this Python has; the wheel that Python brings for `ensurepip`; the wheel that Debian has as a package,
which apt fetches without root and holds to Debian's signatures.
"""

import importlib.util
import shutil
import sys
import sysconfig
from pathlib import Path

from debian import download, unpack
from process import PartError

DEBIAN_PACKAGE = "python3-pip-whl"
DEBIAN_FOLDER = "usr/share/python-wheels"


def command(scratch: Path) -> list[str]:
    """The start of its command line; what has to be fetched for it lies below `scratch`."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    wheel = brought() or from_debian(scratch)
    return [sys.executable, str(wheel / "pip")]


def brought() -> Path | None:
    """The wheel for `ensurepip`, where this Python brings one; distributions have it in a folder of their own."""
    folders = [Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or "/" + DEBIAN_FOLDER)]
    ensurepip = importlib.util.find_spec("ensurepip")
    if ensurepip is not None and ensurepip.origin is not None:
        folders.append(Path(ensurepip.origin).parent / "_bundled")
    return wheel_in(*folders)


def from_debian(scratch: Path) -> Path:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise PartError("this Python has no pip, and none can be had by itself here; install pip for it (most systems call the package "
                        "python3-pip), and call this again")
    for package in download([DEBIAN_PACKAGE], scratch / "debian"):
        unpack(package, scratch / "debian" / "files")
    wheel = wheel_in(scratch / "debian" / "files" / DEBIAN_FOLDER)
    if wheel is None:
        raise PartError(f"Debian's package {DEBIAN_PACKAGE} holds no wheel of pip in {DEBIAN_FOLDER}; install python3-pip, and call "
                        "this again")
    return wheel


def wheel_in(*folders: Path) -> Path | None:
    return next((wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))), None)
