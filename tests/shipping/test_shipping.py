"""What is shipped without Kubernetes: the filter's module, the dependencies that cargo-deny lets through, compose.yaml, and the archive of
`make dist`.

Run by `make test`, which sets everything up and says where the programs are. The archive is packed here from the programs that
the other tests run, the service without optimisation; `make containers` packs and runs the release, and shows that two builds give
the same bytes.
"""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
REPOSITORY = Path(__file__).resolve().parent.parent.parent
PARTS = REPOSITORY / ".parts"
sys.path[:0] = [str(REPOSITORY / "tests/shipping"), str(REPOSITORY / "filter/wasm-opt"), os.environ.get("SENTINEL_COMPOSE", str(PARTS / "compose"))]

import branches  # noqa: E402
import builds  # noqa: E402
import components  # noqa: E402
import dist  # noqa: E402
import images  # noqa: E402
import yaml  # noqa: E402
from compose_spec import PyCompose  # noqa: E402
from refused import Refused  # noqa: E402


def program(variable: str, below_parts: str) -> str:
    return os.environ.get(variable) or str(PARTS / below_parts)


class Module(unittest.TestCase):
    """The branch hints that `filter/wasm-opt` writes into it."""

    TEXT = """ (func $f (param $0 i32)
  (block $b
   (br_if $b
    (local.get $0)
   )
   (if
    (i32.eqz
     (local.get $0)
    )
    (then
     (br $b)
    )
   )
   (drop
    (block $c (result i32)
     (br_if $c
      (i32.const 7)
      (i32.lt_s
       (local.get $0)
       (i32.const 3)
      )
     )
    )
   )
  )
 )""".split("\n")

    def test_a_branch_is_found_with_its_condition_and_not_with_its_value(self):
        self.assertEqual(list(branches.conditions(self.TEXT)), [(2, 3, 3), (5, 6, 8), (15, 17, 20)])
        counted = "\n".join(branches.counted(self.TEXT))
        for number, condition in [(0, "(local.get $0)"), (1, "(i32.eqz"), (2, "(i32.lt_s")]:
            self.assertRegex(counted, rf"\(call \$taken \(i32.const {number}\)\s+{re.escape(condition)}")
        self.assertEqual(counted.count("("), counted.count(")"))

    def test_only_a_branch_that_goes_one_way_in_all_requests_gets_a_hint(self):
        def hints(*requests: dict[str, list[int]]) -> list[str]:
            hinted = "\n".join(branches.hinted(self.TEXT, list(requests)))
            return re.findall(r'branch_hint "\\0(\d)"\)\n *\((\w+)', hinted)
        self.assertEqual(hints({"0": [0, 9], "1": [9, 0]}), [("1", "br_if"), ("0", "if")])
        self.assertEqual(hints({"1": [100, 2], "2": [49, 1]}), [("0", "if")])
        self.assertEqual(hints({"0": [0, 9]}, {"0": [0, 1]}), [("1", "br_if")])
        self.assertEqual(hints({"0": [0, 9]}, {"0": [1, 0]}), [])

    def test_the_built_module_has_hints_and_is_small(self):
        module = Path(program("SENTINEL_WASM", "../target/wasm32-wasip1/release/sentinel_filter.wasm")).read_bytes()
        self.assertIn(b"metadata.code.branch_hint", module)
        self.assertLess(len(module), 1_500_000)


class Dependencies(unittest.TestCase):
    """`make deny` says yes; here it is shown that it can say no."""

    def check(self, old: str, new: str) -> str:
        text = (REPOSITORY / ".deny.toml").read_text()
        self.assertEqual(text.count(old), 1, old)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
            config.write(text.replace(old, new))
            config.flush()
            command = [program("CARGO_DENY_BIN", "cargo-deny/cargo-deny"), "--locked", "--offline", "--config", config.name, "check",
                       "licenses", "bans", "sources"]
            done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0, f"{old!r} became {new!r}, and nothing was refused")
        return done.stderr

    def test_a_licence_that_was_not_read_is_refused(self):
        self.assertIn("rejected: license is not explicitly allowed", self.check('    "MIT",\n', ""))

    def test_a_crate_that_is_banned_is_refused(self):
        self.assertIn("nothing fetches files while it is built", self.check('crate = "ureq"', 'crate = "tokio"'))

    def test_another_registry_is_refused(self):
        wanted = "https://github.com/rust-lang/crates.io-index"
        self.assertIn("source-not-allowed", self.check(wanted, "https://example.com/index"))


class Compose(unittest.TestCase):
    def setUp(self):
        self.text = (REPOSITORY / "compose.yaml").read_text()
        self.services = yaml.safe_load(self.text)["services"]

    def test_it_follows_the_compose_specification(self):
        def judged(text: str) -> None:
            PyCompose.from_json(json.dumps(yaml.safe_load(text))).validate()

        judged(self.text)
        for old, new in [("read_only: true", "read_onlyy: true"), ("127.0.0.1:9902:9902", "127.0.0.1:9902:many")]:
            self.assertIn(old, self.text)
            with self.assertRaises(ValueError, msg=new):
                judged(self.text.replace(old, new, 1))

    def test_only_this_machine_reaches_it_and_no_container_may_more_than_it_must(self):
        for name, service in self.services.items():
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), f"{name}: {port}")
            self.assertTrue(service["read_only"], name)
            self.assertEqual(service["cap_drop"], ["ALL"], name)
            self.assertEqual(service["security_opt"], ["no-new-privileges:true"], name)
            # That of `demo` is in its Dockerfile.
            if name != "demo":
                self.assertRegex(service["user"], r"^[1-9]\d*:\d+$", name)

    def test_every_image_is_built_here_or_has_a_whole_version(self):
        for name, service in self.services.items():
            image, _, tag = service["image"].rpartition(":")
            if "build" in service:
                self.assertTrue(image.startswith("localhost/agent-sentinel/") and tag == dist.version(), service["image"])
                dockerfile = (REPOSITORY / service["build"]["dockerfile"]).read_text()
                target = service["build"].get("target")
                self.assertTrue(target is None or f" AS {target}\n" in dockerfile, name)
            else:
                self.assertRegex(tag, r"^v?\d+\.\d+\.\d+$", name)

    def test_what_is_mounted_is_there(self):
        mounted = [volume.split(":")[0] for service in self.services.values() for volume in service.get("volumes", [])]
        self.assertGreaterEqual(len(mounted), 7)
        for path in mounted:
            self.assertTrue((REPOSITORY / path).exists(), path)

    def test_what_is_generated_is_what_make_render_writes(self):
        done = subprocess.run([sys.executable, "envoy/compose/render.py", "--check"], cwd=REPOSITORY, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_envoy_takes_its_bootstraps(self):
        for name, source in (("envoy.yaml", "providers.yaml"), ("production.yaml", "production.yaml")):
            text = (REPOSITORY / "envoy/compose" / name).read_text()
            self.assertEqual(text.count("/module/plugin.wasm"), 1, name)
            # It is judged with a module that does nothing. What the filter says to its configuration, tests/e2e asks with the source.
            self.assertEqual(configuration(text), configuration((REPOSITORY / "envoy" / source).read_text()), name)
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "envoy.yaml")
                # What is mounted, from where it is mounted.
                for volume in self.services["gateway"]["volumes"][1:]:
                    here, there = volume.split(":")[:2]
                    target = Path(folder, there.removeprefix("/etc/sentinel/"))
                    target.parent.mkdir(exist_ok=True)
                    target.symlink_to(REPOSITORY / here)
                file.write_text(text.replace("/module/plugin.wasm", str(NO_MODULE)).replace("/etc/sentinel/", f"{folder}/"))
                validate(self, file, REPOSITORY)

    def test_the_gateway_asks_the_service_that_counts_and_that_one_its_own_redis(self):
        clusters = yaml.safe_load((REPOSITORY / "envoy/compose/production.yaml").read_text())["static_resources"]["clusters"]
        named = {cluster["name"]: cluster for cluster in clusters}
        for name, service in (("ratelimit", "limitador"), ("embedding_service", "embedding-service")):
            address = named[name]["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"]["address"]
            self.assertEqual(address, service)
            self.assertIn(address, self.services)
        self.assertIn("redis://limits-redis:6379/0", self.services["limitador"]["command"])
        # What drops counts would let a client begin anew.
        self.assertEqual(self.services["limits-redis"]["command"][-1], "noeviction")

    def test_prometheus_and_alertmanager_take_their_files(self):
        with tempfile.TemporaryDirectory() as folder:
            config = (REPOSITORY / "envoy/compose/prometheus.yml").read_text()
            self.assertEqual(config.count("/etc/prometheus/rules.yml"), 1)
            file = Path(folder, "prometheus.yml")
            file.write_text(config.replace("/etc/prometheus/rules.yml", str(REPOSITORY / "envoy/compose/rules.yml")))
            for command in [[program("PROMTOOL_BIN", "prometheus/promtool"), "check", "config", str(file)],
                            [program("AMTOOL_BIN", "prometheus/amtool"), "check-config", "envoy/compose/alertmanager.yml"]]:
                done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreaterEqual(len(yaml.safe_load((REPOSITORY / "envoy/compose/rules.yml").read_text())["groups"]), 2)

    def test_grafana_finds_the_dashboard_and_where_it_asks(self):
        volumes = dict(volume.split(":")[:2] for volume in self.services["grafana"]["volumes"])
        providers = yaml.safe_load((REPOSITORY / "envoy/compose/grafana/dashboards.yaml").read_text())["providers"]
        dashboard = Path(volumes["./k8s/monitoring/agent-sentinel.json"])
        self.assertEqual(providers[0]["options"]["path"], str(dashboard.parent))
        self.assertEqual(self.services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"], str(dashboard))
        source = yaml.safe_load((REPOSITORY / "envoy/compose/grafana/datasource.yaml").read_text())["datasources"][0]
        self.assertEqual((source["url"], source["isDefault"]), ("http://prometheus:9090", True))


# Envoy needs seconds to compile the filter, and none for this one.
NO_MODULE = REPOSITORY / "tests/harness/no_module.wasm"


def configuration(bootstrap: str) -> dict:
    """The filter's own in a bootstrap."""
    manager = yaml.safe_load(bootstrap)["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    return next(filter_ for filter_ in manager["http_filters"] if filter_["name"] == "sentinel")["typed_config"]["config"]["configuration"]


def module() -> Path:
    return Path(os.environ.get("SENTINEL_WASM") or REPOSITORY / dist.MODULE)


def validate(test: unittest.TestCase, bootstrap: Path, folder: Path) -> None:
    command = [program("ENVOY_BIN", "envoy/envoy"), "--mode", "validate", "--config-path", str(bootstrap)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    test.assertEqual(done.returncode, 0, done.stderr)


class Images(unittest.TestCase):
    """tests/shipping/images.py with a builder that only notes how it is called; `make containers` builds them with podman."""

    def run_with(self, script: str, *options: str) -> tuple[subprocess.CompletedProcess, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            builder = Path(folder, "builder")
            builder.write_text(f"#!/bin/sh\necho \"$PWD $*\" >> {folder}/calls\n{script}\n")
            builder.chmod(0o755)
            done = subprocess.run([sys.executable, str(REPOSITORY / "tests/shipping/images.py"), "--registry", "reg.example.org/team",
                                   "--builder", str(builder), *options], capture_output=True, text=True)
            calls = Path(folder, "calls")
            return done, calls.read_text().splitlines() if calls.exists() else []

    def test_both_images_are_built_with_the_version_and_pushed_only_if_wanted(self):
        version = dist.version()
        built = [f"{REPOSITORY} build -f {file} -t reg.example.org/team/{name}:{version} ." for name, file in images.IMAGES.items()]
        done, calls = self.run_with("exit 0")
        self.assertEqual((done.returncode, calls), (0, built), done.stderr)
        self.assertIn("images.registry=reg.example.org/team", done.stdout)
        done, calls = self.run_with("exit 0", "--push")
        pushed = [f"{REPOSITORY} push reg.example.org/team/{name}:{version}" for name in images.IMAGES]
        self.assertEqual(sorted(calls), sorted(built + pushed))
        self.assertLess(calls.index(built[0]), calls.index(pushed[0]))
        for file in images.IMAGES.values():
            self.assertTrue((REPOSITORY / file).is_file())

    def test_a_build_that_fails_ends_it(self):
        done, calls = self.run_with("exit 3", "--push")
        self.assertEqual((done.returncode, len(calls)), (1, 1))
        self.assertIn("failed with 3", done.stderr)

    def test_the_chart_has_the_version_of_the_project(self):
        chart = yaml.safe_load((REPOSITORY / "k8s/helm/agent-sentinel/Chart.yaml").read_text())
        self.assertEqual((chart["version"], chart["appVersion"]), (dist.version(), dist.version()))


class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        service = Path(os.environ.get("SENTINEL_SERVICE") or REPOSITORY / "target/release/embedding-service")
        cls.onnxruntime, cls.model = builds.part("ORT_DYLIB_PATH"), builds.part("LOOP_EMBEDDING_MODEL_PATH")
        cls.lists = components.lists(1_700_000_000, cls.onnxruntime, cls.model)
        files = dist.contents(module(), service, cls.onnxruntime, cls.model, cls.lists)
        cls.files = files | {"SHA256SUMS": dist.sums(files)}
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        # The tests' service is large, and nobody keeps this archive.
        cls.packed = dist.pack(cls.files, "sentinel", 1_700_000_000, level=1)
        with tarfile.open(fileobj=io.BytesIO(cls.packed)) as archive:
            archive.extractall(scratch.name, filter="data")
        cls.root = Path(scratch.name, "sentinel")

    def test_the_same_files_in_another_order_give_the_same_bytes(self):
        few = {name: text for name, text in self.files.items() if not name.startswith(("lib/", "model/", "bin/emb"))}
        other_way = {name: few[name] for name in sorted(few, reverse=True)}
        self.assertEqual(dist.pack(few, "sentinel", 1), dist.pack(other_way, "sentinel", 1))
        self.assertNotEqual(dist.pack(few, "sentinel", 1), dist.pack(few | {"README.md": b""}, "sentinel", 1))

    def test_everything_that_is_unpacked_is_what_the_sums_say(self):
        done = subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=self.root, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        unpacked = {str(file.relative_to(self.root)) for file in self.root.rglob("*") if file.is_file()}
        summed = {line.split("  ", 1)[1] for line in self.files["SHA256SUMS"].decode().splitlines()}
        self.assertEqual(unpacked - {"SHA256SUMS"}, summed)
        for name in ["module/sentinel_filter.wasm", "bin/embedding-service", "model/model.onnx", "envoy/production/clients.yaml",
                     "docs/install.md", "sbom/embedding-service.cdx.json", "LICENSE"]:
            self.assertIn(name, summed)

    def test_the_readme_is_the_archives_own_and_names_what_is_in_it(self):
        text = (self.root / "README.md").read_text()
        commands = [line for block in text.split("```sh\n")[1:] for line in block.split("```")[0].splitlines()]
        self.assertFalse([line for line in commands if line.startswith(("make", "cargo"))])
        named = set(re.findall(r"(?:bin|envoy|docs|module|lib|model|sbom)/[\w./-]*", text))
        self.assertGreater(len(named), 10)
        for name in named:
            self.assertTrue((self.root / name.rstrip(".")).exists(), name)

    def test_envoy_takes_every_bootstrap_from_the_unpacked_folder(self):
        validate(self, Path(dist.BOOTSTRAPS[0]), self.root)
        # What the filter says to the configurations of the others, tests/e2e asks: for them another module lies in its place.
        inside = self.root / dist.MODULE_INSIDE
        self.addCleanup(inside.write_bytes, inside.read_bytes())
        inside.write_bytes(NO_MODULE.read_bytes())
        for name in dist.BOOTSTRAPS[1:]:
            validate(self, Path(name), self.root)

    def test_the_lists_name_what_is_inside_and_no_folder_of_this_machine(self):
        service = json.loads(self.lists["embedding-service.cdx.json"])
        named = {component["name"]: component for component in service["components"]}
        for name in ["tonic", "tokio", "ort", "onnxruntime", "all-MiniLM-L6-v2"]:
            self.assertIn(name, named)
        for name, file in [("onnxruntime", "lib/libonnxruntime.so"), ("all-MiniLM-L6-v2", "model/model.onnx")]:
            self.assertEqual(named[name]["hashes"][0]["content"], hashlib.sha256(self.files[file]).hexdigest())
        filter_ = {component["name"] for component in json.loads(self.lists["sentinel_filter.cdx.json"])["components"]}
        self.assertIn("proxy-wasm", filter_)
        self.assertNotIn("tonic", filter_)
        replay = {component["name"] for component in json.loads(self.lists["sentinel_console_replay.cdx.json"])["components"]}
        self.assertIn("sentinel-pipeline", replay)
        self.assertNotIn("tonic", replay)
        for text in self.lists.values():
            for place in (str(REPOSITORY), tempfile.gettempdir() + "/", str(Path.home()) + "/"):
                self.assertNotIn(place.encode(), text)

    def test_the_service_starts_from_the_unpacked_folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        environment = {"PATH": os.environ["PATH"], "UDS_PATH": f"{folder.name}/s.sock", "METRICS_ADDR": "127.0.0.1:0"}
        log = Path(folder.name, "log")
        with open(log, "wb") as sink:
            process = subprocess.Popen([str(self.root / "bin/start-service")], env=environment, stdout=sink, stderr=sink, cwd="/")
        try:
            for _ in range(600):
                if Path(folder.name, "s.sock").exists() or process.poll() is not None:
                    break
                time.sleep(0.1)
            self.assertTrue(Path(folder.name, "s.sock").exists(), log.read_text())
        finally:
            process.terminate()
            process.wait()

    def test_the_images_are_built_as_the_archive_is(self):
        dockerfile = (REPOSITORY / "embedding-service/Dockerfile").read_text()
        self.assertIn(f"ENV SOURCE_DATE_EPOCH={builds.BUILT_AT}\n", dockerfile)
        for file in ("embedding-service/Dockerfile", "filter/Dockerfile"):
            text = (REPOSITORY / file).read_text()
            self.assertIn("--remap-path-prefix=/usr/local/cargo=/cargo --remap-path-prefix=/src=/sentinel", text)
        self.assertRegex(builds.remapped(), r"=/cargo --remap-path-prefix=\S+=/sentinel --remap-path-prefix=\S+=/rustc/\w{40}$")

    def test_what_cannot_be_packed_is_refused_with_what_to_do(self):
        with self.assertRaisesRegex(Refused, "seconds since 1970"):
            with unittest.mock.patch.dict(os.environ, SOURCE_DATE_EPOCH="yesterday"):
                dist.time_of_release()
        with self.assertRaisesRegex(Refused, "make dist"):
            with unittest.mock.patch.dict(os.environ, ORT_DYLIB_PATH=""):
                builds.part("ORT_DYLIB_PATH")


if __name__ == "__main__":
    unittest.main(verbosity=1)
