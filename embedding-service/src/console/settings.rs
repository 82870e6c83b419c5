//! The pages Settings and Budgets: live settings are shown and changed, by versions, so that of two editors the second is told.

use std::sync::Arc;

use axum::{
    Extension, Form,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};
use sentinel_config::{Config, Mode as PolicyMode, Sender};
use sentinel_console::{
    budgets::{Ask, Limit, Unit},
    page::{Tab, Viewer},
    settings::{Mode, Settings, Version},
};
use serde_json::{Map, Value};

use super::{
    Console,
    actions::{Fields, Order},
    guard::{Asking, Visitor},
    pages::{Answer, Failure, Shared, Shows, problem},
    view,
};
use crate::{
    control::{
        clock,
        live::{Change, ChangeError, LiveSettings},
    },
    store::StoreError,
};

/// Agents whose mode is shown.
const AGENTS: usize = 200;
/// Accounts of budgets that are shown.
const ACCOUNTS: usize = 200;
/// Accounts that are looked at before a limit is changed.
const LOOKED_AT: usize = 10_000;

/// The newest configuration of a worker; `None` where no worker has said.
async fn base(console: &Console) -> Result<Option<Value>, StoreError> {
    let all = console.control.configurations.all().await?;
    let newest = all.into_iter().max_by_key(|(_, configuration)| configuration.at_ms);
    Ok(newest.and_then(|(_, newest)| serde_json::from_str(&newest.json).ok()))
}

pub async fn settings(State(console): Shared, Extension(visitor): Asking) -> Answer {
    let current = console.control.live.get().await?;
    let draft = pretty(&Value::Object(current.settings.clone()));
    let content = content(&console, current, draft, None).await?;
    let viewer = &visitor.viewer;
    let shows = Shows { title: "Settings", tab: Tab::Settings, address: "/console/settings", viewer };
    Ok(shows.still(&content.content(viewer)))
}

async fn content(
    console: &Console,
    current: LiveSettings,
    draft: String,
    problem: Option<String>,
) -> Result<Settings, Failure> {
    let base = base(console).await?;
    let history = console.control.live.history(None).await?;
    let earlier =
        history.into_iter().map(|(_, version)| version).filter(|version| version.version != current.version);
    let history = earlier.map(|earlier| version(&earlier)).collect();
    let agents = modes(console, base.as_ref(), &current).await?;
    let sections = base.map_or_else(String::new, |base| pretty(&sections(&base)));
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

/// Which agents are only observed, by the code that decides it in Envoy.
async fn modes(
    console: &Console,
    base: Option<&Value>,
    current: &LiveSettings,
) -> Result<Vec<Mode>, StoreError> {
    let base = base.map_or_else(|| "{}".to_owned(), Value::to_string);
    let live = Value::Object(current.settings.clone()).to_string();
    let config = Config::with_live_settings(base.as_bytes(), live.as_bytes())
        .or_else(|_| Config::from_json(base.as_bytes()));
    let Ok(config) = config else { return Ok(Vec::new()) };
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

fn change(order: &Order) -> Change {
    let version = order.get("version").parse().unwrap_or_default();
    Change { author: order.get("author").to_owned(), reason: order.get("reason").to_owned(), version }
}

/// Why a change was not made, where that is not shown beside the change.
fn refused(error: ChangeError) -> Answer {
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

pub async fn save(State(console): Shared, Extension(visitor): Asking, Form(fields): Fields) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
    let draft = order.get("settings").to_owned();
    let saved = match serde_json::from_str::<Map<String, Value>>(&draft) {
        Ok(settings) => console.control.live.set(settings, change(&order)).await,
        Err(error) => Err(ChangeError::Invalid(format!("this is no JSON object: {error}"))),
    };
    let (status, what) = match saved {
        Ok(_) => return Ok(Redirect::to("/console/settings").into_response()),
        Err(ChangeError::Invalid(what)) => (StatusCode::BAD_REQUEST, what),
        Err(error @ ChangeError::Conflict(_)) => (StatusCode::CONFLICT, error.to_string()),
        Err(error) => return refused(error),
    };
    let current = console.control.live.get().await?;
    let content = content(&console, current, draft, Some(what)).await?;
    Ok(shown(&visitor, &content, status))
}

fn shown(visitor: &Visitor, content: &Settings, status: StatusCode) -> Response {
    let viewer = &visitor.viewer;
    let shows = Shows { title: "Settings", tab: Tab::Settings, address: "/console/settings", viewer };
    let mut response = shows.still(&content.content(viewer));
    *response.status_mut() = status;
    response
}

pub async fn observe(State(console): Shared, Extension(visitor): Asking, Form(fields): Fields) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
    let agent = order.get("agent");
    if agent.is_empty() {
        return Ok(problem(StatusCode::BAD_REQUEST, "No agent", "The form names no agent."));
    }
    match console.control.live.observe(agent, order.get("observe") == "true", change(&order)).await {
        Ok(_) => Ok(order.back()),
        Err(error) => refused(error),
    }
}

pub async fn roll_back(State(console): Shared, Extension(visitor): Asking, Form(fields): Fields) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
    let to = order.get("to").parse().unwrap_or_default();
    match console.control.live.roll_back(to, change(&order)).await {
        Ok(_) => Ok(Redirect::to("/console/settings").into_response()),
        Err(error) => refused(error),
    }
}

/// The entries of `budgets` that act.
fn defined(current: &LiveSettings, base: Option<&Value>) -> Vec<Value> {
    let entries = current.settings.get("budgets").or_else(|| base?.get("budgets"));
    entries.and_then(Value::as_array).cloned().unwrap_or_default()
}

pub async fn budgets(State(console): Shared, Extension(visitor): Asking) -> Answer {
    let current = console.control.live.get().await?;
    let defined = defined(&current, base(&console).await?.as_ref());
    let accounts = console.control.budgets.list(None, ACCOUNTS).await?;
    let content = view::budgets::budgets(&defined, &accounts);
    let viewer = &visitor.viewer;
    let shows = Shows { title: "Budgets", tab: Tab::Budgets, address: "/console/budgets", viewer };
    Ok(shows.live(&content.content(viewer)))
}

/// A budget, and the limits that a form gives it.
struct NewLimits {
    current: LiveSettings,
    defined: Vec<Value>,
    before: Vec<Limit>,
    after: Vec<Limit>,
}

async fn new_limits(console: &Arc<Console>, order: &Order) -> Result<Option<NewLimits>, Failure> {
    let current = console.control.live.get().await?;
    let mut defined = defined(&current, base(console).await?.as_ref());
    let is_it = |entry: &&mut Value| entry["name"] == order.get("budget");
    let Some(entry) = defined.iter_mut().find(is_it) else { return Ok(None) };
    let before = view::budgets::limits(entry);
    for limit in &before {
        let said = order.get(limit.unit.id());
        let number = match limit.unit {
            Unit::NanoUsd => said.parse::<f64>().ok().map(Value::from),
            _ => said.parse::<u64>().ok().map(Value::from),
        };
        let field = entry.get_mut("limits").and_then(|limits| limits.get_mut(limit.unit.id()));
        if let (Some(field), Some(number)) = (field, number) {
            *field = number;
        }
    }
    let after = view::budgets::limits(entry);
    Ok(Some(NewLimits { current, defined, before, after }))
}

fn no_budget() -> Answer {
    Ok(problem(
        StatusCode::NOT_FOUND,
        "No such budget",
        "No worker is configured with a budget of this name.",
    ))
}

/// Says what new limits mean before they act.
pub async fn ask_limits(State(console): Shared, Extension(visitor): Asking, Form(fields): Fields) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
    let Some(NewLimits { current, before, after, .. }) = new_limits(&console, &order).await? else {
        return no_budget();
    };
    let (accounts, _) = console.control.budgets.list(Some(order.get("budget")), LOOKED_AT).await?;
    let spent = |limits: &[Limit]| {
        let has_spent = |limit: &Limit, account| view::budgets::spent(account, limit.unit) >= limit.most;
        let all = accounts.iter().filter(|account| limits.iter().any(|limit| has_spent(limit, account)));
        view::now::count(all.count())
    };
    let (spent_before, spent_after) = (spent(&before), spent(&after));
    let ask = Ask {
        budget: order.get("budget").to_owned(),
        version: current.version,
        accounts: view::now::count(accounts.len()),
        spent_before,
        spent_after,
        before,
        after,
    };
    let viewer: &Viewer = &visitor.viewer;
    let shows = Shows { title: "Change a budget", tab: Tab::Budgets, address: "/console/budgets", viewer };
    Ok(shows.still(&ask.content(viewer)))
}

pub async fn set_limits(State(console): Shared, Extension(visitor): Asking, Form(fields): Fields) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
    let Some(NewLimits { current, defined, .. }) = new_limits(&console, &order).await? else {
        return no_budget();
    };
    let mut settings = current.settings;
    settings.insert("budgets".to_owned(), Value::Array(defined));
    match console.control.live.set(settings, change(&order)).await {
        Ok(_) => Ok(Redirect::to("/console/budgets").into_response()),
        Err(error) => refused(error),
    }
}
