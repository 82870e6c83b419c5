"""The lists of components (CycloneDX 1.5): of the service, with ONNX Runtime and the model, of what its page Replay runs in a browser, and of
the module.

cargo-cyclonedx makes them on a copy of the manifests, since it writes beside each. Paths of the copy are taken out, and so are
crates that other members of the workspace want and this one does not.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from builds import LINUX, WASM
from refused import Refused

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SOURCES = ["filter", "proto", "embedding-service", "tests", "tools"]


def lists(time: int, onnxruntime: Path, model: Path) -> dict[str, bytes]:
    """File name: text."""
    service = of_crate("embedding-service", "embedding-service", LINUX, time)
    service["components"] += [runtime(onnxruntime), embedding_model(model)]
    module = of_crate("sentinel-filter", "filter", WASM, time)
    replay = of_crate("sentinel-console-replay", "embedding-service/console/replay", WASM, time)
    return {"embedding-service.cdx.json": text(service), "sentinel_console_replay.cdx.json": text(replay),
            "sentinel_filter.cdx.json": text(module)}


def text(document: dict) -> bytes:
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def of_crate(crate: str, folder: str, target: str, time: int) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve() / "sentinel"
        root.mkdir()
        for name in ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml"):
            shutil.copy(REPOSITORY / name, root / name)
        for name in SOURCES:
            shutil.copytree(REPOSITORY / name, root / name, ignore=shutil.ignore_patterns("node_modules", "__pycache__", "target"))
        name = "components.cdx"
        command = [os.environ.get("CARGO_CYCLONEDX_BIN", "cargo-cyclonedx"), "cyclonedx", "--quiet", "--format", "json",
                   "--spec-version", "1.5", "--target", target, "--no-build-deps", "--override-filename", name,
                   "--manifest-path", str(root / folder / "Cargo.toml")]
        environment = dict(os.environ, SOURCE_DATE_EPOCH=str(time))
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        made = root / folder / f"{name}.json"
        if done.returncode != 0 or not made.is_file():
            raise Refused(f"cargo-cyclonedx made no list for {folder}:\n{done.stderr.strip()[-1500:]}")
        plain = re.sub(r"(path\+)?file://" + re.escape(str(root)) + "/?", "", made.read_text())
        return only(wanted_by(crate, target), json.loads(plain))


def wanted_by(crate: str, target: str) -> set[tuple[str, str]]:
    """Name and version of each crate that is built into this one."""
    command = [os.environ.get("CARGO", "cargo"), "tree", "--locked", "--quiet", "--package", crate, "--target", target, "--edges", "normal",
               "--prefix", "none", "--format", "{p}"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"`{' '.join(command)}` failed:\n{done.stderr.strip()[-1500:]}")
    return {(line.split()[0], line.split()[1].removeprefix("v")) for line in done.stdout.splitlines() if line}


def only(wanted: set[tuple[str, str]], document: dict) -> dict:
    named = {(part["name"], part["version"]) for part in document["components"]}
    crate = (document["metadata"]["component"]["name"], document["metadata"]["component"]["version"])
    if missing := wanted - named - {crate}:
        raise Refused(f"cargo-cyclonedx does not list {sorted(missing)}, which cargo builds into {crate[0]}")
    document["components"] = [part for part in document["components"] if (part["name"], part["version"]) in wanted]
    left = {part["bom-ref"] for part in document["components"]} | {document["metadata"]["component"]["bom-ref"]}
    document["dependencies"] = [entry | {"dependsOn": [ref for ref in entry.get("dependsOn", []) if ref in left]}
                                for entry in document["dependencies"] if entry["ref"] in left]
    return document


def digest(file: Path) -> list[dict]:
    return [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}]


def runtime(library: Path) -> dict:
    pins = (REPOSITORY / "tests/parts/pins/onnxruntime.txt").read_text()
    found = re.search(r"^onnxruntime==(\S+)", pins, re.MULTILINE)
    version = found[1] if found else "unknown"
    return {"type": "library", "name": "onnxruntime", "version": version, "bom-ref": f"pkg:pypi/onnxruntime@{version}",
            "purl": f"pkg:pypi/onnxruntime@{version}", "licenses": [{"license": {"id": "MIT"}}], "hashes": digest(library)}


def embedding_model(model: Path) -> dict:
    card = json.loads(model.with_name("model.json").read_text())
    return {"type": "machine-learning-model", "name": card["name"], "version": card["sha256"]["source"][:12],
            "bom-ref": "model", "licenses": [{"license": {"id": card["licence"]}}], "hashes": digest(model)}
