//! Runs and agents.

use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    Controlled,
    answer::{ApiError, ApiResult, Body, CheckedQuery, JsonAnswer, Problem},
    stops::{self, Lifted, Order},
};
use crate::control::{
    run::RunStatus,
    runs::{AgentView, LARGEST_PAGE, RunQuery, RunView, Sort, TurnView, Turns},
    stops::{Stop, Target},
};

const UNKNOWN_RUN: &str = "no run has this id: it never was, or is forgotten";
/// Runs or agents of a page where nothing else is asked for.
const PAGE: usize = 100;
/// Turns of a run that are shown where nothing else is asked for.
const TURNS: usize = 200;

/// Which runs.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    tenant: Option<String>,
    client: Option<String>,
    agent: Option<String>,
    /// The name of the run.
    run: Option<String>,
    /// One or several, separated by commas: working, tools, idle, done, killed, stopped, failed.
    status: Option<String>,
    /// A signal that hinted or killed in it.
    signal: Option<String>,
    model: Option<String>,
    /// Seen at this time or later, in milliseconds since 1970.
    from: Option<u64>,
    /// Begun at this time or earlier.
    to: Option<u64>,
    /// last_seen, first_seen, cost, tokens, turns, steps or repeated_steps.
    sort: Option<String>,
    /// desc or asc.
    order: Option<String>,
    /// 1 to 1000.
    limit: Option<usize>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// A page of runs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    pub runs: Vec<RunView>,
    /// How many runs fit in all.
    pub total: usize,
    /// The `cursor` of the next page. Null on the last page.
    pub next: Option<String>,
}

/// A run with its turns.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RunDetail {
    pub run: RunView,
    /// The last ones, the newest first.
    pub turns: Vec<TurnView>,
    /// Give it as `before` for older turns; null: these were all that are stored.
    pub next: Option<String>,
    /// The stops that stand for it.
    pub stops: Vec<Stop>,
}

/// Agents.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AgentList {
    /// Those that were seen last first.
    pub agents: Vec<AgentView>,
    /// How many there are in all.
    pub total: usize,
    /// The `cursor` of the next page. Null on the last page.
    pub next: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DetailQuery {
    /// How many turns, 1 to 1000.
    limit: Option<usize>,
    /// `next` of the answer before.
    before: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentQuery {
    tenant: Option<String>,
    /// 1 to 1000.
    limit: Option<usize>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// How many of a list are wanted.
pub fn page(limit: Option<usize>, default: usize) -> Result<usize, ApiError> {
    match limit {
        None => Ok(default),
        Some(limit) if (1..=LARGEST_PAGE).contains(&limit) => Ok(limit),
        Some(_) => Err(ApiError::Bad(format!("limit: give a whole number from 1 to {LARGEST_PAGE}"))),
    }
}

/// What a page that begins nowhere is answered with.
pub fn bad_cursor() -> ApiError {
    ApiError::Bad("cursor: give `next` of the page before as it was".to_owned())
}

/// Behind which one a page begins: a value, and an id.
fn place(cursor: Option<&str>) -> Result<Option<(u64, String)>, ApiError> {
    let Some(cursor) = cursor else { return Ok(None) };
    let (value, id) = cursor.split_once('-').ok_or_else(bad_cursor)?;
    Ok(Some((value.parse().map_err(|_| bad_cursor())?, id.to_owned())))
}

impl ListQuery {
    fn checked(self) -> Result<RunQuery, ApiError> {
        let bad = |text: &str| ApiError::Bad(text.to_owned());
        let statuses = self.status.as_deref().unwrap_or_default().split(',').filter(|name| !name.is_empty());
        let status = statuses.map(str::parse::<RunStatus>).collect::<Result<_, _>>();
        let sort = self.sort.as_deref().map_or(Ok(Sort::default()), str::parse);
        Ok(RunQuery {
            limit: page(self.limit, PAGE)?,
            status: status.map_err(|_| {
                bad("status: give working, tools, idle, done, killed, stopped or failed, or several with commas")
            })?,
            sort: sort.map_err(|_| {
                bad("sort: give last_seen, first_seen, cost, tokens, turns, steps or repeated_steps")
            })?,
            ascending: match self.order.as_deref() {
                None | Some("desc") => false,
                Some("asc") => true,
                Some(_) => return Err(bad("order: give desc or asc")),
            },
            after: place(self.cursor.as_deref())?,
            tenant: self.tenant,
            client: self.client,
            agent: self.agent,
            run: self.run,
            signal: self.signal,
            model: self.model,
            from_ms: self.from,
            to_ms: self.to,
        })
    }
}

/// Runs, those that were seen last first.
#[utoipa::path(get, path = "/v1/runs", params(ListQuery), responses(
    (status = 200, body = RunList), (status = 400, body = Problem)))]
pub async fn list(
    State(control): Controlled,
    CheckedQuery(query): CheckedQuery<ListQuery>,
) -> ApiResult<RunList> {
    let page = control.runs.list(&query.checked()?).await?;
    let next = page.next.map(|(value, id)| format!("{value}-{id}"));
    Ok(JsonAnswer(RunList { runs: page.runs, total: page.total, next }))
}

/// One run with its turns and their steps.
#[utoipa::path(get, path = "/v1/runs/{id}", params(("id" = String, Path), DetailQuery), responses(
    (status = 200, body = RunDetail), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub async fn one(
    State(control): Controlled,
    Path(id): Path<String>,
    CheckedQuery(query): CheckedQuery<DetailQuery>,
) -> ApiResult<RunDetail> {
    let limit = page(query.limit, TURNS)?;
    let before = query.before.as_deref().map(str::parse).transpose();
    let before = before.map_err(|()| ApiError::Bad("before: give `next` of the answer before".to_owned()))?;
    let run = control.runs.get(&id).await?.ok_or(ApiError::NotFound(UNKNOWN_RUN))?;
    let Turns { turns, next } = control.runs.turns(&id, before, limit).await?;
    let next = next.map(|next| next.to_string());
    let stops = control.stops.of(&run.run.names).await?;
    Ok(JsonAnswer(RunDetail { run, turns, next, stops }))
}

/// Stops a run: its next requests are refused, and answers under way are ended.
#[utoipa::path(post, path = "/v1/runs/{id}/stop", params(("id" = String, Path)), request_body = Order,
    security(("key" = [])), responses(
    (status = 200, body = Stop), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub async fn stop(
    State(control): Controlled,
    Path(id): Path<String>,
    Body(order): Body<Order>,
) -> ApiResult<Stop> {
    let run = control.runs.get(&id).await?.ok_or(ApiError::NotFound(UNKNOWN_RUN))?;
    let time = stops::time(order.seconds)?;
    let target = Target::run(&run.run.names);
    Ok(JsonAnswer(control.stops.set(target, order.reason, order.author, time).await?))
}

/// Lifts the stop of a run. Stops of its agent, client or tenant stand on.
#[utoipa::path(post, path = "/v1/runs/{id}/lift", params(("id" = String, Path)), security(("key" = [])), responses(
    (status = 200, body = Lifted),
    (status = 404, body = Problem)))]
pub async fn lift(
    State(control): Controlled,
    Path(id): Path<String>,
    Body(order): Body<Order>,
) -> ApiResult<Lifted> {
    let run = control.runs.get(&id).await?.ok_or(ApiError::NotFound(UNKNOWN_RUN))?;
    let target = Target::run(&run.run.names);
    let lifted = control.stops.lift(&target.id(), &order.author).await?;
    let stop = lifted.ok_or(ApiError::NotFound("no stop of exactly this run stands"))?;
    Ok(JsonAnswer(Lifted { lifted: stop }))
}

/// Agents, those that were seen last first.
#[utoipa::path(get, path = "/v1/agents", params(AgentQuery), responses(
    (status = 200, body = AgentList), (status = 400, body = Problem)))]
pub async fn agents(
    State(control): Controlled,
    CheckedQuery(query): CheckedQuery<AgentQuery>,
) -> ApiResult<AgentList> {
    let limit = page(query.limit, PAGE)?;
    let after = place(query.cursor.as_deref())?;
    let page = control.runs.agents_after(query.tenant.as_deref(), after.as_ref(), limit).await?;
    let next = page.next.map(|(seen, id)| format!("{seen}-{id}"));
    Ok(JsonAnswer(AgentList { agents: page.agents, total: page.total, next }))
}
