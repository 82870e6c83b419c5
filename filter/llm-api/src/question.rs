//! A request taken apart for a cache of answers: the last text of the user, and all the rest in one form, so that two requests
//! with the same rest ask two things of the same model in the same state. What is stored is not known here.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    canonical::{Ambiguous, Node},
    conversation::{Conversation, Part, Role},
    dialect::DialectRef,
    json::{self, span},
    members::{elements, members, named},
};

/// Longer texts are hardly ever said twice (bytes).
pub const MAX_PROMPT: usize = 16_384;

/// Where the sampling parameters stand, beside the outermost object.
const SAMPLING: [&str; 3] = ["generationConfig", "generation_config", "inferenceConfig"];
/// Where clients put names of their own.
const METADATA: [&str; 3] = ["metadata", "labels", "requestMetadata"];

/// A request whose last user text is taken out.
#[derive(Debug)]
pub struct Question<'a> {
    pub prompt: Cow<'a, str>,
    /// Messages of the user's side.
    pub turns: usize,
    /// None where the provider's default holds.
    pub temperature: Option<f64>,
    /// The provider keeps the answer under its id, and a later request may name it.
    pub is_kept: bool,
    rest: Node<'a>,
}

/// Why a request is none that an answer is looked up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It does not end with one text that a user wrote.
    Tail,
    /// Images, sounds, files.
    Media,
    /// The provider has a part of the history, or is to do more than to answer.
    Kept,
    /// The text is too long.
    Length,
    Ambiguous(Ambiguous),
}

impl<'a> Question<'a> {
    /// Takes a request apart. `names`: members of `metadata` that say which agent or run it is, and nothing else.
    pub fn of(
        dialect: DialectRef,
        body: &'a str,
        conversation: &Conversation<'a>,
        names: &[&str],
    ) -> Result<Self, Unfit> {
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
            None => dialect.keeps_answers(),
        };
        // Where an answer that is kept can only be looked at, it is the keeping that the client wants.
        let does_more = ["background", "thread"].iter().any(|key| rest.get(key).is_some_and(says_so));
        if does_more || is_kept && !dialect.keeps_answers() {
            return Err(Unfit::Kept);
        }
        let temperature = temperature(&rest).ok_or(shape)?;
        leave_out(&mut rest, names);
        let history = &conversation.history;
        let turns = (0..history.len()).filter(|at| history.role(*at) == Role::User).count();
        Ok(Self { prompt, turns, temperature, is_kept, rest })
    }

    /// Writes all of the request but the prompt and what makes no difference, the same for all ways of writing it.
    pub fn write_rest(&self, out: &mut dyn FnMut(&[u8])) {
        self.rest.write(out);
    }
}

fn says_so(value: &Node<'_>) -> bool {
    !matches!(value, Node::Word("false" | "null"))
}

/// The string that is the last user's text, alone in its message.
fn place<'a>(conversation: &Conversation<'a>) -> Result<&'a RawValue, Unfit> {
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

/// A string, or the text of the only part.
fn only_string(content: &RawValue) -> Option<&RawValue> {
    match content.get().as_bytes().first()? {
        b'"' => Some(content),
        b'[' => match elements(content).as_slice() {
            [part] if part.get().starts_with('{') => only_string(part),
            _ => None,
        },
        b'{' => match named(&members(content), &["text"]).as_slice() {
            [text] if text.get().starts_with('"') => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// The highest temperature that the request names; an error where one is no number.
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

/// What says only how the answer is sent, or which agent or run it is for.
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
