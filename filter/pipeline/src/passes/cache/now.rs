//! Whether a text asks for now: what time it is, the latest price, one's last order. Such an answer is old when it is given again, so
//! it is neither looked up nor kept. A word too many here costs one request.

use std::{collections::HashSet, sync::LazyLock};

use sentinel_text::words;

/// Words that point at now, at a day as seen from now, or at what is newest, one language a line.
const WORDS: &str = "\
now today tonight tomorrow yesterday currently current nowadays latest newest recent recently lately ago trending weather forecast news headlines \
jetzt heute gestern morgen derzeit aktuell aktuelle aktuellen aktueller aktuelles momentan gerade neueste neuesten neuester neuestes kürzlich wetter nachrichten \
maintenant aujourd'hui demain hier actuellement actuel actuelle actuels actuelles récent récente récents récentes récemment météo actualités \
ahora hoy mañana ayer actualmente actual actuales reciente recientes recientemente noticias \
agora hoje amanhã ontem atualmente atual atuais recente recentes recentemente notícias \
adesso ora oggi domani ieri attualmente attuale attuali recente recenti recentemente meteo notizie \
nu vandaag morgen gisteren momenteel huidig huidige nieuwste recent recente onlangs weer nieuws \
teraz dziś dzisiaj jutro wczoraj obecnie obecny obecna aktualny aktualna aktualne najnowszy najnowsza najnowsze ostatnio pogoda \
idag imorgon igår nuvarande senaste nyligen väder nyheter i\u{a0}dag vejret seneste nuværende \
сейчас сегодня завтра вчера текущий текущая текущее последние недавно погода новости \
şimdi bugün yarın dün güncel hava haberler";

/// The same in several words.
const PHRASES: &[&[&str]] = &[
    &["what", "time"],
    &["which", "time"],
    &["what", "day", "is"],
    &["what", "date", "is"],
    &["what's", "the", "date"],
    &["what", "is", "the", "date"],
    &["the", "time", "in"],
    &["what", "is", "the", "time"],
    &["what's", "the", "time"],
    &["so", "far"],
    &["at", "the", "moment"],
    &["how", "long", "until"],
    &["up", "to", "date"],
    &["exchange", "rate"],
    &["stock", "price"],
    &["share", "price"],
    &["price", "of", "bitcoin"],
    &["bitcoin", "price"],
    &["price", "of", "gold"],
    &["gold", "price"],
    &["price", "of", "oil"],
    &["oil", "price"],
    &["is", "it", "raining"],
    &["is", "it", "snowing"],
    &["still", "alive"],
    &["in", "stock"],
    &["on", "tv"],
    &["how", "old", "am"],
    &["days", "until"],
    &["days", "left"],
    &["time", "left"],
    &["where", "is", "my"],
    &["where's", "my"],
    &["status", "of", "my"],
    &["my", "balance"],
    &["what", "is", "new"],
    &["what's", "new"],
    &["wie", "spät"],
    &["wie", "viel", "uhr"],
    &["welcher", "tag"],
    &["quelle", "heure"],
    &["en", "ce", "moment"],
    &["dernières", "nouvelles"],
    &["qué", "hora"],
    &["en", "este", "momento"],
    &["que", "horas"],
    &["neste", "momento"],
    &["che", "ora"],
    &["in", "questo", "momento"],
    &["hoe", "laat"],
    &["op", "dit", "moment"],
    &["która", "godzina"],
    &["hur", "mycket", "är", "klockan"],
    &["который", "час"],
    &["saat", "kaç"],
];

/// What is one's own or of a time, and is the last of it: "my last order", "last week", "this month".
const OWN: &str = "my our mein meine meinen meiner unser unsere mon ma mes notre nos mi mis nuestro nuestra meu minha nosso nossa mio mia nostro nostra mijn ons onze mój moja";
const LAST: &str = "last previous next open letzte letzten letzter letztes nächste nächsten dernier dernière derniers dernières prochain prochaine último última últimos últimas próximo próxima ultimo ultima prossimo prossima laatste vorige volgende ostatni ostatnia";
const POINTING: &str = "this last next past coming diese dieser diesen dieses letzte letzten nächste nächsten ce cette cet dernier dernière prochain prochaine este esta último última próximo próxima deste desta questa questo scorsa scorso prossima deze dit vorige volgende ten ta";
const TIMES: &str = "second minute minutes hour hours morning afternoon evening night day days week weeks weekend month months quarter year years season monday tuesday wednesday thursday friday saturday sunday \
    woche monat jahr wochenende semaine mois année an semana mes año ano mês settimana mese anno week maand jaar tydzień miesiąc rok";

/// In scripts that write no spaces.
const UNSPACED: &[&str] = &[
    "现在",
    "今天",
    "明天",
    "昨天",
    "今晚",
    "最新",
    "目前",
    "当前",
    "刚才",
    "最近",
    "几点",
    "本周",
    "这周",
    "上周",
    "本月",
    "天气",
    "现今",
    "今年",
    "現在",
    "今日",
    "明日",
    "昨日",
    "今夜",
    "今週",
    "先週",
    "今月",
    "何時",
    "天気",
    "最近の",
    "지금",
    "오늘",
    "내일",
    "어제",
    "현재",
    "최신",
    "최근",
    "몇\u{a0}시",
    "몇 시",
    "날씨",
    "이번\u{a0}주",
    "이번 주",
    "วันนี้",
    "ตอนนี้",
    "พรุ่งนี้",
    "เมื่อวาน",
    "الآن",
    "اليوم",
    "غدا",
    "أمس",
    "अभी",
    "आज",
    "कल",
];

/// Whether the answer depends on when it is given.
pub fn asks_for_now(text: &str) -> bool {
    static NOW: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.split_ascii_whitespace().collect());
    static LISTS: LazyLock<[HashSet<&str>; 4]> =
        LazyLock::new(|| [OWN, LAST, POINTING, TIMES].map(|list| list.split_ascii_whitespace().collect()));
    let lower = text.to_lowercase().replace('’', "'");
    if UNSPACED.iter().any(|word| lower.contains(word)) {
        return true;
    }
    let words: Vec<&str> = words(&lower).collect();
    let [own, last, pointing, times] = &*LISTS;
    words.iter().any(|word| NOW.contains(word))
        || words.windows(2).any(|two| match two {
            [one, two] => {
                own.contains(one) && last.contains(two) || pointing.contains(one) && times.contains(two)
            }
            _ => false,
        })
        || PHRASES.iter().any(|phrase| words.windows(phrase.len()).any(|window| window == *phrase))
}

#[cfg(test)]
mod tests {
    use super::asks_for_now;

    #[test]
    fn what_asks_for_now_is_told_in_many_languages() {
        for text in [
            "What time is it?",
            "what's the weather in Oslo",
            "Where is my last order?",
            "Show my open invoices",
            "What is the latest price of gold?",
            "What happened this week?",
            "What is the price of Bitcoin?",
            "Is it raining in Oslo?",
            "Where is my parcel?",
            "Who left two days ago?",
            "Is the Queen still alive?",
            "How many days until Christmas?",
            "Who is the current president?",
            "Summarise today’s news",
            "Wie spät ist es?",
            "Was kostet Gold heute?",
            "Wo ist meine letzte Bestellung?",
            "Quelle heure est-il ?",
            "Que s'est-il passé aujourd'hui ?",
            "¿Qué hora es?",
            "¿Dónde está mi último pedido?",
            "Que horas são?",
            "Che ora è?",
            "Hoe laat is het?",
            "Jaka jest dziś pogoda?",
            "Который час?",
            "Saat kaç?",
            "现在几点?",
            "今日の天気は?",
            "지금 몇 시예요?",
        ] {
            assert!(asks_for_now(text), "{text}");
        }
        for text in [
            "What is the capital of Peru?",
            "How do I sort a list?",
            "Who was the last king of Spain?",
            "Wie alt ist der Dom?",
            "¿Cuál es la capital de Perú?",
            "Explain snow",
            "法国的首都是什么",
            "",
        ] {
            assert!(!asks_for_now(text), "{text}");
        }
    }
}
