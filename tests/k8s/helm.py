"""Helm without a cluster: what `helm lint --strict` and `helm template` say of a chart, as JSON.

    python3 tests/k8s/helm.py lint|template CHART VALUES [NAMESPACE]

VALUES is a JSON object. The library is Helm's own (Go), with the Python interface of the package helm-python-sdk; PYTHONPATH has it.
"""

import json
import sys

from helm_python import chart
from helm_python.errors import HelmError


def main() -> int:
    what, path, values = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    namespace = sys.argv[4] if len(sys.argv) > 4 else "agent-sentinel"
    try:
        if what == "lint":
            # 1 is information, 2 a warning.
            found = chart.lint(path, values, strict=True, kube_version="v1.35.0")
            print(json.dumps([message for message in found["messages"] if message["severity"] > 1] + found["errors"]))
            return 0
        loaded = chart.Chart.load(path)
        # As `helm template` does before it renders; a caller of the library has to ask for it.
        loaded.validate_schema(values)
        print(json.dumps(loaded.render(values, name="agent-sentinel", namespace=namespace, is_install=True)))
        return 0
    except HelmError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
