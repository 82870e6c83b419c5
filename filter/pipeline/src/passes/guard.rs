//! Guard: prompt injection in the new part of a request, which is the user texts and tool results after the assistant's
//! last turn. Earlier texts were checked when they were new.

use sentinel_config::{GuardAction, GuardPolicy};
use sentinel_detect::verdict::{Finding, Signal, Verdict};
use sentinel_guard::{Matches, Pattern, Place, Scanner};
use sentinel_llm_api::{
    conversation::{Conversation, Role},
    history::{History, Written},
};

use super::Seen;
use crate::{
    case::Case,
    metric::{Enforced, Metric},
    note::{Injection, Note},
};

/// At most this many bytes of new texts are searched in one request. Of a text that is longer than what is left, the beginning and the end
/// are searched. To search a body that is nothing but new text would cost more than all else that the filter does.
const MOST_SEARCHED: usize = 128 * 1024;
/// A shorter text counts as this many bytes: the time goes into reading the message around it.
const LEAST_COUNTED: usize = 64;

/// Injections in the new texts of a request.
struct Search {
    /// The first of each pattern and place, with its offset in its text.
    found: Vec<(Place, Pattern, usize)>,
    /// Bytes that may still be searched.
    left: usize,
    /// All that was to be read could be.
    is_whole: bool,
    scanner: Scanner,
}

impl Search {
    fn json(&mut self, json: &str, place: Place) {
        let (head, tail) = self.share(json);
        let found = self.scanner.scan_json(head, place);
        self.add(place, 0, &found);
        // Where a value is more than one string, nobody knows whether its end begins within one.
        if let Some((start, tail)) = tail.filter(|_| json.starts_with('"')) {
            // What follows a backslash may be half of an escape.
            let mut tail = tail.trim_start_matches('\\').chars();
            tail.next();
            let found = self.scanner.scan_json(&format!("\"{}", tail.as_str()), place);
            self.add(place, start, &found);
        }
    }

    /// What of a text is searched: all, or its beginning and its end with where that starts.
    fn share<'t>(&mut self, text: &'t str) -> (&'t str, Option<(usize, &'t str)>) {
        let left = std::mem::take(&mut self.left);
        if text.len() <= left {
            self.left = left.saturating_sub(text.len().max(LEAST_COUNTED));
            return (text, None);
        }
        let half = left / 2;
        let head = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
        let start = text.ceil_char_boundary(text.len().saturating_sub(half));
        (head, text.get(start..).map(|tail| (start, tail)))
    }

    fn add(&mut self, place: Place, start: usize, patterns: &Matches) {
        for (pattern, offset) in patterns.iter() {
            if self.found.iter().all(|(known, other, _)| (*known, *other) != (place, pattern)) {
                self.found.push((place, pattern, start.saturating_add(offset)));
            }
        }
    }
}

/// The messages that are new. The newest come first: the model acts on them. The end of a history may be the beginning of an answer,
/// which the model is to go on with. With the answer before them: a client may have put something behind the model's own words there.
///
/// `misses_none`: calls that stand one by one, each before its result, may all be of one answer, and then all results are new. If they are
/// not, some are searched once more.
pub fn new<'h>(history: &'h History<'_>, misses_none: bool) -> impl Iterator<Item = usize> + 'h {
    let new = (first(history, misses_none)..history.len()).rev();
    new.filter(|at| history.role(*at) != Role::Instruction)
}

/// The first of them.
#[inline(never)]
fn first(history: &History<'_>, misses_none: bool) -> usize {
    let is_answer = |at: &usize| history.role(*at) == Role::Assistant;
    let last = (0..history.len()).rev().find(|at| !is_answer(at)).unwrap_or(0);
    let mut first = (0..last).rev().find(is_answer).unwrap_or(0);
    while let (true, Some(before)) = (misses_none && history.is_lone_call(first), first.checked_sub(2)) {
        if !is_answer(&before) || history.role(before.saturating_add(1)) != Role::Tool {
            break;
        }
        first = before;
    }
    first
}

/// Reads what is new.
fn read(conversation: &Conversation<'_>, policy: GuardPolicy) -> Search {
    // What is to be blocked must not hide behind other texts.
    let left = if policy.blocks() { usize::MAX } else { MOST_SEARCHED };
    let mut search = Search { found: Vec::new(), left, is_whole: true, scanner: Scanner::default() };
    if policy.user == GuardAction::Off && policy.tool == GuardAction::Off {
        return search;
    }
    let history = &conversation.history;
    // What a client fills into a prompt that the provider keeps.
    if policy.user != GuardAction::Off {
        conversation.variables(&mut |json| search.json(json, Place::User));
    }
    // What was found earlier was refused then.
    for at in new(history, policy.blocks()) {
        // More is not searched: then it need not be read.
        if search.left == 0 {
            break;
        }
        let read = history.written(at, &mut |written| match written {
            Written::Text(json) if policy.user != GuardAction::Off => search.json(json, Place::User),
            Written::Result(json) if policy.tool != GuardAction::Off => search.json(json, Place::Tool),
            _ => {}
        });
        search.is_whole &= read.is_ok();
    }
    search
}

/// Looks for them and puts them on record; a finding where one is to be blocked.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let policy = case.policy.guard;
    let Search { found, is_whole, .. } = read(seen.conversation, policy);
    if !is_whole && policy.blocks() {
        case.unread();
    }
    let enforced = Enforced::of(&case.policy);
    for (place, pattern, offset) in found {
        case.notes.push(Note::Count(Metric::Injections(pattern, place, case.dialect.label(), enforced), 1));
        let action = policy.action(place);
        case.notes.push(Note::Injection(Injection { pattern, place, offset, action }));
        if action == GuardAction::Block {
            let tool = pattern.label().to_owned();
            case.findings.push(Finding { tool, ..Finding::of(Signal::Injection, Verdict::Kill) });
        }
    }
}
