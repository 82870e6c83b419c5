//! Splits a bootstrap into pieces for an Envoy that is already running and reads its listeners and clusters from files.
//! It reads only the form of the shipped bootstraps: a list in `static_resources` is indented by two columns, its items
//! by four.

use crate::bootstrap::Bootstrap;

pub struct Pieces {
    /// Everything except `static_resources`.
    pub head: String,
    /// A file of listeners.
    pub listeners: String,
    /// A file of clusters.
    pub clusters: String,
}

const BEGIN: &str = "\nstatic_resources:\n";
const LISTENERS: &str = "\n  listeners:\n";
const CLUSTERS: &str = "\n  clusters:\n";

impl Pieces {
    pub fn of(bootstrap: &Bootstrap) -> Self {
        let (before, resources) = halves(bootstrap.text(), BEGIN);
        // Up to the next top-level key.
        let in_resources = |line: &&str| line.starts_with([' ', '#', '\n']);
        let length = resources.split_inclusive('\n').take_while(in_resources).map(str::len).sum();
        let (resources, after) = resources.split_at(length);
        let resources = format!("\n{resources}");
        let (nothing, lists) = halves(&resources, LISTENERS);
        assert!(nothing.trim().is_empty(), "static_resources begins with another list: {nothing}");
        let (listeners, clusters) = halves(lists, CLUSTERS);
        Self {
            head: format!("{before}\n{after}"),
            listeners: file(listeners, "envoy.config.listener.v3.Listener"),
            clusters: file(clusters, "envoy.config.cluster.v3.Cluster"),
        }
    }
}

fn halves<'a>(text: &'a str, at: &str) -> (&'a str, &'a str) {
    assert_eq!(text.matches(at).count(), 1, "the bootstrap does not have once {:?}", at.trim());
    text.split_once(at).expect("it is there")
}

/// A file of resources of one type.
fn file(list: &str, kind: &str) -> String {
    let mut file = String::from("resources:\n");
    for line in list.split_inclusive('\n') {
        match line.strip_prefix("    - ") {
            Some(item) => {
                file.push_str(&format!("    - \"@type\": type.googleapis.com/{kind}\n      {item}"));
            }
            None => {
                let another =
                    line.starts_with("  ") && !line.starts_with("   ") && !line.trim().starts_with('#');
                assert!(!another, "static_resources holds another list: {line}");
                file.push_str(line);
            }
        }
    }
    file
}
