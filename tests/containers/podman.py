"""podman with a storage and a configuration of its own, so that no image and no container of the machine is touched.

    python3 tests/containers/podman.py             says what this machine lacks
    python3 tests/containers/podman.py packages    the Debian packages that are needed
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NEEDED = ["podman", "runc", "iptables", "mmdebstrap"]
PACKAGES = "podman runc netavark aardvark-dns catatonit iptables mmdebstrap"

# runc and plain cgroup files work where there is no systemd and where cgroups are mixed; crun does not.
CONTAINERS = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""
STORAGE = """[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""


class Failed(Exception):
    """Something did not go as it must; the text says what."""


def missing() -> list[str]:
    """What this machine lacks, in sentences."""
    lacks = []
    if os.geteuid() != 0:
        lacks.append("it needs root: start it by `sudo make containers`, or as root")
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if absent:
        lacks.append(f"there is no {', '.join(absent)} here: on Debian, `apt-get install {PACKAGES}`")
    return lacks or refused_by_the_machine()


def refused_by_the_machine() -> list[str]:
    """What root may not do here, as inside of another container."""
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return ["root may make no namespaces here: run it outside of a container, or in a privileged one"]
    with tempfile.TemporaryDirectory() as folder:
        try:
            Podman(Path(folder)).run("info")
        except Failed as failure:
            return [f"podman cannot run here: {failure}"]
    return []


class Podman:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "containers.conf").write_text(CONTAINERS)
        (folder / "storage.conf").write_text(STORAGE.format(folder=folder))
        self.environment = dict(os.environ, CONTAINERS_CONF=str(folder / "containers.conf"),
                                CONTAINERS_STORAGE_CONF=str(folder / "storage.conf"))

    def run(self, *arguments: str, shown: bool = False, allowed: bool = False, input: bytes | None = None) -> str:
        """Runs `podman ARGUMENTS`; what it prints. `shown`: on the terminal as it comes. `allowed`: it may fail."""
        return self.call(["podman", *arguments], shown=shown, allowed=allowed, input=input)

    def call(self, command: list[str], *, shown: bool = False, allowed: bool = False, input: bytes | None = None,
             cwd: Path | None = None, more: dict[str, str] | None = None) -> str:
        done = subprocess.run(command, env=self.environment | (more or {}), cwd=cwd, input=input,
                              stdin=subprocess.DEVNULL if input is None else None,
                              stdout=None if shown else subprocess.PIPE, stderr=None if shown else subprocess.PIPE)
        if done.returncode != 0 and not allowed:
            said = "" if shown else f"\n{(done.stdout + done.stderr).decode(errors='replace')[-4000:]}"
            raise Failed(f"`{' '.join(command)[:300]}` failed (exit code {done.returncode}){said}")
        return "" if shown else done.stdout.decode(errors="replace")

    def has(self, image: str) -> bool:
        return subprocess.run(["podman", "image", "exists", image], env=self.environment, stderr=subprocess.DEVNULL).returncode == 0

    def logs(self, container: str) -> str:
        done = subprocess.run(["podman", "logs", "--tail", "40", container], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.stdout.decode(errors="replace")

    def clear(self) -> None:
        """Ends and removes every container, pod and network of this storage; images stay."""
        for command in (["pod", "rm", "--all", "--force", "--time", "0"], ["rm", "--all", "--force", "--time", "0"],
                        ["network", "prune", "--force"], ["volume", "prune", "--force"]):
            self.run(*command, allowed=True)

    def remove(self) -> None:
        """Nothing is left of it."""
        self.clear()
        self.run("image", "unmount", "--all", allowed=True)
        # Builds that were interrupted leave theirs mounted too.
        mounted = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for place in sorted((place for place in mounted if place.startswith(f"{self.folder}/")), reverse=True):
            subprocess.run(["umount", place], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["packages"]:
        sys.exit(print(PACKAGES))
    # Asked before anything is built.
    sys.exit("\n".join(f"containers: {sentence}" for sentence in missing()) or 0)
