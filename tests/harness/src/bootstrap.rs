//! A shipped bootstrap with changes for a test. Each changed text must occur exactly as often as expected, so that a
//! test never runs on a bootstrap that was not changed.

use std::fs;
use std::path::Path;

use crate::parts;

const MODULE: &str = "target/wasm32-wasip1/release/sentinel_filter.wasm";
const CONFIG_BEGIN: &str = "# --- sentinel: configuration ---\n";
const CONFIG_END: &str = "# --- sentinel: end of configuration ---\n";
const TRACES: &str = "#traces# ";
const TRACES_TLS: &str = "#traces-tls# ";
const FILTERS_TRACES: [&str; 2] =
    [r#""traces": {}"#, r#""traces": {"attributes": true, "cluster": "collector"}"#];

pub struct Bootstrap {
    text: String,
}

impl Bootstrap {
    /// `envoy/<name>` as shipped.
    pub fn shipped(name: &str) -> Self {
        let path = parts::root().join("envoy").join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { text }
    }

    /// Any bootstrap.
    pub fn of(text: String) -> Self {
        Self { text }
    }

    /// `envoy/demo.yaml` on free ports, with the filter's full path.
    pub fn demo() -> Self {
        let mut bootstrap = Self::shipped("demo.yaml");
        bootstrap.replace("address: 127.0.0.1, port_value: 9901", "address: 127.0.0.1, port_value: 0");
        bootstrap.replace("address: 127.0.0.1, port_value: 10000", "address: 127.0.0.1, port_value: 0");
        bootstrap.module(&parts::filter());
        bootstrap
    }

    pub fn module(&mut self, path: &Path) {
        self.replace(MODULE, &path.display().to_string());
    }

    /// The mock provider's port instead of 18080.
    pub fn provider(&mut self, port: u16) {
        self.replace("port_value: 18080", &format!("port_value: {port}"));
    }

    /// The embedding service's socket.
    pub fn service(&mut self, socket: &Path) {
        self.replace("path: /tmp/embedding-sidecar.sock", &format!("path: {}", socket.display()));
    }

    /// The filter's configuration, instead of the one that is shipped.
    pub fn config(&mut self, json: &str) {
        let begin = self.position(CONFIG_BEGIN) + CONFIG_BEGIN.len();
        let end = self.position(CONFIG_END);
        let quoted = serde_json::to_string(json).expect("a string");
        self.text.replace_range(begin..end, &format!("                          value: {quoted}\n"));
    }

    pub fn replace(&mut self, old: &str, new: &str) {
        let at = self.position(old);
        self.text.replace_range(at..at + old.len(), new);
    }

    /// Replaces this cluster with another one, as YAML in the list of clusters.
    pub fn cluster(&mut self, name: &str, cluster: &str) {
        let begin = self.position(&format!("\n    - name: {name}\n")) + 1;
        let length = self.text[begin..].find("\n    - name:").map_or(self.text.len() - begin, |at| at + 1);
        self.text.replace_range(begin..begin + length, cluster);
    }

    /// Replaces a text that must occur `times` times.
    pub fn replace_each(&mut self, old: &str, new: &str, times: usize) {
        assert_eq!(
            self.text.matches(old).count(),
            times,
            "the bootstrap contains {old:?} another number of times"
        );
        self.text = self.text.replace(old, new);
    }

    /// The folder with the files that `envoy/production.yaml` reloads.
    pub fn production(&mut self, folder: &Path) {
        assert!(
            self.text.contains(": envoy/production"),
            "the bootstrap reads no files from envoy/production"
        );
        self.text = self.text.replace(": envoy/production", &format!(": {}", folder.display()));
    }

    /// Switches traces on, as the head of the file says.
    pub fn traces(&mut self) {
        let [off, on] = FILTERS_TRACES;
        for (old, new) in [(TRACES, ""), (off, on)] {
            assert!(self.text.contains(old), "the bootstrap does not contain {old:?}");
            self.text = self.text.replace(old, new);
        }
    }

    /// Enables the lines for a collector with TLS.
    pub fn traces_tls(&mut self) {
        assert!(self.text.contains(TRACES_TLS), "the bootstrap has no lines for a collector with TLS");
        self.text = self.text.replace(TRACES_TLS, "");
    }

    /// Reads what pods mount at `/etc/sentinel` from this folder, which is laid out like `envoy/production`.
    pub fn mounted(&mut self, folder: &Path) {
        for file in ["clients", "paths", "limits"] {
            self.replace(
                &format!("path: /etc/sentinel/{file}/{file}.yaml, watched_directory: {{path: /etc/sentinel/{file}}}"),
                &format!("path: {0}/{file}.yaml, watched_directory: {{path: {0}}}", folder.display()),
            );
        }
        self.text = self.text.replace(": /etc/sentinel/", &format!(": {}/", folder.display()));
    }

    /// A filter's configuration in the bootstrap itself, instead of in a file of its own.
    pub fn inline(&mut self, filter: &str, config: &str) {
        let begin = self.position(&format!("- name: {filter}\n                    config_discovery:\n"));
        let begin = begin + format!("- name: {filter}\n").len();
        let length = self.text[begin..].find("                  - name:").expect("a filter after it");
        self.text.replace_range(begin..begin + length, config);
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    fn position(&self, wanted: &str) -> usize {
        let mut places = self.text.match_indices(wanted);
        match (places.next(), places.next()) {
            (Some((at, _)), None) => at,
            (None, _) => panic!("the bootstrap does not contain {wanted:?}"),
            (Some(_), Some(_)) => panic!("the bootstrap contains {wanted:?} more than once"),
        }
    }
}
