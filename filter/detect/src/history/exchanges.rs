//! Exchanges: what an agent that calls no tools says, and the user texts that answer it. The approach is the action at
//! the end of the assistant's text (`written_action`), or the whole text; the outcome is the user's text. If an agent
//! does not repeat itself, only digests are compared.

use std::borrow::Cow;

use memchr::memmem::Finder;
use sentinel_llm_api::{
    conversation::{Part, Role},
    history::History,
    json::Unreadable,
};
use sentinel_text::{WordSet, digest, digest_pair, words};

use super::written_action;
use crate::Sought;
use crate::joined::Joined;
use crate::reverse_search::last_place;
use crate::step::{Brought, Judged, Kind, Purpose, Step};

/// Shorter texts are no evidence where nobody answers them (words).
const MIN_WORDS: usize = 4;

/// The exchanges from `start` on, oldest first; none where the last approach was not there before.
pub(super) fn of(history: &History<'_>, start: usize) -> Result<Vec<Step<'static>>, Unreadable> {
    let assistants: Vec<usize> =
        (start..history.len()).filter(|at| history.role(*at) == Role::Assistant).collect();
    if assistants.len() < 2 {
        return Ok(Vec::new());
    }
    let mut approaches = Vec::with_capacity(assistants.len());
    for at in &assistants {
        approaches.push(Approach::of(&raw_text(history, *at)).digest);
    }
    let Some((last, earlier)) = approaches.split_last() else { return Ok(Vec::new()) };
    if !earlier.contains(last) {
        return Ok(Vec::new());
    }
    let mut exchanges = Vec::with_capacity(assistants.len());
    let ends = assistants.iter().copied().skip(1).chain([history.len()]);
    for ((at, end), approach) in assistants.iter().copied().zip(ends).zip(&approaches) {
        exchanges.push(exchange(history, at, end, *approach)?);
    }
    Ok(exchanges)
}

fn exchange(
    history: &History<'_>,
    at: usize,
    end: usize,
    approach: u64,
) -> Result<Step<'static>, Unreadable> {
    let mut said = Joined::default();
    history.parts(at, &mut |part| {
        if let Part::Text(text) = part {
            said.push(text);
        }
    })?;
    let mut answer = Joined::default();
    let mut media = 0_u64;
    for at in (at.saturating_add(1)..end).filter(|at| history.role(*at) == Role::User) {
        history.parts(at, &mut |part| match part {
            Part::Text(text) => answer.push(text),
            // Another picture is another answer.
            Part::Media(raw) => media = media.wrapping_add(digest(raw.get().as_bytes())),
            Part::Call(_) | Part::Result(_) => {}
        })?;
    }
    let own = Approach::of(&said.0);
    let purpose = if own.is_block { Purpose::of_command(own.text) } else { Purpose::of_saying(own.text) };
    let (outcome, kind) = if answer.0.trim().is_empty() && !own.is_block {
        // The assistant speaks on without an answer.
        let says_something = words(&said.0).nth(MIN_WORDS.saturating_sub(1)).is_some();
        (0, if says_something { Kind::Content } else { Kind::Acknowledgement })
    } else {
        let judged = Judged { said: &answer.0, purpose, names_something: true, is_error: false };
        if own.is_block {
            let kind = judged.kind();
            (judged.outcome(kind), kind)
        } else {
            judged.judge_words()
        }
    };
    Ok(Step {
        approach,
        words: WordSet::default(),
        tools: 0,
        tool: "",
        rules: Vec::new(),
        brought: Brought::known(outcome.wrapping_add(media), kind),
    })
}

/// A message's text as it stands in the body where it is one string, else its texts.
fn raw_text<'a>(history: &'a History<'_>, at: usize) -> Cow<'a, str> {
    match history.content(at).map(|content| content.get()) {
        Some(raw) if raw.starts_with('"') => Cow::Borrowed(raw),
        _ => {
            let mut joined = Joined::default();
            // What the model itself wrote makes nothing unreadable.
            let _ = history.parts(at, &mut |part| {
                if let Part::Text(text) = part {
                    joined.push(text);
                }
            });
            joined.0
        }
    }
}

/// What an assistant's text does.
struct Approach<'a> {
    text: &'a str,
    /// It is an action that is written down: a fenced block, an element, JSON.
    is_block: bool,
    digest: u64,
}

impl<'a> Approach<'a> {
    /// `said` may be a JSON string as it stands: neither a fence nor a name has signs that JSON escapes.
    fn of(said: &'a str) -> Self {
        let block = last_calls(said).or_else(|| written_action::of(said));
        let text = block.unwrap_or(said).trim_matches(|c: char| c.is_whitespace() || c == '"');
        Self { text, is_block: block.is_some(), digest: digest_without_ids(text) }
    }
}

/// Calls that are written down at the end of a text: `[{'id': 'call_4', ..}]`.
fn last_calls(said: &str) -> Option<&str> {
    let text = said.trim_end_matches(|c: char| c.is_whitespace() || c == '"');
    let start = if text.ends_with("}]") { last_place(text, "[{")? } else { return None };
    if start > 0 { text.get(start..) } else { None }
}

/// Digest of an approach. An id that a framework gives it (`'id': 'call_4'`) is new each time.
fn digest_without_ids(text: &str) -> u64 {
    static ID: Sought = Sought::new(|| Finder::new("id"));
    let is_sign = |c: char| matches!(c, '"' | '\'' | '\\' | ' ' | ':' | '=');
    let part = |from: usize, to: Option<usize>| text.get(from..to.unwrap_or(text.len())).unwrap_or_default();
    let mut ids = ID.places(text);
    let mut next = ids.next();
    let mut found = digest(part(0, next).as_bytes());
    while let Some(at) = next {
        next = ids.next();
        let part = part(at.saturating_add("id".len()), next);
        // `id` is a word of its own, and a sign of a value follows.
        let is_word = text.get(..at).is_some_and(|text| !text.ends_with(|c: char| c.is_alphanumeric()));
        let value = part.trim_start_matches(is_sign);
        let names = is_word && part.len() > value.len() && part.contains([':', '=']);
        let end = value
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(value.len());
        let rest = if names { value.get(end..).unwrap_or_default() } else { part };
        found = digest_pair(found, digest(rest.as_bytes()));
    }
    found
}
