//! Spanish.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["en curso", "en espera", "en proceso", "pendiente", "procesando"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["guardado", "hecho", "listo", "sí", "éxito"];
/// Nothing new has come, as it may for long.
pub const NOTHING_NEW: &[&str] = &["hay nuevos"];
/// The user wants it done until something comes about, or wants to be told when it does.
pub const OPEN_ENDED: &[&str] = &[
    "hasta que", "avísame", "avisame", "dime cuando", "notifícame", "espera a", "vigila", "en cuanto",
];
/// What a repetition is counted in: who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["veces", "ciclos"];
