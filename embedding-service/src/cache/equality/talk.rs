//! What people say around a question: greetings, fillers and thanks.

use super::{changes, text::Sentence};

/// The greeting and the thanks that were around a sentence.
pub(super) enum Talk {
    None,
    /// In a sentence of their own.
    Sentence,
    /// "Hi," or "hello there," before the sentence. Hardly a question is about these words, but one may be about "Hello": "Hello, what do
    /// Swedes answer?"
    Call,
    /// Any other greeting or filler before the sentence, with or without a comma.
    Other,
}

/// The one sentence that is left without greeting and thanks, and what there was of them.
pub(super) fn without_talk(mut sentences: Vec<Sentence>) -> Option<(Sentence, Talk)> {
    let all = sentences.len();
    // "How should I close a mail? Many thanks?" proposes these words as the answer.
    if all > 1 && sentences.last().is_some_and(|last| last.end != Some('?') && changes::thanks(&last.words)) {
        sentences.pop();
    }
    // A greeting ends in a full stop or an exclamation mark: "Hello? What is a quark?" waits for somebody.
    if sentences.len() > 1
        && sentences.first().is_some_and(|first| {
            first.end != Some('?') && changes::greeting(&small(&first.words)) == first.words.len()
        })
    {
        sentences.remove(0);
    }
    let mut talk = if sentences.len() < all { Talk::Sentence } else { Talk::None };
    let [mut sentence] = <[Sentence; 1]>::try_from(sentences).ok()?;
    loop {
        let len = changes::greeting(&small(&sentence.words));
        if len == 0 || len >= sentence.words.len() {
            return Some((sentence, talk));
        }
        let has_comma = sentence.words.get(len).is_some_and(|mark| mark == ",");
        let greeting: Vec<_> = sentence.words.iter().take(len).map(|word| word.to_lowercase()).collect();
        let calls = has_comma
            && greeting.iter().all(|word| ["hi", "hello", "hey", "there"].contains(&word.as_str()))
            && greeting.iter().any(|word| word == "hi" || word == "there");
        sentence.words.drain(..len.saturating_add(usize::from(has_comma)));
        talk = if calls && !matches!(talk, Talk::Other) { Talk::Call } else { Talk::Other };
    }
}

/// The words, with the first one in lower case. A first word with more than one capital stays: "HMM" and "SO" are abbreviations.
pub(super) fn small(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut().filter(|first| !first.chars().skip(1).any(char::is_uppercase)) {
        *first = first.to_lowercase();
    }
    words
}
