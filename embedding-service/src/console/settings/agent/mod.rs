//! The page with the settings of one agent, and what is said for it among all settings.

mod shown;
mod typed;

use axum::{
    Extension,
    extract::{Query, State},
    http::StatusCode,
};
use sentinel_console::{
    page::Tab,
    settings::{AgentSettings, agent_path},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use self::shown::{SettingHistory, groups};
pub use self::typed::typed;
use super::{
    super::{
        Console,
        guard::{Asking, Visitor},
        pages::{Failure, PageResult, Shared, Shows, problem},
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

pub async fn settings(
    State(console): Shared,
    Extension(visitor): Asking,
    Query(Whose { agent }): Query<Whose>,
) -> PageResult {
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
) -> PageResult {
    let content = content(console, agent, draft, problem).await?;
    let (address, viewer) = (agent_path(agent), &visitor.viewer);
    let title = format!("Settings of {agent}");
    let shows = Shows { title: &title, tab: Tab::Settings, address: &address, viewer };
    let mut response = shows.still(&content.content(viewer));
    *response.status_mut() = status;
    Ok(response)
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
    let said = SettingHistory {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_said_for_an_agent_is_found_and_changes_nothing_by_itself() {
        let base = json!({"agents": [{"name": "a", "settings": {"run_limit": 5, "score": {"hint": 3.0}}}]});
        assert_eq!(own(&base, &Map::new(), "b"), Map::new());
        let same = with(&base, &Map::new(), "a", own(&base, &Map::new(), "a"));
        assert_eq!(same, Map::new(), "what does not change needs no settings");
    }
}
