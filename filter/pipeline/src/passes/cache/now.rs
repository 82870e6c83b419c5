//! Whether a text asks for now: what time it is, the latest price, one's last order. Such an answer is old when it is given again, so
//! it is neither looked up nor kept. A word too many here costs one request.

use std::{collections::HashMap, sync::LazyLock};

use sentinel_text::words;

/// Words that point at now, at a day as seen from now, or at what is newest, one language a line.
const WORDS: &str = "\
now next upcoming yet today tonight tomorrow yesterday currently current nowadays latest newest recent recently lately ago trending weather forecast news headlines \
jetzt heute gestern vorgestern morgen übermorgen nächste nächster nächsten derzeit aktuell aktuelle aktuellen aktueller aktuelles momentan gerade neueste neuesten neuester neuestes kürzlich wetter nachrichten \
maintenant aujourd'hui demain hier prochain prochaine actuellement actuel actuelle actuels actuelles récent récente récents récentes récemment météo actualités \
ahora hoy mañana ayer próximo próxima actualmente actual actuales reciente recientes recientemente noticias \
agora hoje amanhã ontem atualmente atual atuais recente recentes recentemente notícias \
adesso ora oggi domani ieri stasera stamattina prossimo prossima attualmente attuale attuali recente recenti recentemente meteo notizie \
nu vandaag morgen gisteren vanavond vanochtend volgende momenteel huidig huidige nieuwste recent recente onlangs weer nieuws \
teraz dziś dzisiaj jutro wczoraj obecnie obecny obecna aktualny aktualna aktualne najnowszy najnowsza najnowsze ostatnio pogoda \
idag ikväll imorgon igår nuvarande senaste nyligen väder nyheter klockan klokken klokka vejret seneste nuværende \
сейчас сегодня завтра вчера текущий текущая текущее последние недавно погода погоду новости \
şimdi bugün yarın dün güncel hava haberler \
kello hodin";

/// The same in several words, each between spaces.
const PHRASES: &str = "\
\u{20}what time ; which time ; what day is ; week is it ; what date is ; year is it ; month is it ; what's the date ;\
\u{20}what is the date ; the time in ; what is the time ; what's the time ; so far ; at the moment ; how long until ;\
\u{20}up to date ; exchange rate ; exchange rates ; interest rates ; mortgage rates ; gas prices ; much is bitcoin ;\
\u{20}traffic on ; the score ; is winning ; any new ; has my ; my flight ; hours until ; have left ; it outside ;\
\u{20}temperature in ; it rain ; an umbrella ; stock price ; share price ; price of bitcoin ; bitcoin price ;\
\u{20}price of gold ; gold price ; price of oil ; oil price ; is it raining ; is it snowing ; still alive ; in stock ;\
\u{20}on tv ; how old am ; days until ; days left ; time left ; where is my ; where's my ; status of my ; my balance ;\
\u{20}what is new ; what's new ; wie spät ; wie viel uhr ; welcher tag ; welchen tag ; welches jahr ; wie warm ist ;\
\u{20}wie kalt ist ; wie heiß ist ; warm is it ; cold is it ; hot is it ; busy is it ; hace calor ; hace frío ; fa freddo ;\
\u{20}il froid ; il chaud ; hoe warm is ; hoe koud is ;\
\u{20}regnet es ; quelle heure ; quel temps ; quel jour ; il pleut ; en ce moment ; dernières nouvelles ; qué hora ;\
\u{20}qué día ; qué tiempo ; está o tempo ; en este momento ; que horas ; neste momento ; che ora ; che tempo ;\
\u{20}che giorno ; welke dag ; i går ; i dag ; i morgen ; сколько времени ; jam berapa ; in questo momento ; hoe laat ;\
\u{20}op dit moment ; która godzina ; который час ; saat kaç ";

/// What is one's own or of a time, and is the last of it: "my last order", "last week", "this month".
const OWN: &str = "my our mein meine meinen meiner unser unsere mon ma mes notre nos mi mis nuestro nuestra meu minha nosso nossa mio mia nostro nostra mijn ons onze mój moja";
const LAST: &str = "last previous open letzte letzten letzter letztes dernier dernière derniers dernières último última últimos últimas ultimo ultima laatste vorige ostatni ostatnia";
const POINTING: &str = "this these last past coming diese dieser diesen dieses letzte letzten ce cette cet dernier dernière derniers dernières este esta último última últimos últimas pasado pasada passado passada deste desta questa questo scorsa scorso deze dit vorige ten ta этой прошлой bu geçen";
const TIMES: &str = "second minute minutes hour hours morning afternoon evening night day days week weeks weekend month months quarter year years season monday tuesday wednesday thursday friday saturday sunday \
    woche monat jahr wochenende semaine mois année an soir matin nuit noche noite semana mes año ano mês settimana mese anno week maand jaar tydzień miesiąc rok неделе hafta ay";

/// What a word of each list is.
const NOW: u8 = 1;
const OF_ONE: u8 = 2;
const IS_LAST: u8 = 4;
const POINTS: u8 = 8;
const TIME: u8 = 16;

/// In scripts that write no spaces.
const UNSPACED: &str = "现在;今天;明天;昨天;今晚;最新;目前;当前;刚才;最近;几点;本周;这周;上周;本月;天气;现今;今年;下周;上个月;下个月;这个月;\
    后天;前天;来週;来月;先月;今朝;今晩;現在;今日;明日;昨日;今夜;今週;先週;今月;何時;天気;最近の;지금;오늘;내일;어제;현재;\
    최신;최근;몇\u{a0}시;몇 시;날씨;이번\u{a0}주;이번 주;다음 주;지난주;지난 주;วันนี้;ตอนนี้;พรุ่งนี้;\
    เมื่อวาน;กี่โมง;الآن;اليوم;غدا;أمس;كم الساعة;अभी;आज;समय क्या;कल";

/// Whether the answer depends on when it is given.
pub fn asks_for_now(text: &str) -> bool {
    /// What each word is.
    static KINDS: LazyLock<HashMap<&str, u8>> = LazyLock::new(|| {
        let mut kinds = HashMap::new();
        for (at, list) in [WORDS, OWN, LAST, POINTING, TIMES].into_iter().enumerate() {
            for word in list.split_ascii_whitespace() {
                *kinds.entry(word).or_default() |= 1 << at;
            }
        }
        kinds
    });
    let lower = text.to_lowercase().replace('’', "'");
    if UNSPACED.split(';').any(|word| lower.contains(word)) {
        return true;
    }
    let words: Vec<&str> = words(&lower).collect();
    let kinds: Vec<u8> = words.iter().map(|word| KINDS.get(word).copied().unwrap_or_default()).collect();
    // "My last", "last week", "la semana pasada", "the last 3 days".
    let points = |one: u8, two: u8| one & POINTS != 0 && two & TIME != 0;
    let is_dated = kinds.windows(3).zip(words.iter().skip(1)).any(|(three, between)| match three {
        [one, _, two] => between.len() < 6 && points(*one, *two),
        _ => false,
    });
    let is_near = kinds.windows(2).any(|two| match two {
        [one, two] => one & OF_ONE != 0 && two & IS_LAST != 0 || points(*one, *two) || points(*two, *one),
        _ => false,
    });
    let is_state = |two: (&&str, &&str)| {
        matches!(two, (&("is" | "are"), &("open" | "closed" | "down" | "available")) | (&"did", &"win"))
    };
    kinds.iter().any(|kind| kind & NOW != 0)
        || is_dated
        || is_near
        || words.first().zip(words.last()).is_some_and(is_state)
        || is_exchange(&words)
        || has_phrase(&words)
}

fn has_phrase(words: &[&str]) -> bool {
    let text = format!(" {} ", words.join(" "));
    PHRASES.split(';').any(|phrase| text.contains(phrase))
}

/// Whether one currency is asked for in another.
fn is_exchange(words: &[&str]) -> bool {
    const CURRENCIES: [&str; 12] =
        ["usd", "eur", "gbp", "jpy", "chf", "dollar", "dollars", "euro", "euros", "yen", "rupees", "bitcoin"];
    let stem = |word: &str| word.trim_end_matches('s').to_owned();
    let mut named = words.iter().filter(|word| CURRENCIES.contains(word));
    named.next().is_some_and(|first| named.any(|other| stem(other) != stem(first)))
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
            "Is the store open?",
            "Is YouTube down?",
            "When is the next train to Leeds?",
            "When is the next full moon?",
            "Did Arsenal win?",
            "What's the score?",
            "Who is winning?",
            "How hot is it outside?",
            "What is the temperature in Oslo?",
            "Will it rain?",
            "Do I need an umbrella?",
            "How many hours until sunset?",
            "What year is it?",
            "What month is it?",
            "What day of the week is it?",
            "How much is bitcoin?",
            "How much is a euro in dollars?",
            "convert 100 usd to eur",
            "What are mortgage rates?",
            "Is there traffic on the A1?",
            "Is my flight on time?",
            "Has my refund arrived?",
            "Any new messages?",
            "How much storage do I have left?",
            "What happened in the past 24 hours?",
            "What happened in the last 3 days?",
            "upcoming elections",
            "Wann kommt der nächste Zug?",
            "Welches Jahr haben wir?",
            "Welchen Tag haben wir?",
            "Regnet es in Berlin?",
            "Wie warm ist es in Berlin?",
            "Wie kalt ist es in Kiel?",
            "How warm is it in Oslo?",
            "¿Hace frío en Madrid?",
            "Fa freddo a Roma?",
            "Fait-il froid à Paris ?",
            "Hoe koud is het in Utrecht?",
            "Was passierte vorgestern?",
            "Quel temps fait-il à Paris ?",
            "Quel jour sommes-nous ?",
            "Il pleut à Paris ?",
            "Que faire ce soir ?",
            "Que s'est-il passé la semaine dernière ?",
            "Quand part le prochain train ?",
            "¿Qué día es?",
            "¿Qué tiempo hace en Madrid?",
            "¿Qué pasó la semana pasada?",
            "¿Qué hay esta noche?",
            "¿Cuándo sale el próximo tren?",
            "Como está o tempo em Lisboa?",
            "O que aconteceu na semana passada?",
            "Che tempo fa a Roma?",
            "Che giorno è?",
            "Cosa fare stasera?",
            "Cosa è successo la settimana scorsa?",
            "Welke dag is het?",
            "Wat is er vanavond te doen?",
            "Vad är klockan?",
            "Hvad er klokken?",
            "Hva er klokka?",
            "Hvad skete der i går?",
            "Сколько времени?",
            "Какая погода в Москве на этой неделе?",
            "Что было на прошлой неделе?",
            "Bu hafta ne oldu?",
            "下周有什么活动",
            "上个月发生了什么",
            "来週の予定は?",
            "今朝のニュース",
            "다음 주 일정",
            "지난주에 무슨 일이",
            "كم الساعة",
            "समय क्या हुआ",
            "กี่โมงแล้ว",
            "Paljonko kello on?",
            "Kolik je hodin?",
            "Jam berapa sekarang?",
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
