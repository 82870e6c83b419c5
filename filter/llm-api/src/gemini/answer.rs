//! Answers: the parts of each candidate. A stream is a series of such answers. All parts that are not thoughts form one
//! text. An answer that can be given again has one candidate that stopped normally, with a text followed by calls. No
//! event announces the end of a stream; the body just ends.

use crate::{
    answer_event::{AnswerEvent, Block, Ending, EventSink, Payload, Piece, WholeCall, with_other},
    json::{Raw, object::Object},
    usage::UsageReport,
};

const ENVELOPE: [&str; 5] = ["candidates", "usageMetadata", "modelVersion", "responseId", "createTime"];
const CANDIDATE: [&str; 5] = ["content", "finishReason", "index", "safetyRatings", "avgLogprobs"];

/// One answer, or the array of answers that a stream without `alt=sse` is.
pub fn read_answer<'a>(payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
    let whole = Raw::read(payload.json()).ok()?;
    match payload {
        Payload::Whole(_) if whole.is_list() => {
            whole.elements().for_each(|body| chunk(&Object::of(body), sink));
        }
        _ if whole.is_object() => chunk(&Object::of(whole), sink),
        _ => return None,
    }
    Some(())
}

fn chunk<'a>(body: &Object<'a>, sink: &mut EventSink<'_, 'a>) {
    sink.require_only(body, &ENVELOPE);
    sink.envelope(body, "modelVersion", body.get("usageMetadata").map(usage));
    let candidates = sink.list(body, "candidates");
    sink.require(candidates.len() <= 1);
    for (at, candidate) in (0..).zip(&candidates) {
        sink.require_only(candidate, &CANDIDATE);
        sink.require(candidate.is_first("index"));
        // A safety rating matters only if it blocks.
        let ratings = sink.list(candidate, "safetyRatings");
        sink.require(ratings.iter().all(|rating| rating.says("blocked").is_none()));
        let content = sink.object(candidate, "content");
        sink.require_only(&content, &["role", "parts"]);
        sink.require_if_present(&content, "role", "model");
        let (parts, has_ended) = (sink.list(&content, "parts"), candidate.has("finishReason"));
        let block = (candidate.number("index").unwrap_or(at), 0);
        let is_all = candidates.len() == 1 && parts.len() == 1 && !has_ended;
        for part in &parts {
            said_in(part, block, is_all, at > 0, sink);
        }
        if !has_ended {
            continue;
        }
        sink.emit(AnswerEvent::TextEnd(Some(block)));
        match candidate.word("finishReason") {
            "STOP" => sink.emit(AnswerEvent::Finished(Ending::WithBody)),
            _ => {
                sink.emit(AnswerEvent::Other);
                sink.emit(AnswerEvent::End);
            }
        }
    }
}

fn said_in<'a>(
    part: &Object<'a>,
    block: Block,
    is_all: bool,
    is_alternative: bool,
    sink: &mut EventSink<'_, 'a>,
) {
    sink.require_only(part, &["text", "thoughtSignature", "functionCall"]);
    // A signature of hidden thoughts.
    if part.says("thoughtSignature").is_some() {
        sink.emit(AnswerEvent::HiddenReasoning);
    }
    let text = part.get("text");
    sink.require(text.is_none_or(Raw::is_string));
    // The text is a thought and not part of the answer.
    let is_thought = part.get("thought").is_some_and(Raw::is_true);
    if let Some(text) = text.filter(|text| text.is_string() && !is_thought) {
        sink.emit(AnswerEvent::Text(Piece { block, text, is_all, is_alternative }));
    }
    if part.has("functionCall") {
        let call = sink.object(part, "functionCall");
        sink.require_only(&call, &["id", "name", "args"]);
        let arguments = sink.arguments(&call, "args");
        if !is_alternative {
            sink.emit(AnswerEvent::Call(WholeCall { id: None, name: call.get("name"), arguments }));
        }
    }
}

/// The input count includes cached tokens. The output count excludes thoughts.
fn usage(raw: Raw<'_>) -> UsageReport {
    let usage = Object::of(raw);
    let count = |name| usage.number(name).unwrap_or(0);
    let cached = count("cachedContentTokenCount");
    UsageReport {
        input: usage.number("promptTokenCount").map(|input| input.saturating_sub(cached)),
        cached,
        output: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
    }
}

/// An event with only this piece of text. The original chunk may hold other candidates, and other parts beside the
/// text.
pub fn event_of(like: &str, (index, _): Block, text: &str) -> Option<String> {
    let candidates = format!(
        r#""candidates":[{{"content":{{"parts":[{{"text":{text}}}],"role":"model"}},"index":{index}}}]"#
    );
    with_other(like, &["candidates", "usageMetadata"], &candidates)
}
