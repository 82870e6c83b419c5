//! The service's settings in docs/embedding-service.md are those that the flags give, and its metrics in docs/metrics.md those that it
//! shows. `UPDATE_GOLDEN=1 cargo test -p embedding-service --test documents` writes both anew.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::{fmt::Write, fs, path::Path};

use clap::CommandFactory;
use embedding_service::{metrics::Metrics, settings::RawSettings};

fn settings() -> String {
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

/// Name and meaning from the lines `# HELP`, with the type from `# TYPE` before them.
fn metrics() -> String {
    let exposition = Metrics::default().exposition();
    let mut table = "| metric | type | meaning |\n|---|---|---|\n".to_owned();
    for line in exposition.lines().filter_map(|line| line.strip_prefix("# HELP ")) {
        let (name, meaning) = line.split_once(' ').unwrap();
        let kind = exposition.lines().find_map(|line| line.strip_prefix(&format!("# TYPE {name} "))).unwrap();
        let end = if kind == "counter" { "_total" } else { "" };
        writeln!(table, "| `{name}{end}` | {kind} | {} |", meaning.trim_end_matches('.')).unwrap();
    }
    table
}

/// Compares what stands between two marks of a page, or writes it anew.
fn check(page: &str, marks: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {marks}: begin -->\n"), format!("<!-- {marks}: end -->"));
    let (before, rest) = text.split_once(&begin).unwrap();
    let (shown, after) = rest.split_once(&end).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, [before, &begin, made, &end, after].concat()).unwrap();
        return;
    }
    assert_eq!(shown, made, "{page} is out of date: see the first lines of this test");
}

#[test]
fn the_page_has_the_settings_of_the_flags() {
    check("docs/embedding-service.md", "settings", &settings());
}

#[test]
fn the_page_has_the_metrics_of_the_service() {
    let table = metrics();
    assert!(table.contains("`embedding_service_unanswered_total`"), "{table}");
    check("docs/metrics.md", "service metrics", &table);
}
