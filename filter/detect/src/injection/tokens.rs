//! A text as tokens: words that the rules know (by their digests), signs, ends of lines. It reads the text once, one
//! token at a time.

use super::{
    fold::{Folded, fold},
    source::{Source, plain_sign},
    token::{Nulls, Spelled, Start, Token},
    vocabulary::{self, CODE, EMPTY, NEWLINE, SIGN, STOP, UNKNOWN, Vocabulary, WORD, step},
    word::{Part, Plain, Word},
};

/// What stands in a sign's place for a word of a script without spaces.
pub const IDEOGRAPH: char = '\u{3007}';

/// Reads tokens from characters.
pub struct Tokens<'a> {
    chars: Source<'a>,
    known: &'static Vocabulary,
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
    /// The word that came last, which may go on in the next.
    broken: Option<Part<'a>>,
    pub nulls: Nulls,
}

impl<'a> Tokens<'a> {
    pub fn new(chars: Source<'a>) -> Self {
        Self {
            chars,
            known: vocabulary::get(),
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
            if self.word.is_none() {
                self.read_plain(tokens);
                if self.read_signs(tokens, most) {
                    continue;
                }
            }
            let Some(c) = self.chars.next() else {
                self.end_word(tokens);
                return false;
            };
            // The rest of a word that is not plain.
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

    /// Reads spaces, and a word that is plain, where there is one. What comes next ends it.
    #[inline]
    fn read_plain(&mut self, tokens: &mut Vec<Token>) {
        let ahead = self.chars.ahead();
        let spaces = ahead.bytes().take_while(|byte| *byte == b' ').count();
        if spaces > 0 {
            self.chars.pass(spaces);
            self.offset = self.offset.saturating_add(spaces);
            self.gap = self.gap.saturating_add(spaces);
            self.is_apart = true;
            self.ideograph = None;
        }
        let ahead = ahead.get(spaces..).unwrap_or_default();
        let Some(word) = Plain::of(ahead, self.chars.is_json()) else { return };
        self.chars.pass(word.text.len());
        let (start, gap, begun) = (self.start(), self.gap, self.broken.take());
        self.ideograph = None;
        self.offset = self.offset.saturating_add(word.text.len());
        self.word_has_begun();
        if self.is_spelled(word.letter(), gap, tokens) {
            return;
        }
        let known = self.known;
        let kinds = word.kinds(known);
        let whole = || begun.map_or(0, |begun| word.kinds_behind(begun, known));
        self.add_word(kinds, whole, Part::Plain(word.text), (start, word.is_loud()), tokens);
    }

    /// Reads signs and white space up to the next word; false where there are none. What may stand within a word, or is not
    /// ASCII, is read as one character like others.
    #[inline]
    fn read_signs(&mut self, tokens: &mut Vec<Token>, most: usize) -> bool {
        let is_json = self.chars.is_json();
        let ahead = self.chars.ahead().as_bytes();
        let mut at = 0_usize;
        while let Some((sign, length)) = plain_sign(ahead.get(at..).unwrap_or_default(), is_json) {
            self.ideograph = None;
            match sign {
                b'\n' => self.end_line(),
                b'\t' | b'\x0B' | b'\x0C' | b'\r' | b' ' => {
                    self.gap = self.gap.saturating_add(1);
                    self.is_apart = true;
                }
                _ => self.sign(char::from(sign), tokens),
            }
            self.offset = self.offset.saturating_add(1);
            at = at.saturating_add(length);
            if tokens.len() >= most {
                break;
            }
        }
        if at > 0 {
            self.chars.pass(at);
        }
        at > 0
    }

    fn word_has_begun(&mut self) {
        self.gap = 0;
        self.is_apart = false;
        self.begins_line = false;
    }

    fn start(&self) -> Start {
        Start { offset: self.offset, is_apart: self.is_apart, begins_line: self.begins_line }
    }

    fn read(&mut self, original: char, c: char, tokens: &mut Vec<Token>) {
        if c == '\0' {
            self.nulls.add(self.offset);
            return;
        }
        if is_ideograph(c) {
            if self.word.is_some() {
                self.end_word(tokens);
            }
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
        if self.word.is_some() {
            self.end_word(tokens);
        }
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
        let (broken, gap, start) = (self.broken, self.gap, self.start());
        let word = self.word.get_or_insert_with(|| Word::new(broken, gap, start));
        word.add(c, original.is_lowercase());
        self.word_has_begun();
    }

    fn end_word(&mut self, tokens: &mut Vec<Token>) {
        let Some(word) = self.word.take() else { return };
        self.broken = None;
        if self.is_spelled(word.letter(), word.gap, tokens) {
            return;
        }
        let known = self.known;
        let whole = || word.kinds_as_rest(known);
        self.add_word(word.kinds(known), whole, word.part(), (word.start, word.is_loud), tokens);
    }

    /// A word of these kinds; `whole`: what it is together with the word before.
    #[inline]
    fn add_word(
        &mut self,
        kinds: u64,
        whole: impl FnOnce() -> u64,
        part: Part<'a>,
        (start, is_loud): (Start, bool),
        tokens: &mut Vec<Token>,
    ) {
        if kinds != 0 {
            self.push(kinds | WORD, ' ', start, is_loud, tokens);
            return;
        }
        // The rest of a word that white space has cut in two.
        let whole = whole();
        if whole != 0
            && let Some(begun) = tokens.iter_mut().rev().find(|token| token.is(WORD))
            && begun.is(UNKNOWN)
        {
            begun.kinds = begun.kinds & !UNKNOWN | whole;
            return;
        }
        self.broken = Some(part);
        self.push(UNKNOWN | WORD, ' ', start, is_loud, tokens);
    }

    /// Whether a word is a letter of one that is spelled, and has become a part of it.
    #[inline]
    fn is_spelled(&mut self, letter: Option<char>, gap: usize, tokens: &mut Vec<Token>) -> bool {
        if let Some(letter) = letter {
            return self.spell(letter, gap, tokens);
        }
        (self.spelled, self.respelled) = (None, None);
        false
    }

    fn push(&mut self, kinds: u64, sign: char, start: Start, is_loud: bool, tokens: &mut Vec<Token>) {
        let code = if self.in_fence { CODE } else { 0 };
        let line = if std::mem::take(&mut self.is_new_line) { NEWLINE } else { 0 };
        let Start { offset, is_apart, begins_line } = start;
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
    fn spell(&mut self, letter: char, gap: usize, tokens: &mut Vec<Token>) -> bool {
        if gap > 1 {
            (self.spelled, self.respelled) = (None, None);
        }
        let new = Spelled { digest: EMPTY, letters: 0, begins: letter, ends: letter, first: tokens.len() };
        let longer = self.spelled.unwrap_or(new).with(letter);
        if longer.is_word(self.known) {
            self.spelled = Some(longer);
            self.respelled = None;
            return longer.put(self.known, tokens);
        }
        let next = self.respelled.unwrap_or(new).with(letter);
        if self.spelled.is_some() && next.is_word(self.known) {
            (self.spelled, self.respelled) = (Some(next), None);
            return next.put(self.known, tokens);
        }
        self.respelled = self.spelled.map(|_| next);
        self.spelled = Some(longer);
        false
    }

    fn read_ideograph(&mut self, c: char, tokens: &mut Vec<Token>) {
        if let Some(before) = self.ideograph {
            let kinds = self.known.kinds(step(step(EMPTY, before), c));
            if kinds != 0 {
                self.push(kinds | WORD, IDEOGRAPH, self.start(), false, tokens);
                self.ideograph = None;
                return;
            }
        }
        self.ideograph = Some(c);
        self.begins_line = false;
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
            let is_third = std::mem::replace(&mut last.repeats, true);
            // Three of them open or close a block.
            if c == '`' && is_third {
                self.fence(tokens);
            }
            return;
        }
        let kinds = match c {
            '.' | '!' | '?' | ';' => SIGN | STOP,
            _ => SIGN,
        };
        self.push(kinds, c, self.start(), false, tokens);
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

    /// The third sign of a fence.
    fn fence(&mut self, tokens: &mut [Token]) {
        let Some(last) = tokens.last_mut() else { return };
        if last.begins_line || self.in_fence {
            self.in_fence = !self.in_fence;
            last.kinds |= CODE;
        }
    }
}

/// A script without spaces between words.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x2FFF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF)
}
