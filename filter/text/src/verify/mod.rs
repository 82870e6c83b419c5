//! Whether the answer to one text may serve another that lies near it: what speaks against it. Embeddings put opposites side by
//! side ("with", "without"; "from A to B", "from B to A"; 15 and 50), so a semantic cache has to look at the words.
//!
//! The rules are about shape and about the small words of English; no word of content has a rule of its own. Everything that
//! one text says and the other does not speaks against it, unless it is courtesy, another inflection or a word that asks for the
//! same. So what no rule understands is not served, and of texts in other languages only repetitions are. Linear in both texts
//! but for the comparison of their words, which is bounded.

mod content;
mod equivalents;
mod language;
mod lists;
mod number;
mod order;
mod question;
mod reading;
mod slip;
mod token;

use std::fmt;

use self::{language::is_english, number::with_numbers, reading::Reading, token::tokens};

/// Longer texts than this, in bytes, have to be the same: rewordings are short, and what is pasted into a prompt is its matter.
const LONGEST: usize = 1_000;

/// Why the answer to one text may not serve another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contradiction {
    /// The texts are long, and not the same.
    Length,
    /// One is no English, and they are not the same; or they ask for answers in other languages.
    Language,
    Number,
    Unit,
    Date,
    /// Yesterday and tomorrow, before and after; was and will be.
    Time,
    Quote,
    Code,
    Sign,
    Name,
    Negation,
    Quantity,
    Comparison,
    /// The same words in other relations to each other.
    Direction,
    /// Another kind of question, or another one inside.
    Question,
    /// Should, must, may.
    Modality,
    /// Mine, yours, his, hers.
    Person,
    Format,
    /// A word of content that only one of them has.
    Matter,
}

impl Contradiction {
    pub const ALL: [Self; 19] = [
        Self::Length,
        Self::Language,
        Self::Number,
        Self::Unit,
        Self::Date,
        Self::Time,
        Self::Quote,
        Self::Code,
        Self::Sign,
        Self::Name,
        Self::Negation,
        Self::Quantity,
        Self::Comparison,
        Self::Direction,
        Self::Question,
        Self::Modality,
        Self::Person,
        Self::Format,
        Self::Matter,
    ];

    /// As it stands in records and labels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Language => "language",
            Self::Number => "number",
            Self::Unit => "unit",
            Self::Date => "date",
            Self::Time => "time",
            Self::Quote => "quote",
            Self::Code => "code",
            Self::Sign => "sign",
            Self::Name => "name",
            Self::Negation => "negation",
            Self::Quantity => "quantity",
            Self::Comparison => "comparison",
            Self::Direction => "direction",
            Self::Question => "question",
            Self::Modality => "modality",
            Self::Person => "person",
            Self::Format => "format",
            Self::Matter => "matter",
        }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// All that speaks against giving the answer to `a` to who asks `b`, and the other way round; nothing where none does. Each
/// reason once, in the order of [`Contradiction::ALL`]. `is_known`: whether a word in lower case is one, as far as a vocabulary
/// goes; slips of the typist are mended only where it knows.
pub fn contradictions(a: &str, b: &str, is_known: &dyn Fn(&str) -> bool) -> Vec<Contradiction> {
    if a == b {
        return Vec::new();
    }
    if a.len().max(b.len()) > LONGEST {
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        return if folded(a) == folded(b) { Vec::new() } else { vec![Contradiction::Length] };
    }
    if payload(a) != payload(b) {
        return vec![Contradiction::Quote];
    }
    let (a, b) = (tokens(a), tokens(b));
    let is_same =
        a.iter().map(|token| (token.shape, &token.text)).eq(b.iter().map(|token| (token.shape, &token.text)));
    if !(is_english(&a) && is_english(&b)) {
        return if is_same { Vec::new() } else { vec![Contradiction::Language] };
    }
    let (a, b) = (slip::mended(a.clone(), &b, is_known), slip::mended(b, &a, is_known));
    let (a, b) = (content::joined(a.clone(), &b), content::joined(b, &a));
    let (a, b) = (with_numbers(a), with_numbers(b));
    let mut found = compare(&Reading::of(&a), &Reading::of(&b), is_same);
    found.sort_unstable();
    found.dedup();
    found
}

/// What is given to be worked on: all that follows a colon or the first line, unless nothing but courtesy stands before it.
fn payload(text: &str) -> Option<Vec<String>> {
    let end = [": ", ":\n", "\n"].iter().filter_map(|mark| text.find(mark)).min()?;
    let (head, given) = text.split_at_checked(end)?;
    let given: Vec<String> = tokens(given).into_iter().map(|token| token.text).collect();
    (!given.is_empty() && !question::only_asks(&tokens(head))).then_some(given)
}

fn compare(a: &Reading, b: &Reading, is_same: bool) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let mut object = |objects: bool, why| {
        if objects {
            found.push(why);
        }
    };
    object(!a.kind.agrees(b.kind), Contradiction::Question);
    object(!a.tense.agrees(b.tense), Contradiction::Time);
    let are_how_to = [a, b].iter().all(|reading| reading.kind == question::Kind::HowTo);
    object(a.modals != b.modals && !are_how_to, Contradiction::Modality);
    object(persons_differ(a, b), Contradiction::Person);
    object(a.items.is_empty() && b.items.is_empty() && !is_same, Contradiction::Matter);
    object(
        a.items.len() == 1 && b.items.len() == 1 && a.is_definite != b.is_definite,
        Contradiction::Quantity,
    );
    let matched = content::matched(&a.items, &b.items);
    object(matched.pairs.iter().any(|(_, _, a, b)| a.is_negated != b.is_negated), Contradiction::Negation);
    object(matched.unmatched.is_empty() && !order::agrees(&matched.pairs), Contradiction::Direction);
    found.extend(matched.unmatched.iter().map(|item| content::objection(item)));
    found
}

/// "My" is as good as "the", but not as "your"; a third person is somebody.
fn persons_differ(a: &Reading, b: &Reading) -> bool {
    let speak_both = |reading: &Reading| reading.speakers.contains(&'1') && reading.speakers.contains(&'2');
    let speakers_differ = (speak_both(a) || speak_both(b)) && a.speakers != b.speakers;
    let subjects_differ = a.subject.is_some() && b.subject.is_some() && a.subject != b.subject;
    let third = |reading: &Reading| {
        reading.persons.iter().filter(|person| person.is_alphabetic()).copied().collect::<Vec<_>>()
    };
    let own = |reading: &Reading| (reading.persons.contains(&'1'), reading.persons.contains(&'2'));
    speakers_differ
        || subjects_differ
        || third(a) != third(b)
        || matches!((own(a), own(b)), ((true, false), (false, true)) | ((false, true), (true, false)))
}

#[cfg(test)]
mod tests;
