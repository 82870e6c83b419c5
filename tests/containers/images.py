"""The images: stand-ins for the public ones, by their names, and ours, built from their Dockerfiles.

A machine without a way to the public registries has the same programs from the packages of tests/parts and Debian. A stand-in
is Debian 12 with that program; what the public image has beside it (its own users, its entry script, its time zone data, its
newer release in the case of Prometheus) is not seen here.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from podman import Failed, Podman

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PARTS = REPOSITORY / ".parts"
SERVICE, FILTER = "embedding-service/Dockerfile", "filter/Dockerfile"
BUILT = "localhost/agent-sentinel"
SERVICE_IMAGE, ENVOY_IMAGE, DEMO_IMAGE, FILTER_IMAGE = (f"{BUILT}/{name}:0.1.0" for name in ("embedding-service", "envoy", "demo", "filter"))
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TOOLS = "localhost/sentinel-tools:12"
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
# Of the component rust-src, below a toolchain.
SOURCES = "lib/rustlib/src"


def default_of(dockerfile: str, argument: str) -> str:
    """The public image that a Dockerfile begins with."""
    found = re.search(rf"^ARG {argument}=(\S+)$", (REPOSITORY / dockerfile).read_text(), re.MULTILINE)
    if found is None:
        raise Failed(f"{dockerfile} has no `ARG {argument}=`")
    return found[1]


def of_compose(service: str) -> str:
    """The public image of a service in compose.yaml."""
    block = (REPOSITORY / "compose.yaml").read_text().split(f"\n  {service}:\n", 1)[1]
    return re.search(r"^    image: (\S+)$", block, re.MULTILINE)[1]


def debian(podman: Podman, image: str, packages: list[str]) -> None:
    """Debian 12 with these packages and nothing that they do not need."""
    if podman.has(image):
        return
    print(f"  {image}: Debian 12{' with ' + ', '.join(packages) if packages else ''} ...", flush=True)
    command = ["mmdebstrap", "--variant=minbase", "--quiet", *([f"--include={','.join(packages)}"] if packages else []), "bookworm", "-"]
    making = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    taking = subprocess.Popen(["podman", "import", "--quiet", "--change", f"ENV {PATH}", "-", image], env=podman.environment,
                              stdin=making.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    making.stdout.close()
    _, refused = taking.communicate()
    said = making.stderr.read()
    if making.wait() != 0 or taking.returncode != 0:
        raise Failed(f"no {image}: {(said + refused).decode(errors='replace')[-2000:]}")


def from_files(podman: Podman, image: str, base: str, files: dict[Path, str], lines: list[str]) -> None:
    """`base` with these files at these paths, and further lines of a Dockerfile."""
    if podman.has(image):
        return
    folder = podman.folder / "context"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text = [f"FROM {base}"]
    for number, (file, path) in enumerate(files.items()):
        shutil.copy(file, folder / str(number))
        text.append(f"COPY {number} {path}")
    (folder / "Dockerfile").write_text("\n".join([*text, *lines, ""]))
    podman.run("build", "--quiet", "--isolation=oci", "--tag", image, str(folder))
    shutil.rmtree(folder)


def program(variable: str, below_parts: str) -> Path:
    return REPOSITORY / (os.environ.get(variable) or PARTS / below_parts)


def stand_ins(podman: Podman) -> None:
    base = default_of(SERVICE, "RUN_IMAGE")
    # Both wait for the network most of the time.
    at_once([lambda: debian(podman, base, []), lambda: debian(podman, TOOLS, ["python3", "python3-pip-whl", "gcc", "libc6-dev", "ca-certificates"])])
    podman.run("tag", TOOLS, default_of(SERVICE, "PARTS_IMAGE"))
    # Where rustup and cargo are in the public image; the machine's own are mounted there while something is built.
    rust = ["ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo", f"ENV {PATH.replace('=', '=/usr/local/cargo/bin:', 1)}",
            "RUN mkdir -p /usr/local/cargo /usr/local/rustup/toolchains"]
    from_files(podman, default_of(SERVICE, "BUILD_IMAGE"), TOOLS, {}, rust)
    from_files(podman, default_of(FILTER, "ENVOY_IMAGE"), TOOLS, {program("ENVOY_BIN", "envoy/envoy"): "/usr/local/bin/envoy"},
               ['ENTRYPOINT ["/usr/local/bin/envoy"]', 'CMD ["-c", "/etc/envoy/envoy.yaml"]', "USER 65532:65532"])
    from_files(podman, of_compose("redis"), base, {program("REDIS_SERVER", "redis/redis-server"): "/usr/local/bin/redis-server"},
               ["WORKDIR /data", 'CMD ["redis-server"]'])
    from_files(podman, of_compose("limitador"), base, {program("LIMITADOR_BIN", "limitador/limitador-server"): "/usr/local/bin/limitador-server"}, [])
    for service, name in (("prometheus", "prometheus"), ("alertmanager", "alertmanager")):
        variable = f"{name.upper()}_BIN"
        from_files(podman, of_compose(service), base, {program(variable, f"prometheus/{name}"): f"/bin/{name}"}
                   | ({program("", "prometheus/default.tmpl"): "/templates/default.tmpl", program("", "prometheus/email.tmpl"): "/templates/email.tmpl"}
                      if name == "alertmanager" else {}),
                   [*(["WORKDIR /templates"] if name == "alertmanager" else []), f'ENTRYPOINT ["/bin/{name}"]'])


def lent(podman: Podman) -> list[str]:
    """What the machine lends to a build: toolchain, fetched crates, and how it reaches the package registries."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()
    pinned = re.search(r'^channel = "(.+)"', (REPOSITORY / "rust-toolchain.toml").read_text(), re.MULTILINE)[1]
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    (cargo / "registry").mkdir(parents=True, exist_ok=True)
    toolchain = f"/usr/local/rustup/toolchains/{pinned}-x86_64-unknown-linux-gnu"
    pairs = [(Path(sysroot), f"{toolchain}:ro"), (cargo / "bin", "/usr/local/cargo/bin:ro"),
             (cargo / "registry", "/usr/local/cargo/registry"), (cargo / "config.toml", "/usr/local/cargo/config.toml:ro"),
             (Path(AUTHORITIES), f"{AUTHORITIES}:ro"), (Path(os.environ.get("PIP_CONFIG_FILE", "/etc/pip.conf")), "/etc/pip.conf:ro"),
             (Path("/etc/npmrc"), "/root/.npmrc:ro")]
    if (Path(sysroot) / SOURCES).is_dir():
        # The public image has no such component, and rustc would write its place into what it builds.
        nothing = podman.folder / "nothing"
        nothing.mkdir(exist_ok=True)
        pairs.append((nothing, f"{toolchain}/{SOURCES}:ro"))
    return [part for path, place in pairs if path.exists() for part in ("--volume", f"{path.resolve()}:{place}")]


def from_dockerfile(podman: Podman, image: str, dockerfile: str, target: str | None) -> None:
    print(f"  {image} from {dockerfile} ...", flush=True)
    start = time.monotonic()
    podman.run("build", "--isolation=oci", "--network=host", "--layers", *lent(podman), "--file", dockerfile, "--ignorefile",
               f"{dockerfile}.dockerignore", *(["--target", target] if target else []), "--tag", image, str(REPOSITORY))
    print(f"  {image}: {time.monotonic() - start:.0f} s", flush=True)


def build(podman: Podman) -> None:
    """Ours, from the Dockerfiles as they stand. The compose file's names, and those of the manifests."""
    # The parts wait for the network and the module is linked by one processor.
    at_once([lambda: from_dockerfile(podman, f"{BUILT}/parts:0.1.0", SERVICE, "parts"),
             lambda: from_dockerfile(podman, ENVOY_IMAGE, FILTER, "envoy")])
    for image, dockerfile, target in ((DEMO_IMAGE, SERVICE, "demo"), (SERVICE_IMAGE, SERVICE, None), (FILTER_IMAGE, FILTER, None)):
        from_dockerfile(podman, image, dockerfile, target)


def at_once(works: list[Callable[[], None]]) -> None:
    with ThreadPoolExecutor(len(works)) as threads:
        for work in [threads.submit(work) for work in works]:
            work.result()
