//! Whether a short text merely says that something was done, or may be done, whatever the tool is called.

use sentinel_text::words;

use super::{
    known::{Known, is_one_of},
    phrases::{self, Says},
};
use crate::words::{english, programs};

/// A number with at least this many digits names one thing.
const SPECIFIC_DIGITS: usize = 5;
/// Words of a sentence that says what was done.
const DEED_WORDS: usize = 8;

static DONE: Known = Known::of(english::DONE);
static DONE_AT_END: Known = Known::of(english::DONE_AT_END);
static PERMITTED: Known = Known::of(english::PERMITTED);
static GO_ON: Known = Known::of(english::GO_ON);
static DEEDS: Known = Known::of(english::DEEDS);
static NO_DEEDS: Known = Known::of(english::NO_DEEDS);
static FAILURES: Known = Known::of(english::FAILURES);
static STATEMENTS: Known = Known::of(programs::STATEMENTS);

/// `count`: the number of words of the text, as far as they were counted.
pub(super) fn says_so(text: &str, count: usize) -> bool {
    let mut all = words(text);
    let Some(first) = all.next() else { return false };
    let second = words(text).nth(1).unwrap_or_default();
    let last = all.last();
    let is_done = DONE.has(first) || (first.eq_ignore_ascii_case("got") && second.eq_ignore_ascii_case("it"));
    // "Clicked.", "Scrolled down by 3", "Typed 'abc'".
    let is_past = is_past(first);
    let rest_is_done = last.is_some_and(|last| DONE_AT_END.has(last));
    let goes_on = is_done && words(text).any(|word| GO_ON.has(word));
    // `INSERT 0 1`, `CREATE TABLE`, `200 OK`.
    let is_statement = programs::STATUSES.contains(&text)
        || count <= 3 && STATEMENTS.has(first) && !text.contains(char::is_lowercase);
    is_statement
        || (is_done && count <= 5)
        || goes_on
        || (is_past && !has_specific_number(text))
        || (rest_is_done && count <= 6)
        || (count == 3 && is_done_to_so_many(text))
        || (count <= 6 && words(text).any(|word| PERMITTED.has(word)))
        || (count <= DEED_WORDS && says_what_was_done(text) && !has_specific_number(text))
        || (count <= DEED_WORDS.saturating_mul(2) && phrases::says(text, Says::Done))
}

/// A word for what was done.
fn is_past(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    word.len() >= 5
        && word.is_ascii()
        && lower.ends_with("ed")
        && !lower.ends_with("eed")
        && !NO_DEEDS.has(word)
}

/// "100 linhas importadas", "100 Zeilen importiert", "Импортировано 100 строк": what was done, and to how many things.
fn is_done_to_so_many(text: &str) -> bool {
    let (mut is_number, mut is_done) = (false, false);
    for word in words(text) {
        is_number |= word != "0" && word.starts_with(|c: char| c.is_ascii_digit());
        is_done |= word.len() > 6 && english::DONE_TO.iter().any(|end| word.ends_with(end));
    }
    is_done && is_number && !has_specific_number(text)
}

/// Whether one of the words says that something was done: "Heading 'Plan' added to a.docx", `INSERT 0 1`. "The edit was not applied" says
/// the opposite.
pub(super) fn has_deed(text: &str) -> bool {
    /// Words that are looked at.
    const WORDS: usize = 60;
    // Only in capitals, because "Create an account" stands on a page.
    let is_statement =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase()) && STATEMENTS.has(word);
    for part in text.split(['.', ',', ';', '\n']) {
        let mut last = "";
        for word in words(part).take(WORDS) {
            // "0 failed" says that nothing failed.
            if is_denial(word) && last != "0" {
                break;
            }
            last = word;
            if DEEDS.has(word) || DONE_AT_END.has(word) || is_statement(word) {
                return true;
            }
        }
    }
    false
}

#[inline(never)]
fn is_denial(word: &str) -> bool {
    is_one_of(word, english::NOT) || FAILURES.has(word)
}

/// Whether a few words say that what the call names was done: `take_photo` and "Photo taken.", `set_led` and "LED is on". Not for
/// a tool that reads: it names what it looks for.
pub(super) fn echoes(said: &str, count: usize, [name, arguments]: [&str; 2]) -> bool {
    /// A word is compared by its first letters: "exposure" and "expose".
    const STEM: usize = 4;
    /// Longer arguments are not looked at (bytes).
    const MOST: usize = 512;
    if count > DEED_WORDS || arguments.len() > MOST || has_specific_number(said) {
        return false;
    }
    let [said, name, arguments] = [said, name, arguments].map(str::to_ascii_lowercase);
    if english::READ.iter().any(|read| name.starts_with(read)) {
        return false;
    }
    let (mut is_deed, mut is_named, mut is_echo) = (false, false, true);
    for (at, word) in words(&said).enumerate() {
        if is_denial(word) || NO_DEEDS.has(word) {
            return false;
        }
        let stem = word.get(..STEM).unwrap_or(word);
        let names = has(&name, stem) && stem.len() > 2;
        is_deed |= names && (word.ends_with("ed") || word.ends_with('n')) && !has(&name, word);
        // A single word must be the action itself: "Sales" is only where `transfer_to_sales` has led.
        is_named |= names && (count > 1 || name.starts_with(stem));
        // "volume 7" tells a state.
        let is_number = at > 0 && word.starts_with(|c: char| c.is_ascii_digit());
        is_echo &= !is_number && (names || word.len() <= 3 || has(&arguments, stem));
    }
    is_deed || (is_named && is_echo)
}

/// Whether fewer than `most` words are left without repeated words and the words of the call: "Ran code: await
/// page.keyboard.press('ArrowRight')" to `press_key {"key": "ArrowRight"}`.
pub(super) fn tells_little(said: &str, [name, arguments]: [&str; 2], most: usize) -> bool {
    /// A longer result tells something, and longer arguments are not looked at (bytes).
    const MOST: usize = 400;
    if said.len() > MOST {
        return false;
    }
    let short = |text: &str| if text.len() > MOST { String::new() } else { text.to_ascii_lowercase() };
    let [said, name, arguments] = [said, name, arguments].map(short);
    let (mut told, mut before) = (0_usize, String::new());
    for word in words(&said) {
        if ![&before, &name, &arguments].into_iter().any(|text| has(text, word)) {
            told = told.saturating_add(1);
        }
        before.push_str(word);
        before.push(' ');
    }
    told < most
}

#[inline(never)]
pub(super) fn has(text: &str, part: &str) -> bool {
    text.contains(part)
}

/// Whether a text of a few words, or a small object, says that something was done.
pub(super) fn is_receipt(text: &str) -> bool {
    /// Codex puts its receipt into an object with numbers beside it.
    const WORDS: usize = 40;
    let first = words(text).next().unwrap_or_default();
    words(text).nth(WORDS).is_none() && (has_deed(text) || is_past(first) || is_object(text))
}

/// Whether a text is what an interpreter prints for an object: `<Figure size 640x480 with 1 Axes>`, `<Axes: xlabel='date'>`.
fn is_object(text: &str) -> bool {
    let inner = text.trim().strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    inner.map(str::as_bytes).is_some_and(|inner| {
        inner.first().is_some_and(u8::is_ascii_alphabetic)
            && !inner.iter().any(|byte| matches!(byte, b'<' | b'>' | b'[' | b'/'))
    })
}

/// A word for what tools do.
pub(super) fn is_deed(word: &str) -> bool {
    DEEDS.has(word)
}

/// "Quantity updated", "Audio played (4.0 s)", "The element was clicked.", "Your message has been sent to the channel".
fn says_what_was_done(text: &str) -> bool {
    let text = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).map_or(text, |(said, _)| said);
    let (mut before, mut is_passive) = ("", false);
    for word in words(text) {
        if is_denial(word) {
            return false;
        }
        is_passive |= DEEDS.has(word) && is_one_of(before, english::WAS);
        before = word;
    }
    is_passive || DEEDS.has(before)
}

/// Whether the first sentence says that something was done, and the rest is advice: "The list has been modified successfully. Go
/// on with the next."
pub(super) fn begins_so(text: &str) -> bool {
    let Some((sentence, rest)) = text.split_once(['.', '!', '\n']) else { return false };
    let count = words(sentence).take(DEED_WORDS.saturating_add(1)).count();
    // Not "a.py" nor "1.5".
    rest.starts_with(char::is_whitespace)
        && !has_specific_number(text)
        && (1..=DEED_WORDS).contains(&count)
        && (says_so(sentence, count)
            || words(sentence).last().is_some_and(|last| last.eq_ignore_ascii_case("successfully")))
}

/// Whether the text has a number that two changes are unlikely to share: "order 3221322 added", not "201 Created".
pub(super) fn has_specific_number(text: &str) -> bool {
    text.as_bytes().split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() >= SPECIFIC_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> bool {
        says_so(text, words(text).take(61).count())
    }

    #[test]
    fn what_was_done_or_may_be_done() {
        for text in [
            "OK.",
            "Quantity updated",
            "The element was clicked.",
            "Action performed",
            "Operation completed.",
            "The task has been completed.",
            "Key pressed",
            "Text entered",
            "Upload complete",
            "COMMIT",
            "Got it, go ahead!",
            "Yes, please proceed with the next one.",
            "User approved the action",
            "LGTM",
            "Page loaded",
            "10 more items loaded",
            "Your thought has been logged.",
            "Spoken.",
            "Erledigt.",
            "点击成功",
            "تم",
            "INSERT 0 1",
            "201 Created",
        ] {
            assert!(says(text), "{text}");
        }
        assert!(begins_so(
            "Todos have been modified successfully. Ensure that you use the list. Please go on with the current tasks"
        ));
    }

    #[test]
    fn what_says_that_a_thing_was_made() {
        for text in ["<Axes: xlabel='x'>", "INSERT 0 1", "Heading 'Plan' added to a.docx", "Saved a.png"] {
            assert!(is_receipt(text), "{text}");
        }
        for text in
            ["Sign in. Create an account. Delete cookies.", "<Response [404]>", "<b>red</b>", "a < b > c"]
        {
            assert!(!is_receipt(text), "{text}");
        }
    }

    #[test]
    fn what_gives_back_that_the_call_was_carried_out() {
        let echoes = |name, arguments, said| echoes(said, words(said).count(), [name, arguments]);
        for (name, arguments, said) in [
            ("take_photo", "{}", "Photo taken."),
            ("print_label", r#"{"template":"small box"}"#, "Label printed on Zebra-2"),
            ("set_led", r#"{"state":"on"}"#, "LED is on"),
            ("replace", r#"{"old":"a"}"#, "1 replacement"),
            ("submit_job", "{}", "Job submitted to queue default."),
            ("drill", "{}", "hole drilled"),
            ("beep", r#"{"tone":"high"}"#, "beep"),
        ] {
            assert!(echoes(name, arguments, said), "{name}: {said}");
        }
        for (name, arguments, said) in [
            ("take_photo", "{}", "Photo failed"),
            ("open_door", r#"{"door":"cellar"}"#, "Door not opened"),
            ("open_door", r#"{"door":"cellar"}"#, "The door is locked."),
            ("login", "{}", "Login required"),
            ("set_volume", r#"{"level":7}"#, "volume 7"),
            ("get_photo", "{}", "photo taken in May"),
            ("transfer_to_sales", "{}", "Sales"),
            ("run_sql", r#"{"sql":"SELECT name"}"#, "name"),
            ("", "", "Photo taken."),
        ] {
            assert!(!echoes(name, arguments, said), "{name}: {said}");
        }
    }

    #[test]
    fn what_was_not_done() {
        for text in [
            "No replacement was performed, the text did not appear in a.py.",
            "The edit was not applied. Please change it and try again.",
            "The file could not be updated",
        ] {
            assert!(!is_receipt(text) && !says(text), "{text}");
        }
        for text in ["No errors. The file was saved.", "a.py was updated, nothing else changed"] {
            assert!(is_receipt(text), "{text}");
        }
    }

    #[test]
    fn what_tells_something() {
        for text in [
            "Alfred Hitchcock",
            "United States of America",
            "Speed limit 50",
            "Voucher 3221322 was added",
            "The shop is closed on Sunday",
            "Paris is the capital of France",
            "Lunch at noon in the small room?",
        ] {
            assert!(!says(text), "{text}");
        }
        assert!(!begins_so("The capital is Paris. It was founded long ago and has many bridges."));
        assert!(!begins_so("a.py has been read"));
    }
}
