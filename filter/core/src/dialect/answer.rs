//! Reading a response as it passes: text and tool calls, from JSON or server-sent events, with bounded memory and
//! without holding a byte back.

use serde_json::value::RawValue;

use super::{Dialect, Form, Usage, anthropic, gemini, openai_chat, openai_responses, usage::Reported};
use crate::{
    json,
    prompt::{Print, canonical, digest, digest_pair},
    step::StepReader,
};

/// A JSON response longer than this, or a single event longer than this, is not read (bytes).
const MAX_JSON: usize = 262_144;
/// Text beyond this is not kept (bytes): a fingerprint reads less.
const MAX_TEXT: usize = 16_384;
const MAX_CALLS: usize = 128;

/// What a response said.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    text: String,
    calls: Vec<Call>,
    /// The stream has said that nothing more will come.
    pub(super) is_over: bool,
    /// As the provider names it; empty where it does not.
    pub model: String,
    pub usage: Usage,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Call {
    index: u64,
    /// Where the dialect gives the whole call at once (Responses).
    id: String,
    name: String,
    arguments: String,
}

impl Answer {
    /// Fingerprint of the text; the default print where there is none.
    pub fn print(&self) -> Print {
        if self.text.trim().is_empty() { Print::default() } else { Print::of(&self.text) }
    }

    /// Digest of the multiset of called tools with their canonical arguments; 0 without calls. Call ids do not count.
    pub fn tools(&self) -> u64 {
        self.calls
            .iter()
            .map(|call| digest_pair(digest(call.name.as_bytes()), canonical(&call.arguments).digest))
            .fold(0, u64::wrapping_add)
    }

    /// The calls that can be told by their ids, as one turn.
    pub fn calls(&self) -> StepReader {
        let mut reader = StepReader::default();
        reader.turn();
        for call in self.calls.iter().filter(|call| !call.id.is_empty()) {
            reader.call(&call.id, &call.name, &call.arguments);
        }
        reader
    }

    /// Names the last call.
    pub(super) fn name_call(&mut self, id: &str) {
        if let Some(call) = self.calls.last_mut() {
            call.id.push_str(id);
        }
    }

    pub(super) fn note_model(&mut self, model: Option<&RawValue>) {
        if self.model.is_empty() {
            self.model = model.and_then(json::string).unwrap_or_default().into_owned();
        }
    }

    pub(super) fn note_usage(&mut self, reported: Option<&Reported>) {
        if let Some(reported) = reported {
            self.usage.note(reported);
        }
    }

    pub(super) fn push_text(&mut self, text: &str) {
        let room = MAX_TEXT.saturating_sub(self.text.len());
        self.text.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
    }

    /// A call, or more of the one that has this index.
    pub(super) fn push_call(&mut self, index: u64, name: &str, arguments: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.index == index) {
            call.name.push_str(name);
            if call.arguments.len().saturating_add(arguments.len()) <= MAX_JSON {
                call.arguments.push_str(arguments);
            }
        } else if self.calls.len() < MAX_CALLS {
            self.calls.push(Call {
                index,
                id: String::new(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            });
        }
    }

    /// A whole call, after those that are there.
    pub(super) fn add_call(&mut self, name: &str, arguments: &str) {
        let next = self.calls.iter().map(|call| call.index.saturating_add(1)).max().unwrap_or(0);
        self.push_call(next, name, arguments);
    }
}

/// Reads one response.
#[derive(Debug)]
pub struct AnswerReader {
    dialect: Dialect,
    form: Form,
    /// The JSON so far, or the unfinished line of an event stream.
    carry: Vec<u8>,
    /// Something was too long to be kept.
    incomplete: bool,
    answer: Answer,
}

impl AnswerReader {
    /// A reader for a response of this content type; nothing where the type is not one that holds an answer.
    pub fn new(dialect: Dialect, content_type: &[u8]) -> Option<Self> {
        let media = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let form = if media.eq_ignore_ascii_case(b"text/event-stream") {
            Form::Sse
        } else if media.eq_ignore_ascii_case(b"application/json") {
            Form::Json
        } else {
            return None;
        };
        Some(Self { dialect, form, carry: Vec::new(), incomplete: false, answer: Answer::default() })
    }

    pub fn push(&mut self, chunk: &[u8]) {
        if self.form != Form::Sse {
            self.keep(chunk);
            return;
        }
        let mut lines = chunk.split_inclusive(|byte| *byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            self.keep(line);
            if line.ends_with(b"\n") || lines.peek().is_some() {
                self.end_line();
            }
        }
    }

    /// Whether the last event of a stream has come. Clients go on from there and do not wait for the last byte.
    pub fn is_over(&self) -> bool {
        self.answer.is_over
    }

    /// What was said, after the last byte; nothing where it could not be read as a whole.
    pub fn finish(mut self) -> Option<Answer> {
        match self.form {
            Form::Sse => self.end_line(),
            _ if self.incomplete => return None,
            _ => {
                let json = std::str::from_utf8(&self.carry).ok()?;
                match self.dialect {
                    Dialect::OpenAiChat => openai_chat::answer::whole(json, &mut self.answer)?,
                    Dialect::OpenAiResponses => openai_responses::answer::whole(json, &mut self.answer)?,
                    Dialect::Anthropic => anthropic::answer::whole(json, &mut self.answer)?,
                    Dialect::Gemini => gemini::answer::whole(json, &mut self.answer)?,
                }
            }
        }
        (!self.incomplete).then_some(self.answer)
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.carry.len().saturating_add(bytes.len()) > MAX_JSON {
            self.incomplete = true;
        } else if !self.incomplete {
            self.carry.extend_from_slice(bytes);
        }
    }

    /// One event is one `data:` line at every provider.
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.carry);
        let Some(data) = line.strip_prefix(b"data:") else { return };
        let Ok(data) = std::str::from_utf8(data) else { return };
        let data = data.trim();
        let answer = &mut self.answer;
        if data == "[DONE]" {
            answer.is_over = true;
        }
        // An event of a shape that is not known says nothing: `[DONE]`, pings, whatever comes next year.
        let _: Option<()> = match self.dialect {
            Dialect::OpenAiChat => openai_chat::answer::event(data, answer),
            Dialect::OpenAiResponses => openai_responses::answer::event(data, answer),
            Dialect::Anthropic => anthropic::answer::event(data, answer),
            Dialect::Gemini => gemini::answer::event(data, answer),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::FinalMessage;

    fn read(dialect: Dialect, content_type: &str, body: &str, step: usize) -> Option<Answer> {
        let mut reader = AnswerReader::new(dialect, content_type.as_bytes()).unwrap();
        body.as_bytes().chunks(step).for_each(|chunk| reader.push(chunk));
        reader.finish()
    }

    #[test]
    fn our_own_final_messages_read_back_in_every_form_and_cut() {
        for dialect in Dialect::ALL {
            for (form, content_type) in
                [(Form::Json, "application/json; charset=utf-8"), (Form::Sse, "text/event-stream")]
            {
                let message = FinalMessage {
                    text: "Stöp \"now\".",
                    model: "m",
                    form,
                    id: 7,
                    created: 1,
                    include_usage: true,
                };
                let body = dialect.final_message(&message);
                for step in [1, 3, 7, body.len()] {
                    let answer = read(dialect, content_type, &body, step).unwrap();
                    assert!(answer.is_over || form == Form::Json, "{dialect:?}");
                    assert_eq!(answer.text, message.text, "{dialect:?} {form:?} {step}");
                    assert_eq!(answer.model, message.model, "{dialect:?} {form:?} {step}");
                    assert_eq!(answer.tools(), 0);
                }
            }
        }
    }

    #[test]
    fn the_same_calls_have_one_digest_in_json_and_in_a_stream() {
        let args = r#"{"b":1,"a":[2]}"#;
        let quoted = crate::json::quoted(args);
        let chat = format!(
            r#"{{"choices":[{{"message":{{"content":null,"tool_calls":[{{"id":"x","function":{{"name":"f","arguments":{quoted}}}}}]}}}}]}}"#
        );
        let stream = concat!(
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"y\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"a\\\": [2],\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"b\\\": 1}\"}}]}}]}\n\n",
            "data: [DONE]\n\n"
        );
        let anthropic = r#"{"content":[{"type":"tool_use","id":"t","name":"f","input":{"a":[2],"b":1}}]}"#;
        let responses =
            format!(r#"{{"output":[{{"type":"function_call","name":"f","arguments":{quoted}}}]}}"#);
        let gemini = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":[2],"b":1}}}]}}]}"#;
        let json = "application/json";
        let tools = read(Dialect::OpenAiChat, json, &chat, 5).unwrap().tools();
        assert_ne!(tools, 0);
        for (dialect, content_type, body) in [
            (Dialect::OpenAiChat, "text/event-stream", stream),
            (Dialect::Anthropic, json, anthropic),
            (Dialect::OpenAiResponses, json, responses.as_str()),
            (Dialect::Gemini, json, gemini),
        ] {
            assert_eq!(read(dialect, content_type, body, 11).unwrap().tools(), tools, "{dialect:?}");
        }
    }

    #[test]
    fn what_is_too_long_or_broken_is_no_answer() {
        let long = format!(r#"{{"choices":[{{"message":{{"content":"{}"}}}}]}}"#, "x".repeat(MAX_JSON));
        assert_eq!(read(Dialect::OpenAiChat, "application/json", &long, 1000), None);
        assert_eq!(read(Dialect::OpenAiChat, "application/json", "{\"choices\":", 4), None);
        assert!(AnswerReader::new(Dialect::OpenAiChat, b"text/html").is_none());
    }
}
