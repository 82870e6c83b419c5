//! Italian.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["attendere", "in attesa", "in corso", "in elaborazione"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["completato", "fatto"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "finché", "a quando", "avvisami", "avvertimi", "dimmi quando", "non appena", "aspetta", "attendi",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["volte", "cicli"];
