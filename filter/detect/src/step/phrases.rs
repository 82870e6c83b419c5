//! What short results say in languages other than English: that something waits, is done, or that there is
//! nothing new. Results are short, so a few words of each language do.

use sentinel_text::words;

use super::known::WordShapes;
use crate::words::{
    chinese, english, french, german, italian, japanese, korean, others, portuguese, russian, spanish,
};

/// Longer texts are not looked at (bytes).
pub(super) const MOST: usize = 400;
/// A user's text may be longer (bytes). An even longer one tells of many things.
const MOST_ASKED: usize = 1_200;
/// More words of a text are not looked at.
const WORDS: usize = 200;

/// What a phrase says of the text that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Waits,
    Done,
    NothingNew,
    /// The user wants something that may take any number of repetitions.
    OpenEnded,
    /// The failure may pass by itself.
    Passes,
}

/// A list of each language.
type Lists = &'static [&'static [&'static str]];

impl Says {
    /// In languages that put spaces between words.
    fn spaced(self) -> &'static Phrases {
        static WAITS: Phrases = Phrases::of(&[
            german::WAITS,
            french::WAITS,
            spanish::WAITS,
            portuguese::WAITS,
            italian::WAITS,
            russian::WAITS,
            others::WAITS,
        ]);
        static DONE: Phrases = Phrases::of(&[
            german::DONE,
            french::DONE,
            spanish::DONE,
            portuguese::DONE,
            italian::DONE,
            russian::DONE,
            others::DONE,
        ]);
        static NOTHING_NEW: Phrases = Phrases::of(&[
            german::NOTHING_NEW,
            french::NOTHING_NEW,
            spanish::NOTHING_NEW,
            russian::NOTHING_NEW,
            others::NOTHING_NEW,
        ]);
        static OPEN_ENDED: Phrases = Phrases::of(&[
            english::OPEN_ENDED,
            german::OPEN_ENDED,
            french::OPEN_ENDED,
            spanish::OPEN_ENDED,
            portuguese::OPEN_ENDED,
            italian::OPEN_ENDED,
            russian::OPEN_ENDED,
            others::OPEN_ENDED,
        ]);
        static PASSES: Phrases = Phrases::of(&[english::WAITS, english::PASSES]);
        match self {
            Self::Passes => &PASSES,
            Self::Waits => &WAITS,
            Self::Done => &DONE,
            Self::NothingNew => &NOTHING_NEW,
            Self::OpenEnded => &OPEN_ENDED,
        }
    }

    /// In languages that put none, and in Korean.
    const fn unspaced(self) -> Lists {
        match self {
            Self::Passes => &[],
            Self::Waits => &[chinese::WAITS, japanese::WAITS, korean::WAITS],
            Self::Done => &[chinese::DONE, japanese::DONE, korean::DONE],
            Self::NothingNew => &[chinese::NOTHING_NEW, japanese::NOTHING_NEW],
            Self::OpenEnded => &[chinese::OPEN_ENDED, japanese::OPEN_ENDED, korean::OPEN_ENDED],
        }
    }
}

/// Whether a short text has a phrase that says so.
pub(super) fn says(text: &str, wanted: Says) -> bool {
    if text.len() > if wanted == Says::OpenEnded { MOST_ASKED } else { MOST } {
        return false;
    }
    let is_unspaced = |byte: u8| (0xE3..=0xED).contains(&byte);
    if !text.is_ascii() && text.bytes().any(is_unspaced) {
        return wanted.unspaced().iter().copied().flatten().any(|phrase| text.contains(phrase));
    }
    let phrases = wanted.spaced();
    let mut before = "";
    words(text).take(WORDS).any(|word| phrases.ends_with(word, std::mem::replace(&mut before, word)))
}

/// Phrases of one or two words.
pub(super) struct Phrases {
    lists: Lists,
    /// The shapes of the last words.
    marks: WordShapes,
}

impl Phrases {
    pub const fn of(lists: Lists) -> Self {
        let (mut marks, mut rest) = (WordShapes::NONE, lists);
        while let [list, after @ ..] = rest {
            let mut phrases = *list;
            while let [phrase, others @ ..] = phrases {
                marks = marks.with(split(phrase).1);
                phrases = others;
            }
            rest = after;
        }
        Self { lists, marks }
    }

    /// Whether one of them ends with the word, behind the one before it.
    pub fn ends_with(&self, word: &str, before: &str) -> bool {
        // What is not ASCII may be another number of bytes in lower case.
        (self.marks.may_have(word) || !word.is_ascii()) && self.has(word, before)
    }

    #[inline(never)]
    fn has(&self, word: &str, before: &str) -> bool {
        let end = word.as_bytes().last().copied().unwrap_or_default();
        let ends_alike =
            |phrase: &str| phrase.as_bytes().last().is_some_and(|last| last.eq_ignore_ascii_case(&end));
        let is_ascii = word.is_ascii();
        // Most phrases do not even end with the same letter.
        self.lists.iter().copied().flatten().any(|phrase| {
            if is_ascii && !ends_alike(phrase) {
                return false;
            }
            let (first, last) = split(phrase);
            is_word(last, word) && (first.is_empty() || is_word(first, before))
        })
    }
}

/// The first word of a phrase, empty where it has but one, and the last one.
const fn split(phrase: &str) -> (&str, &str) {
    let mut at = 0_usize;
    let mut rest = phrase.as_bytes();
    while let [byte, after @ ..] = rest {
        if *byte == b' '
            && let (Some((first, _)), Some((_, last))) =
                (phrase.split_at_checked(at), phrase.split_at_checked(at.saturating_add(1)))
        {
            return (first, last);
        }
        (at, rest) = (at.saturating_add(1), after);
    }
    ("", phrase)
}

/// Whether a word in lower case equals one in any case, character by character, so that a sigma at the end of a word is no special case.
fn is_word(known: &str, word: &str) -> bool {
    if word.is_ascii() {
        return known.eq_ignore_ascii_case(word);
    }
    // The dot of a Turkish capital I becomes a character of its own.
    known.chars().eq(word.chars().flat_map(char::to_lowercase).filter(|c| *c != '\u{307}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_results_in_other_languages() {
        for (text, says_so) in [
            ("Der Auftrag läuft noch.", Some(Says::Waits)),
            ("Der Auftrag ist noch nicht da", Some(Says::Waits)),
            (r#"{"status":"in Bearbeitung"}"#, Some(Says::Waits)),
            ("Le traitement est en cours.", Some(Says::Waits)),
            ("El trabajo está en curso.", Some(Says::Waits)),
            ("Em andamento", Some(Says::Waits)),
            ("Задание ещё ВЫПОЛНЯЕТСЯ.", Some(Says::Waits)),
            ("任务仍在处理中,请稍候。", Some(Says::Waits)),
            ("処理中です。しばらくお待ちください。", Some(Says::Waits)),
            ("진행 중", Some(Says::Waits)),
            ("İşleniyor", Some(Says::Waits)),
            ("Erledigt.", Some(Says::Done)),
            ("C'est fait.", Some(Says::Done)),
            ("Il fait beau", None),
            ("点击成功", Some(Says::Done)),
            ("Fehler: Zeitüberschreitung nach 3 s", None),
            ("エラーが発生しました", None),
            ("Keine neuen Nachrichten", Some(Says::NothingNew)),
            ("Paris ist die Hauptstadt von Frankreich", None),
            ("巴黎是法国的首都", None),
        ] {
            for one in [Says::Waits, Says::Done, Says::NothingNew] {
                assert_eq!(says(text, one), says_so == Some(one), "{text}: {one:?}");
            }
        }
    }

    #[test]
    fn phrases_are_in_lower_case_and_of_two_words_at_most() {
        for wanted in [Says::Waits, Says::Done, Says::NothingNew, Says::OpenEnded] {
            for phrase in wanted.spaced().lists.iter().copied().flatten() {
                assert!(phrase.to_lowercase() == *phrase && words(phrase).count() <= 2, "{phrase}");
                assert!(says(&phrase.to_uppercase(), wanted), "{phrase}");
            }
        }
    }

    #[test]
    fn long_texts_are_not_looked_at() {
        assert!(!says(&format!("Erledigt {}", "wort ".repeat(100)), Says::Done));
    }
}
