//! Events as they happen (server-sent events). Whoever gives the cursor of the last event that it has seen misses nothing that is still
//! kept.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{self, KeepAlive, Sse},
    },
};
use serde::Deserialize;
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use utoipa::IntoParams;

use super::{
    Controlled,
    answer::{ApiError, CheckedQuery, Problem, to_json},
};
use crate::control::{
    Control,
    events::{Event, EventKind},
    store::{Cursor, Log, Part},
};

/// How often new events are looked for.
const POLL: Duration = Duration::from_millis(250);
/// Events that are read at once.
const PAGE: usize = 500;
/// Events that wait for a reader; one that does not take any for so long is cut off.
const WAITING: usize = 256;
const PATIENCE: Duration = Duration::from_secs(10);
/// Readers at once.
pub const MOST_READERS: usize = 64;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventQuery {
    /// One or several kinds, separated by commas.
    kind: Option<String>,
    tenant: Option<String>,
    client: Option<String>,
    agent: Option<String>,
    /// The id of a run.
    run_id: Option<String>,
    /// Events after this one; 0-0: all that are stored. Without it, and without the header `last-event-id`: from now on.
    cursor: Option<String>,
}

/// Which events a reader wants.
struct Filter {
    kinds: Vec<EventKind>,
    tenant: Option<String>,
    client: Option<String>,
    agent: Option<String>,
    run_id: Option<String>,
}

impl Filter {
    fn fits(&self, event: &Event) -> bool {
        let is = |wanted: &Option<String>, name: &String| wanted.as_ref().is_none_or(|wanted| wanted == name);
        (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && is(&self.tenant, &event.names.tenant)
            && is(&self.client, &event.names.client)
            && is(&self.agent, &event.names.agent)
            && is(&self.run_id, &event.run_id)
    }
}

/// Events as they happen. The id of each is its cursor, its name is its kind, and its data are JSON.
#[utoipa::path(get, path = "/v1/events", params(EventQuery), responses(
    (status = 200, body = Event, content_type = "text/event-stream"), (status = 400, body = Problem)))]
pub async fn follow(
    State(control): Controlled,
    headers: HeaderMap,
    CheckedQuery(query): CheckedQuery<EventQuery>,
) -> Result<Response, ApiError> {
    let kinds = query.kind.as_deref().unwrap_or_default().split(',').filter(|kind| !kind.is_empty());
    let kinds = kinds.map(str::parse).collect::<Result<Vec<EventKind>, _>>();
    let kinds = kinds
        .map_err(|_| ApiError::Bad("kind: give names of events, such as run.started,verdict".to_owned()))?;
    let last_seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let start = match last_seen.or(query.cursor) {
        Some(cursor) => {
            let cursor = cursor.parse::<Cursor>();
            cursor.map_err(|()| ApiError::Bad("cursor: give the id of an event, or 0-0".to_owned()))?
        }
        None => {
            let newest = control.store.log(&Log::Events, Part::Before(None, 1)).await?;
            newest.first().map(|entry| entry.cursor).unwrap_or_default()
        }
    };
    let permit = Arc::clone(&control.readers).try_acquire_owned();
    let permit = permit.map_err(|_| ApiError::Busy)?;
    let filter = Filter {
        kinds,
        tenant: query.tenant,
        client: query.client,
        agent: query.agent,
        run_id: query.run_id,
    };
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let _permit = permit;
        read(&control, start, &filter, &sender).await;
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()).into_response())
}

type SentEvent = Result<sse::Event, Infallible>;

/// Tells a reader of events until it goes, is too slow, or the store fails.
async fn read(control: &Control, start: Cursor, filter: &Filter, sender: &mpsc::Sender<SentEvent>) {
    let mut cursor = start;
    loop {
        if sender.is_closed() {
            return;
        }
        let Ok(entries) = control.store.log(&Log::Events, Part::After(cursor, PAGE)).await else { return };
        let is_full = entries.len() == PAGE;
        for entry in entries {
            cursor = entry.cursor;
            let Ok(event) = serde_json::from_slice::<Event>(&entry.data) else { continue };
            if !filter.fits(&event) {
                continue;
            }
            let kind: &str = event.kind.into();
            let data = to_json(&event).ok().and_then(|data| String::from_utf8(data).ok()).unwrap_or_default();
            let told = sse::Event::default().id(cursor.to_string()).event(kind).data(data);
            if !matches!(timeout(PATIENCE, sender.send(Ok(told))).await, Ok(Ok(()))) {
                return;
            }
        }
        if !is_full {
            tokio::time::sleep(POLL).await;
        }
    }
}
