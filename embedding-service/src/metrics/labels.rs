//! Every value that a label of ours can have: closed sets, in snake_case. Nothing of a request's content is one.

/// A label's name and value.
pub(super) type Label = [(&'static str, &'static str); 1];

/// An enum whose variants are the values of the label of that name.
macro_rules! label {
    ($(#[$about:meta])* $name:ident as $key:literal { $($(#[$what:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
        pub enum $name {
            $($(#[$what])* $variant,)+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            pub(super) fn label(self) -> Label {
                [($key, self.text())]
            }
        }
    };
}

label! {
    /// How a CheckLoop call ended, as its gRPC code.
    Code as "code" {
        Ok = "ok",
        InvalidArgument = "invalid_argument",
        ResourceExhausted = "resource_exhausted",
        DeadlineExceeded = "deadline_exceeded",
        Unavailable = "unavailable",
        Internal = "internal",
        Cancelled = "cancelled",
    }
}

label! {
    /// Why a CheckLoop call got no answer, so that its caller goes on without one.
    Unanswered as "reason" {
        InvalidRequest = "invalid_request",
        QueueFull = "queue_full",
        /// Refused at once, or before its inference: it could not be done before the deadline.
        NotInTime = "not_in_time",
        /// The deadline passed while it waited or was embedded.
        DeadlinePassed = "deadline_passed",
        /// The deadline passed while the store was read.
        DeadlinePassedInStore = "deadline_passed_in_store",
        /// The caller went away first.
        CallerGone = "caller_gone",
        EmbeddingFailed = "embedding_failed",
        StoreTimeout = "store_timeout",
        StoreDown = "store_down",
        /// The store answered, but not with what it should.
        StoreFailed = "store_failed",
        Stopping = "stopping",
    }
}

label! {
    /// Why a waiting prompt was thrown out of the queue before an inference.
    Dropped as "reason" {
        CallerGone = "caller_gone",
        DeadlinePassed = "deadline_passed",
        NotInTime = "not_in_time",
    }
}

label! {
    /// What became of a prompt that was to be remembered.
    Recorded as "outcome" {
        Stored = "stored",
        /// The store has no memory left.
        StoreFull = "store_full",
        /// The store did not take it for another reason.
        StoreFailed = "store_failed",
        /// Too many others were waiting to be stored.
        QueueFull = "queue_full",
    }
}

label! {
    /// Which half of the store was used.
    StoreOp as "op" {
        Recall = "recall",
        Record = "record",
    }
}

label! {
    /// Whether a prompt's embedding was among the recent ones.
    CacheLookup as "outcome" {
        Hit = "hit",
        Miss = "miss",
    }
}

label! {
    /// What a look-up of a stored answer came to.
    LookedUp as "result" {
        Exact = "exact",
        Semantic = "semantic",
        Miss = "miss",
        Bypass = "bypass",
    }
}

label! {
    /// Why a look-up gave no answer although one might be there.
    Bypassed as "cause" {
        /// The response cache is switched off.
        Disabled = "disabled",
        StoreUnavailable = "store_unavailable",
        /// The caller's deadline passed while the store was asked.
        Deadline = "deadline",
        /// What is stored cannot be read: changed bytes, or another version.
        Corrupted = "corrupted",
        EmbeddingUnavailable = "embedding_unavailable",
        /// The caller repeats itself, and must not get the same answer for ever.
        Loop = "loop",
    }
}

label! {
    /// What became of an answer that was to be stored.
    AnswerStored as "outcome" {
        Stored = "stored",
        /// Without its text: it could not be embedded, or prompts are not to be stored. Only the same text finds it.
        ExactOnly = "exact_only",
        StoreFull = "store_full",
        StoreFailed = "store_failed",
        /// Too many others were waiting to be stored.
        QueueFull = "queue_full",
    }
}

label! {
    /// What the provider's answer said of a stored one.
    Learned as "verdict" {
        Right = "right",
        Wrong = "wrong",
        /// As `right`, of an answer that is served: a sample was asked of the provider.
        ServedRight = "served_right",
        ServedWrong = "served_wrong",
        /// The stored answer has gone meanwhile, or the answers could not be compared.
        Nothing = "nothing",
    }
}

label! {
    /// Tokens that a stored answer saved.
    SavedTokens as "kind" {
        Input = "input",
        Output = "output",
    }
}

label! {
    /// Why `/readyz` says no.
    NotReady as "reason" {
        StoreDown = "store_down",
        Overloaded = "overloaded",
        /// The Unix socket's file has gone and cannot be made again: connections that are open go on.
        SocketLost = "socket_lost",
        Stopping = "stopping",
    }
}

impl Unanswered {
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Self::InvalidRequest => Code::InvalidArgument,
            Self::QueueFull | Self::NotInTime => Code::ResourceExhausted,
            Self::DeadlinePassed | Self::DeadlinePassedInStore => Code::DeadlineExceeded,
            Self::CallerGone => Code::Cancelled,
            Self::EmbeddingFailed => Code::Internal,
            Self::StoreTimeout | Self::StoreDown | Self::StoreFailed | Self::Stopping => Code::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_snake_case() {
        let texts = Code::ALL.iter().map(|l| l.text()).chain(Unanswered::ALL.iter().map(|l| l.text()));
        let texts = texts.chain(Dropped::ALL.iter().map(|l| l.text()));
        let texts = texts.chain(NotReady::ALL.iter().map(|l| l.text()));
        let texts = texts.chain(Recorded::ALL.iter().map(|l| l.text()));
        let texts = texts.chain(LookedUp::ALL.iter().map(|l| l.text()));
        let texts = texts.chain(Bypassed::ALL.iter().map(|l| l.text()));
        let texts = texts.chain(AnswerStored::ALL.iter().map(|l| l.text()));
        let texts = texts.chain(Learned::ALL.iter().map(|l| l.text()));
        for text in texts {
            assert!(text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{text}");
        }
    }
}
