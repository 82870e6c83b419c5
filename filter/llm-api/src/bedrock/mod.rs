//! Amazon Bedrock Converse and ConverseStream.

mod answer;
mod outline;
mod repeatable;
mod reply;
mod request;
mod spoken;
mod tools;

use std::borrow::Cow;

use crate::{
    answer::Answer,
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, LocalReply, Position},
    edit::Edit,
    framing::Framing,
    json::Unreadable,
    outline::Outline,
    path::{PathFacts, other_method},
    repeatable::{Repeatable, Said},
    spoken::Visit,
    tools::{May, Offer},
};

/// Stands before the model in a path.
const MODEL: &str = "/model/";
const STREAM: &str = "converse-stream";

#[derive(Debug)]
pub struct Bedrock;

impl Dialect for Bedrock {
    fn label(&self) -> &'static str {
        "bedrock"
    }

    fn is_served_on(&self, path: &str) -> bool {
        model_and_method(path).is_some()
    }

    fn facts_of_path(&self, path: &str, _query: &str) -> PathFacts {
        let (model, method) = model_and_method(path).unwrap_or_default();
        let framing =
            if method.eq_ignore_ascii_case(STREAM) { Framing::AwsEventStream } else { Framing::Json };
        PathFacts { framing: Some(framing), model: (!model.is_empty()).then(|| model.to_owned()) }
    }

    /// `amz-sdk-request: attempt=2; max=3`.
    fn is_retry(&self, header: &dyn Fn(&str) -> Option<Vec<u8>>) -> bool {
        let attempt = header("amz-sdk-request").and_then(|value| String::from_utf8(value).ok());
        attempt.is_some_and(|value| {
            value.split(';').any(|pair| pair.trim().strip_prefix("attempt=").is_some_and(|n| n != "1"))
        })
    }

    fn without_stream<'a>(&self, target: &'a str) -> Cow<'a, str> {
        other_method(target, STREAM, "converse")
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        request::read(body)
    }

    fn hint(&self, body: &str, text: &str, _position: Position) -> Result<Edit, Unreadable> {
        request::hint(body, text)
    }

    fn hint_in_result(&self, body: &str, text: &str) -> Result<Edit, Unreadable> {
        request::hint_in_result(body, text)
    }

    fn offer(&self, body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
        tools::offer(body, may)
    }

    fn outline<'a>(&self, body: &'a str) -> Result<Outline<'a>, Unreadable> {
        outline::outline(body)
    }

    fn whole_answer(&self, json: &str, answer: &mut Answer) -> Option<()> {
        answer::whole(json, answer)
    }

    fn event(&self, kind: &str, json: &str, answer: &mut Answer) -> Option<()> {
        answer::event(kind, json, answer)
    }

    fn look(&self, said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
        repeatable::look(said, answer)
    }

    fn spoken<'a>(&self, json: &'a str, visit: Visit<'_, 'a>) {
        spoken::whole(json, visit);
    }

    fn spoken_in_event<'a>(&self, kind: &str, json: &'a str, visit: Visit<'_, 'a>) {
        spoken::event(kind, json, visit);
    }

    fn takes_empty_texts(&self) -> bool {
        false
    }

    fn error(&self, status: u16, message: &str) -> LocalReply {
        reply::error(status, message)
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        reply::final_message(message)
    }
}

/// `/model/MODEL/converse`; the name of an inference profile has slashes of its own.
fn model_and_method(path: &str) -> Option<(&str, &str)> {
    let (before, method) = path.rsplit_once('/')?;
    if !["converse", STREAM].iter().any(|known| method.eq_ignore_ascii_case(known)) {
        return None;
    }
    let start = before.to_ascii_lowercase().find(MODEL)?.saturating_add(MODEL.len());
    Some((before.get(start..)?, method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_attempt_is_no_retry() {
        let is_retry = |value: Option<&str>| {
            Bedrock.is_retry(&|name| {
                assert_eq!(name, "amz-sdk-request");
                value.map(|value| value.as_bytes().to_vec())
            })
        };
        assert!(!is_retry(None) && !is_retry(Some("attempt=1")) && !is_retry(Some("attempt=1; max=5")));
        assert!(is_retry(Some("attempt=2; max=5")) && is_retry(Some("ttl=20261122T101010Z; attempt=3")));
    }
}
