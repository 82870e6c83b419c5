//! Words for how things stand: states in which something is still to come, and what the members of an object say of it.

use super::{known::Known, purpose::name_words};
use sentinel_text::words;

/// States in which something is still to come.
static STATES: Known = Known::of(&[
    "running",
    "pending",
    "queued",
    "waiting",
    "awaiting",
    "processing",
    "preparing",
    "building",
    "deploying",
    "provisioning",
    "initializing",
    "initialising",
    "starting",
    "stopping",
    "terminating",
    "restarting",
    "rebooting",
    "resizing",
    "modifying",
    "migrating",
    "restoring",
    "scaling",
    "draining",
    "scheduled",
    "ongoing",
    "working",
    "loading",
    "creating",
    "generating",
    "converting",
    "encoding",
    "importing",
    "exporting",
    "downloading",
    "uploading",
    "syncing",
    "connecting",
    "reconnecting",
    "retrying",
    "executing",
    "progress",
    "progressing",
    "inprogress",
    "in_progress",
    "validating",
    "verifying",
    "containercreating",
    "installing",
    "compiling",
    "rendering",
    "training",
    "indexing",
    "busy",
    "started",
    "submitted",
    "paused",
    "finalizing",
    "runnable",
    "retry",
    "transit",
]);
/// Words that end like a state that goes on and are none.
static NO_STATES: Known = Known::of(&["missing", "failing", "warning", "existing", "nothing", "outstanding"]);

pub(super) fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|one| word.eq_ignore_ascii_case(one))
}

pub(super) fn is_state(word: &str) -> bool {
    STATES.has(word)
}

/// A value that is a state: one of those known, one of its parts (`CREATE_IN_PROGRESS`, `PodInitializing`), or any word
/// of something that goes on ("backing-up").
pub(super) fn has_state_word(value: &str) -> bool {
    let goes_on = |word: &str| {
        word.len() > 5
            && word.is_ascii()
            && word.get(word.len().saturating_sub(3)..).is_some_and(|end| end.eq_ignore_ascii_case("ing"))
            && !NO_STATES.has(word)
    };
    words(value)
        .take(3)
        .any(|word| is_state(word) || name_words(word).any(|part| is_state(part) || goes_on(part)))
}

/// `{"done": false}`, `{"is_running": true}`.
pub(super) fn is_flag_of_waiting(key: &str, is: bool) -> bool {
    let name = key.to_ascii_lowercase();
    let name = name.strip_prefix("is_").unwrap_or(&name);
    if is { is_state(name) } else { TO_COME.has(name) }
}

/// What is to come where it is `false`.
static TO_COME: Known = Known::of(&[
    "done",
    "finished",
    "ready",
    "complete",
    "completed",
    "exists",
    "available",
    "acquired",
    "online",
    "present",
    "changed",
    "connected",
    "arrived",
    "received",
    "delivered",
    "updated",
]);

/// `finished_at`, `completedAt`, `end_time`.
pub(super) fn is_end(key: &str) -> bool {
    let is_end =
        |word: &str| is_one_of(word, &["finished", "completed", "ended", "end", "finish", "completion"]);
    let is_time = |word: &str| is_one_of(word, &["at", "time", "on", "date"]);
    name_words(key).any(is_end) && name_words(key).any(is_time)
}

/// `progress` that is not the whole, `queue_position`, `eta_seconds`, `retry_after`, the status 202.
pub(super) fn is_number_to_come(key: &str, number: Option<f64>) -> bool {
    let has = |known: &[&str]| name_words(key).any(|word| is_one_of(word, known));
    let Some(number) = number else { return false };
    let is_progress =
        has(&["progress"]) || (has(&["percent", "percentage", "pct"]) && has(&["complete", "done"]));
    (is_progress && number != 1.0 && number < 100.0)
        || (number > 0.0
            && (has(&["eta"])
                || (has(&["queue"]) && has(&["position"]))
                || (has(&["retry"]) && has(&["after"]))))
        || (number == 202.0 && has(&["status"]))
}

/// `{"status": "running"}`, `{"job": {"state": "PENDING"}}`.
pub(super) fn is_state_key(key: &str) -> bool {
    ["status", "state", "phase", "stage", "health"].iter().any(|word| {
        let end = key.len().checked_sub(word.len()).and_then(|start| key.as_bytes().get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
    })
}
