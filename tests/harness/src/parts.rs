//! Finds the real parts: by an environment variable, else where `make setup` and `make build` put them. A missing part
//! fails the test and says what to do; nothing is skipped.

use std::env;
use std::path::{Path, PathBuf};

/// Root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the harness lives two folders below the root")
        .to_path_buf()
}

pub fn envoy() -> PathBuf {
    part("Envoy", "ENVOY_BIN", ".parts/envoy/envoy", "make setup")
}

pub fn redis_server() -> PathBuf {
    part("redis-server", "REDIS_SERVER", ".parts/redis/redis-server", "make setup")
}

pub fn redisearch() -> PathBuf {
    part("The Redis search module", "REDISEARCH_SO", ".parts/redis/redisearch.so", "make setup")
}

pub fn onnxruntime() -> PathBuf {
    part("ONNX Runtime", "ORT_DYLIB_PATH", ".parts/onnxruntime/libonnxruntime.so", "make setup")
}

pub fn model() -> PathBuf {
    part("The embedding model", "LOOP_EMBEDDING_MODEL_PATH", ".parts/model/model.onnx", "make setup")
}

/// Folder of the model that reads tool results for a second opinion.
pub fn guard_model() -> PathBuf {
    part("The model of the second opinion", "GUARD_MODEL_PATH", ".parts/guard-model", "make guard-model")
}

/// The model before it was made small.
pub fn float_model() -> PathBuf {
    part("The model in float32", "SENTINEL_FLOAT_MODEL", ".parts/model-fp32/model.onnx", "make setup")
}

/// Folder with the published weights that the model is built from.
pub fn weights() -> PathBuf {
    part("The folder of the weights", "SENTINEL_WEIGHTS", ".parts/weights", "make setup")
}

/// Folder that holds the Python packages `openai`, `anthropic`, `google-genai`, `mcp` and `boto3`.
pub fn python_sdks() -> PathBuf {
    part("The folder of the Python SDKs", "SENTINEL_PYTHON_SDKS", ".parts/sdk-python", "make setup")
}

pub fn node() -> PathBuf {
    part("Node", "NODE_BIN", ".parts/node/bin/node", "make setup")
}

/// Binaryen's program, which Node runs.
pub fn wasm_opt() -> PathBuf {
    part("wasm-opt", "WASM_OPT", ".parts/wasm-opt/wasm-opt", "make setup")
}

/// Folder that holds the npm package `openai`.
pub fn node_modules() -> PathBuf {
    part("The folder of the Node SDKs", "SENTINEL_NODE_MODULES", ".parts/sdk-node/node_modules", "make setup")
}

/// Folder that holds the Python agent frameworks of `tests/parts/pins/frameworks-python.in`.
pub fn python_frameworks() -> PathBuf {
    part(
        "The folder of the Python frameworks",
        "SENTINEL_PYTHON_FRAMEWORKS",
        ".parts/frameworks-python",
        "make frameworks",
    )
}

/// Folder that holds the npm packages `ai` and `@ai-sdk/openai`.
pub fn node_frameworks() -> PathBuf {
    part(
        "The folder of the Node frameworks",
        "SENTINEL_NODE_FRAMEWORKS",
        ".parts/frameworks-node/node_modules",
        "make frameworks",
    )
}

pub fn chromium() -> PathBuf {
    part("Chromium", "CHROMIUM_BIN", ".parts/chromium/run", "make console")
}

/// Folder that holds the npm packages `playwright-core` and `axe-core`.
pub fn browser_modules() -> PathBuf {
    part(
        "The folder of what drives Chromium",
        "SENTINEL_BROWSER_NODE",
        ".parts/browser-node/node_modules",
        "make console",
    )
}

/// Folder that holds the coding agents of `tests/sdk/coding/package.json`.
pub fn coding_agents() -> PathBuf {
    part(
        "The folder of the coding agents",
        "SENTINEL_CODING_AGENTS",
        ".parts/coding-agents/node_modules",
        "make frameworks",
    )
}

/// Folder that holds the coding agents of `tests/sdk/coding/more/package.json`.
pub fn more_coding_agents() -> PathBuf {
    part(
        "The folder of more coding agents",
        "SENTINEL_MORE_CODING_AGENTS",
        ".parts/more-coding-agents/node_modules",
        "python3 tests/parts/setup.py more-coding-agents",
    )
}

/// Limitador behind Envoy's rate limit protocol: see `tests/limitador`.
pub fn limitador() -> PathBuf {
    part(
        "limitador-server",
        "LIMITADOR_BIN",
        ".parts/limitador/limitador-server",
        "python3 tests/parts/setup.py limitador",
    )
}

pub fn kubectl() -> PathBuf {
    part("kubectl", "KUBECTL_BIN", ".parts/kubectl/kubectl", "make operations")
}

/// Folder that holds the Python package `helm_python`, with Helm's library.
pub fn helm() -> PathBuf {
    part("The folder of Helm", "SENTINEL_HELM", ".parts/helm", "make operations")
}

/// Folder that holds the Python package `kubernetes-validate`.
pub fn kubernetes_validate() -> PathBuf {
    part(
        "The folder of kubernetes-validate",
        "SENTINEL_KUBERNETES_VALIDATE",
        ".parts/kubernetes-validate",
        "make operations",
    )
}

/// Folder that holds TypeScript and the types of Istio, the Gateway API and the Prometheus operator.
pub fn kubernetes_types() -> PathBuf {
    part(
        "The folder of Kubernetes types",
        "SENTINEL_KUBERNETES_TYPES",
        ".parts/kubernetes-types/node_modules",
        "make operations",
    )
}

pub fn prometheus() -> PathBuf {
    part("Prometheus", "PROMETHEUS_BIN", ".parts/prometheus/prometheus", "make operations")
}

pub fn promtool() -> PathBuf {
    part("promtool", "PROMTOOL_BIN", ".parts/prometheus/promtool", "make operations")
}

pub fn alertmanager() -> PathBuf {
    part("Alertmanager", "ALERTMANAGER_BIN", ".parts/prometheus/alertmanager", "make operations")
}

pub fn amtool() -> PathBuf {
    part("amtool", "AMTOOL_BIN", ".parts/prometheus/amtool", "make operations")
}

/// The filter, built for wasm32-wasip1.
pub fn filter() -> PathBuf {
    part("The filter", "SENTINEL_WASM", "target/wasm32-wasip1/release/sentinel_filter.wasm", "make build")
}

/// The embedding service's binary, from the same Cargo profile as this program.
pub fn service() -> PathBuf {
    let (place, command) = if cfg!(debug_assertions) {
        ("target/debug/embedding-service", "cargo build -p embedding-service")
    } else {
        ("target/release/embedding-service", "make build")
    };
    part("The embedding service", "SENTINEL_SERVICE", place, command)
}

fn part(what: &str, variable: &str, below_root: &str, command: &str) -> PathBuf {
    let (path, hint) = match env::var_os(variable).filter(|given| !given.is_empty()) {
        Some(given) => (root().join(given), format!("correct {variable}")),
        None => (root().join(below_root), format!("run `{command}`, or set {variable}")),
    };
    assert!(path.exists(), "{what} is missing: there is no {}: {hint}", path.display());
    path
}
