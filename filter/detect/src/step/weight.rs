//! Weight: how much a repetition says. Pressing one key and hearing "ok" five times is work; sending the same program five
//! times is not.

use sentinel_text::words;
use serde::{Deserialize, Serialize};

use super::known::is_one_of;
use crate::words::programs;

/// How much a call and its outcome say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) enum Weight {
    /// The call names nothing: it has no argument, a number, a flag.
    #[default]
    Nothing,
    /// The call names one token: an id, a word.
    Token,
    /// Only for calls: the call names a text of two words. It counts as `Full` unless the outcome is a single word.
    Words,
    /// Only for calls: the call names a path or a command. It counts as `Full` unless the outcome is a single number.
    Place,
    /// The call gives code that calls something itself. Or the outcome is long or an explicit failure.
    Full,
    /// The call names a text of a dozen words. Nobody says the same in so many words again and again by chance.
    Long,
    /// The call gives a page: forty lines of a program.
    Page,
}

/// Words from which a call says so much that nobody says it again and again by chance.
const LONG_WORDS: usize = 12;
/// Words from which an outcome tells something: two sentences, and not "You hit the zombie."
pub(super) const TELLING_WORDS: usize = 10;
/// A text longer than this is a page (bytes). Statements that an agent carries out again and again, such as a `DELETE` in batches, are
/// shorter.
const PAGE: usize = 1_024;

impl Weight {
    /// The weight of a call, by its arguments: JSON, a literal of Python, or what the model wrote.
    pub fn of_arguments(arguments: &str) -> Self {
        let text = arguments.trim();
        if text.len() > PAGE {
            return Self::Page;
        }
        if !text.starts_with(['{', '[', '"', '\'', '(']) {
            return if is_bare_value(text) { Self::Nothing } else { Self::of_text(text) };
        }
        Values { rest: text, key: "" }.max().unwrap_or_default()
    }

    /// The weight of a text that is said or given.
    pub fn of_text(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Nothing;
        }
        if text.len() > PAGE {
            return Self::Page;
        }
        if words(text).nth(LONG_WORDS.saturating_sub(1)).is_some() {
            return Self::Long;
        }
        let has_letter = |word: &str| word.chars().any(char::is_alphabetic);
        let is_code = |c: char| "/\\){}[]=;|<>$*&`".contains(c);
        // In scripts without spaces, each character is a word.
        let is_unspaced = !text.is_ascii() && !text.contains(' ') && words(text).nth(2).is_some();
        let has_two_words = text.split_whitespace().nth(1).is_some() && has_letter(text);
        if text.len() > 1 && text.contains('(') && has_letter(text) {
            Self::Full
        } else if (text.len() > 1 && text.contains(is_code) && has_letter(text)) || is_file(text) {
            Self::Place
        } else if has_two_words || is_unspaced {
            Self::Words
        } else {
            Self::Token
        }
    }

    /// The weight of a command in text, with or without a label ("Action: move north"). Its first word says what is done, as the name
    /// of a tool does, so "move north" names one token.
    pub fn of_command(text: &str) -> Self {
        let is_label = |label: &str| label.bytes().all(|byte| byte.is_ascii_alphabetic());
        let label = text.split_once(": ").filter(|(label, _)| is_label(label));
        let command = label.map_or(text, |(_, command)| command);
        match Self::of_text(text) {
            Self::Words if command.split_whitespace().nth(2).is_none() => Self::Token,
            weight => weight,
        }
    }

    /// The weight of a call with this outcome. A single word ("thud", "denied") is hardly an outcome, unless the call names a
    /// path or code. A single number may stay the same for a while, unless a program has printed it.
    pub fn with_outcome(self, said: &str) -> Self {
        match self {
            Self::Nothing | Self::Token | Self::Words if is_a_word(said) => Self::Nothing,
            Self::Words | Self::Place if is_a_reading(said) => Self::Token,
            Self::Words | Self::Place => Self::Full,
            _ => self.max(Self::of_outcome(said)),
        }
    }

    /// The weight of an outcome.
    pub fn of_outcome(said: &str) -> Self {
        if words(said).nth(TELLING_WORDS.saturating_sub(1)).is_some() { Self::Full } else { Self::Nothing }
    }
}

/// One word of letters: "thud", "Gefüttert.", "どうぞ".
fn is_a_word(said: &str) -> bool {
    /// Most letters of a word, and of a word in a script without spaces.
    const LETTERS: [usize; 2] = [16, 5];
    let word = said.trim_matches(|c: char| c.is_ascii_punctuation());
    let [most, unspaced] = LETTERS;
    let is_unspaced = word.bytes().any(|byte| (0xE3..=0xED).contains(&byte));
    let most = if is_unspaced { unspaced } else { most };
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
        && word.chars().count() <= most
}

/// A number and its unit: "0", "21.5 °C", "-3.30 V".
#[inline(never)]
fn is_a_reading(said: &str) -> bool {
    /// Most bytes of a unit, with the space before it.
    const UNIT: usize = 6;
    let unit =
        said.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | ','));
    unit.len() < said.trim().len() && unit.len() <= UNIT && unit.split_whitespace().nth(1).is_none()
}

/// `17`, `-1.5`, `true`, `null`.
fn is_bare_value(text: &str) -> bool {
    text.is_empty()
        || is_one_of(text, programs::BARE_VALUES)
        || text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b',' | b' '))
}

/// `report.csv`.
fn is_file(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(stem, end)| {
        stem.chars().any(char::is_alphabetic)
            && (1..=5).contains(&end.len())
            && end.starts_with(|c: char| c.is_ascii_alphabetic())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The weights of the values in a JSON object or a literal of Python.
struct Values<'a> {
    rest: &'a str,
    /// The name of the last member.
    key: &'a str,
}

impl Iterator for Values<'_> {
    type Item = Weight;

    fn next(&mut self) -> Option<Weight> {
        loop {
            let at = self.rest.find(|c: char| matches!(c, '"' | '\'') || c.is_ascii_digit())?;
            let (_, rest) = self.rest.split_at_checked(at)?;
            let quote = rest.chars().next()?;
            if quote.is_ascii_digit() {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
                self.rest = rest.get(end..)?;
                // A number names something if its member is called an id.
                return Some(if is_id(self.key) { Weight::Token } else { Weight::Nothing });
            }
            let inside = rest.get(1..)?;
            let end = end_of_string(inside, quote);
            let text = inside.get(..end)?;
            let after = inside.get(end..)?.get(1..).unwrap_or_default();
            self.rest = after;
            if after.trim_start().starts_with(':') {
                self.key = text;
                continue;
            }
            // JSON in a string.
            if text.starts_with(['{', '[']) && text.contains('\\') {
                let inner = text.replace('\\', "");
                return Values { rest: &inner, key: "" }.max().or(Some(Weight::Nothing));
            }
            return Some(Weight::of_text(&text.replace("\\n", "\n")));
        }
    }
}

/// Where a string ends. Its opening quote has been read.
fn end_of_string(inside: &str, quote: char) -> usize {
    let mut is_escaped = false;
    inside
        .char_indices()
        .find(|(_, c)| {
            let ends = *c == quote && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            ends
        })
        .map_or(inside.len(), |(at, _)| at)
}

/// `id`, `order_id`, `orderId`.
fn is_id(key: &str) -> bool {
    key.eq_ignore_ascii_case("id")
        || ["_id", "-id", "Id", "ID"].iter().any(|end| key.len() > end.len() && key.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_names() {
        for (arguments, weight) in [
            ("", Weight::Nothing),
            ("{}", Weight::Nothing),
            (r#"{"limit":10,"all":true,"x":null}"#, Weight::Nothing),
            (r#"{"direction":""}"#, Weight::Nothing),
            ("17", Weight::Nothing),
            (r#"{"id":9}"#, Weight::Token),
            (r#"{"order_id":9}"#, Weight::Token),
            (r#"{"valid":9}"#, Weight::Nothing),
            (r#"{"key":"Down"}"#, Weight::Token),
            (r#"{"from":"BER","to":"CDG"}"#, Weight::Token),
            (r#"{"at":"10, 20"}"#, Weight::Token),
            (r#"["a"]"#, Weight::Token),
            (r#"{"query":"order 123"}"#, Weight::Words),
            ("{'query': 'order 123'}", Weight::Words),
            (r#""{\"query\": \"order 123\"}""#, Weight::Words),
            (r#"{"path":"notes/a"}"#, Weight::Place),
            (r#"{"path":"a.csv"}"#, Weight::Place),
            (r#"{"command":"grep -c ERROR app.log"}"#, Weight::Place),
            (r#"{"code":"print(1)"}"#, Weight::Full),
            (r#"{"q":"天気予報"}"#, Weight::Words),
            ("look here", Weight::Words),
            ("ls", Weight::Token),
            (r#"{"a":{"b":["x y"]}}"#, Weight::Words),
            (
                r#"{"thought":"I should look at the other page again, since the price is not on this one."}"#,
                Weight::Long,
            ),
        ] {
            assert_eq!(Weight::of_arguments(arguments), weight, "{arguments}");
        }
        let program = "for row in rows: print(row)\\n".repeat(40);
        assert_eq!(Weight::of_arguments(&format!(r#"{{"code":"{program}"}}"#)), Weight::Page);
        assert_eq!(Weight::of_text(&program), Weight::Page);
    }

    #[test]
    fn what_a_command_in_text_names() {
        for (command, weight) in [
            ("ls", Weight::Token),
            ("move north", Weight::Token),
            ("ACTION: move north", Weight::Token),
            ("Action: search the ledger", Weight::Words),
            ("take the lamp", Weight::Words),
            ("cat notes.txt", Weight::Place),
            ("a b: move north", Weight::Words),
            ("right(144)", Weight::Full),
        ] {
            assert_eq!(Weight::of_command(command), weight, "{command}");
        }
    }

    #[test]
    fn odd_arguments_do_no_harm() {
        for arguments in ["\"", "{\"", "{\"a\":\"\\", "{'é': 'ü", "1.", "\"\\\"", "{\"a\":\"{\\\"b\":1}"] {
            let _ = Weight::of_arguments(arguments);
        }
    }
}
