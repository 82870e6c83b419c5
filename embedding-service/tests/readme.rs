//! The README's table of the service's settings is the one that the flags give.
//! `UPDATE_README=1 cargo test -p embedding-service --test readme` writes it anew.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::{fmt::Write, fs, path::Path};

use clap::CommandFactory;
use embedding_service::settings::RawSettings;

const BEGIN: &str = "<!-- settings: begin -->\n";
const END: &str = "<!-- settings: end -->";

fn table() -> String {
    let mut table = "| environment | flag | default | meaning |\n|---|---|---|---|\n".to_owned();
    for argument in RawSettings::command().get_arguments() {
        let Some(environment) = argument.get_env() else { continue };
        let flag = argument.get_long().unwrap();
        let default = argument.get_default_values().join(" ".as_ref());
        let default = default.to_str().map(|text| format!("`{text}`")).filter(|text| text.len() > 2);
        let (default, help) = (default.unwrap_or_default(), argument.get_help().unwrap());
        let environment = environment.to_str().unwrap();
        writeln!(table, "| `{environment}` | `--{flag}` | {default} | {help} |").unwrap();
    }
    table
}

#[test]
fn the_readme_has_the_table_of_the_flags() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, [before, BEGIN, &table(), END, after].concat()).unwrap();
        return;
    }
    assert_eq!(shown, table(), "the table of settings in README.md is out of date");
}
