//! What a result amounts to, and its digest. What a repetition proves depends on it.

use std::borrow::Cow;

use sentinel_text::{digest, words};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Purpose, plain, volatile, waiting};
use crate::arguments::canonical;

/// Results are looked into up to this size (bytes); beyond it their digest and their ends must do.
pub(crate) const MAX_RESULT: usize = 4_096;
/// Acknowledgements ("3 lines written to notes.txt") are not longer than this (words).
const ACKNOWLEDGEMENT_WORDS: usize = 12;
/// Nor are reports that nothing came of a call (words).
const SHORT_WORDS: usize = 60;
/// A number with so many digits names one thing.
const SPECIFIC_DIGITS: usize = 5;
/// A JSON value that is empty or merely acknowledges is not longer than this (bytes).
const MAX_STRUCTURE: usize = 1_024;
/// Members of an object that merely acknowledges.
const ACKNOWLEDGEMENT_MEMBERS: usize = 4;

/// What a result amounts to. In the order of what counts where several results come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Kind {
    /// It merely says that something was done: "OK.", "Clicked.", nothing at all.
    Acknowledgement,
    /// There is nothing new: an empty structure, "no new messages".
    Empty,
    /// It tells something.
    Content,
    /// An error, or what was looked for is not there.
    Failure,
    /// What is waited for has not come yet.
    Waiting,
}

impl Kind {
    /// The kind of two results together.
    pub(crate) fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

/// A result, and what is known of its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged<'a> {
    pub said: &'a str,
    pub purpose: Purpose,
    /// The call says what is meant: "No order found" is a failure then.
    pub names_something: bool,
    /// The client says that it is an error. That it does not say so proves nothing.
    pub is_error: bool,
}

/// Whether a user's text that answers an agent proves nothing when it comes again: "yes", "still running".
pub(crate) fn is_weak_answer(text: &str) -> bool {
    let judged = Judged { said: text, purpose: Purpose::Ask, names_something: true, is_error: false };
    matches!(judged.kind(), Kind::Acknowledgement | Kind::Empty | Kind::Waiting)
}

/// A failure without what differs from time to time; any other text as it stands.
pub(crate) fn without_volatile(text: &str) -> Cow<'_, str> {
    let judged = Judged { said: text, purpose: Purpose::Ask, names_something: true, is_error: false };
    let is_failure = text.len() <= MAX_RESULT && judged.kind() == Kind::Failure;
    if is_failure { Cow::Owned(volatile::without(text)) } else { Cow::Borrowed(text) }
}

impl Judged<'_> {
    /// Digest and kind. `told`: the kind where the operator has said it.
    pub fn judge(self, told: Option<Kind>) -> (u64, Kind) {
        let kind = told.unwrap_or_else(|| self.kind());
        (self.outcome(kind), kind)
    }

    /// Failures are compared without what differs from time to time; of what a send returns the id does not count.
    fn outcome(self, kind: Kind) -> u64 {
        if self.said.len() <= MAX_RESULT {
            if kind == Kind::Failure {
                return volatile::digest_without(self.said);
            }
            if self.purpose == Purpose::Send
                && self.said.trim_start().starts_with(['{', '['])
                && let Ok(mut value) = serde_json::from_str::<Value>(self.said)
            {
                volatile::remove_ids(&mut value);
                return canonical(&value.to_string()).digest;
            }
        }
        digest(self.said.trim().as_bytes())
    }

    fn kind(self) -> Kind {
        let Self { said, purpose, is_error, .. } = self;
        if purpose == Purpose::Wait {
            return Kind::Waiting;
        }
        let plain = if said.len() <= MAX_RESULT { plain::of(said) } else { Cow::Borrowed(said) };
        let look = Look::at(&plain);
        let is_error = is_error || has_exit_code(said);
        // What is sent may stand in a queue: that is its receipt.
        let may_wait = !is_error && purpose != Purpose::Send;
        if may_wait
            && (waiting::is_waiting(&plain, look.words)
                || (plain.len() != said.len() && waiting::is_waiting(said, look.words)))
        {
            return Kind::Waiting;
        }
        if is_error || is_explicit_error(said) {
            return Kind::Failure;
        }
        let kind = Judged { said: &plain, ..self }.by_text(&look);
        match (purpose, kind) {
            (Purpose::Advance, Kind::Content | Kind::Empty) => Kind::Acknowledgement,
            (Purpose::AskState, Kind::Content | Kind::Empty | Kind::Acknowledgement) => Kind::Waiting,
            // "false", "none": that is how things stand.
            (Purpose::AskState, Kind::Failure) if !look.is_failure => Kind::Waiting,
            _ => kind,
        }
    }

    /// What a short text says; a long text tells something whatever it says.
    fn by_text(self, look: &Look) -> Kind {
        let Self { said, purpose, .. } = self;
        if said.len() > MAX_RESULT {
            return Kind::Content;
        }
        let trimmed = said.trim();
        if trimmed.is_empty() {
            return Kind::Acknowledgement;
        }
        if let Some(kind) = structure(trimmed) {
            return kind;
        }
        let acts = matches!(purpose, Purpose::Act | Purpose::Send | Purpose::Advance);
        match look.words {
            0 => Kind::Empty,
            1..=ACKNOWLEDGEMENT_WORDS if says_no_output(trimmed) => Kind::Acknowledgement,
            1..=SHORT_WORDS if look.is_failure => Kind::Failure,
            1..=SHORT_WORDS if look.is_none => {
                let is_empty = is_nothing_new(trimmed) || (look.begins_with_none && !self.names_something);
                if is_empty { Kind::Empty } else { Kind::Failure }
            }
            1..=ACKNOWLEDGEMENT_WORDS if is_nothing_new(trimmed) && look.is_short_empty => Kind::Empty,
            1..=ACKNOWLEDGEMENT_WORDS if is_acknowledgement(trimmed, look.words) => Kind::Acknowledgement,
            1..=ACKNOWLEDGEMENT_WORDS if acts && !has_specific_number(trimmed) => Kind::Acknowledgement,
            _ => Kind::Content,
        }
    }
}

/// What the first words of a text say.
struct Look {
    /// At most one more than `SHORT_WORDS`.
    words: usize,
    /// Something went wrong.
    is_failure: bool,
    /// Something is not there.
    is_none: bool,
    /// That is the first thing that it says.
    begins_with_none: bool,
    /// Something is empty, or up to date.
    is_short_empty: bool,
}

impl Look {
    fn at(said: &str) -> Self {
        const FAILURES: [&str; 20] = [
            "error",
            "errors",
            "fail",
            "failed",
            "failure",
            "exception",
            "invalid",
            "unknown",
            "unable",
            "cannot",
            "can't",
            "denied",
            "refused",
            "forbidden",
            "missing",
            "not",
            "timeout",
            "unavailable",
            "couldn't",
            "traceback",
        ];
        const NONE: [&str; 4] = ["no", "none", "nothing", "null"];
        const EMPTY: [&str; 3] = ["empty", "date", "unchanged"];
        let beginning = said.get(..said.floor_char_boundary(MAX_RESULT)).unwrap_or(said);
        let mut look = Self {
            words: 0,
            is_failure: false,
            is_none: false,
            begins_with_none: false,
            is_short_empty: false,
        };
        let has = |word: &str, known: &[&str]| known.iter().any(|one| word.eq_ignore_ascii_case(one));
        for word in words(beginning).take(SHORT_WORDS.saturating_add(1)) {
            look.words = look.words.saturating_add(1);
            if look.words <= ACKNOWLEDGEMENT_WORDS {
                look.is_failure |= has(word, &FAILURES);
                // "0 results", not the number 0.
                let is_zero = word == "0" && look.words == 1 && beginning.trim() != "0";
                look.is_none |= is_zero || has(word, &NONE);
                look.begins_with_none |= look.is_none && look.words == 1;
                look.is_short_empty |= has(word, &EMPTY);
            }
        }
        look
    }
}

/// "No new messages", "The inbox is empty", "Already up to date": of what comes by itself nothing has come.
fn is_nothing_new(text: &str) -> bool {
    const NEW: [&str; 12] = [
        "new",
        "unread",
        "more",
        "further",
        "pending",
        "changes",
        "updates",
        "empty",
        "left",
        "date",
        "remaining",
        "unchanged",
    ];
    words(text).any(|word| NEW.iter().any(|new| word.eq_ignore_ascii_case(new)))
}

/// "(no output)", "The command ran and did not produce any output": in other words, nothing at all.
fn says_no_output(text: &str) -> bool {
    let has = |known: &[&str]| words(text).any(|word| known.iter().any(|one| word.eq_ignore_ascii_case(one)));
    has(&["output"]) && has(&["no", "not", "without", "empty", "none"])
}

/// A short text that says that something was done or may be done, whatever the tool is called.
fn is_acknowledgement(text: &str, count: usize) -> bool {
    const DONE: [&str; 20] = [
        "ok",
        "okay",
        "done",
        "success",
        "successful",
        "successfully",
        "true",
        "yes",
        "y",
        "sent",
        "approved",
        "confirmed",
        "accepted",
        "acknowledged",
        "ack",
        "sure",
        "proceed",
        "continue",
        "go",
        "noted",
    ];
    let mut all = words(text);
    let Some(first) = all.next() else { return false };
    let is_done = DONE.iter().any(|done| first.eq_ignore_ascii_case(done));
    // "Clicked.", "Scrolled down by 3", "Typed 'abc'".
    let is_past = first.len() >= 5 && first.is_ascii() && first.to_ascii_lowercase().ends_with("ed");
    let rest_is_done =
        all.last().is_some_and(|last| DONE.iter().take(6).any(|done| last.eq_ignore_ascii_case(done)));
    (is_done && count <= 5) || (is_past && !has_specific_number(text)) || (rest_is_done && count <= 6)
}

/// What a JSON value says by its structure; nothing where its words must say it.
fn structure(text: &str) -> Option<Kind> {
    // What is empty or merely acknowledges is short.
    if !text.starts_with(['{', '[']) || text.len() > MAX_STRUCTURE {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    if is_empty(&value) {
        return Some(Kind::Empty);
    }
    is_acknowledging(&value).then_some(Kind::Acknowledgement)
}

/// `[]`, `{"results": [], "total": 0}`: nothing in it, and nothing else said.
fn is_empty(value: &Value) -> bool {
    fn lists(value: &Value) -> Option<usize> {
        match value {
            Value::Array(items) => items.is_empty().then_some(1),
            Value::Object(members) if members.is_empty() => Some(1),
            Value::Object(members) => {
                members.values().try_fold(0_usize, |sum, member| Some(sum.saturating_add(lists(member)?)))
            }
            Value::Number(number) => (number.as_u64() == Some(0)).then_some(0),
            Value::String(text) => text.is_empty().then_some(0),
            Value::Null => Some(0),
            Value::Bool(_) => None,
        }
    }
    lists(value).is_some_and(|lists| lists > 0)
}

/// `{"success": true}`, `{"status": "ok", "message": "Key pressed"}`, `{"exit_code": 0, "stdout": ""}`.
fn is_acknowledging(value: &Value) -> bool {
    let Value::Object(members) = value else { return false };
    let says_done = |value: &Value| match value {
        Value::Bool(is) => *is,
        Value::String(text) => is_acknowledgement(text, words(text).take(SHORT_WORDS).count()),
        _ => false,
    };
    let says_nothing = |(key, value): (&String, &Value)| match value {
        Value::Null | Value::Bool(true) => true,
        Value::Number(number) => number.as_u64() == Some(0) || volatile::is_volatile_key(key),
        Value::String(text) => {
            text.is_empty() || volatile::is_volatile_key(key) || words(text).take(8).count() < 8
        }
        _ => false,
    };
    let is_exit = |key: &str| matches!(key, "exit_code" | "exitCode" | "returncode" | "code");
    members.len() <= ACKNOWLEDGEMENT_MEMBERS
        && members.iter().all(says_nothing)
        && (members.values().any(says_done)
            || members.iter().any(|(key, value)| is_exit(key) && value.as_u64() == Some(0))
                && members.iter().all(|(key, value)| {
                    is_exit(key)
                        || value.is_null()
                        || value.as_str().is_some_and(|text| text.trim().is_empty())
                }))
}

/// The result says that it is an error: a status, a traceback however long.
fn is_explicit_error(said: &str) -> bool {
    let text = said.trim();
    let last_line = text.lines().next_back().unwrap_or(text);
    let has_traceback = text.starts_with("Traceback (most recent call last)")
        || text.starts_with("Exception in thread")
        || (text.contains("Traceback (most recent call last)") && is_exception(last_line));
    // A line of its own says so, among the first.
    let says_so = |line: &str| {
        let line = line.trim();
        let (word, rest) = line.split_once([':', ' ']).unwrap_or((line, ""));
        word.eq_ignore_ascii_case("error") && (line.contains(':') || rest.is_empty())
    };
    let is_told = text.len() <= MAX_RESULT && text.lines().take(4).any(says_so);
    has_traceback || is_told || (text.starts_with('{') && says_error(text))
}

/// `<returncode>1</returncode>`, `Exit code: 2`: a code that is not 0, in a text that is not long.
fn has_exit_code(said: &str) -> bool {
    const NAMES: [&str; 6] =
        ["returncode", "return code", "exit code", "exit_code", "exit status", "exited with code"];
    // Most results have none of these words, and need not be copied.
    let may_hold = ["ode", "ODE", "tatus"].iter().any(|part| said.contains(part));
    if said.len() > MAX_RESULT || !may_hold {
        return false;
    }
    let lower = said.to_ascii_lowercase();
    NAMES.iter().any(|name| {
        lower.split_once(name).is_some_and(|(_, after)| {
            let value = after.trim_start_matches(['>', ':', '=', '"', ' ', '-', 's', '(']);
            let digits =
                value.len().saturating_sub(value.trim_start_matches(|c: char| c.is_ascii_digit()).len());
            value.get(..digits).is_some_and(|code| code.bytes().any(|byte| byte != b'0'))
        })
    })
}

/// `ValueError: x`, `java.io.IOException: x`, `TimeoutException`.
fn is_exception(line: &str) -> bool {
    let name = line.split([':', ' ']).next().unwrap_or(line);
    (name.ends_with("Error") || name.ends_with("Exception")) && name.len() > 5
}

/// An object with a status or an error in it that is no success.
fn says_error(text: &str) -> bool {
    // Most objects have none of these words, and need not be read.
    const WORDS: [&str; 9] = ["rror", "xception", "raceback", "ail", "ucce", "\"ok", "tat", "ode", "outcome"];
    if text.len() > MAX_RESULT || !WORDS.iter().any(|word| text.contains(word)) {
        return false;
    }
    let Ok(Value::Object(members)) = serde_json::from_str::<Value>(text) else { return false };
    members.iter().any(|(key, value)| match (key.to_ascii_lowercase().as_str(), value) {
        ("error" | "errors" | "exception" | "traceback", Value::String(text)) => !text.trim().is_empty(),
        ("error" | "errors" | "exception", Value::Object(error)) => !error.is_empty(),
        ("error" | "errors", Value::Array(errors)) => !errors.is_empty(),
        ("error" | "is_error" | "iserror" | "failed", Value::Bool(is)) => *is,
        ("success" | "succeeded" | "ok", Value::Bool(is)) => !*is,
        ("status" | "state" | "result" | "outcome", Value::String(text)) => {
            ["error", "failed", "failure", "fail"].iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        ("status" | "statuscode" | "status_code" | "http_status" | "code", Value::Number(number)) => {
            number.as_u64().is_some_and(|status| (400..600).contains(&status))
        }
        ("exit_code" | "exitcode" | "returncode" | "exit_status", Value::Number(number)) => {
            number.as_i64() != Some(0)
        }
        _ => false,
    })
}

/// Whether it has a number that no two changes are likely to share: "order 3221322 added", not "201 Created".
fn has_specific_number(text: &str) -> bool {
    text.as_bytes().split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() >= SPECIFIC_DIGITS)
}

/// A result as it is kept until its call is known: nothing of it is needed beyond its beginning and its digest.
pub(crate) fn keep(said: &str) -> Cow<'_, str> {
    if said.len() <= MAX_RESULT {
        return Cow::Borrowed(said);
    }
    let beginning = said.get(..said.floor_char_boundary(MAX_RESULT)).unwrap_or_default();
    Cow::Owned(format!("{beginning} {:016x}", digest(said.as_bytes())))
}

#[cfg(test)]
mod tests;
