//! How calls of the embedding service end.

use strum::{IntoStaticStr, VariantArray, VariantNames};

/// How a call of the embedding service ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ServiceOutcome {
    Ok,
    Timeout,
    /// Overloaded: RESOURCE_EXHAUSTED.
    Refused,
    /// Nobody there, or the store behind it is gone.
    Unavailable,
    Error,
    /// The reply cannot be decoded.
    Garbage,
    /// Envoy knows no cluster of the configured name.
    UnknownCluster,
    /// The client went away before the answer.
    Cancelled,
    /// The service does not offer what is asked.
    Unimplemented,
}

impl ServiceOutcome {
    /// From a gRPC status that is not OK. Envoy reports its own timeout as UNAVAILABLE with a message.
    pub fn from_status(code: u32, message: &str) -> Self {
        match code {
            4 => Self::Timeout,
            8 => Self::Refused,
            12 => Self::Unimplemented,
            14 if message.starts_with("upstream request timeout") => Self::Timeout,
            14 => Self::Unavailable,
            _ => Self::Error,
        }
    }

    pub fn label(self) -> &'static str {
        self.into()
    }
}
