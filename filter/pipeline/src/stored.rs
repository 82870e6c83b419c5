//! What the filter and the response cache exchange through the host: a look-up, what it found, an answer to store. Plain values.
//! `passes::cache` decides when they are sent.

use sentinel_llm_api::{repeatable::FunctionCall, usage::Usage};

/// Digest of all of a request but its last user text, the same in every Envoy.
pub type Partition = [u8; 16];

/// A look-up, which is sent with a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    pub partition: Partition,
    pub similarity_threshold: f64,
    pub max_error: f64,
    /// Only answers to the same text.
    pub exact_only: bool,
    /// How long to wait for the answer to an identical request (milliseconds).
    pub wait: u32,
}

/// What a look-up found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookupReply {
    pub kind: LookupKind,
    pub answer: Option<StoredAnswer>,
    /// Similarity of the nearest stored question.
    pub similarity: f64,
    /// Milliseconds since the answer was stored.
    pub age: u64,
    /// Sent back with the provider's answer.
    pub candidate: Vec<u8>,
    /// The cause of a bypass, in the service's words.
    pub cause: String,
    /// The name by which an administrator erases the answer.
    pub entry: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookupKind {
    Miss,
    Exact,
    Semantic,
    #[default]
    Bypass,
}

/// A provider's answer, free of its dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredAnswer {
    /// Empty where there are only calls.
    pub text: String,
    /// Behind the text.
    pub calls: Vec<FunctionCall>,
    /// As the provider names it.
    pub model: String,
    /// The provider's id, if a later request may name it. Empty otherwise.
    pub id: String,
    pub usage: Usage,
    /// Billionths of a USD.
    pub cost: u64,
}

/// An answer that is to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreOrder {
    /// Names of the scope, hashed.
    pub tenant: String,
    pub agent: String,
    pub run: String,
    pub partition: Partition,
    pub prompt: String,
    pub answer: StoredAnswer,
    pub candidate: Vec<u8>,
    /// There is an answer that could have been given. The new one is compared with it.
    pub compare_only: bool,
    /// Seconds.
    pub ttl: u32,
}
