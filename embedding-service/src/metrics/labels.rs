//! Every value that a label of ours can have: closed sets, in snake_case. Nothing of a request's content is one.

use strum::{IntoStaticStr, VariantArray};

/// A label's name and value.
pub(super) type Label = [(&'static str, &'static str); 1];

/// An enum whose variants are the values of a label.
pub trait LabelValue: Copy + Into<&'static str> + VariantArray {
    /// The label's name.
    const NAME: &str;

    /// The value as it is shown.
    #[must_use]
    fn text(self) -> &'static str {
        self.into()
    }
}

pub(super) fn label<L: LabelValue>(value: L) -> Label {
    [(L::NAME, value.text())]
}

/// How a CheckLoop call ended, as its gRPC code.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Code {
    Ok,
    InvalidArgument,
    ResourceExhausted,
    DeadlineExceeded,
    Unavailable,
    Internal,
    Cancelled,
}

/// Why a CheckLoop call got no answer, so that its caller goes on without one.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Unanswered {
    InvalidRequest,
    QueueFull,
    /// Refused at once, or before its inference: it could not be done before the deadline.
    NotInTime,
    /// The deadline passed while it waited or was embedded.
    DeadlinePassed,
    /// The deadline passed while the store was read.
    DeadlinePassedInStore,
    /// The caller went away first.
    CallerGone,
    EmbeddingFailed,
    StoreTimeout,
    StoreDown,
    /// The store answered, but not with what it should.
    StoreFailed,
    Stopping,
}

/// Why a waiting prompt was thrown out of the queue before an inference.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Dropped {
    CallerGone,
    DeadlinePassed,
    NotInTime,
}

/// What became of a prompt that was to be remembered.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Recorded {
    Stored,
    /// The store has no memory left.
    StoreFull,
    /// The store did not take it for another reason.
    StoreFailed,
    /// Too many others were waiting to be stored.
    QueueFull,
}

/// Which half of the store was used.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum StoreOp {
    Recall,
    Record,
}

/// Whether a prompt's embedding was among the recent ones.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum CacheLookup {
    Hit,
    Miss,
}

/// What a look-up of a stored answer came to.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum LookedUp {
    Exact,
    Semantic,
    Miss,
    Bypass,
}

/// Why a look-up gave no answer although one might be there.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Bypassed {
    /// The response cache is switched off.
    Disabled,
    StoreUnavailable,
    /// The caller's deadline passed while the store was asked.
    Deadline,
    /// What is stored cannot be read: changed bytes, or another version.
    Corrupted,
    EmbeddingUnavailable,
    /// The caller repeats itself, and must not get the same answer for ever.
    Loop,
}

/// What became of an answer that was to be stored.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum AnswerStored {
    Stored,
    /// Without its text: it could not be embedded, or prompts are not to be stored. Only the same text finds it.
    ExactOnly,
    StoreFull,
    StoreFailed,
    /// Too many others were waiting to be stored.
    QueueFull,
}

/// What the provider's answer said of a stored one.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Learned {
    Right,
    Wrong,
    /// As `right`, of an answer that is served: a sample was asked of the provider.
    ServedRight,
    ServedWrong,
    /// The stored answer has gone meanwhile, or the answers could not be compared.
    Nothing,
}

/// Tokens that a stored answer saved.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SavedTokens {
    Input,
    Output,
}

/// What became of a report of a worker.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Reported {
    Taken,
    /// It names no worker, or has too many turns.
    Invalid,
    /// The store did not take it: the worker sends it again.
    StoreFailed,
}

/// What became of a turn.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum TurnTaken {
    Counted,
    /// It was counted before.
    Repeated,
    /// It is too old, or its number does not rise.
    Refused,
    /// The worker dropped it: too many waited.
    Dropped,
}

/// What became of a reservation of budgets.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Reserved {
    Granted,
    /// As `granted`; so much is spent that the model is told.
    Warned,
    /// A limit would be crossed.
    Refused,
    /// The store did not answer, or the worker's configuration is not known yet.
    Failed,
}

/// What became of an event that was to be sent by webhook.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Delivered {
    Sent,
    /// The receiver did not take it, however often it was tried.
    GivenUp,
    /// One of the same kind and run was sent a short time ago.
    CoolingDown,
}

/// What became of a tool result that was to be read.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ReadResult {
    /// The model takes it for an injection.
    Found,
    Clean,
    /// It was read before in the same run.
    Repeated,
    /// There was no room for it, here or in the filter.
    Dropped,
    Failed,
}

/// Why `/readyz` says no.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum NotReady {
    StoreDown,
    Overloaded,
    /// The Unix socket's file has gone and cannot be made again: connections that are open go on.
    SocketLost,
    Stopping,
}

impl LabelValue for Code {
    const NAME: &str = "code";
}

impl LabelValue for Unanswered {
    const NAME: &str = "reason";
}

impl LabelValue for Dropped {
    const NAME: &str = "reason";
}

impl LabelValue for Recorded {
    const NAME: &str = "outcome";
}

impl LabelValue for StoreOp {
    const NAME: &str = "op";
}

impl LabelValue for CacheLookup {
    const NAME: &str = "outcome";
}

impl LabelValue for LookedUp {
    const NAME: &str = "result";
}

impl LabelValue for Bypassed {
    const NAME: &str = "cause";
}

impl LabelValue for AnswerStored {
    const NAME: &str = "outcome";
}

impl LabelValue for Learned {
    const NAME: &str = "verdict";
}

impl LabelValue for SavedTokens {
    const NAME: &str = "kind";
}

impl LabelValue for Reported {
    const NAME: &str = "outcome";
}

impl LabelValue for TurnTaken {
    const NAME: &str = "outcome";
}

impl LabelValue for Reserved {
    const NAME: &str = "outcome";
}

impl LabelValue for Delivered {
    const NAME: &str = "outcome";
}

impl LabelValue for ReadResult {
    const NAME: &str = "outcome";
}

impl LabelValue for NotReady {
    const NAME: &str = "reason";
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
