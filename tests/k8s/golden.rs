//! Every overlay as it renders is kept in tests/k8s/golden, so that a change of a base is seen in all that it changes. Envoy's
//! bootstraps in it are left out there: they are files of their own in the overlay.

use std::fs;

use sentinel_harness::parts;

use crate::manifests::{OVERLAYS, rendered, same_as_file};

#[test]
fn every_overlay_renders_as_it_did() {
    for folder in OVERLAYS {
        let mut text = rendered(folder);
        for name in ["envoy.yaml", "envoy-traces.yaml"] {
            let Ok(file) = fs::read_to_string(parts::root().join("k8s").join(folder).join(name)) else {
                continue;
            };
            let indented = file
                .lines()
                .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") });
            let block = format!("  {name}: |\n{}", indented.collect::<String>());
            assert_eq!(text.matches(&block).count(), 1, "{folder}: {name} is not in its ConfigMap as it is");
            text = text.replace(&block, &format!("  {name}: that of k8s/{folder}\n"));
        }
        let name = folder.trim_start_matches("overlays/");
        same_as_file(&format!("tests/k8s/golden/{name}.yaml"), &text);
    }
}
