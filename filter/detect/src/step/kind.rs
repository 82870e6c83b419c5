//! What a result amounts to. What a repetition proves depends on it.

use serde::{Deserialize, Serialize};

/// What a result amounts to. If several results come together, the variant that stands last here counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Kind {
    /// It merely says that something was done: "OK.", "Clicked.", nothing at all.
    Acknowledgement,
    /// There is nothing new: an empty structure, "no new messages".
    Empty,
    /// It tells something.
    Content,
    /// An explicit failure: see `explicit`.
    Failure,
    /// What is waited for has not come yet.
    Waiting,
}

impl Kind {
    /// The kind of two results together.
    pub(crate) fn and(self, other: Self) -> Self {
        self.max(other)
    }
}
