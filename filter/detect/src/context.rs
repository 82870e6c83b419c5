//! The context of a prompt: what it is asked about. The same question about another picture, another page or another
//! draft is other work.

use sentinel_llm_api::{
    conversation::{Conversation, Part, Role},
    history::History,
    json::Unreadable,
};
use sentinel_text::{Fingerprint, digest, digest_pair};

use crate::{joined::Joined, words::english};

/// Earlier occurrences of a prompt that are remembered.
const OCCURRENCES: usize = 24;

/// The context of a prompt, as digests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Everything before the prompt, without its earlier occurrences and the answers to them.
    pub whole: u64,
    /// What a reworded prompt must share: instructions, media, and user texts that nobody has answered; 0 where there are
    /// none of these.
    pub setting: u64,
    /// The messages up to the prompt, the prompt included.
    pub history: u64,
    /// Where the prompt stands in this history already, oldest first.
    pub earlier: Vec<Occurrence>,
}

/// An earlier occurrence of a prompt in the same history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The messages up to it, itself included.
    pub history: u64,
    /// What the assistant said to it.
    pub answer: Fingerprint,
}

impl Context {
    /// The context of the user's text at `last`.
    pub(crate) fn of(conversation: &Conversation<'_>, last: usize) -> Result<Self, Unreadable> {
        let history = &conversation.history;
        let instructions = conversation.instructions.map_or(0, |raw| steady(raw.get()));
        let mut context = Self { whole: instructions, setting: instructions, ..Self::default() };
        let prompt = MessageDigests::at(history, last)?;
        let mut unanswered = 0_u64;
        // True if the message before was the prompt itself. The assistant's answer to it is left out too.
        let mut answers_prompt = false;
        for at in 0..=last {
            let role = history.role(at);
            if role == Role::Instruction {
                let said = history.content(at).map_or(0, |raw| steady(raw.get()));
                context.whole = digest_pair(context.whole, said);
                context.setting = digest_pair(context.setting, said);
                continue;
            }
            let message = MessageDigests::at(history, at)?;
            context.history = digest_pair(context.history, message.digest());
            context.setting = context.setting.wrapping_add(message.media);
            let is_prompt = role == Role::User && message.text == prompt.text;
            if at == last {
                break;
            }
            match role {
                Role::Assistant => {
                    unanswered = 0;
                    if answers_prompt && let Some(occurrence) = context.earlier.last_mut() {
                        occurrence.answer = answer(history, at)?;
                    }
                }
                Role::User if !is_prompt => unanswered = digest_pair(unanswered, message.text),
                _ => {}
            }
            if is_prompt {
                if context.earlier.len() >= OCCURRENCES {
                    context.earlier.remove(0);
                }
                let answer = Fingerprint::default();
                context.earlier.push(Occurrence { history: context.history, answer });
            } else if !(answers_prompt && role == Role::Assistant) {
                context.whole = digest_pair(context.whole, message.digest());
            }
            answers_prompt = is_prompt;
        }
        context.whole = digest_pair(context.whole, prompt.media);
        if unanswered != 0 {
            context.setting = digest_pair(context.setting, unanswered);
        }
        Ok(context)
    }
}

/// One message as digests. Marks that move from message to message, such as `cache_control`, are ignored.
struct MessageDigests {
    text: u64,
    media: u64,
}

impl MessageDigests {
    fn at(history: &History<'_>, at: usize) -> Result<Self, Unreadable> {
        let content = history.content(at).map(|content| content.get());
        if let Some(text) = content.filter(|raw| raw.starts_with('"') && !history.has_calls(at)) {
            return Ok(Self { text: inside(text), media: 0 });
        }
        let mut message = Self { text: 0, media: 0 };
        history.parts(at, &mut |part| match part {
            Part::Text(text) => message.push(digest(text.as_bytes())),
            Part::Media(raw) => message.media = digest_pair(message.media, digest(raw.get().as_bytes())),
            Part::Call(call) => message.push(digest(call.arguments.as_bytes())),
            Part::Result(result) => {
                message.push(result.content.map_or(0, |raw| digest(raw.get().as_bytes())));
            }
        })?;
        Ok(message)
    }

    /// A single text keeps its digest, so a string and a list with one text have the same digest.
    fn push(&mut self, text: u64) {
        self.text = if self.text == 0 { text } else { digest_pair(self.text, text) };
    }

    fn digest(&self) -> u64 {
        digest_pair(self.text, self.media)
    }
}

/// Digest of the text of a JSON string. Escapes are not decoded.
fn inside(raw: &str) -> u64 {
    let text = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
    digest(text.as_bytes())
}

/// What the assistant says at this place.
fn answer(history: &History<'_>, at: usize) -> Result<Fingerprint, Unreadable> {
    let mut said = Joined::default();
    history.parts(at, &mut |part| {
        if let Part::Text(text) = part {
            said.push(text);
        }
    })?;
    let text = said.0;
    Ok(if text.trim().is_empty() { Fingerprint::default() } else { Fingerprint::of(&text) })
}

/// Digest of instructions without numbers, dates and times. Instructions that hold the current time are still the same work.
fn steady(text: &str) -> u64 {
    let mut kept = Vec::with_capacity(text.len());
    for word in text.as_bytes().split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()) {
        if !word.is_empty() && !is_clock(word) && !is_calendar(word) {
            kept.extend_from_slice(word);
            kept.push(b' ');
        }
    }
    digest(&kept)
}

/// A number, or a part of a time: `17`, `04T10`, `07Z`, `10am`, `250ms`. A word with digits in it ("step3", "W17") says what it is about.
fn is_clock(word: &[u8]) -> bool {
    const UNITS: [&[u8]; 10] = [b"", b"T", b"Z", b"am", b"pm", b"th", b"st", b"nd", b"rd", b"ms"];
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some((_, rest)) = word.split_at_checked(digits).filter(|_| digits > 0) else { return false };
    let is_unit = |part: &[u8]| {
        UNITS.iter().any(|unit| part.eq_ignore_ascii_case(unit)) || part.eq_ignore_ascii_case(b"s")
    };
    match rest.split_first() {
        Some((b'T', time)) if !time.is_empty() => is_unit(
            time.get(time.iter().take_while(|byte| byte.is_ascii_digit()).count()..).unwrap_or_default(),
        ),
        _ => is_unit(rest),
    }
}

/// `Monday`, `Nov`, `PM`: what a date or a time is written with.
pub(crate) fn is_calendar(word: &[u8]) -> bool {
    if word.len() <= 2 {
        return english::HALVES_OF_DAY.iter().any(|half| word.eq_ignore_ascii_case(half.as_bytes()));
    }
    // Whole, or its first three letters.
    let is_named = |name: &&str| {
        let name = name.as_bytes();
        word.eq_ignore_ascii_case(if word.len() == 3 { name.get(..3).unwrap_or(name) } else { name })
    };
    english::CALENDAR.iter().any(is_named)
}

#[cfg(test)]
mod tests;
