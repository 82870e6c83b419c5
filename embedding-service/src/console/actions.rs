//! What is done from a page. Each action answers with the page to go to then.

use axum::{
    Extension, Form,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Redirect, Response},
};
use sentinel_console::{page::Tab, stop::Many};
use serde::Deserialize;

use super::{
    Console,
    guard::{Asking, Guard, set_cookie},
    order::{Order, address},
    pages::{Failure, PageResult, Shared, Shows, login_page, problem},
    session::Session,
    slow_down::TryResult,
    view,
};
use crate::control::{
    clock,
    stops::{StopError, Target},
};

fn refused(error: StopError) -> PageResult {
    match error {
        StopError::Store(error) => Err(Failure(error)),
        StopError::Nobody => Ok(problem(StatusCode::BAD_REQUEST, "Nobody to stop", &error.to_string())),
        StopError::TooMany => Ok(problem(StatusCode::CONFLICT, "Too many stops", &error.to_string())),
    }
}

pub async fn stop_run(State(console): Shared, Path(id): Path<String>, order: Order) -> PageResult {
    let Some(run) = console.control.runs.get(&id).await? else {
        let what = "The run is forgotten because it was silent for long. There is nothing to stop.";
        return Ok(problem(StatusCode::NOT_FOUND, "No such run", what));
    };
    let target = Target::run(&run.run.names);
    match set(&console, target, &order).await {
        Ok(()) => Ok(order.back()),
        Err(error) => refused(error),
    }
}

async fn set(console: &Console, target: Target, order: &Order) -> Result<(), StopError> {
    let (reason, author) = (order.get("reason").to_owned(), order.get("author").to_owned());
    console.control.stops.set(target, reason, author, order.time()).await.map(drop)
}

pub async fn stop_agent(State(console): Shared, order: Order) -> PageResult {
    let Some(agent) = order.said("agent") else { return refused(StopError::Nobody) };
    let target = Target {
        agent: Some(agent),
        client: order.said("client"),
        tenant: order.said("tenant"),
        ..Target::default()
    };
    match set(&console, target, &order).await {
        Ok(()) => Ok(order.back()),
        Err(error) => refused(error),
    }
}

/// Asks before many runs are stopped.
pub async fn ask(State(console): Shared, Extension(visitor): Asking, order: Order) -> PageResult {
    let mut many = Many { back: address(order.get("back")).to_owned(), ..Many::default() };
    for id in order.runs() {
        match console.control.runs.get(id).await? {
            Some(run) if view::status(run.status).is_under_way() => {
                many.cost_nano_usd = many.cost_nano_usd.saturating_add(run.run.cost_nano_usd);
                many.runs.push((run.id, view::who(&run.run.names)));
            }
            _ => many.ended = many.ended.saturating_add(1),
        }
    }
    let viewer = &visitor.viewer;
    let shows = Shows { title: "Stop runs", tab: Tab::Runs, address: "/console/runs", viewer };
    Ok(shows.still(&many.content(viewer)))
}

pub async fn stop_many(State(console): Shared, order: Order) -> PageResult {
    for id in order.runs() {
        let Some(run) = console.control.runs.get(id).await? else { continue };
        if let Err(error) = set(&console, Target::run(&run.run.names), &order).await {
            return refused(error);
        }
    }
    Ok(order.back())
}

pub async fn lift(State(console): Shared, Path(id): Path<String>, order: Order) -> PageResult {
    // One that somebody else has lifted already is lifted too.
    console.control.stops.lift(&id, order.get("author")).await?;
    Ok(order.back())
}

/// What the login sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Given {
    key: String,
    next: String,
}

pub async fn login(
    State(console): Shared,
    Extension(guard): Extension<Guard>,
    headers: HeaderMap,
    Form(Given { key: given, next }): Form<Given>,
) -> Response {
    let Some(key) = guard.access.key else { return login_page(guard, next, None) };
    let (status, problem) = match console.slow_down.try_key(|| key.is(given.trim())).await {
        TryResult::Right => {
            let session = Session::begin(clock::now_ms(), clock::random());
            let mut response = Redirect::to(address(&next)).into_response();
            if let Ok(cookie) = HeaderValue::from_str(&set_cookie(&session.cookie(&key), &headers)) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            return response;
        }
        TryResult::Wrong => (StatusCode::UNAUTHORIZED, "This is not the key."),
        TryResult::TooMany => {
            let wait = "Too many try to log in at this moment. Wait some seconds, and try again.";
            (StatusCode::TOO_MANY_REQUESTS, wait)
        }
    };
    let mut response = login_page(guard, next, Some(problem));
    *response.status_mut() = status;
    response
}

pub async fn logout(headers: HeaderMap, _order: Order) -> Response {
    let mut response = Redirect::to("/console").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&set_cookie("", &headers)) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
