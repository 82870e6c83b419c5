"""The image of embedding-service/Dockerfile.arm64, from Debian's packages for 64-bit Arm in the place of the public base images.

The base is unpacked and nothing in it is run: its packages' own scripts would need an emulator that the kernel knows.
"""

import shutil
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "tests" / "containers"))

from podman import Podman, missing  # noqa: E402

BASE, IMAGE = "localhost/debian-arm64:12", "localhost/embedding-service:arm64"
PACKAGES = "base-files,libc6,libgcc-s1,libstdc++6"
AUTHORITIES = Path("etc/ssl/certs/ca-certificates.crt")


def lacks() -> list[str]:
    """What this machine lacks for it, in sentences."""
    return missing()


def base(podman: Podman, scratch: Path) -> None:
    archive = scratch / "base.tar"
    podman.call(["mmdebstrap", "--quiet", "--architectures=arm64", "--variant=extract", f"--include={PACKAGES}", "bookworm", str(archive)])
    (scratch / AUTHORITIES).parent.mkdir(parents=True)
    shutil.copy(Path("/") / AUTHORITIES, scratch / AUTHORITIES)
    podman.call(["tar", "--append", "--file", str(archive), "--directory", str(scratch), f"./{AUTHORITIES}"])
    podman.run("import", "--quiet", "--arch", "arm64", "--os", "linux", str(archive), BASE)


def build(podman: Podman, context: Path, processors: Path) -> Path:
    """Builds it from what `make arm64` has laid out; where its files can be read, with this /proc/cpuinfo among them."""
    with tempfile.TemporaryDirectory(dir=podman.folder) as scratch:
        base(podman, Path(scratch))
    podman.run("build", "--quiet", "--platform=linux/arm64", "--isolation=oci", "--pull=never", "--build-arg", f"BUILD_IMAGE={BASE}",
               "--build-arg", f"RUN_IMAGE={BASE}", "--file", str(REPOSITORY / "embedding-service" / "Dockerfile.arm64"), "--tag", IMAGE, str(context))
    container = podman.run("create", "--pull=never", "--platform=linux/arm64", IMAGE).strip()
    root = Path(podman.run("mount", container).strip())
    (root / "proc").mkdir(exist_ok=True)
    shutil.copy(processors, root / "proc" / "cpuinfo")
    return root


def setting(podman: Podman, name: str) -> str:
    """A variable of its environment."""
    lines = podman.run("inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", IMAGE).splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)[name]


def program(podman: Podman) -> str:
    return podman.run("inspect", "--format", "{{index .Config.Entrypoint 0}}", IMAGE).strip()
