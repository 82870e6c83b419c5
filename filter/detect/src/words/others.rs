//! Languages of which a few words are known: Arabic, Czech, Danish, Dutch, Finnish, Greek, Hebrew, Hindi, Hungarian,
//! Indonesian, Norwegian, Persian, Polish, Romanian, Swedish, Turkish, Ukrainian, Vietnamese; and some words of the larger ones.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &[
    "قيد التنفيذ", "قيد المعالجة", "قيد الانتظار", "يرجى الانتظار", "probíhá", "čeká", "venter", "in behandeling",
    "nog bezig", "wordt verwerkt", "käynnissä", "odottaa", "σε εξέλιξη", "εκκρεμεί", "בתהליך", "בהמתנה", "जारी है",
    "folyamatban", "sedang berjalan", "sedang diproses", "menunggu", "w toku", "w trakcie", "nadal trwa",
    "oczekuje", "oczekiwanie", "în curs", "în așteptare", "pågår", "väntar", "devam ediyor", "işleniyor", "beklemede",
    "виконується", "обробляється", "очікування", "đang chạy", "đang xử", "derzeit durchgeführt", "está realizando",
    "ещё выполняется", "حال انجام",
];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &[
    "تم", "بنجاح", "hotovo", "uloženo", "færdig", "klaar", "voltooid", "opgeslagen", "valmis", "ολοκληρώθηκε", "בוצע",
    "הושלם", "सफल", "kész", "sikeres", "berhasil", "selesai", "ferdig", "gotowe", "wykonano", "zapisano",
    "finalizat", "klart", "sparad", "tamam", "виконано", "thành công",
];
/// Nothing new has come, as it may for long.
pub const NOTHING_NEW: &[&str] = &[
    "لا جديد", "رسائل جديدة", "žádné nové", "ingen nye", "geen nieuwe", "brak nowych", "inga nya", "yeni yok",
    "немає нових", "nenhum novo", "nenhuma nova", "nessun nuovo", "nessuna nuova", "нет новых",
];
/// What a repetition is counted in: who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &[
    "مرات", "مرة", "krát", "gange", "ganger", "keer", "maal", "kertaa", "φορές", "פעמים", "बार", "alkalommal", "kali",
    "razy", "ori", "gånger", "kez", "kere", "defa", "lần",
];
/// Numbers that a user may ask for in words.
pub const NUMBERS: &[(&str, u32)] = &[
    ("cinq", 5), ("dix", 10), ("douze", 12), ("vingt", 20), ("cinco", 5), ("diez", 10), ("dez", 10), ("doce", 12),
    ("doze", 12), ("veinte", 20), ("vinte", 20), ("cinque", 5), ("dieci", 10), ("dodici", 12), ("venti", 20),
    ("пять", 5), ("десять", 10), ("двадцать", 20), ("五", 5), ("十", 10), ("tien", 10), ("عشر", 10),
    ("dziesięć", 10),
];
/// The name of a tool that lets time pass.
pub const WAIT: &[&str] =
    &["warten", "warte", "attendre", "esperar", "espera", "aguardar", "aspettare", "attendi", "wachten", "bekle", "czekaj"];
