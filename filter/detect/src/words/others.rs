//! Languages of which a few words are known: Arabic, Czech, Dutch, Finnish, Greek, Hebrew, Hindi, Hungarian, Indonesian, Persian,
//! Polish, Romanian, Swedish with its neighbours, Turkish, Ukrainian, Vietnamese; and some words of the larger ones.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &[
    "قيد التنفيذ", "قيد المعالجة", "قيد الانتظار", "حال انجام", "probíhá", "venter", "in behandeling", "bezig",
    "käynnissä", "σε εξέλιξη", "בתהליך", "folyamatban", "în curs", "जारी है", "रहा है", "रही है", "रहे हैं", "लंबित", "अभी भी", "अभी तक",
    "sedang diproses", "menunggu", "w toku", "w trakcie", "nadal trwa", "oczekuje",
    "pågår", "väntar", "devam ediyor", "işleniyor", "beklemede", "виконується", "обробляється", "đang chạy",
    "đang xử", "derzeit durchgeführt", "está realizando", "ещё выполняется",
];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &[
    "تم", "بنجاح", "hotovo", "klaar", "voltooid", "valmis", "בוצע", "सफल", "berhasil", "selesai", "ferdig", "gotowe",
    "zapisano", "klart", "sparat", "tallennettu", "kaydedildi", "सहेजा", "tamam", "виконано", "thành công",
];
/// Nothing new has come. It may stay so for long.
pub const NOTHING_NEW: &[&str] = &[
    "لا جديد", "geen nieuwe", "brak nowych", "inga nya", "немає нових", "nenhuma nova", "nessun nuovo", "нет новых",
];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "أخبرني عندما", "أخبرني عند", "حتى", "انتظر", "راقب", "तक", "kadar", "tot de", "tot er", "tot het", "wacht tot", "dokud", "μέχρι να", "kunnes", "तो बताना", "तो बताओ",
    "पर बताओ", "पर बताना", "totdat", "zodra", "aż", "gdy tylko", "daj znać", "olunca", "haber ver",
    "cho đến", "tills", "så snart", "поки не", "як тільки", "sampai",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &[
    "مرات", "krát", "gange", "ganger", "keer", "kertaa", "פעמים", "बार", "kali", "razy", "ori", "gånger", "kez", "kere",
    "defa", "lần",
];
/// Numbers that a user may ask for in words.
pub const NUMBERS: &[(&str, u32)] = &[
    ("cinq", 5), ("dix", 10), ("douze", 12), ("cinco", 5), ("diez", 10), ("dez", 10), ("dieci", 10), ("十", 10),
    ("quinze", 15), ("quince", 15), ("quindici", 15), ("vingt", 20), ("veinte", 20), ("vinte", 20), ("venti", 20), ("二十", 20),
    ("tien", 10), ("tio", 10), ("tolv", 12), ("пятнадцать", 15), ("двадцать", 20), ("двенадцать", 12), ("piętnaście", 15), ("десять", 10), ("dziesięć", 10), ("열", 10),
];
/// Before a number and a unit of time, in German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish,
/// Norwegian and Russian; two words where English has them.
pub const EVERY: &[&str] = &[
    "alle", "jede", "toutes les", "tous les", "chaque", "cada", "ogni", "elk", "elke", "co", "varje", "var", "hver", "каждую", "каждый",
    "каждые", "once a", "once an",
];
/// Words for what is to be done again and again. The case of ASCII letters does not count.
pub const INTERVALS: &[&str] = &["hourly", "repeatedly", "mehrmals", "stündlich", "halbstündlich", "viertelstündlich", "minütlich"];
/// Two words that say the same.
pub const AGAIN: &[[&str; 2]] = &[
    ["and", "over"], ["good", "while"], ["a", "while"], ["several", "times"], ["many", "times"], ["again", "and"], ["immer", "wieder"], ["mehrere", "male"],
    ["plusieurs", "fois"], ["varias", "veces"], ["várias", "vezes"], ["più", "volte"], ["несколько", "раз"], ["много", "раз"],
];
/// The same, in languages without spaces.
pub const INTERVALS_WITHOUT_SPACES: &[&str] =
    &["每隔", "每小时", "每分钟", "每半小时", "毎分", "毎時", "反复", "多次", "几遍", "何度も", "分おき", "分ごと", "秒ごと", "時間ごと", "시간마다", "분마다", "초마다"];
/// How words for seconds, minutes, hours and parts of them begin if they are written in full: "every half hour", "every few minutes".
pub const UNITS_IN_FULL: &[&str] = &[
    "minut", "sekund", "segund", "hour", "stunde", "heure", "hora", "uur", "godzin", "half", "few",
    "viertelstunde", "halbe", "quart", "cuarto", "kwadrans", "femte", "минут", "секунд", "час",
];
/// Beginnings of words for seconds, minutes and hours, in these languages and in English.
pub const UNITS_OF_TIME: &[&str] =
    &["sec", "sek", "seg", "min", "hour", "hr", "stund", "heure", "hora", "ora", "ore", "uur", "godz"];
