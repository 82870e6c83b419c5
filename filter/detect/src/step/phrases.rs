//! What short results say in languages other than English: that something waits, is done, has gone wrong, or that there is
//! nothing new. Results are short, so a few words of each language do.

use sentinel_text::words;

/// Longer texts are not looked at (bytes).
const MOST: usize = 400;
/// Nor are more words of one.
const WORDS: usize = 60;

/// What a phrase says of the text that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Waits,
    Done,
    Fails,
    NothingNew,
}

/// A word, and the one that must stand before it ("en cours"); any where that is empty. Lower case.
const SPACED: [(&str, &str, Says); 87] = [
    // German
    ("läuft", "noch", Says::Waits),
    ("", "ausstehend", Says::Waits),
    ("in", "bearbeitung", Says::Waits),
    ("in", "arbeit", Says::Waits),
    ("noch", "nicht", Says::Waits),
    ("wird", "bearbeitet", Says::Waits),
    ("wird", "verarbeitet", Says::Waits),
    ("wird", "vorbereitet", Says::Waits),
    ("bitte", "warten", Says::Waits),
    ("", "warteschlange", Says::Waits),
    ("", "erledigt", Says::Done),
    ("", "ausgeführt", Says::Done),
    ("", "gespeichert", Says::Done),
    ("", "gesendet", Says::Done),
    ("", "erfolgreich", Says::Done),
    ("", "abgeschlossen", Says::Done),
    ("", "ja", Says::Done),
    ("", "fertig", Says::Done),
    ("", "fehler", Says::Fails),
    ("", "fehlgeschlagen", Says::Fails),
    ("", "ungültig", Says::Fails),
    ("", "verweigert", Says::Fails),
    ("nicht", "gefunden", Says::Fails),
    ("keine", "neuen", Says::NothingNew),
    ("nichts", "neues", Says::NothingNew),
    // French
    ("en", "cours", Says::Waits),
    ("en", "attente", Says::Waits),
    ("", "patienter", Says::Waits),
    ("c'est", "fait", Says::Done),
    ("", "terminé", Says::Done),
    ("", "effectué", Says::Done),
    ("", "enregistré", Says::Done),
    ("", "envoyé", Says::Done),
    ("", "succès", Says::Done),
    ("", "oui", Says::Done),
    ("", "erreur", Says::Fails),
    ("", "échec", Says::Fails),
    ("", "échoué", Says::Fails),
    ("", "refusé", Says::Fails),
    ("", "introuvable", Says::Fails),
    ("aucun", "nouveau", Says::NothingNew),
    ("aucune", "nouvelle", Says::NothingNew),
    // Spanish
    ("en", "curso", Says::Waits),
    ("en", "proceso", Says::Waits),
    ("en", "espera", Says::Waits),
    ("", "pendiente", Says::Waits),
    ("", "procesando", Says::Waits),
    ("", "hecho", Says::Done),
    ("", "listo", Says::Done),
    ("", "guardado", Says::Done),
    ("", "enviado", Says::Done),
    ("", "éxito", Says::Done),
    ("", "sí", Says::Done),
    ("", "fallo", Says::Fails),
    ("", "falló", Says::Fails),
    ("", "inválido", Says::Fails),
    ("", "denegado", Says::Fails),
    ("se", "pudo", Says::Fails),
    ("hay", "nuevos", Says::NothingNew),
    // Portuguese
    ("em", "andamento", Says::Waits),
    ("em", "processamento", Says::Waits),
    ("", "aguardando", Says::Waits),
    ("", "aguarde", Says::Waits),
    ("", "pendente", Says::Waits),
    ("", "concluído", Says::Done),
    ("", "feito", Says::Done),
    ("", "sucesso", Says::Done),
    ("", "erro", Says::Fails),
    ("", "falha", Says::Fails),
    ("", "falhou", Says::Fails),
    // Italian
    ("in", "corso", Says::Waits),
    ("in", "elaborazione", Says::Waits),
    ("in", "attesa", Says::Waits),
    ("", "attendere", Says::Waits),
    ("", "fatto", Says::Done),
    ("", "completato", Says::Done),
    ("", "errore", Says::Fails),
    // Russian
    ("", "выполняется", Says::Waits),
    ("", "обрабатывается", Says::Waits),
    ("", "ожидание", Says::Waits),
    ("в", "очереди", Says::Waits),
    ("", "готово", Says::Done),
    ("", "выполнено", Says::Done),
    ("", "успешно", Says::Done),
    ("", "ошибка", Says::Fails),
    ("не", "удалось", Says::Fails),
    ("новых", "нет", Says::NothingNew),
];

/// Phrases of languages that write no spaces, and of Korean, whose words take endings.
const UNSPACED: [(&str, Says); 41] = [
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
    ("错误", Says::Fails),
    ("失败", Says::Fails),
    ("超时", Says::Fails),
    ("无法", Says::Fails),
    ("拒绝", Says::Fails),
    ("未找到", Says::Fails),
    ("没有新", Says::NothingNew),
    // Japanese
    ("処理中", Says::Waits),
    ("実行中", Says::Waits),
    ("待機", Says::Waits),
    ("お待ち", Says::Waits),
    ("保留中", Says::Waits),
    ("完了", Says::Done),
    ("成功", Says::Done),
    ("エラー", Says::Fails),
    ("失敗", Says::Fails),
    ("見つかりません", Says::Fails),
    ("新着はありません", Says::NothingNew),
    // Korean
    ("진행 중", Says::Waits),
    ("처리 중", Says::Waits),
    ("실행 중", Says::Waits),
    ("대기", Says::Waits),
    ("완료", Says::Done),
    ("성공", Says::Done),
    ("오류", Says::Fails),
    ("실패", Says::Fails),
];

/// Whether a short text has a phrase that says so.
pub(super) fn says(text: &str, wanted: Says) -> bool {
    if text.len() > MOST {
        return false;
    }
    let is_unspaced = |byte: u8| (0xE3..=0xED).contains(&byte);
    if text.bytes().any(is_unspaced) {
        return UNSPACED.iter().any(|(phrase, says)| *says == wanted && text.contains(phrase));
    }
    let mut before = "";
    words(text).take(WORDS).any(|word| {
        let before = std::mem::replace(&mut before, word);
        SPACED.iter().any(|(first, second, says)| {
            *says == wanted && is_same(word, second) && (first.is_empty() || is_same(before, first))
        })
    })
}

/// The same word but for its case; `known` is in lower case.
fn is_same(word: &str, known: &str) -> bool {
    if word.len() != known.len() {
        return false;
    }
    word.eq_ignore_ascii_case(known) || word.chars().flat_map(char::to_lowercase).eq(known.chars())
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
            ("Fehler: Zeitüberschreitung nach 3 s", Some(Says::Fails)),
            ("エラーが発生しました", Some(Says::Fails)),
            ("Keine neuen Nachrichten", Some(Says::NothingNew)),
            ("Paris ist die Hauptstadt von Frankreich", None),
            ("巴黎是法国的首都", None),
        ] {
            for one in [Says::Waits, Says::Done, Says::Fails, Says::NothingNew] {
                assert_eq!(says(text, one), says_so == Some(one), "{text}: {one:?}");
            }
        }
    }

    #[test]
    fn long_texts_are_not_looked_at() {
        assert!(!says(&format!("Fehler {}", "wort ".repeat(100)), Says::Fails));
    }
}
