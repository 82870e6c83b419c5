//! How things stand: states in which something is still to come, and what the members of an object say of it.

use sentinel_text::words;

use super::{
    known::{Known, is_one_of},
    phrases::{self, Phrases, Says},
    purpose::name_words,
};
use crate::words::english;

static STATES: Known = Known::of(english::STATES);
static NO_STATES: Known = Known::of(english::NO_STATES);
static STILL: Known = Known::of(english::STILL);
static TO_COME: Known = Known::of(english::TO_COME);
static WAITS: Phrases = Phrases::of(&[english::WAITS]);

/// A text that only tells a state has at most this many words.
pub(super) const SHORT_WORDS: usize = 20;
/// A text with a line of its own for the state has at most this many words.
pub(super) const LINES_WORDS: usize = 60;

pub(super) fn is_state(word: &str) -> bool {
    STATES.has(word)
}

/// Whether a value is a state: a known one, one of its parts (`CREATE_IN_PROGRESS`, `PodInitializing`), or a word that ends in
/// "ing" ("backing-up").
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

/// `authorization_pending`, `NOT_YET_AVAILABLE`, `slow_down`: the code of an error that says that something is still to come.
#[inline(never)]
pub(super) fn is_code_of_waiting(code: &str) -> bool {
    /// A code is not longer (bytes).
    const MOST: usize = 48;
    if code.len() > MOST || code.contains(' ') {
        return false;
    }
    let mut last = "";
    name_words(code).any(|word| {
        let before = std::mem::replace(&mut last, word);
        is_state(word)
            || (is_one_of(before, english::NOT) && is_one_of(word, english::YET))
            || WAITS.ends_with(word, before)
    })
}

/// `{"done": false}`, `{"is_running": true}`.
pub(super) fn is_flag_of_waiting(key: &str, is: bool) -> bool {
    let name = key.to_ascii_lowercase();
    let name = name.strip_prefix("is_").unwrap_or(&name);
    if is { is_state(name) } else { TO_COME.has(name) }
}

/// `finished_at`, `completedAt`, `end_time`.
pub(super) fn is_end(key: &str) -> bool {
    let has = |known: &[&str]| name_words(key).any(|word| is_one_of(word, known));
    has(english::ENDS) && has(english::TIMES)
}

/// `progress` that is not the whole, `queue_position`, `eta_seconds`, `retry_after`, the status 202.
pub(super) fn is_number_to_come(key: &str, number: Option<f64>) -> bool {
    let has = |known: &[&str]| name_words(key).any(|word| is_one_of(word, known));
    let Some(number) = number else { return false };
    let is_progress = has(&["progress"]) || (has(english::PERCENT) && has(english::WHOLE));
    (is_progress && number != 1.0 && number < 100.0)
        || (number > 0.0
            && (has(&["eta"])
                || (has(&["queue"]) && has(&["position"]))
                || (has(&["retry"]) && has(&["after"]))))
        || (number == 202.0 && has(&["status"]))
}

/// `{"status": "running"}`, `{"job": {"state": "PENDING"}}`.
pub(super) fn is_state_key(key: &str) -> bool {
    ends_with_one(key, english::STATE_NAMES)
}

#[inline(never)]
fn ends_with_one(key: &str, names: &[&str]) -> bool {
    names.iter().any(|word| {
        let end = key.len().checked_sub(word.len()).and_then(|start| key.as_bytes().get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// `{"state": "OPEN"}`, `{"phase": "second coat"}`: how something stands, in a few words of any language.
#[inline(never)]
pub(super) fn stands(key: &str, state: &str) -> bool {
    /// A state is not longer (bytes).
    const MOST: usize = 32;
    ends_with_one(key, english::STANDS)
        && (1..=MOST).contains(&state.len())
        // "failed" is an end. "12 done, 0 failed" is not.
        && !is_one_of(state.trim(), english::FAILURES)
}

/// "Job 7 is still running", "not ready yet", "please wait", "running".
pub(super) fn says_so(text: &str) -> bool {
    let mut count = 0_usize;
    let (mut last, mut first, mut is_denied) = ("", "", false);
    let (mut on_the, mut in_the) = (false, false);
    let mut waits = false;
    for word in words(text) {
        // Numbers say how far something has come. They do not count here.
        if word.bytes().any(|byte| byte.is_ascii_digit()) {
            continue;
        }
        count = count.saturating_add(1);
        waits |= is_state(word) && STILL.has(last);
        waits |= is_denied && is_one_of(word, english::YET);
        waits |= WAITS.ends_with(word, last);
        // "being prepared", "still compiling", "on its way", "in the queue".
        waits |= is_one_of(last, english::BEING) && word.ends_with("ed");
        waits |= is_one_of(last, english::GOES_ON) && has_state_word(word);
        waits |= is_one_of(word, english::ON_THE) && on_the;
        waits |= is_one_of(word, english::IN_THE) && in_the;
        waits |= count == 2 && is_one_of(word, &["for"]) && is_one_of(last, &["waiting"]);
        let is_article = is_one_of(word, english::ARTICLES);
        (on_the, in_the) = (is_article && is_one_of(last, &["on"]), is_article && is_one_of(last, &["in"]));
        is_denied |= is_one_of(word, english::NOT);
        last = word;
        first = if count == 1 { word } else { first };
    }
    // `ongoing-request="true"`.
    let is_flag = || count <= 3 && is_one_of(last, &["true"]) && is_state(first);
    // `CREATE_IN_PROGRESS`.
    waits || is_flag() || (count <= 3 && (is_state(last) || (last.contains('_') && has_state_word(last))))
}

/// Whether a failure says that it may pass: "Connection refused", "the database system is starting up".
#[inline(never)]
pub(super) fn may_pass(text: &str) -> bool {
    let mut last = "";
    let mut is_going_on = |word| STILL.has(std::mem::replace(&mut last, word)) && is_state(word);
    phrases::says(text, Says::Passes) || (text.len() <= phrases::MOST && words(text).any(&mut is_going_on))
}

/// Whether the text of a member says that something is still to come.
pub(super) fn waits(state: &str) -> bool {
    let count = words(state).take(LINES_WORDS).count();
    (count <= 4 && words(state).take(2).any(has_state_word)) || (count <= SHORT_WORDS && says_so(state))
}
