//! The page Settings: live settings are shown and changed, by versions, so that of two editors the second is told. A change is first tried on
//! the last runs.
//!
//! | module | what is in it |
//! |---|---|
//! | [`agent`] | the settings of one agent as fields |
//! | [`changes`] | which settings differ between two versions |
//! | [`try_out`], [`again`] | what new settings would have meant for the last runs |
//! | [`budgets`] | the page Budgets |

mod again;
pub mod agent;
pub mod budgets;
mod changes;
mod try_out;
mod week;

use axum::{
    Extension,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};
use sentinel_config::{Config, Mode as PolicyMode, Policy, Sender};
use sentinel_console::{
    page::Tab,
    settings::{AskSettings, Mode, Settings, Version, agent_path},
};
use serde_json::{Map, Value};

use super::{
    Console,
    guard::{Asking, Visitor},
    order::Order,
    pages::{Failure, PageResult, Shared, Shows, problem},
};
use crate::{
    control::{
        clock,
        live::{ChangeError, LiveSettings},
        names::Names,
    },
    store::StoreError,
};

/// Agents whose mode is shown.
const AGENTS: usize = 200;

pub async fn settings(State(console): Shared, Extension(visitor): Asking) -> PageResult {
    let current = console.control.live.get().await?;
    let draft = pretty(&Value::Object(current.settings.clone()));
    let content = content(&console, current, draft, None).await?;
    Ok(shown(&visitor, &content, StatusCode::OK))
}

async fn content(
    console: &Console,
    current: LiveSettings,
    draft: String,
    problem: Option<String>,
) -> Result<Settings, Failure> {
    let base = console.control.live.newest_configuration().await?;
    let history = console.control.live.history(None).await?;
    let earlier =
        history.into_iter().map(|(_, version)| version).filter(|version| version.version != current.version);
    let history = earlier.map(|earlier| version(&earlier)).collect();
    let agents = modes(console, &base, &current).await?;
    let sections = if base.is_null() { String::new() } else { pretty(&sections(&base)) };
    let current = version(&current);
    Ok(Settings { now_ms: clock::now_ms(), current, base: sections, draft, problem, agents, history })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The sections of a configuration that live settings can stand in the place of.
fn sections(base: &Value) -> Value {
    let mut sections = Map::new();
    for name in ["agents", "budgets"] {
        if let Some(section) = base.get(name) {
            sections.insert(name.to_owned(), section.clone());
        }
    }
    if let Some(tools) = base.pointer("/steps/tools") {
        sections.insert("steps".to_owned(), serde_json::json!({"tools": tools}));
    }
    Value::Object(sections)
}

fn version(settings: &LiveSettings) -> Version {
    Version {
        number: settings.version,
        json: pretty(&Value::Object(settings.settings.clone())),
        author: settings.author.clone(),
        reason: settings.reason.clone(),
        at_ms: settings.at_ms,
        rolled_back_to: settings.rolled_back_to,
    }
}

/// What acts with these live settings above a configuration.
fn config(base: &Value, live: &Map<String, Value>) -> Option<Config> {
    let base = if base.is_null() { "{}".to_owned() } else { base.to_string() };
    let live = Value::Object(live.clone()).to_string();
    let config = Config::with_live_settings(base.as_bytes(), live.as_bytes());
    config.or_else(|_| Config::from_json(base.as_bytes())).ok()
}

/// What acts, as far as workers have said.
pub struct Acting {
    config: Option<Config>,
    /// Of the live settings.
    pub version: u64,
}

pub async fn acting(console: &Console) -> Result<Acting, StoreError> {
    let base = console.control.live.newest_configuration().await?;
    let current = console.control.live.get().await?;
    Ok(Acting { config: config(&base, &current.settings), version: current.version })
}

impl Acting {
    /// What acts for who has these names.
    pub fn policy(&self, names: &Names) -> Option<&Policy> {
        self.config.as_ref().map(|config| &**config.policy(sender(names)))
    }

    /// Whether an agent is only observed. Returns `None` when it has no name.
    pub fn observed(&self, names: &Names) -> Option<bool> {
        let policy = self.policy(names).filter(|_| !names.agent.is_empty());
        policy.map(|policy| policy.mode == PolicyMode::Observe)
    }
}

/// Who has these names.
fn sender(names: &Names) -> Sender<'_> {
    let said = |name: &'_ str| -> bool { !name.is_empty() };
    Sender {
        client: Some(names.client.as_bytes()).filter(|_| said(&names.client)),
        agent: Some(names.agent.as_bytes()).filter(|_| said(&names.agent)),
    }
}

/// Which agents are only observed, by the code that decides it in Envoy.
async fn modes(console: &Console, base: &Value, current: &LiveSettings) -> Result<Vec<Mode>, StoreError> {
    let Some(config) = config(base, &current.settings) else { return Ok(Vec::new()) };
    let (agents, _) = console.control.runs.agents(None, AGENTS).await?;
    let mut names: Vec<String> =
        agents.into_iter().map(|agent| agent.agent).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let mode = |agent: String| {
        let policy = config.policy(Sender { agent: Some(agent.as_bytes()), ..Sender::default() });
        Mode { observed: policy.mode == PolicyMode::Observe, agent }
    };
    Ok(names.into_iter().map(mode).collect())
}

/// Why a change was not made, where that is not shown beside the change.
fn refused(error: ChangeError) -> PageResult {
    match error {
        ChangeError::Store(error) => Err(Failure(error)),
        ChangeError::Invalid(what) => Ok(problem(StatusCode::BAD_REQUEST, "Not changed", &what)),
        ChangeError::Conflict(_) => {
            Ok(problem(StatusCode::CONFLICT, "Somebody was faster", &error.to_string()))
        }
        ChangeError::NoVersion(_) => {
            Ok(problem(StatusCode::NOT_FOUND, "No such version", &error.to_string()))
        }
    }
}

/// What is to be asked: settings that were typed in, of one agent or all of them.
enum Draft {
    Agent(Map<String, Value>),
    All(String),
}

/// Says what new settings mean before they act.
pub async fn ask(State(console): Shared, Extension(visitor): Asking, order: Order) -> PageResult {
    let current = console.control.live.get().await?;
    let base = console.control.live.newest_configuration().await?;
    let agent = order.said("agent");
    let (draft, new) = match &agent {
        Some(agent) => {
            let own = agent::typed(&order, &agent::own(&base, &current.settings, agent));
            let new = agent::with(&base, &current.settings, agent, own.clone());
            (Draft::Agent(own), Ok(new))
        }
        None => {
            let draft = order.get("settings").to_owned();
            let new = serde_json::from_str::<Map<String, Value>>(&draft);
            (Draft::All(draft), new.map_err(|error| format!("this is no JSON object: {error}")))
        }
    };
    let change = order.change();
    let checked = match new {
        Ok(_) if change.version != current.version => Err(ChangeError::Conflict(current.version)),
        Ok(new) => console.control.live.check(&Value::Object(new.clone()).to_string()).await.map(|()| new),
        Err(problem) => Err(ChangeError::Invalid(problem)),
    };
    let (status, what) = match checked {
        Ok(new) => {
            let back = agent.map_or_else(|| "/console/settings".to_owned(), |agent| agent_path(&agent));
            return asked(&console, &visitor, &base, &current, new, back).await;
        }
        Err(ChangeError::Invalid(what)) => (StatusCode::BAD_REQUEST, what),
        Err(error @ ChangeError::Conflict(_)) => (StatusCode::CONFLICT, error.to_string()),
        Err(error) => return refused(error),
    };
    match (agent, draft) {
        (Some(agent), Draft::Agent(own)) => {
            agent::page(&console, &visitor, &agent, Some(own), Some(what), status).await
        }
        (_, Draft::All(draft)) => {
            Ok(shown(&visitor, &content(&console, current, draft, Some(what)).await?, status))
        }
        (None, Draft::Agent(_)) => refused(ChangeError::Invalid(what)),
    }
}

async fn asked(
    console: &Console,
    visitor: &Visitor,
    base: &Value,
    current: &LiveSettings,
    new: Map<String, Value>,
    back: String,
) -> PageResult {
    let changes = changes::changes(base, &current.settings, &new);
    let tried = try_out::try_out(console, base, current, &new).await?;
    let json = Value::Object(new).to_string();
    let ask = AskSettings { version: current.version, json, changes, tried, back };
    let viewer = &visitor.viewer;
    let shows =
        Shows { title: "Change the settings", tab: Tab::Settings, address: "/console/settings", viewer };
    Ok(shows.still(&ask.content(viewer)))
}

pub async fn save(State(console): Shared, order: Order) -> PageResult {
    let saved = match serde_json::from_str::<Map<String, Value>>(order.get("settings")) {
        Ok(settings) => console.control.live.set(settings, order.change()).await,
        Err(error) => Err(ChangeError::Invalid(format!("this is no JSON object: {error}"))),
    };
    match saved {
        Ok(_) => Ok(Redirect::to("/console/settings").into_response()),
        Err(error) => refused(error),
    }
}

fn shown(visitor: &Visitor, content: &Settings, status: StatusCode) -> Response {
    let viewer = &visitor.viewer;
    let shows = Shows { title: "Settings", tab: Tab::Settings, address: "/console/settings", viewer };
    let mut response = shows.still(&content.content(viewer));
    *response.status_mut() = status;
    response
}

pub async fn observe(State(console): Shared, order: Order) -> PageResult {
    let agent = order.get("agent");
    if agent.is_empty() {
        return Ok(problem(StatusCode::BAD_REQUEST, "No agent", "The form names no agent."));
    }
    match console.control.live.observe(agent, order.get("observe") == "true", order.change()).await {
        Ok(_) => Ok(order.back()),
        Err(error) => refused(error),
    }
}

pub async fn roll_back(State(console): Shared, order: Order) -> PageResult {
    let to = order.get("to").parse().unwrap_or_default();
    match console.control.live.roll_back(to, order.change()).await {
        Ok(_) => Ok(Redirect::to("/console/settings").into_response()),
        Err(error) => refused(error),
    }
}
