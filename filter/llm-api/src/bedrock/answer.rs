//! Answers: a message of content blocks, whole or in events that are named by their frames. An answer that can be given
//! again has at most one text block, followed by calls.

use crate::{
    answer_event::{AnswerEvent, CallStart, Ending, EventSink, Payload, WholeCall},
    json::{Raw, object::Object},
    usage::UsageReport,
};

/// `p` is padding of random length.
const CLOSING: [&str; 5] = ["usage", "metrics", "performanceConfig", "serviceTier", "p"];
const BODY: [&str; 6] = ["output", "stopReason", "usage", "metrics", "performanceConfig", "serviceTier"];

pub fn read_answer<'a>(payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
    let object = Object::read(payload.json())?;
    sink.require_unique_names(&object);
    match payload {
        Payload::Whole(_) => {
            let message = object.object("output").object("message");
            message.get("content").filter(|content| content.is_list())?;
            sink.require_only(&object, &BODY);
            sink.envelope(&object, "", object.get("usage").map(usage));
            let output = sink.object(&object, "output");
            sink.require_only(&output, &["message"]);
            sink.require_only(&message, &["role", "content"]);
            sink.require_if_present(&message, "role", "assistant");
            for (at, block) in (0..).zip(sink.list(&message, "content")) {
                whole_block(&block, at, sink);
            }
            ending(&object, sink);
            sink.emit(AnswerEvent::End);
        }
        Payload::Event { kind, .. } => event(kind, &object, sink),
    }
    Some(())
}

fn whole_block<'a>(block: &Object<'a>, at: u64, sink: &mut EventSink<'_, 'a>) {
    if !block.has("toolUse") {
        sink.emit(AnswerEvent::TextStart);
        return text(block, at, sink);
    }
    let call = tool_use(block, &["toolUseId", "name", "input"], sink);
    sink.require_id(&call, "toolUseId", "tooluse_");
    let arguments = sink.arguments(&call, "input");
    sink.emit(AnswerEvent::Call(WholeCall { id: None, name: call.get("name"), arguments }));
}

/// The call of a block that holds only a call.
fn tool_use<'a>(block: &Object<'a>, names: &[&str], sink: &mut EventSink<'_, 'a>) -> Object<'a> {
    sink.require_only(block, &["toolUse"]);
    let call = sink.object(block, "toolUse");
    sink.require_only(&call, names);
    call
}

fn text<'a>(block: &Object<'a>, at: u64, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(block, &["text"]);
    sink.text(block, "text", (at, 0));
}

fn ending(message: &Object<'_>, sink: &mut EventSink<'_, '_>) {
    sink.emit(match message.word("stopReason") {
        "end_turn" => AnswerEvent::Finished(Ending::Done),
        "tool_use" => AnswerEvent::Finished(Ending::ToCall),
        _ => AnswerEvent::Other,
    });
}

/// The last event, `metadata`, comes behind `messageStop`.
fn event<'a>(kind: &str, event: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    let at = event.number("contentBlockIndex").unwrap_or(0);
    match kind {
        "messageStart" => sink.require_if_present(event, "role", "assistant"),
        "contentBlockStart" => {
            sink.require_only(event, &["contentBlockIndex", "start", "p"]);
            let start = sink.object(event, "start");
            if !start.has("toolUse") {
                // The start of a text block is empty.
                return sink.require(event.says("start").is_none() && at == 0);
            }
            let call = tool_use(&start, &["toolUseId", "name"], sink);
            sink.require_id(&call, "toolUseId", "tooluse_");
            let begins = CallStart { at, id: None, name: call.get("name"), is_counted: false };
            sink.emit(AnswerEvent::CallStart(begins));
        }
        "contentBlockStop" => {
            sink.emit(AnswerEvent::TextEnd(Some((at, 0))));
            sink.emit(AnswerEvent::PartEnd { at, is_first: true });
        }
        "contentBlockDelta" => {
            sink.require_only(event, &["contentBlockIndex", "delta", "p"]);
            let delta = sink.object(event, "delta");
            if delta.has("toolUse") {
                let call = tool_use(&delta, &["input"], sink);
                let text = sink.string(&call, "input");
                return sink.emit(AnswerEvent::Arguments { at, text });
            }
            sink.require(event.is_first("contentBlockIndex"));
            text(&delta, at, sink);
        }
        "messageStop" => {
            sink.emit(AnswerEvent::TextEnd(None));
            sink.require_only(event, &["stopReason", "p"]);
            ending(event, sink);
        }
        "metadata" => {
            sink.emit(AnswerEvent::TextEnd(None));
            sink.require_only(event, &CLOSING);
            sink.envelope(event, "", event.get("usage").map(usage));
            sink.emit(AnswerEvent::End);
        }
        _ => sink.emit(AnswerEvent::Other),
    }
}

/// `inputTokens` counts neither tokens read from the cache nor those written to it.
fn usage(raw: Raw<'_>) -> UsageReport {
    let usage = Object::of(raw);
    let written = usage.number("cacheWriteInputTokens").unwrap_or(0);
    UsageReport {
        input: usage.number("inputTokens").map(|input| input.saturating_add(written)),
        cached: usage.number("cacheReadInputTokens").unwrap_or(0),
        output: usage.number("outputTokens").unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;

    fn read(payload: Payload<'_>, answer: &mut Answer) -> Option<()> {
        read_answer(payload, &mut EventSink::new(&mut |event| answer.on_event(&event)))
    }

    #[test]
    fn a_stream_says_what_the_whole_says() {
        let mut streamed = Answer::default();
        for (kind, json) in [
            ("messageStart", r#"{"role":"assistant"}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"Let me "}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"look."}}"#),
            ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
            (
                "contentBlockStart",
                r#"{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}"#,
            ),
            ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"a\":"}}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"1}"}}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"reasoningContent":{"text":"hm"}}}"#),
            ("messageStop", r#"{"stopReason":"tool_use"}"#),
            ("metadata", r#"{"usage":{"inputTokens":7,"outputTokens":3},"metrics":{"latencyMs":1}}"#),
            ("newKindOfEvent", r#"{"x":[1]}"#),
        ] {
            let _ = read(Payload::Event { kind, json }, &mut streamed);
        }
        let mut at_once = Answer::default();
        read(
            Payload::Whole(r#"{"output":{"message":{"role":"assistant","content":[{"text":"Let me look."},{"toolUse":{"toolUseId":"t","name":"f","input":{"a":1}}}]}},"stopReason":"tool_use","usage":{"inputTokens":7,"outputTokens":3}}"#),
            &mut at_once,
        )
        .unwrap();
        assert!(streamed.has_ended);
        assert_eq!((&streamed.text, streamed.usage), (&at_once.text, at_once.usage));
        let calls = |answer: &Answer| {
            answer.calls.iter().map(|call| format!("{}{}", call.name, call.arguments)).collect::<Vec<_>>()
        };
        assert_eq!(calls(&streamed), calls(&at_once));
        assert_eq!(calls(&streamed), [r#"f{"a":1}"#]);
    }
}
