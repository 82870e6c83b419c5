//! A text as words, marks, and everything else as it stands. Nothing is understood here, and nothing is lost.

use super::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, with apostrophes and hyphens inside.
    Word,
    /// A full stop, comma, question or exclamation mark behind a word.
    Mark,
    /// Numbers, quotations, code, signs: to the letter.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub text: String,
    /// It begins a sentence.
    pub is_first: bool,
}

impl Token {
    pub fn word(text: &str) -> Self {
        Self { kind: Kind::Word, text: text.to_owned(), is_first: false }
    }

    pub fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Other
    }

    pub fn is_mark(&self) -> bool {
        self.kind == Kind::Mark
    }

    /// A word in lower case.
    pub fn is_plain(&self) -> bool {
        self.kind == Kind::Word && !self.text.chars().any(char::is_uppercase)
    }

    pub fn is_capital(&self) -> bool {
        self.kind == Kind::Word && self.text.chars().next().is_some_and(char::is_uppercase)
    }
}

pub(super) struct Text {
    pub tokens: Vec<Token>,
    /// From a colon, a line break or other white space that may say something: as it stands.
    pub given: String,
    /// The text may be about how something is written, so its words must not be changed.
    pub is_about_words: bool,
}

impl Text {
    /// Returns `None` for a text that must be compared as it stands: with control or invisible characters, or without a word.
    pub fn read(text: &str) -> Option<Self> {
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r') || is_invisible(c)) {
            return None;
        }
        let mut reader = Reader { tokens: Vec::new(), rest: text.trim_matches(' '), is_first: true };
        while reader.step() {}
        let Reader { tokens, rest, .. } = reader;
        let is_about_words = tokens
            .iter()
            .enumerate()
            .any(|(at, token)| says_something_about_words(token) && !is_lost(&tokens, at));
        let has_word = tokens.iter().any(|token| token.kind == Kind::Word);
        has_word.then(|| Self { tokens, given: rest.to_owned(), is_about_words })
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Brackets and operators make code of what stands around them.
fn says_something_about_words(token: &Token) -> bool {
    let is_code = || token.text.contains(|c: char| "()[]{}<>|=*^~\\_#@;/".contains(c));
    match token.kind {
        Kind::Word => words::are_about_words(&token.text),
        Kind::Other => is_code(),
        Kind::Mark => false,
    }
}

/// "Reset my password", "I forgot the password of my account": it says nothing of what the password is, as "reset the password to" does.
pub(super) fn is_lost(tokens: &[Token], at: usize) -> bool {
    let is = |at: Option<usize>, list: &str| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| is_any_of(token, list))
    };
    is(Some(at), "password username")
        && is(at.checked_sub(1), "my the a")
        && is(at.checked_sub(2), "reset change forgot recover update")
        && at
            .checked_add(1)
            .and_then(|next| tokens.get(next))
            .is_none_or(|next| next.is_mark() || is_any_of(next, "of for on"))
        && tokens.iter().enumerate().all(|(other, token)| other == at || !says_something_about_words(token))
}

struct Reader<'a> {
    tokens: Vec<Token>,
    rest: &'a str,
    is_first: bool,
}

impl<'a> Reader<'a> {
    /// Reads one piece up to a space. Returns `false` at the end, or where the rest is material.
    fn step(&mut self) -> bool {
        if self.rest.is_empty() || self.rest.starts_with(char::is_whitespace) {
            return false;
        }
        let Some(piece) = self.piece() else { return false };
        // Single spaces part words; any other white space may say something.
        let after = self.rest.get(piece.len()..).unwrap_or_default();
        let next = after.strip_prefix(' ').unwrap_or(after);
        self.rest = next;
        // "Quick question: ..." announces a question, and no material. "Check this question: ..." gives one.
        let announced = piece.strip_suffix(':').filter(|word| word.eq_ignore_ascii_case("question"));
        if let Some(question) = announced.filter(|_| self.tokens.iter().all(opens_a_talk)) {
            self.add(&format!("{question},"));
            self.is_first = true;
            return true;
        }
        self.add(piece);
        !piece.ends_with(':')
    }

    /// A quotation with its marks, or what stands before the next white space. `None` where a quotation does not end.
    fn piece(&self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        let close = match first {
            '"' | '`' | '\'' => first,
            '“' | '„' => '”',
            '‘' => '’',
            '«' => '»',
            _ => return self.rest.split(char::is_whitespace).next(),
        };
        let ends = |(at, _): &(usize, &str)| {
            let after = self.rest.get(at.saturating_add(close.len_utf8())..).unwrap_or_default();
            after.trim_start_matches(['.', ',', '?', '!']).chars().next().is_none_or(char::is_whitespace)
        };
        let (at, _) = self.rest.match_indices(close).skip_while(|(at, _)| *at == 0).find(ends)?;
        let end = at.saturating_add(close.len_utf8());
        let marks =
            self.rest.get(end..)?.find(char::is_whitespace).unwrap_or(self.rest.len().saturating_sub(end));
        self.rest.get(..end.saturating_add(marks))
    }

    fn add(&mut self, piece: &str) {
        let bare = piece.trim_end_matches(['.', ',', '?', '!']);
        let marks = piece.get(bare.len()..).unwrap_or_default();
        // "5!" is a factorial, "a." may be a pattern.
        let is_one_letter =
            bare.chars().count() == 1 && !matches!(bare, "I" | "i") && !bare.chars().all(char::is_numeric);
        let is_pattern = is_one_letter && !(marks == "?" && bare.chars().all(char::is_uppercase));
        let is_marked = !marks.starts_with('!') || bare.ends_with(char::is_alphabetic);
        let ends_as_word = bare.ends_with(|c: char| c.is_alphanumeric() || "'\"`”’»%+#".contains(c));
        // "How do I type ?" asks about the sign. French puts a space before it.
        let is_french = |first: &Token| words::is_in("questions_elsewhere", &first.text.to_lowercase());
        let (text, marks) = if matches!(piece, "?" | "!") && self.tokens.first().is_some_and(is_french) {
            ("", piece)
        } else if !marks.is_empty() && (!is_marked || !ends_as_word || is_pattern) {
            (piece, "")
        } else {
            (bare, marks)
        };
        if !text.is_empty() {
            let kind = if is_word(text) { Kind::Word } else { Kind::Other };
            let is_first = std::mem::take(&mut self.is_first);
            self.tokens.push(Token { kind, text: text.to_owned(), is_first });
        }
        for mark in marks.chars() {
            self.is_first = mark != ',';
            self.tokens.push(Token { kind: Kind::Mark, text: mark.to_string(), is_first: false });
        }
    }
}

/// Whether it is a word of this list, in small letters or capitals.
pub(super) fn is_any_of(token: &Token, list: &str) -> bool {
    list.split(' ').any(|word| token.text.eq_ignore_ascii_case(word))
}

/// "Hi, I have a quick question".
fn opens_a_talk(token: &Token) -> bool {
    const OPENING: &str = "hi hello hey there sorry excuse me so ok okay um quick simple one i have a just";
    token.is_mark() || is_any_of(token, OPENING)
}

fn is_word(text: &str) -> bool {
    text.starts_with(char::is_alphabetic)
        && text.ends_with(char::is_alphabetic)
        && text.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
}
