//! What an answer says: text, tool calls and usage, put together from its parts with bounded memory.

use serde_json::value::RawValue;

use crate::{
    json,
    repeatable::{Content, FunctionCall, NotRepeatable},
    usage::{Report, Usage},
};

/// Arguments of one call beyond this are not kept (bytes).
const MAX_ARGUMENTS: usize = 262_144;
/// Text beyond this is not kept (bytes): a fingerprint reads less.
const MAX_TEXT: usize = 16_384;
const MAX_CALLS: usize = 128;

/// What a response said.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Cut at `MAX_TEXT`.
    pub text: String,
    pub calls: Vec<AnswerCall>,
    /// The answer's id, where a later request may say that it follows it; else empty.
    pub id: String,
    /// As the provider names it; empty where it does not.
    pub model: String,
    pub usage: Usage,
    /// All that it says, or why that is not to be given again; none where nobody asked.
    pub content: Option<Result<Content, NotRepeatable>>,
    /// The stream has said that nothing more will come.
    pub(crate) has_ended: bool,
}

/// A tool call of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AnswerCall {
    index: u64,
    /// Empty where the dialect has none.
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl Answer {
    /// An answer that is told by these alone.
    pub fn of(text: &str, calls: &[FunctionCall], model: &str, usage: Usage) -> Self {
        let mut answer = Self { model: model.to_owned(), usage, ..Self::default() };
        answer.push_text(text);
        calls.iter().for_each(|call| answer.add_call(&call.name, &call.arguments));
        answer
    }

    /// Gives the last call its id.
    pub(crate) fn set_call_id(&mut self, id: &str) {
        if let Some(call) = self.calls.last_mut() {
            call.id.push_str(id);
        }
    }

    pub(crate) fn set_id(&mut self, id: Option<&RawValue>) {
        if self.id.is_empty() {
            self.id = id.and_then(json::string).unwrap_or_default().into_owned();
        }
    }

    pub(crate) fn set_model(&mut self, model: Option<&RawValue>) {
        if self.model.is_empty() {
            self.model = model.and_then(json::string).unwrap_or_default().into_owned();
        }
    }

    pub(crate) fn add_usage(&mut self, report: Option<impl Into<Report>>) {
        if let Some(report) = report {
            self.usage.add(report.into());
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        let room = MAX_TEXT.saturating_sub(self.text.len());
        self.text.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
    }

    /// A call, or more of the one that has this index.
    pub(crate) fn push_call(&mut self, index: u64, name: &str, arguments: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.index == index) {
            call.name.push_str(name);
            if call.arguments.len().saturating_add(arguments.len()) <= MAX_ARGUMENTS {
                call.arguments.push_str(arguments);
            }
        } else if self.calls.len() < MAX_CALLS {
            self.calls.push(AnswerCall {
                index,
                id: String::new(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            });
        }
    }

    /// A call whose arguments came in pieces is whole: where none came it has an empty object.
    pub(crate) fn end_call(&mut self, index: u64) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.index == index)
            && call.arguments.is_empty()
        {
            call.arguments.push_str("{}");
        }
    }

    /// A whole call, after those that are there.
    pub(crate) fn add_call(&mut self, name: &str, arguments: &str) {
        let next = self.calls.iter().map(|call| call.index.saturating_add(1)).max().unwrap_or(0);
        self.push_call(next, name, arguments);
    }
}
