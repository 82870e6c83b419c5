//! The way out: the answer passes untouched and is read as it does; what it was is counted and remembered.

use sentinel_detect::window::Outcome;
use sentinel_llm_api::{answer::AnswerReader, dialect::DialectRef};

use crate::{
    case::Case,
    config::Config,
    host::Host,
    identity::Scope,
    metric::Bypass,
    passes::{fingerprint, usage},
    record,
    request::Phase,
};

/// A response that is awaited or passing.
#[derive(Debug)]
pub struct Passage {
    dialect: DialectRef,
    /// As the request named it.
    model: String,
    scope: Scope,
    /// Entry of the window to which the response belongs; none where nothing is remembered.
    entry: Option<u32>,
    /// Headers for the response.
    headers: Vec<(&'static str, String)>,
    reader: Option<AnswerReader>,
    /// Response headers with a status of success have come.
    has_succeeded: bool,
}

impl Passage {
    pub fn new(case: Case, headers: Vec<(&'static str, String)>) -> Self {
        let Case { dialect, model, scope, entry, .. } = case;
        Self { dialect, model, scope, entry, headers, reader: None, has_succeeded: false }
    }

    /// Whether the answer is being read.
    pub fn reads(&self) -> bool {
        self.reader.is_some()
    }
}

pub fn headers(
    config: &Config,
    mut passage: Box<Passage>,
    end_of_stream: bool,
    host: &mut impl Host,
) -> Phase {
    for name in record::HEADERS {
        match passage.headers.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => host.set_response_header(name, value),
            // A provider's word must not pass for ours.
            None if host.response_header(name).is_some() => host.remove_response_header(name),
            None => {}
        }
    }
    let status = host.response_header(":status").unwrap_or_default();
    passage.has_succeeded = status.len() == 3 && status.starts_with(b"2");
    if passage.has_succeeded {
        let is_plain = host.response_header("content-encoding").is_none();
        let content_type = host.response_header("content-type").unwrap_or_default();
        passage.reader = if is_plain { AnswerReader::new(passage.dialect, &content_type) } else { None };
        if passage.reader.is_none() {
            host.count(Bypass::Response.into(), 1);
        }
    }
    if end_of_stream || !passage.has_succeeded {
        whole(config, *passage, host);
        return Phase::Done;
    }
    Phase::Passing(passage)
}

pub fn body(config: &Config, mut passage: Box<Passage>, end_of_stream: bool, host: &mut impl Host) -> Phase {
    if let Some(reader) = &mut passage.reader
        && let Some(chunk) = host.response_chunk()
    {
        reader.push(&chunk);
    }
    if end_of_stream || passage.reader.as_ref().is_some_and(AnswerReader::has_ended) {
        whole(config, *passage, host);
        return Phase::Done;
    }
    Phase::Passing(passage)
}

/// The response is over.
pub fn whole(config: &Config, passage: Passage, host: &mut impl Host) {
    let Passage { scope, entry, model, reader, has_succeeded, .. } = passage;
    let was_read = reader.is_some();
    let answer = reader.and_then(AnswerReader::into_answer);
    match &answer {
        Some(answer) => {
            usage::run(config, &model, &answer.usage, host);
            if config.annotates {
                record::annotate_answer(answer, host);
            }
        }
        None if was_read => host.count(Bypass::Response.into(), 1),
        None => {}
    }
    if let Some(entry) = entry {
        let outcome = if has_succeeded { fingerprint::answered(answer.as_ref()) } else { Outcome::Failed };
        fingerprint::remember(config, &scope, entry, &outcome, host);
    }
}

/// The response ended before its end.
pub fn cut_off(config: &Config, passage: &Passage, host: &mut impl Host) {
    if let Some(entry) = passage.entry {
        fingerprint::remember(config, &passage.scope, entry, &Outcome::Failed, host);
    }
}
