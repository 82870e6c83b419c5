//! What the real Envoy thinks of a bootstrap of k8s/. Envoy needs seconds to compile the filter's module, so a module that does nothing
//! stands in its place here, and each configuration of the filter goes to an Envoy that is up and has compiled it.

use std::collections::BTreeSet;

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::envoy::{self, Envoy};
use serde_json::Value;

pub const WASM: &str = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";

/// Fails unless Envoy takes this bootstrap, with `over` merged into it, and the filter all of its configurations in it.
pub fn assert_valid(what: &str, bootstrap: &Bootstrap, over: Option<&str>) {
    let over = over.map_or(vec![], |yaml| vec!["--config-yaml", yaml]);
    envoy::assert_valid(what, &Envoy::validate_without_filter(bootstrap, &over));
    for configuration in configurations(bootstrap) {
        let mut demo = Bootstrap::demo();
        demo.config(&configuration);
        assert_eq!(Envoy::refusal(&demo), None, "{what}: {configuration}");
    }
}

/// Those of every filter of ours in it.
fn configurations(bootstrap: &Bootstrap) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![serde_saphyr::from_str::<Value>(bootstrap.text()).expect("YAML")];
    while let Some(value) = left.pop() {
        let configuration = value.pointer("/config/configuration/value").and_then(Value::as_str);
        if let (true, Some(configuration)) = (value["@type"] == WASM, configuration) {
            found.insert(configuration.to_owned());
        }
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    found
}
