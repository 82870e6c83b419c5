//! A recorded run as it is held here: what was said, in order, beside the message as it stood in the file.
//! What must not live here: how a file is read (`traces.rs`) and how a provider wants to hear it (`dialect/`).

use serde_json::value::RawValue;

/// One whole run.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    pub id: String,
    pub source: String,
    /// `healthy`, `stuck`, `failed` or anything else.
    pub label: String,
    pub messages: Vec<RecordedMessage>,
}

#[derive(Clone, Debug)]
pub struct RecordedMessage {
    /// In OpenAI chat form: this dialect sends it as it is.
    pub raw: Box<RawValue>,
    pub said: MessageContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageContent {
    /// A system's or developer's text.
    Instruction(String),
    User(String),
    Assistant {
        text: String,
        calls: Vec<RecordedCall>,
    },
    /// The result of the call that has the id `call`.
    Result {
        call: String,
        /// The tool; empty where neither the message nor a call with its id names one.
        name: String,
        text: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    pub id: String,
    pub name: String,
    /// As the model wrote it: JSON as a rule.
    pub arguments: String,
}

impl RecordedMessage {
    pub fn is_assistant(&self) -> bool {
        matches!(self.said, MessageContent::Assistant { .. })
    }

    pub fn is_user(&self) -> bool {
        matches!(self.said, MessageContent::User(_))
    }
}

/// An assistant turn whose calls all have their results right behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSpan {
    /// Message of the assistant turn.
    pub start: usize,
    /// First message behind the results.
    pub end: usize,
}

/// The steps of a history, in order.
pub fn steps(messages: &[RecordedMessage]) -> Vec<StepSpan> {
    let mut steps = Vec::new();
    for (start, message) in messages.iter().enumerate() {
        let MessageContent::Assistant { calls, .. } = &message.said else { continue };
        let results = messages[start + 1..].iter().map_while(|message| match &message.said {
            MessageContent::Result { call, .. } => Some(call),
            _ => None,
        });
        let results: Vec<&String> = results.collect();
        if !calls.is_empty() && calls.iter().all(|call| results.contains(&&call.id)) {
            steps.push(StepSpan { start, end: start + 1 + results.len() });
        }
    }
    steps
}
