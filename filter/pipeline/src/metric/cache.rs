//! Labels of what becomes of the response cache's look-ups.

use strum::{IntoStaticStr, VariantNames};

/// What a look-up came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CacheHit {
    Exact,
    Semantic,
    Miss,
}

impl CacheHit {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// Why nothing was looked up for a request, or its answer was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CacheBypass {
    /// `cache-control: no-store`.
    NoStore,
    /// `cache-control: no-cache`: the answer is stored all the same.
    NoCache,
    /// The text asks for now: what time it is, the latest price, one's last order.
    Now,
    /// The request is signed (AWS Signature Version 4), and nothing proves by whom.
    Signed,
    /// The provider refused this caller's key when it was last asked: its answer is stored all the same.
    Refused,
    /// A loop was found: the request is hinted, or stopped.
    Loop,
    /// The tool policy changes the request.
    Edited,
    /// The request does not end with one text of a user.
    Tail,
    /// There are images, sounds or files in it.
    Media,
    /// The provider keeps the history, or is to do more than to answer.
    Kept,
    Turns,
    Temperature,
    /// The last text is too long.
    Length,
    /// A name stands twice in one object of the body.
    DuplicateKey,
    /// The body has an escape that stands for no character.
    Escape,
    /// The body is nested too deep, or has too many values or a member of an unknown type.
    Shape,
    /// The service did not answer, or knows no cache.
    Service,
    /// The service's cache is switched off.
    Disabled,
    /// The service's store does not answer.
    StoreUnavailable,
    Deadline,
    /// What is stored cannot be read.
    Corrupted,
    /// The model does not answer: only the same text is found.
    #[strum(serialize = "embedding_unavailable")]
    Embedding,
    /// The answer has another status than 200.
    AnswerStatus,
    /// The provider forbids to store the answer: `cache-control: no-store` or `private`.
    AnswerPrivate,
    /// The answer is compressed, or of another content type than was asked for.
    AnswerForm,
    /// The answer did not come to its end in good order.
    AnswerIncomplete,
    /// The answer says more than a text.
    AnswerOther,
    AnswerLength,
    /// The answer could not be sent to the service.
    Store,
}

impl CacheBypass {
    /// From the service's word for a bypass.
    pub fn of_service(cause: &str) -> Self {
        const SERVICES: [CacheBypass; 6] = [
            CacheBypass::Disabled,
            CacheBypass::StoreUnavailable,
            CacheBypass::Deadline,
            CacheBypass::Corrupted,
            CacheBypass::Embedding,
            CacheBypass::Loop,
        ];
        SERVICES.into_iter().find(|known| known.label() == cause).unwrap_or(Self::Service)
    }

    pub fn label(self) -> &'static str {
        self.into()
    }
}
