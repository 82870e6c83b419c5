//! Whether a text says outright that it is an error: a line of its own, a traceback however long, an exit code.

use memchr::{memchr2, memmem::Finder};

use super::judge::MAX_RESULT;
use crate::Sought;

/// The result, without white space around it, says that it is an error.
pub(super) fn is_explicit_error(text: &str) -> bool {
    static TRACEBACK: Sought = Sought::new(|| Finder::new("Traceback (most recent call last)"));
    let last_line = text.lines().next_back().unwrap_or(text);
    let has_traceback = text.starts_with("Traceback (most recent call last)")
        || text.starts_with("Exception in thread")
        || (is_exception(last_line) && TRACEBACK.is_in(text));
    // A line of its own says so, among the first.
    let says_so = |line: &str| {
        let line = line.trim();
        let (word, rest) = line.split_once([':', ' ']).unwrap_or((line, ""));
        word.eq_ignore_ascii_case("error") && (line.contains(':') || rest.is_empty())
    };
    let is_told = text.len() <= MAX_RESULT && text.lines().take(4).any(says_so);
    has_traceback || is_told
}

/// `<returncode>1</returncode>`, `Exit code: 2`: a code that is not 0, in a text that is not long.
pub(super) fn has_exit_code(said: &str) -> bool {
    const NAMES: [&str; 6] =
        ["returncode", "return code", "exit code", "exit_code", "exit status", "exited with code"];
    // Most results have none of these words, and need not be copied.
    static PARTS: [Sought; 3] = [
        Sought::new(|| Finder::new("ode")),
        Sought::new(|| Finder::new("ODE")),
        Sought::new(|| Finder::new("tatus")),
    ];
    let may_hold = || PARTS.iter().any(|part| part.is_in(said));
    if said.len() > MAX_RESULT || !may_hold() {
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
    let end = memchr2(b':', b' ', line.as_bytes()).unwrap_or(line.len());
    let name = line.get(..end).unwrap_or(line);
    (name.ends_with("Error") || name.ends_with("Exception")) && name.len() > 5
}
