//! Labels of what becomes of the response cache's look-ups.

/// What a look-up came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheHit {
    Exact,
    Semantic,
    Miss,
}

impl CacheHit {
    pub const ALL: [Self; 3] = [Self::Exact, Self::Semantic, Self::Miss];

    pub fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Semantic => "semantic",
            Self::Miss => "miss",
        }
    }
}

/// Why nothing was looked up for a request, or its answer was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheBypass {
    /// `cache-control: no-store`.
    NoStore,
    /// `cache-control: no-cache`: the answer is kept all the same.
    NoCache,
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
    Embedding,
    /// The answer has another status than 200.
    AnswerStatus,
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
    pub const ALL: [Self; 25] = [
        Self::NoStore,
        Self::NoCache,
        Self::Loop,
        Self::Edited,
        Self::Tail,
        Self::Media,
        Self::Kept,
        Self::Turns,
        Self::Temperature,
        Self::Length,
        Self::DuplicateKey,
        Self::Escape,
        Self::Shape,
        Self::Service,
        Self::Disabled,
        Self::StoreUnavailable,
        Self::Deadline,
        Self::Corrupted,
        Self::Embedding,
        Self::AnswerStatus,
        Self::AnswerForm,
        Self::AnswerIncomplete,
        Self::AnswerOther,
        Self::AnswerLength,
        Self::Store,
    ];

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
        match self {
            Self::NoStore => "no_store",
            Self::NoCache => "no_cache",
            Self::Loop => "loop",
            Self::Edited => "edited",
            Self::Tail => "tail",
            Self::Media => "media",
            Self::Kept => "kept",
            Self::Turns => "turns",
            Self::Temperature => "temperature",
            Self::Length => "length",
            Self::DuplicateKey => "duplicate_key",
            Self::Escape => "escape",
            Self::Shape => "shape",
            Self::Service => "service",
            Self::Disabled => "disabled",
            Self::StoreUnavailable => "store_unavailable",
            Self::Deadline => "deadline",
            Self::Corrupted => "corrupted",
            Self::Embedding => "embedding_unavailable",
            Self::AnswerStatus => "answer_status",
            Self::AnswerForm => "answer_form",
            Self::AnswerIncomplete => "answer_incomplete",
            Self::AnswerOther => "answer_other",
            Self::AnswerLength => "answer_length",
            Self::Store => "store",
        }
    }
}
