//! A text as sentences of words. Only a plain text is read. One that holds anything but words, numbers and marks may be code, a table, verse
//! or a quotation, in which every character counts.

/// Bytes. A longer text equals only itself: rewordings are short, and a longer text holds material that counts to the letter.
const LONGEST: usize = 300;

pub(super) struct Sentence {
    /// Its words, numbers, commas and signs of percent.
    pub words: Vec<String>,
    /// The mark at its end.
    pub end: Option<char>,
}

/// The sentences of a plain text: one line, single spaces, and nothing but words, whole or decimal numbers, and one mark behind a word.
pub(super) fn read(text: &str) -> Option<Vec<Sentence>> {
    if text.len() > LONGEST {
        return None;
    }
    let text = text.replace('’', "'");
    let (mut sentences, mut words) = (Vec::new(), Vec::new());
    for piece in text.split(' ') {
        let bare = piece.strip_suffix([',', '.', '?', '!']).unwrap_or(piece);
        let percent = bare.strip_suffix('%').filter(|number| is_number(number));
        // "10." is a number in some languages, and "5!" is another number.
        let is_marked = |marks: &[char]| bare != piece && piece.ends_with(marks);
        if !is_word(bare) && (percent.is_none() && !is_number(bare) || is_marked(&['.', '!'])) {
            return None;
        }
        words.push(percent.unwrap_or(bare).to_owned());
        words.extend(percent.map(|_| "%".to_owned()));
        if is_marked(&[',']) {
            words.push(",".to_owned());
        } else if bare != piece {
            sentences.push(Sentence { words: std::mem::take(&mut words), end: piece.chars().next_back() });
        }
    }
    if !words.is_empty() {
        sentences.push(Sentence { words, end: None });
    }
    Some(sentences)
}

/// Letters, with apostrophes and hyphens inside. A single letter other than "a" and "I" is no word: it may be a value or a language.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(char::is_alphabetic)
        && text.ends_with(char::is_alphabetic)
        && text.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
        // "How many e's": the letter is meant.
        && !text.split_once(['\'', '’']).is_some_and(|(letter, _)| letter.chars().count() == 1 && !letter.eq_ignore_ascii_case("i"))
        && (text.chars().count() > 1 || matches!(text, "a" | "A" | "i" | "I"))
}

/// "5", "1,000", "2.5", "3rd".
fn is_number(text: &str) -> bool {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    let is_digit = |c: char| c.is_ascii_digit();
    digits.starts_with(is_digit)
        && digits.ends_with(is_digit)
        && digits.chars().all(|c| is_digit(c) || matches!(c, '.' | ','))
}

/// "Cats" and "NATO", but not "iPhone".
pub(super) fn is_capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

/// A word in lower case.
pub(super) fn is_plain(word: &str) -> bool {
    is_word(word) && !word.chars().any(char::is_uppercase)
}
