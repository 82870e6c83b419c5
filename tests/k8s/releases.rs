//! k8s/release.py on a copy of the manifests: nothing is left of the placeholders, and the real Envoy fetches the module
//! from where it says, holds it to its digest, and tries again after an error.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::client;
use sentinel_harness::envoy::Envoy;
use sentinel_harness::gateway::{self, ALICE, key_header};
use sentinel_harness::{Dialect, parts};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::manifests::{copy, documents, find, laid_over, render};
use crate::server::serve;

fn release(copy: &Path, changed: &[(&str, &str)]) -> Output {
    let image = format!("sha256:{}", "a".repeat(64));
    let module = parts::filter().display().to_string();
    let mut options = [
        ("--registry", "registry.example.org/team"),
        ("--version", "7.8.9"),
        ("--module", module.as_str()),
        ("--module-url", "https://modules.example.org/7.8.9/plugin.wasm"),
        ("--image-digest", image.as_str()),
    ];
    for (name, value) in changed {
        options.iter_mut().find(|(option, _)| option == name).unwrap().1 = value;
    }
    let mut command = Command::new("python3");
    command.arg(parts::root().join("k8s/release.py")).arg("--folder").arg(copy);
    command.args(options.iter().flat_map(|(name, value)| [name, value])).output().expect("Python starts")
}

#[tokio::test]
async fn envoy_fetches_the_released_module_and_tries_again() {
    let folder = tempfile::tempdir().unwrap();
    let copied = copy(folder.path());
    let output = release(&copied, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for overlay in ["standalone", "cluster", "istio", "envoy-gateway"] {
        let text = render(&copied.join(format!("overlays/{overlay}")));
        for placeholder in ["example.com", "0.1.0", &"0".repeat(64)] {
            assert!(!text.contains(placeholder), "{overlay} still says {placeholder}");
        }
        assert!(text.contains("7.8.9"), "{overlay}");
    }

    let all = documents(&render(&copied.join("overlays/cluster")));
    let text = find(&all, "ConfigMap", "agent-gateway-envoy")["data"]["envoy.yaml"].as_str().unwrap();
    let mut bootstrap = Bootstrap::of(text.to_owned());
    gateway::fill_in(folder.path());
    bootstrap.mounted(folder.path());
    let mut bootstrap: Value = serde_saphyr::from_str(bootstrap.text()).unwrap();
    let filters = bootstrap
        .pointer("/static_resources/listeners/0/filter_chains/0/filters/0/typed_config/http_filters")
        .and_then(Value::as_array)
        .unwrap();
    let sentinel = filters.iter().find(|filter| filter["name"] == "sentinel").unwrap();
    let code = &sentinel["typed_config"]["config"]["vm_config"]["code"];
    let module = fs::read(parts::filter()).unwrap();
    let digest: String = Sha256::digest(&module).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(code["remote"]["sha256"], digest);

    // The web server, who fails at first.
    let asked = Arc::new(AtomicUsize::new(0));
    let web = serve({
        let asked = Arc::clone(&asked);
        move |path, _| {
            assert_eq!(path, "/7.8.9/plugin.wasm");
            if asked.fetch_add(1, Ordering::SeqCst) == 0 { (503, Vec::new()) } else { (200, module.clone()) }
        }
    });
    let here = |port: u16| json!({"socket_address": {"address": "127.0.0.1", "port_value": port}});
    bootstrap["admin"]["address"] = here(0);
    for listener in bootstrap["static_resources"]["listeners"].as_array_mut().unwrap() {
        listener["address"] = here(0);
    }
    let clusters = bootstrap["static_resources"]["clusters"].as_array_mut().unwrap();
    let modules = clusters.iter_mut().find(|cluster| cluster["name"] == "modules").unwrap();
    *modules = json!({"name": "modules", "type": "STATIC", "load_assignment": {"cluster_name": "modules", "endpoints": [
        {"lb_endpoints": [{"endpoint": {"address": here(web.port())}}]}]}});

    let over = laid_over(&all, "").expect("the service's cluster");
    let envoy =
        Envoy::start_with(folder.path(), &Bootstrap::of(bootstrap.to_string()), &["--config-yaml", &over]);
    assert!(asked.load(Ordering::SeqCst) >= 2, "the module was fetched without a second try");
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Which river of the region is the longest one?"}]}"#;
    let (name, value) = key_header(Dialect::OpenaiChat, ALICE.key);
    let answer = client::post(envoy.address(), "/v1/chat/completions", &[(name, &value)], body).await;
    assert_eq!((answer.status, answer.verdict()), (404, "allow"), "{:?}", answer.body);
}

#[test]
fn a_release_that_makes_no_sense_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let copied = copy(folder.path());
    let before = render(&copied.join("overlays/cluster"));
    for (option, value, word) in [
        ("--version", "latest", "--version"),
        ("--module", "/nowhere/plugin.wasm", "--module"),
        ("--module-url", "http://modules.example.org/plugin.wasm", "https://"),
        ("--image-digest", "sha256:12", "64 hexadecimal digits"),
    ] {
        let output = release(&copied, &[(option, value)]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(word), "{option} {value}: {said}");
    }
    assert_eq!(render(&copied.join("overlays/cluster")), before);
    // If a text to replace is missing in a file, the release fails and says so.
    let gone = copied.join("overlays/standalone/sidecar.yaml");
    let text = fs::read_to_string(&gone).unwrap().replace("filter:0.1.0", "something");
    fs::write(&gone, text).unwrap();
    let output = release(&copied, &[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("stands there 0 times"));
    assert_eq!(render(&copied.join("overlays/cluster")), before);
}
