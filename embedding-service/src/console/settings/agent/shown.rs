//! The settings of an agent as fields: what they are comes from the configuration's own reference, and who has changed them from the
//! versions of the live settings.

use std::collections::BTreeMap;

use sentinel_config::{FieldInfo, Shape, fields_of_agents};
use sentinel_console::settings::{Field, Group, Input, Version};
use serde_json::Value;

/// What the versions of the settings have said for an agent, the newest first.
pub struct SettingHistory {
    pub said: Vec<(Version, BTreeMap<String, Value>)>,
    /// What the configuration says.
    pub configured: BTreeMap<String, Value>,
}

impl SettingHistory {
    /// The version since which a field has its present value. Returns `None` when the value is that of the configuration.
    fn changed(&self, path: &str) -> Option<Version> {
        let (_, now) = self.said.first()?;
        let value = now.get(path);
        if value == self.configured.get(path) {
            return None;
        }
        self.said
            .iter()
            .take_while(|(_, said)| said.get(path) == value)
            .last()
            .map(|(version, _)| version.clone())
    }
}

/// All fields, by their groups. `shown`: what is said for the agent; `common`: what the configuration says of all agents.
pub fn groups(
    shown: &BTreeMap<String, Value>,
    common: &BTreeMap<String, Value>,
    said: &SettingHistory,
) -> Vec<Group> {
    let mut groups = vec![Group::default()];
    // A group within a group has no frame of its own: what it means is said with its fields.
    let mut inner: Option<(String, String)> = None;
    for mut field in fields_of_agents() {
        if field.shape == Shape::Group {
            if field.path.contains('.') {
                inner = Some((format!("{}.", field.path), field.meaning));
                continue;
            }
            groups.push(Group { name: field.path, meaning: field.meaning, fields: Vec::new() });
            continue;
        }
        if let Some((_, meaning)) = inner.as_ref().filter(|(path, _)| field.path.starts_with(path.as_str())) {
            field.meaning = format!("{meaning} {}", field.meaning);
        }
        let outermost = field.path.split_once('.').map_or("", |(group, _)| group).to_owned();
        if let Some(group) = groups.iter_mut().find(|group| group.name == outermost) {
            group.fields.push(shown_field(field, shown, common, said));
        }
    }
    groups
}

fn shown_field(
    field: FieldInfo,
    shown: &BTreeMap<String, Value>,
    common: &BTreeMap<String, Value>,
    said: &SettingHistory,
) -> Field {
    let FieldInfo { path, default, meaning, range, shape } = field;
    let default = serde_json::from_str::<Value>(&default).ok();
    let otherwise = common.get(&path).or(default.as_ref()).map_or_else(String::new, text);
    let changed = said.changed(&path);
    let configured = || said.configured.get(&path).map_or_else(String::new, text);
    Field {
        own: shown.get(&path).map(text),
        configured: changed.is_some().then(configured),
        changed,
        otherwise,
        input: match shape {
            Shape::Flag => Input::Choice(&["true", "false"]),
            Shape::Choice(names) => Input::Choice(names),
            Shape::Whole => Input::Whole,
            Shape::Number => Input::Number,
            Shape::Time => Input::Line,
            Shape::Text => Input::Text,
            Shape::List | Shape::Object | Shape::Group => Input::Json,
        },
        path,
        meaning,
        range,
    }
}

/// As it stands in a field. A text where none belongs is what somebody typed in.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::super::changes::{leaves, tests::map},
        *,
    };

    #[test]
    fn each_field_stands_in_its_group_with_what_is_counted() {
        let said = SettingHistory { said: Vec::new(), configured: BTreeMap::new() };
        let common = leaves(&map(json!({"score": {"hint": 6.5}})));
        let groups = groups(&BTreeMap::new(), &common, &said);
        let field = |path: &str| {
            groups.iter().flat_map(|group| &group.fields).find(|field| field.path == path).unwrap()
        };
        let cycle = &field("steps.cycle.kill").meaning;
        assert!(
            cycle.starts_with("How many rounds") && cycle.ends_with("kills from this count on."),
            "{cycle}"
        );
        assert_eq!(field("steps.window").meaning, "How many of the last steps are searched for repetitions.");
        assert_eq!(
            field("score.hint").otherwise,
            "6.5",
            "what the worker's configuration says of all agents"
        );
        let named: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        assert!(named.starts_with(&["", "semantic", "steps"]), "{named:?}");
        assert!(groups.iter().all(|group| !group.fields.is_empty()), "{groups:?}");
    }

    #[test]
    fn the_version_that_changed_a_field_is_found() {
        let said =
            |number: u64, settings: Value| (Version { number, ..Version::default() }, leaves(&map(settings)));
        let said = SettingHistory {
            said: vec![
                said(4, json!({"run_limit": 9, "score": {"hint": 3.0}})),
                said(3, json!({"run_limit": 9, "mode": "observe", "score": {"hint": 3.0}})),
                said(2, json!({"run_limit": 9})),
                said(1, json!({"run_limit": 5})),
            ],
            configured: leaves(&map(json!({"run_limit": 5, "score": {"hint": 3.0}}))),
        };
        let changed = |path: &str| said.changed(path).map(|version| version.number);
        assert_eq!([changed("run_limit"), changed("score.hint"), changed("mode")], [Some(2), None, None]);
    }
}
