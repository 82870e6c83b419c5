//! Stops.

use std::time::Duration;

use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    Controlled,
    answer::{ApiError, ApiResult, Body, JsonAnswer, Problem},
};
use crate::control::stops::{LONGEST_STOP, MOST_STOPS, Stop, Target, history_of};

/// Why, by whom, and for how long.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Order {
    /// The agent is told this. At most 500 bytes are stored.
    pub reason: String,
    /// Who says so.
    pub author: String,
    /// For how many seconds; null: until it is lifted.
    pub seconds: Option<u64>,
}

/// Whom to stop. All names that are given must be equal.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewStop {
    tenant: Option<String>,
    client: Option<String>,
    agent: Option<String>,
    /// The name of a run.
    run: Option<String>,
    /// 16 hex digits, for a run without a name.
    history: Option<String>,
    reason: String,
    author: String,
    seconds: Option<u64>,
}

/// The stops that stand.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StopList {
    /// The newest first.
    pub stops: Vec<Stop>,
    /// How many may stand.
    pub most: usize,
}

/// A stop that was lifted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Lifted {
    pub lifted: Stop,
}

/// For how long a stop is to stand.
pub fn time(seconds: Option<u64>) -> Result<Option<Duration>, ApiError> {
    let Some(seconds) = seconds else { return Ok(None) };
    let time = Duration::from_secs(seconds);
    if seconds == 0 || time > LONGEST_STOP {
        let most = LONGEST_STOP.as_secs();
        return Err(ApiError::Bad(format!("seconds: give a whole number from 1 to {most}, or leave it out")));
    }
    Ok(Some(time))
}

/// The stops that stand.
#[utoipa::path(get, path = "/v1/stops", responses((status = 200, body = StopList)))]
pub async fn list(State(control): Controlled) -> ApiResult<StopList> {
    Ok(JsonAnswer(StopList { stops: control.stops.standing().await?, most: MOST_STOPS }))
}

/// Stops a tenant, a client, an agent or a run.
#[utoipa::path(post, path = "/v1/stops", request_body = NewStop, security(("key" = [])), responses(
    (status = 200, body = Stop), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub async fn set(State(control): Controlled, Body(new): Body<NewStop>) -> ApiResult<Stop> {
    let NewStop { tenant, client, agent, run, history, reason, author, seconds } = new;
    let history = match history {
        None => None,
        Some(digits) => Some(history_of(&digits).ok_or_else(|| {
            ApiError::Bad("history: give the 16 hex digits that the run has there".to_owned())
        })?),
    };
    let target = Target { tenant, client, agent, run, history };
    Ok(JsonAnswer(control.stops.set(target, reason, author, time(seconds)?).await?))
}

/// Lifts a stop.
#[utoipa::path(post, path = "/v1/stops/{id}/lift", params(("id" = String, Path)), security(("key" = [])), responses(
    (status = 200, body = Lifted),
    (status = 404, body = Problem)))]
pub async fn lift(
    State(control): Controlled,
    Path(id): Path<String>,
    Body(order): Body<Order>,
) -> ApiResult<Lifted> {
    let lifted = control.stops.lift(&id, &order.author).await?;
    let stop = lifted.ok_or(ApiError::NotFound("no stop with this id stands"))?;
    Ok(JsonAnswer(Lifted { lifted: stop }))
}
