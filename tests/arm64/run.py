"""Builds the service for 64-bit Arm and runs under emulation what can differ there. `make arm64` sets up what it needs and starts it.

    python3 tests/arm64/run.py [--only STEP ...]

What it shows: the encoder's kernels give the bits of plain code in each of the three ways that such processors have; the shipped
model gives the golden vectors; the service starts and answers, from the image of `embedding-service/Dockerfile.arm64` too where podman
can run. What it cannot show: how fast any of it is on a real processor. `target/arm64` has the program, the runtime and the model
afterwards, from which the image is made.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True

import image
from podman import Failed, Podman

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PARTS = REPOSITORY / ".parts"
TOOLS = PARTS / "arm64-tools"
TARGET = "aarch64-unknown-linux-gnu"
BUILT = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target").resolve()
PROGRAM = BUILT / TARGET / "release" / "embedding-service"
RUNTIME = PARTS / "onnxruntime-arm64" / "libonnxruntime.so"
MODEL = REPOSITORY / (os.environ.get("LOOP_EMBEDDING_MODEL_PATH") or PARTS / "model" / "model.onnx")

# An emulated processor, and what the encoder must find on it.
NEWEST = "max,pauth-impdef=on"
PROCESSORS = {
    NEWEST: "NEON with i8mm, NEON with dot products, NEON",
    "neoverse-n1": "NEON with dot products, NEON",
    "cortex-a53": "NEON",
}
# How long an emulated service may take to load its model.
PATIENCE = 300


def environment(processor: str = NEWEST) -> dict[str, str]:
    name = TARGET.replace("-", "_")
    cargo = f"CARGO_TARGET_{name.upper()}"
    unwanted = {"RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"}
    return {key: value for key, value in os.environ.items() if key not in unwanted} | {
        f"{cargo}_LINKER": str(TOOLS / "cc"), f"CC_{name}": str(TOOLS / "cc"), f"AR_{name}": str(TOOLS / "ar"),
        f"{cargo}_RUNNER": f"{TOOLS / 'qemu'} -cpu {processor}",
        "ORT_DYLIB_PATH": str(RUNTIME), "LOOP_EMBEDDING_MODEL_PATH": str(MODEL),
    }


def cargo(*arguments: str, processor: str = NEWEST, more: dict[str, str] | None = None) -> None:
    command = [os.environ.get("CARGO") or "cargo", *arguments]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment(processor) | (more or {}))
    if done.returncode != 0:
        raise Failed(f"`{' '.join(command)}` failed on an emulated {processor} (exit code {done.returncode})")


def kernels() -> None:
    for processor, found in PROCESSORS.items():
        print(f"  {processor}: {found}", flush=True)
        cargo("test", "--release", "--quiet", "--target", TARGET, "-p", "sentinel-encoder", processor=processor,
              more={"SENTINEL_PROCESSORS": found})


def vectors() -> None:
    cargo("test", "--release", "--quiet", "--target", TARGET, "-p", "embedding-service", "--test", "it", "--",
          "golden::the_small_model_stays_close_to_sentence_transformers", "embedder::a_text_has_the_same_bits_on_every_processor")


def program() -> None:
    cargo("build", "--release", "--target", TARGET, "-p", "embedding-service", "--bin", "embedding-service")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/readyz", timeout=30) as answer:
            return answer.status == 200
    except (OSError, urllib.error.URLError):
        return False


def starts() -> None:
    gets_ready([str(PROGRAM)], {})


def gets_ready(program: list[str], more: dict[str, str]) -> None:
    grpc, metrics = (f"127.0.0.1:{free_port()}" for _ in range(2))
    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "log"), "w+") as log:
        command = [str(TOOLS / "qemu"), "-cpu", NEWEST, *program]
        settings = {"UDS_PATH": "", "LISTEN_ADDR": grpc, "METRICS_ADDR": metrics, "LOOP_WORKERS": "1"} | more
        service = subprocess.Popen(command, env=environment() | settings, stdout=log, stderr=subprocess.STDOUT)
        try:
            until = time.monotonic() + PATIENCE
            while not ready(metrics):
                if service.poll() is not None or time.monotonic() > until:
                    log.seek(0)
                    raise Failed(f"the emulated service did not get ready:\n{log.read()[-4000:]}")
                time.sleep(0.2)
        finally:
            service.terminate()
            service.wait()


def lay_out() -> None:
    folder = BUILT / "arm64"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(PROGRAM, folder)
    shutil.copytree(RUNTIME.parent, folder / "onnxruntime")
    shutil.copytree(MODEL.parent, folder / "model")
    print(f"  {folder}", flush=True)


def from_image() -> None:
    if lacks := image.lacks():
        print("\n".join(f"  not run: {sentence}" for sentence in lacks), flush=True)
        return
    podman = Podman(BUILT / "arm64-image")
    try:
        root = image.build(podman, BUILT / "arm64", TOOLS / "usr" / "aarch64-linux-gnu" / "proc" / "cpuinfo")
        found = {name: image.setting(podman, name) for name in ("ORT_DYLIB_PATH", "LOOP_EMBEDDING_MODEL_PATH")}
        inside = {name: root / path.lstrip("/") for name, path in found.items()}
        for name, path in inside.items():
            if not path.is_file():
                raise Failed(f"the image says {name}={found[name]}, and has no such file")
        # With the image's own C library.
        gets_ready(["-L", str(root), str(root / image.program(podman).lstrip("/"))], {name: str(path) for name, path in inside.items()})
    finally:
        podman.remove()


STEPS = {
    "kernels": kernels,
    "vectors": vectors,
    "program": program,
    "starts": starts,
    "lay-out": lay_out,
    "image": from_image,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(STEPS), help="only these steps (for work on this file)")
    options = parser.parse_args()
    for name in options.only:
        start = time.monotonic()
        print(f"{name}", flush=True)
        try:
            STEPS[name]()
        except Failed as failure:
            print(f"arm64: {failure}", file=sys.stderr)
            return 1
        print(f"  done in {time.monotonic() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
