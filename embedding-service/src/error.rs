//! Every way in which a CheckLoop call can fail, and the one place where these become gRPC codes.

use tonic::Status;

use crate::{check::InvalidRequest, embed::pool::PoolError, history::HistoryError, metrics::Code};

/// Why a call was not answered. Messages hold no prompt text.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    Invalid(#[from] InvalidRequest),
    #[error("cannot embed the prompt: {0}")]
    Embed(#[from] PoolError),
    #[error("cannot read the prompt history: {0}")]
    History(#[from] HistoryError),
    #[error("the deadline passed while the prompt history was read")]
    DeadlinePassed,
}

impl CheckError {
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Invalid(_) => Code::INVALID_ARGUMENT,
            Self::Embed(PoolError::Full { .. } | PoolError::TooLate { .. }) => Code::RESOURCE_EXHAUSTED,
            Self::Embed(PoolError::DeadlinePassed) | Self::DeadlinePassed => Code::DEADLINE_EXCEEDED,
            Self::Embed(PoolError::Stopped) | Self::History(_) => Code::UNAVAILABLE,
            Self::Embed(PoolError::Embed(_)) => Code::INTERNAL,
        }
    }
}

impl From<CheckError> for Status {
    fn from(error: CheckError) -> Self {
        let code = match error.code() {
            Code::OK => tonic::Code::Ok,
            Code::INVALID_ARGUMENT => tonic::Code::InvalidArgument,
            Code::RESOURCE_EXHAUSTED => tonic::Code::ResourceExhausted,
            Code::DEADLINE_EXCEEDED => tonic::Code::DeadlineExceeded,
            Code::UNAVAILABLE => tonic::Code::Unavailable,
            Code::INTERNAL => tonic::Code::Internal,
            Code::CANCELLED => tonic::Code::Cancelled,
        };
        Self::new(code, error.to_string())
    }
}
