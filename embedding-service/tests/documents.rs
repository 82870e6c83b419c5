//! The service's settings in docs/embedding-service.md are those that the flags give, and its metrics in docs/metrics.md those that it
//! shows. `UPDATE_GOLDEN=1 cargo test -p embedding-service --test documents` writes both anew.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

use std::{fmt::Write, fs, path::Path, time::Duration};

use clap::CommandFactory;
use embedding_service::{
    control::ingest::IngestCounts,
    metrics::{
        AnswerStored, CacheLookup, Delivered, Dropped, Learned, LookedUp, Metrics, ReadResult, Recorded,
        Reported, Reserved, StoreOp, Unanswered,
    },
    settings::RawSettings,
};
use sentinel_proto::v1::CachedAnswer;
use strum::VariantArray as _;

fn settings() -> String {
    let mut table = "| environment | flag | default | range | meaning |\n|---|---|---|---|---|\n".to_owned();
    for argument in RawSettings::command().get_arguments() {
        let Some(environment) = argument.get_env() else { continue };
        let flag = argument.get_long().unwrap();
        let default = argument.get_default_values().join(" ".as_ref());
        let default = default.to_str().map(|text| format!("`{text}`")).filter(|text| text.len() > 2);
        let (default, help) = (default.unwrap_or_default(), argument.get_help().unwrap().to_string());
        let (meaning, range) = help.split_once(". Range: ").unwrap_or((&help, ""));
        let environment = environment.to_str().unwrap();
        writeln!(table, "| `{environment}` | `--{flag}` | {default} | {range} | {meaning} |").unwrap();
    }
    table
}

/// Every metric with every label, counted once.
fn exposition() -> String {
    let (metrics, time) = (Metrics::default(), Duration::ZERO);
    metrics.checked(None, time);
    Unanswered::VARIANTS.iter().for_each(|reason| metrics.checked(Some(*reason), time));
    CacheLookup::VARIANTS.iter().for_each(|outcome| metrics.cache_looked_up(*outcome));
    StoreOp::VARIANTS.iter().for_each(|op| metrics.stored(*op, time, false));
    Dropped::VARIANTS.iter().for_each(|reason| metrics.dropped(*reason));
    Recorded::VARIANTS.iter().for_each(|outcome| metrics.recorded(*outcome));
    LookedUp::VARIANTS.iter().for_each(|how| metrics.answers.served(*how, &CachedAnswer::default()));
    AnswerStored::VARIANTS.iter().for_each(|outcome| metrics.answers.stored(*outcome));
    Learned::VARIANTS.iter().for_each(|verdict| metrics.answers.learned(*verdict));
    Reported::VARIANTS.iter().for_each(|outcome| metrics.control.reported(*outcome));
    metrics.control.counted(IngestCounts { counted: 1, repeated: 1, refused: 1, unpriced: 1 });
    metrics.control.lost(1, 1);
    Reserved::VARIANTS.iter().for_each(|outcome| metrics.control.reserved(*outcome));
    metrics.control.unpriced();
    ReadResult::VARIANTS.iter().for_each(|outcome| metrics.second_opinion.count(*outcome, 1));
    metrics.second_opinion.took(time);
    Delivered::VARIANTS.iter().for_each(|outcome| metrics.control.delivered(*outcome));
    metrics.exposition()
}

/// Name, labels and meaning, from the lines `# HELP` and from the samples of the metric.
fn metrics() -> String {
    let exposition = exposition();
    let mut table = "| metric | labels | meaning |\n|---|---|---|\n".to_owned();
    for line in exposition.lines().filter_map(|line| line.strip_prefix("# HELP ")) {
        let (name, meaning) = line.split_once(' ').unwrap();
        let kind = exposition.lines().find_map(|line| line.strip_prefix(&format!("# TYPE {name} "))).unwrap();
        let end = if kind == "counter" { "_total" } else { "" };
        let mut labels: Vec<(&str, Vec<&str>)> = Vec::new();
        let samples = exposition.lines().filter(|line| line.starts_with(name) && line.contains('{'));
        for sample in samples.filter(|line| line[name.len()..].starts_with(['{', '_'])) {
            let (series, rest) = sample.split_once('{').unwrap();
            if !["", "_total", "_count", "_bucket"].contains(&&series[name.len()..]) {
                continue;
            }
            for pair in rest.split('}').next().unwrap().split(',') {
                let (label, value) = pair.split_once('=').unwrap();
                if label == "le" {
                    continue;
                }
                let at = labels.iter().position(|(known, _)| *known == label).unwrap_or_else(|| {
                    labels.push((label, Vec::new()));
                    labels.len() - 1
                });
                let value = value.trim_matches('"');
                if !labels[at].1.contains(&value) {
                    labels[at].1.push(value);
                }
            }
        }
        let labels: Vec<String> = labels
            .iter_mut()
            .map(|(label, values)| {
                values.sort_unstable();
                format!("`{label}`: `{}`", values.join("`, `"))
            })
            .collect();
        let kind = if kind == "histogram" { " (histogram)" } else { "" };
        let meaning = meaning.trim_end_matches('.');
        writeln!(table, "| `{name}{end}`{kind} | {} | {meaning} |", labels.join("; ")).unwrap();
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
    assert!(table.contains("| `embedding_service_store_errors_total` | `op`"), "{table}");
    check("docs/metrics.md", "service metrics", &table);
}
