//! Japanese. It puts no spaces between words: phrases are looked for anywhere in a text.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] = &["処理中", "実行中", "待機", "お待ち", "保留中"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["完了", "成功", "保存しま", "追加しま"];
/// Nothing new has come. It may stay so for long.
pub const NOTHING_NEW: &[&str] = &["新着はありません"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "たら教え", "たら知らせ", "たら通知", "るまで", "まで待", "まで見", "まで続け", "見張", "監視", "待って",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["回"];
