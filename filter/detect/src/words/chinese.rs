//! Chinese, in both ways of writing it. It puts no spaces between words: phrases are looked for anywhere in a text.

/// Something is still to come, so asking again is no loop.
pub const WAITS: &[&str] =
    &["处理中", "进行中", "运行中", "等待", "排队", "稍候", "尚未", "處理中", "進行中"];
/// Something was done and nothing else is said, so equal results prove little.
pub const DONE: &[&str] = &["成功", "已完成", "已点击", "已保存", "请继续", "好的"];
/// Nothing new has come. It may stay so for long.
pub const NOTHING_NEW: &[&str] = &["没有新"];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "直到", "等到", "后告诉", "了告诉", "就告诉", "就通知", "时告诉", "后通知", "时通知", "等待", "监控", "盯着",
];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &["次", "遍"];
