//! A text as tokens: words that the rules know (by their digests), signs, ends of lines. It reads the text once, one
//! token at a time.

use super::{
    Place,
    fold::{Folded, fold},
    vocabulary::{self, CLOSE_QUOTE, CODE, NEWLINE, QUOTE, SIGN, STOP, UNKNOWN, WORD},
};

/// Something that stands in a text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is: bits of `vocabulary`.
    pub kinds: u64,
    /// Bytes of the text before it.
    pub offset: usize,
    /// The sign; a space for a word.
    pub sign: char,
    /// White space stands before it.
    pub is_apart: bool,
    /// Nothing but white space and signs of lists stand before it in its line.
    pub begins_line: bool,
    /// All of its letters are capitals.
    pub is_loud: bool,
    /// A sign that stands there several times.
    pub repeats: bool,
}

impl Token {
    pub fn is(&self, kinds: u64) -> bool {
        self.kinds & kinds != 0
    }

    pub fn ends_sentence(&self) -> bool {
        self.is(STOP)
    }
}

/// FNV-1a: one character after the other, as they come.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

pub fn step(digest: u64, c: char) -> u64 {
    (digest ^ u64::from(u32::from(c))).wrapping_mul(0x0100_0000_01b3)
}

/// Null bytes of a text.
#[derive(Debug, Default)]
pub struct Nulls {
    pub first: usize,
    groups: usize,
    last: Option<usize>,
}

/// So many null bytes apart from each other are the separators of a list, or every second byte of UTF-16.
const DATA: usize = 4;

impl Nulls {
    fn add(&mut self, offset: usize) {
        if self.groups == 0 {
            self.first = offset;
        }
        if self.last.is_none() || self.last != offset.checked_sub(1) {
            self.groups = self.groups.saturating_add(1);
        }
        self.last = Some(offset);
    }

    pub fn are_suspicious(&self, place: Place) -> bool {
        self.groups > 0 && (place == Place::User || self.groups < DATA)
    }
}

/// A word that is being read.
#[derive(Debug)]
struct Word {
    digest: u64,
    /// With digits and signs read as the letters that they stand for, where there are such.
    disguised: u64,
    has_disguise: bool,
    has_letter: bool,
    /// With what the word before began with.
    continued: Option<u64>,
    last: char,
    /// White space before it (characters).
    gap: usize,
    is_loud: bool,
    length: usize,
    offset: usize,
    is_apart: bool,
    begins_line: bool,
}

impl Word {
    fn add(&mut self, c: char, is_lower: bool) {
        let meant = match c {
            'a'..='z' => c,
            '0' => 'o',
            '1' => 'i',
            '3' => 'e',
            '4' | '@' => 'a',
            '5' | '$' => 's',
            '7' => 't',
            other => other,
        };
        if meant != c && !self.has_disguise {
            (self.has_disguise, self.disguised) = (true, self.digest);
        }
        if self.has_disguise {
            self.disguised = step(self.disguised, meant);
        }
        self.digest = step(self.digest, c);
        self.continued = self.continued.map(|digest| step(digest, c));
        self.length = self.length.saturating_add(1);
        self.last = c;
        self.has_letter |= c.is_ascii_lowercase() || c.is_alphabetic();
        self.is_loud &= !is_lower;
    }
}

/// Longer words are none that anybody knows.
const MAX_WORD: usize = 24;
/// What stands in a sign's place for a word of a script without spaces.
pub const IDEOGRAPH: char = '\u{3007}';
/// Letters from which a word that is spelled is one.
const LEAST_SPELLED: usize = 3;

/// Where characters come from. One type, so that the module has the reader once.
pub enum Source<'a> {
    Plain(std::str::Chars<'a>),
    Json(JsonChars<'a>),
}

impl Iterator for Source<'_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        match self {
            Self::Plain(chars) => chars.next(),
            Self::Json(chars) => chars.next(),
        }
    }
}

/// Reads tokens from characters.
pub struct Tokens<'a> {
    chars: Source<'a>,
    offset: usize,
    word: Option<Word>,
    /// White space came last.
    is_apart: bool,
    begins_line: bool,
    /// Nothing has stood in the line.
    is_new_line: bool,
    /// Within a fenced block.
    in_fence: bool,
    /// The last two-letter sign was in a script without spaces.
    ideograph: Option<char>,
    /// Single letters that stand apart, `i g n o r e`; and those behind the last word that they made.
    spelled: Option<Spelled>,
    respelled: Option<Spelled>,
    /// White space that came last (characters).
    gap: usize,
    /// The word that a line ended with, which may go on in the next.
    broken: Option<u64>,
    pub nulls: Nulls,
}

/// A word that is spelled letter by letter.
#[derive(Clone, Copy, Debug)]
struct Spelled {
    digest: u64,
    letters: usize,
    /// Place of the first letter's token.
    first: usize,
}

impl Spelled {
    fn with(self, letter: char) -> Self {
        Self { digest: step(self.digest, letter), letters: self.letters.saturating_add(1), ..self }
    }

    fn is_word(self) -> bool {
        self.letters >= LEAST_SPELLED && vocabulary::kinds(self.digest) != 0
    }

    /// Puts the word in the letters' place.
    fn put(self, tokens: &mut Vec<Token>) -> bool {
        let Some(begun) = tokens.get(self.first).copied() else { return false };
        tokens.truncate(self.first);
        tokens.push(Token { kinds: vocabulary::kinds(self.digest) | WORD | begun.kinds & NEWLINE, ..begun });
        true
    }
}

impl<'a> Tokens<'a> {
    pub fn new(chars: Source<'a>) -> Self {
        Self {
            chars,
            offset: 0,
            word: None,
            is_apart: true,
            begins_line: true,
            is_new_line: true,
            in_fence: false,
            ideograph: None,
            spelled: None,
            respelled: None,
            gap: 0,
            broken: None,
            nulls: Nulls::default(),
        }
    }

    /// Reads until there are so many tokens; false where the text ended before.
    pub fn fill(&mut self, tokens: &mut Vec<Token>, most: usize) -> bool {
        while tokens.len() < most {
            let Some(c) = self.chars.next() else {
                self.end_word(tokens);
                return false;
            };
            // Most characters are letters of a word that has begun.
            if let (true, Some(word)) = (c.is_ascii_alphabetic(), &mut self.word) {
                word.add(c.to_ascii_lowercase(), c.is_ascii_lowercase());
                self.offset = self.offset.saturating_add(1);
                continue;
            }
            match fold(c) {
                Folded::One(folded) => self.read(c, folded, tokens),
                Folded::Two(first, second) => {
                    self.read(c, first, tokens);
                    self.read(c, second, tokens);
                }
                Folded::Nothing => {}
            }
            self.offset = self.offset.saturating_add(c.len_utf8());
        }
        true
    }

    /// The tokens have moved.
    pub fn forget_places(&mut self) {
        (self.spelled, self.respelled) = (None, None);
    }

    fn read(&mut self, original: char, c: char, tokens: &mut Vec<Token>) {
        if c == '\0' {
            self.nulls.add(self.offset);
            return;
        }
        if is_ideograph(c) {
            self.end_word(tokens);
            self.read_ideograph(c, tokens);
            return;
        }
        self.ideograph = None;
        if c.is_alphanumeric() || c == '_' || (matches!(c, '@' | '$') && self.word.is_some()) {
            self.read_letter(original, c);
            return;
        }
        // Within a word it belongs to it: `don't`.
        if c == '\'' && self.word.is_some() {
            return;
        }
        self.end_word(tokens);
        if c == '\n' {
            self.end_line();
        } else if c.is_whitespace() {
            self.gap = self.gap.saturating_add(1);
            self.is_apart = true;
        } else {
            self.sign(c, tokens);
        }
    }

    fn read_letter(&mut self, original: char, c: char) {
        let new = Word { continued: self.broken, is_loud: true, ..self.lone() };
        self.word.get_or_insert(new).add(c, original.is_lowercase());
        self.gap = 0;
        self.is_apart = false;
        self.begins_line = false;
    }

    fn end_word(&mut self, tokens: &mut Vec<Token>) {
        let Some(word) = self.word.take() else { return };
        self.broken = None;
        let mut kinds = if word.length <= MAX_WORD { vocabulary::kinds(word.digest) } else { 0 };
        if kinds == 0 && word.has_disguise && word.has_letter {
            kinds = vocabulary::kinds(word.disguised);
        }
        if word.length == 1 && word.has_letter {
            if self.spell(&word, tokens) {
                return;
            }
        } else {
            (self.spelled, self.respelled) = (None, None);
        }
        if kinds != 0 {
            self.push(kinds | WORD, ' ', &word, tokens);
            return;
        }
        // The rest of a word that white space has cut in two.
        let whole = word.continued.map_or(0, vocabulary::kinds);
        if whole != 0
            && let Some(begun) = tokens.iter_mut().rev().find(|token| token.is(WORD))
            && begun.is(UNKNOWN)
        {
            begun.kinds = begun.kinds & !UNKNOWN | whole;
            return;
        }
        self.broken = Some(word.digest);
        self.push(UNKNOWN | WORD, ' ', &word, tokens);
    }

    fn push(&mut self, kinds: u64, sign: char, word: &Word, tokens: &mut Vec<Token>) {
        let code = if self.in_fence { CODE } else { 0 };
        let line = if std::mem::take(&mut self.is_new_line) { NEWLINE } else { 0 };
        let Word { offset, is_apart, begins_line, is_loud, .. } = *word;
        tokens.push(Token {
            kinds: kinds | code | line,
            offset,
            sign,
            is_apart,
            begins_line,
            is_loud,
            repeats: false,
        });
    }

    /// Single letters that follow each other are a word, which takes the place of the letters. True where they are.
    fn spell(&mut self, word: &Word, tokens: &mut Vec<Token>) -> bool {
        if word.gap > 1 {
            (self.spelled, self.respelled) = (None, None);
        }
        let new = Spelled { digest: EMPTY, letters: 0, first: tokens.len() };
        let longer = self.spelled.unwrap_or(new).with(word.last);
        if longer.is_word() {
            self.spelled = Some(longer);
            self.respelled = None;
            return longer.put(tokens);
        }
        let next = self.respelled.unwrap_or(new).with(word.last);
        if self.spelled.is_some() && next.is_word() {
            (self.spelled, self.respelled) = (Some(next), None);
            return next.put(tokens);
        }
        self.respelled = self.spelled.map(|_| next);
        self.spelled = Some(longer);
        false
    }

    fn read_ideograph(&mut self, c: char, tokens: &mut Vec<Token>) {
        if let Some(before) = self.ideograph {
            let kinds = vocabulary::kinds(step(step(EMPTY, before), c));
            if kinds != 0 {
                let word = self.lone();
                self.push(kinds | WORD, IDEOGRAPH, &word, tokens);
                self.ideograph = None;
                return;
            }
        }
        self.ideograph = Some(c);
        self.begins_line = false;
    }

    fn lone(&self) -> Word {
        Word {
            digest: EMPTY,
            disguised: EMPTY,
            has_disguise: false,
            has_letter: false,
            continued: None,
            last: ' ',
            gap: self.gap,
            is_loud: false,
            length: 0,
            offset: self.offset,
            is_apart: self.is_apart,
            begins_line: self.begins_line,
        }
    }

    fn end_line(&mut self) {
        self.is_apart = true;
        self.begins_line = true;
        self.is_new_line = true;
        (self.spelled, self.respelled) = (None, None);
    }

    fn sign(&mut self, c: char, tokens: &mut Vec<Token>) {
        if !matches!(c, '-') {
            self.broken = None;
        }
        if let Some(last) = tokens.last_mut()
            && last.sign == c
            && !self.is_apart
        {
            last.repeats = true;
            // Three of them open or close a block.
            if c == '`' {
                self.fence(tokens);
            }
            return;
        }
        let kinds = match c {
            '.' | '!' | '?' | ';' => SIGN | STOP,
            '"' | '`' | '\'' => SIGN | QUOTE | if self.is_apart { 0 } else { CLOSE_QUOTE },
            _ => SIGN,
        };
        let word = self.lone();
        self.push(kinds, c, &word, tokens);
        let is_of_a_list = matches!(
            c,
            '-' | '*'
                | '#'
                | '>'
                | '"'
                | '\''
                | '('
                | '['
                | '<'
                | '|'
                | '='
                | '/'
                | '!'
                | '+'
                | '~'
                | '_'
                | '`'
        );
        self.begins_line &= is_of_a_list;
        self.is_apart = false;
    }

    /// The third sign of a fence; the token counts how many there were by its bits.
    fn fence(&mut self, tokens: &mut [Token]) {
        let Some(last) = tokens.last_mut() else { return };
        if last.kinds & vocabulary::FENCE == 0 {
            last.kinds |= vocabulary::FENCE;
        } else if last.begins_line || self.in_fence {
            self.in_fence = !self.in_fence;
            last.kinds |= CODE;
        }
    }
}

/// A script without spaces between words.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x2FFF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF)
}

/// The characters in the strings of a JSON text; between two strings is the end of a line.
pub struct JsonChars<'a> {
    chars: std::str::Chars<'a>,
    in_string: bool,
}

impl<'a> JsonChars<'a> {
    pub fn new(json: &'a str) -> Self {
        Self { chars: json.chars(), in_string: false }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' | 'f' => ' ',
            'u' => {
                let unit = self.unit()?;
                if !(0xD800..0xDC00).contains(&unit) {
                    return Some(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                let rest = self.chars.as_str();
                let Some(low) =
                    rest.strip_prefix("\\u").and_then(hex).filter(|low| (0xDC00..0xE000).contains(low))
                else {
                    return Some(char::REPLACEMENT_CHARACTER);
                };
                self.chars = rest.get(6..).unwrap_or_default().chars();
                let code = ((unit & 0x3FF) << 10 | (low & 0x3FF)).wrapping_add(0x1_0000);
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        })
    }

    fn unit(&mut self) -> Option<u32> {
        let unit = hex(self.chars.as_str())?;
        self.chars = self.chars.as_str().get(4..).unwrap_or_default().chars();
        Some(unit)
    }
}

fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.get(..4)?, 16).ok()
}

impl Iterator for JsonChars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        while !self.in_string {
            self.in_string = self.chars.next()? == '"';
        }
        match self.chars.next()? {
            '"' => {
                self.in_string = false;
                Some('\n')
            }
            '\\' => self.escape(),
            other => Some(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strings_of_json_are_read_with_their_escapes() {
        let read = |json: &str| JsonChars::new(json).collect::<String>();
        assert_eq!(read(r#""a\n\"b\u0041\ud83d\ude00""#), "a\n\"bA😀\n");
        assert_eq!(read(r#"{"k":["v",7,"\ud800x"]}"#), "k\nv\n\u{fffd}x\n");
        assert_eq!(read(r#""cut \u00"#), "cut ");
        assert_eq!(read("7"), "");
    }
}
