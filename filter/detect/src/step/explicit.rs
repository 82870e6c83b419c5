//! Explicit failures: results whose form says that the call failed, whatever their words mean. Only these are compared without what
//! is volatile in them.

use memchr::{memchr2, memmem::Finder};
use sentinel_llm_api::json::{self, Raw};

use super::{MAX_RESULT, known::is_one_of, unwrapped_text, volatile};
use crate::{
    Sought,
    words::{formats, programs},
};

/// Lines at the beginning and at the end of a text that can say that it is a failure.
const LINES: usize = 4;
/// A line that says so is not longer than this (bytes).
const LINE: usize = 2_048;

/// Whether a text, without what it is wrapped in, is a failure by its form.
pub(super) fn is_failure(said: &str) -> bool {
    let plain = volatile::without_colours(said.trim());
    let text = plain.as_ref();
    if is_json(text) {
        return is_json_failure(text);
    }
    if text.starts_with('[') {
        // What follows a line such as `[File: a.py (300 lines)]` is content, whatever it talks of.
        return text.lines().next().is_some_and(is_failure_line) || is_log_of_failure(text);
    }
    if let Some(failed) = failed_by_exit_code(text) {
        // The exit code says how the program ended. The lines are only what the program printed.
        return failed;
    }
    static TRACEBACK: Sought = Sought::new(|| Finder::new("Traceback (most recent call last)"));
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    is_status_line(first)
        || has_bad_title(text)
        || is_error_element(text)
        || text.starts_with("Traceback (most recent call last)")
        || text.starts_with("Exception in thread")
        || text.lines().take(LINES).any(is_failure_line)
        || text.lines().rev().take(LINES).any(is_failure_line)
        || (TRACEBACK.is_in(text) && text.lines().next_back().is_some_and(is_exception))
        || is_log_of_failure(text)
        || ends_with_error(text)
        || has_margin_of_failure(text)
}

/// Whether an answer, as it stands in a history, is a failure by its form.
pub(crate) fn is_failed_answer(text: &str) -> bool {
    let (said, is_error) = unwrapped_text(text);
    is_error || may_be_failure(text) && is_failure(&said)
}

/// What kind of failure a text tells: what stands before the colon of the line that says so (`KeyError`, `cat`,
/// `- E999 IndentationError`). Empty if no line says so, as in JSON: such failures count as one kind.
pub(super) fn head(said: &str) -> &str {
    let lines = || said.lines().map(str::trim);
    let line = lines().take(LINES).chain(lines().rev().take(LINES)).find(|line| is_failure_line(line));
    line.and_then(|line| line.split(':').next()).unwrap_or_default()
}

/// Quickly: whether a text may be a failure by its form. `false` is certain.
pub(super) fn may_be_failure(said: &str) -> bool {
    static MARKS: [Sought; 4] = [
        Sought::new(|| Finder::new("rror")),
        Sought::new(|| Finder::new("ERR")),
        Sought::new(|| Finder::new("ception")),
        Sought::new(|| Finder::new(": ")),
    ];
    let text = said.trim_start();
    text.starts_with(|c: char| {
        c.is_ascii_digit() || matches!(c, '{' | '[' | '<' | '"' | 'h' | 'H' | 'T' | '\u{1b}')
    }) || MARKS.iter().any(|mark| mark.is_in(text))
        || failed_by_exit_code(text) == Some(true)
}

/// Whether a text is a list or an object, and not a line in brackets: `[10:00:59] ERROR x`. A list is parsed only if a time or a
/// name could begin in the same way.
fn is_json(text: &str) -> bool {
    match text.as_bytes() {
        [b'{', ..] => true,
        [b'[', rest @ ..] => match rest.trim_ascii_start() {
            [b'{' | b'[' | b'"' | b']', ..] => true,
            [b'0'..=b'9' | b'-' | b't' | b'f' | b'n', ..] => Raw::read(text).is_ok(),
            _ => false,
        },
        _ => false,
    }
}

/// A member of the whole value says so: `{"error": "locked"}`, `{"status": 503}`, `{"exit_code": 1}`. A count of errors does not.
fn is_json_failure(text: &str) -> bool {
    text.starts_with('{') && Raw::read(text).is_ok_and(members_say_failure)
}

/// Whether one of the members of an object says that something failed.
pub(super) fn members_say_failure(object: Raw<'_>) -> bool {
    /// Members that are looked at.
    const MEMBERS: usize = 64;
    object.members().take(MEMBERS).any(|(key, value)| {
        let name = key.text();
        let is = |known: &[&str]| is_one_of(&name, known);
        let number = || value.get().parse::<i64>().ok();
        if is(formats::ERROR) {
            return tells(value);
        }
        (is(formats::IS_ERROR) && value.is_true())
            || (is(formats::STATUS) && number().is_some_and(|status| (400..600).contains(&status)))
            || (is(formats::EXIT_CODE) && number().is_some_and(|code| code != 0))
    })
}

/// Whether a text, an object, or a list of these has something in it.
fn tells(value: Raw<'_>) -> bool {
    if value.is_string() {
        return json::string(value).is_none_or(|text| !text.trim().is_empty());
    }
    if value.is_object() {
        return value.members().next().is_some();
    }
    value.is_list() && value.elements().next().is_some_and(|first| first.is_string() || first.is_object())
}

/// `error: x`, `Error 404: x`, `fatal: x`, `cat: a.csv: Permission denied`, `ValueError: x`, `TimeoutException`.
fn is_failure_line(line: &str) -> bool {
    let line = line.trim();
    if line.is_empty() || line.len() > LINE {
        return false;
    }
    if let Some((label, value)) = line.split_once(':') {
        let label = label.trim_end_matches([']', ')', '*']).trim_start_matches(['[', '(', '*', '`']);
        let (word, rest) = label.split_once([' ', '[', '(']).unwrap_or((label, ""));
        let is_number = rest.len() <= 8 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'E');
        let is_named = word.eq_ignore_ascii_case("error") || word.eq_ignore_ascii_case("fatal");
        if is_named && is_number {
            return !is_nothing(value);
        }
    }
    line.eq_ignore_ascii_case("error")
        || is_exception(line)
        || is_program_line(line)
        // Test runners mark the lines of a failure in their margin: "E   ValueError: x".
        || line.strip_prefix("E  ").is_some_and(|line| is_exception(line.trim_start()))
        || without_code(line).is_some_and(is_exception)
}

/// What follows the code of a linter, in a list or not: `- E999 SyntaxError: invalid syntax`.
fn without_code(line: &str) -> Option<&str> {
    let (code, rest) = line.strip_prefix("- ").unwrap_or(line).split_once(' ')?;
    let is_code = code.len() == 4
        && code.starts_with(|c: char| c.is_ascii_uppercase())
        && code.bytes().skip(1).all(|byte| byte.is_ascii_digit());
    is_code.then_some(rest)
}

/// Whether one line ends with a failure: `The tool failed. Please try again. Error: locked`.
fn ends_with_error(text: &str) -> bool {
    static ERROR: Sought = Sought::new(|| Finder::new(". Error: "));
    text.len() <= LINE && !text.contains('\n') && ERROR.is_in(text)
}

/// `npm ERR! code E404`, `npm error code E404`: each line begins with a program's name and the level of what it says.
fn has_margin_of_failure(text: &str) -> bool {
    fn margin(line: &str) -> Option<&str> {
        let mut words = line.split_whitespace();
        let (program, level) = (words.next()?, words.next()?);
        (is_name_of_program(program) && programs::FAILURE_MARGINS.contains(&level)).then_some(program)
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(LINES);
    let Some(program) = lines.next().and_then(margin) else { return false };
    let mut lines = lines.peekable();
    lines.peek().is_some() && lines.all(|line| margin(line) == Some(program))
}

/// The value of a field that says that there was no error: `Error: (none)`, `error: null`, `Error: 0`.
pub(super) fn is_nothing(value: &str) -> bool {
    let word = value.trim_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
    let is_empty_sign = word.is_empty() && !value.trim().is_empty();
    is_empty_sign || is_one_of(word, programs::NO_VALUE)
}

/// `prog: path: message`: a program says what is wrong with a path or an option. `ld: error: message`, `sshd[907]: fatal: message`.
fn is_program_line(line: &str) -> bool {
    let mut parts = line.splitn(3, ": ");
    let (Some(program), Some(path), Some(message)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let path = path.trim_matches(['\'', '"', '`', '‘', '’']);
    let is_path = !path.is_empty()
        && path.len() <= 512
        && (path.contains('/') || path.starts_with('-') || path.starts_with("line ") || has_extension(path));
    let is_level = ["error", "fatal"].iter().any(|level| path.eq_ignore_ascii_case(level));
    let program = program.split_once('[').map_or(program, |(program, _)| program);
    is_name_of_program(program) && (is_path || is_level) && message.trim().chars().any(char::is_alphabetic)
}

/// `cat`, `./build.sh`, `x86_64-linux-gnu-gcc`.
fn is_name_of_program(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| {
            byte.is_ascii_lowercase()
                || byte.is_ascii_digit()
                || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'+')
        })
}

/// `report.csv`.
fn has_extension(path: &str) -> bool {
    !path.contains(' ')
        && path.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=5).contains(&end.len())
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// `ValueError: x`, `java.io.IOException: x`, `requests.exceptions.ConnectTimeout`.
fn is_exception(line: &str) -> bool {
    let end = memchr2(b':', b' ', line.as_bytes()).unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(end).unwrap_or((line, ""));
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$'));
    let is_class = programs::EXCEPTIONS.iter().any(|end| name.ends_with(end) && name.len() > end.len());
    is_name && is_class && (rest.is_empty() || rest.starts_with(':'))
}

/// `404 Not Found`, `HTTP/1.1 503 Service Unavailable`, `HTTP 500`.
fn is_status_line(line: &str) -> bool {
    if !line.trim_start().starts_with(|c: char| c.is_ascii_digit() || matches!(c, 'h' | 'H')) {
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

/// `<title>502 Bad Gateway</title>`: the page of a status.
fn has_bad_title(text: &str) -> bool {
    if !text.starts_with('<') {
        return false;
    }
    let beginning = text.get(..text.floor_char_boundary(MAX_RESULT)).unwrap_or(text);
    let title = beginning.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    title.is_some_and(|(title, _)| is_status_line(title))
}

/// `<tool_use_error>File has not been read</tool_use_error>`, `<Error><Code>NoSuchKey</Code></Error>`.
fn is_error_element(text: &str) -> bool {
    let said = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).and_then(|(name, rest)| {
        let end = rest.trim_end().strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</")?;
        let begin = name.len().saturating_sub("error".len());
        name.get(begin..).is_some_and(|end| end.eq_ignore_ascii_case("error")).then_some(end)
    });
    said.is_some_and(|said| !said.trim().is_empty() && !is_nothing(said))
}

/// `10:00:59 ERROR build failed`: the level of the last line of a log.
fn is_log_of_failure(text: &str) -> bool {
    let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) else { return false };
    let mut words = line.split_whitespace().take(6);
    let Some(first) = words.next() else { return false };
    let is_time = |word: &str| {
        let word = word.trim_matches(['[', ']', '(', ')']);
        word.starts_with(|c: char| c.is_ascii_digit()) && word.contains([':', '-'])
    };
    is_time(first)
        && words.any(|word| programs::FAILURE_LEVELS.contains(&word.trim_matches(['[', ']', ':', '|'])))
}

/// Whether one of the exit codes that a text names is not 0: `<returncode>1</returncode>`, `Exit code: 2`. `None` where it names none,
/// or is long.
pub(super) fn failed_by_exit_code(said: &str) -> Option<bool> {
    // Most results have none of these words. Then they are not copied.
    static PARTS: [Sought; 3] = [
        Sought::new(|| Finder::new("ode")),
        Sought::new(|| Finder::new("ODE")),
        Sought::new(|| Finder::new("tatus")),
    ];
    let may_hold = || PARTS.iter().any(|part| part.is_in(said));
    if said.len() > MAX_RESULT || !may_hold() {
        return None;
    }
    let lower = said.to_ascii_lowercase();
    let codes = programs::EXIT_CODES.iter().filter_map(|name| {
        let (_, after) = lower.split_once(name)?;
        let value = after.trim_start_matches(['>', ':', '=', '"', '\'', ' ', '-', '(']);
        let digits = value.len().saturating_sub(value.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        // A label must stand right before the value, and not anywhere before a number.
        let gap = after.len().saturating_sub(value.len());
        value.get(..digits).filter(|code| gap <= 4 && !code.is_empty())
    });
    codes.map(|code| code.bytes().any(|byte| byte != b'0')).reduce(|one, other| one || other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_by_its_form() {
        for text in [
            "error: permission denied",
            "Error 404: page not found",
            "ERROR: locked",
            "fatal: not a git repository",
            "cat: /reports/march.csv: Permission denied",
            "find: '/system/folder3': No such file or directory",
            "/bin/bash: -c: line 1: syntax error near unexpected token `('",
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: x",
            "some output\nrequests.exceptions.ConnectTimeout: no route",
            "java.io.IOException: closed",
            "Your edit was rejected.\n\nERRORS:\n- E999 IndentationError: unexpected indent\n\nThis is how it would look",
            "ImportError while loading conftest 'conftest.py'.\nE   ModuleNotFoundError: No module named 'respx'",
            "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://example.com/x",
            "npm error code ERESOLVE\nnpm error\nnpm error Fix the conflict",
            "2026-11-28 09:10:34 UTC [41772] FATAL:  no entry for host \"10.0.4.9\"",
            "TimeoutError",
            "404 Not Found",
            "HTTP/1.1 503 Service Unavailable\nDate: x",
            "<html><head><title>502 Bad Gateway</title></head></html>",
            "<tool_use_error>File has not been read yet.</tool_use_error>",
            "<Error><Code>NoSuchKey</Code></Error>",
            "2026-03-04 10:00:59 ERROR build failed",
            "[10:00:59] ERROR build failed",
            "[2026-03-04 10:00:59] ERROR: disk full",
            "[error]: locked",
            "<returncode>1</returncode>\n<output>\n</output>",
            "Process exited with code 2\nnothing else",
            "An error occurred while running the tool. Please try again. Error: locked",
            r#"{"error":"locked"}"#,
            r#"{"errors":[{"message":"x"}]}"#,
            r#"{"error":{"code":1}}"#,
            r#"{"status":503,"body":"x"}"#,
            r#"{"exit_code":-1}"#,
            r#"{"isError":true,"content":[]}"#,
        ] {
            assert!(is_failure(text) && may_be_failure(text), "{text}");
        }
    }

    /// Each of these was taken for a failure by some list of words.
    #[test]
    fn what_only_talks_of_failures() {
        for text in [
            "You stand at (3, 4). No monsters here.",
            "validation error 0.48",
            "Error rate: 0.48",
            "1037 requests, 0 errors",
            r#"["error: locked"]"#,
            r#"[{"error": "locked"}]"#,
            "[10:00:59] INFO no errors",
            "[7, 8] errors were found",
            "[File: a.py (300 lines)]\n299: def f():\nerror: is the first word of this line",
            r#"{"imported": 100, "errors": 3}"#,
            r#"{"errors": []}"#,
            r#"{"error": null, "rows": 3}"#,
            r#"{"error": ""}"#,
            r#"{"status": "delivered", "error_rate": 0.1}"#,
            "Error analysis of the census of 1890, a paper about wrong counts",
            "meta=None content=[] isError=False",
            "404 rooms are free",
            "compile error\nlink error",
            "the error code is in the table\nthe errors of last year too",
            "margin error of 3 %\nthe margin was small",
            "E  minor is the key of the piece",
            "B101 is the bus to the harbour",
            "Zeitüberschreitung nach 3 s",
            "No order found",
            "exit code: 0",
            "<error></error>",
            "<error>none</error>",
            "<p>error</p>",
            "Command: make\nError: (none)\nExit Code: 0\nSignal: (none)",
            "Error: null",
            "error: -",
            "error: a line that grep has found\nProcess exited with code 0",
            "Directory: /work\nError: 0",
            "The exit codes of the 7 programs are in the table",
            "host: web-1: healthy",
            "def f():\n    raise ValueError(\"x\")\n\nprint(1)\n\n\n\nlast",
        ] {
            assert!(!is_failure(text), "{text}");
        }
    }
}
