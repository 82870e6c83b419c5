//! The README's table of configuration fields is the one that the types give.
//! `UPDATE_GOLDEN=1 cargo test -p sentinel-pipeline --test reference` writes it anew.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::{fs, path::Path};

const BEGIN: &str = "<!-- configuration: begin -->\n";
const END: &str = "<!-- configuration: end -->";

#[test]
fn the_readme_has_the_table_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let table = sentinel_pipeline::config::reference_table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, [before, BEGIN, &table, END, after].concat()).unwrap();
        return;
    }
    assert!(shown == table, "the table in README.md is out of date: see the first lines of this test");
}
