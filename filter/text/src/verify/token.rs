//! A text as tokens: words, numbers, quoted strings, code, signs that mean something. Nothing is understood here, and nothing
//! that could make a difference is lost.

use std::{collections::HashMap, sync::LazyLock};

/// What a token is by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Word,
    /// Begins with a digit.
    Number,
    /// Between quotation marks, more than one word.
    Quote,
    /// Between back-ticks, or an address.
    Code,
    /// An operator, a currency sign, anything that is no punctuation.
    Sign,
    /// The `'s` of a genitive.
    Genitive,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub shape: Shape,
    /// As written.
    pub raw: String,
    /// In lower case; code and quotes as they are.
    pub text: String,
    /// At the beginning of a sentence.
    pub is_first: bool,
    /// A comma or another mark of punctuation stands before it.
    pub after_break: bool,
}

impl Token {
    pub fn word(text: &str, like: &Self) -> Self {
        Self { shape: Shape::Word, raw: text.to_owned(), text: text.to_owned(), ..like.clone() }
    }

    pub fn is(&self, text: &str) -> bool {
        self.shape == Shape::Word && self.text == text
    }
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut reader =
        Reader { rest: text, before: ' ', found: Vec::new(), is_first: true, after_break: false };
    while reader.step() {}
    reader.found.into_iter().flat_map(expanded).collect()
}

struct Reader<'a> {
    rest: &'a str,
    before: char,
    found: Vec<Token>,
    is_first: bool,
    after_break: bool,
}

impl<'a> Reader<'a> {
    fn step(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else { return false };
        if c == '`' {
            let marks = if self.rest.starts_with("```") { "```" } else { "`" };
            if let Some(inner) = between(self.rest, marks, marks) {
                let taken = marks.len().saturating_mul(2).saturating_add(inner.len());
                self.add(Shape::Code, inner.trim(), taken);
                return true;
            }
        }
        if let Some((inner, taken)) = quoted(self.rest, c, self.before) {
            let is_one_word =
                inner.split_whitespace().count() <= 1 && inner.chars().all(char::is_alphanumeric);
            self.add(if is_one_word { Shape::Word } else { Shape::Quote }, inner.trim(), taken);
            return true;
        }
        if c.is_alphanumeric() || self.is_flag(c) {
            let len = self.word_len();
            let word = self.rest.get(..len).unwrap_or_default();
            let shape = if word.contains("://") {
                Shape::Code
            } else if c.is_ascii_digit() {
                Shape::Number
            } else {
                Shape::Word
            };
            self.add(shape, word, len);
            return true;
        }
        self.sign(c);
        true
    }

    /// `-r`, `--force`, `-5`: a minus that belongs to what follows.
    fn is_flag(&self, c: char) -> bool {
        let after = self.rest.trim_start_matches('-').chars().next();
        c == '-' && !self.before.is_alphanumeric() && after.is_some_and(char::is_alphanumeric)
    }

    fn word_len(&self) -> usize {
        let address = self.rest.split(char::is_whitespace).next().unwrap_or_default();
        if address.contains("://") {
            return address.len();
        }
        let mut chars = self.rest.char_indices().peekable();
        let mut before = ' ';
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, c)| *c);
            let joins = next.is_some_and(char::is_alphanumeric);
            let goes_on = c.is_alphanumeric()
                || c == '_'
                || c == '-' && (at == 0 || before == '-')
                || matches!(c, '\'' | '’' | '@') && joins && before.is_alphanumeric()
                || c == '.' && joins
                || c == ',' && before.is_ascii_digit() && next.is_some_and(|c| c.is_ascii_digit())
                || matches!(c, '+' | '#') && (before.is_alphabetic() || before == '+') && !joins;
            if !goes_on {
                return at;
            }
            before = c;
            if super::super::words::is_unspaced(c) {
                return at.saturating_add(c.len_utf8());
            }
        }
        self.rest.len()
    }

    fn sign(&mut self, c: char) {
        let next = self.rest.chars().nth(1).unwrap_or(' ');
        let joins_digits = self.before.is_ascii_digit() && next.is_ascii_digit();
        let is_spaced = self.before.is_whitespace() && next.is_whitespace();
        let says_something = match c {
            '-' | ':' | '/' | '*' => joins_digits && c != '-' || is_spaced && c != ':',
            '–' | '—' | '.' | ',' | ';' | '!' | '?' | '(' | ')' | '"' | '\'' | '’' | '‘' | '“' | '”'
            | '…' | '[' | ']' | '·' | '•' | '¿' | '¡' | '_' | '`' => false,
            _ => !c.is_whitespace() && !c.is_control(),
        };
        if says_something {
            self.add(Shape::Sign, &c.to_string(), c.len_utf8());
            return;
        }
        self.after_break |= matches!(c, ',' | ';' | ':' | '(' | ')' | '–' | '—') || c == '\n';
        if matches!(c, '.' | '!' | '?' | '\n') {
            (self.is_first, self.after_break) = (true, true);
        }
        self.take(c.len_utf8());
    }

    fn add(&mut self, shape: Shape, raw: &str, taken: usize) {
        let text = if shape == Shape::Code { raw.to_owned() } else { raw.to_lowercase() };
        let is_first = std::mem::take(&mut self.is_first);
        let after_break = std::mem::take(&mut self.after_break);
        self.found.push(Token { shape, raw: raw.to_owned(), text, is_first, after_break });
        self.take(taken);
    }

    fn take(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at_checked(bytes.max(1)).unwrap_or((self.rest, ""));
        self.before = taken.chars().next_back().unwrap_or(' ');
        self.rest = rest;
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    text.strip_prefix(open)?.split_once(close).map(|(inner, _)| inner)
}

/// What stands between quotation marks at the start of `text`, and how many bytes it takes.
fn quoted(text: &str, c: char, before: char) -> Option<(&str, usize)> {
    let close = match c {
        '"' => "\"",
        '“' | '„' => "”",
        '«' => "»",
        '‘' => "’",
        '\'' if !before.is_alphanumeric() => "'",
        _ => return None,
    };
    let mut open = [0; 4];
    let inner = between(text, c.encode_utf8(&mut open), close)?;
    let end = c.len_utf8().saturating_add(inner.len()).saturating_add(close.len());
    let after = text.get(end..)?.chars().next();
    let is_closed = c != '\'' || !after.is_some_and(char::is_alphanumeric);
    (!inner.trim().is_empty() && is_closed).then_some((inner, end))
}

/// Contractions in full, as tokens of their own.
fn expanded(token: Token) -> Vec<Token> {
    if token.shape != Shape::Word {
        return vec![token];
    }
    let text = token.text.replace('’', "'");
    let words = |words: &[&str]| -> Vec<Token> {
        let mut all: Vec<Token> = words.iter().map(|word| Token::word(word, &token)).collect();
        for later in all.iter_mut().skip(1) {
            (later.is_first, later.after_break) = (false, false);
        }
        all
    };
    if let Some(full) = full_form(&text) {
        return words(&full.split(' ').collect::<Vec<_>>());
    }
    if let Some(rest) = text.strip_suffix("n't") {
        return words(&[rest, "not"]);
    }
    for (ending, full) in [("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would"), ("'m", "am")] {
        if let Some(rest) = text.strip_suffix(ending) {
            return words(&[rest, full]);
        }
    }
    let owner = text.strip_suffix("'s");
    let Some(owner) = owner else { return vec![Token { text, ..token }] };
    let with_is =
        ["what", "who", "where", "when", "why", "how", "which", "that", "it", "there", "here", "he", "she"];
    if with_is.contains(&owner) {
        return words(&[owner, "is"]);
    }
    let raw = token.raw.get(..owner.len()).unwrap_or(owner).to_owned();
    let genitive = Token {
        shape: Shape::Genitive,
        raw: "'s".to_owned(),
        text: "'s".to_owned(),
        is_first: false,
        after_break: false,
    };
    vec![Token { text: owner.to_owned(), raw, ..token.clone() }, genitive]
}

/// Contractions that no rule takes apart, and what is written for others in a hurry.
const CONTRACTIONS: &str = "can't:can not;cannot:can not;won't:will not;shan't:shall not;ain't:is not;don't:do not;\
    doesn't:does not;didn't:did not;isn't:is not;aren't:are not;wasn't:was not;weren't:were not;couldn't:could not;\
    shouldn't:should not;wouldn't:would not;hasn't:has not;haven't:have not;hadn't:had not;mustn't:must not;what's:what is;\
    who's:who is;where's:where is;how's:how is;when's:when is;that's:that is;let's:let us;i'm:i am;i've:i have;\
    gonna:going to;wanna:want to;gotta:have to;gimme:give me;lemme:let me;pls:please;plz:please;thx:thanks;ur:your;\
    tho:though;cuz:because;bc:because;w/o:without";

/// The full form of a contraction, with its apostrophe or, where that makes no other word, without.
fn full_form(text: &str) -> Option<&'static str> {
    static FULL: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
        let entries = || CONTRACTIONS.split(';').filter_map(|entry| entry.split_once(':'));
        let without = entries()
            .map(|(short, full)| (short.replace('\'', ""), full))
            .filter(|(short, _)| short != "lets");
        without.chain(entries().map(|(short, full)| (short.to_owned(), full))).collect()
    });
    FULL.get(text).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_numbers_and_signs_are_told_apart() {
        assert_eq!(texts("What's 3.5 + 1,000 in C++?"), ["what", "is", "3.5", "+", "1,000", "in", "c++"]);
        assert_eq!(texts("-5 and --force on 10-12"), ["-5", "and", "--force", "on", "10", "12"]);
        assert_eq!(texts("log-in at a.b/c"), ["log", "in", "at", "a.b", "c"]);
        assert_eq!(texts("don't, can’t, dont"), ["do", "not", "can", "not", "do", "not"]);
        assert_eq!(texts("France's capital"), ["france", "'s", "capital"]);
    }

    #[test]
    fn quotes_and_code_stay_whole() {
        let shapes: Vec<(Shape, String)> = tokens("say \"Good Morning all\" to `Foo()` 'x' http://a.b/C?d")
            .into_iter()
            .map(|token| (token.shape, token.text))
            .filter(|(shape, _)| *shape != Shape::Word)
            .collect();
        assert_eq!(
            shapes,
            [
                (Shape::Quote, "good morning all".to_owned()),
                (Shape::Code, "Foo()".to_owned()),
                (Shape::Code, "http://a.b/C?d".to_owned()),
            ]
        );
        assert_eq!(texts("the users' 'open tickets' list"), ["the", "users", "open tickets", "list"]);
    }

    #[test]
    fn any_text_ends() {
        for text in ["", "'", "```", "\"\"", "“”", "'s", "🦀🦀", "--", "a'", "请继续"] {
            let _ = tokens(text);
        }
        assert_eq!(texts("请继续"), ["请", "继", "续"]);
    }
}
