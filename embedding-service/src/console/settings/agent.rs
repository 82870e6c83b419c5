//! The settings of one agent as fields: what they are comes from the configuration's own reference.

use std::collections::BTreeMap;

use axum::{
    Extension,
    extract::{Query, State},
    http::StatusCode,
};
use sentinel_config::{FieldInfo, Shape, fields_of_agents};
use sentinel_console::{
    page::Tab,
    settings::{AgentSettings, Field, Group, Input, PREFIX, Version, agent_path},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    super::{
        Console,
        guard::{Asking, Visitor},
        order::Order,
        pages::{Answer, Failure, Shared, Shows, problem},
    },
    changes::leaves,
    version,
};
use crate::control::{
    clock,
    live::{LiveSettings, entry_of, with_entry},
};

/// Which agent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Whose {
    agent: String,
}

/// The entries of `agents` that act.
fn entries<'a>(base: &'a Value, live: &'a Map<String, Value>) -> &'a [Value] {
    let agents = live.get("agents").or_else(|| base.get("agents"));
    agents.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// What is said for an agent.
pub fn own(base: &Value, live: &Map<String, Value>, agent: &str) -> Map<String, Value> {
    entry_of(entries(base, live), agent).1
}

/// All settings, with what is said for an agent in the place of what was. The same as before: they are as they were.
pub fn with(
    base: &Value,
    live: &Map<String, Value>,
    agent: &str,
    settings: Map<String, Value>,
) -> Map<String, Value> {
    let mut new = live.clone();
    if settings != own(base, live, agent) {
        let agents = with_entry(entries(base, live).to_vec(), agent, settings);
        new.insert("agents".to_owned(), Value::Array(agents));
    }
    new
}

/// What a form says for an agent. A field that it does not have stays as it was; one that is empty says nothing.
pub fn typed(order: &Order, before: &Map<String, Value>) -> Map<String, Value> {
    let given: BTreeMap<&str, &str> =
        order.fields().filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value))).collect();
    let mut settings = before.clone();
    for FieldInfo { path, shape, .. } in fields_of_agents() {
        let Some(text) = given.get(path.as_str()) else { continue };
        // A browser ends lines in its own way.
        let text = text.replace("\r\n", "\n");
        let path: Vec<&str> = path.split('.').collect();
        match (text.is_empty(), get(&settings, &path)) {
            // An empty text that was said is no field that was left out.
            (true, Some(Value::String(said))) if said.is_empty() => {}
            (true, _) => remove(&mut settings, &path),
            (false, _) => put(&mut settings, &path, value(&text, shape)),
        }
    }
    settings
}

/// What stands in a field. What is no value of its shape stays a text: the check says what it must be.
fn value(text: &str, shape: Shape) -> Value {
    let json = || serde_json::from_str(text).unwrap_or_else(|_| text.into());
    match shape {
        Shape::Flag | Shape::Whole | Shape::Number | Shape::List | Shape::Object | Shape::Group => json(),
        Shape::Text | Shape::Time | Shape::Choice(_) => text.into(),
    }
}

fn get<'v>(settings: &'v Map<String, Value>, path: &[&str]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    let value = settings.get(*first)?;
    if rest.is_empty() { Some(value) } else { get(value.as_object()?, rest) }
}

fn put(settings: &mut Map<String, Value>, path: &[&str], new: Value) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        settings.insert((*first).to_owned(), new);
        return;
    }
    let group = settings.entry(*first).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(group) = group {
        put(group, rest, new);
    }
}

/// Groups that are empty then go too.
fn remove(settings: &mut Map<String, Value>, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else { return };
    let is_empty = match settings.get_mut(*first) {
        Some(Value::Object(group)) if !rest.is_empty() => {
            remove(group, rest);
            group.is_empty()
        }
        _ => rest.is_empty(),
    };
    if is_empty {
        settings.remove(*first);
    }
}

/// As it stands in a field. A text where none belongs is what somebody typed in.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub async fn settings(
    State(console): Shared,
    Extension(visitor): Asking,
    Query(Whose { agent }): Query<Whose>,
) -> Answer {
    if agent.is_empty() {
        return Ok(problem(StatusCode::BAD_REQUEST, "No agent", "The address names no agent."));
    }
    page(&console, &visitor, &agent, None, None, StatusCode::OK).await
}

/// `draft`: what was typed in and is not taken, and why.
pub async fn page(
    console: &Console,
    visitor: &Visitor,
    agent: &str,
    draft: Option<Map<String, Value>>,
    problem: Option<String>,
    status: StatusCode,
) -> Answer {
    let content = content(console, agent, draft, problem).await?;
    let (address, viewer) = (agent_path(agent), &visitor.viewer);
    let title = format!("Settings of {agent}");
    let shows = Shows { title: &title, tab: Tab::Settings, address: &address, viewer };
    let mut response = shows.still(&content.content(viewer));
    *response.status_mut() = status;
    Ok(response)
}

/// What the versions of the settings have said for an agent, the newest first.
struct Said {
    said: Vec<(Version, BTreeMap<String, Value>)>,
    /// What the configuration says.
    configured: BTreeMap<String, Value>,
}

impl Said {
    /// The version since which a field says what it says now; none where that is what the configuration says.
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

async fn content(
    console: &Console,
    agent: &str,
    draft: Option<Map<String, Value>>,
    problem: Option<String>,
) -> Result<AgentSettings, Failure> {
    let live = &console.control.live;
    let current = live.get().await?;
    let base = live.newest_configuration().await?;
    let said_by =
        |settings: &LiveSettings| (version(settings), leaves(&own(&base, &settings.settings, agent)));
    let history = live.history(None).await?;
    let earlier =
        history.iter().map(|(_, earlier)| earlier).filter(|earlier| earlier.version < current.version);
    let said = Said {
        said: std::iter::once(&current).chain(earlier).map(said_by).collect(),
        configured: leaves(&own(&base, &Map::new(), agent)),
    };
    let shown = draft.unwrap_or_else(|| own(&base, &current.settings, agent));
    let common = base.as_object().map(leaves).unwrap_or_default();
    let clients = entries(&base, &current.settings).iter().filter_map(|entry| entry["client"].as_str());
    Ok(AgentSettings {
        now_ms: clock::now_ms(),
        agent: agent.to_owned(),
        version: current.version,
        problem,
        groups: groups(&leaves(&shown), &common, &said),
        clients: clients.map(str::to_owned).collect(),
    })
}

fn groups(shown: &BTreeMap<String, Value>, common: &BTreeMap<String, Value>, said: &Said) -> Vec<Group> {
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
    said: &Said,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::changes::tests::map, *};

    #[test]
    fn a_form_says_what_its_fields_hold() {
        let before = map(
            json!({"score": {"hint": 6.0}, "kill": {"message": ""}, "run_limit": 9, "guard": {"user": "log"}}),
        );
        let fields = [
            ("set.score.hint", ""),
            ("set.kill.message", ""),
            ("set.mode", "observe"),
            ("set.run_limit", "60"),
            ("set.models", "[{\"name\": \"a\"}]"),
            ("set.intervention_message", "a\r\nb"),
            ("set.score.kill", "much"),
            ("set.timeout", "9ms"),
        ];
        let wanted = json!({"kill": {"message": ""}, "run_limit": 60, "mode": "observe", "models": [{"name": "a"}],
            "intervention_message": "a\nb", "score": {"kill": "much"}, "guard": {"user": "log"}});
        assert_eq!(typed(&Order::made_of(&fields), &before), map(wanted));
        assert_eq!(typed(&Order::made_of(&[]), &before), before, "what is not in the form stays");
    }

    #[test]
    fn each_field_stands_in_its_group_with_what_is_counted() {
        let said = Said { said: Vec::new(), configured: BTreeMap::new() };
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
        let base = json!({"agents": [{"name": "a", "settings": {"run_limit": 5, "score": {"hint": 3.0}}}]});
        let said =
            |number: u64, settings: Value| (Version { number, ..Version::default() }, leaves(&map(settings)));
        let said = Said {
            said: vec![
                said(4, json!({"run_limit": 9, "score": {"hint": 3.0}})),
                said(3, json!({"run_limit": 9, "mode": "observe", "score": {"hint": 3.0}})),
                said(2, json!({"run_limit": 9})),
                said(1, json!({"run_limit": 5})),
            ],
            configured: leaves(&own(&base, &Map::new(), "a")),
        };
        let changed = |path: &str| said.changed(path).map(|version| version.number);
        assert_eq!([changed("run_limit"), changed("score.hint"), changed("mode")], [Some(2), None, None]);
        assert_eq!(own(&base, &Map::new(), "b"), Map::new());
        let same = with(&base, &Map::new(), "a", own(&base, &Map::new(), "a"));
        assert_eq!(same, Map::new(), "what does not change needs no settings");
    }
}
