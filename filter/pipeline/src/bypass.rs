//! Why a request goes on unchecked, or checked only in part.

use sentinel_llm_api::json::Unreadable;
use strum::{IntoStaticStr, VariantArray, VariantNames};

/// Why a request in a dialect was not inspected, or only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Bypass {
    /// The content type is not JSON, or names another charset than UTF-8.
    ContentType,
    /// The body is compressed in a way that is not read.
    Encoded,
    /// The body is larger than `max_body_bytes`, as it came or decoded.
    TooLarge,
    /// The connection is to change to another protocol than HTTP.
    Upgrade,
    Empty,
    InvalidUtf8,
    NotJson,
    /// Not the shape of the dialect, or more messages than are read.
    Shape,
    /// No agent and no run: nothing is compared across requests.
    NoIdentity,
    /// Others changed the window each time before it could be written.
    Contention,
    /// The hint found no place in the body.
    NoPlace,
    /// The response is compressed, too long or of another type: its text does not count.
    Response,
    /// The response was to be cleaned, and it or a part of it could not be.
    Uncleaned,
    /// The service that counts budgets did not answer.
    Budget,
}

impl Bypass {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

impl From<Unreadable> for Bypass {
    fn from(error: Unreadable) -> Self {
        match error {
            Unreadable::InvalidUtf8 => Self::InvalidUtf8,
            Unreadable::NotJson => Self::NotJson,
            Unreadable::Shape => Self::Shape,
        }
    }
}
