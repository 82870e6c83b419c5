//! What happens to an answer. A model's answer is cleaned if that is on, and otherwise passes unchanged. Meanwhile it is read, to
//! count its tokens and to remember its fingerprint. Other answers that are changed have their own modules.

use sentinel_config::Config;
use sentinel_detect::verdict::Signal;
use sentinel_llm_api::{
    answer_reader::AnswerReader,
    framing::{Framing, passing::PassingFrames},
};

use crate::{
    bypass::Bypass,
    case::{AnswerCase, Case},
    decide::{Decision, stopping},
    host::{Facts, Host, number},
    mcp_answer::PassingAnswer,
    messages,
    note::Note,
    passes::{
        self, Surroundings,
        cache::{
            caller,
            store::{self, awaited},
        },
        clean::Clean,
    },
    record, render,
    span::{self, Ended},
    turn::End,
};

/// An answer that is awaited or passing.
#[derive(Debug)]
pub enum Passing {
    Model(Box<PassingResponse>),
    /// An MCP server's.
    Mcp(Box<PassingAnswer>),
}

impl Passing {
    /// The headers have come. Returns what still has to be followed.
    pub fn headers(self, config: &Config, end_of_stream: bool, host: &mut impl Host) -> Option<Self> {
        match self {
            Self::Model(response) => headers(config, response, end_of_stream, host).map(Self::Model),
            Self::Mcp(answer) => answer.headers(config, end_of_stream, host).map(Self::Mcp),
        }
    }

    /// A part of the body is passing. Returns what still has to be followed.
    pub fn body(self, config: &Config, end_of_stream: bool, host: &mut impl Host) -> Option<Self> {
        match self {
            Self::Model(response) => body(config, response, end_of_stream, host).map(Self::Model),
            Self::Mcp(answer) => answer.body(config, end_of_stream, host).map(Self::Mcp),
        }
    }

    /// It is over.
    pub fn whole(self, config: &Config, host: &mut impl Host) {
        match self {
            Self::Model(response) => whole(config, *response, host),
            Self::Mcp(answer) => (*answer).whole(host),
        }
    }

    /// The response was cut off before its end.
    pub fn cut_off(self, config: &Config, host: &mut impl Host) {
        match self {
            Self::Model(mut response) => cut_off(config, &mut response, End::ClientGone, host),
            Self::Mcp(answer) => (*answer).cut_off(host),
        }
    }
}

/// A response that is awaited or passing.
#[derive(Debug)]
pub struct PassingResponse {
    case: AnswerCase,
    /// Headers for the response.
    headers: Vec<(&'static str, String)>,
    reader: Option<AnswerReader>,
    /// What it said has been recorded.
    is_recorded: bool,
}

impl PassingResponse {
    pub fn new(mut case: Box<Case>, headers: Vec<(&'static str, String)>) -> Self {
        let awaited = awaited(&mut case);
        let Case {
            arrived,
            dialect,
            framing,
            include_usage,
            model,
            policy,
            scope,
            names,
            entry,
            thread,
            length,
            unread,
            is_open_ended,
            turn,
            caller: asks,
            spending,
            chat,
            ..
        } = *case;
        let case = AnswerCase {
            arrived,
            dialect,
            framing,
            include_usage,
            model,
            policy,
            scope,
            entry,
            thread,
            status: 0,
            caller: asks,
            has_succeeded: false,
            request_length: length,
            length: 0,
            turn,
            names,
            spending,
            chat,
            frames: None,
            is_unread: unread.is_some(),
            is_cut_off: false,
            is_open_ended,
            is_stopped: false,
            answer: None,
            awaited,
            clean: None,
            is_silent: false,
            is_held: false,
            notes: Vec::new(),
        };
        Self { case, headers, reader: None, is_recorded: false }
    }

    /// `bytes` more bytes of the request pass.
    pub fn request_passes(&mut self, bytes: usize) {
        if self.case.is_open_ended {
            self.case.request_length = self.case.request_length.saturating_add(bytes);
        }
    }
}

/// The response's headers have come. Returns the response if it still has to be followed.
fn headers(
    config: &Config,
    mut response: Box<PassingResponse>,
    end_of_stream: bool,
    host: &mut impl Host,
) -> Option<Box<PassingResponse>> {
    for name in record::HEADERS.into_iter().chain([record::NO_REPLY]) {
        match response.headers.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => host.set_response_header(name, value),
            // If the provider sends this header, it must not be taken for ours.
            None if host.response_header(name).is_some() => host.remove_response_header(name),
            None => {}
        }
    }
    let status = host.response_header(":status").unwrap_or_default();
    response.case.status = number(&status).unwrap_or(0);
    response.case.has_succeeded = status.len() == 3 && status.starts_with(b"2");
    if let Some(decision) = stop_decision(&response.case, host) {
        answer_instead(config, &mut response, &decision, host);
        return None;
    }
    let PassingResponse { case, reader, .. } = &mut *response;
    if let Some(asked) = case.caller {
        caller::answered(asked, &status, host, &mut case.notes);
    }
    if case.has_succeeded {
        let coding = host.response_header("content-encoding");
        let is_plain = coding.is_none_or(|coding| coding.eq_ignore_ascii_case(b"identity"));
        let content_type = host.response_header("content-type").unwrap_or_default();
        *reader = if is_plain { AnswerReader::new(case.dialect, &content_type) } else { None };
        if reader.is_none() {
            case.notes.push(Note::Bypassed(Bypass::Response));
        }
        // A response with a content-length cannot be ended early.
        if is_plain && case.names.is_some() && host.response_header("content-length").is_none() {
            case.frames = Framing::of(&content_type).and_then(PassingFrames::of);
        }
        if case.policy.cleans && !case.is_unread && !end_of_stream {
            let new = || Clean::new(case.dialect, &case.policy, &content_type, config.max_body);
            let cleaner = if is_plain { new() } else { None };
            clean(config, case, cleaner, host);
        }
    }
    if let Some(awaited) = case.awaited.take() {
        (case.awaited, *reader) = awaited.headers(reader.take(), host, &mut case.notes);
    }
    put_on_record(case, host);
    if end_of_stream || !case.has_succeeded {
        record(config, &mut response, host);
        return None;
    }
    Some(response)
}

fn put_on_record(case: &mut AnswerCase, host: &mut impl Host) {
    let notes = std::mem::take(&mut case.notes);
    record::notes(case.subject(), notes, host);
}

/// Prepares the cleaning of the answer. An answer that is a single JSON text is held until it is whole, so that its headers can
/// tell what it is.
fn clean(config: &Config, case: &mut AnswerCase, cleaner: Option<Clean>, host: &mut impl Host) {
    // An answer that is longer than may be held is not held at all.
    let length = length(host).unwrap_or(0);
    let fits = |clean: &Clean| {
        !clean.holds_all() || usize::try_from(length).is_ok_and(|length| length <= config.max_body)
    };
    let Some(clean) = cleaner.filter(fits) else { return case.notes.push(Note::Bypassed(Bypass::Uncleaned)) };
    case.is_held = clean.holds_all() && config.hold_headers;
    if case.is_held {
        host.hold_response();
    } else if clean.is_enforced() {
        host.remove_response_header("content-length");
    }
    case.clean = Some(clean);
}

/// The content-length of the response.
fn length(host: &impl Facts) -> Option<u64> {
    number(&host.response_header("content-length")?)
}

/// A part of the response's body is passing. Returns the response if it still has to be followed.
fn body(
    config: &Config,
    mut response: Box<PassingResponse>,
    end_of_stream: bool,
    host: &mut impl Host,
) -> Option<Box<PassingResponse>> {
    if response.case.is_stopped {
        host.replace_response_chunk(b"");
        return (!end_of_stream).then_some(response);
    }
    // An answer that is still held can be replaced.
    if response.case.is_held
        && let Some(decision) = stop_decision(&response.case, host)
    {
        answer_instead(config, &mut response, &decision, host);
        return None;
    }
    if let Some(decision) = pass(&mut response, end_of_stream, host) {
        stopped(config, &mut response, &decision, host);
        return (!end_of_stream).then_some(response);
    }
    let PassingResponse { case, reader, .. } = &*response;
    let is_whole = case.is_held && case.clean.as_ref().is_none_or(|clean| !clean.holds_all());
    if end_of_stream || is_whole || reader.as_ref().is_some_and(AnswerReader::has_ended) {
        record(config, &mut response, host);
    }
    // An answer that is being cleaned must be followed to its end, even if it is on record already.
    (!end_of_stream && (!response.is_recorded || response.case.clean.is_some())).then_some(response)
}

/// Cleans and reads the part that is passing. Returns the decision if an operator has stopped the answer: then it ends with this part.
fn pass(response: &mut PassingResponse, is_last: bool, host: &mut impl Host) -> Option<Decision> {
    let PassingResponse { reader, case, .. } = response;
    if reader.is_none() && case.clean.is_none() && case.turn.is_none() {
        return None;
    }
    let part = host.response_chunk().unwrap_or_default();
    case.length = case.length.saturating_add(part.len());
    let passed = case.clean.as_mut().and_then(|clean| clean.push(&part, is_last));
    let goes_on = passed.as_deref().unwrap_or(&part);
    // The reader gets what the agent gets, because the agent's next request will hold that.
    if let Some(reader) = reader {
        reader.push(goes_on);
    }
    let (ended, decision) = stop(case, goes_on, host).unzip();
    drop(part);
    if let Some(passed) = ended.or(passed) {
        host.replace_response_chunk(&passed);
    }
    decision
}

/// Why the answer must end, if an operator has stopped it.
fn stop_decision(case: &AnswerCase, host: &impl Host) -> Option<Decision> {
    stopping(case.names.as_ref(), &case.policy, host)
}

/// Nothing of the answer has gone to the client yet. It gets the kill response instead, as if it had asked now.
fn answer_instead(
    config: &Config,
    response: &mut PassingResponse,
    decision: &Decision,
    host: &mut impl Host,
) {
    let mut reply = render::kill(response.case.asked(), decision);
    if config.response_headers {
        reply.headers.extend(record::verdict_headers(config, decision));
    }
    response.case.status = reply.status;
    stopped(config, response, decision, host);
    host.reply(reply);
}

/// What passes in place of this part, and why, if an operator has stopped the answer.
fn stop(case: &mut AnswerCase, part: &[u8], host: &impl Host) -> Option<(Vec<u8>, Decision)> {
    let decision = case.frames.as_ref().and_then(|_| stop_decision(case, host));
    let frames = case.frames.as_mut()?;
    let Some(decision) = decision else {
        frames.pass(part);
        return None;
    };
    let mut ended = part.get(..frames.finish_frame(part)?)?.to_vec();
    let message = messages::kill(&case.policy, &decision);
    ended.extend(case.dialect.stream_error(case.policy.kill.status, &message));
    Some((ended, decision))
}

/// The answer was ended under way.
#[inline(never)]
fn stopped(config: &Config, response: &mut PassingResponse, decision: &Decision, host: &mut impl Host) {
    response.case.is_stopped = true;
    record::stopped(config, response.case.subject(), decision, host);
    if let Some(turn) = &mut response.case.turn {
        turn.judged(decision);
    }
    cut_off(config, response, End::Error, host);
}

/// The response is over, though no part of it said so.
fn whole(config: &Config, mut response: PassingResponse, host: &mut impl Host) {
    if response.case.clean.is_some() {
        let _ = pass(&mut response, true, host);
    }
    record(config, &mut response, host);
}

/// Records what the response said, once. Releases it if it is held.
#[inline(never)]
fn record(config: &Config, response: &mut PassingResponse, host: &mut impl Host) {
    if std::mem::replace(&mut response.is_recorded, true) {
        return;
    }
    let PassingResponse { case, reader, .. } = response;
    if let Some(reader) = reader.take() {
        case.answer = reader.into_answer();
        match &case.answer {
            Some(answer) if config.annotates => record::annotate_answer(answer, host),
            Some(_) => {}
            None => case.notes.push(Note::Bypassed(Bypass::Response)),
        }
    }
    passes::of_an_answer(&Surroundings { config, host }, case);
    trace(config, case, Ended::of(case.status, case.has_succeeded, case.answer.as_ref()), host);
    put_on_record(case, host);
    report(case, host);
    if std::mem::take(&mut case.is_held) {
        if case.is_silent {
            host.set_response_header(record::NO_REPLY, "true");
        }
        let changed = |length| case.clean.as_ref().and_then(|clean| clean.length(length));
        if let Some(length) = length(host).and_then(changed) {
            host.set_response_header("content-length", &length.to_string());
        }
        host.release_response();
    }
}

/// The response was cut off before its end.
#[inline(never)]
fn cut_off(config: &Config, response: &mut PassingResponse, end: End, host: &mut impl Host) {
    if std::mem::replace(&mut response.is_recorded, true) {
        return;
    }
    let PassingResponse { case, reader, is_recorded, .. } = response;
    let reader = reader.take();
    // The model had finished. The client did not wait for the last byte.
    if store::cut_off(case) && reader.as_ref().is_some_and(AnswerReader::has_finished) {
        *is_recorded = false;
        response.reader = reader;
        return record(config, response, host);
    }
    case.is_cut_off = true;
    if case.turn.is_some() {
        // The client did not wait for this answer, but the provider may have produced it and charged for it.
        case.answer = reader.and_then(AnswerReader::into_answer);
    }
    passes::of_a_cut_off_answer(&Surroundings { config, host }, case);
    let ended = if case.is_stopped { Ended::Killed(Some(Signal::Stopped)) } else { Ended::ClientGone };
    trace(config, case, ended, host);
    if let Some(turn) = &mut case.turn {
        turn.end = end;
    }
    put_on_record(case, host);
    report(case, host);
}

/// Traces the call, and the run if it has ended with this call.
fn trace(config: &Config, case: &mut AnswerCase, ended: Ended, host: &mut impl Host) {
    let AnswerCase { chat: Some(chat), dialect, model, scope, answer, notes, .. } = case else { return };
    let call = chat.span(scope, dialect.label(), model, answer.as_ref(), ended, host.now());
    let run = span::end(host, config, scope, notes, ended);
    host.trace([Some(call), run].into_iter().flatten().collect());
}

fn report(case: &mut AnswerCase, host: &mut impl Host) {
    if let Some(turn) = case.turn.take() {
        host.report(*turn);
    }
}
