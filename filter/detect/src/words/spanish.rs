//! Spanish.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["en curso", "en espera", "en proceso", "pendiente", "procesando"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["guardado", "hecho", "listo", "sí", "éxito"];
/// Nothing new has come. It may stay so for long.
pub const NOTHING_NEW: &[&str] = &["hay nuevos"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "hasta que", "avísame", "avisame", "dime cuando", "notifícame", "espera a", "vigila", "en cuanto",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["veces", "ciclos"];
