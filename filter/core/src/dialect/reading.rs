//! What one request body says, in terms that all dialects share.

use std::{borrow::Cow, collections::HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    config::BodyField,
    json,
    remote::RemoteTail,
    step::{Done, Step},
};

/// One request body, borrowed.
#[derive(Debug, Default)]
pub struct Reading<'a> {
    pub model: Cow<'a, str>,
    /// The client asked for a stream (where the body says so).
    pub stream: bool,
    pub include_usage: bool,
    /// Messages or items of the conversation.
    pub turns: u32,
    /// Fingerprint of the conversation's head, where the request carries history.
    pub run: Option<u64>,
    pub tail: Tail,
    /// What the agent did since the last user message.
    pub steps: Vec<Step>,
    /// The calls whose results are new in this request.
    pub done: Vec<Done>,
    /// What is new, where the provider keeps the history.
    pub remote: Option<RemoteTail>,
    /// Assistant turns since the last user message.
    pub turns_alone: u32,
    pub ids: BodyIds<'a>,
}

/// What the conversation ends with.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// A user text that the agent has appended: a prompt event.
    Prompt(String),
    /// A text beside tool results: a user's word to the agent, or a framework's reminder. No evidence.
    Aside(String),
    /// Tool results, an assistant's text, anything else.
    #[default]
    Other,
}

/// Body fields that may hold identifiers.
#[derive(Debug, Default)]
pub struct BodyIds<'a> {
    pub user: Option<&'a RawValue>,
    pub safety_identifier: Option<&'a RawValue>,
    pub metadata: Option<&'a RawValue>,
}

impl<'a> BodyIds<'a> {
    /// The identifier in `field`; strings and numbers only, and never an empty one.
    pub fn get(&self, field: &BodyField) -> Option<Cow<'a, str>> {
        let raw = match field {
            BodyField::User => self.user?,
            BodyField::SafetyIdentifier => self.safety_identifier?,
            BodyField::Metadata(key) => {
                let metadata: HashMap<Cow<'a, str>, &'a RawValue> =
                    serde_json::from_str(self.metadata?.get()).ok()?;
                *metadata.get(key.as_str())?
            }
        };
        let is_number = raw.get().starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let id = if is_number { Cow::Borrowed(raw.get()) } else { json::string(raw)? };
        (!id.is_empty()).then_some(id)
    }
}

/// The text of a message's content: a string, or a list of parts of which those of the types `kinds` are text.
/// Other parts (images, files, sounds) are passed over, not copied. Nothing where a text cannot be decoded.
pub fn content_text(content: &RawValue, kinds: &[&str]) -> Option<String> {
    if content.get().starts_with('"') {
        return json::string(content).map(Cow::into_owned);
    }
    let mut joined = String::new();
    for part in parts(content)? {
        if part.is(kinds) {
            let text = json::string(part.text?)?;
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(&text);
        }
    }
    Some(joined)
}

/// The parts of a content list.
pub fn parts(content: &RawValue) -> Option<Vec<Part<'_>>> {
    serde_json::from_str(content.get()).ok()
}

/// One part of a message's content.
#[derive(Debug, Deserialize)]
pub struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub text: Option<&'a RawValue>,
}

impl Part<'_> {
    pub fn is(&self, kinds: &[&str]) -> bool {
        kinds.contains(&self.kind.as_ref())
    }
}

/// A model's name, or nothing.
pub fn model(raw: Option<&RawValue>) -> Cow<'_, str> {
    raw.and_then(json::string).unwrap_or_default()
}

/// A list's length as it is remembered.
pub fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
