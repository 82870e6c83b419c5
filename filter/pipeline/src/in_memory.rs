//! A host in memory, for tests and replays: it carries out the pipeline's orders as Envoy would. Other hosts can use it as an
//! example of what each call means. The filter does not use it, so the linker leaves it out of the module.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    mem,
    sync::Arc,
};

use sentinel_config::{Config, ConfigError};

use self::port::{Flight, InProcess, Wire};
use crate::{
    control::{Report, ReportReply, Reservation, ReserveReply},
    host::{Question, ServiceReply},
    metric::Metric,
    request::Request,
    service_outcome::ServiceOutcome,
    span::Span,
    stored::StoreOrder,
    worker::Worker,
};

mod exchange;
mod port;

pub use exchange::{ClientRequest, Exchange, ProviderResponse};

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
    /// How many of the next stores fail because another worker is faster.
    pub lost_stores: u32,
    pub service: Box<Service>,
    /// What was to be stored.
    pub stored: Vec<StoreOrder>,
    /// What `Facts::random` gives.
    pub random: u64,
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

    /// Sends one request. If it reaches the provider, `response` is the answer.
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
                // If another answer has taken its place, nothing more of the answer passes.
                if flight.exchange.reply.is_some() {
                    break;
                }
                flight.part = part;
                let is_last = at == parts.len() && !response.is_cut_off;
                // Envoy does so too if nobody reads the answer.
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
