//! Korean. Its words take endings: phrases are looked for anywhere in a text.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["진행 중", "처리 중", "실행 중", "대기"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["완료", "성공", "저장되", "추가되"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "때까지", "면 알려", "면 말해", "기다려", "감시", "지켜봐",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["번"];
