//! Russian.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["выполняется", "обрабатывается", "ожидание", "в очереди"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["выполнено", "готово", "успешно"];
/// Nothing new has come, as it may for long.
pub const NOTHING_NEW: &[&str] = &["новых нет"];
/// The user wants it done until something comes about, or wants to be told when it does.
pub const OPEN_ENDED: &[&str] = &[
    "пока не", "скажи когда", "сообщи когда", "дождись", "жди", "подожди", "следи", "как только",
];
/// What a repetition is counted in, by its beginning, for words take endings: who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["раз"];
