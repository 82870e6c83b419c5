//! Does an assistant's text do something, or does it talk? A block, an element, a label or JSON is an action, and so is a text that has
//! the form of a command, of SQL or of code. Anything else is prose.

use super::written_action;
use crate::reverse_search::last_place;

/// Bytes of a text that are looked at.
const REACH: usize = 2_048;
/// A text is prose if at least this percentage of its words is plain.
const PLAIN: usize = 75;

/// The action that is written down in a text: at its end, in a block or behind a label.
pub(super) fn written(said: &str) -> Option<&str> {
    last_calls(said).or_else(|| written_action::of(said))
}

/// Whether a text does something. It may be a JSON string as it stands in the body. If the agent calls tools, a bare text of it
/// is an answer and no command: "HEARTBEAT_OK", `{"alerts": 0}`.
pub(super) fn acts(said: &str, calls_tools: bool) -> bool {
    let text = said.trim_matches(|c: char| c.is_whitespace() || c == '"');
    written(said).is_some() || (!calls_tools && is_bare(text))
}

/// Calls that are written down at the end of a text: `[{'id': 'call_4', ..}]`.
fn last_calls(said: &str) -> Option<&str> {
    let text = said.trim_end_matches(|c: char| c.is_whitespace() || c == '"');
    let start = if text.ends_with("}]") { last_place(text, "[{")? } else { return None };
    if start > 0 { text.get(start..) } else { None }
}

/// `ls -la /tmp`, `SELECT name FROM singer`, `x = f(3)`; not "Thank you!" nor "I have looked at a.py."
fn is_bare(text: &str) -> bool {
    let text = text.get(..text.floor_char_boundary(REACH)).unwrap_or(text);
    let mut words = text.split_whitespace();
    let Some(first) = words.next() else { return false };
    if text.starts_with(['{', '[', '<', '$', '/', '.', '!', '%', '@']) {
        return true;
    }
    // "*purrs*" is role play.
    if text.len() > 1 && text.starts_with('*') && text.ends_with('*') {
        return false;
    }
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    // Some other scripts have no capitals. A text in one of them is prose unless it has many signs of code.
    let is_foreign = letters().filter(|c| !c.is_ascii()).count().saturating_mul(4) > letters().count();
    let all = text.split_whitespace().count();
    let plain = text.split_whitespace().filter(|word| is_plain(word)).count();
    let is_mostly_plain = plain.saturating_mul(100) >= all.saturating_mul(PLAIN);
    if is_foreign {
        return has_code(text, all);
    }
    // SQL and the like: two words in capitals.
    let is_shouted =
        |word: &str| word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    if is_shouted(first)
        && (first.len() >= 4 || text.split_whitespace().filter(|word| is_shouted(word)).count() >= 2)
    {
        return true;
    }
    // A command, followed by an option, a path or other signs.
    let is_sign = |word: &str| {
        word.starts_with(['-', '/', '$', '~', '.', '|', '[', '*'])
            || word.contains(['=', '|', '<', '>', '{', '}', '$', '*', '\\', ';', '(', '`'])
    };
    let is_small = first.starts_with(|c: char| c.is_ascii_lowercase());
    if is_small && text.split_whitespace().skip(1).take(3).any(is_sign) {
        return true;
    }
    let is_sentence = text.trim_end_matches(['"', '\'', ')']).ends_with(['.', '!', '?', '…', ':']);
    let has_capital = first.starts_with(|c: char| c.is_uppercase());
    match (is_mostly_plain, is_sentence || has_capital) {
        (true, true) => false,
        // Words alone, in small letters: a command of the shell, or of a game, is short.
        (true, false) => (all <= 3 || has_sign(text)) && !text.contains('\''),
        (false, true) => has_code(text, all),
        (false, false) => true,
    }
}

/// A word as it stands in a sentence, possibly with punctuation around it.
fn is_plain(word: &str) -> bool {
    let inner = word
        .trim_matches(['.', ',', ';', ':', '!', '?', '"', '\'', '(', ')', '*', '`', '’', '“', '”', '–', '—']);
    inner.starts_with(char::is_alphabetic)
        && inner.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '-' | '’'))
        && !word.contains("()")
}

fn has_sign(text: &str) -> bool {
    text.split_whitespace().any(|word| word.contains(['=', '<', '>', '*', '(', ';', '|']))
}

/// Whether at least a quarter of the words have signs of code.
fn has_code(text: &str, all: usize) -> bool {
    let signs = text
        .split_whitespace()
        .filter(|word| word.contains(['=', '{', '}', '(', ';', '|', '<', '>', '$', '\\', '[', '*']))
        .count();
    signs.saturating_mul(4) >= all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_something() {
        for text in [
            "```\nls\n```",
            "Thought: hm\nAction: look",
            "ls -la /testbed",
            "ls",
            "find . -name '*.py' | xargs wc -l",
            "SELECT name FROM singer WHERE age > 20",
            "SHOW TABLES",
            "DESCRIBE singer",
            "select name from singer where age > 20",
            "def f(x):\n    return x + 1",
            "x = [1, 2, 3]; print(sum(x))",
            r#"{"tool": "look", "at": "x"}"#,
            "cd /tmp && make",
            "go north",
            "echo \"Hello\" > a.txt",
            "print(sorted(d.items(), key=lambda x: x[1]))",
            "ls -l | grep Icon",
            "tar -zcvf - /workspace/archive.tar.gz | split -b 10m - output_prefix.",
            "echo $(date) 1 >> a.txt  This command will append the current date and time to the file.",
            "if [ -d /workspace ]; then echo \"directory exists\"; else echo \"directory does not exist\"; fi",
        ] {
            assert!(acts(text, false), "{text}");
        }
        assert!(acts("find . -empty", false) && acts("```\nls\n```", true) && acts("Action: look", true));
    }

    #[test]
    fn what_talks() {
        for text in [
            "",
            "Thank you!",
            "Thank you so much, and good luck with the project",
            "You're welcome! Let me know if there is anything else.",
            "All backups are fine. The last one ran at 03:00.",
            "No news yet.",
            "I have looked at src/a.py and found nothing.",
            "Bitte sehr, gern geschehen!",
            "不客气，随时为您服务。",
            "OK, thanks",
            "*purrs*",
            "*looks up and smiles*",
            "it works as far as i can see",
            "The one in the north carries most of it, as far as I can see.",
        ] {
            assert!(!acts(text, false), "{text}");
        }
        for text in ["HEARTBEAT_OK", "all quiet", "ls -la", "logs/ok.txt", "→ ok", r#"{"status": "ok"}"#] {
            assert!(!acts(text, true), "{text}");
        }
    }
}
