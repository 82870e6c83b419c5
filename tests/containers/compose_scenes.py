"""compose.yaml as a user starts it, by podman-compose: the demo's scenes, and what Prometheus and Alertmanager make of them.

Grafana is left out: no package has it. Its files are read by tests/shipping.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import images
from podman import Failed, Podman
from waiting import ask, counted, eventually, expect

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PROJECT = "sentinel-test"
SERVICES = ["redis", "embedding-service", "envoy", "prometheus", "alertmanager"]
ENVOY, METRICS = "http://127.0.0.1:10000", "http://127.0.0.1:9902"
PROMETHEUS, ALERTMANAGER = "http://127.0.0.1:9090", "http://127.0.0.1:9093"


# How long Envoy waits for a verdict: as long as it takes, so that a busy machine changes none. All else is as it is shipped.
SHIPPED, PATIENT = '"timeout": "50ms"', '"timeout": "5s"'


class Stack:
    def __init__(self, podman: Podman) -> None:
        self.podman = podman
        self.folder = podman.folder / "compose"
        shutil.rmtree(self.folder, ignore_errors=True)
        for path in ("envoy/compose", "envoy/production", "k8s/monitoring"):
            shutil.copytree(REPOSITORY / path, self.folder / path)
        shutil.copy(REPOSITORY / "compose.yaml", self.folder)
        self.change("envoy/compose/envoy.yaml", SHIPPED, PATIENT)

    def change(self, path: str, old: str, new: str) -> None:
        """In this stack's copy of a file, where it stands there once."""
        file = self.folder / path
        text = file.read_text()
        if text.count(old) != 1:
            raise Failed(f"{path} says {old!r} {text.count(old)} times, not once")
        file.write_text(text.replace(old, new))

    def compose(self, *arguments: str, allowed: bool = False) -> str:
        packages = os.environ.get("SENTINEL_COMPOSE") or str(images.PARTS / "compose")
        command = [sys.executable, "-m", "podman_compose", "--file", str(self.folder / "compose.yaml"), "--project-name", PROJECT,
                   "--profile", "demo", "--profile", "limits", "--profile", "monitoring", *arguments]
        more = {"PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"}
        return self.podman.call(command, allowed=allowed, cwd=self.folder, more=more)

    def container(self, service: str) -> str:
        names = self.podman.run("ps", "--all", "--filter", f"label=io.podman.compose.project={PROJECT}",
                                "--filter", f"label=com.docker.compose.service={service}", "--format", "{{.Names}}").split()
        if len(names) != 1:
            raise Failed(f"there are {len(names)} containers of {service}, not one: {names}")
        return names[0]

    def logs(self, *services: str) -> str:
        return "\n".join(f"--- {service}:\n{self.podman.logs(self.container(service))}" for service in services)

    def down(self) -> None:
        self.compose("down", "--timeout", "5", allowed=True)


def play(podman: Podman) -> None:
    stack = Stack(podman)
    try:
        stack.compose("up", "--detach", "--no-build", *SERVICES)
        for service in SERVICES:
            assert_little(podman, stack.container(service))
        scenes(podman, stack)
        monitoring(stack)
        service_stopped(podman, stack)
    finally:
        stack.down()


def assert_little(podman: Podman, container: str) -> None:
    seen = json.loads(podman.run("inspect", container))[0]
    host, user = seen["HostConfig"], seen["Config"]["User"]
    met = host["ReadonlyRootfs"] and user.split(":")[0] not in ("", "0", "root") and not seen["EffectiveCaps"]
    expect(f"{container} runs as {user}, cannot write its own files and has no capability", met, (host["ReadonlyRootfs"], user, seen["EffectiveCaps"]))


def scenes(podman: Podman, stack: Stack) -> None:
    stack.compose("up", "--detach", "--no-build", "demo")
    demo = stack.container("demo")
    code = podman.run("wait", demo).strip()
    said = podman.call(["podman", "logs", demo])
    print("".join(f"    {line}\n" for line in said.splitlines()), end="")
    if code != "0":
        print(stack.logs("envoy", "embedding-service"))
    expect("the scenes of the demo went as expected", code == "0" and "5 of 5 scenarios went as expected" in said, code)


def monitoring(stack: Stack) -> None:
    def targets() -> list[str]:
        _, _, body = ask(f"{PROMETHEUS}/api/v1/targets")
        return [target["health"] for target in json.loads(body)["data"]["activeTargets"]] if body else []

    eventually("Prometheus reads Envoy and the service", lambda: targets() == ["up", "up"], lambda: stack.logs("prometheus"))
    expect("Prometheus reads Envoy and the service", True)

    def names() -> set[str]:
        _, _, body = ask(f"{ALERTMANAGER}/api/v2/alerts")
        return {alert["labels"]["alertname"] for alert in json.loads(body)} if body else set()

    eventually("Alertmanager shows the agent that was stopped", lambda: "AgentKilled" in names(), lambda: stack.logs("prometheus", "alertmanager"))
    expect("Alertmanager shows the agent that was stopped", True)


def service_stopped(podman: Podman, stack: Stack) -> None:
    podman.run("stop", "--time", "20", stack.container("embedding-service"))
    networks = json.loads(podman.run("inspect", stack.container("envoy")))[0]["NetworkSettings"]["Networks"]
    said = podman.run("run", "--rm", "--network", next(iter(networks)), "--network-alias", "demo", "--read-only", images.DEMO_IMAGE,
                      "--envoy", "envoy:10000", "--metrics", "envoy:9902", "--without-service")
    print("".join(f"    {line}\n" for line in said.splitlines()), end="")
    expect("without the service every request passes", "1 of 1 scenarios went as expected" in said)
    status, _, body = ask(f"{METRICS}/stats/prometheus")
    expect("both ports of the machine answer", status == 200 and ask(f"{ENVOY}/openai")[0] != 0 and counted(body, "sentinel_requests_total") > 0, status)
