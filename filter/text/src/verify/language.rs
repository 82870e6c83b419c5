//! Whether a text is English, as far as its small words tell. The rules know English only; of other texts only a repetition is
//! served.

use std::{collections::HashSet, sync::LazyLock};

use super::{
    lists::{is_dropped, is_loose_relation, is_question_word, is_strict_relation},
    token::Token,
};

/// Small words of German, French, Spanish, Portuguese, Italian, Dutch, Polish and others that are no English ones.
const OTHERS: &str = "der das und nicht ist wie ich ein eine einen für mit auf von zu dem kann warum wann wo wer welche welcher bitte sind \
    le les une que qui quel quelle quels quelles comment pourquoi combien dans avec je vous nous et ou où est il elle cette \
    el los las qué cómo cuál cuáles cuánto cuántos cuánta dónde por para una del es en de y quién cuándo la \
    um uma como onde quando quanto é são não em os qual quem \
    gli che perché quanto di è sono quali chi della nel \
    het een hoe wat waarom wanneer waar niet van ik jak jest czy nie bir ve nedir hvad er hva och att det";

fn is_foreign(word: &str) -> bool {
    static FOREIGN: LazyLock<HashSet<&'static str>> =
        LazyLock::new(|| OTHERS.split_ascii_whitespace().collect());
    FOREIGN.contains(word)
}

pub(super) fn is_english(tokens: &[Token]) -> bool {
    let letters = || tokens.iter().flat_map(|token| token.raw.chars()).filter(|c| c.is_alphabetic());
    let foreign_letters = letters().filter(|c| !c.is_ascii()).count();
    if foreign_letters.saturating_mul(5) > letters().count() {
        return false;
    }
    let is_ours = |word: &str| {
        is_dropped(word) || is_strict_relation(word) || is_loose_relation(word) || is_question_word(word)
    };
    let (mut ours, mut others) = (0_usize, 0_usize);
    for token in tokens {
        if is_ours(&token.text) {
            ours = ours.saturating_add(1);
        } else if is_foreign(&token.text) {
            others = others.saturating_add(1);
        }
    }
    others == 0 || others < ours
}

#[cfg(test)]
mod tests {
    use super::{super::token::tokens, *};

    #[test]
    fn english_is_told_from_the_rest() {
        for text in [
            "What is the capital of France?",
            "sort list python",
            "What is the meaning of la vie?",
            "café opening hours",
            "",
        ] {
            assert!(is_english(&tokens(text)), "{text}");
        }
        for text in [
            "Was ist die Hauptstadt von Frankreich?",
            "Quelle est la capitale de la France ?",
            "¿Cuál es la capital de Francia?",
            "法国的首都是什么",
            "Какая столица Франции?",
            "Qual é a capital da França?",
        ] {
            assert!(!is_english(&tokens(text)), "{text}");
        }
    }
}
