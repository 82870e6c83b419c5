"""Says in one list all that this machine lacks for `make demo`, `make up` or `make test`, before anything is fetched or built.

    python3 tests/parts/check.py [demo|up|test ...]

A Python that is too old runs this file too, and is told so: nothing newer than Python 3.6 stands in it, and the modules of the set-up
are imported only where they can be. What costs time is asked only while parts are still to be fetched.
"""

import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
OLDEST, NEWEST = (3, 11), (3, 13)
GB = 1000 ** 3
# What parts and builds take, from nothing.
ROOM = {"demo": 5 * GB, "up": 5 * GB, "test": 12 * GB}
# What a build takes once there was one.
ROOM_LATER = 1 * GB
# PARTS_OF_DEMO in the Makefile.
OF_DEMO = ["node", "wasm-opt", "envoy", "onnxruntime", "redis", "weights", "model-tools", "model"]
# Those of envoy/demo.yaml, of the service, and of the mock provider.
PORTS = {10000: "Envoy", 9901: "Envoy's admin interface", 9464: "the embedding service"}
MOCK_PORT = 18080
SECONDS = 30


def of_machine():
    """The system and the processor, which published binaries are for."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        yield ("Linux on x86-64: this is {} on {}. Use such a machine; the archive of docs/install.md and the images need one too"
               .format(sys.platform, platform.machine()))


def of_python(version):
    if not OLDEST <= tuple(version[:2]) <= NEWEST:
        yield ("Python 3.11 to 3.13: {} is {}. Install one and say which: make PYTHON=python3.12 ..."
               .format(sys.executable, ".".join(str(part) for part in version[:3])))


def of_programs(which):
    if not (which("cc") or which("gcc")):
        yield "gcc, which links what Rust compiles. Debian and Ubuntu: apt-get install gcc"
    if not which("make"):
        yield "make. Debian and Ubuntu: apt-get install make"
    if not (which("rustup") or which("cargo") and which("rustc")):
        yield "Rust: there is no rustup on the PATH. Install it (https://rustup.rs), or add ~/.cargo/bin to the PATH"
    elif not (which("cargo") and which("rustc")):
        yield "cargo and rustc beside rustup. Add ~/.cargo/bin to the PATH, or run: rustup default stable"


def of_debian(which):
    """Prometheus and Alertmanager come as packages of Debian."""
    own = ["PROMETHEUS_BIN", "PROMTOOL_BIN", "ALERTMANAGER_BIN", "AMTOOL_BIN"]
    if not all(os.environ.get(name) for name in own) and not (which("apt-get") and which("dpkg-deb")):
        yield ("apt-get and dpkg-deb, which fetch Prometheus and Alertmanager from Debian 12. Elsewhere install both yourself, and set "
               + ", ".join(own))


def of_disk(folder, needed, free):
    if free < needed:
        yield ("room on the disk of {}: {:.1f} GB are free, and {:.0f} GB are needed"
               .format(folder, free / GB, needed / GB))


def of_ports():
    ports = dict(PORTS)
    if not os.environ.get("PROVIDER"):
        ports[MOCK_PORT] = "the mock provider"
    for port, whose in sorted(ports.items()):
        with socket.socket() as one:
            # As servers do: a port that was just left is free.
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                yield ("port {} for {}: another program has it. Another `make up` perhaps; `ss -ltnp` names it"
                       .format(port, whose))


def last_words(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it says nothing"


def of_client(command, what, folder=None):
    """Whether a registry gives its client one small package."""
    try:
        done = subprocess.run(command, cwd=str(folder or REPOSITORY), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        yield "{}: no answer within {} seconds. Is there a network, and a proxy that must be named?".format(what, SECONDS)
        return
    except OSError as error:
        yield "{}: {}".format(what, error)
        return
    if done.returncode != 0:
        said = last_words(done.stdout.decode("utf-8", "replace"))
        yield "{}: {} fails ({}). Is there a network?".format(what, Path(command[0]).name, said)


def of_registries(wants_python, wants_crates):
    """Asked by the clients themselves: they alone know the mirrors, proxies and certificates of this machine. What comes from npm is
    fetched by a client that comes from PyPI, and cannot be asked before."""
    if wants_python:
        import pip_tool
        from process import PartError
        try:
            pip = pip_tool.pip_command()
        except PartError as error:
            yield "the Python packages: {}".format(last_words(str(error)))
        else:
            with tempfile.TemporaryDirectory() as scratch:
                command = pip + ["download", "--quiet", "--no-deps", "--no-cache-dir", "--retries", "1", "--only-binary=:all:", "--dest",
                                 scratch, "pip==26.3"]
                yield from of_client(command, "the Python packages")
    if wants_crates:
        yield from of_client(["cargo", "info", "--quiet", "cfg-if@1.0.0"], "the crates of Rust", Path(tempfile.gettempdir()))


def has_crates():
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform",
               "x86_64-unknown-linux-gnu"]
    try:
        return subprocess.run(command, cwd=str(REPOSITORY), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def is_set_up(purpose):
    """Whether nothing is to be fetched from PyPI."""
    import setup
    from store import Store
    store = Store(REPOSITORY / ".parts")
    parts = {"test": setup.PARTS, "up": setup.NEEDED_ALWAYS, "demo": setup.chosen(OF_DEMO)}[purpose]
    return all(part.is_replaced() or store.is_ready(part.name, setup.digest(part), part.folders) for part in parts)


def lacking(purposes):
    """Sentences, the first word of each what is wanted. Each stands there once, however many purposes want it."""
    can_ask = OLDEST <= sys.version_info[:2] <= NEWEST
    unready = [purpose for purpose in purposes if not (can_ask and is_set_up(purpose))]
    found = []
    # Whoever brings all parts of their own may have another machine.
    found += of_machine() if unready else []
    found += of_python(sys.version_info)
    found += of_programs(shutil.which)
    if "test" in purposes:
        found += of_debian(shutil.which)
    if "up" in purposes:
        found += of_ports()
    built = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target").is_dir()
    # All purposes share their parts and builds, so the largest has room for the others.
    needed = max(ROOM_LATER if built and purpose not in unready else ROOM[purpose] for purpose in purposes)
    found += of_disk(REPOSITORY, needed, shutil.disk_usage(str(REPOSITORY)).free)
    if can_ask and unready:
        found += of_registries(True, bool(shutil.which("cargo")) and not has_crates())
    return found


def main(arguments):
    purposes = arguments or ["test"]
    unknown = [purpose for purpose in purposes if purpose not in ROOM]
    if unknown:
        print("check: say one or more of {}, not {}".format(", ".join(ROOM), " ".join(unknown)), file=sys.stderr)
        return 2
    found = lacking(purposes)
    if found:
        commands = ["`make {}`".format(purpose) for purpose in purposes]
        commands = " and ".join(filter(None, [", ".join(commands[:-1]), commands[-1]]))
        print("check: this machine lacks what {} {}:".format(commands, "need" if len(purposes) > 1 else "needs"), file=sys.stderr)
        for sentence in found:
            print("  * {}".format(sentence), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
