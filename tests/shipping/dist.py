"""Packs what an installation without a toolchain needs into one archive: `make dist`.

    dist/agent-sentinel-VERSION-linux-x86_64.tar.gz      and its .sha256 beside it

Module, service, ONNX Runtime, model, bootstraps, documents, lists of components (CycloneDX) and SHA256SUMS. The same inputs give
the same bytes: names in order, one time for all files, nobody's user and group. What is built, and how, is in `builds.py`, what
the lists say in `components.py`. Needs Python and the library of CycloneDX, which `make dist` sets up.
"""

import argparse
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

sys.dont_write_bytecode = True

import builds  # noqa: E402
import components  # noqa: E402
from refused import Refused  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent.parent
MODULE = "target/wasm32-wasip1/release/sentinel_filter.wasm"
# The archive has no folder target/: bootstraps name the module where it lies there.
MODULE_INSIDE = "module/sentinel_filter.wasm"
BOOTSTRAPS = ["envoy/demo.yaml", "envoy/providers.yaml", "envoy/production.yaml"]
# It signs people in, and has no filter of ours.
CONSOLE = "envoy/console.yaml"
MODEL = ["model.onnx", "tokenizer.json", "model.json", "MODEL.md"]
DOCUMENTS = ["CHANGELOG.md", "LICENSE", "NOTICE"]
# The project's own README is for those who have the sources.
README = "tests/shipping/archive.md"
PICTURES = {".md", ".svg", ".png"}


def version() -> str:
    found = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', (REPOSITORY / "Cargo.toml").read_text(), re.MULTILINE)
    if found is None:
        raise Refused("Cargo.toml has no version below [workspace.package]")
    return found[1]


def time_of_release() -> int:
    """What every file in the archive is dated: SOURCE_DATE_EPOCH, or the last commit's time."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        if not given.isdigit():
            raise Refused(f"SOURCE_DATE_EPOCH is {given!r}; it is a number of seconds since 1970")
        return int(given)
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=REPOSITORY, capture_output=True, text=True)
    if log.returncode != 0:
        raise Refused("the time of the last commit is not known here (git says "
                      f"{log.stderr.strip()!r}); give it as SOURCE_DATE_EPOCH, in seconds since 1970")
    return int(log.stdout)


def bootstrap(name: str) -> bytes:
    text = (REPOSITORY / name).read_text()
    modules = 0 if name == CONSOLE else 1
    if text.count(MODULE) != modules:
        raise Refused(f"{name} names {MODULE} {text.count(MODULE)} times, not {modules} times")
    text = text.replace(MODULE, MODULE_INSIDE)
    return text.replace("root of the repository", "root of this folder").encode()


def contents(module: Path, service: Path, onnxruntime: Path, model: Path, lists: dict[str, bytes]) -> dict[str, bytes]:
    """Name in the archive: bytes, for every file but the sums."""
    files = {name: (REPOSITORY / name).read_bytes() for name in DOCUMENTS}
    files["README.md"] = (REPOSITORY / README).read_bytes()
    for folder in ("docs", "envoy/production", "envoy/console"):
        for file in sorted((REPOSITORY / folder).rglob("*")):
            if file.is_file() and (folder != "docs" or file.suffix in PICTURES):
                files[str(file.relative_to(REPOSITORY))] = file.read_bytes()
    files |= {name: bootstrap(name) for name in [*BOOTSTRAPS, CONSOLE]}
    files |= {f"model/{name}": (model.parent / name).read_bytes() for name in MODEL}
    files |= {
        MODULE_INSIDE: module.read_bytes(),
        "bin/embedding-service": service.read_bytes(),
        "bin/start-service": (REPOSITORY / "tests" / "shipping" / "start-service").read_bytes(),
        "lib/libonnxruntime.so": onnxruntime.read_bytes(),
        "lib/LICENSE.onnxruntime": (onnxruntime.parent / "LICENSE").read_bytes(),
    }
    return files | {f"sbom/{name}": text for name, text in lists.items()}


def sums(files: dict[str, bytes]) -> bytes:
    """As `sha256sum --check` reads them."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()


def pack(files: dict[str, bytes], top: str, time: int, level: int = 6) -> bytes:
    """A tar.gz with all of it below `top`."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0, compresslevel=level) as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name in sorted(files):
                entry = tarfile.TarInfo(f"{top}/{name}")
                entry.size, entry.mtime = len(files[name]), time
                entry.mode = 0o755 if name.startswith("bin/") else 0o644
                archive.addfile(entry, io.BytesIO(files[name]))
    return packed.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True, type=Path, help="the folder to build in")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist", help="the folder of the archive (default: dist)")
    options = parser.parse_args()
    try:
        time = time_of_release()
        parts = {name: builds.part(name) for name in ("ORT_DYLIB_PATH", "LOOP_EMBEDDING_MODEL_PATH")}
        module, service = builds.module(options.target), builds.service(options.target)
        lists = components.lists(time, parts["ORT_DYLIB_PATH"], parts["LOOP_EMBEDDING_MODEL_PATH"])
        files = contents(module, service, parts["ORT_DYLIB_PATH"], parts["LOOP_EMBEDDING_MODEL_PATH"], lists)
    except (Refused, OSError) as error:
        print(f"dist: {error}", file=sys.stderr)
        return 1
    top = f"agent-sentinel-{version()}"
    files["SHA256SUMS"] = sums(files)
    archive = pack(files, top, time)
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{top}-linux-x86_64.tar.gz"
    path.write_bytes(archive)
    digest = hashlib.sha256(archive).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n")
    print(f"{path}: {len(archive) / 1e6:.1f} MB, {len(files)} files, SHA-256 {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
