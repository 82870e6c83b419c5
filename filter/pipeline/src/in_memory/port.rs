//! The host's side of the port: what each call of the pipeline does.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

use sentinel_detect::step::Memo;
use sentinel_llm_api::dialect::LocalReply;

use super::{ClientRequest, Control, Exchange, InMemory, ProviderResponse};
use crate::{
    budget::leases::Leases,
    control::{Directives, Reservation},
    host::{Background, BackgroundMessage, Facts, Host, Level, Process, Question, Reply, Secret, Stored},
    metric::{FAMILIES, Metric},
    service_outcome::ServiceOutcome,
    span::Span,
    stored::StoreOrder,
    turn::Turn,
    worker::MessageKind,
};

/// The process, which outlives its workers.
pub struct InProcess<'a> {
    pub now: u64,
    pub random: u64,
    pub slots: &'a RefCell<HashMap<String, (Vec<u8>, u32)>>,
    pub lost_stores: &'a Cell<u32>,
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

/// What a worker sends arrives and is answered at once.
pub struct Wire<'a> {
    pub process: InProcess<'a>,
    pub spans: &'a mut Vec<Span>,
    pub counters: &'a mut BTreeMap<String, u64>,
    pub log: &'a mut Vec<String>,
    pub control: &'a mut Control,
    pub replies: Vec<Result<Reply, (MessageKind, ServiceOutcome)>>,
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
    // A metric that is not declared is not counted by every host.
    let is_declared = FAMILIES.contains(&metric.family());
    let name = if is_declared { metric.series() } else { "undeclared".to_owned() };
    let counter = counters.entry(name).or_default();
    *counter = counter.saturating_add(by);
}

/// One request on its way.
pub struct Flight<'a> {
    pub host: &'a mut InMemory,
    pub process: InProcess<'a>,
    pub sent: &'a ClientRequest,
    /// Once it has come.
    pub response: Option<&'a ProviderResponse>,
    /// The part of its body that is passing.
    pub part: &'a [u8],
    /// What passes in its place.
    pub replaced: Option<Vec<u8>>,
    pub holds: bool,
    pub holds_response: bool,
    /// The response's headers have not gone on yet.
    pub has_headers: bool,
    pub body: Option<Vec<u8>>,
    pub question: Option<Question>,
    pub reservation: Option<Reservation>,
    pub exchange: Exchange,
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
            // A stream does not know its length.
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
        // After the headers have gone on, it would be lost.
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
        // Headers for the answer that is replaced do not go on the new one.
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
