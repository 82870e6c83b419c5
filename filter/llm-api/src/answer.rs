//! What an answer says: text, tool calls and usage, collected with bounded memory.

use crate::{
    answer_event::{AnswerEvent, CallStart, Ending, WholeCall},
    json::{Raw, lossy},
    repeatable::{Content, FunctionCall, NotRepeatable},
    usage::Usage,
};

/// Arguments of one call are cut off beyond this (bytes).
const MAX_ARGUMENTS: usize = 262_144;
/// Text is cut off beyond this (bytes). A fingerprint reads less.
const MAX_TEXT: usize = 16_384;
const MAX_CALLS: usize = 128;

/// What a response said.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// At most `MAX_TEXT` bytes.
    pub text: String,
    pub calls: Vec<AnswerCall>,
    /// The answer's id, if a later request may name it. Empty otherwise.
    pub id: String,
    /// As the provider names it. Empty if it does not.
    pub model: String,
    pub usage: Usage,
    /// The whole content, or why it cannot be given again. `None` if the caller did not ask for it.
    pub content: Option<Result<Content, NotRepeatable>>,
    /// The stream has said that it is over.
    pub(crate) has_ended: bool,
}

/// A tool call of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AnswerCall {
    index: u64,
    /// Empty if the dialect has no ids.
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl Answer {
    /// An answer with only this content.
    pub fn of(text: &str, calls: &[FunctionCall], model: &str, usage: Usage) -> Self {
        let mut answer = Self { model: model.to_owned(), usage, ..Self::default() };
        answer.push_text(text);
        calls.iter().for_each(|call| answer.add_call(&call.name, &call.arguments));
        answer
    }

    /// Adds one event of the answer.
    pub(crate) fn on_event(&mut self, event: &AnswerEvent<'_>) {
        match event {
            AnswerEvent::Id(id) if self.id.is_empty() => self.id = said(Some(*id)),
            AnswerEvent::Model(model) if self.model.is_empty() => self.model = said(Some(*model)),
            AnswerEvent::Usage(report) => self.usage.add(*report),
            AnswerEvent::Text(piece) if !piece.is_alternative => self.push_text(&said(Some(piece.text))),
            AnswerEvent::Call(WholeCall { id, name, arguments }) => {
                self.add_call(&said(*name), arguments);
                self.set_call_id(*id);
            }
            AnswerEvent::CallStart(CallStart { at, id, name, .. }) => {
                self.push_call(*at, &said(*name), "");
                self.set_call_id(*id);
            }
            AnswerEvent::Arguments { at, text } => self.push_call(*at, "", text),
            AnswerEvent::PartEnd { at, .. } => self.end_call(*at),
            AnswerEvent::End | AnswerEvent::Finished(Ending::WithBody) => self.has_ended = true,
            _ => {}
        }
    }

    /// Sets the id of the last call.
    fn set_call_id(&mut self, id: Option<Raw<'_>>) {
        if let Some(call) = self.calls.last_mut() {
            call.id.push_str(&said(id));
        }
    }

    fn push_text(&mut self, text: &str) {
        let room = MAX_TEXT.saturating_sub(self.text.len());
        self.text.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
    }

    /// Adds a call, or more of the call with this index.
    fn push_call(&mut self, index: u64, name: &str, arguments: &str) {
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

    /// Ends a call whose arguments came in pieces. If no piece came, its arguments are an empty object.
    fn end_call(&mut self, index: u64) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.index == index)
            && call.arguments.is_empty()
        {
            call.arguments.push_str("{}");
        }
    }

    /// Adds a whole call behind the others.
    fn add_call(&mut self, name: &str, arguments: &str) {
        let next = self.calls.iter().map(|call| call.index.saturating_add(1)).max().unwrap_or(0);
        self.push_call(next, name, arguments);
    }
}

fn said(raw: Option<Raw<'_>>) -> String {
    raw.and_then(lossy).unwrap_or_default().into_owned()
}
