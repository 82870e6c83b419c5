//! The way out: a model's answer passes untouched and is read as it does; what it was is counted and remembered. What is
//! changed in other answers has modules of its own.

use std::sync::Arc;

use sentinel_detect::{kept_history::ThreadRef, window::Outcome};
use sentinel_llm_api::{answer_reader::AnswerReader, dialect::DialectRef};

use crate::{
    case::Case,
    config::{Config, Policy},
    fail_open,
    host::Host,
    identity::Scope,
    metric::Bypass,
    passes::{
        cache::keep::{Awaited, awaited},
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
    /// Response headers with a status of success have come.
    has_succeeded: bool,
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
            has_succeeded: false,
        }
    }

    /// Whether the answer is being read.
    pub fn reads(&self) -> bool {
        self.reader.is_some()
    }
}

/// The response's headers have come; the response where it goes on.
fn headers(
    config: &Config,
    mut response: Box<PassingResponse>,
    end_of_stream: bool,
    host: &mut impl Host,
) -> Option<Box<PassingResponse>> {
    for name in record::HEADERS {
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
    }
    if let Some(awaited) = response.awaited.take() {
        (response.awaited, response.reader) = awaited.headers(response.reader.take(), host);
    }
    if end_of_stream || !response.has_succeeded {
        whole(config, *response, host);
        return None;
    }
    Some(response)
}

/// A part of the response's body is passing; the response where it goes on.
fn body(
    config: &Config,
    mut response: Box<PassingResponse>,
    end_of_stream: bool,
    host: &mut impl Host,
) -> Option<Box<PassingResponse>> {
    if let Some(reader) = &mut response.reader
        && let Some(chunk) = host.response_chunk()
    {
        reader.push(&chunk);
    }
    if end_of_stream || response.reader.as_ref().is_some_and(AnswerReader::has_ended) {
        whole(config, *response, host);
        return None;
    }
    Some(response)
}

/// The response is over.
fn whole(config: &Config, response: PassingResponse, host: &mut impl Host) {
    let label = response.dialect.label();
    let PassingResponse { policy, scope, entry, thread, model, reader, awaited, has_succeeded, .. } =
        response;
    let was_read = reader.is_some();
    let mut answer = reader.and_then(AnswerReader::into_answer);
    match &answer {
        Some(answer) => {
            usage::run(config, &model, &answer.usage, host);
            tools::answered(&policy, label, &scope, answer, host);
            if config.annotates {
                record::annotate_answer(answer, host);
            }
        }
        None if was_read => fail_open::bypassed(Bypass::Response, host),
        None => {}
    }
    if let Some(entry) = entry {
        let outcome = if has_succeeded {
            fingerprint::answered(answer.as_ref(), &policy.steps.tools)
        } else {
            Outcome::Failed
        };
        fingerprint::remember(config, &scope, entry, thread, &outcome, host);
    }
    if let Some(awaited) = awaited {
        awaited.whole(config, &model, &scope, answer.as_mut(), host);
    }
}

/// The response ended before its end.
fn cut_off(config: &Config, mut response: PassingResponse, host: &mut impl Host) {
    if let Some(awaited) = response.awaited.take() {
        awaited.cut_off(host);
        // The model had finished, and the client did not wait for the last byte.
        if response.reader.as_ref().is_some_and(AnswerReader::has_finished) {
            return whole(config, response, host);
        }
    }
    if let Some(entry) = response.entry {
        fingerprint::remember(config, &response.scope, entry, response.thread, &Outcome::Failed, host);
    }
}
