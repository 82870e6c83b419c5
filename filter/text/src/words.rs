//! Splitting text into words. Scripts that write no spaces give one word for each character, so that a sentence in
//! Chinese is as long as one in English.

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

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let start = self
            .rest
            .find(|c: char| if c.is_ascii() { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() })?;
        let (_, from) = self.rest.split_at_checked(start)?;
        let first = from.chars().next()?;
        let len = if is_unspaced(first) {
            first.len_utf8()
        } else {
            from.find(|c: char| !is_word(c) || is_unspaced(c)).unwrap_or(from.len())
        };
        let (word, rest) = from.split_at_checked(len)?;
        self.rest = rest;
        Some(word)
    }
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || matches!(c, '\'' | '_')
    } else {
        c.is_alphanumeric() || c == '’'
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
