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

/// Most bytes of new texts that are searched in one request. If a text is longer than what is left of this, its beginning and its
/// end are searched. Searching a large body of new text would cost more than everything else that the filter does.
const MOST_SEARCHED: usize = 128 * 1024;
/// A shorter text counts as this many bytes, because reading the message around it takes the time.
const LEAST_COUNTED: usize = 64;

/// Injections in the new texts of a request.
struct Search {
    /// The first of each pattern and place, with its offset in its text.
    found: Vec<(Place, Pattern, usize)>,
    /// Bytes that may still be searched.
    left: usize,
    /// Everything that had to be read could be read.
    is_whole: bool,
    scanner: Scanner,
}

impl Search {
    fn json(&mut self, json: &str, place: Place) {
        let (head, tail) = self.share(json);
        let found = self.scanner.scan_json(head, place);
        self.add(place, 0, &found);
        // If the value is not a single string, it is not known whether its end begins within one.
        if let Some((start, tail)) = tail.filter(|_| json.starts_with('"')) {
            // A character behind a backslash may be half of an escape.
            let mut tail = tail.trim_start_matches('\\').chars();
            tail.next();
            let found = self.scanner.scan_json(&format!("\"{}", tail.as_str()), place);
            self.add(place, start, &found);
        }
    }

    /// The part of a text that is searched: all of it, or its beginning and its end, with the offset of the end.
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

/// The messages that are new, the newest first, because the model acts on them. At its end, a history may have the beginning of
/// an answer that the model is to continue. The answer before the new messages is included, because a client may have added
/// something to the model's own words.
///
/// `misses_none`: calls that are items of their own, each before its result, may all belong to one answer. Then all their results
/// count as new, even if some were searched before.
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

/// Searches what is new.
fn read(conversation: &Conversation<'_>, policy: GuardPolicy) -> Search {
    // If injections are blocked, none may hide behind other texts, so everything is searched.
    let left = if policy.blocks() { usize::MAX } else { MOST_SEARCHED };
    let mut search = Search { found: Vec::new(), left, is_whole: true, scanner: Scanner::default() };
    if policy.user == GuardAction::Off && policy.tool == GuardAction::Off {
        return search;
    }
    let history = &conversation.history;
    // Values that a client fills into a prompt which the provider keeps.
    if policy.user != GuardAction::Off {
        conversation.variables(&mut |json| search.json(json, Place::User));
    }
    // What was found earlier was refused then.
    for at in new(history, policy.blocks()) {
        // Nothing more is searched, so nothing more is read.
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

/// Searches for injections and records them. Adds a finding if one must be blocked.
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
