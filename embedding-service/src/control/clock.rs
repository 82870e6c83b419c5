//! Wall-clock time and chance.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Milliseconds since 1970.
#[must_use]
pub fn now_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    milliseconds(since_1970)
}

#[must_use]
pub fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// 53 random bits, never 0: a number that JSON and Lua carry without loss. Not for secrets.
#[must_use]
pub fn random() -> u64 {
    let bits = RandomState::new().build_hasher().finish();
    (bits & ((1 << 53) - 1)).max(1)
}
