//! A host in memory: carries out what the pipeline orders as Envoy would, for tests and replays. Whoever writes another host finds here
//! what each call means. The filter does not name it, so the linker leaves it out of the module.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    mem,
    rc::Rc,
    sync::Arc,
};

use sentinel_config::{Config, ConfigError};
use sentinel_detect::step::Memo;
use sentinel_llm_api::dialect::LocalReply;

use crate::{
    budget::leases::Leases,
    control::{Directives, Report, ReportReply, Reservation, ReserveReply},
    host::{
        Background, BackgroundMessage, Facts, Host, Level, Process, Question, Reply, Secret, ServiceReply,
        Stored,
    },
    metric::{FAMILIES, Metric},
    request::Request,
    service_outcome::ServiceOutcome,
    span::Span,
    stored::StoreOrder,
    turn::Turn,
    worker::{MessageKind, Worker},
};

/// Answers reports in the embedding service's place.
pub type Control = dyn FnMut(&Report) -> Result<ReportReply, ServiceOutcome>;

/// Grants shares of budgets in the embedding service's place.
pub type Reserve = dyn FnMut(&Reservation) -> Result<ReserveReply, ServiceOutcome>;

/// Answers questions in the embedding service's place.
pub type Service = dyn FnMut(&Question) -> Result<ServiceReply, ServiceOutcome>;

/// What outlives a request: the slots, the counters and the log.
pub struct InMemory {
    pub config: Arc<Config>,
    /// Milliseconds since 1970; the caller moves it.
    pub now: u64,
    pub slots: HashMap<String, (Vec<u8>, u32)>,
    pub counters: BTreeMap<String, u64>,
    /// All lines of the log.
    pub log: Vec<String>,
    /// Those that were sent to the collector.
    pub spans: Vec<Span>,
    pub worker: Worker,
    /// Answers reports in the service's place.
    pub control: Box<Control>,
    /// Grants shares of budgets in the service's place.
    pub reserve: Box<Reserve>,
    /// The number of parts of a response after which time passes for the worker. 0: before its headers come.
    pub tick_in_response: Option<usize>,
    /// How many of the next stores are lost to another worker.
    pub lost_stores: u32,
    pub service: Box<Service>,
    /// What was to be stored.
    pub stored: Vec<StoreOrder>,
    /// What `Facts::random` gives.
    pub random: u64,
}

/// A request as the client sends it.
#[derive(Clone, Debug, Default)]
pub struct ClientRequest {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A response as the provider sends it.
#[derive(Clone, Debug)]
pub struct ProviderResponse {
    pub status: u16,
    pub content_type: String,
    pub cache_control: Vec<String>,
    pub body: Vec<u8>,
    /// Bytes of the parts in which the body comes. `None`: it comes as one.
    pub part: Option<usize>,
    /// The connection ends after this body without saying that it was the end.
    pub is_cut_off: bool,
}

/// What became of a request.
#[derive(Debug, Default)]
pub struct Exchange {
    /// The body that the provider got. `None` if the filter answered.
    pub sent: Option<Vec<u8>>,
    pub reply: Option<LocalReply>,
    /// The body that the client got from the provider.
    pub received: Vec<u8>,
    /// Response headers that we took away.
    pub removed: Vec<&'static str>,
    /// Headers that we put on the response.
    pub headers: Vec<(&'static str, String)>,
    /// Request headers that we changed.
    pub changed: Vec<(&'static str, String)>,
    /// The response was held and never released.
    pub hangs: bool,
    /// What Envoy's tracer and access logs are told.
    pub annotations: Vec<(&'static str, String)>,
}

impl ClientRequest {
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

impl ProviderResponse {
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            content_type: "application/json".into(),
            cache_control: Vec::new(),
            body: body.into(),
            part: None,
            is_cut_off: false,
        }
    }
}

impl Exchange {
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

impl InMemory {
    pub fn new(config: Config) -> Self {
        Self::with_worker(Worker::new(Arc::new(config), b""))
    }

    /// With this configuration, which live settings can change.
    pub fn of_json(config: &str) -> Result<Self, ConfigError> {
        let source = config.as_bytes();
        Ok(Self::with_worker(Worker::new(Arc::new(Config::from_json(source)?), source)))
    }

    fn with_worker(worker: Worker) -> Self {
        Self {
            config: worker.config(),
            now: 1_700_000_000_000,
            slots: HashMap::new(),
            counters: BTreeMap::new(),
            log: Vec::new(),
            spans: Vec::new(),
            worker,
            control: Box::new(|_| Ok(ReportReply::default())),
            reserve: Box::new(|_| Ok(ReserveReply::default())),
            tick_in_response: None,
            lost_stores: 0,
            service: Box::new(|_| Ok(ServiceReply::default())),
            stored: Vec::new(),
            random: 7,
        }
    }

    /// Sends one request; where it reaches the provider, `response` is the answer.
    pub fn exchange(&mut self, sent: &ClientRequest, response: &ProviderResponse) -> Exchange {
        let mut request = Request::new(Arc::clone(&self.config));
        let slots = RefCell::new(mem::take(&mut self.slots));
        let lost_stores = Cell::new(self.lost_stores);
        let mut flight = Flight {
            process: InProcess {
                now: self.now,
                random: self.random,
                slots: &slots,
                lost_stores: &lost_stores,
            },
            host: self,
            sent,
            response: None,
            part: &[],
            replaced: None,
            holds: false,
            holds_response: false,
            has_headers: false,
            body: None,
            question: None,
            reservation: None,
            exchange: Exchange::default(),
        };
        request.on_request_headers(&mut flight, sent.body.is_empty());
        if !sent.body.is_empty() {
            request.on_request_body(&mut flight, sent.body.len(), true);
            if let Some(question) = flight.question.take() {
                let reply = (flight.host.service)(&question);
                request.on_service_reply(&mut flight, reply);
            }
            while let Some(reservation) = flight.reservation.take() {
                let reply = (flight.host.reserve)(&reservation);
                request.on_reservation(&mut flight, reply);
            }
        }
        if flight.exchange.reply.is_none() && !flight.holds {
            flight.exchange.sent = Some(flight.body.take().unwrap_or_else(|| sent.body.clone()));
            flight.response = Some(response);
            flight.has_headers = true;
            if flight.host.tick_in_response == Some(0) {
                flight.host.tick_on(flight.process.slots);
            }
            request.on_response_headers(&mut flight, response.body.is_empty());
            flight.has_headers = flight.holds_response;
            let parts: Vec<&[u8]> =
                response.body.chunks(response.part.unwrap_or(usize::MAX).max(1)).collect();
            for (at, part) in (1_usize..).zip(&parts) {
                // Nothing more comes of an answer that has another in its place.
                if flight.exchange.reply.is_some() {
                    break;
                }
                flight.part = part;
                let is_last = at == parts.len() && !response.is_cut_off;
                // As Envoy does, where nobody reads.
                request.on_response_body(&mut flight, is_last);
                if flight.exchange.reply.is_some() {
                    break;
                }
                if flight.host.tick_in_response == Some(at) {
                    flight.host.tick_on(flight.process.slots);
                }
                flight.has_headers &= flight.holds_response;
                let passed = flight.replaced.take().unwrap_or_else(|| part.to_vec());
                flight.exchange.received.extend(passed);
            }
        }
        request.on_closed(&mut flight);
        flight.exchange.hangs = flight.holds_response && !response.is_cut_off;
        let exchange = flight.exchange;
        (self.slots, self.lost_stores) = (slots.into_inner(), lost_stores.get());
        if self.config.collector.is_some() {
            self.tick();
        }
        exchange
    }

    /// Some time passes for the worker.
    pub fn tick(&mut self) {
        let slots = RefCell::new(mem::take(&mut self.slots));
        self.tick_on(&slots);
        self.slots = slots.into_inner();
    }

    fn tick_on(&mut self, slots: &RefCell<HashMap<String, (Vec<u8>, u32)>>) {
        let process = InProcess { now: self.now, random: self.random, slots, lost_stores: &Cell::new(0) };
        let Self { config, worker, spans, counters, log, control, .. } = self;
        let mut wire = Wire { process, spans, counters, log, control, replies: Vec::new() };
        worker.on_tick(&mut wire);
        for reply in mem::take(&mut wire.replies) {
            worker.on_reply(reply, &mut wire);
        }
        *config = worker.config();
    }

    /// The lines of the log about events of this kind.
    pub fn lines(&self, event: &str) -> Vec<&String> {
        let begin = format!(r#""event":"{event}""#);
        self.log.iter().filter(|line| line.contains(&begin)).collect()
    }

    /// A counter's value.
    pub fn counted(&self, metric: Metric) -> u64 {
        self.counters.get(&metric.series()).copied().unwrap_or(0)
    }
}

/// The process, which outlives its workers.
struct InProcess<'a> {
    now: u64,
    random: u64,
    slots: &'a RefCell<HashMap<String, (Vec<u8>, u32)>>,
    lost_stores: &'a Cell<u32>,
}

impl Process for InProcess<'_> {
    fn now(&self) -> u64 {
        self.now
    }

    fn random(&self) -> u64 {
        self.random
    }

    fn load(&self, key: &str) -> Stored {
        let (bytes, version) = self.slots.borrow().get(key).cloned().unzip();
        Stored { bytes, version }
    }

    fn store(&self, key: &str, bytes: &[u8], version: Option<u32>) -> bool {
        let mut slots = self.slots.borrow_mut();
        let current = slots.get(key).map(|(_, version)| *version);
        let is_stored = self.lost_stores.get() == 0 && version == current;
        self.lost_stores.set(self.lost_stores.get().saturating_sub(1));
        if is_stored {
            let version = version.unwrap_or(0).saturating_add(1);
            slots.insert(key.to_owned(), (bytes.to_vec(), version));
        }
        is_stored
    }
}

/// What a worker sends arrives, and is answered at once.
struct Wire<'a> {
    process: InProcess<'a>,
    spans: &'a mut Vec<Span>,
    counters: &'a mut BTreeMap<String, u64>,
    log: &'a mut Vec<String>,
    control: &'a mut Control,
    replies: Vec<Result<Reply, (MessageKind, ServiceOutcome)>>,
}

impl Background for Wire<'_> {
    fn process(&self) -> &dyn Process {
        &self.process
    }

    fn send(&mut self, message: BackgroundMessage) -> Result<(), ServiceOutcome> {
        let reply = match message {
            BackgroundMessage::Spans(spans) => {
                self.spans.extend(spans);
                Ok(Reply::Spans)
            }
            BackgroundMessage::Report(report) => (self.control)(&report)
                .map(|reply| Reply::Report(Box::new(reply)))
                .map_err(|outcome| (MessageKind::Report, outcome)),
        };
        self.replies.push(reply);
        Ok(())
    }

    fn count(&mut self, metric: Metric, by: u64) {
        count(self.counters, &metric, by);
    }

    fn log(&mut self, _level: Level, line: &str) {
        self.log.push(line.to_owned());
    }
}

fn count(counters: &mut BTreeMap<String, u64>, metric: &Metric, by: u64) {
    // What is not declared is not counted by every host.
    let is_declared = FAMILIES.contains(&metric.family());
    let name = if is_declared { metric.series() } else { "undeclared".to_owned() };
    let counter = counters.entry(name).or_default();
    *counter = counter.saturating_add(by);
}

/// One request on its way.
struct Flight<'a> {
    host: &'a mut InMemory,
    process: InProcess<'a>,
    sent: &'a ClientRequest,
    /// Once it has come.
    response: Option<&'a ProviderResponse>,
    /// The part of its body that is passing.
    part: &'a [u8],
    /// What passes in its place.
    replaced: Option<Vec<u8>>,
    holds: bool,
    holds_response: bool,
    /// The response's headers have not gone on yet.
    has_headers: bool,
    body: Option<Vec<u8>>,
    question: Option<Question>,
    reservation: Option<Reservation>,
    exchange: Exchange,
}

impl Facts for Flight<'_> {
    fn secret(&self) -> Secret {
        [1, 2]
    }

    fn request_header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let header = self.sent.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        header.map(|(_, value)| Cow::Borrowed(value.as_bytes()))
    }

    fn request_header_values(&self, name: &str) -> Vec<Vec<u8>> {
        let headers = self.sent.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        headers.map(|(_, value)| value.clone().into_bytes()).collect()
    }

    fn process(&self) -> &dyn Process {
        &self.process
    }

    fn directives(&self) -> Rc<Directives> {
        self.host.worker.directives()
    }

    fn leases(&self) -> Rc<Leases> {
        self.host.worker.leases()
    }

    fn request_header_names(&self) -> Vec<String> {
        self.sent.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect()
    }

    fn memo(&self) -> Rc<Memo> {
        self.host.worker.memo()
    }

    fn request_body(&self) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(&self.sent.body))
    }

    fn response_header_values(&self, name: &str) -> Vec<Vec<u8>> {
        match (self.response, name) {
            (Some(response), "cache-control") => {
                response.cache_control.iter().map(|value| value.clone().into_bytes()).collect()
            }
            _ => self.response_header(name).map(Cow::into_owned).into_iter().collect(),
        }
    }

    fn response_header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let response = self.response?;
        match name {
            ":status" => Some(Cow::Owned(response.status.to_string().into_bytes())),
            "content-type" => Some(Cow::Borrowed(response.content_type.as_bytes())),
            // A stream does not know it.
            "content-length" if response.content_type != "text/event-stream" => {
                Some(Cow::Owned(response.body.len().to_string().into_bytes()))
            }
            _ => None,
        }
    }

    fn response_chunk(&self) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(self.part))
    }
}

impl Host for Flight<'_> {
    fn store_answer(&mut self, order: StoreOrder) -> Result<(), ServiceOutcome> {
        self.host.stored.push(order);
        Ok(())
    }

    fn hold(&mut self) {
        self.holds = true;
    }

    fn release(&mut self) {
        self.holds = false;
    }

    fn set_request_header(&mut self, name: &'static str, value: &str) {
        self.exchange.changed.push((name, value.to_owned()));
    }

    fn remove_request_header(&mut self, name: &'static str) {
        self.exchange.changed.push((name, String::new()));
    }

    fn replace_request_body(&mut self, body: &[u8]) {
        self.body = Some(body.to_vec());
    }

    fn set_response_header(&mut self, name: &'static str, value: &str) {
        // Behind them it would be lost.
        if self.has_headers {
            self.exchange.headers.push((name, value.to_owned()));
        }
    }

    fn remove_response_header(&mut self, name: &'static str) {
        self.exchange.removed.push(name);
    }

    fn hold_response(&mut self) {
        self.holds_response = true;
    }

    fn release_response(&mut self) {
        self.holds_response = false;
    }

    fn replace_response_chunk(&mut self, bytes: &[u8]) {
        self.replaced = Some(bytes.to_vec());
    }

    fn reply(&mut self, reply: LocalReply) {
        self.exchange.reply = Some(reply);
        // What was to go on the answer that it replaces does not go on it.
        self.exchange.headers.clear();
        (self.holds, self.holds_response) = (false, false);
    }

    fn ask(&mut self, question: Question) -> Result<(), ServiceOutcome> {
        self.question = Some(question);
        Ok(())
    }

    fn reserve(&mut self, reservation: Reservation) -> Result<(), ServiceOutcome> {
        self.reservation = Some(reservation);
        Ok(())
    }

    fn cancel(&mut self) {}

    fn count(&mut self, metric: Metric, by: u64) {
        count(&mut self.host.counters, &metric, by);
    }

    fn record_latency(&mut self, _milliseconds: u64) {}

    fn log(&mut self, _level: Level, line: &str) {
        self.host.log.push(line.to_owned());
    }

    fn annotate(&mut self, name: &'static str, value: &str) {
        self.exchange.annotations.push((name, value.to_owned()));
    }

    fn trace(&mut self, spans: Vec<Span>) {
        self.host.worker.trace(spans);
    }

    fn report(&mut self, turn: Turn) -> u64 {
        self.host.worker.report(turn)
    }
}
