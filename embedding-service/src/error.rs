//! Every way in which a CheckLoop call can fail, and the one place where these become reasons and gRPC codes.

use tonic::Status;

use crate::{
    embed::error::PoolError,
    metrics::{Code, Unanswered},
    request::InvalidRequest,
    store::StoreError,
};

/// Why a call was not answered. Messages hold no prompt text.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    Invalid(#[from] InvalidRequest),
    #[error("cannot embed the prompt: {0}")]
    Embed(#[from] PoolError),
    #[error("cannot read the prompt history: {0}")]
    History(#[from] StoreError),
    #[error("the deadline passed while the prompt history was read")]
    DeadlinePassed,
}

impl CheckError {
    #[must_use]
    pub fn reason(&self) -> Unanswered {
        match self {
            Self::Invalid(_) => Unanswered::InvalidRequest,
            Self::Embed(PoolError::Full { .. }) => Unanswered::QueueFull,
            Self::Embed(PoolError::TooLate) => Unanswered::NotInTime,
            Self::Embed(PoolError::DeadlinePassed) => Unanswered::DeadlinePassed,
            Self::Embed(PoolError::Stopped) => Unanswered::Stopping,
            Self::Embed(PoolError::Embed(_)) => Unanswered::EmbeddingFailed,
            Self::History(StoreError::Slow(_)) => Unanswered::StoreTimeout,
            Self::History(StoreError::Unreachable(_)) => Unanswered::StoreDown,
            Self::History(_) => Unanswered::StoreFailed,
            Self::DeadlinePassed => Unanswered::DeadlinePassedInStore,
        }
    }

    #[must_use]
    pub fn code(&self) -> tonic::Code {
        match self.reason().code() {
            Code::Ok => tonic::Code::Ok,
            Code::InvalidArgument => tonic::Code::InvalidArgument,
            Code::ResourceExhausted => tonic::Code::ResourceExhausted,
            Code::DeadlineExceeded => tonic::Code::DeadlineExceeded,
            Code::Unavailable => tonic::Code::Unavailable,
            Code::Internal => tonic::Code::Internal,
            Code::Cancelled => tonic::Code::Cancelled,
        }
    }
}

impl From<CheckError> for Status {
    fn from(error: CheckError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}
