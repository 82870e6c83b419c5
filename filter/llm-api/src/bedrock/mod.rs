//! Amazon Bedrock Converse and ConverseStream.

mod answer;
mod reply;
mod request;
mod tools;

use crate::{
    answer_event::{EventSink, Payload},
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, Header, LocalReply},
    framing::Framing,
    json::Unreadable,
    path::PathFacts,
};

/// Precedes the model in a path.
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
        PathFacts {
            framing: Some(framing),
            model: (!model.is_empty()).then(|| model.to_owned()),
            methods: Some([STREAM, "converse"]),
            ..PathFacts::default()
        }
    }

    /// AWS clients send `amz-sdk-request: attempt=2; max=3`.
    fn is_retry(&self, header: Header<'_>) -> bool {
        let attempt = header("amz-sdk-request").and_then(|value| String::from_utf8(value.into_owned()).ok());
        attempt.is_some_and(|value| {
            value.split(';').any(|pair| pair.trim().strip_prefix("attempt=").is_some_and(|n| n != "1"))
        })
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        request::read(body)
    }

    fn read_answer<'a>(&self, payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
        answer::read_answer(payload, sink)
    }

    fn error(&self, status: u16, message: &str) -> LocalReply {
        reply::error(status, message)
    }

    fn stream_error(&self, status: u16, message: &str) -> Vec<u8> {
        reply::stream_error(status, message)
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        reply::final_message(message)
    }
}

/// Splits `/model/MODEL/converse`. The name of an inference profile may contain slashes.
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
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn the_first_attempt_is_no_retry() {
        let is_retry = |value: Option<&str>| {
            Bedrock.is_retry(&|name| {
                assert_eq!(name, "amz-sdk-request");
                value.map(|value| Cow::Owned(value.as_bytes().to_vec()))
            })
        };
        assert!(!is_retry(None) && !is_retry(Some("attempt=1")) && !is_retry(Some("attempt=1; max=5")));
        assert!(is_retry(Some("attempt=2; max=5")) && is_retry(Some("ttl=20261122T101010Z; attempt=3")));
    }
}
