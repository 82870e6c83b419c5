//! The names of keys and of the index. All keys of one scope have the same hash tag (the part in braces). So in a
//! cluster a scope lies on one node, and the scopes of a busy tenant on many. The tag also names the model. So during a
//! change of the model, services with either model can use one Redis, and vectors of two models are never compared.

use std::time::{SystemTime, UNIX_EPOCH};

use super::super::{Moment, Scope};
use crate::embed::model_id::ModelId;

/// Every key of ours begins with it; the search module indexes the hashes that do.
pub const PREFIX: &str = "loop:";
/// Name of the search module's index.
pub const INDEX: &str = "loop:embeddings";

/// The names that this process gives.
pub struct Keys {
    model: ModelId,
    /// Tells the keys of this process from another replica's of the same microsecond.
    replica: String,
}

impl Keys {
    pub fn new(model: ModelId) -> Self {
        let mut seed = blake3::Hasher::new();
        seed.update(&std::process::id().to_le_bytes());
        // A clock before 1970 tells replicas apart too.
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanoseconds = since_1970.unwrap_or_else(|before| before.duration()).as_nanos();
        seed.update(&nanoseconds.to_le_bytes());
        let replica = seed.finalize().to_hex().chars().take(8).collect();
        Self { model, replica }
    }

    /// The hash of one prompt: `loop:{tenant/scope/model}:timestamp-replica`.
    pub fn prompt(&self, scope: &Scope, moment: Moment) -> String {
        format!("{PREFIX}{{{}}}:{}-{}", self.tag(scope), moment.0, self.replica)
    }

    /// The sorted set of the scope's prompts: their keys by moment.
    pub fn recent(&self, scope: &Scope) -> String {
        format!("{PREFIX}{{{}}}:recent", self.tag(scope))
    }

    /// The scope as the value of a TAG field: letters and digits only, so it needs no escaping in a query.
    pub fn indexed(&self, scope: &Scope) -> String {
        format!("s{}m{}", scope.id(), self.model)
    }

    /// The tenant's name, when it is short and plain, is there for people; the scope tells all apart.
    fn tag(&self, scope: &Scope) -> String {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        let (tenant, scope, model) = (scope.tenant(), scope.id(), self.model);
        if tenant.len() <= 64 && tenant.bytes().all(plain) {
            return format!("{tenant}/{scope}/{model}");
        }
        format!("{scope}/{model}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(model: &str) -> Keys {
        Keys::new(ModelId::named(model))
    }

    #[test]
    fn a_tenant_cannot_break_out_of_its_key() {
        let keys = keys("m");
        assert!(keys.tag(&Scope::new("acme-1.eu_x", "", "")).starts_with("acme-1.eu_x/"));
        let long = "x".repeat(65);
        for wild in ["a}b", "a b", "a:b", "{", "ä", "*", "a/b", long.as_str()] {
            let tag = keys.tag(&Scope::new(wild, "", ""));
            assert_eq!(tag.len(), 32 + 1 + 8, "{wild}");
            assert!(tag.bytes().all(|b| b.is_ascii_hexdigit() || b == b'/'));
        }
    }

    #[test]
    fn all_of_a_scope_has_one_tag_and_another_scope_or_model_has_another() {
        let tag_of = |key: String| key.split(['{', '}']).nth(1).unwrap().to_owned();
        let (keys, other) = (keys("m"), keys("n"));
        let (one, two) = (Scope::new("acme", "a", "1"), Scope::new("acme", "a", "2"));
        let tags = [keys.prompt(&one, Moment(1)), keys.recent(&one), keys.recent(&two), other.recent(&one)]
            .map(tag_of);
        assert_eq!(tags[0], tags[1]);
        assert!(tags[0] != tags[2] && tags[0] != tags[3]);
        assert_ne!(keys.indexed(&one), other.indexed(&one));
    }
}
