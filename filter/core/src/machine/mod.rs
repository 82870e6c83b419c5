//! The state machine of one request. It is moved by value: an event goes in, effects come out, and the host executes
//! them in order. The host adds nothing of its own.
//!
//! ```text
//! Idle ─headers─► Reading ─body─► Deciding ─slot─► (Asking ─reply─► Marking) ─► Passing ─response─► Recording ─► Done
//! ```
//! Every fault on the way leads to `Passing` or `Done` with the request unchanged.

mod effect;
mod log;
mod mcp;
mod note;
mod request;
mod response;
mod text;

use std::sync::Arc;

use mcp::McpCase;

pub use effect::{Effect, Question, Reply, ServiceReply};

use crate::{
    arrival::{Arrival, Judgement},
    config::{Config, Policy},
    dialect::{AnswerReader, Dialect, Form, Route},
    identity::{Claims, Scope},
    metric::ServiceOutcome,
    remote::RemoteTail,
    signal::Finding,
    span::{Cause, Span},
    step::Done,
    window::Outcome,
};

/// What happens to a request, as the host sees it.
#[derive(Debug)]
pub enum Event<'a> {
    RequestHeaders {
        end_of_stream: bool,
    },
    /// `held`: bytes of the body that the host holds back so far.
    RequestBody {
        held: usize,
        end_of_stream: bool,
    },
    /// The body is over, though no body event said so.
    RequestTrailers,
    /// Answer to `Effect::LoadSlot`. `version` goes back with `Effect::StoreSlot`.
    SlotLoaded {
        bytes: Option<&'a [u8]>,
        version: Option<u32>,
    },
    /// Answer to `Effect::StoreSlot`: whether nobody else had changed it.
    SlotStored {
        stored: bool,
    },
    /// Answer to `Effect::Ask`.
    ServiceReply(Result<ServiceReply, ServiceOutcome>),
    ResponseHeaders {
        end_of_stream: bool,
    },
    ResponseBody {
        end_of_stream: bool,
    },
    ResponseTrailers,
    /// Nothing more will come; the client may have gone in the middle.
    Closed,
}

/// What the host holds of the request and response at the time of an event.
pub trait Held {
    /// Milliseconds since 1970.
    fn now(&self) -> u64;
    /// The first value of a request header.
    fn request_header(&self, name: &str) -> Option<Vec<u8>>;
    fn request_body(&self) -> Option<Vec<u8>>;
    fn response_header(&self, name: &str) -> Option<Vec<u8>>;
    /// The part of the response body that the event is about.
    fn response_chunk(&self) -> Option<Vec<u8>>;
}

/// One request.
#[derive(Debug)]
pub struct Machine {
    config: Arc<Config>,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Idle,
    /// The body is being held until it is whole.
    Reading(Box<Opening>),
    /// The window is being loaded and stored.
    Deciding(Box<Case>, SlotWrite),
    /// The embedding service is thinking; the request is held.
    Asking(Box<Case>),
    /// The service's verdict is being noted in the window.
    Marking(Box<Case>, SlotWrite),
    /// The calls of an MCP request are being counted.
    Counting(Box<McpCase>, SlotWrite),
    /// The request has gone on; the response is read as it passes.
    Passing(Box<Passage>),
    /// What the response was is being noted in the window.
    Recording {
        scope: Scope,
        entry: u32,
        outcome: Outcome,
        write: SlotWrite,
    },
    Done,
}

/// What is known after the headers.
#[derive(Debug)]
struct Opening {
    /// None: MCP.
    route: Option<Route>,
    claims: Claims,
    has_length: bool,
    is_retry: bool,
}

/// A request that is being judged.
#[derive(Debug)]
struct Case {
    dialect: Dialect,
    form: Form,
    model: String,
    include_usage: bool,
    has_length: bool,
    policy: Arc<Policy>,
    scope: Scope,
    arrival: Arrival,
    /// What the steps in the history say.
    finding: Option<Finding>,
    /// What is new, where the provider keeps the history.
    remote: Option<RemoteTail>,
    /// The calls whose results are new are to be spans.
    is_traced: bool,
    done: Vec<Done>,
    cause: Option<Cause>,
    spans: Vec<Span>,
    body: Vec<u8>,
    /// The text to ask about.
    prompt: String,
    judgement: Judgement,
    similarity: Option<f64>,
    service: Option<ServiceOutcome>,
}

impl Case {
    /// The finding, where it is the reason for the verdict.
    fn finding_at_hand(&self) -> Option<&Finding> {
        self.finding.as_ref().filter(|finding| Some(finding.signal) == self.judgement.signal)
    }
}

/// A read-change-write of a slot, tried again while others are faster.
#[derive(Clone, Copy, Debug, Default)]
struct SlotWrite {
    tries: u8,
}

impl SlotWrite {
    /// Others change a slot for microseconds each time: not to get through so often is a fault, not bad luck.
    const MAX_TRIES: u8 = 8;

    fn again(self) -> Option<Self> {
        let tries = self.tries.saturating_add(1);
        (tries < Self::MAX_TRIES).then_some(Self { tries })
    }
}

/// A response that is awaited or passing.
#[derive(Debug)]
struct Passage {
    dialect: Dialect,
    /// As the request named it.
    model: String,
    scope: Scope,
    /// Entry of the window to which the response belongs; none where nothing is remembered.
    entry: Option<u32>,
    /// Headers for the response.
    headers: Vec<(&'static str, String)>,
    reader: Option<AnswerReader>,
    /// Response headers with a status of success have come.
    succeeded: bool,
}

type Step = (Phase, Vec<Effect>);

impl Machine {
    pub fn new(config: Arc<Config>) -> Self {
        Self { config, phase: Phase::Idle }
    }

    pub fn on(self, event: Event<'_>, held: &dyn Held) -> (Self, Vec<Effect>) {
        let Self { config, phase } = self;
        let (phase, effects) = step(&config, phase, event, held);
        (Self { config, phase }, effects)
    }

    /// Whether response chunks are of any use; the host need not bother otherwise.
    pub fn reads_response(&self) -> bool {
        matches!(&self.phase, Phase::Passing(passage) if passage.reader.is_some())
    }
}

/// Which event matters in which phase. What is not listed changes nothing.
fn step(config: &Config, phase: Phase, event: Event<'_>, held: &dyn Held) -> Step {
    match (phase, event) {
        (Phase::Idle, Event::RequestHeaders { end_of_stream }) => request::open(config, end_of_stream, held),
        (Phase::Reading(opening), Event::RequestBody { held: bytes, end_of_stream }) => {
            request::body(config, opening, bytes, end_of_stream, held)
        }
        (Phase::Reading(opening), Event::RequestTrailers) => request::whole(config, *opening, held),
        (Phase::Deciding(case, write), Event::SlotLoaded { bytes, version }) => {
            request::decide(config, case, write, bytes, version)
        }
        (Phase::Deciding(case, write), Event::SlotStored { stored }) => {
            request::decided(config, case, write, stored, held)
        }
        (Phase::Asking(case), Event::ServiceReply(reply)) => request::answered(config, case, reply, held),
        (Phase::Asking(_), Event::Closed) => {
            (Phase::Done, vec![Effect::Cancel, Effect::Count(ServiceOutcome::Cancelled.into(), 1)])
        }
        (Phase::Marking(case, write), Event::SlotLoaded { bytes, version }) => {
            request::mark(config, case, write, bytes, version)
        }
        (Phase::Marking(case, write), Event::SlotStored { stored }) => {
            request::marked(config, case, write, stored, held)
        }
        (Phase::Counting(case, write), Event::SlotLoaded { bytes, version }) => {
            mcp::count(config, case, write, bytes, version)
        }
        (Phase::Counting(case, write), Event::SlotStored { stored }) => {
            mcp::counted(config, case, write, stored)
        }
        (Phase::Passing(passage), Event::ResponseHeaders { end_of_stream }) => {
            response::headers(config, passage, end_of_stream, held)
        }
        (Phase::Passing(passage), Event::ResponseBody { end_of_stream }) => {
            response::body(config, passage, end_of_stream, held)
        }
        (Phase::Passing(passage), Event::ResponseTrailers) => response::whole(config, *passage),
        (Phase::Passing(passage), Event::Closed) => response::cut_off(config, &passage),
        (Phase::Recording { scope, entry, outcome, write }, Event::SlotLoaded { bytes, version }) => {
            response::record(config, (scope, entry, outcome), write, bytes, version, held)
        }
        (Phase::Recording { scope, entry, outcome, write }, Event::SlotStored { stored }) => {
            response::recorded(config, (scope, entry, outcome), write, stored)
        }
        (_, Event::Closed) => (Phase::Done, Vec::new()),
        (phase, _) => (phase, Vec::new()),
    }
}
