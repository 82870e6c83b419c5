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
        for text in texts {
            assert!(text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{text}");
        }
    }
}
