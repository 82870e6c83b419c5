//! One worker of the host, outside of any request: what waits to be sent, and what one request has found out that the next can
//! use. The host has one for each thread and configuration, and calls it a few times a second.
//!
//! Reports: a worker sends its turns about once a second, and keeps them until it has a reply. What the service says in return is
//! shared with the other workers, so that one without turns of its own need not ask.

use std::{mem, rc::Rc, sync::Arc};

use sentinel_config::Config;
use sentinel_detect::step::Memo;
use sentinel_text::digest;

use crate::{
    budget::leases::Leases,
    codec,
    control::{Directives, Report, ReportReply, WorkerId},
    host::{Background, BackgroundMessage, Level, Process, Reply, Stored},
    metric::Metric,
    service_outcome::ServiceOutcome,
    span::Span,
    turn::Turn,
};

mod reports;

use reports::Reports;

/// Most spans that may wait. More are lost.
const ROOM: usize = 2_048;
/// A report is sent early if at least this many turns wait.
const MANY_TURNS: usize = 256;
/// The least time between two reports, and how much longer it may be (milliseconds).
const PAUSE: u64 = 750;
const JITTER: u64 = 500;
/// The time after a reply which says that the service keeps no runs (milliseconds).
const LONG_PAUSE: u64 = 60_000;
/// Where the number of the process, the numbers of its workers and the directives are stored.
const ENVOY: &str = "sentinel/envoy";
const WORKERS: &str = "sentinel/workers";
const DIRECTIVES: &str = "sentinel/directives";
/// Digest of the directives, and when a worker last had a reply.
const DIRECTIVES_AGE: &str = "sentinel/directives/age";
/// Others may write the same slot at the same time, so writing is tried this often.
const TRIES: u8 = 8;

#[derive(Debug)]
pub struct Worker {
    memo: Rc<Memo>,
    /// The configuration with the live settings.
    config: Arc<Config>,
    /// The configuration as the host was given it.
    source: Vec<u8>,
    spans: Vec<Span>,
    /// The collector did not take the last spans.
    is_cut_off: bool,
    reports: Reports,
    leases: Rc<Leases>,
    directives: Rc<Directives>,
    /// Digest of the shared directives that are known here.
    shared: u64,
}

impl Worker {
    /// `source`: the configuration as the host was given it.
    pub fn new(config: Arc<Config>, source: &[u8]) -> Self {
        Self {
            memo: Rc::default(),
            config,
            source: source.to_vec(),
            leases: Rc::new(Leases::new(source)),
            spans: Vec::new(),
            is_cut_off: false,
            reports: Reports::default(),
            directives: Rc::default(),
            shared: 0,
        }
    }

    /// How often the worker has to be called, in milliseconds. Returns `None` when it need not be.
    pub fn tick(&self) -> Option<u64> {
        match &*self.config {
            Config { reports: true, .. } => Some(250),
            Config { collector: Some(_), .. } => Some(1_000),
            _ => None,
        }
    }

    /// A warning for whoever configures the filter.
    pub fn warning(&self) -> Option<&'static str> {
        if self.config.reports {
            return None;
        }
        if !self.config.budgets.is_empty() {
            return Some("agent sentinel: nobody is held to `budgets` while `control.enabled` is false");
        }
        let is_asked = self.config.policies().any(|policy| policy.guard.second_opinion);
        is_asked.then_some(
            "agent sentinel: nobody reads tool results (`guard.second_opinion`) while `control.enabled` is false",
        )
    }

    /// The configuration for new requests.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config)
    }

    /// For `Facts::memo`.
    pub fn memo(&self) -> Rc<Memo> {
        Rc::clone(&self.memo)
    }

    /// For `Facts::leases`.
    pub fn leases(&self) -> Rc<Leases> {
        Rc::clone(&self.leases)
    }

    /// For `Facts::directives`.
    pub fn directives(&self) -> Rc<Directives> {
        Rc::clone(&self.directives)
    }

    /// Spans from `Host::trace`. They are sent together later, so that no request waits for them.
    pub fn trace(&mut self, spans: Vec<Span>) {
        let room = ROOM.saturating_sub(self.spans.len());
        self.spans.extend(spans.into_iter().take(room));
    }

    /// A turn from `Host::report`.
    pub fn report(&mut self, turn: Turn) -> u64 {
        self.reports.add(turn)
    }

    /// Some time has passed.
    pub fn on_tick(&mut self, host: &mut impl Background) {
        let spans = mem::take(&mut self.spans);
        if !spans.is_empty() && host.send(BackgroundMessage::Spans(spans)).is_err() {
            self.exported(false, host);
        }
        if self.config.reports {
            self.share(host);
            self.send_report(host);
        }
    }

    fn send_report(&mut self, host: &mut impl Background) {
        let (now, random) = (host.process().now(), host.process().random());
        let waiting = self.reports.waiting.len();
        let is_due = now >= self.reports.due || self.reports.due > now.saturating_add(LONG_PAUSE);
        let is_paused = self.reports.due > now.saturating_add(PAUSE.saturating_add(JITTER));
        if self.reports.under_way.is_some() || !is_due && (waiting < MANY_TURNS || is_paused) {
            return;
        }
        self.reports.due = now.saturating_add(PAUSE).saturating_add(random.checked_rem(JITTER).unwrap_or(0));
        let is_silent = waiting == 0
            && self.reports.dropped == 0
            && !self.reports.wants_configuration
            && !self.leases.has_any();
        if is_silent && now.saturating_sub(age(host.process()).1) < PAUSE {
            return;
        }
        let Some(worker) = id(&self.leases, host.process()) else { return };
        let reports = &mut self.reports;
        let report = Report {
            worker,
            sent_at: now,
            turns: reports.waiting.iter().cloned().collect(),
            dropped: reports.dropped,
            known: self.directives.known,
            configuration_digest: self.leases.configuration_digest,
            configuration: self.leases.configuration(reports.wants_configuration),
            unknown_directives: reports.unknown,
            leases: self.leases.report(now),
        };
        (reports.fixed, reports.under_way, reports.told) = (waiting, Some(waiting), reports.dropped);
        if let Err(outcome) = host.send(BackgroundMessage::Report(Box::new(report))) {
            self.not_reported(outcome, host);
        }
    }

    /// What became of a message that was sent.
    pub fn on_reply(
        &mut self,
        reply: Result<Reply, (MessageKind, ServiceOutcome)>,
        host: &mut impl Background,
    ) {
        match reply {
            Ok(Reply::Spans) => self.exported(true, host),
            Err((MessageKind::Spans, _)) => self.exported(false, host),
            Ok(Reply::Report(reply)) => self.reported(&reply, host),
            Err((MessageKind::Report, outcome)) => self.not_reported(outcome, host),
        }
    }

    fn reported(&mut self, reply: &ReportReply, host: &mut impl Background) {
        host.count(Metric::Reports(ServiceOutcome::Ok), 1);
        host.count(Metric::TurnsDropped, self.reports.told);
        self.reports.taken();
        self.reports.unknown = reply.unknown;
        self.reports.wants_configuration = reply.wants_configuration;
        let now = host.process().now();
        // Without the configuration, the service knows no budgets, and has counted nothing.
        if !reply.wants_configuration {
            self.leases.reported(now);
        }
        self.leases.set_known(!reply.wants_configuration);
        let has_news = reply.all_stops
            || !reply.directives.is_empty()
            || reply.known.is_some_and(|known| known != self.directives.known);
        if has_news {
            let after = self.directives.after(reply, now);
            self.adopt(after, host);
        }
        // Other workers need not ask for what is known now.
        let stored = codec::encode(&*self.directives);
        let digest = if has_news { digest(&stored) } else { self.shared };
        if has_news {
            put(host.process(), DIRECTIVES, &stored);
        }
        self.shared = digest;
        put(host.process(), DIRECTIVES_AGE, &codec::encode(&(digest, now)));
    }

    fn not_reported(&mut self, outcome: ServiceOutcome, host: &mut impl Background) {
        host.count(Metric::Reports(outcome), 1);
        self.reports.under_way = None;
        if outcome == ServiceOutcome::Unimplemented {
            self.reports.due = host.process().now().saturating_add(LONG_PAUSE);
        }
    }

    /// Takes over what another worker was told.
    fn share(&mut self, host: &mut impl Background) {
        let (shared, _) = age(host.process());
        if shared == self.shared || shared == 0 {
            return;
        }
        let bytes = host.process().load(DIRECTIVES).bytes.unwrap_or_default();
        // The worker that writes it may not have finished.
        if digest(&bytes) == shared {
            self.shared = shared;
            let directives: Directives = codec::decode(&bytes);
            let (theirs, ours) = (directives.known, self.directives.known);
            // A reply that came later may be older.
            let is_older =
                theirs.epoch == ours.epoch && (theirs.stops < ours.stops || theirs.settings < ours.settings);
            if !is_older {
                self.adopt(directives.indexed(), host);
            }
        }
    }

    fn adopt(&mut self, directives: Directives, host: &mut impl Background) {
        let settings = &directives.settings;
        if settings.version != self.config.settings_version {
            let config = match settings.version {
                0 => Config::from_json(&self.source),
                _ => Config::with_live_settings(&self.source, settings.json.as_bytes()),
            };
            match config {
                Ok(mut config) => {
                    config.settings_version = settings.version;
                    self.config = Arc::new(config);
                    if let Some(warning) = self.warning() {
                        host.log(Level::Warn, warning);
                    }
                }
                // The service checks settings by the same rules, so it has another version or another configuration.
                Err(error) => {
                    let version = settings.version;
                    let line =
                        format!("agent sentinel: live settings {version} do not fit and do not act: {error}");
                    host.log(Level::Warn, &line);
                }
            }
        }
        self.directives = Rc::new(directives);
    }

    /// Reports once, and not every second, that spans are lost.
    fn exported(&mut self, is_taken: bool, host: &mut impl Background) {
        if !is_taken && !self.is_cut_off {
            let line = "agent sentinel: the cluster of `traces.cluster` does not take spans; they are lost until it does";
            host.log(Level::Warn, line);
        }
        self.is_cut_off = !is_taken;
    }
}

/// The id of this worker. Returns `None` while others are faster each time.
pub fn id(leases: &Leases, process: &dyn Process) -> Option<WorkerId> {
    if leases.worker.get().is_none() {
        let drawn = process.random().max(1);
        let envoy = swap(process, ENVOY, |envoy: u64| if envoy == 0 { drawn } else { envoy })?;
        let number = swap(process, WORKERS, |workers: u32| workers.saturating_add(1))?;
        let _ = leases.worker.set(WorkerId { envoy, number });
    }
    leases.worker.get().copied()
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    Spans,
    Report,
}

/// Digest of the directives that are shared, and when a worker last had a reply.
fn age(process: &dyn Process) -> (u64, u64) {
    codec::decode(&process.load(DIRECTIVES_AGE).bytes.unwrap_or_default())
}

/// Stores the newest value, whoever wrote before.
fn put(process: &dyn Process, key: &str, bytes: &[u8]) {
    for _ in 0..TRIES {
        let Stored { version, .. } = process.load(key);
        if process.store(key, bytes, version) {
            return;
        }
    }
}

fn swap<T: Copy + Default + serde::Serialize + serde::de::DeserializeOwned>(
    process: &dyn Process,
    key: &str,
    change: impl Fn(T) -> T,
) -> Option<T> {
    for _ in 0..TRIES {
        let Stored { bytes, version } = process.load(key);
        let changed = change(codec::decode(&bytes.unwrap_or_default()));
        if process.store(key, &codec::encode(&changed), version) {
            return Some(changed);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_control_is_said_where_that_is_off() {
        let warning = |json: &str| {
            let config = Arc::new(Config::from_json(json.as_bytes()).unwrap());
            Worker::new(config, json.as_bytes()).warning().unwrap_or_default()
        };
        let asked = r#""guard":{"second_opinion":true}"#;
        let of_agent = format!(r#""agents":[{{"name":"a","settings":{{{asked}}}}}]"#);
        for wanted in [asked, of_agent.as_str()] {
            assert!(warning(&format!("{{{wanted}}}")).contains("guard.second_opinion"), "{wanted}");
            assert_eq!(warning(&format!(r#"{{{wanted},"control":{{"enabled":true}}}}"#)), "");
            // The service gets the configuration without `control`, and must be able to read it.
            let told = sentinel_config::changeable(format!("{{{wanted}}}").as_bytes(), 4_096);
            assert!(told.contains("second_opinion") && Config::from_json(told.as_bytes()).is_ok(), "{told}");
        }
        assert_eq!(warning("{}"), "");
    }

    #[test]
    fn no_more_spans_wait_than_there_is_room_for() {
        let mut worker = Worker::new(Arc::new(Config::from_json(b"{}").unwrap()), b"");
        let span = Span {
            trace: 1,
            id: 2,
            parent: None,
            is_call: false,
            name: "n".into(),
            began: 0,
            ended: 1,
            is_failure: false,
            attributes: Vec::new(),
            cause: None,
        };
        worker.trace(vec![span.clone(); ROOM]);
        worker.trace(vec![span]);
        assert_eq!(worker.spans.len(), ROOM);
    }
}
