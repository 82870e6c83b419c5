//! Answers: the message of each choice, whole or in deltas.

use crate::{
    answer_event::{AnswerEvent, Block, CallStart, Ending, EventSink, Payload, Piece, WholeCall, with_other},
    json::{Raw, object::Object},
    usage::UsageReport,
};

/// Members around the choices: ids, counts, who answered.
const ENVELOPE: [&str; 10] = [
    "id",
    "object",
    "created",
    "model",
    "choices",
    "usage",
    "system_fingerprint",
    "service_tier",
    // Padding of random length in the chunks of a stream.
    "obfuscation",
    "x_groq",
];

/// A chunk of a stream has `delta` in place of `message`, and is otherwise like a whole answer.
pub fn read_answer<'a>(payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
    if payload.json() == "[DONE]" {
        sink.emit(AnswerEvent::TextEnd(None));
        sink.emit(AnswerEvent::End);
        return Some(());
    }
    let (is_whole, [said_in, other], object) = match payload {
        Payload::Whole(_) => (true, ["message", "delta"], "chat.completion"),
        Payload::Event { .. } => (false, ["delta", "message"], "chat.completion.chunk"),
    };
    let body = Object::read(payload.json())?;
    body.get("choices").filter(|choices| choices.is_list())?;
    sink.require_only(&body, &ENVELOPE);
    sink.require_if_present(&body, "object", object);
    sink.envelope(&body, "model", body.get("usage").map(usage));
    let choices = sink.list(&body, "choices");
    // The chunk with a stream's usage has no choice.
    sink.require(if is_whole { choices.len() == 1 } else { choices.len() <= 1 });
    for (at, choice) in (0_u64..).zip(&choices) {
        sink.require_only(choice, &["index", said_in, "finish_reason"]);
        sink.require_that(|| choice.is_first("index"));
        let given = choice.number("index");
        let index = given.unwrap_or(at);
        // Accepts servers that mix up the two names.
        let said_in = if choice.has(said_in) { said_in } else { other };
        let message = sink.object(choice, said_in);
        content(&message, index, sink);
        let calls = sink.list(&message, "tool_calls");
        if given.unwrap_or(0) == 0 {
            (0..).zip(&calls).for_each(|(at, made)| call(made, at, sink));
        }
        let reason = choice.get("finish_reason");
        if reason.is_some() {
            sink.emit(AnswerEvent::TextEnd(Some((index, 0))));
        }
        match reason.and_then(Raw::inside).unwrap_or_default() {
            "" => sink.require(!is_whole),
            "stop" => sink.emit(AnswerEvent::Finished(Ending::Done)),
            "tool_calls" => sink.emit(AnswerEvent::Finished(Ending::ToCall)),
            _ => sink.emit(AnswerEvent::Other),
        }
    }
    if is_whole {
        sink.emit(AnswerEvent::End);
    }
    Some(())
}

/// A text, or a list of parts. Some servers that speak this format send thoughts and texts as separate parts.
fn content<'a>(message: &Object<'a>, index: u64, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(message, &["role", "content", "tool_calls"]);
    sink.require_if_present(message, "role", "assistant");
    let mut piece = |text: Option<Raw<'a>>| {
        let Some(text) = text.filter(|text| text.is_string()) else { return };
        let piece = Piece { block: (index, 0), text, is_all: false, is_alternative: index != 0 };
        sink.emit(AnswerEvent::Text(piece));
    };
    match message.get("content") {
        Some(parts) if parts.is_list() => {
            let texts = parts.elements().map(Object::of).filter(|part| part.is("type", "text"));
            texts.for_each(|part| piece(part.get("text")));
            sink.require(message.says("content").is_none());
        }
        other => {
            piece(other);
            sink.require(other.is_none_or(Raw::is_string));
        }
    }
}

/// A call or a piece of it. A piece with an id starts a call. A call without an index is whole.
fn call<'a>(made: &Object<'a>, at: u64, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(made, &["index", "id", "type", "function"]);
    sink.require_if_present(made, "type", "function");
    let function = sink.object(made, "function");
    sink.require_only(&function, &["name", "arguments"]);
    let (has_id, name) = (made.says("id").is_some(), function.get("name"));
    let text = sink.string(&function, "arguments");
    let index = made.get("index").and_then(|index| index.get().parse().ok());
    if has_id {
        sink.require_id(made, "id", "call_");
    } else {
        sink.require(function.says("name").is_none() && index.is_some());
    }
    let Some(at) = index else {
        sink.require(at < u64::MAX);
        return sink.emit(AnswerEvent::Call(WholeCall { id: None, name, arguments: text }));
    };
    if has_id || function.says("name").is_some() {
        sink.emit(AnswerEvent::CallStart(CallStart { at, id: None, name, is_counted: true }));
    }
    sink.emit(AnswerEvent::Arguments { at, text });
}

/// The input count includes cached tokens.
fn usage(raw: Raw<'_>) -> UsageReport {
    let usage = Object::of(raw);
    let cached = usage.object("prompt_tokens_details").number("cached_tokens").unwrap_or(0);
    UsageReport {
        input: usage.number("prompt_tokens").map(|input| input.saturating_sub(cached)),
        cached,
        output: usage.number("completion_tokens").unwrap_or(0),
    }
}

/// An event with only this piece of text. The original chunk may hold other choices, and calls beside the text.
pub fn event_of(like: &str, (index, _): Block, text: &str) -> Option<String> {
    let choices =
        format!(r#""choices":[{{"index":{index},"delta":{{"content":{text}}},"finish_reason":null}}]"#);
    with_other(like, &["choices", "usage"], &choices)
}
