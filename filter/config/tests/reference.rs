//! The fields in docs/configuration.md are those that the types give, and every example there is a valid configuration.
//! `UPDATE_GOLDEN=1 cargo test -p sentinel-config --test reference` writes them anew.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::{fs, path::Path};

use sentinel_config::{Config, reference};

const BEGIN: &str = "<!-- configuration: begin -->\n";
const END: &str = "<!-- configuration: end -->";

#[test]
fn the_page_has_the_fields_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let made = reference().unwrap_or_else(|error| panic!("{error}"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, [before, BEGIN, &made, END, after].concat()).unwrap();
        return;
    }
    assert!(shown == made, "docs/configuration.md is out of date: see the first lines of this test");
}

#[test]
fn every_example_is_a_valid_configuration_of_its_group() {
    let made = reference().unwrap_or_else(|error| panic!("{error}"));
    let mut examples = 0;
    for section in made.split("\n## ") {
        let name = section.lines().next().unwrap().trim_matches('`');
        let (_, rest) = section.split_once("```json\n").unwrap_or_else(|| panic!("{name} has no example"));
        let (json, _) = rest.split_once("```").unwrap();
        if let Err(error) = Config::from_json(json.as_bytes()) {
            panic!("{name}: {error}\n{json}");
        }
        assert!(name.starts_with("## ") || json.contains(&format!("\"{name}\"")), "{name}:\n{json}");
        examples += 1;
    }
    assert!(examples > 10, "{examples}");
}
