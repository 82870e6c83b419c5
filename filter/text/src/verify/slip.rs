//! Slips of the typist: a word that no dictionary has, one slip away from a word of the other text, is that word. Never so
//! where both are words: "causal" is not "casual".

use super::token::{Shape, Token};

/// Words are mended in a question even where the other text has other small words.
const SMALL: &str = "what which where when who how why the does is are can could please explain tell describe that this with from about";
/// A shorter word of content is one slip away from too many others.
const SHORTEST: usize = 4;

const KEYBOARD: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/// `tokens` with slips mended. `is_known`: whether a word is one, as far as the caller's vocabulary goes.
pub(super) fn mended(tokens: Vec<Token>, other: &[Token], is_known: &dyn Fn(&str) -> bool) -> Vec<Token> {
    let is_known = |word: &str| {
        let stems = ["s", "es", "d", "ed", "ing", "er", "ly"]
            .iter()
            .filter_map(|ending| word.strip_suffix(ending).map(str::to_owned));
        let plural = word.strip_suffix("ies").map(|rest| format!("{rest}y"));
        is_known(word) || stems.chain(plural).any(|stem| stem.len() > 3 && is_known(&stem))
    };
    let is_slip = |token: &Token| {
        token.shape == Shape::Word
            && token.text.len() > 2
            && token.text.bytes().all(|byte| byte.is_ascii_lowercase())
            && !other.iter().any(|other| other.text == token.text)
            && !is_known(&token.text)
    };
    let meant = |token: &Token| -> Option<String> {
        let of_other = other
            .iter()
            .filter(|other| {
                other.shape == Shape::Word && other.text.len() >= SHORTEST && is_known(&other.text)
            })
            .map(|other| other.text.as_str());
        let small = SMALL.split_ascii_whitespace();
        of_other.chain(small).find(|word| is_one_slip(&token.text, word)).map(str::to_owned)
    };
    tokens
        .into_iter()
        .map(|token| match is_slip(&token).then(|| meant(&token)).flatten() {
            Some(text) => Token { text, ..token },
            None => token,
        })
        .collect()
}

/// Two neighbours exchanged, a letter left out or one too many inside the word, or the next key. What changes the first letter,
/// or adds to the end, is another word.
fn is_one_slip(written: &str, meant: &str) -> bool {
    let (written, meant) = (written.as_bytes(), meant.as_bytes());
    let same_start = written.iter().zip(meant).take_while(|(a, b)| a == b).count();
    let (a, b) = (written.get(same_start..).unwrap_or_default(), meant.get(same_start..).unwrap_or_default());
    match (a, b) {
        ([x, y, rest @ ..], [v, w, others @ ..]) if x == w && y == v && rest == others => true,
        _ if same_start == 0 => false,
        ([_, rest @ ..], [_, _, ..]) if rest == b && !rest.is_empty() => true,
        ([_, _, ..] | [_], [_, others @ ..]) if a == others && !a.is_empty() => true,
        ([x, rest @ ..], [y, others @ ..]) => rest == others && !rest.is_empty() && are_neighbours(*x, *y),
        _ => false,
    }
}

fn are_neighbours(x: u8, y: u8) -> bool {
    KEYBOARD.iter().any(|row| row.as_bytes().windows(2).any(|pair| pair == [x, y] || pair == [y, x]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_told_from_other_words() {
        for (written, meant) in [
            ("teh", "the"),
            ("captial", "capital"),
            ("capitl", "capital"),
            ("capittal", "capital"),
            ("frnace", "france"),
            ("pyhton", "python"),
            ("hwo", "how"),
            ("passwird", "password"),
        ] {
            assert!(is_one_slip(written, meant), "{written} {meant}");
        }
        for (written, meant) in [
            ("absorb", "adsorb"),
            ("sulfite", "sulfate"),
            ("legal", "illegal"),
            ("plan", "plane"),
            ("cats", "cat"),
            ("hypotension", "hypertension"),
            ("same", "same"),
            ("ox", "x"),
        ] {
            assert!(!is_one_slip(written, meant), "{written} {meant}");
        }
    }
}
