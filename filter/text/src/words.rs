//! Splits text into words. In scripts without spaces, each character is a word, so that a sentence in Chinese is as long as one in English.

/// The words of `text` in order, punctuation left out, case kept.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    Words { rest: text }
}

/// How many words `text` has; two characters of an unspaced script count as one.
pub fn count(text: &str) -> usize {
    let (mut spaced, mut unspaced) = (0_usize, 0_usize);
    for word in words(text) {
        let counter = if word.chars().next().is_some_and(is_unspaced) { &mut unspaced } else { &mut spaced };
        *counter = counter.saturating_add(1);
    }
    spaced.saturating_add(unspaced.div_ceil(2))
}

struct Words<'a> {
    rest: &'a str,
}

/// The classes of a byte. Most of what agents write is ASCII, where the byte shows everything.
const STARTS: u8 = 1;
const ENDS: u8 = 2;
/// A part of a character that is not ASCII.
const WIDE: u8 = 4;
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [WIDE; 256];
    let (ascii, _) = classes.split_at_mut(128);
    let mut rest = ascii;
    let mut byte = 0_u8;
    while let [class, after @ ..] = rest {
        *class = match byte {
            b'\'' | b'_' => 0,
            _ if byte.is_ascii_alphanumeric() => STARTS,
            _ => ENDS,
        };
        byte = byte.wrapping_add(1);
        rest = after;
    }
    classes
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.rest.as_bytes();
        let is =
            |byte: &u8, class: u8| CLASSES.get(usize::from(*byte)).is_some_and(|known| known & class != 0);
        let start = bytes.iter().position(|byte| is(byte, STARTS | WIDE))?;
        let word = bytes.get(start..)?;
        let length = word.iter().position(|byte| is(byte, ENDS | WIDE)).unwrap_or(word.len());
        // Most words and what follows them are ASCII.
        if length == 0 || word.get(length).is_some_and(|after| !after.is_ascii()) {
            return self.next_of_any();
        }
        let end = start.saturating_add(length);
        let word = self.rest.get(start..end)?;
        self.rest = self.rest.get(end..)?;
        Some(word)
    }
}

impl<'a> Words<'a> {
    /// The next word, if not all of it is ASCII.
    #[inline(never)]
    fn next_of_any(&mut self) -> Option<&'a str> {
        let (start, first) = self.find_from(0, STARTS, char::is_alphanumeric)?;
        let after = start.saturating_add(first.len_utf8());
        let end = if is_unspaced(first) {
            after
        } else {
            let is_end = |c: char| !(c.is_alphanumeric() || c == '\u{2019}') || is_unspaced(c);
            self.find_from(after, ENDS, is_end).map_or(self.rest.len(), |(at, _)| at)
        };
        let word = self.rest.get(start..end)?;
        self.rest = self.rest.get(end..)?;
        Some(word)
    }

    /// The first wanted character from `at` on, and its place. ASCII characters are checked by their class.
    fn find_from(&self, mut at: usize, class: u8, is_wanted: impl Fn(char) -> bool) -> Option<(usize, char)> {
        let is_stop =
            |byte: &u8| CLASSES.get(usize::from(*byte)).is_some_and(|known| known & (class | WIDE) != 0);
        loop {
            let rest = self.rest.as_bytes().get(at..)?;
            at = at.saturating_add(rest.iter().position(is_stop)?);
            let c = self.rest.get(at..)?.chars().next()?;
            if c.is_ascii() || is_wanted(c) {
                return Some((at, c));
            }
            at = at.saturating_add(c.len_utf8());
        }
    }
}

/// Han, kana, hangul syllables excepted (Korean writes spaces), Thai, Lao, Khmer, Myanmar.
fn is_unspaced(c: char) -> bool {
    !c.is_ascii()
        && matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2FA1F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_spaces_and_punctuation() {
        let found: Vec<_> = words("Don't stop, order_17 -- now!").collect();
        assert_eq!(found, ["Don't", "stop", "order_17", "now"]);
    }

    #[test]
    fn unspaced_scripts_give_a_word_a_character() {
        let found: Vec<_> = words("请继续 ok三").collect();
        assert_eq!(found, ["请", "继", "续", "ok", "三"]);
    }

    #[test]
    fn nothing_but_signs_has_no_words() {
        assert_eq!(words("?! … 😀\u{0}").count(), 0);
    }
}
