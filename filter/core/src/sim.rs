//! A host in memory: executes the effects of the state machine as Envoy would, for tests and replays. Never part of
//! the filter.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
};

use crate::{
    config::Config,
    machine::{Effect, Event, Held, Machine, Question, Reply, ServiceReply},
    metric::{Metric, ServiceOutcome},
    span::Span,
};

/// Answers questions in the embedding service's place.
pub type Service = dyn FnMut(&Question) -> Result<ServiceReply, ServiceOutcome>;

/// What outlives a request: the slots, the counters and the log.
pub struct SimHost {
    pub config: Arc<Config>,
    /// Milliseconds since 1970; the caller moves it.
    pub now: u64,
    pub slots: HashMap<String, (Vec<u8>, u32)>,
    pub counters: BTreeMap<String, u64>,
    pub log: Vec<String>,
    pub spans: Vec<Span>,
    /// How many of the next stores are lost to another worker.
    pub lost_stores: u32,
    pub service: Box<Service>,
}

/// A request as the client sends it.
#[derive(Clone, Debug, Default)]
pub struct SimRequest {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A response as the provider sends it.
#[derive(Clone, Debug)]
pub struct SimResponse {
    pub status: u16,
    pub content_type: String,
    pub body: Vec<u8>,
    /// The connection ends after this body without saying that it was the end.
    pub is_cut_off: bool,
}

/// What became of a request.
#[derive(Debug, Default)]
pub struct SimOutcome {
    /// The body that the provider got; nothing where we answered.
    pub sent: Option<Vec<u8>>,
    pub reply: Option<Reply>,
    /// Headers that we put on the response.
    pub headers: Vec<(&'static str, String)>,
    /// Request headers that we changed.
    pub changed: Vec<(&'static str, String)>,
    /// What Envoy's tracer and access logs are told.
    pub notes: Vec<(&'static str, String)>,
}

impl SimRequest {
    /// A JSON POST.
    pub fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let length = body.len().to_string();
        Self { headers: Vec::new(), body }
            .with(":method", "POST")
            .with(":path", path)
            .with("content-type", "application/json")
            .with("content-length", &length)
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl SimResponse {
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type: "application/json".into(), body: body.into(), is_cut_off: false }
    }
}

impl SimOutcome {
    pub fn header(&self, name: &str) -> Option<&str> {
        let own = self.headers.iter();
        let reply = self.reply.iter().flat_map(|reply| &reply.headers);
        own.chain(reply).find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// `allow`, `hint` or `kill`.
    pub fn verdict(&self) -> Option<&str> {
        self.header("x-sentinel-verdict")
    }
}

/// What the machine can look at during one request.
struct View<'a> {
    now: u64,
    request: &'a SimRequest,
    response: Option<&'a SimResponse>,
}

impl Held for View<'_> {
    fn now(&self) -> u64 {
        self.now
    }

    fn request_header(&self, name: &str) -> Option<Vec<u8>> {
        let header = self.request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.clone().into_bytes())
    }

    fn request_body(&self) -> Option<Vec<u8>> {
        Some(self.request.body.clone())
    }

    fn response_header(&self, name: &str) -> Option<Vec<u8>> {
        let response = self.response?;
        match name {
            ":status" => Some(response.status.to_string().into_bytes()),
            "content-type" => Some(response.content_type.clone().into_bytes()),
            _ => None,
        }
    }

    fn response_chunk(&self) -> Option<Vec<u8>> {
        self.response.map(|response| response.body.clone())
    }
}

impl SimHost {
    pub fn new(config: Config) -> Self {
        Self {
            config: Arc::new(config),
            now: 1_700_000_000_000,
            slots: HashMap::new(),
            counters: BTreeMap::new(),
            log: Vec::new(),
            spans: Vec::new(),
            lost_stores: 0,
            service: Box::new(|_| Ok(ServiceReply { loop_detected: false, max_similarity: 0.0 })),
        }
    }

    /// Sends one request; where it reaches the provider, `response` is the answer.
    pub fn exchange(&mut self, request: &SimRequest, response: &SimResponse) -> SimOutcome {
        let mut flight = Flight::new(Machine::new(Arc::clone(&self.config)));
        let view = View { now: self.now, request, response: None };
        flight.drive(self, Event::RequestHeaders { end_of_stream: request.body.is_empty() }, &view);
        if flight.holds {
            let held = request.body.len();
            flight.drive(self, Event::RequestBody { held, end_of_stream: true }, &view);
        }
        if flight.outcome.reply.is_none() && !flight.holds {
            let sent = flight.body.take().unwrap_or_else(|| request.body.clone());
            flight.outcome.sent = Some(sent);
            let view = View { response: Some(response), ..view };
            flight.drive(self, Event::ResponseHeaders { end_of_stream: response.body.is_empty() }, &view);
            if !response.body.is_empty() {
                flight.drive(self, Event::ResponseBody { end_of_stream: !response.is_cut_off }, &view);
            }
        }
        flight.drive(self, Event::Closed, &view);
        flight.outcome
    }

    /// A counter's value.
    pub fn counted(&self, metric: Metric) -> u64 {
        self.counters.get(&metric.name()).copied().unwrap_or(0)
    }
}

/// One request on its way.
struct Flight {
    machine: Option<Machine>,
    holds: bool,
    body: Option<Vec<u8>>,
    outcome: SimOutcome,
}

impl Flight {
    fn new(machine: Machine) -> Self {
        Self { machine: Some(machine), holds: false, body: None, outcome: SimOutcome::default() }
    }

    fn drive(&mut self, host: &mut SimHost, event: Event<'_>, view: &View<'_>) {
        let mut effects = VecDeque::from(self.step(event, view));
        while let Some(effect) = effects.pop_front() {
            effects.extend(self.execute(host, effect, view));
        }
    }

    fn step(&mut self, event: Event<'_>, view: &View<'_>) -> Vec<Effect> {
        let Some(machine) = self.machine.take() else { return Vec::new() };
        let (machine, effects) = machine.on(event, view);
        self.machine = Some(machine);
        effects
    }

    fn execute(&mut self, host: &mut SimHost, effect: Effect, view: &View<'_>) -> Vec<Effect> {
        match effect {
            Effect::Hold => self.holds = true,
            Effect::Release => self.holds = false,
            Effect::SetRequestHeader(name, value) => self.outcome.changed.push((name, value)),
            Effect::RemoveRequestHeader(name) => self.outcome.changed.push((name, String::new())),
            Effect::ReplaceRequestBody(body) => self.body = Some(body),
            Effect::Reply(reply) => self.outcome.reply = Some(reply),
            Effect::Ask(question) => {
                let reply = (host.service)(&question);
                return self.step(Event::ServiceReply(reply), view);
            }
            Effect::Cancel | Effect::Held(_) => {}
            Effect::LoadSlot(key) => {
                let slot = host.slots.get(&key);
                let (bytes, version) =
                    slot.map_or((None, None), |(bytes, version)| (Some(bytes.as_slice()), Some(*version)));
                return self.step(Event::SlotLoaded { bytes, version }, view);
            }
            Effect::StoreSlot { key, bytes, version } => {
                let current = host.slots.get(&key).map(|(_, version)| *version);
                let stored = host.lost_stores == 0 && version == current;
                host.lost_stores = host.lost_stores.saturating_sub(1);
                if stored {
                    host.slots.insert(key, (bytes, version.unwrap_or(0).saturating_add(1)));
                }
                return self.step(Event::SlotStored { stored }, view);
            }
            Effect::SetResponseHeader(name, value) => self.outcome.headers.push((name, value)),
            Effect::Count(metric, by) => {
                let counter = host.counters.entry(metric.name()).or_default();
                *counter = counter.saturating_add(by);
            }
            Effect::Log(line) => host.log.push(line),
            Effect::Trace(spans) => host.spans.extend(spans),
            Effect::Note(name, value) => self.outcome.notes.push((name, value)),
        }
        Vec::new()
    }
}
