//! Which settings differ between two versions, field by field.

use std::collections::{BTreeMap, BTreeSet};

use sentinel_console::settings::ChangedSetting;
use serde_json::{Map, Value};

/// Values by their path: `score.hint`. A list is one value.
pub fn leaves(settings: &Map<String, Value>) -> BTreeMap<String, Value> {
    let mut leaves = BTreeMap::new();
    collect("", settings, &mut leaves);
    leaves
}

fn collect(path: &str, members: &Map<String, Value>, leaves: &mut BTreeMap<String, Value>) {
    for (name, value) in members {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Object(members) => collect(&path, members, leaves),
            value => {
                leaves.insert(path, value.clone());
            }
        }
    }
}

/// The name of an entry of a list: whom it is for.
fn whom(entry: &Value) -> String {
    let part = |name: &str, after: &str| entry[name].as_str().map(|value| format!("{value}{after}"));
    let parts = [part("client", ""), part("name", ""), part("prefix", "*")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" / ")
}

/// What each entry says, by whom it is for.
type Entries = BTreeMap<String, BTreeMap<String, Value>>;

/// What acts of a section: the live one, or that of the configuration.
fn acts<'a>(base: &'a Value, live: &'a Map<String, Value>, section: &str) -> &'a Value {
    live.get(section).or_else(|| base.get(section)).unwrap_or(&Value::Null)
}

fn entries(base: &Value, live: &Map<String, Value>, section: &str) -> Entries {
    let all = acts(base, live, section).as_array();
    let entry = |entry: &Value| {
        let settings = if section == "agents" { &entry["settings"] } else { entry };
        (whom(entry), settings.as_object().map(leaves).unwrap_or_default())
    };
    all.into_iter().flatten().map(entry).collect()
}

/// The settings that differ, entry by entry.
pub fn changes(base: &Value, before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<ChangedSetting> {
    let mut changes = Vec::new();
    for section in ["agents", "budgets"] {
        let (old, new) = (entries(base, before, section), entries(base, after, section));
        let whoms: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for whom in whoms {
            let (old, new) = (old.get(whom), new.get(whom));
            let paths: BTreeSet<&String> = old.into_iter().chain(new).flat_map(BTreeMap::keys).collect();
            let value =
                |of: Option<&BTreeMap<String, Value>>, path: &String| of.and_then(|of| of.get(path)).cloned();
            for path in paths {
                changes.extend(changed(whom, path, value(old, path), value(new, path)));
            }
            if old.is_some() != new.is_some() {
                let is = |there: bool| Some(Value::Bool(there));
                changes.extend(changed(whom, "an entry of its own", is(old.is_some()), is(new.is_some())));
            }
        }
    }
    let tools = |live: &Map<String, Value>| {
        let live = live.get("steps").and_then(|steps| steps.get("tools"));
        live.or_else(|| base.pointer("/steps/tools")).cloned()
    };
    changes.extend(changed("", "steps.tools", tools(before), tools(after)));
    changes
}

fn changed(whom: &str, path: &str, before: Option<Value>, after: Option<Value>) -> Option<ChangedSetting> {
    let json = |value: Option<Value>| value.map_or_else(String::new, |value| value.to_string());
    (before != after).then(|| ChangedSetting {
        whom: whom.to_owned(),
        path: path.to_owned(),
        before: json(before),
        after: json(after),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// For the tests of live settings.
    pub fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!("{value}") };
        map
    }

    #[test]
    fn what_changes_is_told_by_field() {
        let base = json!({"agents": [{"prefix": "support-", "settings": {"score": {"hint": 6.0}, "models": ["a"]}}]});
        let after = map(json!({
            "agents": [{"prefix": "support-", "settings": {"score": {"hint": 7.0}, "models": ["a"]}}, {"name": "b", "settings": {}}],
            "budgets": [{"name": "each", "limits": {"usd": 1}}],
            "steps": {"tools": [{"name": "t", "ignore": true}]},
        }));
        let told: Vec<String> = changes(&base, &Map::new(), &after)
            .into_iter()
            .map(|change| format!("{}|{}|{}|{}", change.whom, change.path, change.before, change.after))
            .collect();
        let wanted = [
            "b|an entry of its own|false|true",
            "support-*|score.hint|6.0|7.0",
            "each|limits.usd||1",
            "each|name||\"each\"",
            "each|an entry of its own|false|true",
            "|steps.tools||[{\"ignore\":true,\"name\":\"t\"}]",
        ];
        assert_eq!(told, wanted);
        assert!(changes(&base, &after, &after).is_empty());
    }
}
