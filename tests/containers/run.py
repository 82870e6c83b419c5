"""Builds the images from their Dockerfiles and runs what is made of them: compose.yaml, the pods of k8s/overlays/standalone, and
the archive of `make dist` on a bare Debian. `make containers` sets up what it needs and starts it.

    python3 tests/containers/run.py [--keep]      --keep: leave the images for the next time, in target/containers

It needs root and podman, and says so where they are missing.
"""

import argparse
import os
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, os.environ.get("SENTINEL_COMPOSE") or str(REPOSITORY / ".parts" / "compose"))

import archive  # noqa: E402
import compose_limits  # noqa: E402
import compose_scenes  # noqa: E402
import images  # noqa: E402
import pods  # noqa: E402
from podman import Failed, Podman, missing  # noqa: E402

KUBERNETES = "registry.example.com/agent-sentinel"


def tag_for_kubernetes(podman: Podman) -> None:
    """By the names that the manifests have until `k8s/release.py` writes others."""
    for image in (images.SERVICE_IMAGE, images.FILTER_IMAGE):
        podman.run("tag", image, f"{KUBERNETES}/{image.rsplit('/', 1)[1]}")


STEPS = {
    "stand-ins for the public base images": images.stand_ins,
    "our images, from their Dockerfiles": images.build,
    "their names in the manifests": tag_for_kubernetes,
    "the archive and the images": archive.same_bytes_as_the_images,
    "the archive on a bare Debian": archive.runs_on_a_bare_debian,
    "compose.yaml": compose_scenes.play,
    "compose.yaml with limits": compose_limits.play,
    "the pods of k8s/overlays/standalone": pods.play,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the images for the next time")
    parser.add_argument("--only", nargs="*", default=list(STEPS), help="only these steps (for work on this file)")
    options = parser.parse_args()
    if lacks := missing():
        print("\n".join(f"containers: {sentence}" for sentence in lacks), file=sys.stderr)
        return 1
    target = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target")
    podman = Podman(Path(os.environ.get("SENTINEL_CONTAINERS") or target / "containers").resolve())
    passed, began = 0, time.monotonic()
    try:
        podman.clear()
        for name in options.only:
            start = time.monotonic()
            print(f"{name}", flush=True)
            STEPS[name](podman)
            passed += 1
            print(f"  done in {time.monotonic() - start:.0f} s", flush=True)
    except Failed as failure:
        print(f"containers: {failure}", file=sys.stderr)
    finally:
        podman.clear() if options.keep else podman.remove()
    failed = len(options.only) - passed
    print(f"containers: {time.monotonic() - began:.0f} s; what did not run here: Grafana, and the public base images")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
