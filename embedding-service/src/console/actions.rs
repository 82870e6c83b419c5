//! What is done from a page. Each action answers with the page to go to then.

use std::time::Duration;

use axum::{
    Extension, Form,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Redirect, Response},
};
use sentinel_console::{
    page::{Tab, Viewer},
    stop::Many,
};
use serde::Deserialize;

use super::{
    Console,
    guard::{Asking, Guard, Visitor, set_cookie},
    pages::{Answer, Failure, Shared, Shows, login_page, problem},
    session::{Session, is_token},
    slow_down::Tried,
    view,
};
use crate::control::{
    clock,
    stops::{LONGEST_STOP, StopError, Target},
};

/// Runs that are stopped at once.
const MOST: usize = 1_000;

/// A form as it comes: names and values, some of them several times.
pub type Fields = Form<Vec<(String, String)>>;

pub struct Order {
    fields: Vec<(String, String)>,
}

impl Order {
    /// The fields of a form that carries the token of whoever sends it.
    #[expect(clippy::result_large_err, reason = "an answer")]
    pub fn of(visitor: &Visitor, fields: Vec<(String, String)>) -> Result<Self, Response> {
        let order = Self { fields };
        let is_ours =
            matches!(&visitor.viewer, Viewer::Operator { token } if is_token(order.get("token"), token));
        let what =
            "The form is not of this session. Nothing was changed. Load the page again, and do it again.";
        is_ours.then_some(order).ok_or_else(|| problem(StatusCode::FORBIDDEN, "An old page", what))
    }

    pub fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    fn said(&self, name: &str) -> Option<String> {
        Some(self.get(name).to_owned()).filter(|value| !value.is_empty())
    }

    fn runs(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|(field, _)| field == "run").map(|(_, value)| value.as_str()).take(MOST)
    }

    /// For how long a stop is to stand.
    fn time(&self) -> Option<Duration> {
        let seconds = self.get("seconds").parse().ok().filter(|seconds| *seconds > 0)?;
        Some(Duration::from_secs(seconds).min(LONGEST_STOP))
    }

    pub fn back(&self) -> Response {
        Redirect::to(address(self.get("back"))).into_response()
    }
}

/// An address of the console; of anywhere else, that of its first page.
fn address(said: &str) -> &str {
    let is_ours =
        said.strip_prefix("/console").is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    if is_ours && said.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        said
    } else {
        "/console"
    }
}

fn refused(error: StopError) -> Answer {
    match error {
        StopError::Store(error) => Err(Failure(error)),
        StopError::Nobody => Ok(problem(StatusCode::BAD_REQUEST, "Nobody to stop", &error.to_string())),
        StopError::TooMany => Ok(problem(StatusCode::CONFLICT, "Too many stops", &error.to_string())),
    }
}

pub async fn stop_run(
    State(console): Shared,
    Extension(visitor): Asking,
    Path(id): Path<String>,
    Form(fields): Fields,
) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
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

pub async fn stop_agent(State(console): Shared, Extension(visitor): Asking, Form(fields): Fields) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
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
pub async fn ask(State(console): Shared, Extension(visitor): Asking, Form(fields): Fields) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
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

pub async fn stop_many(State(console): Shared, Extension(visitor): Asking, Form(fields): Fields) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
    for id in order.runs() {
        let Some(run) = console.control.runs.get(id).await? else { continue };
        if let Err(error) = set(&console, Target::run(&run.run.names), &order).await {
            return refused(error);
        }
    }
    Ok(order.back())
}

pub async fn lift(
    State(console): Shared,
    Extension(visitor): Asking,
    Path(id): Path<String>,
    Form(fields): Fields,
) -> Answer {
    let order = match Order::of(&visitor, fields) {
        Ok(order) => order,
        Err(refused) => return Ok(refused),
    };
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
        Tried::Right => {
            let session = Session::begin(clock::now_ms(), clock::random());
            let mut response = Redirect::to(address(&next)).into_response();
            if let Ok(cookie) = HeaderValue::from_str(&set_cookie(&session.cookie(&key), &headers)) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            return response;
        }
        Tried::Wrong => (StatusCode::UNAUTHORIZED, "This is not the key."),
        Tried::TooMany => {
            let wait = "Too many try to log in at this moment. Wait some seconds, and try again.";
            (StatusCode::TOO_MANY_REQUESTS, wait)
        }
    };
    let mut response = login_page(guard, next, Some(problem));
    *response.status_mut() = status;
    response
}

pub async fn logout(Extension(visitor): Asking, headers: HeaderMap, Form(fields): Fields) -> Response {
    if let Err(refused) = Order::of(&visitor, fields) {
        return refused;
    }
    let mut response = Redirect::to("/console").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&set_cookie("", &headers)) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for ours in ["/console", "/console/runs?agent=a%26b", "/console?x=1"] {
            assert_eq!(address(ours), ours);
        }
        let others = [
            "",
            "/",
            "//evil.example",
            "https://evil.example",
            "/console.evil",
            "/consoleevil",
            "/console\\evil",
            "/console/\r\nx: y",
        ];
        for other in others {
            assert_eq!(address(other), "/console", "{other}");
        }
    }
}
