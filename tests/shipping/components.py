"""The lists of components (CycloneDX 1.5): of the service, with ONNX Runtime and the model, of what its page Replay runs in a browser, and of
the module.

`cargo tree` says which crates are built into each, `cargo metadata` what they are, and Cargo.lock their digests. `cargo metadata` alone
would list what other members of the workspace want too.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from datetime import datetime, timezone
from pathlib import Path

from builds import LINUX, WASM
from refused import Refused

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, os.environ.get("SENTINEL_CYCLONEDX") or str(REPOSITORY / ".parts" / "cyclonedx"))

from cyclonedx.factory.license import LicenseFactory  # noqa: E402
from cyclonedx.model import HashAlgorithm, HashType  # noqa: E402
from cyclonedx.model.bom import Bom, BomMetaData  # noqa: E402
from cyclonedx.model.component import Component, ComponentType  # noqa: E402
from cyclonedx.output.json import JsonV1Dot5  # noqa: E402
from packageurl import PackageURL  # noqa: E402

CARGO = os.environ.get("CARGO", "cargo")
# Name and version of a crate.
Crate = tuple[str, str]


def lists(time: int, onnxruntime: Path, model: Path) -> dict[str, bytes]:
    """File name: text."""
    service = of_crate("embedding-service", LINUX, time)
    service.components.update([runtime(onnxruntime), embedding_model(model)])
    boms = {"embedding-service.cdx.json": service,
            "sentinel_console_replay.cdx.json": of_crate("sentinel-console-replay", WASM, time),
            "sentinel_filter.cdx.json": of_crate("sentinel-filter", WASM, time)}
    return {name: text(bom) for name, bom in boms.items()}


def text(bom: Bom) -> bytes:
    return (JsonV1Dot5(bom).output_as_string(indent=1) + "\n").encode()


def of_crate(crate: str, target: str, time: int) -> Bom:
    wanted = wanted_by(crate, target)
    metadata = json.loads(output([CARGO, "metadata", "--locked", "--quiet", "--format-version", "1", "--filter-platform", target]))
    lock = tomllib.loads((REPOSITORY / "Cargo.lock").read_text())
    sums = {(entry["name"], entry["version"]): entry["checksum"] for entry in lock["package"] if "checksum" in entry}
    packages = {package["id"]: package for package in metadata["packages"] if key(package) in wanted}
    if missing := wanted - {key(package) for package in packages.values()}:
        raise Refused(f"`cargo metadata` does not list {sorted(missing)}, which cargo builds into {crate}")
    parts = {name: component(package, sums.get(key(package))) for name, package in packages.items()}
    [root] = [parts[name] for name, package in packages.items() if package["name"] == crate]
    root.type = ComponentType.APPLICATION
    when = datetime.fromtimestamp(time, timezone.utc)
    # The same list has the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"{root.purl}?{time}")
    others = [part for part in parts.values() if part is not root]
    bom = Bom(components=others, metadata=BomMetaData(component=root, timestamp=when), serial_number=number)
    for node in metadata["resolve"]["nodes"]:
        if node["id"] in parts:
            built_in = [need["pkg"] for need in node["deps"] if any(kind["kind"] is None for kind in need["dep_kinds"])]
            bom.register_dependency(parts[node["id"]], [parts[name] for name in built_in if name in parts])
    return bom


def key(package: dict) -> Crate:
    return package["name"], package["version"]


def component(package: dict, checksum: str | None) -> Component:
    name, version = key(package)
    purl = PackageURL("cargo", name=name, version=version)
    # The older form of "or".
    licence = re.sub(r"\s*/\s*", " OR ", package["license"] or "")
    return Component(type=ComponentType.LIBRARY, name=name, version=version, purl=purl, bom_ref=purl.to_string(),
                     description=package["description"], licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
                     hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else [])


def wanted_by(crate: str, target: str) -> set[Crate]:
    """Each crate that is built into this one, and itself."""
    tree = output([CARGO, "tree", "--locked", "--quiet", "--package", crate, "--target", target, "--edges", "normal", "--prefix", "none",
                   "--format", "{p}"])
    return {(line.split()[0], line.split()[1].removeprefix("v")) for line in tree.splitlines() if line}


def output(command: list[str]) -> str:
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"`{' '.join(command)}` failed:\n{done.stderr.strip()[-1500:]}")
    return done.stdout


def digest(file: Path) -> list[HashType]:
    return [HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(file.read_bytes()).hexdigest())]


def runtime(library: Path) -> Component:
    pins = (REPOSITORY / "tests/parts/pins/onnxruntime.txt").read_text()
    found = re.search(r"^onnxruntime==(\S+)", pins, re.MULTILINE)
    version = found[1] if found else "unknown"
    purl = PackageURL("pypi", name="onnxruntime", version=version)
    return Component(type=ComponentType.LIBRARY, name="onnxruntime", version=version, bom_ref=purl.to_string(), purl=purl,
                     licenses=[LicenseFactory().make_with_id("MIT")], hashes=digest(library))


def embedding_model(model: Path) -> Component:
    card = json.loads(model.with_name("model.json").read_text())
    return Component(type=ComponentType.MACHINE_LEARNING_MODEL, name=card["name"], version=card["sha256"]["source"][:12], bom_ref="model",
                     licenses=[LicenseFactory().make_with_id(card["licence"])], hashes=digest(model))
