"""The part that only the tests of limits use: Limitador behind Envoy's rate limit protocol, built here from crates.io.

The public program `limitador-server` is in no package registry; the library that counts is. `tests/limitador` puts it behind the
protocol. Some things of the library are changed here, each to the letter and once: as it was published it does not compile with
Redis and without RocksDB, and it would want OpenSSL, though no test speaks TLS to Redis. A quarter of its build would be for what
nobody uses here: code from a protocol of its own, which only another store has, and regular expressions in conditions. The lock
file has `idna_adapter` 1.0, which knows host names of ASCII alone: no test has another, and its tables of Unicode are 20 crates.

It stands apart from `catalogue.py` so that a change here does not make the others again.
"""

import os
import shutil
import tarfile
from pathlib import Path

from catalogue import PINS, REPOSITORY, Part
from debian import check_digest, read_pins
from fetch import run
from pip_tool import PartError
from store import Store

PINNED = PINS / "limitador.crate"
SOURCE = REPOSITORY / "tests" / "limitador"
FILES = ["Cargo.toml", "Cargo.lock", "src/main.rs", "src/options.rs", "src/protocol.rs"]

REDIS = '[dependencies.redis]\nversion = "0.27"\nfeatures = [\n    "connection-manager",\n    "tokio-comp",\n'
CEL = '[dependencies.cel]\nversion = "0.12"\n'
# File, what stands there, what is to stand there.
CHANGES = [
    ("src/storage/keys.rs", '#[cfg(feature = "disk_storage")]\npub mod bin', '#[cfg(feature = "redis_storage")]\npub mod bin'),
    ("src/counter.rs", '#[cfg(feature = "disk_storage")]\n    pub(crate) fn variables_for_key',
     '#[cfg(feature = "redis_storage")]\n    pub(crate) fn variables_for_key'),
    ("Cargo.toml", REDIS + '    "tls-native-tls",\n    "tokio-native-tls-comp",\n', REDIS),
    ("Cargo.toml", 'build = "build.rs"\n', "build = false\n"),
    ("Cargo.toml", '[build-dependencies.tonic-build]\nversion = "0.12"\n', ""),
    ("Cargo.toml", CEL, CEL + 'default-features = false\nfeatures = ["chrono"]\n'),
]


def fetched(to: Path) -> Path:
    """The file of the crate, as cargo has fetched it, held to its digest."""
    [(name, version, digest)] = read_pins(PINNED)
    asking = to / "asking"
    (asking / "src").mkdir(parents=True)
    (asking / "src" / "lib.rs").touch()
    (asking / "Cargo.toml").write_text('[workspace]\n[package]\nname = "asking"\nversion = "0.0.0"\nedition = "2024"\n'
                                       f'[dependencies]\n{name} = {{ version = "={version}", default-features = false }}\n')
    run(["cargo", "fetch", "--quiet"], f"fetching {name}", cwd=asking)
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    found = list(home.glob(f"registry/cache/*/{name}-{version}.crate"))
    if not found:
        raise PartError(f"cargo has fetched {name} {version}, but there is no file of it below {home}/registry/cache")
    check_digest(found[0], digest)
    return found[0]


def changed(folder: Path) -> None:
    for file, old, new in CHANGES:
        path = folder / file
        text = path.read_text()
        if text.count(old) != 1:
            raise PartError(f"Limitador's {file} has {old!r} {text.count(old)} times, not once; another version wants other changes")
        path.write_text(text.replace(old, new))


def fill_limitador(store: Store, to: Path) -> None:
    crate = fetched(to)
    built = to / "building"
    (built / "src").mkdir(parents=True)
    for file in FILES:
        shutil.copy(SOURCE / file, built / file)
    with tarfile.open(crate) as archive:
        archive.extractall(built, filter="data")
    (built / crate.name.removesuffix(".crate")).rename(built / "limitador")
    changed(built / "limitador")
    unwanted = {"RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_BUILD_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"}
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    environment |= {"CARGO_TARGET_DIR": str(to / "built"), "CARGO_INCREMENTAL": "0"}
    # From the repository, whose toolchain it is built with.
    run(["cargo", "build", "--quiet", "--locked", "--manifest-path", str(built / "Cargo.toml")], "building Limitador", environment, cwd=REPOSITORY)
    (to / "limitador").mkdir()
    shutil.move(to / "built" / "debug" / "limitador-server", to / "limitador" / "limitador-server")
    for folder in [to / "asking", built, to / "built"]:
        shutil.rmtree(folder)


PARTS = [
    Part("limitador", "Limitador 0.14, the rate limiter", ["limitador"], [PINNED, *(SOURCE / file for file in FILES)], fill_limitador,
         ["LIMITADOR_BIN"]),
]
