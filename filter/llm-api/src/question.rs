//! Splits a request for the response cache: into the last user text, and the rest in canonical form. Two requests with
//! the same rest ask the same model in the same state.

use std::borrow::Cow;

use crate::{
    canonical::{Ambiguous, Node},
    conversation::{Conversation, Part, Role},
    json::{self, Raw, object::Object, span},
};

/// Longer texts are hardly ever repeated (bytes).
pub const MAX_PROMPT: usize = 16_384;

/// Objects that may hold the sampling parameters, besides the body itself.
const SAMPLING: [&str; 3] = ["generationConfig", "generation_config", "inferenceConfig"];
/// Objects in which clients put labels of their own.
const METADATA: [&str; 3] = ["metadata", "labels", "requestMetadata"];

/// A request without its last user text, and that text.
#[derive(Debug)]
pub struct Question<'a> {
    pub prompt: Cow<'a, str>,
    /// Number of the user's messages.
    pub turns: usize,
    /// `None` if the request does not say.
    pub temperature: Option<f64>,
    /// Whether the provider keeps the answer under its id, so that a later request may name it.
    pub is_kept: bool,
    rest: Node<'a>,
}

/// Why a request cannot be answered from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It does not end with a single user text.
    Tail,
    /// It has images, sounds or files.
    Media,
    /// The provider keeps a part of the history, or the request asks for more than an answer.
    Kept,
    /// The user text is too long.
    Length,
    Ambiguous(Ambiguous),
}

impl<'a> Question<'a> {
    /// Splits a request. `names`: members of `metadata` that only name the agent or the run.
    pub fn of(conversation: &Conversation<'a>, names: &[&str]) -> Result<Self, Unfit> {
        let (body, keeps_answers) = (conversation.body, conversation.keeps_answers());
        if conversation.kept.is_some() {
            return Err(Unfit::Kept);
        }
        let raw = place(conversation)?;
        let shape = Unfit::Ambiguous(Ambiguous::Shape);
        if raw.get().len() > MAX_PROMPT {
            return Err(Unfit::Length);
        }
        let prompt = json::string(raw).ok_or(Unfit::Ambiguous(Ambiguous::Escape))?;
        let hole = span(body, raw).ok_or(shape)?;
        let mut rest = Node::read(body, &hole).map_err(Unfit::Ambiguous)?;
        let is_kept = match rest.get("store") {
            Some(store) if store.is_boolean() => store.is_true(),
            Some(_) => return Err(shape),
            None => keeps_answers,
        };
        // If a dialect does not keep answers by default, a client that asks for it wants the answer to be stored.
        let does_more = ["background", "thread"].iter().any(|key| rest.get(key).is_some_and(says_so));
        if does_more || is_kept && !keeps_answers {
            return Err(Unfit::Kept);
        }
        let temperature = temperature(&rest).ok_or(shape)?;
        leave_out(&mut rest, names);
        let history = &conversation.history;
        let turns = (0..history.len()).filter(|at| history.role(*at) == Role::User).count();
        Ok(Self { prompt, turns, temperature, is_kept, rest })
    }

    /// Whether `is` holds of a text of the request, the user text aside.
    pub fn any_text(&self, is: &mut dyn FnMut(&str) -> bool) -> bool {
        self.rest.any_text(is)
    }

    /// Writes the request without the user text and without members that make no difference, in canonical form.
    pub fn write_rest(&self, out: &mut dyn FnMut(&[u8])) {
        self.rest.write(out);
    }
}

fn says_so(value: &Node<'_>) -> bool {
    !matches!(value, Node::Word("false" | "null"))
}

/// The last user text, if it is alone in its message.
fn place<'a>(conversation: &Conversation<'a>) -> Result<Raw<'a>, Unfit> {
    let history = &conversation.history;
    let last = (0..history.len()).rev().find(|at| history.role(*at) != Role::Instruction);
    let last = last.filter(|at| history.role(*at) == Role::User).ok_or(Unfit::Tail)?;
    let (mut texts, mut others, mut media) = (0_usize, 0_usize, 0_usize);
    for at in 0..history.len() {
        let read = history.parts(at, &mut |part| match part {
            Part::Media(_) => media = media.saturating_add(1),
            Part::Text(_) if at == last => texts = texts.saturating_add(1),
            _ if at == last => others = others.saturating_add(1),
            _ => {}
        });
        read.map_err(|_| Unfit::Ambiguous(Ambiguous::Shape))?;
    }
    if media > 0 {
        return Err(Unfit::Media);
    }
    if texts != 1 || others > 0 {
        return Err(Unfit::Tail);
    }
    only_string(history.content(last).ok_or(Unfit::Tail)?).ok_or(Unfit::Tail)
}

/// A string, or the text of a list's only part.
fn only_string(content: Raw<'_>) -> Option<Raw<'_>> {
    if content.is_string() {
        return Some(content);
    }
    let mut elements = content.elements();
    let part = if content.is_object() { content } else { elements.next()? };
    match (elements.next(), Object::of(part).all(&["text"]).as_slice()) {
        (None, [text]) if text.is_string() => Some(*text),
        _ => None,
    }
}

/// The highest temperature in the request. Returns `None` when one of them is not a number.
fn temperature(rest: &Node<'_>) -> Option<Option<f64>> {
    let places = [Some(rest)].into_iter().chain(SAMPLING.map(|key| rest.get(key)));
    let named = places.flatten().filter_map(|place| place.get("temperature"));
    let mut highest: Option<f64> = None;
    for value in named.filter(|value| **value != Node::Word("null")) {
        let value = value.number()?;
        highest = Some(highest.map_or(value, |highest| highest.max(value)));
    }
    Some(highest)
}

/// Removes members that only say how the answer is sent, or which agent or run the request is for.
fn leave_out(rest: &mut Node<'_>, names: &[&str]) {
    const STREAM_OPTIONS: [&str; 2] = ["include_usage", "include_obfuscation"];
    rest.retain(|key, value| match key {
        "stream" => !value.is_boolean(),
        "stream_options" => {
            !value.members().iter().all(|(key, _)| STREAM_OPTIONS.contains(&key.as_ref()))
                || matches!(value, Node::Text(_) | Node::List(_))
        }
        _ => {
            if METADATA.contains(&key) {
                value.retain(|name, value| !names.contains(&name) || matches!(value, Node::Hole));
            }
            true
        }
    });
}
