//! What short results say in languages other than English: that something waits, is done, or that there is
//! nothing new. Results are short, so a few words of each language do.

use std::cmp::Ordering;

use sentinel_text::words;

use super::known::Marks;

/// Longer texts are not looked at (bytes).
const MOST: usize = 400;
/// Nor are more words of one.
const WORDS: usize = 60;

/// What a phrase says of the text that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Waits,
    Done,
    NothingNew,
}

/// The word that must stand before (any where that is empty), and the word itself: "en cours". German, French, Spanish,
/// Portuguese, Italian, Russian; lower case, sorted by the word.
const SPACED: [(&str, &str, Says); 66] = [
    ("", "abgeschlossen", Says::Done),
    ("", "aguardando", Says::Waits),
    ("", "aguarde", Says::Waits),
    ("em", "andamento", Says::Waits),
    ("in", "arbeit", Says::Waits),
    ("", "attendere", Says::Waits),
    ("en", "attente", Says::Waits),
    ("in", "attesa", Says::Waits),
    ("", "ausgeführt", Says::Done),
    ("", "ausstehend", Says::Waits),
    ("wird", "bearbeitet", Says::Waits),
    ("in", "bearbeitung", Says::Waits),
    ("", "completato", Says::Done),
    ("", "concluído", Says::Done),
    ("in", "corso", Says::Waits),
    ("en", "cours", Says::Waits),
    ("en", "curso", Says::Waits),
    ("", "effectué", Says::Done),
    ("in", "elaborazione", Says::Waits),
    ("", "enregistré", Says::Done),
    ("", "enviado", Says::Done),
    ("", "envoyé", Says::Done),
    ("", "erfolgreich", Says::Done),
    ("", "erledigt", Says::Done),
    ("en", "espera", Says::Waits),
    ("c'est", "fait", Says::Done),
    ("", "fatto", Says::Done),
    ("", "feito", Says::Done),
    ("", "fertig", Says::Done),
    ("", "gesendet", Says::Done),
    ("", "gespeichert", Says::Done),
    ("", "guardado", Says::Done),
    ("", "hecho", Says::Done),
    ("", "ja", Says::Done),
    ("", "listo", Says::Done),
    ("keine", "neuen", Says::NothingNew),
    ("nichts", "neues", Says::NothingNew),
    ("noch", "nicht", Says::Waits),
    ("läuft", "noch", Says::Waits),
    ("aucun", "nouveau", Says::NothingNew),
    ("aucune", "nouvelle", Says::NothingNew),
    ("hay", "nuevos", Says::NothingNew),
    ("", "oui", Says::Done),
    ("", "patienter", Says::Waits),
    ("", "pendente", Says::Waits),
    ("", "pendiente", Says::Waits),
    ("", "procesando", Says::Waits),
    ("en", "proceso", Says::Waits),
    ("em", "processamento", Says::Waits),
    ("", "succès", Says::Done),
    ("", "sucesso", Says::Done),
    ("", "sí", Says::Done),
    ("", "terminé", Says::Done),
    ("wird", "verarbeitet", Says::Waits),
    ("wird", "vorbereitet", Says::Waits),
    ("bitte", "warten", Says::Waits),
    ("", "warteschlange", Says::Waits),
    ("", "éxito", Says::Done),
    ("", "выполнено", Says::Done),
    ("", "выполняется", Says::Waits),
    ("", "готово", Says::Done),
    ("новых", "нет", Says::NothingNew),
    ("", "обрабатывается", Says::Waits),
    ("", "ожидание", Says::Waits),
    ("в", "очереди", Says::Waits),
    ("", "успешно", Says::Done),
];

/// Phrases of languages that write no spaces, and of Korean, whose words take endings.
const UNSPACED: [(&str, Says); 30] = [
    // Chinese
    ("处理中", Says::Waits),
    ("进行中", Says::Waits),
    ("运行中", Says::Waits),
    ("等待", Says::Waits),
    ("排队", Says::Waits),
    ("稍候", Says::Waits),
    ("尚未", Says::Waits),
    ("處理中", Says::Waits),
    ("進行中", Says::Waits),
    ("成功", Says::Done),
    ("已完成", Says::Done),
    ("已点击", Says::Done),
    ("已保存", Says::Done),
    ("请继续", Says::Done),
    ("好的", Says::Done),
    ("没有新", Says::NothingNew),
    // Japanese
    ("処理中", Says::Waits),
    ("実行中", Says::Waits),
    ("待機", Says::Waits),
    ("お待ち", Says::Waits),
    ("保留中", Says::Waits),
    ("完了", Says::Done),
    ("成功", Says::Done),
    ("新着はありません", Says::NothingNew),
    // Korean
    ("진행 중", Says::Waits),
    ("처리 중", Says::Waits),
    ("실행 중", Says::Waits),
    ("대기", Says::Waits),
    ("완료", Says::Done),
    ("성공", Says::Done),
];

/// Whether a short text has a phrase that says so.
pub(super) fn says(text: &str, wanted: Says) -> bool {
    if text.len() > MOST {
        return false;
    }
    let is_unspaced = |byte: u8| (0xE3..=0xED).contains(&byte);
    if !text.is_ascii() && text.bytes().any(is_unspaced) {
        return UNSPACED.iter().any(|(phrase, says)| *says == wanted && text.contains(phrase));
    }
    let marks = match wanted {
        Says::Waits => const { marks(Says::Waits) },
        Says::Done => const { marks(Says::Done) },
        Says::NothingNew => const { marks(Says::NothingNew) },
    };
    let mut before = "";
    words(text).take(WORDS).any(|word| {
        let before = std::mem::replace(&mut before, word);
        // What is not ASCII may be another number of bytes in lower case.
        (marks.may_have(word) || !word.is_ascii()) && is_known(word, before, wanted)
    })
}

/// The marks of the words that say so.
const fn marks(wanted: Says) -> Marks {
    let (mut marks, mut rest) = (Marks::NONE, SPACED.as_slice());
    while let [(_, word, says), after @ ..] = rest {
        if *says as u8 == wanted as u8 {
            marks = marks.with(word);
        }
        rest = after;
    }
    marks
}

/// Whether a word says so behind the one before it.
#[inline(never)]
fn is_known(word: &str, before: &str, wanted: Says) -> bool {
    let start = SPACED.partition_point(|(_, known, _)| compared(known, word).is_lt());
    let mut known = SPACED
        .get(start..)
        .unwrap_or_default()
        .iter()
        .take_while(|(_, known, _)| compared(known, word).is_eq());
    known.any(|(first, _, says)| *says == wanted && (first.is_empty() || compared(first, before).is_eq()))
}

/// A word in lower case beside one in any case. Each character by itself: no sigma is one of the end of a word.
fn compared(known: &str, word: &str) -> Ordering {
    if word.is_ascii() {
        // In UTF-8 bytes are in the order of characters.
        return known.bytes().cmp(word.bytes().map(|byte| byte.to_ascii_lowercase()));
    }
    known.chars().cmp(word.chars().flat_map(char::to_lowercase))
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
    fn the_table_is_sorted() {
        assert!(SPACED.is_sorted_by_key(|(_, word, _)| *word));
        assert!(SPACED.iter().all(|(_, word, _)| word.to_lowercase() == *word));
    }

    #[test]
    fn long_texts_are_not_looked_at() {
        assert!(!says(&format!("Erledigt {}", "wort ".repeat(100)), Says::Done));
    }
}
