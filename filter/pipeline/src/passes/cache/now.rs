//! Whether a text asks for now: what time it is, the latest price, one's last order. Such an answer is old when it is given again, so
//! it is neither looked up nor kept. A word too many here costs one request.

use std::{collections::HashMap, sync::LazyLock};

use sentinel_text::words;

/// Words that point at now, at a day as seen from now, or at what is newest, one language a line.
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

/// The same in several words, each between spaces.
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

/// What is one's own or of a time, and is the last of it: "my last order", "last week", "this month".
const OWN: &str = "my our mein meine meinen meiner unser unsere mon ma mes notre nos mi mis nuestro nuestra meu minha nosso nossa mio mia nostro nostra mijn ons onze mój moja";
const LAST: &str = "last previous open letzte letzten letzter letztes dernier dernière derniers dernières último última últimos últimas ultimo ultima laatste vorige ostatni ostatnia";
const POINTING: &str = "this these past coming diese dieser diesen dieses ce cette cet este esta pasado pasada passado passada deste desta questa questo scorsa scorso deze dit ten ta этой прошлой bu geçen";
const TIMES: &str = "second minute minutes hour hours morning afternoon evening night day days week weeks weekend month months quarter year years season monday tuesday wednesday thursday friday saturday sunday \
    woche monat jahr wochenende semaine mois année an soir matin nuit noche noite semana mes año ano mês settimana mese anno week maand jaar tydzień miesiąc rok неделе hafta ay";

/// What somebody has done who may do it again: without a year, the last time is meant.
const WON: &str =
    "won wins gewonnen gagné ganó ganando vinto vince ganhou ganhando wint vant wygrał kazandı выиграл فاز";
/// What a thing is for a while, at the end of a question that begins so: "is the shop open".
const STATES: &str = "win open closed down up available delayed out over alive working here live ended arrived shipped happening temperature offen";
const ASKING: &str = "is are has do did what who which hat ist";
/// Before what is one's own: "what is my name".
const BEING: &str = "is are what's where's ist est est es está è dov'è é waar";
const REASONS: &str = "why warum pourquoi";
const CURRENCIES: &str = "usd eur gbp jpy chf btc dollar dollars euro euros yen rupees pesos dolar dólar bitcoin ethereum gold oil gas stock share";
const VALUES: &str = "worth price at kaç está";

/// What a word of each list is.
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

/// In scripts that write no spaces.
const UNSPACED: &str = "现在;今天;明天;昨天;今晚;最新;目前;当前;刚才;最近;几点;本周;这周;上周;本月;天气;现今;今年;下周;上个月;下个月;这个月;\
    后天;前天;来週;来月;先月;今朝;今晩;現在;今日;明日;昨日;今夜;今週;先週;今月;何時;天気;最近の;지금;오늘;내일;어제;현재;\
    최신;최근;몇\u{a0}시;몇 시;날씨;이번\u{a0}주;이번 주;다음 주;지난주;지난 주;วันนี้;ตอนนี้;พรุ่งนี้;\
    เมื่อวาน;กี่โมง;الآن;اليوم;غدا;أمس;كم الساعة;अभी;आज;समय क्या;कल;下雨了;我的包裹;我的余额;汇率;赢了;股价;我是谁;我在哪;我叫什么;私は誰;私の名前;나는 누구;내 이름;من أنا;ما اسمي;मैं कौन;雨が降っ;私の荷物;株価;相場;勝った;أين أنا;تمطر;سعر;طلبي";

/// Whether the answer depends on when it is given.
pub fn asks_for_now(text: &str) -> bool {
    /// What each word is.
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

/// Whether one currency is asked for in another, or its worth.
fn is_exchange(words: &[&str], kinds: &[u16], all: u16) -> bool {
    let mut named = words.iter().zip(kinds).filter(|(_, kind)| **kind & CURRENCY != 0).map(|(word, _)| word);
    named.next().is_some_and(|first| all & VALUE != 0 || named.any(|other| other != first))
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
            "Who won the game?",
            "Who won the match?",
            "Is it dark in Tokyo?",
            "When does the sun set?",
            "When is sunset in Lima?",
            "What is Apple trading at?",
            "Is the stock market up?",
            "What is in my cart?",
            "What is my name?",
            "Who am I?",
            "Where am I?",
            "What is my IP address?",
            "Am I logged in?",
            "What is on my calendar?",
            "What's on my schedule?",
            "How many points do I have?",
            "How much money do I have?",
            "How much do I owe?",
            "When is my appointment?",
            "When does my subscription end?",
            "Do I have any messages?",
            "What is my order number?",
            "Cancel my order",
            "Show me my invoices",
            "Has it shipped?",
            "Did my payment go through?",
            "Is the server up?",
            "Is the website working?",
            "Are there any outages?",
            "Is the train delayed?",
            "Is flight BA117 delayed?",
            "Is BA117 on schedule?",
            "How many people are online?",
            "What's happening in Gaza?",
            "Do you have size 9 available?",
            "Is the iPhone 15 sold out?",
            "How windy is it in Chicago?",
            "Is it sunny in Rome?",
            "Is it snowing?",
            "Will it snow in Oslo?",
            "How humid is it?",
            "Is it cold outside?",
            "What is the air quality in Delhi?",
            "When is high tide in Brest?",
            "How old am I?",
            "What's the price of gas?",
            "How much is gas?",
            "How much is one dollar in pesos?",
            "What is the dollar worth?",
            "What is Ethereum worth?",
            "What's BTC at?",
            "Is the pharmacy still open?",
            "Roll a die",
            "Flip a coin",
            "Pick a random number",
            "Generate a random password",
            "Generate a UUID",
            "How long have I been a member?",
            "How long until lunch?",
            "Which version is out?",
            "What's today",
            "what day is it",
            "Which movies are out?",
            "Is Elon Musk alive?",
            "Has the war ended?",
            "Is the strike over?",
            "Who is in the lead?",
            "How many days since 9/11?",
            "Was gibt es Neues?",
            "Wie wird das Wetter?",
            "Wie ist das Wetter?",
            "Schneit es in München?",
            "Wer hat gewonnen?",
            "Wie heiße ich?",
            "Wo bin ich?",
            "Wo ist mein Paket?",
            "Wie ist mein Kontostand?",
            "Welche Termine habe ich?",
            "Hat der Laden offen?",
            "Ist der Laden geöffnet?",
            "Wie spät?",
            "Uhrzeit",
            "Welcher Wochentag ist?",
            "Qui a gagné le match ?",
            "Où suis-je ?",
            "Comment je m'appelle ?",
            "Où est mon colis ?",
            "Quel est mon solde ?",
            "Est-ce que le magasin est ouvert ?",
            "Le train est-il en retard ?",
            "Neige-t-il à Lyon ?",
            "Quelles sont les nouvelles ?",
            "Il est quelle heure ?",
            "¿Quién ganó el partido?",
            "¿Dónde estoy?",
            "¿Cómo me llamo?",
            "¿Dónde está mi paquete?",
            "¿Cuál es mi saldo?",
            "¿Está abierta la tienda?",
            "¿Está lloviendo?",
            "¿Llueve en Madrid?",
            "¿A cuánto está el dólar?",
            "¿Qué tiempo hará?",
            "Chi ha vinto la partita?",
            "Dov'è il mio pacco?",
            "Qual è il mio saldo?",
            "Il negozio è aperto?",
            "Piove a Milano?",
            "Che ore sono?",
            "Quem ganhou o jogo?",
            "Onde estou?",
            "Qual é o meu saldo?",
            "Está chovendo?",
            "Wie heeft gewonnen?",
            "Waar ben ik?",
            "Waar is mijn pakket?",
            "Is de winkel open?",
            "Saat kaç oldu?",
            "Neredeyim?",
            "Kargom nerede?",
            "Dolar kaç lira?",
            "Hava nasıl?",
            "Maçı kim kazandı?",
            "几点了",
            "下雨了吗",
            "我的包裹在哪里",
            "美元汇率",
            "谁赢了",
            "股价是多少",
            "我是谁",
            "今何時ですか",
            "雨が降っていますか",
            "私の荷物はどこ",
            "株価は",
            "円相場",
            "誰が勝った",
            "我的余额",
            "كم الساعة الان",
            "أين أنا",
            "هل تمطر في دبي",
            "ما هو سعر الدولار",
            "أين طلبي",
            "من فاز بالمباراة",
            "Кто выиграл?",
            "Идёт дождь?",
            "Где моя посылка?",
            "Курс доллара",
            "How many seats are left?",
            "Which shops are open near me?",
            "Who is on call?",
            "Who is logged in?",
            "What did I just say?",
            "What did I ask you before?",
            "Do you remember me?",
            "What do you know about me?",
            "Where do I live?",
            "How tall am I?",
            "Read my inbox",
            "Track my parcel",
            "Turn on my lights",
            "Has anybody replied?",
            "Did anyone call?",
            "Is Bob here?",
            "Is the door locked?",
            "Did the deploy succeed?",
            "Are the tests passing?",
            "How many pods are running?",
            "Which files changed since the last commit?",
            "Is it Friday?",
            "What season is it in Australia?",
            "What century is it?",
            "Tell me a random joke",
            "Surprise me",
            "Roll two dice",
            "Toss a coin",
            "Zeig mir meine Termine",
            "Lies meine Mails vor",
            "Wo wohne ich?",
            "Was weißt du über mich?",
            "Gibt es neue Mails?",
            "Wer ist da?",
            "Tu te souviens de moi ?",
            "Quel âge ai-je ?",
            "Va-t-il pleuvoir ?",
            "Lis mes mails",
            "¿Cuántos años tengo?",
            "¿Dónde vivo?",
            "¿Va a llover?",
            "¿Te acuerdas de mí?",
            "Lee mis correos",
            "Onde moro?",
            "Vai chover?",
            "Dove sono?",
            "Chi sono?",
            "Ti ricordi di me?",
            "Sta piovendo?",
            "Waar woon ik?",
            "Regent het?",
            "Wie wint er?",
            "Hvad hedder jeg?",
            "Hvor er jeg?",
            "Vem är jag?",
            "Gdzie jestem?",
            "Kto wygrał?",
            "Ben kimim?",
            "Кто я?",
            "Сколько мне лет?",
            "私の名前は何ですか",
            "내 이름이 뭐야?",
            "من أنا",
        ] {
            assert!(asks_for_now(text), "{text}");
        }
        for text in [
            "What is the capital of Peru?",
            "How do my eyes work?",
            "Is the moon made of cheese?",
            "Is it safe to eat raw eggs?",
            "How do I sort a list?",
            "Who was the last king of Spain?",
            "Wie alt ist der Dom?",
            "¿Cuál es la capital de Perú?",
            "Explain snow",
            "法国的首都是什么",
            "How do I reset my password?",
            "Why is my cat sneezing?",
            "How can I improve my vocabulary?",
            "What should I do if my car won't start?",
            "Write a function that picks a random number",
            "How do I generate a UUID in Python?",
            "Who won the World Cup in 1998?",
            "When did the sun form?",
            "How do tides work?",
            "What is a tide?",
            "Explain the phases of the moon",
            "How old is the Eiffel Tower?",
            "Is honey vegan?",
            "Is Latvia in the EU?",
            "What is the price of a haircut in a barber shop simulation game?",
            "How does open source work?",
            "Where do penguins live?",
            "Do I have to pay taxes on gifts?",
            "How much water should I drink?",
            "How do I cancel an order?",
            "How do I connect a printer to my laptop?",
            "Can I take aspirin with coffee?",
            "Wie koche ich Reis?",
            "Wer hat Faust geschrieben?",
            "Qui a écrit Candide ?",
            "¿Quién escribió Don Quijote?",
            "Chi ha scritto la Divina Commedia?",
            "我怎么学中文",
            "如何学习编程",
            "下雨的原因是什么",
            "Why does it rain?",
            "How do I handle a delayed flight?",
            "What is the difference between a stock and a bond?",
            "How do I check if a website is working?",
            "How do I open a bank account?",
            "How do I find out which branch is checked out in git?",
            "Who was president of France in 1960?",
            "What is a random variable?",
            "How does a dice roll simulation work in Python?",
            "Who won the 1966 World Cup?",
            "Is a tomato a fruit?",
            "Are whales mammals?",
            "Wie funktioniert ein Zug?",
            "Comment faire une crêpe ?",
            "¿Quién pintó el Guernica?",
            "Como se faz pão de queijo?",
            "Come si fa il pesto?",
            "Hoe bak ik een pannenkoek?",
            "Hvem skrev Peer Gynt?",
            "Kto napisał Lalkę?",
            "Кто написал Идиота?",
            "日本の首都はどこですか",
            "",
        ] {
            assert!(!asks_for_now(text), "{text}");
        }
    }
}
