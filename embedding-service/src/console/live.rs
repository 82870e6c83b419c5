//! Tells open pages that something has changed, by server-sent events. The store is asked by one task for all pages, and by none while no
//! page is open. What has changed is not told: the page is fetched again.

use std::{
    convert::Infallible,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use axum::{
    extract::State,
    http::StatusCode,
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use tokio::sync::watch;
use tokio_stream::{StreamExt as _, wrappers::WatchStream};

use super::{Console, pages::problem};
use crate::control::{
    Control,
    store::{Log, Part},
};

/// How often the store is asked.
const POLL: Duration = Duration::from_millis(500);
/// Pages that may be open at once.
const MOST: usize = 500;

/// What open pages wait for.
pub struct Live {
    control: Arc<Control>,
    /// The state that was seen last; there while a page is open.
    seen: RwLock<Option<watch::Sender<u64>>>,
}

impl Live {
    #[must_use]
    pub fn new(control: Arc<Control>) -> Self {
        Self { control, seen: RwLock::default() }
    }

    /// A page opens. `None`: too many are open.
    fn open(&self) -> Option<watch::Receiver<u64>> {
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = seen.as_ref().filter(|sender| !sender.is_closed()) {
            return (sender.receiver_count() < MOST).then(|| sender.subscribe());
        }
        let (sender, receiver) = watch::channel(0);
        *seen = Some(sender.clone());
        tokio::spawn(follow(Arc::clone(&self.control), sender));
        Some(receiver)
    }
}

/// Asks the store until the last page is closed.
async fn follow(control: Arc<Control>, sender: watch::Sender<u64>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(POLL) => {}
            () = sender.closed() => return,
        }
        if let Some(state) = state(&control).await {
            sender.send_if_modified(|seen| std::mem::replace(seen, state) != state);
        }
    }
}

/// A number that changes with what pages show; `None` where the store does not answer.
async fn state(control: &Control) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let last = control.store.log(&Log::Events, Part::Before(None, 1)).await.ok()?;
    last.first().map(|entry| (entry.cursor.version, entry.cursor.index)).hash(&mut hasher);
    for stop in control.stops.standing().await.ok()? {
        (stop.id, stop.set_ms).hash(&mut hasher);
    }
    Some(hasher.finish())
}

/// The stream of a page.
pub async fn stream(State(console): State<Arc<Console>>) -> Response {
    let Some(receiver) = console.live.open() else {
        return problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many pages",
            "Too many pages are open. Close some.",
        );
    };
    // A browser drops events without data. The first value is what the page shows already.
    let changes = WatchStream::from_changes(receiver);
    let events = changes.map(|_| Ok::<_, Infallible>(Event::default().event("changed").data("now")));
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
