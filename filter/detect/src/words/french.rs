//! French.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["en attente", "en cours", "patienter"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["effectué", "enregistré", "envoyé", "c'est fait", "oui", "succès", "terminé"];
/// Nothing new has come. It may stay so for long.
pub const NOTHING_NEW: &[&str] = &["aucun nouveau", "aucune nouvelle"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "jusqu'à ce", "dès que", "moi quand", "préviens", "prévenez", "avertis", "attends", "surveille", "tant que",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["fois"];
