//! Whether a result says by its form that something went wrong: the status of an HTTP answer, the title of a page, the
//! last lines of a test run.

use super::judge::MAX_RESULT;

/// Lines at the end that may sum up.
const LINES: usize = 4;
/// A line that sums up is not longer than this (bytes).
const LINE: usize = 200;

pub(super) fn says_so(said: &str) -> bool {
    let text = said.trim();
    if text.starts_with(['{', '[']) {
        return false;
    }
    is_status_line(text.lines().next().unwrap_or_default()) || has_bad_title(text) || ends_with_failures(text)
}

/// `404 Not Found`, `HTTP/1.1 503 Service Unavailable`, `HTTP 500`.
fn is_status_line(line: &str) -> bool {
    // The line of a long text may be long as well, and its first word.
    if !line.trim_start().starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | 'h' | 'H')) {
        return false;
    }
    let mut all = line.split_whitespace();
    let Some(first) = all.next() else { return false };
    let is_named = first.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http"));
    let number = if is_named { all.next().unwrap_or_default() } else { first };
    let is_status =
        number.trim_end_matches([':', ',']).parse::<u16>().is_ok_and(|status| (400..600).contains(&status));
    let reason = all.next();
    is_status && (is_named || reason.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_uppercase())))
}

/// `<title>502 Bad Gateway</title>`, `<title>Access denied</title>`, `<Error>`.
fn has_bad_title(text: &str) -> bool {
    if !text.starts_with('<') {
        return false;
    }
    let beginning = text.get(..text.floor_char_boundary(MAX_RESULT)).unwrap_or(text);
    let title = beginning.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    title.is_some_and(|(title, _)| {
        let lower = title.to_ascii_lowercase();
        is_status_line(title)
            || ["error", "denied", "not found", "forbidden"].iter().any(|word| lower.contains(word))
    }) || beginning.starts_with("<Error>")
        || (beginning.starts_with("<?xml") && beginning.contains("<Error>"))
}

/// `==== 1 failed, 11 passed in 0.12s ====`, `FAILED (failures=1)`, `BUILD FAILED in 3s`: one of the last lines says how
/// much went wrong.
fn ends_with_failures(text: &str) -> bool {
    let mut lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(LINES);
    lines.any(|line| line.len() <= LINE && sums_up_failures(line))
}

fn sums_up_failures(line: &str) -> bool {
    let line = line.trim_matches(['=', '-', '*', '#', ' ']);
    if line.starts_with("FAILED (") || line.starts_with("BUILD FAILED") || line.starts_with("Build failed") {
        return true;
    }
    // `make: *** [all] Error 2`, `10:00:59 ERROR build failed`.
    if (line.starts_with("make") && line.contains("*** ")) || ends_with(line, "build failed") {
        return true;
    }
    if !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let mut before = "";
    line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let before = std::mem::replace(&mut before, word);
        let is_count = before.len() <= 6
            && before.bytes().all(|byte| byte.is_ascii_digit())
            && before.bytes().any(|byte| byte != b'0');
        is_count
            && ["failed", "failures", "failing", "errors"].iter().any(|one| word.eq_ignore_ascii_case(one))
    })
}

/// In any case.
fn ends_with(line: &str, end: &str) -> bool {
    let start = line.len().checked_sub(end.len());
    start.and_then(|start| line.get(start..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_by_its_form() {
        let run = |last: &str| format!("{}\n{last}", "tests/test_a.py ......\n".repeat(60));
        for text in [
            "404 Not Found",
            "429 Too Many Requests, retry after 10 s",
            "HTTP/1.1 503 Service Unavailable\nDate: x",
            "HTTP 500\n\nOops",
            "<html><head><title>502 Bad Gateway</title></head><body>Ray ID: x</body></html>",
            "<!DOCTYPE html><title>Access denied | example.com</title>",
            "<?xml version=\"1.0\"?><Error><Code>X</Code></Error>",
            &run("==== 1 failed, 11 passed in 0.12s ===="),
            &run("Ran 9 tests\n\nFAILED (failures=1)"),
            &run("make: *** [Makefile:2: all] Error 1"),
            &run("10:00:59 ERROR build failed"),
            &run("Tests: 1 failed, 1 total\nTime: 0.5 s"),
        ] {
            assert!(says_so(text), "{text}");
        }
    }

    #[test]
    fn what_tells_something() {
        for text in [
            "",
            "404 rooms are free",
            "200 OK",
            "HTTP/1.1 202 Accepted",
            "<html><title>The history of Rome</title></html>",
            "=== 12 passed, 0 failed in 0.12s ===",
            "the build has failed before, in 2020",
            r#"{"status":404}"#,
        ] {
            assert!(!says_so(text), "{text}");
        }
    }
}
