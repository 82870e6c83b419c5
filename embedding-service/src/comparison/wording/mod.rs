//! What a word does in a sentence: is it a word of content, or a function word that only holds the sentence together,
//! and which other words have the same meaning? Lists and endings say so, mostly for English. Whether two texts have
//! the same meaning is judged elsewhere.

mod function_words;
mod stem;
mod synonyms;

pub(crate) use function_words::are_opposites;

use sentinel_text::{digest, words};

/// A word as it stands, and what of it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// In lower case, nothing else changed.
    pub exact: String,
    pub kind: WordKind,
    /// The same for inflections of one word and for words that say the same.
    key: String,
    is_name: bool,
    /// Digests of both: words are compared very often.
    digests: (u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// Articles, auxiliaries, prepositions, pronouns, conjunctions, question words, courtesy.
    Function,
    Negation,
    /// Everything else: verbs, nouns, names, numbers.
    Content,
}

impl Word {
    fn new(exact: String, kind: WordKind, key: String, is_name: bool) -> Self {
        let digests = (digest(exact.as_bytes()), digest(key.as_bytes()));
        Self { exact, kind, key, is_name, digests }
    }

    /// Whether both are the same but for their case.
    pub fn is_same(&self, other: &Self) -> bool {
        self.digests.0 == other.digests.0
    }

    /// Whether both say the same. Names have no inflections: "Jon" is not "Jones".
    pub fn is_like(&self, other: &Self) -> bool {
        let has_same_key = self.digests.1 == other.digests.1;
        self.is_same(other) || has_same_key && self.kind == other.kind && self.is_name == other.is_name
    }

    /// Whether it stands for one thing: a name, a number, an identifier.
    pub fn is_name(&self) -> bool {
        self.is_name
    }

    /// Whether it is likely a verb, or goes with one, as far as the word before it tells.
    pub fn is_verb_after(&self, before: Option<&Self>) -> bool {
        let follows = |listed: fn(&str) -> bool| before.is_some_and(|before| listed(&before.exact));
        let is_participle = || self.exact.ends_with("ed") || self.exact.ends_with("ing");
        !self.is_name
            && (follows(function_words::is_before_verbs)
                || follows(function_words::is_form_of_be) && is_participle()
                || self.exact.ends_with("ly"))
    }

    /// The word as the lists of this module have it.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// The first `limit` words of `text`.
pub(crate) fn classified(text: &str, limit: usize) -> Vec<Word> {
    let shouted = !text.chars().any(char::is_lowercase);
    text.split_inclusive(['.', '!', '?', '\n'])
        .flat_map(|sentence| words(sentence).zip(0_usize..))
        .take(limit)
        .map(|(word, place)| classify(word, place > 0 && !shouted))
        .collect()
}

/// `capitals_mean_names`: whether a capital marks a name. It does not at the beginning of a sentence, nor in a text in capitals.
fn classify(word: &str, capitals_mean_names: bool) -> Word {
    let exact = word.to_lowercase();
    let is_capital = word.chars().next().is_some_and(char::is_uppercase) && exact != "i";
    let is_name = is_capital && capitals_mean_names;
    if is_name || word.chars().any(|c| c.is_numeric() || c == '_') {
        let key = without_clitics(&exact).to_owned();
        return Word::new(exact, WordKind::Content, key, true);
    }
    if exact.ends_with("n't") || exact.ends_with("n’t") {
        return Word::new(exact, WordKind::Negation, "not".to_owned(), is_name);
    }
    let bare = without_clitics(&exact);
    let kind = function_words::kind_of(bare);
    let key = if kind == WordKind::Content { synonyms::key_of(&stem::of(bare)) } else { bare.to_owned() };
    Word::new(exact, kind, key, is_name)
}

/// "what's" is "what", "John's" is "John", "l'ordre" is "ordre".
fn without_clitics(word: &str) -> &str {
    const AFTER: [&str; 6] = ["s", "re", "ve", "ll", "d", "m"];
    const BEFORE: [&str; 9] = ["l", "d", "qu", "j", "c", "n", "s", "m", "t"];
    let Some((before, after)) = word.split_once(['\'', '’']) else { return word };
    if after.is_empty() || AFTER.contains(&after) {
        before
    } else if BEFORE.contains(&before) {
        after
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(a: &str, b: &str) -> bool {
        let (a, b) = (classified(a, 9), classified(b, 9));
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.is_like(b))
    }

    #[test]
    fn inflections_and_synonyms_are_alike() {
        assert!(like("the build fails", "the builds failed"));
        assert!(like("remove it", "deleting it"));
        assert!(like("use it", "utilised it"));
    }

    #[test]
    fn names_are_not_inflected() {
        assert!(!like("ask Jon", "ask Jones"));
        assert!(like("ask Jon", "ask Jon's"));
        assert!(!like("read table_1", "reads table_2"));
        assert!(like("Reports", "report"), "at the beginning of a sentence a capital means nothing");
    }

    #[test]
    fn the_parts_of_a_sentence_are_told_apart() {
        let kinds: Vec<WordKind> = classified("What's the price? Isn't it on John’s list", 99)
            .iter()
            .map(|word| word.kind)
            .collect();
        use WordKind::{Content, Function, Negation};
        assert_eq!(kinds, [Function, Function, Content, Negation, Function, Function, Content, Content]);
    }

    #[test]
    fn a_name_is_no_function_word() {
        assert_eq!(classified("meet Will", 9).last().map(|word| word.kind), Some(WordKind::Content));
        assert_eq!(classified("it will", 9).last().map(|word| word.kind), Some(WordKind::Function));
        assert_eq!(classified("FIX IT", 9).last().map(|word| word.kind), Some(WordKind::Function));
    }
}
