"""The archive of `make dist`: the same bytes as in the images, and a service that runs on a Debian with nothing added."""

import hashlib
import shutil
import socket
import tarfile
from pathlib import Path

import images
from podman import Failed, Podman
from waiting import eventually, expect

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# Where the archive has what the images have elsewhere.
SAME = {
    images.SERVICE_IMAGE: {"bin/embedding-service": "usr/local/bin/embedding-service", "model/model.onnx": "opt/model/model.onnx",
                           "lib/libonnxruntime.so": "opt/onnxruntime/libonnxruntime.so"},
    images.FILTER_IMAGE: {"module/sentinel_filter.wasm": "plugin.wasm"},
}
# What the document says to do, and no more.
START = 'cd /tmp && tar xzf /archive.tar.gz && cd agent-sentinel-* && sha256sum --check --quiet SHA256SUMS && exec bin/start-service'


def packed() -> Path:
    found = sorted((REPOSITORY / "dist").glob("agent-sentinel-*.tar.gz"), key=lambda file: file.stat().st_mtime)
    if not found:
        raise Failed("there is no archive in dist/; `make dist` makes one")
    return found[-1]


def same_bytes_as_the_images(podman: Podman) -> None:
    with tarfile.open(packed()) as archive:
        members = {member.name.split("/", 1)[1]: member for member in archive.getmembers()}
        for image, files in SAME.items():
            root = Path(podman.run("image", "mount", image).strip())
            try:
                for inside, there in files.items():
                    both = [hashlib.sha256(archive.extractfile(members[inside]).read()).hexdigest(),
                            hashlib.sha256((root / there).read_bytes()).hexdigest()]
                    expect(f"{inside}: built on this machine and in an image, the same bytes", both[0] == both[1], both)
            finally:
                podman.run("image", "unmount", image)


def runs_on_a_bare_debian(podman: Podman) -> None:
    shared = podman.folder / "bare"
    shutil.rmtree(shared, ignore_errors=True)
    shared.mkdir()
    shared.chmod(0o777)
    name = "sentinel-bare"
    try:
        podman.run("run", "--detach", "--name", name, "--network", "none", "--user", "65532:65532", "--read-only", "--cap-drop", "all",
                   "--tmpfs", "/tmp:exec,mode=1777", "--volume", f"{packed()}:/archive.tar.gz:ro", "--volume", f"{shared}:/run/sentinel",
                   "--env", "UDS_PATH=/run/sentinel/s.sock", "--env", "METRICS_ADDR=127.0.0.1:9464",
                   images.default_of(images.SERVICE, "RUN_IMAGE"), "sh", "-c", START)
        eventually("the service opens its socket, which it does when the model is warm", lambda: connects(shared / "s.sock"),
                   lambda: podman.logs(name))
        expect("the service runs from the archive on a bare Debian, without a network", True)
    finally:
        podman.run("rm", "--force", "--time", "2", name, allowed=True)


def connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True
