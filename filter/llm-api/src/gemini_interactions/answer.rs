//! Answers: an interaction with its `steps`, whole or in events. In the older form of the API, which a client may ask
//! for, the steps are called `outputs`, and the events have other names. An answer that can be given again has at most
//! one output of the model with one text, followed by calls. Answers in the older form cannot, because answers are
//! written in the newer form.

use crate::{
    answer_event::{AnswerEvent, CallStart, Ending, EventSink, Payload, WholeCall},
    json::{Raw, object::Object},
    usage::UsageReport,
};

const INTERACTION: [&str; 9] =
    ["id", "status", "object", "model", "role", "created", "updated", "usage", "steps"];

pub fn read_answer<'a>(payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
    if payload.json() == "[DONE]" {
        sink.emit(AnswerEvent::TextEnd(None));
        sink.emit(AnswerEvent::End);
        return Some(());
    }
    let object = Object::read(payload.json())?;
    sink.require_unique_names(&object);
    match payload {
        Payload::Whole(_) => {
            let steps = object.either(["steps", "outputs"]).ok().flatten();
            steps.filter(|steps| steps.is_list())?;
            interaction(&object, sink);
            sink.require(!object.has("outputs"));
            let (steps, outputs) = (sink.list(&object, "steps"), sink.list(&object, "outputs"));
            for (at, step) in (0..).zip(steps.iter().chain(&outputs)) {
                whole_step(step, at, sink);
            }
            ending(&object, sink);
            sink.emit(AnswerEvent::End);
        }
        Payload::Event { .. } => event(&object, sink),
    }
    Some(())
}

fn interaction<'a>(interaction: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    sink.id(interaction);
    sink.envelope(interaction, "model", interaction.get("usage").map(usage));
}

fn ending(interaction: &Object<'_>, sink: &mut EventSink<'_, '_>) {
    sink.require_only(interaction, &INTERACTION);
    sink.emit(match interaction.word("status") {
        "completed" => AnswerEvent::Finished(Ending::Done),
        "requires_action" => AnswerEvent::Finished(Ending::ToCall),
        _ => AnswerEvent::Other,
    });
}

fn whole_step<'a>(step: &Object<'a>, at: u64, sink: &mut EventSink<'_, 'a>) {
    match step.word("type") {
        "thought" => hidden(step, sink),
        "function_call" => {
            sink.require_only(step, &["type", "id", "name", "arguments"]);
            let arguments = sink.arguments(step, "arguments");
            sink.emit(AnswerEvent::Call(WholeCall { id: step.get("id"), name: step.get("name"), arguments }));
        }
        kind => {
            // A text that is not in a content is of the older form.
            sink.require(kind == "model_output");
            texts(step, at, sink);
        }
    }
}

/// The model has reasoned, and the answer does not show how.
fn hidden(step: &Object<'_>, sink: &mut EventSink<'_, '_>) {
    sink.require_only(step, &["type", "signature"]);
    sink.emit(AnswerEvent::HiddenReasoning);
}

/// The texts of a content or of a step.
fn texts<'a>(said: &Object<'a>, at: u64, sink: &mut EventSink<'_, 'a>) {
    match said.word("type") {
        "text" => {
            sink.require_only(said, &["type", "text"]);
            sink.text(said, "text", (at, 0));
        }
        "model_output" => {
            sink.require_only(said, &["type", "content"]);
            sink.emit(AnswerEvent::TextStart);
            let contents = sink.list(said, "content");
            sink.require(contents.len() <= 1);
            for (part, content) in (0..).zip(&contents) {
                sink.require_only(content, &["type", "text"]);
                sink.require(content.is("type", "text"));
                if content.is("type", "text") {
                    sink.text(content, "text", (at, part));
                }
            }
        }
        _ => sink.emit(AnswerEvent::Other),
    }
}

/// Text comes in deltas. A call starts with its id and name, and its arguments come in deltas. The last event may
/// repeat all texts.
fn event<'a>(event: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    let at = event.number("index").unwrap_or(0);
    let told = sink.object(event, "interaction");
    interaction(&told, sink);
    match event.word("event_type") {
        "interaction.created" => {}
        "interaction.status_update" => {
            let status = event.word("status");
            sink.require(matches!(status, "in_progress" | "completed" | "requires_action"));
        }
        kind @ ("step.start" | "content.start") => {
            sink.require(kind == "step.start");
            let name = if event.has("step") { "step" } else { "content" };
            let step = sink.object(event, name);
            match step.word("type") {
                "thought" => hidden(&step, sink),
                "function_call" => call_begins(&step, at, sink),
                _ => texts(&step, at, sink),
            }
        }
        kind @ ("step.delta" | "content.delta") => {
            sink.require(kind == "step.delta");
            let delta = sink.object(event, "delta");
            match delta.word("type") {
                "text" => texts(&delta, at, sink),
                "arguments_delta" => {
                    sink.require_only(&delta, &["type", "arguments"]);
                    let text = sink.string(&delta, "arguments");
                    sink.emit(AnswerEvent::Arguments { at, text });
                }
                "thought_signature" => hidden(&delta, sink),
                "function_call" => {
                    sink.emit(AnswerEvent::Other);
                    call_begins(&delta, at, sink);
                }
                _ => sink.emit(AnswerEvent::Other),
            }
        }
        "step.stop" | "content.stop" => {
            sink.emit(AnswerEvent::TextEnd(Some((at, 0))));
            sink.emit(AnswerEvent::PartEnd { at, is_first: false });
        }
        "interaction.completed" | "interaction.complete" => {
            sink.emit(AnswerEvent::TextEnd(None));
            copies(&told, sink);
            sink.require(told.says("steps").is_none());
            ending(&told, sink);
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

/// A call starts with an empty object in place of the arguments that will come.
fn call_begins<'a>(step: &Object<'a>, at: u64, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(step, &["type", "id", "name", "arguments"]);
    let (id, name) = (step.get("id"), step.get("name"));
    sink.emit(AnswerEvent::CallStart(CallStart { at, id, name, is_counted: false }));
    if let Some(arguments) = step.says("arguments") {
        sink.emit(AnswerEvent::Arguments { at, text: arguments.get().into() });
    }
}

fn copies<'a>(told: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    for step in told.all(&["steps", "outputs"]).into_iter().flat_map(Raw::elements).map(Object::of) {
        let own = step.is("type", "text").then(|| step.get("text")).flatten();
        let contents = step.get("content").filter(|_| step.is("type", "model_output"));
        let contents = contents.into_iter().flat_map(Raw::elements).map(Object::of);
        let texts = contents.filter(|content| content.is("type", "text")).filter_map(|text| text.get("text"));
        own.into_iter().chain(texts).for_each(|text| sink.emit(AnswerEvent::WholeText(text)));
    }
}

/// The input count includes cached tokens. The output count excludes thoughts.
fn usage(raw: Raw<'_>) -> UsageReport {
    let usage = Object::of(raw);
    let count = |name| usage.number(name).unwrap_or(0);
    let cached = count("total_cached_tokens");
    UsageReport {
        input: usage.number("total_input_tokens").map(|input| input.saturating_sub(cached)),
        cached,
        output: count("total_output_tokens").saturating_add(count("total_thought_tokens")),
    }
}
