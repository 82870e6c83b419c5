//! Where the trace of a run is. Its id follows from the names of the run, as the filter makes it (`filter/pipeline/src/span.rs`), so nobody has
//! to tell it.

use sentinel_text::{digest, digest_pair};

use crate::control::names::{Names, unhex};

/// Makes the second half of a trace's id from the first.
const SECOND_HALF: u64 = 1;
/// What the address of a trace has in the place of its id.
pub const TRACE_ID: &str = "{trace_id}";
/// Bytes from which on a name may have been cut.
const LONGEST: usize = 480;

/// The address of a run's trace; `None` where it has none: only a run that names itself has one.
pub fn address(template: &str, names: &Names) -> Option<String> {
    Some(template.replace(TRACE_ID, &format!("{:032x}", id(names)?)))
}

fn id(names: &Names) -> Option<u128> {
    let Names { tenant, client, agent, run, .. } = names;
    let all = [tenant, client, agent, run];
    if run.is_empty() || all.iter().any(|name| name.len() > LONGEST) {
        return None;
    }
    // With `identity.names: false` each name is reported as the digest that is wanted here.
    let is_digest = |name: &String| name.is_empty() || (name.len() == 16 && unhex(name).is_some());
    let are_digests = all.into_iter().all(is_digest);
    let one = |name: &String| match name.as_str() {
        "" => Some(0),
        hex if are_digests => unhex(hex),
        name => Some(digest(name.as_bytes())),
    };
    let tenant = digest_pair(one(client)?, one(tenant)?);
    let scope = digest_pair(tenant, digest_pair(one(agent)?, one(run)?));
    Some((u128::from(scope) << 64) | u128::from(digest_pair(scope, SECOND_HALF)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(agent: &str, run: &str) -> Names {
        Names {
            client: "billing".to_owned(),
            agent: agent.to_owned(),
            run: run.to_owned(),
            ..Names::default()
        }
    }

    /// A test of `filter/pipeline/src/identity.rs` has the same run and the same numbers.
    #[test]
    fn it_is_the_trace_that_the_filter_makes() {
        let address = |names: &Names| address("https://tempo.example/trace/{trace_id}?x", names);
        let wanted = "https://tempo.example/trace/4c3c621f55dd6bae133c22e2aa768bda?x";
        assert_eq!(address(&names("repo-fixer", "task-8412")).as_deref(), Some(wanted));
        let hex = |name: &str| format!("{:016x}", digest(name.as_bytes()));
        let hidden = Names { client: hex("billing"), ..names(&hex("repo-fixer"), &hex("task-8412")) };
        assert_eq!(address(&hidden).as_deref(), Some(wanted));
        assert_eq!(address(&names("repo-fixer", "")), None);
        assert_eq!(address(&names(&"a".repeat(500), "r")), None, "a name that may have been cut");
    }
}
