//! The reference of all configuration fields for `docs/configuration.md`, made from their declarations in `raw`: one section
//! for each group, with its fields and an example. Never part of the filter.

pub use crate::field::Shape;
use crate::{
    RawConfig,
    field::{Field, Row, Section},
    valid::MAY_DIFFER,
};

/// Where a group has no example.
#[derive(Debug, thiserror::Error)]
#[error(
    "the group `{0}` has no example: put one, as ```json, into the comment of its struct in filter/config/src/raw.rs"
)]
pub struct NoExample(String);

/// Markdown: the plain fields first, then a section for each group.
///
/// # Errors
/// A group has no example.
pub fn reference() -> Result<String, NoExample> {
    let sections = RawConfig::default().sections();
    let (groups, plain): (Vec<Section>, Vec<Section>) =
        sections.into_iter().partition(|section| !section.about.is_empty());
    let rows: Vec<_> = plain.into_iter().flat_map(|section| section.rows).map(cells).collect();
    let mut page = "## Common fields\n\n".to_owned();
    page.push_str(&table(&rows));
    page.push_str(&example("the outermost", RawConfig::about())?);
    for section in groups {
        let rows: Vec<_> = section.rows.into_iter().map(cells).collect();
        let Some(([name, default, meaning], rows)) = rows.split_first() else { continue };
        page.push_str(&format!("\n## `{name}`\n\n{meaning}\n\n"));
        if !default.is_empty() {
            page.push_str(&format!("Default: `{default}`.\n\n"));
        }
        page.push_str(&table(rows));
        page.push_str(&example(name, section.about)?);
    }
    Ok(page)
}

fn cells(row: Row) -> [String; 3] {
    [row.path, row.default, row.meaning]
}

/// A field, as somebody who fills it in needs it.
#[derive(Clone, Debug)]
pub struct FieldInfo {
    /// As `score.hint`.
    pub path: String,
    /// As JSON; empty for a group, and for a value that need not be there.
    pub default: String,
    /// Markdown.
    pub meaning: String,
    /// Which values are possible, in words; empty where its shape says so.
    pub range: String,
    pub shape: Shape,
}

/// The fields that may differ from agent to agent, groups before what is in them. What is in the elements of lists is left out.
#[must_use]
pub fn fields_of_agents() -> Vec<FieldInfo> {
    let rows = RawConfig::default().sections().into_iter().flat_map(|section| section.rows);
    let may_differ = |row: &Row| {
        let outermost = row.path.split('.').next().unwrap_or_default();
        MAY_DIFFER.contains(&outermost) && !row.path.contains("[]")
    };
    rows.filter(may_differ).map(FieldInfo::of).collect()
}

impl FieldInfo {
    fn of(row: Row) -> Self {
        let Row { path, default, meaning, shape } = row;
        let (meaning, range) = meaning.split_once(RANGE).unwrap_or((&meaning, ""));
        let (meaning, range) = (meaning.to_owned(), range.trim_end_matches('.').to_owned());
        Self { path, default, meaning, range, shape }
    }
}

/// What the comment of a number ends with: the values that are possible.
const RANGE: &str = " Range: ";

/// Field, default, range, meaning. Without a number in it the table has no column for ranges.
fn table(rows: &[[String; 3]]) -> String {
    let has_ranges = rows.iter().any(|[_, _, meaning]| meaning.contains(RANGE));
    let mut table = if has_ranges {
        "| field | default | range | meaning |\n|---|---|---|---|\n".to_owned()
    } else {
        "| field | default | meaning |\n|---|---|---|\n".to_owned()
    };
    let code = |default: &str| if default.is_empty() { String::new() } else { format!("`` {default} ``") };
    let mut rows = rows;
    while let Some(([path, default, meaning], rest)) = rows.split_first() {
        let counts = counts_of(path, rest);
        // What the counts mean is said once, above the table.
        let range = counts.first().map_or(meaning, |[_, _, meaning]| meaning);
        let range = range.split_once(RANGE).map_or("", |(_, range)| range.trim_end_matches('.'));
        let range = if has_ranges { format!(" {range} |") } else { String::new() };
        let (fields, defaults) = if counts.is_empty() {
            (format!("`{path}`"), code(default))
        } else {
            let fields: Vec<_> = counts.iter().map(|[path, ..]| format!("`{path}`")).collect();
            let defaults: Vec<_> = counts.iter().map(|[_, default, _]| code(default)).collect();
            (fields.join(", "), defaults.join(", "))
        };
        let meaning = meaning.split_once(RANGE).map_or(meaning.as_str(), |(meaning, _)| meaning);
        table.push_str(&format!("| {fields} | {defaults} |{range} {} |\n", meaning.replace('|', "\\|")));
        rows = rest.get(counts.len()..).unwrap_or_default();
    }
    table
}

/// The counts `hint` and `kill` of a group that has nothing else: they stand in one row with what is counted.
fn counts_of<'a>(group: &str, rest: &'a [[String; 3]]) -> &'a [[String; 3]] {
    let inside = rest.iter().take_while(|[path, ..]| path.starts_with(&format!("{group}."))).count();
    let inside = rest.get(..inside).unwrap_or_default();
    let is_count = |path: &str| [".hint", ".kill"].iter().any(|name| path == format!("{group}{name}"));
    if inside.iter().all(|[path, ..]| is_count(path)) { inside } else { &[] }
}

/// The fenced block of a comment.
fn example(group: &str, about: &[&str]) -> Result<String, NoExample> {
    let lines = about.iter().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let fenced: Vec<&str> = lines.skip_while(|line| !line.starts_with("```")).collect();
    if fenced.is_empty() {
        return Err(NoExample(group.to_owned()));
    }
    Ok(format!("\n{}\n", fenced.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn every_field_says_what_it_means() {
        let page = super::reference().unwrap_or_default();
        for field in [
            "`enabled`",
            "`semantic.repeats`",
            "`kill.status`",
            "`identity.agent.headers`",
            "`agents[].settings`",
        ] {
            assert!(page.contains(field), "{field} is missing from\n{page}");
        }
        assert!(!page.contains("|  |\n"), "a field has no comment:\n{page}");
    }

    #[test]
    fn the_fields_of_agents_are_those_that_may_differ() {
        let fields = super::fields_of_agents();
        let of = |path: &str| fields.iter().find(|field| field.path == path);
        let hint = of("score.hint");
        assert!(hint.is_some_and(|field| field.default == "5.0" && field.range == "1 to 1000"), "{hint:?}");
        assert!(of("mode").is_some_and(|field| field.shape == Shape::Choice(&["enforce", "observe"])));
        assert!(of("kill.expires").is_some_and(|field| field.shape == Shape::Time));
        assert!(of("models").is_some_and(|field| field.shape == Shape::List));
        for other in ["timeout", "agents", "budgets", "steps.tools[].kind", "state.ttl"] {
            assert!(of(other).is_none(), "{other}");
        }
        for field in &fields {
            let is_json = serde_json::from_str::<serde_json::Value>(&field.default).is_ok();
            assert!(field.default.is_empty() || is_json, "{field:?}");
            assert!(field.shape != Shape::Group || field.default.is_empty(), "{field:?}");
        }
    }

    #[test]
    fn a_group_without_an_example_is_told_by_name() {
        let error = super::example("kill", &[" The kill response."]).map_err(|error| error.to_string());
        assert!(error.is_err_and(|said| said.contains("`kill`")));
    }
}
