//! Whether a result says that what is waited for has not come yet.

use super::{judge::MAX_RESULT, structure::Structure};
use sentinel_text::words;

/// States in which something is still to come.
const STATES: [&str; 34] = [
    "running",
    "pending",
    "queued",
    "waiting",
    "processing",
    "building",
    "deploying",
    "provisioning",
    "initializing",
    "initialising",
    "starting",
    "scheduled",
    "ongoing",
    "working",
    "loading",
    "creating",
    "downloading",
    "uploading",
    "syncing",
    "executing",
    "progress",
    "inprogress",
    "in_progress",
    "validating",
    "containercreating",
    "installing",
    "compiling",
    "rendering",
    "training",
    "indexing",
    "busy",
    "started",
    "submitted",
    "finalizing",
];
/// Words before a state that make it one.
const STILL: [&str; 8] = ["still", "currently", "is", "are", "being", "now", "in", "status"];
/// Words that make a text a failure, whatever else it says.
const FAILURES: [&str; 9] =
    ["error", "failed", "failure", "exception", "denied", "invalid", "cannot", "refused", "unable"];
/// A text that says no more than how things stand is not longer than this (words).
const SHORT_WORDS: usize = 20;
/// Nor is one with a line of its own for the state.
const LINES_WORDS: usize = 60;
/// A value of more members is information, of which a state is one.
pub(super) const MAX_LEAVES: usize = 12;

/// `count`: the words of `said`, as far as they were counted; `structure`: what it says as JSON.
pub(super) fn is_waiting<'s>(
    said: &str,
    count: usize,
    structure: impl FnOnce() -> Option<&'s Structure>,
) -> bool {
    let text = said.trim();
    if text.is_empty() || text.len() > MAX_RESULT || count > LINES_WORDS {
        return false;
    }
    if let Some(structure) = structure() {
        return structure.waits();
    }
    if words(text).any(|word| is_one_of(word, &FAILURES)) {
        return false;
    }
    (count <= SHORT_WORDS && says_so(text)) || has_state(text) || is_table_of_states(text)
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|one| word.eq_ignore_ascii_case(one))
}

fn is_state(word: &str) -> bool {
    is_one_of(word, &STATES)
}

/// "Job 7 is still running", "not ready yet", "please wait", "running".
fn says_so(text: &str) -> bool {
    let mut count = 0_usize;
    let (mut last, mut is_denied) = ("", false);
    let mut waits = false;
    for word in words(text) {
        // How far it has come does not count.
        if word.bytes().any(|byte| byte.is_ascii_digit()) {
            continue;
        }
        count = count.saturating_add(1);
        waits |= is_state(word) && is_one_of(last, &STILL);
        waits |= is_denied && is_one_of(word, &["yet", "ready", "finished", "complete", "completed", "done"]);
        waits |= is_one_of(word, &["wait"]) && is_one_of(last, &["please", "must"]);
        waits |= is_one_of(word, &["later", "back"]) && is_one_of(last, &["again", "check", "try", "come"]);
        is_denied |= is_one_of(word, &["not", "no", "nothing", "isn't", "hasn't", "haven't"]);
        last = word;
    }
    waits || (count <= 3 && is_state(last))
}

/// `Status: running`, `state=PENDING`, `<status>running</status>`.
fn has_state(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["status", "state", "phase", "stage"].iter().any(|key| {
        lower.match_indices(key).take(8).any(|(at, _)| {
            let rest = lower.get(at.saturating_add(key.len())..).unwrap_or_default();
            let value = rest.trim_start_matches(['"', '\'', '*', ' ']);
            let is_key = value.starts_with([':', '=', '>']);
            // "waiting (ImagePullBackOff)", "in progress".
            is_key && words(value.lines().next().unwrap_or_default()).take(2).any(is_state)
        })
    })
}

/// A table whose head has a column of states.
fn is_table_of_states(text: &str) -> bool {
    let Some((head, rows)) = text.split_once('\n') else { return false };
    words(head).any(|word| matches!(word, "STATUS" | "STATE" | "PHASE" | "Status" | "State" | "Phase"))
        && words(rows).any(is_state)
}

/// `{"done": false}`, `{"is_running": true}`.
pub(super) fn is_flag_of_waiting(key: &str, is: bool) -> bool {
    let name = key.to_ascii_lowercase();
    let name = name.strip_prefix("is_").unwrap_or(&name);
    if is { is_state(name) } else { is_one_of(name, &["done", "finished", "ready", "complete", "completed"]) }
}

/// `{"status": "running"}`, `{"job": {"state": "PENDING"}}`.
pub(super) fn is_state_key(key: &str) -> bool {
    ["status", "state", "phase", "stage"].iter().any(|word| {
        let end = key.as_bytes().len().checked_sub(word.len()).and_then(|start| key.as_bytes().get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
    })
}

pub(super) fn waits(state: &str) -> bool {
    let count = words(state).take(LINES_WORDS).count();
    words(state).take(2).any(is_state) && count <= 4 || count <= SHORT_WORDS && says_so(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(text: &str) -> bool {
        let structure = Structure::of(text);
        is_waiting(text, words(text).take(61).count(), || structure.as_ref())
    }

    #[test]
    fn what_is_not_there_yet() {
        for text in [
            "running",
            "Still pending",
            "In progress",
            "Running (40%)",
            "Job 42 is still running (10 s)",
            "The deployment is in progress: 2 of 3 replicas",
            "not ready yet",
            "The report is not finished",
            "Please wait",
            "Nothing yet, no change",
            "Check back later",
            r#"{"status":"running"}"#,
            r#"{"job":{"id":7,"state":"PENDING","progress":0.4}}"#,
            r#"{"status":"IN_PROGRESS","startedAt":"2026-01-01"}"#,
            r#"{"done":false,"percent":30}"#,
            r#"{"is_running":true}"#,
            "<status>running</status>\n\n(no new output)",
            "build: 17\nstate: QUEUED",
            "NAME    READY   STATUS    RESTARTS   AGE\nweb-1   0/1     Pending   0          5m",
        ] {
            assert!(waits(text), "{text}");
        }
    }

    #[test]
    fn what_is_there_or_will_not_come() {
        for text in [
            "",
            "done",
            "Error: the server is not running",
            "Running shoes, size 42: three pairs in stock at the shop",
            "Job 42 failed while running",
            r#"{"status":"succeeded"}"#,
            r#"{"status":"delivered","carrier":"x"}"#,
            r#"{"done":true}"#,
            "He ran and is tired of it",
            "NAME    READY   STATUS\nweb-1   1/1     Ready",
            "No order found",
        ] {
            assert!(!waits(text), "{text}");
        }
        let order = r#"{"order_id":"W1","status":"pending","items":[{"n":1,"p":2,"q":3},{"n":1,"p":2,"q":3},{"n":1,"p":2,"q":3},{"n":1,"p":2,"q":3}]}"#;
        assert!(!waits(order), "a state among much else");
    }
}
