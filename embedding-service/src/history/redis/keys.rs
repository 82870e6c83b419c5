//! How keys are named. Everything of one scope has the same hash tag (what stands in braces), so that in a cluster it
//! lies on one node, and the scopes of a busy tenant on many.

use super::super::{Moment, Scope};

/// Holds the dimension of the vectors, so that models of different dimensions never share a Redis.
pub const DIMENSION: &str = "loop:dimension";

/// The hash of one prompt: `loop:{tenant/scope}:timestamp-replica`. The replica tells the keys of this process from
/// those that another one made in the same microsecond.
pub fn prompt(scope: &Scope, moment: Moment, replica: &str) -> String {
    format!("loop:{{{}}}:{}-{replica}", tag(scope), moment.0)
}

/// The sorted set of the scope's prompts: their keys by moment.
pub fn recent(scope: &Scope) -> String {
    format!("loop:{{{}}}:recent", tag(scope))
}

/// The tenant's name, when it is short and plain, is there for people; the scope tells all apart.
fn tag(scope: &Scope) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let tenant = scope.tenant();
    if tenant.len() <= 64 && tenant.bytes().all(plain) {
        return format!("{tenant}/{}", scope.id());
    }
    scope.id().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_cannot_break_out_of_its_key() {
        assert!(tag(&Scope::new("acme-1.eu_x", "", "")).starts_with("acme-1.eu_x/"));
        let long = "x".repeat(65);
        for wild in ["a}b", "a b", "a:b", "{", "ä", "*", "a/b", long.as_str()] {
            let tag = tag(&Scope::new(wild, "", ""));
            assert_eq!(tag.len(), 32, "{wild}");
            assert!(tag.bytes().all(|b| b.is_ascii_hexdigit()));
        }
    }

    #[test]
    fn all_of_a_scope_has_one_tag_and_another_scope_has_another() {
        let tag_of = |key: String| key.split(['{', '}']).nth(1).unwrap().to_owned();
        let (one, two) = (Scope::new("acme", "a", "1"), Scope::new("acme", "a", "2"));
        let tags = [prompt(&one, Moment(1), "r"), recent(&one), prompt(&two, Moment(1), "r")].map(tag_of);
        assert_eq!(tags[0], tags[1]);
        assert_ne!(tags[0], tags[2]);
    }
}
