//! Who acts. Names are as agents sent them, so they are data: bounded here, escaped where they are shown.

use sentinel_proto::v1;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Bytes of a name; a longer one is cut, and its digest appended.
const LONGEST: usize = 512;
const DIGEST: usize = 16;

/// Tenant, client, agent and run of a request. Empty where none was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Names {
    pub tenant: String,
    pub client: String,
    pub agent: String,
    pub run: String,
    /// Digest of how the history begins, where the run has no name; else empty.
    pub history: String,
}

impl Names {
    #[must_use]
    pub fn of(names: v1::Names) -> Self {
        let history =
            if names.run.is_empty() && names.history != 0 { hex(names.history) } else { String::new() };
        Self {
            tenant: bounded(names.tenant),
            client: bounded(names.client),
            agent: bounded(names.agent),
            run: bounded(names.run),
            history,
        }
    }

    /// Whether it is known to which run the request belongs.
    #[must_use]
    pub fn has_run(&self) -> bool {
        !self.run.is_empty() || !self.history.is_empty()
    }

    /// The id of the run, or, for requests of no run, of what the agent did outside of any.
    #[must_use]
    pub fn run_id(&self) -> String {
        digest(&[&self.tenant, &self.client, &self.agent, &self.run, &self.history])
    }
}

/// 32 hex digits that tell lists of texts apart.
#[must_use]
pub fn digest(texts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        hasher.update(&length.to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(32).collect()
}

/// A number as 16 hex digits.
#[must_use]
pub fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// The number of 16 hex digits.
#[must_use]
pub fn unhex(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

/// The text, or its beginning and its digest where it is too long.
#[must_use]
pub fn bounded(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let end = text.floor_char_boundary(LONGEST.saturating_sub(DIGEST).saturating_sub(1));
    let digest: String = digest(&[&text]).chars().take(DIGEST).collect();
    format!("{}#{digest}", text.get(..end).unwrap_or_default())
}

/// The text, cut to at most `bytes` bytes.
#[must_use]
pub fn cut(mut text: String, bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_stay_apart_and_short_ones_as_they_are() {
        let [long, other] = ["a", "b"].map(|end| bounded("ä".repeat(5_000) + end));
        assert!(long.len() <= LONGEST && long.starts_with("ää"), "{long}");
        assert_ne!(long, other);
        let odd = "tab\t \"quoted\" \u{202e}right to left\0".to_owned();
        assert_eq!(bounded(odd.clone()), odd);
    }

    #[test]
    fn names_do_not_run_into_each_other() {
        let of = |tenant: &str, agent: &str| {
            Names { tenant: tenant.to_owned(), agent: agent.to_owned(), ..Names::default() }.run_id()
        };
        assert_ne!(of("ab", "c"), of("a", "bc"));
        assert_ne!(of("a", ""), of("", "a"));
        let named = v1::Names { run: "r".to_owned(), history: 7, ..v1::Names::default() };
        assert_eq!(Names::of(named).history, "", "a run that has a name goes by its name");
    }
}
