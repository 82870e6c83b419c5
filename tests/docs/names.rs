//! Names that the documents promise: metrics and their labels, alerts, dialects, settings.

use std::collections::BTreeSet;
use std::fs;

use sentinel_detect::verdict::Signal;
use sentinel_harness::parts;
use sentinel_llm_api::registry;
use sentinel_pipeline::{bypass::Bypass, metric, service_outcome::ServiceOutcome};
use strum::VariantNames;

use crate::markdown::documents;

fn read(path: &str) -> String {
    fs::read_to_string(parts::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Words of a text that begin with `prefix`.
fn words<'a>(text: &'a str, prefix: &str) -> BTreeSet<&'a str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with(prefix) && word.len() > prefix.len()).collect()
}

/// The values of labels, and the names of the filter's metrics.
fn metrics() -> (BTreeSet<String>, BTreeSet<String>) {
    let names = metric::FAMILIES.iter().map(|family| family.name.to_owned()).collect();
    let closed = [
        metric::Tokens::VARIANTS,
        metric::DeniedTool::VARIANTS,
        metric::Bound::VARIANTS,
        metric::Bounding::VARIANTS,
        Bypass::VARIANTS,
        ServiceOutcome::VARIANTS,
        metric::CacheHit::VARIANTS,
        metric::CacheBypass::VARIANTS,
    ];
    // Values that depend on more than a variant stand in a `match`.
    let source = read("filter/pipeline/src/metric.rs");
    let others = source.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next());
    (names, closed.concat().into_iter().chain(others).map(str::to_owned).collect())
}

#[test]
fn the_page_has_every_metric_of_the_filter_and_every_value_of_a_label() {
    let page = read("docs/metrics.md");
    let (names, values) = metrics();
    assert!(names.len() > 8 && values.len() > 20, "{names:?} {values:?}");
    for name in names.iter().chain(&values) {
        assert!(page.contains(&format!("`{name}`")), "docs/metrics.md does not name `{name}`");
    }
}

#[test]
fn every_metric_that_a_document_names_exists() {
    let (names, _) = metrics();
    let rules = read("k8s/monitoring/rules.yaml");
    let recorded = words(&rules, "sentinel_");
    // Files, crates, fields of filter state and of requests.
    let others = [
        "sentinel_filter",
        "sentinel_kill",
        "sentinel_stop",
        "sentinel_verdict",
        "sentinel_model",
        "sentinel_event",
        "sentinel_detect",
        "sentinel_notice",
    ];
    // Names of the older systems stand on that page on purpose.
    for document in documents().iter().filter(|document| document.path != "docs/older-systems.md") {
        for name in words(&document.text, "sentinel_") {
            let plain =
                ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            let is_known = names.contains(plain) || recorded.contains(name) || others.contains(&name);
            assert!(is_known, "{} names {name}, which is no metric", document.path);
        }
    }
}

/// The page has a table, and the code has a list for each kind of request and answer.
#[test]
fn the_page_has_the_passes_in_their_order() {
    const LISTS: [(&str, &str); 4] = [
        ("a request", "const OF_A_REQUEST"),
        ("an MCP request", "const OF_AN_MCP_REQUEST"),
        ("an answer", "const OF_AN_ANSWER"),
        ("a cut-off answer", "const OF_A_CUT_OFF_ANSWER"),
    ];
    let source = read("filter/pipeline/src/passes/mod.rs");
    let passes_of = |list: &str| {
        let (_, rest) = source.split_once(list).unwrap_or_else(|| panic!("there is no {list}"));
        let (_, rest) = rest.split_once(" =").expect("a value");
        let (functions, _) = rest.split_once("];").expect("an end");
        let functions = functions.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        let passes =
            functions.filter(|name| !name.starts_with("LooksAt")).filter_map(|name| name.rsplit_once("::"));
        passes.map(|(pass, _)| pass).collect::<Vec<_>>()
    };
    let rows: Vec<String> = LISTS
        .into_iter()
        .flat_map(|(of, list)| {
            let passes = passes_of(list).into_iter().enumerate();
            passes
                .map(move |(number, pass)| format!("| {of} {} | `{pass}` |", number + 1))
                .collect::<Vec<_>>()
        })
        .collect();
    let page = read("docs/contribute.md");
    let (_, table) = page.split_once("| of | pass | for |\n|---|---|---|\n").expect("the table of passes");
    let table = table.lines().take_while(|line| line.starts_with('|'));
    let shown: Vec<&str> = table.map(|row| row.rsplit_once(" | ").expect("three columns").0).collect();
    let shown: Vec<String> = shown.into_iter().map(|row| format!("{row} |")).collect();
    assert_eq!(shown, rows, "docs/contribute.md has other passes than filter/pipeline/src/passes/mod.rs");
}

#[test]
fn the_page_has_every_alert() {
    let page = read("docs/alerts.md");
    let rules = read("k8s/monitoring/rules.yaml");
    let alerts: Vec<&str> = rules.split("- alert: ").skip(1).filter_map(|rest| rest.lines().next()).collect();
    assert!(alerts.len() >= 6, "{alerts:?}");
    for alert in alerts {
        assert!(page.contains(&format!("`{alert}`")), "docs/alerts.md does not name `{alert}`");
    }
}

/// The chart's notes send its users there.
#[test]
fn the_page_has_the_commands_for_the_secrets_as_the_manifests_have_them() {
    let page = read("docs/kubernetes.md");
    let mut commands = 0;
    for path in ["k8s/gateway/kustomization.yaml", "k8s/components/redis/kustomization.yaml"] {
        let file = read(path);
        // Lines of commands are indented in the comment, and the others are not.
        for line in file.lines().filter_map(|line| line.strip_prefix("#   ")) {
            let is_there = page.lines().any(|shown| shown.trim() == line.trim());
            assert!(is_there, "docs/kubernetes.md has no line as in {path}: {line}");
            commands += usize::from(line.starts_with("kubectl "));
        }
    }
    assert_eq!(commands, 3);
}

#[test]
fn the_page_has_every_dialect() {
    let page = read("docs/how-it-decides.md");
    for dialect in registry::ALL {
        let label = dialect.label();
        assert!(page.contains(&format!("`{label}`")), "docs/how-it-decides.md does not name `{label}`");
    }
}

#[test]
fn the_page_has_the_rank_of_signals() {
    let mut loops: Vec<Signal> = Signal::ALL.iter().copied().filter(|signal| signal.is_loop()).collect();
    loops.retain(|signal| !matches!(signal, Signal::Semantic | Signal::McpBreaker));
    loops.sort_by_key(|signal| signal.rank());
    let labels: Vec<String> = loops.iter().map(|signal| format!("`{}`", signal.label())).collect();
    let page = read("docs/how-it-decides.md").replace('\n', " ");
    assert!(page.contains(&format!("first in this order: {}.", labels.join(", "))), "{labels:?}");
}

#[test]
fn every_setting_that_a_document_names_exists() {
    let settings = read("docs/embedding-service.md");
    let (_, table) = settings.split_once("<!-- settings: begin -->").expect("the table of settings");
    let known = words(table.split_once("<!-- settings: end -->").expect("its end").0, "LOOP_");
    assert!(known.len() > 10, "{known:?}");
    for document in documents().iter().filter(|document| document.path != "docs/older-systems.md") {
        for name in words(&document.text, "LOOP_") {
            assert!(known.contains(name), "{} names {name}, which is no setting", document.path);
        }
    }
}

/// Paths such as `kill.status`, and of what stands in lists `agents[].name`.
#[test]
fn every_field_that_a_document_names_exists() {
    let page = read("docs/configuration.md");
    let (_, table) = page.split_once("<!-- configuration: begin -->").expect("the reference");
    let fields: BTreeSet<&str> = table
        .lines()
        .filter(|line| line.starts_with("| `") || line.starts_with("## `"))
        .flat_map(|line| {
            let first = line.trim_start_matches("| ").split(" | ").next().unwrap_or_default();
            first.split('`').skip(1).step_by(2)
        })
        .collect();
    let groups: BTreeSet<&str> =
        fields.iter().filter(|name| !name.contains('.')).map(|name| name.trim_end_matches("[]")).collect();
    assert!(fields.len() > 100 && groups.contains("kill"), "{groups:?}");
    let is_path = |code: &str| {
        let plain = code.replace("[]", "");
        plain.contains('.')
            && plain
                .split('.')
                .all(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    };
    // The Helm chart has values of its own.
    let values: serde_json::Value =
        serde_saphyr::from_str(&read("k8s/helm/agent-sentinel/values.yaml")).expect("the values");
    let is_value = |path: &str| values.pointer(&format!("/{}", path.replace('.', "/"))).is_some();
    let mut named = 0;
    for document in documents() {
        for code in document.code().into_iter().filter(|code| is_path(code)) {
            let plain = code.replace("[]", "");
            let group = plain.split('.').next().unwrap_or_default();
            let is_file = plain.ends_with(".rs") || plain.ends_with(".yaml");
            if !groups.contains(group) || is_file || is_value(&plain) {
                continue;
            }
            assert!(
                fields.iter().any(|field| {
                    let field = field.replace("[]", "");
                    // A group of fields has no row of its own.
                    field == plain || field.starts_with(&format!("{plain}."))
                }),
                "{} names `{code}`, which is no field of the configuration",
                document.path
            );
            named += 1;
        }
    }
    assert!(named > 50, "{named}");
}
