//! The way of an answer. A model's answer is cleaned if that is on, and passes unchanged if not. It is read meanwhile, to
//! count its tokens and to remember its fingerprint. Other answers that are changed have modules of their own.

use std::sync::Arc;

use sentinel_detect::{kept_history::ThreadRef, window::Outcome};
use sentinel_llm_api::{answer_reader::AnswerReader, dialect::DialectRef};

use crate::{
    case::Case,
    config::{Config, Policy},
    fail_open,
    host::Host,
    identity::Scope,
    metric::{Bypass, CleanKind, Metric},
    passes::{
        cache::keep::{Awaited, awaited},
        clean::{self, Clean},
        fingerprint, tools, usage,
    },
    record,
    tool_list::ToolList,
};

/// What is awaited, or passing.
#[derive(Debug)]
pub enum Passing {
    Model(Box<PassingResponse>),
    /// An MCP server's list of tools.
    ToolList(Box<ToolList>),
}

impl Passing {
    /// Whether the body is of interest.
    pub fn reads(&self) -> bool {
        match self {
            Self::Model(response) => response.reads(),
            Self::ToolList(list) => list.reads(),
        }
    }

    /// The headers have come; what goes on.
    pub fn headers(self, config: &Config, end_of_stream: bool, host: &mut impl Host) -> Option<Self> {
        match self {
            Self::Model(response) => headers(config, response, end_of_stream, host).map(Self::Model),
            Self::ToolList(list) => list.headers(end_of_stream, host).map(Self::ToolList),
        }
    }

    /// A part of the body is passing; what goes on.
    pub fn body(self, config: &Config, end_of_stream: bool, host: &mut impl Host) -> Option<Self> {
        match self {
            Self::Model(response) => body(config, response, end_of_stream, host).map(Self::Model),
            Self::ToolList(list) => list.body(end_of_stream, host).map(Self::ToolList),
        }
    }

    /// It is over.
    pub fn whole(self, config: &Config, host: &mut impl Host) {
        if let Self::Model(response) = self {
            whole(config, *response, host);
        }
    }

    /// It ended before its end.
    pub fn cut_off(self, config: &Config, host: &mut impl Host) {
        if let Self::Model(response) = self {
            cut_off(config, *response, host);
        }
    }
}

/// A response that is awaited or passing.
#[derive(Debug)]
pub struct PassingResponse {
    dialect: DialectRef,
    /// As the request named it.
    model: String,
    policy: Arc<Policy>,
    scope: Scope,
    /// Entry of the window to which the response belongs; none where nothing is remembered.
    entry: Option<u32>,
    /// The thread that the provider keeps, where it keeps one.
    thread: ThreadRef,
    /// Headers for the response.
    headers: Vec<(&'static str, String)>,
    reader: Option<AnswerReader>,
    /// Where the answer may be kept in the response cache.
    awaited: Option<Awaited>,
    /// Where the answer is to be cleaned, and can be.
    clean: Option<Clean>,
    /// It is kept back, headers and all.
    is_held: bool,
    /// Response headers with a status of success have come.
    has_succeeded: bool,
    /// What it said is on record.
    is_recorded: bool,
}

impl PassingResponse {
    pub fn new(mut case: Case, headers: Vec<(&'static str, String)>) -> Self {
        let awaited = awaited(&mut case);
        let Case { dialect, model, policy, scope, entry, thread, .. } = case;
        Self {
            dialect,
            model,
            policy,
            scope,
            entry,
            thread,
            headers,
            reader: None,
            awaited,
            clean: None,
            is_held: false,
            has_succeeded: false,
            is_recorded: false,
        }
    }

    /// Whether the answer is being read.
    pub fn reads(&self) -> bool {
        self.reader.is_some() || self.clean.is_some()
    }
}

/// The response's headers have come; the response where it goes on.
fn headers(
    config: &Config,
    mut response: Box<PassingResponse>,
    end_of_stream: bool,
    host: &mut impl Host,
) -> Option<Box<PassingResponse>> {
    for name in record::HEADERS.into_iter().chain([record::NO_REPLY]) {
        match response.headers.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => host.set_response_header(name, value),
            // A provider's word must not pass for ours.
            None if host.response_header(name).is_some() => host.remove_response_header(name),
            None => {}
        }
    }
    let status = host.response_header(":status").unwrap_or_default();
    response.has_succeeded = status.len() == 3 && status.starts_with(b"2");
    if response.has_succeeded {
        let coding = host.response_header("content-encoding");
        let is_plain = coding.is_none_or(|coding| coding.eq_ignore_ascii_case(b"identity"));
        let content_type = host.response_header("content-type").unwrap_or_default();
        response.reader = if is_plain { AnswerReader::new(response.dialect, &content_type) } else { None };
        if response.reader.is_none() {
            fail_open::bypassed(Bypass::Response, host);
        }
        if response.policy.cleans && !end_of_stream {
            clean(config, &mut response, is_plain, &content_type, host);
        }
    }
    if let Some(awaited) = response.awaited.take() {
        (response.awaited, response.reader) = awaited.headers(response.reader.take(), host);
    }
    if end_of_stream || !response.has_succeeded {
        record(config, &mut response, host);
        return None;
    }
    Some(response)
}

/// Gets ready to clean the answer. One that is a single JSON text is kept back until it is whole, so that its headers can say
/// what it is.
fn clean(
    config: &Config,
    response: &mut PassingResponse,
    is_plain: bool,
    content_type: &[u8],
    host: &mut impl Host,
) {
    let PassingResponse { dialect, policy, .. } = response;
    let clean = Clean::new(*dialect, policy, content_type, config.max_body).filter(|_| is_plain);
    // What is longer than may be held need not be held at all.
    let length = length(host).unwrap_or(0);
    let fits = |clean: &Clean| {
        !clean.holds_all() || usize::try_from(length).is_ok_and(|length| length <= config.max_body)
    };
    let Some(clean) = clean.filter(fits) else { return fail_open::bypassed(Bypass::Uncleaned, host) };
    response.is_held = clean.holds_all() && config.hold_headers;
    if response.is_held {
        host.hold_response();
    } else if clean.is_enforced() {
        host.remove_response_header("content-length");
    }
    response.clean = Some(clean);
}

/// What the response says of its length.
fn length(host: &impl Host) -> Option<u64> {
    String::from_utf8(host.response_header("content-length")?).ok()?.parse().ok()
}

/// A part of the response's body is passing; the response where it goes on.
fn body(
    config: &Config,
    mut response: Box<PassingResponse>,
    end_of_stream: bool,
    host: &mut impl Host,
) -> Option<Box<PassingResponse>> {
    pass(&mut response, end_of_stream, host);
    let is_whole = response.is_held && response.clean.as_ref().is_none_or(|clean| !clean.holds_all());
    if end_of_stream || is_whole || response.reader.as_ref().is_some_and(AnswerReader::has_ended) {
        record(config, &mut response, host);
    }
    // What was begun to be changed is changed to its end.
    (!end_of_stream && (!response.is_recorded || response.clean.is_some())).then_some(response)
}

/// The part that is passing is cleaned and read.
fn pass(response: &mut PassingResponse, is_last: bool, host: &mut impl Host) {
    let PassingResponse { reader, clean, .. } = response;
    if reader.is_none() && clean.is_none() {
        return;
    }
    let part = host.response_chunk().unwrap_or_default();
    let passed = clean.as_mut().and_then(|clean| clean.push(&part, is_last));
    if let Some(passed) = &passed {
        host.replace_response_chunk(passed);
    }
    // What the agent gets is what its next request will say.
    if let Some(reader) = reader {
        reader.push(passed.as_deref().unwrap_or(&part));
    }
}

/// The response is over, though no part of it said so.
fn whole(config: &Config, mut response: PassingResponse, host: &mut impl Host) {
    if response.clean.is_some() {
        pass(&mut response, true, host);
    }
    record(config, &mut response, host);
}

/// Puts on record what the response said, once, and lets it go on where it is held.
fn record(config: &Config, response: &mut PassingResponse, host: &mut impl Host) {
    if std::mem::replace(&mut response.is_recorded, true) {
        return;
    }
    let label = response.dialect.label();
    let awaited = response.awaited.take();
    let PassingResponse { policy, scope, entry, thread, model, clean, .. } = response;
    let was_read = response.reader.is_some();
    let mut answer = response.reader.take().and_then(AnswerReader::into_answer);
    match &answer {
        Some(answer) => {
            usage::run(config, model, &answer.usage, host);
            tools::answered(policy, label, scope, answer, host);
            if config.annotates {
                record::annotate_answer(answer, host);
            }
        }
        None if was_read => fail_open::bypassed(Bypass::Response, host),
        None => {}
    }
    if let Some(clean) = clean {
        clean.count(label, host);
        let is_silent = answer.as_ref().is_some_and(clean::is_silent);
        if is_silent {
            host.count(Metric::Cleaned(CleanKind::NoReply, label), 1);
            record::no_reply(scope, label, response.is_held, host);
        }
        if response.is_held {
            if is_silent {
                host.set_response_header(record::NO_REPLY, "true");
            }
            if let Some(length) = length(host).and_then(|length| clean.length(length)) {
                host.set_response_header("content-length", &length.to_string());
            }
        }
    }
    if std::mem::take(&mut response.is_held) {
        host.release_response();
    }
    if let Some(entry) = *entry {
        let outcome = if response.has_succeeded {
            fingerprint::answered(answer.as_ref(), &policy.steps.tools)
        } else {
            Outcome::Failed
        };
        fingerprint::remember(config, scope, entry, *thread, &outcome, host);
    }
    if let Some(awaited) = awaited {
        // Who gets it from the cache gets no header that says what it is.
        let answer = answer.as_mut().filter(|answer| clean.is_none() || !clean::is_silent(answer));
        awaited.whole(config, model, scope, answer, host);
    }
}

/// The response ended before its end.
fn cut_off(config: &Config, mut response: PassingResponse, host: &mut impl Host) {
    if let Some(awaited) = response.awaited.take() {
        awaited.cut_off(host);
        // The model had finished, and the client did not wait for the last byte.
        if response.reader.as_ref().is_some_and(AnswerReader::has_finished) {
            return record(config, &mut response, host);
        }
    }
    if let Some(entry) = response.entry.filter(|_| !response.is_recorded) {
        fingerprint::remember(config, &response.scope, entry, response.thread, &Outcome::Failed, host);
    }
}
