"""What set-up promises: whole or not at all, safe when called twice at once, and only what was pinned.

Run by `make test`, after the set-up: the parts are there. Nothing here goes to the network.
"""

import contextlib
import hashlib
import io
import os
import re
import socket
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import catalogue  # noqa: E402
import check  # noqa: E402
import debian  # noqa: E402
import fetch  # noqa: E402
import first_pip  # noqa: E402
import operations  # noqa: E402
import pip_tool  # noqa: E402
import process  # noqa: E402
from store import Store, digest_of  # noqa: E402


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class WholeOrNotAtAll(InAFolder):
    def put(self, store: Store, text: str, digest: str) -> None:
        def fill(scratch: Path) -> None:
            (scratch / "thing").mkdir()
            (scratch / "thing" / "file").write_text(text)

        store.put("thing", digest, ["thing"], fill)

    def test_a_part_is_ready_for_its_own_digest_only(self):
        store = Store(self.folder)
        self.put(store, "one", "digest 1")
        self.assertTrue(store.is_ready("thing", "digest 1", ["thing"]))
        self.assertFalse(store.is_ready("thing", "digest 2", ["thing"]))
        self.put(store, "two", "digest 2")
        self.assertTrue(store.is_ready("thing", "digest 2", ["thing"]))
        self.assertEqual((self.folder / "thing" / "file").read_text(), "two")
        self.assertEqual(list(store.scratch.iterdir()), [])

    def test_a_part_whose_folder_was_removed_is_not_ready(self):
        store = Store(self.folder)
        self.put(store, "one", "digest")
        (self.folder / "thing" / "file").unlink()
        (self.folder / "thing").rmdir()
        self.assertFalse(store.is_ready("thing", "digest", ["thing"]))

    def test_a_failure_keeps_what_was_there_and_leaves_nothing_behind(self):
        store = Store(self.folder)
        self.put(store, "one", "digest 1")

        def fill(scratch: Path) -> None:
            (scratch / "thing").mkdir()
            raise OSError("no space left")

        with self.assertRaises(OSError):
            store.put("thing", "digest 2", ["thing"], fill)
        self.assertTrue(store.is_ready("thing", "digest 1", ["thing"]))
        self.assertEqual((self.folder / "thing" / "file").read_text(), "one")
        self.assertEqual(list(store.scratch.iterdir()), [])

    def test_a_second_set_up_waits_for_the_first(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from store import Store\n"
                "with Store(Path(sys.argv[2])).locked(lambda: print('waits', flush=True)): print('works', flush=True)")
        command = [sys.executable, "-B", "-c", code, str(HERE), str(self.folder)]
        with Store(self.folder).locked(lambda: self.fail("nobody else is here")):
            second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            self.assertEqual(second.stdout.readline(), "waits\n")
        rest, _ = second.communicate()
        self.assertEqual((rest, second.returncode), ("works\n", 0))

    def test_nobody_waits_for_what_another_set_up_has_made_already(self):
        made, told = [], []
        with Store(self.folder).locked(lambda: self.fail("nobody else is here")) as is_held:
            self.assertTrue(is_held)

            def wait():
                told.append("waits")
                made.append("a part")

            with Store(self.folder).locked(wait, is_done=lambda: bool(made)) as is_held:
                self.assertFalse(is_held)
        self.assertEqual(told, ["waits"])


class OnlyWhatWasPinned(InAFolder):
    def test_every_requirement_has_a_version_and_a_digest(self):
        pins = [*(HERE / "pins").glob("*.txt"), catalogue.MODEL / "requirements.txt"]
        self.assertGreaterEqual(len(pins), 7)
        for file in pins:
            entries = [entry for entry in file.read_text().replace("\\\n", "").splitlines() if entry[0] != "#"]
            self.assertTrue(entries, file)
            for entry in entries:
                self.assertRegex(entry, r"^[a-z0-9-]+==[0-9][0-9.a-z]*( +--hash=sha256:[0-9a-f]{64})+$", file)

    def test_the_pip_is_the_pinned_one_and_another_in_its_place_is_fetched_anew(self):
        wheel = Path(pip_tool.pip_command()[1]).parent
        self.assertEqual(pip_tool.digest(wheel), pip_tool.SHA256)
        self.assertIn(pip_tool.SHA256, pip_tool.PINS.read_text())
        # Found beside, so that nothing goes to the network.
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent)}
        here = self.folder / "pip"
        with mock.patch.dict(os.environ, offline), mock.patch.object(pip_tool, "FOLDER", here):
            here.mkdir()
            (here / pip_tool.NAME).write_bytes(b"something else")
            self.assertEqual(pip_tool.pip_command()[1], str(here / pip_tool.NAME / "pip"))
            self.assertEqual([file.name for file in here.iterdir()], [pip_tool.NAME])

    def test_a_wheel_of_pip_with_another_digest_is_refused(self):
        with zipfile.ZipFile(self.folder / pip_tool.NAME, "w") as archive:
            archive.writestr("pip-26.3.dist-info/METADATA", "Metadata-Version: 2.1\nName: pip\nVersion: 26.3\n")
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder)}
        with mock.patch.dict(os.environ, offline), mock.patch.object(pip_tool, "FOLDER", self.folder / "pip"):
            with self.assertRaisesRegex(process.PartError, "(?s)fetching the pip that installs the parts failed.*HASH"):
                pip_tool.pip_command()
        self.assertEqual(list((self.folder / "pip").iterdir()), [])

    def test_without_a_pip_of_its_own_the_machine_is_told_what_to_install(self):
        nothing = mock.patch.object(first_pip.importlib.util, "find_spec", return_value=None)
        with nothing, mock.patch.object(first_pip, "DEBIAN_FOLDER", str(self.folder)[1:]), \
                mock.patch.object(first_pip.sysconfig, "get_config_var", return_value=None), \
                mock.patch.object(first_pip.shutil, "which", return_value=None):
            with self.assertRaisesRegex(process.PartError, "install pip for it"):
                first_pip.command(self.folder)
            # A wheel that the system brings is taken.
            (self.folder / "pip-1.0-py3-none-any.whl").write_bytes(b"")
            self.assertEqual(first_pip.command(self.folder)[1], str(self.folder / "pip-1.0-py3-none-any.whl" / "pip"))

    def test_a_package_with_another_digest_is_refused(self):
        wheel = self.folder / "thing-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("thing.py", "")
            archive.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
            archive.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr("thing-1.0.dist-info/RECORD", "")
        pins = self.folder / "pins.txt"
        offline = dict(os.environ, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.folder))
        with mock.patch.dict(os.environ, offline):
            pins.write_text(f"thing==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
            fetch.install_packages(pins, self.folder / "good")
            self.assertTrue((self.folder / "good" / "thing.py").exists())
            pins.write_text(f"thing==1.0 --hash=sha256:{'0' * 64}\n")
            with self.assertRaisesRegex(process.PartError, "installing the packages of pins.txt failed"):
                fetch.install_packages(pins, self.folder / "bad")
            self.assertFalse((self.folder / "bad" / "thing.py").exists())

    def test_every_debian_package_has_a_version_and_a_digest_and_another_is_refused(self):
        pins = debian.read_pins(HERE / "pins" / "prometheus.deb")
        self.assertEqual([name for name, _, _ in pins], ["prometheus", "prometheus-alertmanager"])
        loose = self.folder / "loose.deb"
        loose.write_text("prometheus sha256:" + "0" * 64 + "\n")
        with self.assertRaisesRegex(process.PartError, "NAME=VERSION"):
            debian.read_pins(loose)
        package = self.folder / "thing_1_amd64.deb"
        package.write_bytes(b"something else")
        debian.check_digest(package, hashlib.sha256(b"something else").hexdigest())
        with self.assertRaisesRegex(process.PartError, "not the pinned"):
            debian.check_digest(package, "0" * 64)

    def test_a_built_in_folder_becomes_the_working_directory_at_the_same_length(self):
        program = self.folder / "program"
        program.write_bytes(b"\0/usr/share/thing/default.tmpl\0")
        operations.relocate(program, "/usr/share/thing/")
        path = program.read_bytes()[1:-1]
        self.assertEqual((len(path), os.path.normpath(path)), (len("/usr/share/thing/default.tmpl"), b"default.tmpl"))
        with self.assertRaisesRegex(process.PartError, "does not name"):
            operations.relocate(program, "/usr/share/thing/")

    def test_files_come_out_of_a_wheel_where_they_are_wanted_with_their_execute_bit(self):
        path = self.folder / "a.whl"
        with zipfile.ZipFile(path, "w") as archive:
            program = zipfile.ZipInfo("pkg/bin/run")
            program.external_attr = 0o100755 << 16
            archive.writestr(program, "#!")
            archive.writestr("pkg/lib/deep/file", "text")
            archive.writestr("pkg/other", "not wanted")
        with zipfile.ZipFile(path) as archive:
            found = fetch.unpack(archive, self.folder, {"pkg/bin/run": "out/run", "pkg/lib/*": "out/lib/*", "no": "no"})
        self.assertEqual(found, {"pkg/bin/run", "pkg/lib/*"})
        self.assertTrue(os.access(self.folder / "out" / "run", os.X_OK))
        self.assertEqual((self.folder / "out" / "lib" / "deep" / "file").read_text(), "text")
        self.assertFalse(os.access(self.folder / "out" / "lib" / "deep" / "file", os.X_OK))
        self.assertFalse((self.folder / "out" / "other").exists())

    def test_a_digest_tells_names_and_contents_apart(self):
        one, two = self.folder / "one", self.folder / "two"
        one.write_text("x")
        two.write_text("x")
        self.assertNotEqual(digest_of([one]), digest_of([two]))
        before = digest_of([one, two])
        self.assertEqual(before, digest_of([two, one]))
        two.write_text("y")
        self.assertNotEqual(before, digest_of([one, two]))


class TheUsersOwn(unittest.TestCase):
    def test_a_part_is_left_out_only_when_all_that_it_gives_is_given(self):
        redis = next(part for part in catalogue.PARTS if part.name == "redis")
        with mock.patch.dict(os.environ, {"REDIS_SERVER": "/own/redis-server"}):
            os.environ.pop("REDISEARCH_SO", None)
            self.assertFalse(redis.is_replaced())
            os.environ["REDISEARCH_SO"] = "/own/redisearch.so"
            self.assertTrue(redis.is_replaced())


class WhatTheMachineLacks(InAFolder):
    """`tests/parts/check.py`, which names all of it in one list."""

    def test_a_python_that_is_too_old_or_too_new_is_told_what_is_needed(self):
        for version in [(3, 10, 14), (3, 14, 0)]:
            said, = check.of_python(version)
            self.assertIn("Python 3.11 to 3.13", said)
            self.assertIn(".".join(map(str, version)), said)
        for version in [(3, 11, 0), (3, 13, 9)]:
            self.assertEqual(list(check.of_python(version)), [])

    def test_the_file_can_be_read_by_a_python_that_is_too_old(self):
        import ast
        ast.parse((HERE / "check.py").read_text(), feature_version=(3, 6))
        first = (HERE / "check.py").read_text().split("\ndef ")[0]
        self.assertNotRegex(first, r"(?m)^(import|from) (setup|store|pip_tool|process)")

    def test_each_program_that_is_missing_is_named_once(self):
        said = list(check.of_programs(lambda _: None))
        self.assertEqual([sentence.split()[0].rstrip(",.:") for sentence in said], ["gcc", "make", "Rust"])
        self.assertEqual(list(check.of_programs(lambda name: "/bin/" + name)), [])
        said, = check.of_programs(lambda name: None if name in ("cargo", "rustc") else name)
        self.assertIn("cargo and rustc", said)
        # A toolchain without rustup is enough.
        self.assertEqual(list(check.of_programs(lambda name: None if name == "rustup" else name)), [])

    def test_what_comes_from_debian_may_be_brought_instead(self):
        names = ["PROMETHEUS_BIN", "PROMTOOL_BIN", "ALERTMANAGER_BIN", "AMTOOL_BIN"]
        with mock.patch.dict(os.environ):
            for name in names:
                os.environ.pop(name, None)
            said, = check.of_debian(lambda _: None)
            self.assertTrue(all(name in said for name in names), said)
            os.environ.update(dict.fromkeys(names, "/own"))
            self.assertEqual(list(check.of_debian(lambda _: None)), [])

    def test_a_full_disk_says_how_much_is_free_and_how_much_is_needed(self):
        said, = check.of_disk("/here", 5 * check.GB, check.GB // 2)
        self.assertRegex(said, r"/here: 0\.5 GB are free, and 5 GB are needed")
        self.assertEqual(list(check.of_disk("/here", 5 * check.GB, 5 * check.GB)), [])

    def test_a_port_that_is_taken_is_named_with_whose_it_is(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with mock.patch.object(check, "PORTS", {port: "Envoy"}), mock.patch.object(check, "MOCK_PORT", port), \
                    mock.patch.dict(os.environ, {"PROVIDER": "https://api.example.com"}):
                said, = check.of_ports()
                self.assertIn(f"port {port} for Envoy", said)
                del os.environ["PROVIDER"]
                said, = check.of_ports()
                self.assertIn(f"port {port} for the mock provider", said)

    def test_the_ports_are_those_of_the_bootstrap_and_of_make_up(self):
        bootstrap = (catalogue.REPOSITORY / "envoy" / "demo.yaml").read_text()
        up = (catalogue.REPOSITORY / "tools" / "src" / "bin" / "up.rs").read_text()
        for port in [*check.PORTS, check.MOCK_PORT]:
            self.assertRegex(bootstrap + up, rf"\b{port}\b")
        listened = set(map(int, re.findall(r"port_value: (\d+)", bootstrap)))
        self.assertLessEqual(listened, {*check.PORTS, check.MOCK_PORT})

    def test_a_registry_that_gives_nothing_is_told_with_its_clients_last_words(self):
        fails = [sys.executable, "-c", "import sys; print('first', flush=True); sys.exit('could not resolve the host')"]
        said, = check.of_client(fails, "the Python packages", self.folder)
        self.assertRegex(said, r"the Python packages: .*could not resolve the host.*Is there a network")
        self.assertEqual(list(check.of_client([sys.executable, "-c", ""], "x", self.folder)), [])
        with mock.patch.object(check, "SECONDS", 0.2):
            said, = check.of_client([sys.executable, "-c", "import time; time.sleep(9)"], "x", self.folder)
            self.assertIn("no answer within", said)
        said, = check.of_client([str(self.folder / "nothing")], "x", self.folder)
        self.assertIn("nothing", said)

    def test_all_that_is_missing_comes_in_one_list(self):
        def lacking(*purposes, ready=("demo", "up", "test")):
            said = io.StringIO()
            with mock.patch.object(check.shutil, "which", lambda _: None), \
                    mock.patch.object(check.shutil, "disk_usage", lambda _: mock.Mock(free=0)), \
                    mock.patch.object(check, "is_set_up", lambda purpose: purpose in ready), \
                    mock.patch.object(check, "of_machine", lambda: ["Linux on x86-64"]), \
                    mock.patch.object(check, "of_ports", lambda: ["port 10000 for Envoy"]), \
                    mock.patch.object(check, "of_registries", lambda *_: ["the Python packages"]), \
                    contextlib.redirect_stderr(said):
                self.assertEqual(check.main(list(purposes)), 1)
            return said.getvalue()

        of_all = ["* gcc", "* make", "* Rust", "* room on the disk"]
        for purposes, words in [(["test"], ["* apt-get"]), (["up"], ["* port"]), (["demo", "up", "test"], ["* apt-get", "* port"])]:
            said = lacking(*purposes)
            self.assertEqual(said.count("check:"), 1, said)
            self.assertEqual(said.count("* "), len(of_all + words), said)
            for word in of_all + words:
                self.assertEqual(said.count(word), 1, said)
        # One that is not set up yet is enough: only then it matters which machine it is, and whether there is a network.
        said = lacking("up", "test", ready=["up"])
        for word in ["* Linux", "* the Python packages"]:
            self.assertEqual(said.count(word), 1, said)
        self.assertIn("`make up` and `make test` need:", said)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(check.main(["up", "nothing-like-that"]), 2)
        self.assertIn("not nothing-like-that", said.getvalue())

    def test_the_room_is_that_of_the_largest_that_is_wanted(self):
        def needed(*purposes, ready=()):
            with mock.patch.object(check.shutil, "disk_usage", lambda _: mock.Mock(free=0)), \
                    mock.patch.object(check, "is_set_up", lambda purpose: purpose in ready), \
                    mock.patch.object(check, "of_registries", lambda *_: []), \
                    mock.patch.dict(os.environ, {"CARGO_TARGET_DIR": str(self.folder)}):
                return [sentence for sentence in check.lacking(purposes) if "room on the disk" in sentence][0]

        self.assertIn("5 GB are needed", needed("demo", "up"))
        self.assertIn("12 GB are needed", needed("up", "test", ready=["up"]))
        self.assertIn("5 GB are needed", needed("up", "test", ready=["test"]))
        self.assertIn("1 GB are needed", needed("up", "test", ready=["up", "test"]))

    def test_each_command_that_sets_up_is_checked_first(self):
        makefile = (catalogue.REPOSITORY / "Makefile").read_text()
        for name in ["test", "demo"]:
            recipe = re.search(rf"^{name}: ##.*\n(.*)$", makefile, re.MULTILINE)
            self.assertIn(f"call check_machine,{name}", recipe[1])
        self.assertEqual(re.search(r"(?m)^check: ##.*\n((?:\t.*\n)+)", makefile)[1].count("call check_machine"), 1)
        self.assertRegex(makefile, r"(?m)^up: check-up ")
        of_demo, = re.findall(r"(?m)^PARTS_OF_DEMO := (.*)$", makefile)
        self.assertEqual(of_demo.split(), check.OF_DEMO)


if __name__ == "__main__":
    unittest.main()
