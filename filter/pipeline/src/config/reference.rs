//! The table of all configuration fields for the README, made from their declarations in `raw`. Never part of the
//! filter.

use super::{RawConfig, field::Field};

/// A Markdown table: field, default, meaning.
pub fn reference_table() -> String {
    let mut rows = Vec::new();
    RawConfig::default().rows("", "", &mut rows);
    let mut table = "| field | default | meaning |\n|---|---|---|\n".to_owned();
    for [path, default, meaning] in rows {
        let default = if default.is_empty() { default } else { format!("`` {default} ``") };
        table.push_str(&format!("| `{path}` | {default} | {} |\n", meaning.replace('|', "\\|")));
    }
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_field_says_what_it_means() {
        let table = super::reference_table();
        for field in [
            "`enabled`",
            "`semantic.repeats`",
            "`kill.status`",
            "`identity.agent.headers`",
            "`agents[].settings`",
        ] {
            assert!(table.contains(field), "{field} is missing from\n{table}");
        }
        assert!(!table.contains("|  |\n"), "a field has no comment:\n{table}");
    }
}
