//! Portuguese.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["aguardando", "aguarde", "em andamento", "em processamento", "pendente"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["concluído", "enviado", "feito", "sucesso"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "até que", "até o", "até a", "até ele", "até ela", "até ficar", "até aparecer", "até conseguir", "me avise", "avise", "diga quando", "assim que", "espere", "aguarde", "monitore",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["vezes", "ciclos"];
