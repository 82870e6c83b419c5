"""Builds the two images of this version and, with --push, pushes them: a part of `make release`.

    python3 tests/shipping/images.py --registry registry.you.org/agent-sentinel [--push] [--builder podman]

It prints the commands that install them. Needs docker, or another builder that is called the same way, and nothing else.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import dist  # noqa: E402

# Name of the image: its Dockerfile. Both are built from the root of the repository.
IMAGES = {"filter": "filter/Dockerfile", "embedding-service": "embedding-service/Dockerfile"}


def commands(builder: str, registry: str, version: str, push: bool) -> list[list[str]]:
    made = []
    for name, dockerfile in IMAGES.items():
        tag = f"{registry}/{name}:{version}"
        made.append([builder, "build", "-f", dockerfile, "-t", tag, "."])
        if push:
            made.append([builder, "push", tag])
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--registry", required=True, help="what the names of both images begin with")
    parser.add_argument("--push", action="store_true", help="push them too")
    parser.add_argument("--builder", help="docker or podman (default: docker, else podman)")
    options = parser.parse_args()
    builder = options.builder or next((name for name in ("docker", "podman") if shutil.which(name)), None)
    if builder is None or shutil.which(builder) is None:
        print(f"images: there is no {builder or 'docker and no podman'} on the PATH; install one, or name it with --builder", file=sys.stderr)
        return 1
    version = dist.version()
    for command in commands(builder, options.registry.rstrip("/"), version, options.push):
        print("==", " ".join(command), flush=True)
        done = subprocess.run(command, cwd=dist.REPOSITORY)
        if done.returncode != 0:
            print(f"images: `{' '.join(command)}` failed with {done.returncode}; see above", file=sys.stderr)
            return 1
    what = "pushed" if options.push else "built, not pushed (PUSH=1 pushes them)"
    print(f"{version}: both images are {what}. Install them:\n  helm upgrade --install agent-sentinel k8s/helm/agent-sentinel "
          f"-n agent-sentinel --set images.registry={options.registry} --set images.tag={version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
