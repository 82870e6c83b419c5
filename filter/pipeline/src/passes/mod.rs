//! The passes: each looks at a request or its answer for one purpose and says what it found. None decides, none edits,
//! and one that is switched off costs nothing. On the way in: `tools`, `guard`, `spotlight`, `bounds`, `loops`, `cache`, then `ask`. On
//! the way out: `clean` on each part of an answer as it passes, and of what passed `tools` again, `fingerprint`, `usage`, `cache`.

pub mod ask;
pub mod bounds;
pub mod cache;
pub mod clean;
pub mod fingerprint;
pub mod guard;
pub mod loops;
pub mod spotlight;
pub mod tools;
pub mod usage;
