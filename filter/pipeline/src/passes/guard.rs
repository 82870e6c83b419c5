//! Guard: prompt injection in the new part of a request, which is the user texts and tool results after the assistant's
//! last turn. Earlier texts were checked when they were new.

use sentinel_detect::{
    injection::{Found, Pattern, Place, Scanner},
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::conversation::{Conversation, Part, Role};

use crate::{
    case::Case,
    config::{GuardAction, GuardPolicy},
    host::Host,
    metric::Metric,
    record,
};

/// So many bytes of new texts are searched in one request; of a text that is longer than what is left, the beginning and the
/// end. To search a body that is nothing but new text would cost more than all else that the filter does.
const MOST_SEARCHED: usize = 128 * 1024;
/// A shorter text counts as so many: the time goes into reading the message around it.
const LEAST_COUNTED: usize = 64;

/// Injections in the new texts of a request.
struct Search {
    /// The first of each pattern and place, with its offset in its text.
    found: Vec<(Place, Pattern, usize)>,
    /// Bytes that may still be searched.
    left: usize,
    scanner: Scanner,
}

impl Search {
    fn text(&mut self, text: &str, place: Place) {
        let (head, tail) = self.share(text);
        let found = self.scanner.scan(head, place);
        self.add(place, 0, &found);
        if let Some((start, tail)) = tail {
            let found = self.scanner.scan(tail, place);
            self.add(place, start, &found);
        }
    }

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

    fn add(&mut self, place: Place, start: usize, patterns: &Found) {
        for (pattern, offset) in patterns.iter() {
            if self.found.iter().all(|(known, other, _)| (*known, *other) != (place, pattern)) {
                self.found.push((place, pattern, start.saturating_add(offset)));
            }
        }
    }
}

/// Reads what is new.
fn read(conversation: &Conversation<'_>, policy: GuardPolicy) -> Vec<(Place, Pattern, usize)> {
    let mut search = Search { found: Vec::new(), left: MOST_SEARCHED, scanner: Scanner::default() };
    if policy.user == GuardAction::Off && policy.tool == GuardAction::Off {
        return search.found;
    }
    let history = &conversation.history;
    // The newest come first: the model acts on them.
    let new = (0..history.len()).rev().take_while(|at| history.role(*at) != Role::Assistant);
    for at in new.filter(|at| matches!(history.role(*at), Role::User | Role::Tool)) {
        // More is not searched: then it need not be read.
        if search.left == 0 {
            break;
        }
        // A content that is one string is read whole, with all of its escapes.
        let whole = history.content(at).filter(|raw| raw.get().starts_with('"'));
        if let (Role::User, Some(raw)) = (history.role(at), whole) {
            if policy.user != GuardAction::Off {
                search.json(raw.get(), Place::User);
            }
            continue;
        }
        // What cannot be read is nobody's text.
        let _ = history.parts(at, &mut |part| match part {
            Part::Text(text) if policy.user != GuardAction::Off => search.text(&text, Place::User),
            Part::Result(result) if policy.tool != GuardAction::Off => {
                if let Some(content) = result.content {
                    search.json(content.get(), Place::Tool);
                }
            }
            _ => {}
        });
    }
    search.found
}

/// Looks for them and puts them on record; a finding where one is to be blocked.
pub fn run(case: &mut Case, conversation: &Conversation<'_>, host: &mut impl Host) {
    let policy = case.policy.guard;
    for (place, pattern, offset) in read(conversation, policy) {
        host.count(Metric::Injections(pattern, place, case.dialect.label()), 1);
        let action = policy.action(place);
        record::injection(case, &record::Injection { pattern, place, offset, action }, host);
        if action == GuardAction::Block {
            let tool = pattern.label().to_owned();
            case.findings.push(Finding { tool, ..Finding::of(Signal::Injection, Verdict::Kill) });
        }
    }
}
