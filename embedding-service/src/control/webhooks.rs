//! Events by webhook: CloudEvents, signed as Standard Webhooks wants it (HMAC-SHA256), tried again with longer and longer pauses. Only one
//! replica delivers at a time, and writes its progress as a document. If it dies, an event may come twice, with the same id.

use std::{
    collections::HashMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::Sha256;

use super::{
    api::to_json,
    clock,
    events::{Event, EventKind},
    ingest::{decode, encode},
    store::{Commit, Committed, ControlStore, Cursor, DocumentKind, Key, Log, LogEntry, Part, Put},
};
use crate::{
    metrics::{Delivered, Metrics},
    outgoing,
    store::{StoreError, redis::options::Secret},
};

/// How often new events are looked for.
const POLL: Duration = Duration::from_millis(500);
/// How long the claim of the delivering replica holds. It renews the claim with each write of its progress.
const TURN: Duration = Duration::from_secs(30);
/// Budget of one delivery.
const TIMEOUT: Duration = Duration::from_secs(10);
/// First and longest pause before a delivery is tried again; each is twice the last.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// How often a delivery is tried.
const ATTEMPTS: u32 = 8;
/// Events that are read at once.
const PAGE: usize = 100;
/// Pairs of kind and run whose last event is remembered, for the cooldown.
const MOST_REMEMBERED: usize = 10_000;

/// Where events go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookOptions {
    pub url: Secret,
    pub secret: Secret,
    /// The kinds that are sent.
    pub kinds: Vec<EventKind>,
    /// Of one kind and run at most one is sent in this time.
    pub cooldown: Duration,
}

/// How far events were delivered, and who does it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    version: u64,
    index: u32,
    owner: u64,
    until_ms: u64,
}

/// Delivers events.
pub struct Webhook {
    store: Arc<dyn ControlStore>,
    options: WebhookOptions,
    metrics: Arc<Metrics>,
    agent: ureq::Agent,
    /// This replica.
    me: u64,
}

/// Why an event was not delivered.
#[derive(Debug)]
enum Refused {
    /// The receiver answered with this status.
    Status(u16),
    Unreachable,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "the receiver answered {status}"),
            Self::Unreachable => f.write_str("the receiver could not be reached"),
        }
    }
}

fn key() -> Key {
    Key::new(DocumentKind::Webhook, "")
}

impl Webhook {
    #[must_use]
    pub fn new(store: Arc<dyn ControlStore>, options: WebhookOptions, metrics: Arc<Metrics>) -> Self {
        let config = outgoing::config(options.url.reveal().starts_with("https:"));
        let config = config.timeout_global(Some(TIMEOUT)).build();
        Self { store, options, metrics, agent: config.into(), me: clock::random() }
    }

    /// Delivers for as long as the server runs.
    pub async fn run(self) {
        let webhook = Arc::new(self);
        let mut told: HashMap<(EventKind, String), Instant> = HashMap::new();
        loop {
            if let Err(error) = webhook.turn(&mut told).await {
                tracing::debug!(%error, "events wait to be delivered");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Takes the turn, if no other replica has it. Returns how far was delivered.
    async fn take(&self) -> Result<Option<Progress>, StoreError> {
        let read = self.store.read(&[key()]).await?;
        let Some(document) = read.first() else { return Ok(None) };
        let mut progress: Progress = decode(document);
        let now = clock::now_ms();
        if progress.owner != self.me && progress.until_ms > now {
            return Ok(None);
        }
        if document.version == 0 {
            // Events from before the webhook was set up are not sent.
            let newest = self.store.log(&Log::Events, Part::Before(None, 1)).await?;
            let cursor = newest.first().map(|entry| entry.cursor).unwrap_or_default();
            (progress.version, progress.index) = (cursor.version, cursor.index);
        }
        progress.owner = self.me;
        Ok(self.write(&progress, Some(document.version)).await?.then_some(progress))
    }

    /// Writes how far was delivered; false where another replica has taken over.
    async fn write(&self, progress: &Progress, expected: Option<u64>) -> Result<bool, StoreError> {
        let version = match expected {
            Some(version) => version,
            None => {
                let read = self.store.read(&[key()]).await?;
                let Some(document) = read.first() else { return Ok(false) };
                if decode::<Progress>(document).owner != self.me {
                    return Ok(false);
                }
                document.version
            }
        };
        let until_ms = clock::now_ms().saturating_add(clock::milliseconds(TURN));
        let kept = Progress { until_ms, ..progress.clone() };
        let commit = Commit {
            expect: vec![(key(), version)],
            puts: vec![Put { key: key(), data: encode(&kept), ttl: None }],
            appends: Vec::new(),
        };
        Ok(self.store.commit(&commit).await? != Committed::Conflict)
    }

    async fn turn(
        self: &Arc<Self>,
        told: &mut HashMap<(EventKind, String), Instant>,
    ) -> Result<(), StoreError> {
        let Some(mut progress) = self.take().await? else { return Ok(()) };
        loop {
            let cursor = Cursor { version: progress.version, index: progress.index };
            let entries = self.store.log(&Log::Events, Part::After(cursor, PAGE)).await?;
            if entries.is_empty() {
                return Ok(());
            }
            for entry in entries {
                (progress.version, progress.index) = (entry.cursor.version, entry.cursor.index);
                let Some(event) = self.wanted(&entry, told) else { continue };
                if !self.deliver(&entry, &event, &progress).await? || !self.write(&progress, None).await? {
                    return Ok(());
                }
            }
            if !self.write(&progress, None).await? {
                return Ok(());
            }
        }
    }

    /// The event, if it is to be sent.
    fn wanted(&self, entry: &LogEntry, told: &mut HashMap<(EventKind, String), Instant>) -> Option<Event> {
        let event: Event = serde_json::from_slice(&entry.data).ok()?;
        if !self.options.kinds.contains(&event.kind) {
            return None;
        }
        let about = (event.kind, event.run_id.clone());
        let now = Instant::now();
        let is_recent = |at: &Instant| now.saturating_duration_since(*at) < self.options.cooldown;
        if !event.run_id.is_empty() && told.get(&about).is_some_and(is_recent) {
            self.metrics.control.delivered(Delivered::CoolingDown);
            return None;
        }
        if told.len() >= MOST_REMEMBERED {
            told.retain(|_, at| is_recent(at));
            if told.len() >= MOST_REMEMBERED {
                told.clear();
            }
        }
        told.insert(about, now);
        Some(event)
    }

    /// Sends one event, with retries. Returns false if another replica has taken over meanwhile.
    async fn deliver(
        self: &Arc<Self>,
        entry: &LogEntry,
        event: &Event,
        progress: &Progress,
    ) -> Result<bool, StoreError> {
        let id = entry.cursor.to_string();
        let body = Arc::new(cloud_event(&id, event));
        let (mut pause, longest) = PAUSES;
        for attempt in 1..=ATTEMPTS {
            let (webhook, id, body) = (Arc::clone(self), id.clone(), Arc::clone(&body));
            let sent = tokio::task::spawn_blocking(move || webhook.send(&id, &body)).await;
            match sent.unwrap_or(Err(Refused::Unreachable)) {
                Ok(()) => {
                    self.metrics.control.delivered(Delivered::Sent);
                    return Ok(true);
                }
                Err(error) if attempt == ATTEMPTS => {
                    tracing::warn!(%error, "an event is given up; later ones are still sent");
                }
                Err(error) => {
                    tracing::debug!(%error, attempt, "an event is sent again");
                    tokio::time::sleep(pause).await;
                    pause = pause.saturating_mul(2).min(longest);
                    // The progress is written with the place before this event, so the claim is renewed and the event stays undelivered.
                    let before = Progress { index: progress.index.saturating_sub(1), ..progress.clone() };
                    if !self.write(&before, None).await? {
                        return Ok(false);
                    }
                }
            }
        }
        self.metrics.control.delivered(Delivered::GivenUp);
        Ok(true)
    }

    fn send(&self, id: &str, body: &[u8]) -> Result<(), Refused> {
        let seconds = clock::now_ms().checked_div(1_000).unwrap_or(0).to_string();
        let signature = sign(self.options.secret.reveal(), id, &seconds, body);
        let answered = self
            .agent
            .post(self.options.url.reveal())
            .header("content-type", "application/cloudevents+json")
            .header("webhook-id", id)
            .header("webhook-timestamp", &seconds)
            .header("webhook-signature", &signature)
            .send(body);
        match answered.map(|answer| answer.status().as_u16()) {
            Ok(200..=299) => Ok(()),
            Ok(status) => Err(Refused::Status(status)),
            // Its text may hold the address, and that a password.
            Err(_) => Err(Refused::Unreachable),
        }
    }
}

/// The event as CloudEvents 1.0, in JSON.
fn cloud_event(id: &str, event: &Event) -> Vec<u8> {
    let kind: &str = event.kind.into();
    let time = i64::try_from(event.at_ms).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    let mut cloud = json!({
        "specversion": "1.0",
        "id": id,
        "source": "/agent-sentinel",
        "type": format!("agent-sentinel.{kind}"),
        "time": time.unwrap_or_default().to_string(),
        "datacontenttype": "application/json",
        "data": event,
    });
    if let Some(cloud) = cloud.as_object_mut().filter(|_| !event.run_id.is_empty()) {
        cloud.insert("subject".to_owned(), event.run_id.clone().into());
    }
    to_json(&cloud).unwrap_or_default()
}

/// `v1,` and the signature of id, time and body.
fn sign(secret: &str, id: &str, seconds: &str, body: &[u8]) -> String {
    // As Standard Webhooks writes secrets, or any text.
    let decoded = secret.strip_prefix("whsec_").and_then(|encoded| STANDARD.decode(encoded).ok());
    let secret = decoded.as_deref().unwrap_or(secret.as_bytes());
    // A key of any length will do.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    for part in [id.as_bytes(), b".", seconds.as_bytes(), b".", body] {
        mac.update(part);
    }
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        let signed = |secret: &str| {
            sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#)
        };
        // The example of the specification's own libraries.
        let example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        assert_eq!(signed(example), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_ne!(signed("another"), signed(example));
    }
}
