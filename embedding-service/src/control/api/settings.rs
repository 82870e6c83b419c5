//! Live settings: what acts, what acted, and changes.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::{
    Controlled,
    answer::{ApiError, ApiResult, Body, CheckedQuery, JsonAnswer, Problem},
};
use crate::control::live::{ChangeError, LARGEST_PAGE, LiveSettings, SettingsChange};

/// New settings, in the place of all that there are.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSettings {
    /// `agents`, `budgets` and `steps.tools`: each that is there stands in the place of the configuration's.
    settings: Map<String, Value>,
    /// The version that this change is made to.
    version: u64,
    #[serde(default)]
    author: String,
    #[serde(default)]
    reason: String,
}

/// Brings back an earlier version.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollBack {
    /// The version to bring back; 0: the configuration alone.
    to: u64,
    /// The version that acts.
    version: u64,
    #[serde(default)]
    author: String,
    #[serde(default)]
    reason: String,
}

/// Lets one agent be observed only, or no longer.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// The exact name of the agent.
    agent: String,
    /// False: what it does is enforced again.
    observe: bool,
    /// The version that acts; without it, whatever acts.
    version: Option<u64>,
    #[serde(default)]
    author: String,
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// `next` of the answer before.
    before: Option<String>,
}

/// Versions of the settings.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingsHistory {
    /// The newest first.
    pub versions: Vec<LiveSettings>,
    /// Give it as `before` for older ones; null: these were all that are stored.
    pub next: Option<String>,
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Invalid(problem) => Self::Bad(problem),
            ChangeError::Conflict(_) => Self::Conflict(error.to_string()),
            ChangeError::NoVersion(_) => Self::NotFound("this version is not kept"),
            ChangeError::Store(error) => Self::Store(error),
        }
    }
}

/// The settings that act on top of every worker's configuration.
#[utoipa::path(get, path = "/v1/settings", responses((status = 200, body = LiveSettings)))]
pub async fn get(State(control): Controlled) -> ApiResult<LiveSettings> {
    Ok(JsonAnswer(control.live.get().await?))
}

/// Changes the settings. They act on every worker within two seconds.
#[utoipa::path(put, path = "/v1/settings", request_body = NewSettings, security(("key" = [])), responses(
    (status = 200, body = LiveSettings), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub async fn set(State(control): Controlled, Body(new): Body<NewSettings>) -> ApiResult<LiveSettings> {
    let NewSettings { settings, version, author, reason } = new;
    Ok(JsonAnswer(control.live.set(settings, SettingsChange { author, reason, version }).await?))
}

/// The last versions of the settings.
#[utoipa::path(get, path = "/v1/settings/history", params(HistoryQuery), responses(
    (status = 200, body = SettingsHistory), (status = 400, body = Problem)))]
pub async fn history(
    State(control): Controlled,
    CheckedQuery(query): CheckedQuery<HistoryQuery>,
) -> ApiResult<SettingsHistory> {
    let before = query.before.as_deref().map(str::parse).transpose();
    let before = before.map_err(|()| ApiError::Bad("before: give `next` of the answer before".to_owned()))?;
    let versions = control.live.history(before).await?;
    let next =
        versions.last().filter(|_| versions.len() == LARGEST_PAGE).map(|(cursor, _)| cursor.to_string());
    Ok(JsonAnswer(SettingsHistory {
        versions: versions.into_iter().map(|(_, settings)| settings).collect(),
        next,
    }))
}

/// Brings an earlier version back, as a new one.
#[utoipa::path(post, path = "/v1/settings/rollback", request_body = RollBack, security(("key" = [])), responses(
    (status = 200, body = LiveSettings), (status = 400, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem)))]
pub async fn roll_back(State(control): Controlled, Body(back): Body<RollBack>) -> ApiResult<LiveSettings> {
    let RollBack { to, version, author, reason } = back;
    Ok(JsonAnswer(control.live.roll_back(to, SettingsChange { author, reason, version }).await?))
}

/// Lets one agent be observed only: verdicts are counted and told, and nothing is changed.
#[utoipa::path(post, path = "/v1/settings/observe", request_body = Observe, security(("key" = [])), responses(
    (status = 200, body = LiveSettings), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub async fn observe(State(control): Controlled, Body(order): Body<Observe>) -> ApiResult<LiveSettings> {
    let Observe { agent, observe, version, author, reason } = order;
    if agent.is_empty() {
        return Err(ApiError::Bad("agent: give the name of the agent".to_owned()));
    }
    let version = match version {
        Some(version) => version,
        None => control.live.get().await?.version,
    };
    Ok(JsonAnswer(control.live.observe(&agent, observe, SettingsChange { author, reason, version }).await?))
}
