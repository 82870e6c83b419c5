//! Italian.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["attendere", "in attesa", "in corso", "in elaborazione"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["completato", "fatto"];
/// The user wants it done until something comes about, or wants to be told when it does.
pub const OPEN_ENDED: &[&str] = &[
    "finché", "a quando", "avvisami", "avvertimi", "dimmi quando", "non appena", "aspetta", "attendi",
];
/// What a repetition is counted in: who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["volte", "cicli"];
