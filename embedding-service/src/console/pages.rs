//! What is shown.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, Query, State},
    http::{StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use maud::Markup;
use sentinel_console::{
    agents::{Agent, Agents},
    asset::Asset,
    login::Login,
    now::{Health, Trouble},
    page::{self, Page, Tab, Viewer},
    run::run_path,
    runs::{Filter, Row, Runs},
    stop::Stops,
};
use serde::Deserialize;

use super::{
    Console,
    guard::{Asking, Guard},
    replay, settings, view,
};
use crate::{
    control::{
        clock,
        run::RunStatus,
        runs::{LARGEST_PAGE, RunQuery, RunView, Sort, TurnView, Turns},
        store::Cursor,
    },
    metrics::LabelValue as _,
    store::StoreError,
};

/// The pages that there are.
const TABS: [Tab; 6] = [Tab::Now, Tab::Runs, Tab::Agents, Tab::Budgets, Tab::Settings, Tab::Replay];
/// Runs that are looked at closely for the page Now.
const LOOKED_AT: usize = 20;
const ROWS: usize = 100;
const AGENTS: usize = 500;
const STOPS: usize = 200;
/// Turns of a run that are shown at once.
const TURNS: usize = 200;
/// Bytes of each value in an address.
const LONGEST: usize = 512;
const HOUR_MS: u64 = 3_600_000;

pub type Shared = State<Arc<Console>>;
pub type PageResult = Result<Response, Failure>;

/// Why a page cannot be shown.
pub struct Failure(pub StoreError);

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let what =
            format!("What is known of runs cannot be read now: {}. This page tries again by itself.", self.0);
        problem(StatusCode::SERVICE_UNAVAILABLE, "Not now", &what)
    }
}

/// A page that says what went wrong.
pub fn problem(status: StatusCode, title: &str, what: &str) -> Response {
    let content = page::problem(title, what);
    let mut response =
        Shows { title, tab: Tab::Other, address: "/console", viewer: &Viewer::Reader }.still(&content);
    *response.status_mut() = status;
    response
}

/// A page around its content.
pub struct Shows<'a> {
    pub title: &'a str,
    pub tab: Tab,
    pub address: &'a str,
    pub viewer: &'a Viewer,
}

impl Shows<'_> {
    /// A page that is kept up to date.
    pub fn live(&self, content: &Markup) -> Response {
        self.answer(content, true)
    }

    pub fn still(&self, content: &Markup) -> Response {
        self.answer(content, false)
    }

    fn answer(&self, content: &Markup, is_live: bool) -> Response {
        let Self { title, tab, address, viewer } = *self;
        let page = Page { title, tab, tabs: &TABS, viewer, address, is_live };
        Html(page.document(content).into_string()).into_response()
    }
}

pub async fn now(State(console): Shared, Extension(visitor): Asking) -> PageResult {
    let now_ms = clock::now_ms();
    let control = &console.control;
    let survey = control.runs.survey(now_ms.saturating_sub(HOUR_MS), LOOKED_AT).await?;
    let mut looping = Vec::new();
    let stops = control.stops.standing().await?;
    let acting = settings::acting(&console).await?;
    for run in &survey.told {
        let is_stopped = stops.iter().any(|stop| stop.fits(&run.run.names));
        let observed = acting.observed(&run.run.names);
        let trouble = view::now::looping(run, &turns_of(&console, run, view::now::RECOVERED).await?);
        looping.extend(trouble.map(|trouble| Trouble { is_stopped, observed, ..trouble }));
    }
    let mut ended = Vec::new();
    for run in &survey.ended {
        ended.extend(view::now::ended(run, &turns_of(&console, run, view::now::RECOVERED).await?));
    }
    let hour = console.hour.read(control.store.as_ref(), now_ms).await?;
    let figures = view::now::figures(survey.under_way, &hour);
    let more = survey.told_in_all.saturating_sub(survey.told.len());
    let (more, health) = (view::now::count(more), health(&console).await?);
    let content = view::now::now(now_ms, figures, looping, more, ended, health, acting.version);
    let viewer = &visitor.viewer;
    Ok(Shows { title: "Now", tab: Tab::Now, address: "/console", viewer }.live(&content.content(viewer)))
}

async fn turns_of(console: &Console, run: &RunView, most: usize) -> Result<Vec<TurnView>, StoreError> {
    Ok(console.control.runs.turns(&run.id, None, most).await?.turns)
}

async fn health(console: &Console) -> Result<Health, StoreError> {
    let not_ready = console.not_ready.borrow().iter().map(|reason| reason.text().to_owned()).collect();
    let stops = console.control.stops.standing().await?.len();
    let workers = console.control.workers.seen(clock::now_ms());
    Ok(Health {
        not_ready,
        store: console.store.to_owned(),
        stops: view::now::count(stops),
        workers: workers.number,
        last_report_ms: workers.last_ms,
        dropped: workers.dropped,
    })
}

/// What the address of the page Runs says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct RunsQuery {
    agent: String,
    client: String,
    tenant: String,
    status: String,
    signal: String,
    model: String,
    within: String,
    sort: String,
    order: String,
    cursor: String,
}

impl RunsQuery {
    /// What is not understood counts as not said.
    pub fn filter(self) -> Filter {
        let Self { agent, client, tenant, status, signal, model, within, sort, order, cursor } = self;
        let short = |text: String| if text.len() > LONGEST { String::new() } else { text };
        Filter {
            agent: short(agent),
            client: short(client),
            tenant: short(tenant),
            status: short(status),
            signal: short(signal),
            model: short(model),
            within: within.parse().unwrap_or_default(),
            sort: sort.parse::<Sort>().map_or_else(|_| String::new(), |_| sort),
            ascending: order == "asc",
            cursor: short(cursor),
        }
    }
}

/// As control is asked.
pub fn query(filter: &Filter, now_ms: u64, limit: usize) -> RunQuery {
    let said = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let after =
        filter.cursor.split_once('-').and_then(|(value, id)| Some((value.parse().ok()?, id.to_owned())));
    let within = Some(filter.within).filter(|minutes| *minutes > 0);
    RunQuery {
        tenant: said(&filter.tenant),
        client: said(&filter.client),
        agent: said(&filter.agent),
        run: None,
        status: filter.status.split(',').filter_map(|name| name.parse::<RunStatus>().ok()).collect(),
        signal: said(&filter.signal),
        model: said(&filter.model),
        from_ms: within.map(|minutes| now_ms.saturating_sub(minutes.saturating_mul(60_000))),
        to_ms: None,
        sort: filter.sort.parse().unwrap_or_default(),
        ascending: filter.ascending,
        limit,
        after,
    }
}

pub async fn runs(
    State(console): Shared,
    Extension(visitor): Asking,
    Query(asked): Query<RunsQuery>,
) -> PageResult {
    let now_ms = clock::now_ms();
    let filter = asked.filter();
    let page = console.control.runs.list(&query(&filter, now_ms, ROWS)).await?;
    let named = console.control.runs.named();
    let address = filter.address();
    let content = Runs {
        now_ms,
        filter,
        rows: page.runs.iter().map(row).collect(),
        total: view::now::count(page.total),
        next: page.next.map(|(value, id)| format!("{value}-{id}")),
        signals: named.signals,
        models: named.models,
    };
    let viewer = &visitor.viewer;
    Ok(Shows { title: "Runs", tab: Tab::Runs, address: &address, viewer }.live(&content.content(viewer)))
}

fn row(run: &RunView) -> Row {
    let RunView { id, status, run, .. } = run;
    Row {
        id: id.clone(),
        who: view::who(&run.names),
        status: view::status(*status),
        finding: view::last_finding(run),
        hints: run.hints,
        model: run.models.last().cloned().unwrap_or_default(),
        turns: run.turns,
        steps: run.steps,
        repeated_steps: run.repeated_steps,
        tokens: run.tokens.input_tokens.saturating_add(run.tokens.output_tokens),
        cost_nano_usd: run.cost_nano_usd,
        first_seen_ms: run.first_seen_ms,
        last_seen_ms: run.last_seen_ms,
    }
}

/// Which turns of a run: those before a place, which is the place and the number of the turn there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Before {
    before: String,
    number: String,
}

pub async fn run(
    State(console): Shared,
    Extension(visitor): Asking,
    Path(id): Path<String>,
    Query(before): Query<Before>,
) -> PageResult {
    let now_ms = clock::now_ms();
    let control = &console.control;
    let Some(known) = control.runs.get(&id).await? else {
        let what =
            "No run has this address: it never was, or it is forgotten because it was silent for long.";
        return Ok(problem(StatusCode::NOT_FOUND, "No such run", what));
    };
    let place = before.before.parse::<Cursor>().ok();
    let Turns { turns, next } = control.runs.turns(&id, place, TURNS).await?;
    let last_number = before.number.parse().ok().filter(|_| place.is_some()).unwrap_or(known.run.turns);
    let first_number = last_number.saturating_sub(view::now::count(turns.len()));
    let earlier = next.map(|next| format!("{}?before={next}&number={first_number}", run_path(&id)));
    let stops = control.stops.of(&known.run.names).await?;
    let acting = settings::acting(&console).await?;
    let policy = acting.policy(&known.run.names);
    let trace = console.trace_url.as_ref().and_then(|url| view::trace::address(url, &known.run.names));
    let shown = view::run::run(now_ms, &known, &turns, earlier, last_number, &stops, policy, trace);
    let title = format!("{} / {}", known.run.names.agent, known.run.names.run);
    let (address, viewer) = (run_path(&id), &visitor.viewer);
    let shows = Shows { title: &title, tab: Tab::Runs, address: &address, viewer };
    let content = shown.content(viewer);
    // Turns of the past do not change.
    Ok(if place.is_some() { shows.still(&content) } else { shows.live(&content) })
}

pub async fn agents(State(console): Shared, Extension(visitor): Asking) -> PageResult {
    let now_ms = clock::now_ms();
    let (agents, total) = console.control.runs.agents(None, AGENTS.min(LARGEST_PAGE)).await?;
    let stops = console.control.stops.standing().await?;
    let spent = console.hour.of_agents(console.control.store.as_ref(), now_ms).await?;
    let agents = agents.into_iter().map(|agent| {
        let is = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
        let is_stopped = stops.iter().any(|stop| {
            let is_whole = stop.run.is_none() && stop.history.is_none();
            let fits = is(&stop.tenant, &agent.tenant)
                && is(&stop.client, &agent.client)
                && is(&stop.agent, &agent.agent);
            is_whole && fits
        });
        Agent {
            runs: agent.runs,
            under_way: agent.runs_under_way,
            turns: agent.turns,
            steps: agent.steps,
            repeated_steps: agent.repeated_steps,
            tokens: agent.tokens.input_tokens.saturating_add(agent.tokens.output_tokens),
            cost_nano_usd: view::budgets::nano_usd(agent.cost_usd),
            unpriced_turns: agent.unpriced_turns,
            hints: agent.hints,
            kills: agent.kills,
            last_seen_ms: agent.last_seen_ms,
            is_stopped,
            spent: spent.line(&agent.tenant, &agent.client, &agent.agent),
            tenant: agent.tenant,
            client: agent.client,
            agent: agent.agent,
        }
    });
    let content = Agents { now_ms, agents: agents.collect(), total: view::now::count(total) };
    let viewer = &visitor.viewer;
    Ok(Shows { title: "Agents", tab: Tab::Agents, address: "/console/agents", viewer }
        .live(&content.content(viewer)))
}

pub async fn stops(State(console): Shared, Extension(visitor): Asking) -> PageResult {
    let stops = console.control.stops.standing().await?;
    let more = view::now::count(stops.len().saturating_sub(STOPS));
    let content =
        Stops { now_ms: clock::now_ms(), stops: stops.iter().take(STOPS).map(view::stop).collect(), more };
    let viewer = &visitor.viewer;
    Ok(Shows { title: "Stops", tab: Tab::Other, address: "/console/stops", viewer }
        .live(&content.content(viewer)))
}

/// Where to go after the login.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Next {
    pub next: String,
}

pub async fn login(Extension(guard): Extension<Guard>, Query(Next { next }): Query<Next>) -> Response {
    login_page(guard, next, None)
}

pub fn login_page(guard: Guard, next: String, problem: Option<&'static str>) -> Response {
    let content = Login { next, problem, has_key: guard.access.key.is_some() }.content();
    Shows { title: "Log in", tab: Tab::Other, address: "/console", viewer: &Viewer::Reader }.still(&content)
}

pub async fn asset(Path((tag, name)): Path<(String, String)>) -> Response {
    let kept = (header::CACHE_CONTROL, "public, max-age=31536000, immutable");
    if let Some(asset) = Asset::find(&tag, &name) {
        return ([(header::CONTENT_TYPE, asset.content_type), kept], asset.content).into_response();
    }
    match replay::core().filter(|_| tag == replay::TAG && name == replay::NAME) {
        Some(core) => {
            let is_packed = (header::CONTENT_ENCODING, "gzip");
            ([(header::CONTENT_TYPE, "application/wasm"), kept, is_packed], core).into_response()
        }
        None => not_found_page(),
    }
}

pub async fn not_found() -> Response {
    not_found_page()
}

fn not_found_page() -> Response {
    problem(StatusCode::NOT_FOUND, "No such page", "The console has no page with this address.")
}
