//! The manifests as `kubectl kustomize` renders them, and how to look into them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use sentinel_harness::parts;
use serde_json::Value;

/// Everything that a user applies.
pub const OVERLAYS: [&str; 6] = [
    "overlays/standalone",
    "overlays/cluster",
    "overlays/istio",
    "overlays/istio-wasm-plugin",
    "overlays/envoy-gateway",
    "monitoring",
];

/// What `kubectl kustomize k8s/<folder>` prints.
pub fn rendered(folder: &str) -> String {
    static RENDERED: OnceLock<Mutex<std::collections::HashMap<String, String>>> = OnceLock::new();
    let mut all =
        RENDERED.get_or_init(Mutex::default).lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(text) = all.get(folder) {
        return text.clone();
    }
    let text = render(&parts::root().join("k8s").join(folder));
    all.insert(folder.to_owned(), text.clone());
    text
}

/// What `kubectl kustomize` prints for this folder.
pub fn render(folder: &Path) -> String {
    let output =
        Command::new(parts::kubectl()).arg("kustomize").arg(folder).output().expect("kubectl starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "kubectl kustomize {}: {said}", folder.display());
    String::from_utf8(output.stdout).expect("YAML is text")
}

/// A copy of k8s/ in this folder.
pub fn copy(folder: &Path) -> PathBuf {
    let copy = folder.join("k8s");
    let done = Command::new("cp").arg("-r").arg(parts::root().join("k8s")).arg(&copy).status().unwrap();
    assert!(done.success());
    copy
}

/// The objects of an overlay.
pub fn objects(folder: &str) -> Vec<Value> {
    documents(&rendered(folder))
}

/// All documents of a YAML text.
pub fn documents(text: &str) -> Vec<Value> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    documents.into_iter().filter(|document| !document.is_null()).collect()
}

/// The one document of a file of the repository.
pub fn file(path: &str) -> Value {
    let text = fs::read_to_string(parts::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The object of this kind whose name is this, or begins so and ends in a hash.
pub fn find<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let fits = |object: &&Value| {
        let found = object["metadata"]["name"].as_str().unwrap_or_default();
        let hashed = found.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        object["kind"] == kind && (found == name || hashed.is_some_and(|hash| hash.len() == 10))
    };
    let mut found = objects.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(object), None) => object,
        (None, _) => panic!("there is no {kind} {name}"),
        (Some(_), Some(_)) => panic!("there are several {kind}s {name}"),
    }
}

/// What the gateway's Envoy lays over its bootstrap, as Kubernetes gives it to it in this zone.
pub fn laid_over(objects: &[Value], zone: &str) -> Option<String> {
    let envoy = &find(objects, "Deployment", "agent-gateway")["spec"]["template"]["spec"]["containers"][0];
    let mut args = envoy["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap());
    args.find(|argument| *argument == "--config-yaml")?;
    Some(args.next().expect("YAML").replace("$(ZONE)", zone))
}

/// `kind/name`, for messages.
pub fn called(object: &Value) -> String {
    format!(
        "{}/{}",
        object["kind"].as_str().unwrap_or("?"),
        object["metadata"]["name"].as_str().unwrap_or("?")
    )
}

/// Whether the golden files are to be written instead of compared.
fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

/// Compares `text` with the file, or writes it.
pub fn same_as_file(path: &str, text: &str) {
    let full = parts::root().join(path);
    if updating() {
        fs::create_dir_all(full.parent().expect("a folder")).expect("the folder is made");
        fs::write(&full, text).expect("the file is written");
        return;
    }
    let there = fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
    if there == text {
        return;
    }
    let line = there.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
    panic!(
        "{path} is not what it should be, from line {} on:\n  there: {:?}\n  wanted: {:?}\nIf the change is meant, run \
         `UPDATE_GOLDEN=1 cargo test -p sentinel-tests --test k8s` and read the difference.",
        line + 1,
        there.lines().nth(line),
        text.lines().nth(line),
    );
}
