//! The fields in docs/configuration.md are those that the types give, and every example there is a valid configuration.
//! `UPDATE_GOLDEN=1 cargo test -p sentinel-config --test reference` writes them anew.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

use std::{fs, path::Path};

use sentinel_config::{Config, reference};
use serde_json::{Map, Value, json};

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

/// Field, default, range.
fn fields() -> Vec<[String; 3]> {
    let made = reference().unwrap_or_else(|error| panic!("{error}"));
    let mut fields = Vec::new();
    let mut has_ranges = false;
    for line in made.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if cells[0] == "field" {
            has_ranges = cells[2] == "range";
        } else if cells[0].starts_with('`') {
            let range = if has_ranges { cells[2] } else { "" };
            // Counts that belong together share a row.
            let defaults: Vec<&str> = cells[1].split("``, ``").collect();
            let paths: Vec<&str> = cells[0].split('`').skip(1).step_by(2).collect();
            assert!(defaults.len() == paths.len() || paths.len() == 1, "{line}");
            for (at, path) in paths.iter().enumerate() {
                let default = if paths.len() == 1 { cells[1] } else { defaults[at] };
                fields.push([*path, default.trim_matches(['`', ' ']), range].map(str::to_owned));
            }
        }
    }
    fields
}

#[test]
fn every_number_and_duration_says_its_range() {
    let is_duration = |text: &str| {
        let text = text.trim_matches('"');
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
        unit.len() < text.len() && ["ms", "s", "m", "h"].contains(&unit)
    };
    let fields = fields();
    assert!(fields.len() > 100, "{}", fields.len());
    for [path, default, range] in fields {
        if default.parse::<f64>().is_ok() || is_duration(&default) {
            assert!(!range.is_empty(), "{path} is {default} by default and says no range");
        }
    }
}

/// What else must stand beside a field so that its own value alone is judged.
fn beside(path: &str) -> Value {
    match path {
        "score.hint" => json!({"score": {"kill": 1000}}),
        "bounds.pruning.soft_trim_ratio" => json!({"bounds": {"pruning": {"hard_clear_ratio": 1}}}),
        "cache.min_threshold" => json!({"cache": {"similarity_threshold": 1}}),
        "cache.max_threshold" => json!({"cache": {"similarity_threshold": 0, "min_threshold": 0}}),
        "steps.tools[].hint" | "steps.tools[].kill" => {
            json!({"steps": {"tools": [{"name": "t", "kind": "content"}]}})
        }
        // A kill must not be below a hint.
        _ if path.starts_with("steps.") && path.ends_with(".kill") => {
            let group = path.split('.').nth(1).unwrap();
            json!({"steps": {group: {"hint": 0}}})
        }
        _ if path.starts_with("prices[]") => json!({"prices": [{"name": "m"}]}),
        _ if path.starts_with("context_windows[]") => json!({"context_windows": [{"name": "m"}]}),
        _ if path.starts_with("budgets[]") => json!({"budgets": [{"name": "b", "limits": {"usd": 1}}]}),
        _ => json!({}),
    }
}

fn is_taken(path: &str, value: &Value) -> bool {
    let mut config = beside(path);
    let mut at = &mut config;
    for name in path.split('.') {
        let (name, is_list) = name.strip_suffix("[]").map_or((name, false), |name| (name, true));
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        at = &mut at[name];
        if is_list {
            at = at.get_mut(0).unwrap();
        }
    }
    *at = value.clone();
    Config::from_json(config.to_string().as_bytes()).is_ok()
}

/// Both ends of each range are taken, and what lies beyond them is not.
#[test]
fn the_ranges_are_those_that_are_checked() {
    let number = |text: &str| text.parse::<f64>().ok();
    // A whole number is written as one.
    let written = |number: f64| serde_json::from_str::<Value>(&number.to_string()).unwrap();
    let (mut checked, mut durations) = (0, 0);
    for [path, _, range] in fields() {
        let ends = range.split_once(" to ").map(|(least, most)| (least, Some(most)));
        let ends =
            ends.or_else(|| Some((range.strip_suffix(" and more")?.trim_start_matches("0, or "), None)));
        let Some((least, most)) = ends else { continue };
        if let (Some(least), Some(most)) =
            (least.strip_prefix('`'), most.and_then(|most| most.strip_prefix('`')))
        {
            for end in [least, most].map(|end| end.trim_end_matches('`')) {
                if end.starts_with(|c: char| c.is_ascii_digit()) {
                    assert!(is_taken(&path, &json!(end)), "{path}: {end}");
                    durations += 1;
                }
            }
            continue;
        }
        if let Some(least) = number(least) {
            assert!(is_taken(&path, &written(least)), "{path}: {least}");
            assert!(
                range.starts_with("0, or ") || !is_taken(&path, &written(least - 1.0)),
                "{path}: {}",
                least - 1.0
            );
            if range.starts_with("0, or ") {
                assert!(is_taken(&path, &json!(0)) && !is_taken(&path, &json!(1)), "{path}");
            }
            checked += 1;
        }
        if let Some(most) = most.and_then(number) {
            assert!(is_taken(&path, &written(most)), "{path}: {most}");
            assert!(!is_taken(&path, &written(most + 1.0)), "{path}: {}", most + 1.0);
        }
    }
    assert!(checked > 50 && durations >= 10, "{checked} {durations}");
}
