//! Russian.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["выполняется", "обрабатывается", "ожидание", "в очереди"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["выполнено", "готово", "успешно"];
/// Nothing new has come. It may stay so for long.
pub const NOTHING_NEW: &[&str] = &["новых нет"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "пока не", "скажи когда", "сообщи когда", "дождись", "жди", "подожди", "следи", "как только",
];
/// Beginnings of words for repetitions, because words take endings. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["раз"];
