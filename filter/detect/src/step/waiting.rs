//! Whether a result says that what is waited for has not come yet.

use sentinel_text::words;

use super::{
    MAX_RESULT,
    known::{Known, is_one_of},
    phrases::{self, Says},
    purpose::name_words,
    states::{LINES_WORDS, SHORT_WORDS, has_state_word, is_state, says_so},
    structure::Structure,
};
use crate::words::{english, programs};

static PARTS: Known = Known::of(english::PARTS);

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
        return structure.waits() || (structure.is_small() && phrases::says(text, Says::Waits));
    }
    (count <= SHORT_WORDS && says_so(text))
        || is_how_far(text)
        || has_state(text)
        || is_table_of_states(text)
        || has_phrase(text)
}

/// "45%", "3 of 10 steps completed", "2/3 replicas are ready", "Estimated time remaining: 5 minutes", "More rows remain.",
/// "202 Accepted".
fn is_how_far(text: &str) -> bool {
    if words(text).nth(SHORT_WORDS).is_some() {
        return false;
    }
    let is_percentage = || {
        let number = text.strip_suffix('%').map(str::trim_end);
        number.is_some_and(|number| {
            number != "100" && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
    };
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<u32>().ok());
    let is_part = || {
        let (done, rest) = text
            .split_once(" of ")
            .or_else(|| text.split_once(" out of "))
            .or_else(|| text.split_once('/'))
            .unwrap_or_default();
        let (done, all) = (number(words(done).last()), number(words(rest).next()));
        done.zip(all).is_some_and(|(done, all)| done < all) && words(rest).any(|word| PARTS.has(word))
    };
    let has = |known: &[&str]| words(text).any(|word| is_one_of(word, known));
    let goes_on = || has(english::TIME) || has(&["more"]) && !has(&["no", "nothing"]);
    let takes_time = || has(&["eta"]) || has(english::LEFT) && goes_on();
    let is_accepted = || {
        let mut all = words(text).filter(|word| !is_one_of(word, &["http", "status"]));
        match all.next() {
            Some("202") => all.next().is_none_or(|word| is_one_of(word, &["accepted"])),
            Some("204") => all.next().is_none_or(|word| is_one_of(word, &["no"])),
            _ => false,
        }
    };
    is_percentage() || is_part() || takes_time() || is_accepted()
}

/// Whether a text has a phrase of a program that keeps running.
fn has_phrase(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    english::RUNS_ON.iter().any(|phrase| lower.contains(phrase)) || phrases::says(text, Says::Waits)
}

/// `Status: running`, `state=PENDING`, `<status>running</status>`.
fn has_state(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    english::STATE_NAMES.iter().any(|key| {
        lower.match_indices(key).take(8).any(|(at, _)| {
            let rest = lower.get(at.saturating_add(key.len())..).unwrap_or_default();
            let value = rest.trim_start_matches(['"', '\'', '*', ' ']);
            let is_key = value.starts_with([':', '=', '>']);
            // "waiting (ImagePullBackOff)", "in progress".
            is_key && words(value.lines().next().unwrap_or_default()).take(2).any(has_state_word)
        })
    })
}

/// Whether a text is a table with a column of states, or with a cell that is a state.
fn is_table_of_states(text: &str) -> bool {
    let is_cell = |cell: &str| is_state(cell.trim());
    if text.lines().any(|line| line.contains('\t') && line.split('\t').any(is_cell)) {
        return true;
    }
    let Some((head, rows)) = text.split_once('\n') else { return false };
    words(head).any(|word| programs::STATE_COLUMNS.contains(&word))
        && words(rows).any(|word| is_state(word) || name_words(word).any(is_state))
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
            r#"ongoing-request="true""#,
            "Batch committed: 200 rows updated.\nMore rows remain.",
            "3 more files left",
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
            r#"ongoing-request="false""#,
            "No more rows remain.",
            "Nothing more is left to do",
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
