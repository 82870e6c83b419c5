"""The pods of k8s/overlays/standalone by `podman kube play`: read-only root, a user who is not root, the socket shared by a volume.

podman 4 is no kubelet. What it cannot do is done here in the kubelet's place, and nothing else is changed:
- a sidecar is an init container that stays: it becomes an ordinary container, started with the others;
- probes are asked from outside, by the same paths and ports. podman would ask them inside, with a curl that no image has;
- an image as a volume is mounted as a folder; the volume for the socket belongs to `fsGroup`;
- `lifecycle`, `topologySpreadConstraints` and `replicas` have no meaning on one machine.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import images
import yaml
from podman import Failed, Podman
from waiting import ask, counted, eventually, expect

REPOSITORY = Path(__file__).resolve().parent.parent.parent
OVERLAY = "k8s/overlays/standalone"
KEY = "5d1f0c-alice"
NETWORK = "sentinel-pods"
# Secrets that a user makes, as k8s/gateway/kustomization.yaml says: from these files.
SECRETS = {"agent-gateway-clients": "envoy/production/clients.yaml", "agent-gateway-keys": "envoy/production/keys"}


def rendered() -> list[dict]:
    kubectl = images.program("KUBECTL_BIN", "kubectl/kubectl")
    done = subprocess.run([str(kubectl), "kustomize", OVERLAY], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def secrets() -> list[dict]:
    found = []
    for name, source in SECRETS.items():
        path = REPOSITORY / source
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        texts = {file.name: file.read_text() for file in files}
        if "clients.yaml" in texts:
            expect("clients.yaml is shipped without clients", texts["clients.yaml"].count("credentials: []") == 1)
            texts["clients.yaml"] = texts["clients.yaml"].replace("credentials: []", f"credentials: [{{client: alice, key: {KEY}}}]")
        found.append({"name": name, "texts": texts})
    return found


class Pod:
    """The Deployment's pod, as podman can play it."""

    def __init__(self, podman: Podman) -> None:
        self.podman = podman
        self.folder = podman.folder / "pods"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        objects = rendered()
        self.texts = {(kind, item["metadata"]["name"]): item["data"] for item in objects for kind in ["ConfigMap"] if item["kind"] == kind}
        self.texts |= {("Secret", secret["name"]): secret["texts"] for secret in secrets()}
        deployment = next(item for item in objects if item["kind"] == "Deployment" and item["metadata"]["name"] == "agent-gateway")
        self.spec = deployment["spec"]["template"]["spec"]
        self.probes = []

    def played(self) -> dict:
        user = self.spec["securityContext"]
        containers = self.spec["initContainers"] + self.spec["containers"]
        for container in containers:
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
                probe = container.pop(kind, None)
                if probe is not None:
                    self.probes.append((container["name"], kind, ports[probe["httpGet"]["port"]], probe["httpGet"]["path"]))
            for name in ("lifecycle", "restartPolicy"):
                container.pop(name, None)
            container["securityContext"] |= {"runAsUser": user["runAsUser"], "runAsGroup": user["runAsGroup"], "runAsNonRoot": True}
            container["imagePullPolicy"] = "Never"
            container["env"] = container.get("env", []) + [
                {"name": name, "value": value} for source in container.pop("envFrom", [])
                for name, value in self.texts["ConfigMap", source["configMapRef"]["name"]].items()]
        volumes = [{"name": volume["name"], "hostPath": {"path": str(self.place(volume)), "type": "Directory"}} for volume in self.spec["volumes"]]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "agent-gateway", "labels": {"app": "agent-gateway"}},
                "spec": {"containers": containers, "volumes": volumes}}

    def place(self, volume: dict) -> Path:
        """A folder of this machine with what Kubernetes would mount."""
        if "image" in volume:
            return Path(self.podman.run("image", "mount", volume["image"]["reference"]).strip())
        path = self.folder / volume["name"]
        path.mkdir()
        if "emptyDir" in volume:
            group = self.spec["securityContext"]["fsGroup"]
            os.chown(path, 0, group)
            path.chmod(0o2770)
            return path
        name = ("ConfigMap", volume["configMap"]["name"]) if "configMap" in volume else ("Secret", volume["secret"]["secretName"])
        if name not in self.texts:
            raise Failed(f"{OVERLAY} mounts the {name[0]} {name[1]}, which is neither rendered nor made here")
        for file, text in self.texts[name].items():
            (path / file).write_text(text)
            # A secret is for the group alone.
            os.chown(path / file, 0, self.spec["securityContext"]["fsGroup"])
            (path / file).chmod(0o440 if name[0] == "Secret" else 0o644)
        return path


def play(podman: Podman) -> None:
    pod = Pod(podman)
    file = pod.folder / "pod.yaml"
    file.write_text(yaml.safe_dump(pod.played()))
    podman.run("network", "create", NETWORK, allowed=True)
    try:
        podman.run("kube", "play", "--network", NETWORK, str(file))
        scenes(podman, pod)
    finally:
        podman.run("kube", "down", str(file), allowed=True)
        podman.run("image", "unmount", "--all", allowed=True)


def scenes(podman: Podman, pod: Pod) -> None:
    containers = {name: json.loads(podman.run("inspect", f"agent-gateway-{name}"))[0] for name in ("envoy", "embedding-service")}
    for name, seen in containers.items():
        user, host = seen["Config"]["User"], seen["HostConfig"]
        expect(f"{name} runs as {user}, with a root that cannot be written and without a capability",
               user.startswith("65532") and host["ReadonlyRootfs"] and not seen["EffectiveCaps"], (user, host["ReadonlyRootfs"], seen["EffectiveCaps"]))
    infra = json.loads(podman.run("pod", "inspect", "agent-gateway"))["InfraContainerID"]
    address = next(iter(json.loads(podman.run("inspect", infra))[0]["NetworkSettings"]["Networks"].values()))["IPAddress"]

    def logs() -> str:
        return "\n".join(podman.logs(f"agent-gateway-{name}") for name in containers)

    for name, kind, port, path in pod.probes:
        eventually(f"{kind} of {name}", lambda: ask(f"http://{address}:{port}{path}")[0] == 200, logs)
        expect(f"{kind} of {name}: GET :{port}{path} is answered with 200", True)

    url, statistics = f"http://{address}:10000/openai/v1/chat/completions", f"http://{address}:9902/stats/prometheus"
    expect("without a key nobody gets in", ask(url, stuck())[0] == 401)
    key = {"authorization": f"Bearer {KEY}", "x-agent-id": "a"}
    status, headers, body = ask(url, stuck(), key)
    expect("a run that repeats itself is stopped, with no provider in reach", (status, headers.get("x-sentinel-verdict")) == (400, "kill"), (status, body))

    # Each time another question: one that was not answered is no news when it comes again. There is no provider, hence 503.
    questions = iter(range(1000))

    def answered() -> bool:
        text = f"Which of our customers in region {next(questions)} has not paid the invoice of last month yet?"
        ask(url, {"model": "m", "messages": [{"role": "user", "content": text}]}, key)
        return counted(ask(statistics)[2], "sentinel_service_calls_total", outcome="ok") > 0

    def calls() -> str:
        return "\n".join(line for line in ask(statistics)[2].splitlines() if "service_calls" in line) + "\n" + logs()

    eventually("the service answers Envoy over the socket in the shared volume", answered, calls, pause=1)
    expect("the service answers Envoy over the socket in the shared volume", True)
    sockets = list((pod.folder / "socket").iterdir())
    expect("the socket is for the group of the pod alone", [oct(path.stat().st_mode & 0o777) for path in sockets] == ["0o660"], sockets)


def stuck() -> dict:
    """A run whose last five steps are one and the same."""
    messages: list[dict] = [{"role": "user", "content": "Find out why the nightly build fails"}]
    for step in range(5):
        call = {"id": f"call_{step}", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "build.log"}'}}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": f"call_{step}", "content": "error: linker failed with exit status 1 in module core"}]
    return {"model": "m", "messages": messages}
