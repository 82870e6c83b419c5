//! Whether a request makes the user's text the material for work: to be translated, corrected, classified. Then another wording
//! is another task, so only the same text shares an answer. If this list has a word too many, it only costs a request.

use std::{collections::HashMap, sync::LazyLock};

use sentinel_llm_api::question::Question;
use sentinel_text::words;

/// Beginnings of words for work on a text, one language a line.
const STEMS: &str = "\
translat proofread rewrit reword rephras paraphras gramma spelling misspell classif categoriz categoris sentiment transcrib translit verbatim copyedit \
politeness formality profanity grading essay autocorrect punctuat tokeni phonetic pronunc rhym \
übersetz korrigier korrektur lektor umformulier rechtschreib klassifizier wortwörtlich wörtlich \
tradui traduc traduç traduz reformul réécri corrig orthograph clasific \
reescrib reescrev parafras ortogra gramá corrij tradurr tradur riscriv corregg ortografi \
vertaal vertal herschrijf tłumacz przetłumacz poprawi przepisz klasyfik \
översätt oversæt oversett rätta retskriv omskriv klassific \
перевод перевед перевест исправ перефраз переформул классифиц çevir düzelt sınıflandır ترجم अनुवाद";

/// The same in scripts without spaces.
const UNSPACED: &str = "翻译;翻譯;译成;改写;校对;纠正;分类;情感;翻訳;訳して;校正;添削;書き換え;言い換え;分類;번역;교정;분류;바꿔 써;แปล";

/// Whether the instructions, an earlier text or a tool of the request speak of work on a text.
pub fn works_on_text(question: &Question<'_>) -> bool {
    question.any_text(&mut speaks_of_it)
}

fn speaks_of_it(text: &str) -> bool {
    /// The stems by their first letter.
    static BY_LETTER: LazyLock<HashMap<char, Vec<&str>>> = LazyLock::new(|| {
        let mut stems: HashMap<char, Vec<&str>> = HashMap::new();
        for stem in STEMS.split_ascii_whitespace() {
            stems.entry(stem.chars().next().unwrap_or_default()).or_default().push(stem);
        }
        stems
    });
    let lower = text.to_lowercase();
    let is_stem = |word: &str| {
        let stems = word.chars().next().and_then(|letter| BY_LETTER.get(&letter));
        stems.is_some_and(|stems| stems.iter().any(|stem| word.starts_with(stem)))
    };
    words(&lower).any(is_stem) || !lower.is_ascii() && UNSPACED.split(';').any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_a_text_is_known() {
        for text in [
            "Translate the user's text into French.",
            "You are a proofreader.\nReturn the corrected sentence.",
            "Classify the tone of the message",
            "Du übersetzt ins Englische.",
            "Corrige el texto del usuario",
            "把用户的话翻译成英文",
            "Label each message with its sentiment",
        ] {
            assert!(speaks_of_it(text), "{text}");
        }
    }

    #[test]
    fn an_assistant_that_answers_questions_works_on_none() {
        for text in [
            "You are a helpful assistant.",
            "Answer in the language of the user, correctly and briefly. Never rate products.",
            "You are the support agent of a bank. Use the tools to look up accounts.",
            "Du bist ein hilfreicher Assistent.",
            "あなたは親切なアシスタントです。",
        ] {
            assert!(!speaks_of_it(text), "{text}");
        }
    }
}
