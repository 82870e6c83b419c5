//! The table of all configuration fields for the README, made from the types in `raw`: their comments, types and
//! defaults. Never part of the filter.

use serde_json::Value;

use super::RawConfig;

/// A Markdown table: field, default, meaning.
pub fn reference_table() -> String {
    let schema = schemars::schema_for!(RawConfig).to_value();
    let defaults = serde_json::to_value(RawConfig::default()).unwrap_or_default();
    let mut rows = vec!["| field | default | meaning |".to_owned(), "|---|---|---|".to_owned()];
    add_rows(&schema, &schema, &defaults, "", &mut rows);
    rows.push(String::new());
    rows.join("\n")
}

fn add_rows(root: &Value, object: &Value, defaults: &Value, prefix: &str, rows: &mut Vec<String>) {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        let path = format!("{prefix}{name}");
        let default = defaults.get(name);
        let target = resolve(root, property);
        let text = property.get("description").or_else(|| target.get("description"));
        let text = text.and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
        let shown = default.filter(|default| !default.is_object()).map(ToString::to_string);
        let shown = shown.map_or_else(String::new, |shown| format!("`{shown}`"));
        rows.push(format!("| `{path}` | {shown} | {} |", text.replace('|', "\\|")));
        if target.get("properties").is_some() {
            add_rows(root, target, default.unwrap_or(&Value::Null), &format!("{path}."), rows);
        } else if let Some(items) = property.get("items") {
            add_rows(root, resolve(root, items), &Value::Null, &format!("{path}[]."), rows);
        }
    }
}

fn resolve<'a>(root: &'a Value, property: &'a Value) -> &'a Value {
    let reference = property.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    reference.and_then(|pointer| root.pointer(pointer)).unwrap_or(property)
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
