//! Every overlay as it renders is kept in tests/k8s/golden, so that a change of a base is seen in all that it changes.

use crate::manifests::{OVERLAYS, rendered, same_as_file};

#[test]
fn every_overlay_renders_as_it_did() {
    for folder in OVERLAYS {
        let name = folder.trim_start_matches("overlays/");
        same_as_file(&format!("tests/k8s/golden/{name}.yaml"), &rendered(folder));
    }
}
