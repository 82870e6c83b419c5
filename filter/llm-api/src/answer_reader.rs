//! Reads an answer while it passes, in any framing, with bounded memory. It holds no byte back.

use crate::{
    answer::Answer,
    answer_event::{EventSink, Payload},
    dialect::DialectRef,
    framing::{Framing, Lines, event_stream::Frames},
    repeatable::{NotRepeatable, Repeatable, RepeatableLimits},
};

/// A longer JSON answer, or a longer single event, is not read (bytes).
const MAX_JSON: usize = 262_144;

/// Reads one response.
#[derive(Debug)]
pub struct AnswerReader {
    dialect: DialectRef,
    frames: Unframed,
    /// Something was too long or broken.
    is_incomplete: bool,
    answer: Answer,
    /// Present if the caller asked for it.
    repeatable: Option<Repeatable>,
}

/// The beginning of a frame that is not complete yet.
#[derive(Debug)]
enum Unframed {
    Json(Vec<u8>),
    Sse(Lines),
    AwsEventStream(Frames),
}

impl AnswerReader {
    /// A reader for a response of this content type. Returns `None` when that type cannot hold an answer.
    pub fn new(dialect: DialectRef, content_type: &[u8]) -> Option<Self> {
        let frames = match Framing::of(content_type)? {
            Framing::Json | Framing::JsonArray => Unframed::Json(Vec::new()),
            Framing::Sse => Unframed::Sse(Lines::default()),
            Framing::AwsEventStream => Unframed::AwsEventStream(Frames::default()),
        };
        Some(Self { dialect, frames, is_incomplete: false, answer: Answer::default(), repeatable: None })
    }

    /// Collects the whole content too, as long as it is wanted and can be given again.
    #[must_use]
    pub fn collecting(self, wanted: RepeatableLimits) -> Self {
        Self { repeatable: Some(Repeatable::new(wanted)), ..self }
    }

    pub fn push(&mut self, chunk: &[u8]) {
        let Self { dialect, frames, is_incomplete, answer, repeatable } = self;
        let fits = match frames {
            _ if *is_incomplete && !matches!(frames, Unframed::Sse(_)) => return,
            Unframed::Json(text) => {
                let fits = text.len().saturating_add(chunk.len()) <= MAX_JSON;
                if fits {
                    text.extend_from_slice(chunk);
                }
                fits
            }
            Unframed::Sse(lines) => {
                lines.push(chunk, MAX_JSON, |data| event(*dialect, "", data, answer, repeatable)).is_ok()
            }
            Unframed::AwsEventStream(frames) => frames
                .push(chunk, MAX_JSON, |frame| {
                    event(
                        *dialect,
                        frame.event_type,
                        std::str::from_utf8(frame.payload).ok(),
                        answer,
                        repeatable,
                    );
                })
                .is_ok(),
        };
        *is_incomplete |= !fits;
    }

    /// Whether the last event of a stream has come. Clients go on from there and do not wait for the last byte. If the
    /// whole content is collected, the end of the body may have to come first.
    pub fn has_ended(&self) -> bool {
        let waits =
            self.repeatable.as_ref().is_some_and(|content| !content.is_broken() && !content.has_ended());
        self.answer.has_ended && !waits
    }

    /// Whether the model's turn has ended. More of the body may follow.
    pub fn has_finished(&self) -> bool {
        self.answer.has_ended
    }

    /// The answer, after the last byte. Returns `None` when it could not be read completely.
    pub fn into_answer(mut self) -> Option<Answer> {
        match self.frames {
            Unframed::Json(text) if !self.is_incomplete => {
                let text = std::str::from_utf8(&text).ok()?;
                read_answer(self.dialect, Payload::Whole(text), &mut self.answer, &mut self.repeatable)?;
            }
            Unframed::Sse(lines) => {
                lines.end(|data| event(self.dialect, "", data, &mut self.answer, &mut self.repeatable));
            }
            // An incomplete frame.
            Unframed::AwsEventStream(frames) if !frames.is_empty() => {
                self.repeatable.iter_mut().for_each(|content| content.break_off(NotRepeatable::Incomplete));
            }
            _ => {}
        }
        self.answer.content = self.repeatable.map(Repeatable::into_content);
        (!self.is_incomplete).then_some(self.answer)
    }
}

/// Reads the answer once for both.
fn read_answer(
    dialect: DialectRef,
    payload: Payload<'_>,
    answer: &mut Answer,
    repeatable: &mut Option<Repeatable>,
) -> Option<()> {
    let is_strict = repeatable.as_ref().is_some_and(|content| !content.is_broken());
    let mut visit = |event| {
        answer.on_event(&event);
        repeatable.iter_mut().for_each(|content| content.on_event(&event));
    };
    let new_sink = if is_strict { EventSink::strict } else { EventSink::new };
    let read = dialect.read_answer(payload, &mut new_sink(&mut visit));
    if read.is_none() {
        repeatable.iter_mut().for_each(|content| content.break_off(NotRepeatable::Other));
    }
    read
}

/// `data` is `None` if it is not UTF-8.
fn event(
    dialect: DialectRef,
    kind: &str,
    data: Option<&str>,
    answer: &mut Answer,
    repeatable: &mut Option<Repeatable>,
) {
    let Some(json) = data else {
        return repeatable.iter_mut().for_each(|content| content.break_off(NotRepeatable::Other));
    };
    answer.has_ended |= json == "[DONE]";
    // An event of unknown shape is ignored: it may be a ping, or an event that the provider adds later.
    let _: Option<()> = read_answer(dialect, Payload::Event { kind, json }, answer, repeatable);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dialect::FinalMessage,
        registry::{ALL, by_label},
        usage::Usage,
    };

    fn read(dialect: DialectRef, content_type: &str, body: &[u8], step: usize) -> Option<Answer> {
        let mut reader = AnswerReader::new(dialect, content_type.as_bytes()).unwrap();
        body.chunks(step).for_each(|chunk| reader.push(chunk));
        reader.into_answer()
    }

    #[test]
    fn our_own_final_messages_read_back_in_every_framing_and_cut() {
        for dialect in ALL {
            let streamed = if dialect.label() == "bedrock" { Framing::AwsEventStream } else { Framing::Sse };
            for framing in [Framing::Json, streamed] {
                let message = FinalMessage {
                    text: "Stöp \"now\".",
                    calls: &[],
                    model: "m",
                    framing,
                    id: 7,
                    kept_as: "",
                    usage: Usage::default(),
                    created: 1,
                    include_usage: true,
                };
                let body = dialect.final_message(&message).body;
                for step in [1, 3, 7, body.len()] {
                    let answer = read(dialect, framing.content_type(), &body, step).unwrap();
                    assert!(answer.has_ended || framing == Framing::Json, "{dialect:?}");
                    assert_eq!(answer.text, message.text, "{dialect:?} {framing:?} {step}");
                    let names_model = dialect.label() != "bedrock";
                    assert_eq!(answer.model, if names_model { "m" } else { "" }, "{dialect:?}");
                    assert_eq!(answer.calls, []);
                }
            }
        }
    }

    #[test]
    fn the_same_call_reads_the_same_in_every_dialect() {
        let args = r#"{"b":1,"a":[2]}"#;
        let quoted = crate::json::quoted(args);
        let chat = format!(
            r#"{{"choices":[{{"message":{{"content":null,"tool_calls":[{{"id":"x","function":{{"name":"f","arguments":{quoted}}}}}]}}}}]}}"#
        );
        let stream = concat!(
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"y\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"b\\\":1,\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"a\\\":[2]}\"}}]}}]}\n\n",
            "data: [DONE]\n\n"
        );
        let anthropic = r#"{"content":[{"type":"tool_use","id":"t","name":"f","input":{"b":1,"a":[2]}}]}"#;
        let responses =
            format!(r#"{{"output":[{{"type":"function_call","name":"f","arguments":{quoted}}}]}}"#);
        let gemini = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"b":1,"a":[2]}}}]}}]}"#;
        let bedrock = r#"{"output":{"message":{"content":[{"toolUse":{"toolUseId":"u","name":"f","input":{"b":1,"a":[2]}}}]}}}"#;
        let steps = r#"{"id":"v1_a","steps":[{"type":"thought","signature":"x"},{"type":"function_call","id":"c","name":"f","arguments":{"b":1,"a":[2]}}]}"#;
        let step_events = concat!(
            "data: {\"event_type\":\"step.start\",\"index\":1,\"step\":{\"type\":\"function_call\",\"id\":\"c\",\"name\":\"f\",\"arguments\":{}}}\n\n",
            "data: {\"event_type\":\"step.delta\",\"index\":1,\"delta\":{\"type\":\"arguments_delta\",\"arguments\":\"{\\\"b\\\":1,\"}}\n\n",
            "data: {\"event_type\":\"step.delta\",\"index\":1,\"delta\":{\"type\":\"arguments_delta\",\"arguments\":\"\\\"a\\\":[2]}\"}}\n\n",
            "data: {\"event_type\":\"step.stop\",\"index\":1}\n\n",
            "event: done\ndata: [DONE]\n\n"
        );
        let older_events = concat!(
            "data: {\"event_type\":\"content.start\",\"index\":0,\"content\":{\"type\":\"function_call\"}}\n\n",
            "data: {\"event_type\":\"content.delta\",\"index\":0,\"delta\":{\"type\":\"function_call\",\"id\":\"c\",\"name\":\"f\",\"arguments\":{\"b\":1,\"a\":[2]}}}\n\n",
            "data: {\"event_type\":\"content.stop\",\"index\":0}\n\n",
        );
        for (label, content_type, body) in [
            ("gemini_interactions", "application/json", steps),
            ("gemini_interactions", "text/event-stream", step_events),
            ("gemini_interactions", "text/event-stream", older_events),
            ("openai_chat", "application/json", chat.as_str()),
            ("openai_chat", "text/event-stream", stream),
            ("anthropic", "application/json", anthropic),
            ("vertex_anthropic", "application/json", anthropic),
            ("openai_responses", "application/json", responses.as_str()),
            ("gemini", "application/json", gemini),
            ("bedrock", "application/json", bedrock),
        ] {
            let answer = read(by_label(label).unwrap(), content_type, body.as_bytes(), 11).unwrap();
            let [call] = answer.calls.as_slice() else { panic!("{label}: {answer:?}") };
            assert_eq!((call.name.as_str(), call.arguments.as_str()), ("f", args), "{label}");
        }
    }

    #[test]
    fn a_chat_answer_in_parts_says_its_texts() {
        let chat = by_label("openai_chat").unwrap();
        let parts = r#"[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"St\u00f6p "},{"type":"text","text":"now"}]"#;
        let whole = format!(
            r#"{{"model":"m","choices":[{{"message":{{"content":{parts}}}}}],"usage":{{"prompt_tokens":3,"completion_tokens":2}}}}"#
        );
        let stream =
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{parts}}}}}]}}\n\ndata: [DONE]\n\n");
        for (content_type, body) in [("application/json", &whole), ("text/event-stream", &stream)] {
            assert_eq!(read(chat, content_type, body.as_bytes(), 9).unwrap().text, "St\u{f6}p now");
        }
        assert_eq!(read(chat, "application/json", whole.as_bytes(), 9).unwrap().model, "m");
    }

    #[test]
    fn what_is_too_long_or_broken_is_no_answer() {
        let chat = by_label("openai_chat").unwrap();
        let long = format!(r#"{{"choices":[{{"message":{{"content":"{}"}}}}]}}"#, "x".repeat(MAX_JSON));
        assert_eq!(read(chat, "application/json", long.as_bytes(), 1000), None);
        assert_eq!(read(chat, "application/json", b"{\"choices\":", 4), None);
        assert_eq!(read(chat, "application/vnd.amazon.eventstream", &[0; 100], 9), None);
        assert!(AnswerReader::new(chat, b"text/html").is_none());
    }
}
