//! Answers: `output` items, whole or in events. A stream repeats each finished text three times, and everything once
//! more as a whole answer. An answer that can be given again has at most one message with one text, followed by calls,
//! and shows no reasoning.

use crate::{
    answer_event::{AnswerEvent, Ending, EventSink, Payload, Repeated, WholeCall},
    json::{Raw, object::Object},
    usage::UsageReport,
};

/// Ids, counts, and parameters of the request, which are repeated.
const ENVELOPE: [&str; 30] = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "model",
    "output",
    "usage",
    "billing",
    "instructions",
    "metadata",
    "parallel_tool_calls",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
    "top_logprobs",
    "max_output_tokens",
    "max_tool_calls",
    "reasoning",
    "service_tier",
    "store",
    "text",
    "truncation",
    "user",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "frequency_penalty",
    "presence_penalty",
];

pub fn read_answer<'a>(payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
    let object = Object::read(payload.json())?;
    sink.require_unique_names(&object);
    match payload {
        Payload::Whole(_) => {
            object.get("output").filter(|output| output.is_list())?;
            envelope(&object, sink);
            whole(&object, sink);
            end(sink);
        }
        Payload::Event { .. } => event(&object, sink),
    }
    Some(())
}

fn envelope<'a>(response: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    sink.id(response);
    sink.envelope(response, "model", response.get("usage").map(usage));
}

/// Only the calls tell that functions are to be called.
fn end(sink: &mut EventSink<'_, '_>) {
    sink.emit(AnswerEvent::Finished(Ending::Either));
    sink.emit(AnswerEvent::End);
}

fn whole<'a>(response: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(response, &ENVELOPE);
    sink.require(response.is("status", "completed"));
    for (output, item) in (0..).zip(sink.list(response, "output")) {
        match item.word("type") {
            "message" => {
                sink.require_only(&item, &["id", "type", "status", "role", "content"]);
                sink.require_if_present(&item, "status", "completed");
                sink.require_if_present(&item, "role", "assistant");
                let content = sink.list(&item, "content");
                sink.require(content.len() == 1);
                for (at, part) in (0..).zip(&content) {
                    sink.require_only(part, &["type", "text"]);
                    sink.require(part.is("type", "output_text"));
                    if part.is("type", "output_text") {
                        sink.emit(AnswerEvent::TextStart);
                        sink.text(part, "text", (output, at));
                    }
                }
            }
            "function_call" => call(&item, sink),
            _ => hidden(&item, sink),
        }
    }
}

/// The model has reasoned, and the answer does not show how.
fn hidden(item: &Object<'_>, sink: &mut EventSink<'_, '_>) {
    sink.require(item.is("type", "reasoning"));
    sink.require_only(item, &["id", "type", "status"]);
    sink.emit(AnswerEvent::HiddenReasoning);
}

fn call<'a>(item: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(item, &["id", "type", "status", "call_id", "name", "arguments", "caller"]);
    sink.require_if_present(item, "status", "completed");
    sink.require_id(item, "call_id", "call_");
    sink.require_direct_call(item);
    let (id, name) = (item.get("call_id"), item.get("name"));
    let arguments = sink.string(item, "arguments");
    sink.emit(AnswerEvent::Call(WholeCall { id, name, arguments }));
}

fn event<'a>(event: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    const DELTA: [&str; 7] =
        ["type", "sequence_number", "item_id", "output_index", "content_index", "delta", "obfuscation"];
    sink.require(event.is_first("content_index"));
    let index = |name| event.number(name).unwrap_or(0);
    let block = (index("output_index"), index("content_index"));
    let response = sink.object(event, "response");
    envelope(&response, sink);
    match event.word("type") {
        // The finished item repeats the content of these events.
        "response.created"
        | "response.in_progress"
        | "response.queued"
        | "response.function_call_arguments.delta"
        | "response.function_call_arguments.done" => {}
        "response.output_item.added" => {
            let item = sink.object(event, "item");
            if !matches!(item.word("type"), "message" | "function_call") {
                hidden(&item, sink);
            }
        }
        "response.output_item.done" => {
            let item = sink.object(event, "item");
            match item.word("type") {
                "message" => copies(&item, sink),
                "function_call" => call(&item, sink),
                _ => hidden(&item, sink),
            }
        }
        "response.content_part.added" => {
            let part = sink.object(event, "part");
            sink.require(part.is("type", "output_text"));
        }
        "response.content_part.done" => {
            let part = sink.object(event, "part");
            sink.require(part.is("type", "output_text"));
            copy(&part, sink);
        }
        "response.output_text.delta" => {
            sink.require_only(event, &DELTA);
            sink.text(event, "delta", block);
        }
        "response.output_text.done" => {
            sink.emit(AnswerEvent::TextEnd(Some(block)));
            event.get("text").into_iter().for_each(|text| sink.emit(AnswerEvent::WholeText(text)));
        }
        ending @ ("response.completed" | "response.incomplete" | "response.failed") => {
            sink.emit(AnswerEvent::TextEnd(None));
            sink.require(ending == "response.completed");
            response.all(&["output"]).into_iter().flat_map(Raw::elements).for_each(|item| {
                copies(&Object::of(item), sink);
            });
            if let Some(said) = event.get("response") {
                sink.emit(AnswerEvent::Repeated(Repeated { whole: said, read: whole }));
            }
            end(sink);
        }
        _ => sink.emit(AnswerEvent::Other),
    }
}

fn copies<'a>(item: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    let content = item.get("content").into_iter().flat_map(Raw::elements);
    content.for_each(|part| copy(&Object::of(part), sink));
}

fn copy<'a>(part: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    if part.is("type", "output_text") {
        part.get("text").into_iter().for_each(|text| sink.emit(AnswerEvent::WholeText(text)));
    }
}

/// The input count includes cached tokens.
fn usage(raw: Raw<'_>) -> UsageReport {
    let usage = Object::of(raw);
    let cached = usage.object("input_tokens_details").number("cached_tokens").unwrap_or(0);
    UsageReport {
        input: usage.number("input_tokens").map(|input| input.saturating_sub(cached)),
        cached,
        output: usage.number("output_tokens").unwrap_or(0),
    }
}
