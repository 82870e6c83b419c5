//! What is known of one request and its answer: what was read of them, and what the passes added.

use std::sync::Arc;

use sentinel_config::Policy;
use sentinel_detect::{kept_history::ThreadRef, step::FinishedCall, verdict::Finding};
use sentinel_llm_api::{
    answer::Answer,
    conversation::HintPlaces,
    dialect::DialectRef,
    edit::Edit,
    framing::{Framing, passing::PassingFrames},
    route::Route,
};

use crate::{
    budget::spending::Spending,
    bypass::Bypass,
    content_coding::Coding,
    host::Question,
    identity::Scope,
    note::Note,
    passes::{
        cache::{Cached, store::Awaited},
        clean::Clean,
    },
    render::ReplyContext,
    request_head::RequestHead,
    service_outcome::ServiceOutcome,
    span::{Chat, Span},
    stored::Lookup,
    turn::{Names, Turn},
};

/// Steps of a history that the provider keeps, as far as they are remembered, and the calls that got their results with this request.
#[derive(Debug)]
pub struct KeptSteps {
    pub done: Vec<FinishedCall>,
    /// Its last step occurred before.
    pub is_repeated: bool,
}

/// A request to a model, from the moment its body was read until it has gone on or was answered.
#[derive(Debug)]
pub struct Case {
    /// Milliseconds since 1970.
    pub arrived: u64,
    pub dialect: DialectRef,
    /// The framing of the answer that the client expects.
    pub framing: Framing,
    pub include_usage: bool,
    pub model: String,
    pub policy: Arc<Policy>,
    pub scope: Scope,
    /// Present if turns are reported.
    pub names: Option<Names>,
    pub turn: Option<Box<Turn>>,
    /// Empty if it will not be needed.
    pub body: Vec<u8>,
    /// Bytes of the body.
    pub length: usize,
    /// The request has a content-length, and it can still be changed.
    pub has_length: bool,
    /// Why it cannot be read. It goes on unless its agent is stopped or has spent its budgets.
    pub unread: Option<Bypass>,
    /// It has already gone on while the service is asked.
    pub has_gone_on: bool,
    /// Its bytes are counted as they pass, because its length is not known.
    pub is_open_ended: bool,
    /// How the body was compressed. `body` is decoded.
    pub coding: Option<Coding>,
    /// A byte order mark stood in front of it.
    pub has_mark: bool,
    /// What the passes found, in any order.
    pub findings: Vec<Finding>,
    /// What the passes want changed in the body, apart from a hint.
    pub edits: Vec<Edit>,
    /// What the passes want recorded, until it is.
    pub notes: Vec<Note>,
    /// The prompt is new, nothing was found, and the embedding service may know more.
    pub is_open: bool,
    /// Where a hint can be put in.
    pub hint_places: HintPlaces,
    /// Entry of the scope's window to which the response belongs. `None` if nothing is remembered.
    pub entry: Option<u32>,
    /// The thread that the provider keeps, if it keeps one.
    pub thread: ThreadRef,
    /// The last step of the history in the body came before.
    pub ends_repeated: bool,
    /// What is new in that thread. `None` if nothing is remembered.
    pub kept_steps: Option<KeptSteps>,
    /// What is looked up in the response cache.
    pub lookup: Option<Lookup>,
    /// What the embedding service is to be asked.
    pub question: Option<Question>,
    /// How the call of the embedding service ended. `None` if it was not asked.
    pub service: Option<ServiceOutcome>,
    /// The service is asked only for a stored answer.
    pub asks_cache_only: bool,
    /// What the service said.
    pub similarity: Option<f64>,
    /// What the response cache knows of it. `None` if the cache is off.
    pub cache: Option<Cached>,
    /// Who asks. `None` when the response cache is off.
    pub caller: Option<u64>,
    /// Spans of the steps that the request brings.
    pub spans: Vec<Span>,
    /// The run has a trace.
    pub is_traced: bool,
    /// What the span of the call itself will need, if it is traced.
    pub chat: Option<Chat>,
    /// What the request takes of its budgets. `None` when no budget counts it.
    pub spending: Option<Box<Spending>>,
    pub waits: Waits,
}

/// The replies of the service that a request waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// To the question about its prompt.
    pub answer: bool,
    pub reservation: bool,
}

impl Case {
    /// A request of which only the head is known. `first`: the fingerprint of the conversation's head, if the body was read. A
    /// case is large, so it is made in its final place.
    pub fn of(route: &Route, policy: &Arc<Policy>, head: &RequestHead, first: Option<u64>) -> Box<Self> {
        Box::new(Self {
            arrived: head.arrived,
            dialect: route.dialect,
            framing: route.facts.framing.unwrap_or(Framing::Json),
            include_usage: false,
            model: route.facts.model.clone().unwrap_or_default(),
            policy: Arc::clone(policy),
            scope: head.claims.scope(first),
            names: head.claims.names(first),
            turn: None,
            body: Vec::new(),
            length: 0,
            has_length: head.has_length,
            unread: None,
            has_gone_on: false,
            is_open_ended: false,
            coding: head.coding,
            has_mark: false,
            findings: Vec::new(),
            edits: Vec::new(),
            notes: Vec::new(),
            is_open: false,
            hint_places: HintPlaces::default(),
            entry: None,
            ends_repeated: false,
            kept_steps: None,
            thread: ThreadRef::default(),
            lookup: None,
            question: None,
            service: None,
            asks_cache_only: false,
            similarity: None,
            cache: None,
            caller: None,
            spans: Vec::new(),
            is_traced: false,
            chat: None,
            spending: None,
            waits: Waits::default(),
        })
    }

    /// Whether the request may be changed or has to wait. Then its body and the places for a hint are needed later.
    pub fn may_change(&self) -> bool {
        let may_be_hinted = || self.spending.as_ref().is_some_and(|spending| spending.has_to_ask());
        self.question.is_some() || !self.edits.is_empty() || !self.findings.is_empty() || may_be_hinted()
    }

    pub fn asked(&self) -> ReplyContext<'_> {
        ReplyContext {
            dialect: self.dialect,
            policy: &self.policy,
            scope: &self.scope,
            model: &self.model,
            framing: self.framing,
            include_usage: self.include_usage,
            arrived: self.arrived,
        }
    }

    /// Something in the body cannot be read. Adds a finding if that could be something which the agent may not do.
    pub fn unread(&mut self) {
        if self.policy.refuses_unreadable() {
            self.findings.push(Finding::unreadable(Bypass::Shape.label()));
        }
    }
}

/// A request to an MCP server.
#[derive(Debug)]
pub struct McpCase {
    /// Milliseconds since 1970.
    pub arrived: u64,
    pub policy: Arc<Policy>,
    pub scope: Scope,
    /// Present if turns are reported.
    pub names: Option<Names>,
    /// What the passes found, in any order.
    pub findings: Vec<Finding>,
    /// What the passes want recorded, until it is.
    pub notes: Vec<Note>,
    /// Tools are called, and the calls were counted.
    pub is_judged: bool,
    /// How often the call of each request was made, if that was counted.
    pub counts: Vec<Option<u32>>,
    pub turn: Option<Box<Turn>>,
    /// What it takes of budgets. `None` if no budget counts it.
    pub spending: Option<Box<Spending>>,
}

impl McpCase {
    pub fn new(policy: &Arc<Policy>, scope: Scope, names: Option<Names>, arrived: u64) -> Self {
        let policy = Arc::clone(policy);
        Self {
            arrived,
            policy,
            scope,
            names,
            findings: Vec::new(),
            notes: Vec::new(),
            is_judged: false,
            counts: Vec::new(),
            turn: None,
            spending: None,
        }
    }
}

/// The answer of a model, from the moment its request has gone on until it is over.
#[derive(Debug)]
pub struct AnswerCase {
    /// When its request came (milliseconds since 1970).
    pub arrived: u64,
    pub dialect: DialectRef,
    /// The framing that the client expects.
    pub framing: Framing,
    pub include_usage: bool,
    /// As the request named it.
    pub model: String,
    pub policy: Arc<Policy>,
    pub scope: Scope,
    /// Entry of the window to which the answer belongs. `None` if nothing is remembered.
    pub entry: Option<u32>,
    /// The thread that the provider keeps, if it keeps one.
    pub thread: ThreadRef,
    /// HTTP status; 0 until the headers have come.
    pub status: u16,
    /// Who asked, if the response cache is on.
    pub caller: Option<u64>,
    /// Headers with a status of success have come.
    pub has_succeeded: bool,
    /// Bytes of the request, and those of the answer that have come.
    pub request_length: usize,
    pub length: usize,
    /// Present if turns are reported, and the request was.
    pub turn: Option<Box<Turn>>,
    pub names: Option<Names>,
    /// What its request took of budgets, until that can be corrected.
    pub spending: Option<Box<Spending>>,
    /// What the span of the call will need, if it is traced.
    pub chat: Option<Chat>,
    /// Its frames, if it can be ended under way.
    pub frames: Option<PassingFrames>,
    /// Its request could not be read.
    pub is_unread: bool,
    /// The bytes of its request are counted as they pass.
    pub is_open_ended: bool,
    /// It was ended under way: the rest of it does not pass.
    pub is_stopped: bool,
    /// It was cut off before its end.
    pub is_cut_off: bool,
    /// What it says, once it is over. `None` if it could not be read.
    pub answer: Option<Answer>,
    /// Present if it may be stored in the response cache.
    pub awaited: Option<Awaited>,
    /// Present if it is to be cleaned, and can be.
    pub clean: Option<Clean>,
    /// It says that there is nothing to say.
    pub is_silent: bool,
    /// All of it is held, with its headers.
    pub is_held: bool,
    /// What the passes want recorded, until it is.
    pub notes: Vec<Note>,
}

impl AnswerCase {
    /// Its request.
    pub fn asked(&self) -> ReplyContext<'_> {
        ReplyContext {
            dialect: self.dialect,
            policy: &self.policy,
            scope: &self.scope,
            model: &self.model,
            framing: self.framing,
            include_usage: self.include_usage,
            arrived: self.arrived,
        }
    }
}
