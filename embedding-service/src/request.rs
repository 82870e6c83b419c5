//! A CheckLoop request that can be answered: from here on every value is possible.

use sentinel_proto::v1::CheckLoopRequest;

use crate::{comparison::MatchRules, history::Scope};

/// Longest id of a tenant, agent or run, in bytes. The filter sends hashes, far shorter.
const MAX_ID: usize = 512;

/// A request that can be answered.
pub struct ValidRequest {
    pub scope: Scope,
    pub prompt: String,
    pub rules: MatchRules,
    pub record: bool,
}

/// What is wrong with a request. Never holds a value of it, but for a number.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum InvalidRequest {
    #[error("{0} is empty; send a text that is more than white space")]
    Empty(&'static str),
    #[error("{field} has {length} bytes; send at most {MAX_ID}, a hash for example")]
    TooLong { field: &'static str, length: usize },
    #[error("similarity_threshold is {0}; send a number from 0 to 1, or leave it out")]
    Threshold(f64),
}

impl ValidRequest {
    /// # Errors
    /// When a value is impossible.
    pub fn new(request: CheckLoopRequest, threshold: f64) -> Result<Self, InvalidRequest> {
        for (field, value) in [("tenant_id", &request.tenant_id), ("prompt", &request.prompt)] {
            if value.trim().is_empty() {
                return Err(InvalidRequest::Empty(field));
            }
        }
        for (field, value) in
            [("tenant_id", &request.tenant_id), ("agent_id", &request.agent_id), ("run_id", &request.run_id)]
        {
            let length = value.len();
            if length > MAX_ID {
                return Err(InvalidRequest::TooLong { field, length });
            }
        }
        let threshold = request.similarity_threshold.unwrap_or(threshold);
        if !(0.0..=1.0).contains(&threshold) {
            return Err(InvalidRequest::Threshold(threshold));
        }
        Ok(Self {
            scope: Scope::new(&request.tenant_id, &request.agent_id, &request.run_id),
            prompt: request.prompt,
            rules: MatchRules { threshold, repeats: request.repeats.max(1) },
            record: request.record.unwrap_or(true),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> CheckLoopRequest {
        CheckLoopRequest { tenant_id: "t".to_owned(), prompt: "p".to_owned(), ..Default::default() }
    }

    fn error(change: impl FnOnce(&mut CheckLoopRequest)) -> InvalidRequest {
        let mut request = request();
        change(&mut request);
        ValidRequest::new(request, 0.95).err().unwrap()
    }

    #[test]
    fn absent_fields_get_their_defaults() {
        let valid = ValidRequest::new(request(), 0.95).unwrap();
        let rules = MatchRules { threshold: 0.95, repeats: 1 };
        assert_eq!(valid.rules, rules);
        assert!(valid.record);
        assert_eq!(valid.scope, Scope::new("t", "", ""));
    }

    #[test]
    fn given_fields_are_taken() {
        let request = CheckLoopRequest {
            similarity_threshold: Some(0.0),
            repeats: 3,
            record: Some(false),
            ..request()
        };
        let valid = ValidRequest::new(request, 0.95).unwrap();
        assert_eq!((valid.rules.threshold, valid.rules.repeats), (0.0, 3));
        assert!(!valid.record);
    }

    #[test]
    fn impossible_values_are_named() {
        for blank in ["", " ", "\n\t\u{a0}"] {
            let e = error(|r| r.tenant_id = blank.to_owned());
            assert_eq!(e, InvalidRequest::Empty("tenant_id"));
            let e = error(|r| r.prompt = blank.to_owned());
            assert_eq!(e, InvalidRequest::Empty("prompt"));
        }
        for threshold in [-0.01, 1.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let e = error(|r| r.similarity_threshold = Some(threshold));
            assert!(matches!(e, InvalidRequest::Threshold(_)), "{threshold}");
        }
        let e = error(|r| r.run_id = "x".repeat(513));
        assert!(e.to_string().starts_with("run_id has 513 bytes"));
    }
}
