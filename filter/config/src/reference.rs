//! The reference of all configuration fields for `docs/configuration.md`, made from their declarations in `raw`: one section
//! for each group, with its fields and an example. Never part of the filter.

use crate::{
    RawConfig,
    field::{Field, Section},
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
    let rows: Vec<_> = plain.into_iter().flat_map(|section| section.rows).collect();
    let mut page = "## Common fields\n\n".to_owned();
    page.push_str(&table(&rows));
    page.push_str(&example("the outermost", RawConfig::about())?);
    for section in groups {
        let Some(([name, default, meaning], rows)) = section.rows.split_first() else { continue };
        page.push_str(&format!("\n## `{name}`\n\n{meaning}\n\n"));
        if !default.is_empty() {
            page.push_str(&format!("Default: `{default}`.\n\n"));
        }
        page.push_str(&table(rows));
        page.push_str(&example(name, section.about)?);
    }
    Ok(page)
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
    fn a_group_without_an_example_is_told_by_name() {
        let error = super::example("kill", &[" The kill response."]).map_err(|error| error.to_string());
        assert!(error.is_err_and(|said| said.contains("`kill`")));
    }
}
