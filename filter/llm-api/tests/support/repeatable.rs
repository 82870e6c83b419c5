//! Writes answers as they are served, and reads them.
#![allow(dead_code, reason = "each program of tests uses some of it")]

use sentinel_llm_api::{
    answer::Answer,
    answer_reader::AnswerReader,
    dialect::{DialectRef, FinalMessage},
    framing::Framing,
    repeatable::{Content, FunctionCall, NotRepeatable, RepeatableLimits},
    usage::Usage,
};
use sentinel_wire::{Dialect as Wire, Stream};

pub const USAGE: Usage = Usage { input: 40, cached: 60, output: 9 };
pub const TEXT: &str = "Paris.\n\"Stöp\" \u{1F600}";

/// The framings, with the endings of their golden files.
pub fn framings(dialect: DialectRef) -> Vec<(Framing, &'static str)> {
    let streamed = Wire::of_label(dialect.label()).unwrap().streams().iter().map(|stream| {
        let framing = match stream {
            Stream::Events => Framing::Sse,
            Stream::Array => Framing::JsonArray,
            Stream::Frames => Framing::AwsEventStream,
        };
        (framing, stream.ending())
    });
    [(Framing::Json, "")].into_iter().chain(streamed).collect()
}

pub fn content(text: &str, calls: &[(&str, &str)]) -> Content {
    let call = |(name, arguments): &(&str, &str)| FunctionCall {
        name: (*name).into(),
        arguments: (*arguments).into(),
    };
    Content { text: text.to_owned(), calls: calls.iter().map(call).collect() }
}

/// Two calls of one function, as models make them at once, and one call without arguments.
pub fn calls() -> Vec<(&'static str, &'static str)> {
    vec![
        ("get_weather", r#"{"city":"St\u00f6p \"x\"","days":[1,2.50]}"#),
        ("get_weather", "{ \"b\" : 1,\n  \"a\":{} }"),
        ("look", "{}"),
    ]
}

pub fn written(dialect: DialectRef, framing: Framing, kept_as: &str) -> Vec<u8> {
    written_of(&content(TEXT, &[]), dialect, framing, kept_as)
}

pub fn written_of(content: &Content, dialect: DialectRef, framing: Framing, kept_as: &str) -> Vec<u8> {
    let message = FinalMessage {
        text: &content.text,
        calls: &content.calls,
        model: "some-model",
        framing,
        id: 0xABCD,
        kept_as,
        usage: USAGE,
        created: 1_700_000_000,
        include_usage: true,
    };
    dialect.final_message(&message).body
}

pub fn read(dialect: DialectRef, content_type: &str, body: &[u8], step: usize) -> Option<Answer> {
    read_with(RepeatableLimits { most: 1_000, with_calls: true }, dialect, content_type, body, step)
}

pub fn read_with(
    wanted: RepeatableLimits,
    dialect: DialectRef,
    content_type: &str,
    body: &[u8],
    step: usize,
) -> Option<Answer> {
    let mut reader = AnswerReader::new(dialect, content_type.as_bytes())?.collecting(wanted);
    for chunk in body.chunks(step) {
        reader.push(chunk);
        if reader.has_ended() {
            break;
        }
    }
    reader.into_answer()
}

/// The content that can be given again if no calls are wanted.
pub fn plain(dialect: DialectRef, content_type: &str, body: &[u8]) -> Option<Result<String, NotRepeatable>> {
    let wanted = RepeatableLimits { most: 1_000, with_calls: false };
    let content = read_with(wanted, dialect, content_type, body, 13)?.content?;
    Some(content.map(|content| {
        assert_eq!(content.calls, [], "none were wanted");
        content.text
    }))
}

/// The same if calls are wanted.
pub fn repeatable(
    dialect: DialectRef,
    content_type: &str,
    body: &[u8],
) -> Option<Result<Content, NotRepeatable>> {
    read(dialect, content_type, body, 13)?.content
}
