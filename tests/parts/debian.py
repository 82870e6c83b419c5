"""How files come out of Debian packages without root: fetched by apt into a folder of our own, each held to its pinned
digest, unpacked by dpkg-deb.

apt reads the machine's own sources, which are the only thing that says where packages come from; its lists and its
cache are ours, so nothing of the machine is written.
"""

import functools
import hashlib
import re
import shutil
import tempfile
from pathlib import Path

from process import PartError, run

PIN = re.compile(r"^(?P<name>[a-z0-9.+-]+)=(?P<version>\S+) +sha256:(?P<digest>[0-9a-f]{64})$")


def read_pins(file: Path) -> list[tuple[str, str, str]]:
    """(name, version, SHA-256) of each line that is not a comment."""
    pins = []
    for line in file.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        found = PIN.match(line)
        if found is None:
            raise PartError(f"{file.name}: {line!r} is not NAME=VERSION sha256:DIGEST")
        pins.append((found["name"], found["version"], found["digest"]))
    return pins


def check_digest(package: Path, wanted: str) -> None:
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    if digest != wanted:
        raise PartError(f"{package.name} has SHA-256 {digest}, not the pinned {wanted}")


@functools.cache
def lists() -> tuple[tempfile.TemporaryDirectory, list[str]]:
    """Debian's package lists, fetched once for all parts of a set-up: the folder, and how apt is told to use it."""
    folder = tempfile.TemporaryDirectory()
    for name in ["lists/partial", "cache/archives/partial"]:
        Path(folder.name, name).mkdir(parents=True)
    # The sandbox user could not write into a folder of ours.
    options = ["-o", f"Dir::State::Lists={folder.name}/lists", "-o", f"Dir::Cache={folder.name}/cache", "-q",
               "-o", "APT::Sandbox::User="]
    run(["apt-get", *options, "update"], "fetching Debian's package lists")
    return folder, options


def download(names: list[str], scratch: Path) -> list[Path]:
    """The files of these packages (`NAME` or `NAME=VERSION`), fetched below `scratch`."""
    packages = scratch / "packages"
    packages.mkdir()
    _, options = lists()
    run(["apt-get", *options, "download", *names], f"fetching {', '.join(names)}", cwd=packages)
    found = []
    for name in names:
        files = list(packages.glob(f"{name.split('=')[0]}_*.deb"))
        if len(files) != 1:
            raise PartError(f"apt-get has left {len(files)} files of {name}, not one")
        found += files
    return found


def unpack(package: Path, to: Path) -> None:
    run(["dpkg-deb", "-x", str(package), str(to)], f"unpacking {package.name}")


def extract_debian(pins: Path, to: Path, wanted: dict[str, str]) -> None:
    """Fetches the packages that `pins` names and lays out `wanted`: {path inside a package: path below `to`}."""
    for tool in ["apt-get", "dpkg-deb"]:
        if shutil.which(tool) is None:
            raise PartError(f"the packages of {pins.name} are Debian's, and there is no {tool} here; install them your own "
                            "way and point at the programs by PROMETHEUS_BIN, PROMTOOL_BIN, ALERTMANAGER_BIN and AMTOOL_BIN")
    packages = read_pins(pins)
    with tempfile.TemporaryDirectory(dir=to) as folder:
        scratch = Path(folder)
        files = download([f"{name}={version}" for name, version, _ in packages], scratch)
        for file, (_, _, digest) in zip(files, packages):
            check_digest(file, digest)
            unpack(file, scratch / "files")
        for source, target in wanted.items():
            path = scratch / "files" / source
            if not path.is_file():
                raise PartError(f"none of the packages of {pins.name} holds {source}; their layout has changed")
            (to / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, to / target)
