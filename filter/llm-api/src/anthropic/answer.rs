//! Answers: content blocks, whole or in events. An answer that can be given again has at most one text block, followed
//! by calls.

use crate::{
    answer_event::{AnswerEvent, CallStart, Ending, EventSink, Payload, WholeCall},
    json::{Raw, object::Object},
    usage::UsageReport,
};

const MESSAGE: [&str; 7] = ["id", "type", "role", "model", "content", "stop_reason", "usage"];

pub fn read_answer<'a>(payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
    let object = Object::read(payload.json())?;
    sink.require_unique_names(&object);
    match payload {
        Payload::Whole(_) => {
            object.get("content").filter(|content| content.is_list())?;
            message(&object, sink);
            for (at, block) in (0..).zip(sink.list(&object, "content")) {
                whole_block(&block, at, sink);
            }
            ending(&object, sink);
            sink.emit(AnswerEvent::End);
        }
        Payload::Event { .. } => event(&object, sink),
    }
    Some(())
}

fn message<'a>(message: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(message, &MESSAGE);
    sink.require_if_present(message, "type", "message");
    sink.require_if_present(message, "role", "assistant");
    sink.id(message);
    sink.envelope(message, "model", message.get("usage").map(usage));
}

fn whole_block<'a>(block: &Object<'a>, at: u64, sink: &mut EventSink<'_, 'a>) {
    match block.word("type") {
        "text" => text_begins(block, at, sink),
        "tool_use" => {
            sink.require_only(block, &["type", "id", "name", "input", "caller"]);
            of_the_client(block, sink);
            let arguments = sink.arguments(block, "input");
            let (id, name) = (block.get("id"), block.get("name"));
            sink.emit(AnswerEvent::Call(WholeCall { id, name, arguments }));
        }
        _ => sink.emit(AnswerEvent::Other),
    }
}

fn text_begins<'a>(block: &Object<'a>, at: u64, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(block, &["type", "text"]);
    sink.emit(AnswerEvent::TextStart);
    sink.text(block, "text", (at, 0));
}

fn of_the_client(block: &Object<'_>, sink: &mut EventSink<'_, '_>) {
    sink.require_id(block, "id", "toolu_");
    sink.require_direct_call(block);
}

fn ending(message: &Object<'_>, sink: &mut EventSink<'_, '_>) {
    sink.emit(match message.word("stop_reason") {
        "end_turn" => AnswerEvent::Finished(Ending::Done),
        "tool_use" => AnswerEvent::Finished(Ending::ToCall),
        _ => AnswerEvent::Other,
    });
}

/// A block with a call starts with an empty `input`. The arguments follow as pieces of JSON.
fn event<'a>(event: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    let at = event.number("index").unwrap_or(0);
    match event.word("type") {
        "ping" => {}
        "message_start" => {
            let begun = sink.object(event, "message");
            message(&begun, sink);
            sink.require(begun.says("content").is_none() && begun.says("stop_reason").is_none());
        }
        "content_block_start" => {
            let block = sink.object(event, "content_block");
            match block.word("type") {
                "text" => {
                    sink.require(event.is_first("index"));
                    text_begins(&block, at, sink);
                }
                "tool_use" => {
                    // The input starts as an empty object, and its text comes in pieces.
                    sink.require_only(&block, &["type", "id", "name", "caller"]);
                    of_the_client(&block, sink);
                    let (id, name) = (block.get("id"), block.get("name"));
                    sink.emit(AnswerEvent::CallStart(CallStart { at, id, name, is_counted: false }));
                }
                _ => sink.emit(AnswerEvent::Other),
            }
        }
        "content_block_delta" => {
            let delta = sink.object(event, "delta");
            match delta.word("type") {
                "input_json_delta" => {
                    sink.require_only(&delta, &["type", "partial_json"]);
                    let text = sink.string(&delta, "partial_json");
                    sink.emit(AnswerEvent::Arguments { at, text });
                }
                "text_delta" => {
                    sink.require(event.is_first("index"));
                    sink.require_only(&delta, &["type", "text"]);
                    sink.text(&delta, "text", (at, 0));
                }
                _ => sink.emit(AnswerEvent::Other),
            }
        }
        "content_block_stop" => {
            sink.emit(AnswerEvent::TextEnd(Some((at, 0))));
            sink.emit(AnswerEvent::PartEnd { at, is_first: true });
        }
        "message_delta" => {
            sink.emit(AnswerEvent::TextEnd(None));
            sink.require_only(event, &["type", "delta", "usage"]);
            let delta = sink.object(event, "delta");
            sink.require_only(&delta, &["stop_reason"]);
            event.get("usage").into_iter().for_each(|raw| sink.emit(AnswerEvent::Usage(usage(raw))));
            ending(&delta, sink);
        }
        "message_stop" => {
            sink.emit(AnswerEvent::TextEnd(None));
            sink.emit(AnswerEvent::End);
        }
        kind => {
            if kind == "error" {
                sink.emit(AnswerEvent::TextEnd(None));
            }
            sink.emit(AnswerEvent::Other);
        }
    }
}

/// `input_tokens` counts neither tokens read from the cache nor those written to it.
fn usage(raw: Raw<'_>) -> UsageReport {
    let usage = Object::of(raw);
    let written = usage.number("cache_creation_input_tokens").unwrap_or(0);
    UsageReport {
        input: usage.number("input_tokens").map(|input| input.saturating_add(written)),
        cached: usage.number("cache_read_input_tokens").unwrap_or(0),
        output: usage.number("output_tokens").unwrap_or(0),
    }
}
