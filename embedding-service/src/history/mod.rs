//! The last prompts of each scope. This file defines the trait that every store of prompts implements. The stores,
//! memory and Redis, are in the files beside it, and one test suite runs on both.

mod clock;
pub mod memory;
pub mod open;
pub mod redis;

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::watch;

pub use clock::Moment;

use crate::{
    embed::{Embedded, truncation::UnseenDigest},
    store::StoreError,
};

/// Whose prompts are compared: tenant / agent / run. Histories of different scopes are never mixed.
#[derive(Clone, PartialEq, Eq)]
pub struct Scope {
    tenant: Arc<str>,
    id: ScopeId,
}

/// A scope as 16 bytes: what stores look it up by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId([u8; 16]);

impl Scope {
    #[must_use]
    pub fn new(tenant: &str, agent: &str, run: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in [tenant, agent, run] {
            // With its length before it no part can pass for another.
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut id = [0; 16];
        hasher.finalize_xof().fill(&mut id);
        Self { tenant: Arc::from(tenant), id: ScopeId(id) }
    }

    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    #[must_use]
    pub fn id(&self) -> ScopeId {
        self.id
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({})", self.id)
    }
}

/// 32 lower-case hex digits.
impl fmt::Display for ScopeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ScopeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A prompt to be remembered.
#[derive(Clone, Debug)]
pub struct Record {
    pub scope: Scope,
    pub moment: Moment,
    pub embedded: Embedded,
}

/// An earlier prompt of the scope, compared with a new one.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    pub moment: Moment,
    /// 1 identical, 0 opposite.
    pub similarity: f64,
    /// Empty where its text was not stored.
    pub head: String,
    pub unseen: Option<UnseenDigest>,
}

/// How many prompts a scope keeps, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// The last this many of each scope; older ones are forgotten.
    pub size: usize,
    pub ttl: Duration,
}

/// Remembers the last prompts of each scope.
#[tonic::async_trait]
pub trait PromptHistory: Send + Sync {
    /// Exactly the last `Retention::size` prompts of the scope that are not yet too old, newest first, each with its
    /// similarity to `vector`.
    async fn recall(&self, scope: &Scope, vector: &[f32]) -> Result<Vec<Earlier>, StoreError>;

    /// Remembers one prompt, and forgets what thereby is no longer among the last.
    async fn record(&self, record: &Record) -> Result<(), StoreError>;

    /// Whether the store is reachable, kept up to date without being asked.
    fn reachable(&self) -> watch::Receiver<bool>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_differ_in_every_part_and_parts_never_run_together() {
        let scopes = [
            Scope::new("a", "b", "c"),
            Scope::new("ab", "", "c"),
            Scope::new("a", "", "bc"),
            Scope::new("a", "bc", ""),
            Scope::new("", "ab", "c"),
        ];
        for (i, a) in scopes.iter().enumerate() {
            for b in &scopes[..i] {
                assert_ne!(a.id(), b.id());
            }
        }
        assert_eq!(Scope::new("a", "b", "c"), scopes[0]);
        assert_eq!(scopes[0].id().to_string().len(), 32);
    }

    #[test]
    fn a_scope_shows_no_name() {
        assert!(!format!("{:?}", Scope::new("acme", "bot", "run-1")).contains("acme"));
    }
}
