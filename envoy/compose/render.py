"""Writes the files below envoy/compose/ that repeat envoy/ and k8s/monitoring. Part of `make render`; `--check` writes nothing.

Text is moved as it stands, with its comments. Every place must be there exactly once, so that nothing is left behind in
silence. Needs nothing but Python.
"""

import re
import sys
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(REPOSITORY / "k8s"))

import render as kubernetes  # noqa: E402

PROVIDERS = "envoy/providers.yaml"
PRODUCTION = "envoy/production.yaml"
RULES = "k8s/monitoring/rules.yaml"
CLUSTER = "fragments/service-cluster.yaml"
# The answer to a path that names no provider; here the mock of the demo's scenes has it.
NOWHERE = re.compile(r'^( +)direct_response:\n +status: 404\n +body: \{inline_string: "The path must begin with .*\n', re.MULTILINE)
MOCK = """
    # The mock provider of `docker compose up demo`; 503 while it is not up.
    - name: mock
      type: STRICT_DNS
      dns_lookup_family: V4_PREFERRED
      dns_refresh_rate: 1s
      connect_timeout: 2s
      load_assignment:
        cluster_name: mock
        endpoints:
          - lb_endpoints:
              - endpoint: {address: {socket_address: {address: demo, port_value: 18080}}}
"""


def item(text: str, name: str, where: str) -> str:
    """A cluster as it stands in the list of clusters."""
    return textwrap.indent("- " + textwrap.indent(kubernetes.block(text, name, where), "  ").lstrip(), "    ")


def envoy() -> str:
    sources = kubernetes.Sources(REPOSITORY / "k8s")
    replace = kubernetes.replace
    about, admin, rest = sources.read(PROVIDERS).partition("\nadmin:\n")
    if not admin:
        sys.exit(f"{PROVIDERS}: there is no `admin:` after its heading; nothing is written")
    text = admin.lstrip() + rest
    text = replace(text, "address: 127.0.0.1, port_value: 10000", "address: 0.0.0.0, port_value: 10000", PROVIDERS)
    text = replace(text, kubernetes.MODULE, "/module/plugin.wasm", PROVIDERS)
    service = item(text, "- name: embedding_service", PROVIDERS)
    cluster = replace(sources.read(CLUSTER), "embedding-service.agent-sentinel.svc.cluster.local", "embedding-service", CLUSTER)
    text = replace(text, service, cluster.rstrip() + "\n", PROVIDERS)
    text, mocked = NOWHERE.subn(r"\1route: {cluster: mock, timeout: 0s}\n", text)
    if mocked != 1:
        sys.exit(f"{PROVIDERS}: the answer 404 stands there {mocked} times, not once; nothing is written")
    text = replace(text, "\n  clusters:\n", f"\n{sources.read('fragments/stats-listener.yaml')}\n  clusters:\n", PROVIDERS)
    return (kubernetes.heading(f"{PROVIDERS} and k8s/fragments")
            + "# Agent Sentinel before the real providers, for compose.yaml. The first part of the path names the provider, as in\n"
            + f"# {PROVIDERS}; every other path leads to the mock of the demo's scenes.\n\n"
            + text.rstrip() + "\n\n" + item(sources.read(PRODUCTION), "- name: statistics", PRODUCTION) + MOCK)


def production() -> str:
    """envoy/production.yaml as the overlay `standalone` has it, with the addresses that containers have."""
    text = kubernetes.Sources(REPOSITORY / "k8s").standalone(traces=False)
    where = "envoy/production.yaml for a pod"
    service = item(text, "- name: embedding_service", where)
    cluster = kubernetes.replace((REPOSITORY / "k8s" / CLUSTER).read_text(), "embedding-service.agent-sentinel.svc.cluster.local",
                                 "embedding-service", CLUSTER)
    text = kubernetes.replace(text, service, cluster.rstrip() + "\n", where)
    text = kubernetes.replace(text, kubernetes.RATE_LIMITS, "limitador", where)
    text = text.partition("\nnode: ")[2] or sys.exit(f"{where}: there is no `node:` after its heading; nothing is written")
    return (kubernetes.heading(f"{PRODUCTION} and k8s/fragments")
            + "# Agent Sentinel with keys, and with limits that the rate limit service counts, for compose.yaml.\n\nnode: " + text)


def rules() -> str:
    _, spec, groups = (REPOSITORY / RULES).read_text().partition("\nspec:\n")
    if not spec:
        sys.exit(f"{RULES}: there is no `spec:`; nothing is written")
    return kubernetes.heading(RULES) + textwrap.dedent(groups)


def main() -> None:
    made = {"envoy.yaml": envoy(), "production.yaml": production(), "rules.yml": rules()}
    wrong = {name: text for name, text in made.items() if not (HERE / name).is_file() or (HERE / name).read_text() != text}
    if "--check" in sys.argv[1:]:
        if wrong:
            sys.exit(f"envoy/compose/{', envoy/compose/'.join(wrong)}: not what `make render` writes. The first line says what each is made from.")
        return
    for name, text in wrong.items():
        (HERE / name).write_text(text)
        print(f"  written: envoy/compose/{name}")


if __name__ == "__main__":
    main()
