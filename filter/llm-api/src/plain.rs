//! Whether an answer is told by a text, a model and a usage alone: it is complete, ended in good order, and holds nothing that
//! the three do not say. What is not known to be harmless counts as something else; that a model thought, without a word of
//! what, is harmless. Looked at only where somebody wants to give the answer again.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    json,
    members::{Member, elements, members},
};

/// Why an answer is not to be given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPlain {
    /// It did not come to its end in good order.
    Incomplete,
    /// It holds something besides a text: a call, a refusal, thinking, an error, a member that nobody knows.
    Other,
    TooLong,
}

/// What a provider says at once.
#[derive(Clone, Copy, Debug)]
pub enum Said<'a> {
    /// A whole JSON answer.
    Whole(&'a str),
    /// One event of a stream. `kind` is the event's type where the framing has one, else empty.
    Event { kind: &'a str, json: &'a str },
}

/// The text of an answer, as long as it is nothing but a text.
#[derive(Debug)]
pub struct Plain {
    text: String,
    /// Bytes that the text may have.
    most: usize,
    stage: Stage,
    /// A part of the answer that holds text has begun.
    has_begun: bool,
    fault: Option<NotPlain>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// The model has finished; the event that closes the stream is still to come.
    Finished,
    /// The model has finished; what closes the stream is the end of the body.
    Closing,
    Ended,
}

impl Plain {
    pub(crate) fn new(most: usize) -> Self {
        Self { text: String::new(), most, stage: Stage::Open, has_begun: false, fault: None }
    }

    /// Notes what a look at a part of the answer gave.
    pub(crate) fn note(&mut self, seen: Option<()>) {
        if seen.is_none() {
            self.break_off(NotPlain::Other);
        }
    }

    pub(crate) fn break_off(&mut self, why: NotPlain) {
        self.fault.get_or_insert(why);
        self.text = String::new();
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.fault.is_some()
    }

    /// The only part that holds text begins; nothing where one has.
    pub(crate) fn begin(&mut self) -> Option<()> {
        (!std::mem::replace(&mut self.has_begun, true)).then_some(())
    }

    /// More of the text; nothing where none may come any more.
    pub(crate) fn push(&mut self, text: &str) -> Option<()> {
        if self.stage != Stage::Open && !text.is_empty() {
            return None;
        }
        if self.text.len().saturating_add(text.len()) > self.most {
            self.break_off(NotPlain::TooLong);
            return Some(());
        }
        self.text.push_str(text);
        Some(())
    }

    /// The model has finished, in good order; an event that says that nothing more comes must follow.
    pub(crate) fn finish(&mut self) -> Option<()> {
        self.go(Stage::Open, Stage::Finished)
    }

    /// The model has finished, in good order; only the end of the body says that nothing more comes.
    pub(crate) fn finish_with_body(&mut self) -> Option<()> {
        self.go(Stage::Open, Stage::Closing)
    }

    /// Nothing more comes.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.go(Stage::Finished, Stage::Ended)
    }

    fn go(&mut self, from: Stage, to: Stage) -> Option<()> {
        (self.stage == from).then(|| self.stage = to)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text, once the body is over or nothing more can come.
    pub(crate) fn into_text(self) -> Result<String, NotPlain> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if !matches!(self.stage, Stage::Ended | Stage::Closing) {
            return Err(NotPlain::Incomplete);
        }
        // A model that says nothing may say something when it is asked again.
        if self.text.trim().is_empty() { Err(NotPlain::Other) } else { Ok(self.text) }
    }
}

/// An object in which no name stands twice.
pub(crate) struct Object<'a>(Vec<Member<'a>>);

impl<'a> Object<'a> {
    pub fn of(raw: &'a RawValue) -> Option<Self> {
        if !raw.get().starts_with('{') {
            return None;
        }
        let members = members(raw);
        let mut keys: Vec<&str> = members.iter().map(|member| member.key.as_ref()).collect();
        keys.sort_unstable();
        let has_twins = keys.iter().zip(keys.iter().skip(1)).any(|(key, next)| key == next);
        (!has_twins).then_some(Self(members))
    }

    pub fn read(json: &'a str) -> Option<Self> {
        Self::of(json::read::<&RawValue>(json).ok()?)
    }

    /// What stands there, unless it says nothing.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        let member = self.0.iter().find(|member| member.key == key)?;
        (!says_nothing(member.value)).then_some(member.value)
    }

    /// All that says something has one of these names.
    pub fn only(&self, known: &[&str]) -> Option<()> {
        let is_known =
            |member: &Member<'_>| known.contains(&member.key.as_ref()) || says_nothing(member.value);
        self.0.iter().all(is_known).then_some(())
    }

    /// A string; empty where there is none. Nothing where it is anything else.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).map_or(Some(Cow::Borrowed("")), json::string)
    }

    /// Whether the string that stands there is this one.
    pub fn is(&self, key: &str, wanted: &str) -> Option<()> {
        (self.text(key)? == wanted).then_some(())
    }

    /// The same, where there is one.
    pub fn may_be(&self, key: &str, wanted: &str) -> Option<()> {
        matches!(self.text(key)?.as_ref(), said if said.is_empty() || said == wanted).then_some(())
    }

    /// The number is 0, or not there.
    pub fn is_first(&self, key: &str) -> Option<()> {
        self.get(key).is_none_or(|raw| raw.get() == "0").then_some(())
    }

    pub fn object(&self, key: &str) -> Option<Self> {
        Self::of(self.get(key)?)
    }

    /// The only element of a list.
    pub fn only_element(&self, key: &str) -> Option<Self> {
        self.only_element_but(key, |_| false)
    }

    /// The only element of a list that is none of those.
    pub fn only_element_but(&self, key: &str, is_left_out: impl Fn(&Self) -> bool) -> Option<Self> {
        let mut all = self.list(key);
        all.retain(|element| !Self::of(element).is_some_and(|element| is_left_out(&element)));
        match all.as_slice() {
            [one] => Self::of(one),
            _ => None,
        }
    }

    pub fn list(&self, key: &str) -> Vec<&'a RawValue> {
        self.get(key).map(elements).unwrap_or_default()
    }
}

/// Providers write down much of what is not there.
fn says_nothing(raw: &RawValue) -> bool {
    matches!(raw.get(), "null" | "false" | "\"\"" | "[]" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stands_twice_makes_no_object() {
        assert!(Object::read(r#"{"a":1,"b":2,"\u0061":3}"#).is_none());
        assert!(Object::read("[1]").is_none());
        let object = Object::read(r#"{"a":"x","b":null,"c":[],"d":0}"#).unwrap();
        assert!(object.only(&["a", "d"]).is_some() && object.only(&["a"]).is_none());
        assert!(object.is("a", "x").is_some() && object.may_be("b", "y").is_some());
        assert!(object.is_first("d").is_some() && object.is_first("a").is_none());
    }

    #[test]
    fn a_text_counts_once_it_is_whole() {
        let mut plain = Plain::new(4);
        plain.push("abc").unwrap();
        assert_eq!(Plain::new(4).into_text(), Err(NotPlain::Incomplete));
        plain.finish().unwrap();
        assert!(plain.push("d").is_none() && plain.finish().is_none());
        plain.end().unwrap();
        assert_eq!(plain.into_text(), Ok("abc".to_owned()));
        let mut long = Plain::new(4);
        long.push("abcde").unwrap();
        assert_eq!(long.into_text(), Err(NotPlain::TooLong));
    }
}
