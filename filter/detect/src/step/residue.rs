//! What is left of a short outcome without the words of its call: "Could not find [Rome]" and "Could not find [Roma]" say the
//! same. Calls that differ and whose outcomes leave the same have learned nothing, whatever the outcome means.

use std::collections::HashSet;

use sentinel_text::{digest, digest_pair, words};

use super::{Kind, acknowledging};
use crate::words::programs;

/// Longer outcomes say something of their own (words).
const MOST: usize = 100;
/// At least this many words must be left of an outcome that is no failure.
const LEAST: usize = 2;
/// At most this many words may be left if the words of the call do not stand in quotes or brackets.
const FRAME: usize = 4;

/// What is left of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Residue {
    pub digest: u64,
    /// The outcome says nothing of its own: it is a failure or empty, or it repeats the call in quotes or brackets. Any other
    /// outcome may be a page about what was asked for, or "No results for rivers in Spain".
    pub is_nothing: bool,
}

/// What is left. Returns `None` when the outcome says something of its own.
///
/// * Explicit failures and empty outcomes: all words count. Exceptions: results of searches for errors, and logs. They return `None`.
/// * Other outcomes must repeat a word of the call, and hold no number of their own. Then the first sentence counts. If the repeated word
///   does not stand in quotes or brackets, the numbers of the call count too: calls that differ in numbers are a batch.
pub(super) fn of(said: &str, arguments: &str, kind: Kind) -> Option<Residue> {
    let is_plain = matches!(kind, Kind::Failure | Kind::Empty);
    let tells = || !is_plain && (words(said).nth(MOST).is_some() || acknowledging::has_deed(said));
    if matches!(kind, Kind::Acknowledgement | Kind::Waiting) || tells() {
        return None;
    }
    let own: HashSet<String> =
        words(arguments).map(|word| word.trim_end_matches('\'').to_lowercase()).collect();
    if kind == Kind::Failure && (is_log(said) || own.iter().any(|word| names_failures(word))) {
        return None;
    }
    let (mut left, mut sum, mut gives_back, mut is_set_apart) = (0_usize, 0_u64, false, false);
    let mut end = 0;
    for word in words(said).take(MOST) {
        // An apostrophe at the end is a quotation mark.
        let word = word.trim_end_matches('\'');
        let start = super::place(said, word);
        let between = said.get(end..start).unwrap_or_default();
        end = start.saturating_add(word.len());
        if own.contains(&word.to_lowercase()) {
            let is_here = left >= LEAST;
            gives_back |= is_here;
            // An indented line of code, or an element of a page, may begin the quotation.
            let between = between.trim_end_matches([' ', '<', '(', '/']);
            is_set_apart |= is_here && between.ends_with(['"', '\'', '[', '`', '“', '„', '«', '‘']);
            continue;
        }
        let ends_sentence = between.contains('\n') || between.contains(". ");
        if !is_plain && left >= LEAST && ends_sentence {
            break;
        }
        // A number other than 0 is information: `src/a.py:17: ..` is a place in what was searched.
        if !is_plain && word != "0" && word.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        left = left.saturating_add(1);
        sum = digest_pair(sum, digest(word.to_lowercase().as_bytes()));
    }
    let is_nothing = is_plain || (is_set_apart && left >= LEAST);
    if !is_nothing {
        if !gives_back || left > FRAME {
            return None;
        }
        let has_digit = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit());
        let numbers = words(arguments).filter(has_digit);
        sum = numbers.fold(sum, |sum, word| digest_pair(sum, digest(word.as_bytes())));
    }
    Some(Residue { digest: sum, is_nothing })
}

/// A word of a call that looks for failures: `error`, `valueerror`; not `timeout`, which says how long to wait.
fn names_failures(word: &str) -> bool {
    let is_class = |end: &&str| {
        let before = word.strip_suffix(end.to_lowercase().as_str());
        before.is_some_and(|name| name.ends_with(char::is_alphanumeric))
    };
    matches!(word, "error" | "errors" | "exception" | "fatal" | "traceback")
        || programs::EXCEPTIONS.iter().any(is_class)
}

/// The first line begins with a time.
fn is_log(said: &str) -> bool {
    let first = said.split_whitespace().next().unwrap_or_default().trim_matches(['[', ']', '(', ')']);
    first.starts_with(|c: char| c.is_ascii_digit()) && first.contains([':', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs and sources that talk of errors are content.
    #[test]
    fn what_is_found_where_errors_are_looked_for() {
        for (said, arguments) in [
            ("error: disk 3 is full", r#"{"command":"grep -h error: logs/web.log"}"#),
            ("TimeoutError: the docstring of a class", r#"{"query":"TimeoutError","path":"src"}"#),
            ("2026-03-04T10:00:03Z ERROR cannot reach the database", r#"{"command":"kubectl logs web"}"#),
            ("[10:00:03] ERROR disk full", r#"{"path":"logs/web.log"}"#),
        ] {
            assert_eq!(super::of(said, arguments, Kind::Failure), None, "{said}");
        }
        let line = "src/web.py:17: raise ValueError('no web')";
        assert_eq!(super::of(line, r#"{"pattern":"raise","path":"src/web.py"}"#, Kind::Content), None);
        for (said, arguments) in [
            ("error: no such order", r#"{"order":"W17"}"#),
            ("cat: logs/web.log: No such file or directory", r#"{"command":"cat logs/web.log"}"#),
            ("404 Not Found", r#"{"url":"https://example.com/a"}"#),
            ("error: locked", r#"{"command":"make","timeout":120}"#),
        ] {
            assert!(super::of(said, arguments, Kind::Failure).is_some(), "{said}");
        }
        assert!(super::of("0 results for 'rome'", r#"{"q":"rome"}"#, Kind::Content).is_some());
    }

    #[test]
    fn an_outcome_that_only_gives_back_the_call() {
        let of = |said: &str, arguments: &str| of(said, arguments, Kind::Content);
        let one = of("Could not find [Scat]. Similar: ['Scatman John', 'Ultratop']", r#"{"q":"Scat"}"#);
        let two = of("Could not find [Scatman John]. Similar: []", r#"{"q":"Scatman John"}"#);
        assert!(one.is_some() && one == two);
        assert_eq!(
            of("Paris is in France.", r#"{"q":"Where is Rome?"}"#),
            None,
            "it says something of its own"
        );
        let date = "Could not find [famous bhavageete by Arun Date]. Similar: ['Indian folk music']";
        assert!(of(date, r#"{"input": "famous bhavageete by Arun Date"}"#).is_some());
        let similar = "'List of smoking bans in the United States', ".repeat(8);
        let long = format!("Could not find [Oklahoma station]. Similar: [{similar}]");
        assert_eq!(
            of(&long, r#"{"q":"Oklahoma station"}"#),
            one,
            "what it offers instead may be many titles"
        );
        let page = |n: u32| of(&format!("The text of page {n}"), &format!(r#"{{"page":{n}}}"#));
        assert_ne!(page(7), page(8), "pages are a batch");
        let none = of("No results for the shallows.", r#"{"q":"the shallows"}"#);
        assert!(
            none.is_some()
                && none == of("No results for shallows, the book.", r#"{"q":"shallows, the book"}"#)
        );
        assert!(!none.unwrap().is_nothing && one.unwrap().is_nothing);
        assert_eq!(of("Rome was built", r#"{"q":"Rome"}"#), None);
        assert_eq!(
            of("Heading 'Plan' added to a.docx", r#"{"file":"a.docx","text":"Plan"}"#),
            None,
            "a receipt"
        );
        assert_ne!(
            super::of("Error: 'file_path' is required", r#"{"path":"a"}"#, Kind::Failure),
            super::of("Error: 'ranges' is required", r#"{"file_path":"a"}"#, Kind::Failure)
        );
        assert_eq!(
            super::of("Error: no such column: month", r#"{"sql":"where month"}"#, Kind::Failure),
            super::of("Error: no such column: date", r#"{"sql":"where date"}"#, Kind::Failure)
        );
    }
}
