//! The page Budgets, and changes of limits: they are live settings.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect},
};
use sentinel_console::{
    budgets::{Ask, Limit, Unit},
    page::{Tab, Viewer},
};
use serde_json::Value;

use super::{
    super::{
        Console,
        guard::Asking,
        order::Order,
        pages::{Failure, PageResult, Shared, Shows, problem},
        view,
    },
    refused,
    week::{LimitChange, week},
};
use crate::control::{clock, live::LiveSettings};

/// Accounts of budgets that are shown.
const ACCOUNTS: usize = 200;
/// Accounts that are looked at before a limit is changed.
const LOOKED_AT: usize = 10_000;

/// The entries of `budgets` that act.
fn defined(current: &LiveSettings, base: &Value) -> Vec<Value> {
    let entries = current.settings.get("budgets").or_else(|| base.get("budgets"));
    entries.and_then(Value::as_array).cloned().unwrap_or_default()
}

pub async fn budgets(State(console): Shared, Extension(visitor): Asking) -> PageResult {
    let current = console.control.live.get().await?;
    let defined = defined(&current, &console.control.live.newest_configuration().await?);
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
    warn_at: f64,
}

async fn new_limits(console: &Arc<Console>, order: &Order) -> Result<Option<NewLimits>, Failure> {
    let current = console.control.live.get().await?;
    let mut defined = defined(&current, &console.control.live.newest_configuration().await?);
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
    let warn_at = entry["warn_at"].as_f64().unwrap_or(sentinel_config::WARN_AT);
    Ok(Some(NewLimits { current, defined, before, after, warn_at }))
}

fn no_budget() -> PageResult {
    Ok(problem(
        StatusCode::NOT_FOUND,
        "No such budget",
        "No worker is configured with a budget of this name.",
    ))
}

/// Says what new limits mean before they act.
pub async fn ask_limits(State(console): Shared, Extension(visitor): Asking, order: Order) -> PageResult {
    let Some(NewLimits { current, before, after, warn_at, .. }) = new_limits(&console, &order).await? else {
        return no_budget();
    };
    let (accounts, _) = console.control.budgets.list(Some(order.get("budget")), LOOKED_AT).await?;
    let spent = |limits: &[Limit]| {
        let has_spent = |limit: &Limit, account| view::budgets::spent(account, limit.unit) >= limit.most;
        let all = accounts.iter().filter(|account| limits.iter().any(|limit| has_spent(limit, account)));
        view::now::count(all.count())
    };
    let (spent_before, spent_after) = (spent(&before), spent(&after));
    let change = LimitChange { before: &before, after: &after, warn_at };
    let ask = Ask {
        week: week(&accounts, change, clock::now_ms()),
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

pub async fn set_limits(State(console): Shared, order: Order) -> PageResult {
    let Some(NewLimits { current, defined, .. }) = new_limits(&console, &order).await? else {
        return no_budget();
    };
    let mut settings = current.settings;
    settings.insert("budgets".to_owned(), Value::Array(defined));
    match console.control.live.set(settings, order.change()).await {
        Ok(_) => Ok(Redirect::to("/console/budgets").into_response()),
        Err(error) => refused(error),
    }
}
