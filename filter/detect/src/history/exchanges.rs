//! Exchanges: what an agent that calls no tools says, and the user texts that answer it. The approach is the action at the end of
//! the assistant's text (`written_action`), or the whole text. The outcome is the user's text. As long as the last approach did
//! not occur before and nothing fails, only digests are compared.

use std::{borrow::Cow, ops::Range};

use memchr::memmem::Finder;
use sentinel_llm_api::{
    conversation::{Part, Role},
    history::History,
    json::{Raw, Unreadable},
};
use sentinel_text::{digest, digest_pair, words};

use crate::WordSet;

use super::deed;
use crate::Sought;
use crate::joined::Joined;
use crate::step::{
    Facts, JudgedResult, Kind, Numbers, Purpose, Step, StepOutcome, Steps, Task, Weight, alike_digest,
    is_failed_answer, unwrapped_text,
};

/// If the user does not answer a text that is shorter than this (words), the text is no evidence.
const MIN_WORDS: usize = 4;
/// After this many failures in a row, exchanges are read even if the last approach is new. It is the lowest count that an operator can set.
const FAILURES: usize = 2;

/// The exchanges from `start` on, oldest first, and the user text that says what the user wants. That is the text before the
/// first exchange, or the text that answered the last prose, if exchanges follow it. Empty when the last approach is new and the last
/// answers are no failures.
pub(super) fn of<'a>(history: &'a History<'_>, start: usize) -> Result<Steps<'a>, Unreadable> {
    let assistants: Vec<usize> = (start..history.len())
        .filter(|at| history.role(*at) == Role::Assistant && !history.has_calls(*at))
        .collect();
    if assistants.len() < 2 {
        return Ok(Steps::default());
    }
    let mut approaches = Vec::with_capacity(assistants.len());
    for at in &assistants {
        approaches.push(Approach::of(&raw_text(history, *at)).digest);
    }
    let Some((last, earlier)) = approaches.split_last() else { return Ok(Steps::default()) };
    if !earlier.contains(last) && !fails_again(history, &assistants)? {
        return Ok(Steps::default());
    }
    let calls_tools = (0..history.len()).any(|at| history.has_calls(at));
    let mut exchanges = Vec::with_capacity(assistants.len());
    let ends = assistants.iter().copied().skip(1).chain([history.len()]);
    for ((at, end), approach) in assistants.iter().copied().zip(ends).zip(&approaches) {
        exchanges.push(exchange(history, at..end, *approach, calls_tools)?);
    }
    let first = exchanges.iter().rposition(|exchange| !exchange.acts).map_or(0, |at| at.saturating_add(1));
    let before = assistants.get(first).or(assistants.first()).copied().unwrap_or_default();
    let user = (0..before).rev().find(|at| history.role(*at) == Role::User);
    let task = user.and_then(|at| history.content(at)).map(|content| Task::Texts([content.get(); 2]));
    Ok(Steps { all: exchanges, begins: Vec::new(), task: task.unwrap_or_default() })
}

/// Whether each of the last answers is a single text that is a failure by its form. A second text may be the user's, who asks for something
/// else.
fn fails_again(history: &History<'_>, assistants: &[usize]) -> Result<bool, Unreadable> {
    let ends = std::iter::once(history.len()).chain(assistants.iter().rev().copied());
    for (at, end) in assistants.iter().rev().copied().zip(ends).take(FAILURES) {
        if end != at.saturating_add(2) {
            return Ok(false);
        }
        let mut answers = Vec::new();
        history.parts(end.saturating_sub(1), &mut |part| {
            if let Part::Text(text) = part {
                answers.push(text);
            }
        })?;
        if !matches!(answers.as_slice(), [answer] if is_failed_answer(answer)) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn exchange(
    history: &History<'_>,
    Range { start: at, end }: Range<usize>,
    approach: u64,
    calls_tools: bool,
) -> Result<Step<'static>, Unreadable> {
    let mut said = Joined::default();
    history.parts(at, &mut |part| {
        if let Part::Text(text) = part {
            said.push(text);
        }
    })?;
    let (mut answer, mut core) = (Joined::default(), Joined::default());
    let mut media = 0_u64;
    for at in (at.saturating_add(1)..end).filter(|at| history.role(*at) == Role::User) {
        history.parts(at, &mut |part| match part {
            Part::Text(text) => {
                if !is_element(&text) {
                    core.push(text.clone());
                }
                answer.push(text);
            }
            // With another picture, it is another answer.
            Part::Media(raw) => media = media.wrapping_add(digest(raw.get().as_bytes())),
            Part::Call(_) | Part::Result(_) => {}
        })?;
    }
    let own = Approach::of(&said.0);
    // An empty text is no talk.
    let acts = said.0.trim().is_empty() || deed::acts(&said.0, calls_tools);
    let (purpose, weight) = own.meaning();
    let facts = if answer.0.trim().is_empty() && !own.is_block {
        // The user did not answer, and the assistant went on.
        let says_something = words(&said.0).nth(MIN_WORDS.saturating_sub(1)).is_some();
        let kind = if says_something { Kind::Content } else { Kind::Acknowledgement };
        Facts { kind, weight, outcome: 0, numbers: Numbers::default() }
    } else {
        let (said, is_error) = unwrapped_text(&answer.0);
        JudgedResult { said: &said, purpose, weight, is_error, call: [""; 2] }.facts(None)
    };
    // Elements that a framework adds, such as `<environment_details>`, are left out: otherwise equal answers would look different.
    let core = if core.0.is_empty() { &answer.0 } else { &core.0 };
    let alike = alike_digest(core).wrapping_add(media);
    let facts = Facts { outcome: facts.outcome.wrapping_add(media), ..facts };
    Ok(Step {
        approach,
        words: WordSet::default(),
        tools: 0,
        tool: "",
        rules: Vec::new(),
        acts,
        brought: StepOutcome::known(facts, alike, core.clone().into_owned()),
    })
}

/// One element alone: `<environment_details>..</environment_details>`.
fn is_element(text: &str) -> bool {
    let text = text.trim();
    let name = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(name, _)| name);
    name.is_some_and(|name| {
        let is_name = !name.is_empty()
            && name.len() <= 40
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        is_name
            && text
                .strip_suffix('>')
                .and_then(|text| text.strip_suffix(name))
                .is_some_and(|text| text.ends_with("</"))
    })
}

/// The text of a message: as it stands in the body if it is one string, otherwise its texts joined.
pub(super) fn raw_text<'a>(history: &'a History<'_>, at: usize) -> Cow<'a, str> {
    match history.content(at).map(|content| content.get()) {
        Some(raw) if raw.starts_with('"') => Cow::Borrowed(raw),
        _ => {
            let mut joined = Joined::default();
            // An unreadable part of the model's own message does not make the request unreadable.
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
    /// `said` may be a JSON string as it stands in the body: fences and names hold no characters that JSON escapes.
    fn of(said: &'a str) -> Self {
        let block = deed::written(said);
        let text = block.unwrap_or(said).trim_matches(|c: char| c.is_whitespace() || c == '"');
        Self { text, is_block: block.is_some(), digest: digest_without_ids(text) }
    }

    /// What it is for, and how much it says. A written JSON action may begin at the member that names it, so the bracket in front
    /// of it is added.
    fn meaning(&self) -> (Purpose, Weight) {
        let begin = if self.text.starts_with('{') { "" } else { "{\"" };
        let json = format!("{begin}{}", self.text);
        if self.is_block && Raw::read(&json).is_ok() {
            return (Purpose::of("", &json), Weight::of_arguments(&json));
        }
        let purpose = if self.is_block { Purpose::of_command } else { Purpose::of_saying };
        (purpose(self.text), Weight::of_command(self.text))
    }
}

/// Digest of an approach without the ids that a framework gives to calls (`'id': 'call_4'`), which are new each time. An id that
/// the agent itself names counts: it says what the agent does.
fn digest_without_ids(text: &str) -> u64 {
    static ID: Sought = Sought::new(|| Finder::new("id"));
    let part = |from: usize, to: Option<usize>| text.get(from..to.unwrap_or(text.len())).unwrap_or_default();
    let mut ids = ID.places(text);
    let mut next = ids.next();
    let mut found = digest(part(0, next).as_bytes());
    while let Some(at) = next {
        next = ids.next();
        let part = part(at.saturating_add("id".len()), next);
        let is_quoted = text.get(..at).is_some_and(|text| text.ends_with(['"', '\'']));
        let value = part.trim_start_matches(['"', '\'', '\\', ' ', ':']);
        let is_call = ["call_", "toolu_", "chatcmpl-", "fc_"].iter().any(|start| value.starts_with(start));
        let end = value
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(value.len());
        let rest = if is_quoted && is_call { value.get(end..).unwrap_or_default() } else { part };
        found = digest_pair(found, digest(rest.as_bytes()));
    }
    found
}
