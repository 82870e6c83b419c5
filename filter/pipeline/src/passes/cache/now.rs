//! Whether a text asks for now: what time it is, the latest price, one's last order. Such an answer would be outdated when it is
//! given again, so it is neither looked up nor stored. If these lists have a word too many, it only costs a request.

use std::{collections::HashMap, sync::LazyLock};

use sentinel_text::words;

/// Words for now, for a day seen from now, or for what is newest, one language a line.
const WORDS: &str = "\
now next upcoming yet today tonight tomorrow yesterday currently current nowadays latest newest recent recently lately ago trending weather forecast news headlines tonite sunset sunrise outage outages \
jetzt heute gestern vorgestern morgen übermorgen nächste nächster nächsten derzeit aktuell aktuelle aktuellen aktueller aktuelles momentan gerade neueste neuesten neuester neuestes kürzlich wetter nachrichten regnet regnen draußen schneit uhrzeit würfle wochentag geöffnet kontostand \
maintenant aujourd'hui demain hier prochain prochaine actuellement actuel actuelle actuels actuelles récent récente récents récentes récemment météo actualités pleut pleuvoir neige ouvert ouverte nouvelles \
ahora hoy mañana ayer próximo próxima actualmente actual actuales reciente recientes recientemente noticias llueve llover lloviendo momento abierto abierta estoy \
agora hoje amanhã ontem atualmente atual atuais recente recentes recentemente notícias chover chovendo aberto aberta \
adesso ora oggi domani ieri stasera stamattina prossimo prossima attualmente attuale attuali recenti meteo notizie piove piovendo pioverà nevica aperto aperta \
nu vandaag gisteren vanavond vanochtend volgende momenteel huidig huidige nieuwste onlangs weer nieuws regent regenen \
teraz dziś dzisiaj jutro wczoraj obecnie obecny obecna aktualny aktualna aktualne najnowszy najnowsza najnowsze ostatnio pogoda pada jestem nazywam \
idag ikväll imorgon igår nuvarande senaste nyligen väder nyheter klockan klokken klokka vejret seneste nuværende regner regnar \
идёт курс сейчас сегодня завтра вчера текущий текущая текущее последние недавно погода погоду новости \
şimdi bugün yarın dün güncel hava haberler neredeyim nerede kimim yağmur adım yaşındayım \
kello hodin";

/// Phrases with the same meaning. `>` is the beginning of the text, and a full stop is its end.
const PHRASES: &str = "\
\u{20}what time ; which time ; what day is ; is it .; what date is ; season is it ; the date .; the time .;\
\u{20}the time in ; so far ; at the moment ; long until ; long till ;s until ;s since ; since the last ;\
\u{20}up to date ; exchange rate ;t rates ;e rates ; gas prices ; much is bitcoin ; at present ;\
\u{20}traffic on ; the score ; is winning ; any new ; has my ; my flight ; have left ; are left ; it outside ; near me ;\
\u{20}am i ; was i ; did i ; about me ; remember me ; my name ; do i live ; on duty ; on call ; logged in ; are running ; are pending ;\
\u{20}temperature in ; an umbrella ; i owe ; i have any ; do i have .; have i been ; are online ; sun set ; air quality ; high tide ; trading at ;\
\u{20}is happening ; what's happening ; the lead ; on schedule ; much is gas ;> roll ;> flip a ;> toss a ;> pick a ;> draw a card ;> choose a ;\
> surprise me ; a random joke ; a random fact ;> generate a random ;> generate a uuid ;> has any;> did any;> is any;\
\u{20}when does my ; did my ; show me my ; is it raining ; is it snowing ; is it sunny ; is it dark ; it cold ; will it rain ; it snow in ;\
\u{20}windy is it ; humid is it ; warm is it ; cold is it ; hot is it ; still alive ; in stock ;\
\u{20}on tv ; days left ; time left ; status of my ; my balance ;\
\u{20}what is new ; what's new ; wie spät ; wie viel uhr ; welcher tag ; haben wir .; wer ist da ; warm ist ; über mich ;\
\u{20}kalt ist ; heiß ist ; busy is it ; bin ich ; heiße ich ; habe ich ; wohne ich ; es neue ; es neues ; où suis je ; m'appelle ; me llamo ; onde estou ; ben ik ; che ore ;\
\u{20}hace calor ; hace frío ; fa freddo ; de moi .; de mí .; de mim .; di me .;\
\u{20}il froid ; il chaud ; hoe warm is ; hoe koud is ; dove sono .; chi sono .; anni ho ; onde moro ; años tengo ; anos tenho ; dónde vivo ; âge ai je ;\
\u{20}en retard ; quelle heure ; quel temps ; quel jour ; en ce moment ; qué hora ; woon ik ; er jeg ; är jag ; hedder jeg ; heter jag ; heter jeg ;\
\u{20}qué día ; qué tiempo ; está o tempo ; que horas ; che ora ; che tempo ; mam lat ; olen .; jsem .; un dé .; un dado .; mấy giờ ; кто я ; где я ; как меня ; мне лет ;\
\u{20}che giorno ; welke dag ; i går ; i dag ; i morgen ; сколько времени ; где моя ; где мой ; где мои ; jam berapa ; hoe laat ;\
\u{20}op dit moment ; która godzina ; который час ; saat kaç ; saya .";

/// Words for what is one's own or a span of time, and for the last of it: "my last order", "last week", "this month".
const OWN: &str = "my our mein meine meinen meiner unser unsere mon ma mes notre nos mi mis nuestro nuestra meu minha nosso nossa mio mia nostro nostra mijn ons onze mój moja";
const LAST: &str = "last previous open letzte letzten letzter letztes dernier dernière derniers dernières último última últimos últimas ultimo ultima laatste vorige ostatni ostatnia";
const POINTING: &str = "this these past coming diese dieser diesen dieses ce cette cet este esta pasado pasada passado passada deste desta questa questo scorsa scorso deze dit ten ta этой прошлой bu geçen";
const TIMES: &str = "second minute minutes hour hours morning afternoon evening night day days week weeks weekend month months quarter year years season monday tuesday wednesday thursday friday saturday sunday \
    woche monat jahr wochenende semaine mois année an soir matin nuit noche noite semana mes año ano mês settimana mese anno week maand jaar tydzień miesiąc rok неделе hafta ay";

/// Words for something that may be won again. Without a year, the last time is meant.
const WON: &str =
    "won wins gewonnen gagné ganó ganando vinto vince ganhou ganhando wint vant wygrał kazandı выиграл فاز";
/// Words for a state that does not last, at the end of a question that begins with one of `ASKING`: "is the shop open".
const STATES: &str = "win open closed down up available delayed out over alive working here live ended arrived shipped happening temperature offen";
const ASKING: &str = "is are has do did what who which hat ist";
/// Words before what is one's own: "what is my name".
const BEING: &str = "is are what's where's ist est est es está è dov'è é waar";
const REASONS: &str = "why warum pourquoi";
const CURRENCIES: &str = "usd eur gbp jpy chf btc dollar dollars euro euros yen rupees pesos dolar dólar bitcoin ethereum gold oil gas stock share";
const VALUES: &str = "worth price at kaç está";

/// A bit for each of the lists.
const NOW: u16 = 1;
const OF_ONE: u16 = 2;
const IS_LAST: u16 = 4;
const POINTS: u16 = 8;
const TIME: u16 = 16;
const HAS_WON: u16 = 32;
const STATE: u16 = 64;
const ASKS: u16 = 128;
const BEFORE_OWN: u16 = 256;
const REASON: u16 = 512;
const CURRENCY: u16 = 1024;
const VALUE: u16 = 2048;

/// The same as `WORDS`, in scripts without spaces.
const UNSPACED: &str = "现在;今天;明天;昨天;今晚;最新;目前;当前;刚才;最近;几点;本周;这周;上周;本月;天气;现今;今年;下周;上个月;下个月;这个月;\
    后天;前天;来週;来月;先月;今朝;今晩;現在;今日;明日;昨日;今夜;今週;先週;今月;何時;天気;最近の;지금;오늘;내일;어제;현재;\
    최신;최근;몇\u{a0}시;몇 시;날씨;이번\u{a0}주;이번 주;다음 주;지난주;지난 주;วันนี้;ตอนนี้;พรุ่งนี้;\
    เมื่อวาน;กี่โมง;الآن;اليوم;غدا;أمس;كم الساعة;अभी;आज;समय क्या;कल;下雨了;我的包裹;我的余额;汇率;赢了;股价;我是谁;我在哪;我叫什么;私は誰;私の名前;나는 누구;내 이름;من أنا;ما اسمي;मैं कौन;雨が降っ;私の荷物;株価;相場;勝った;أين أنا;تمطر;سعر;طلبي";

/// Whether the answer depends on when it is given.
pub fn asks_for_now(text: &str) -> bool {
    /// The lists in which each word stands.
    static KINDS: LazyLock<HashMap<&str, u16>> = LazyLock::new(|| {
        let mut kinds = HashMap::new();
        let lists =
            [WORDS, OWN, LAST, POINTING, TIMES, WON, STATES, ASKING, BEING, REASONS, CURRENCIES, VALUES];
        for (at, list) in lists.into_iter().enumerate() {
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
    let kinds: Vec<u16> = words.iter().map(|word| KINDS.get(word).copied().unwrap_or_default()).collect();
    let all = kinds.iter().fold(0, |all, kind| all | kind);
    let first = kinds.first().copied().unwrap_or_default();
    let last = kinds.last().copied().unwrap_or_default();
    // "My last", "last week", "la semana pasada", "the last 3 days".
    let points = |one: u16, two: u16| one & (POINTS | IS_LAST) != 0 && two & TIME != 0;
    // "What is my name", "qual è il mio saldo", but not "why is my cat ill".
    let is_own = |one: u16, two: u16| one & BEFORE_OWN != 0 && two & OF_ONE != 0 && first & REASON == 0;
    let is_dated = kinds.windows(3).zip(words.iter().skip(1)).any(|(three, between)| match three {
        [one, _, two] => between.len() < 6 && (points(*one, *two) || is_own(*one, *two)),
        _ => false,
    });
    let is_near = kinds.windows(2).any(|two| match two {
        [one, two] => {
            one & OF_ONE != 0 && two & IS_LAST != 0
                || points(*one, *two)
                || points(*two, *one)
                || is_own(*one, *two)
        }
        _ => false,
    });
    // "Read my inbox", "lies meine Mails", but not "how do my eyes work".
    let is_short = words.len() < 5;
    let commands = is_short
        && !lower.starts_with(['h', 'w'])
        && kinds.iter().skip(1).take(2).any(|kind| kind & OF_ONE != 0);
    // "Is the door locked?", "did the job finish?", "is it Friday?"
    let is_state = is_short
        && first & ASKS != 0
        && (words.len() == 4 && words.get(1) == Some(&"the") || lower.starts_with("is it "));
    all & NOW != 0
        || commands
        || is_state
        || is_dated
        || is_near
        || first & ASKS != 0 && last & STATE != 0
        || all & HAS_WON != 0 && !lower.contains(|c: char| c.is_ascii_digit())
        || is_exchange(&words, &kinds, all)
        || has_phrase(&words)
}

fn has_phrase(words: &[&str]) -> bool {
    // ">" and the full stop are the beginning and the end of the text.
    let text = format!(" > {} .", words.join(" "));
    PHRASES.split(';').any(|phrase| text.contains(phrase))
}

/// Whether a text asks for one currency in another, or for its value.
fn is_exchange(words: &[&str], kinds: &[u16], all: u16) -> bool {
    let mut named = words.iter().zip(kinds).filter(|(_, kind)| **kind & CURRENCY != 0).map(|(word, _)| word);
    named.next().is_some_and(|first| all & VALUE != 0 || named.any(|other| other != first))
}

#[cfg(test)]
mod tests;
