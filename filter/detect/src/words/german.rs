//! German.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &[
    "ausstehend", "wird bearbeitet", "in bearbeitung", "in arbeit", "noch nicht", "läuft noch", "noch keine", "noch kein", "wird verarbeitet",
    "wird vorbereitet", "bitte warten", "warteschlange",
];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] =
    &["abgeschlossen", "ausgeführt", "erfolgreich", "erledigt", "fertig", "gesendet", "gespeichert", "ja"];
/// Nothing new has come. It may stay so for long.
pub const NOTHING_NEW: &[&str] = &["keine neuen", "nichts neues"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "bis der", "bis die", "bis das", "bis er", "bis sie", "bis es", "bis alle", "bis keine", "bis kein", "bis nichts",
    "bis du", "bis ein", "bis eine", "so lange", "solange",
    "sobald", "bescheid", "mir wenn", "benachrichtige", "melde dich", "warte auf", "beobachte", "überwache",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["mal", "male", "zyklen", "durchläufe", "messungen"];
/// Numbers that a user may ask for in words.
pub const NUMBERS: &[(&str, u32)] = &[
    ("fünf", 5), ("sechs", 6), ("sieben", 7), ("acht", 8), ("neun", 9), ("zehn", 10), ("elf", 11), ("zwölf", 12),
    ("fünfzehn", 15), ("zwanzig", 20),
];
