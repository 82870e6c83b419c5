//! The one place where findings become a verdict.

use std::cmp::Reverse;

use sentinel_detect::verdict::{Finding, Verdict};

use sentinel_config::{Mode, Policy};

use crate::{host::Facts, passes::stop, turn::Names};

/// What is to happen with a request, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    /// What the decision is based on. `None` if nothing was found.
    pub finding: Option<Finding>,
    /// Whether it is acted on. In `observe` it is only recorded.
    pub is_enforced: bool,
}

/// The strongest finding decides. Of equally strong findings, the one whose signal ranks first.
pub fn decide(findings: &[Finding], policy: &Policy) -> Decision {
    let strongest = |finding: &&Finding| (Reverse(finding.verdict), finding.signal.rank());
    let finding = findings.iter().min_by_key(strongest).cloned();
    // `kill.enabled` limits only findings about loops: refusals of a single request and operators' stops always apply.
    let is_bound = finding.as_ref().is_some_and(|finding| finding.signal.is_loop());
    let most = if policy.kill.enabled || !is_bound { Verdict::Kill } else { Verdict::Hint };
    Decision {
        verdict: finding.as_ref().map_or(Verdict::Allow, |finding| finding.verdict.min(most)),
        finding,
        is_enforced: policy.mode == Mode::Enforce,
    }
}

/// Why an answer that is passing must end. Returns `None` unless an operator has stopped its run, agent, client or tenant, and
/// the stop is enforced.
#[inline(never)]
pub fn stopping(names: Option<&Names>, policy: &Policy, host: &dyn Facts) -> Option<Decision> {
    let finding = stop::finding(names, host)?;
    Some(decide(&[finding], policy)).filter(Decision::kills)
}

impl Decision {
    pub fn kills(&self) -> bool {
        self.is_enforced && self.verdict == Verdict::Kill
    }

    /// Whether the request is answered for what it says by itself.
    pub fn refuses(&self) -> bool {
        self.kills() && self.finding.as_ref().is_some_and(|finding| finding.signal.is_refusal())
    }

    /// Whether the request is answered whatever it may be evidence of.
    pub fn kills_by_itself(&self) -> bool {
        self.kills() && self.finding.as_ref().is_some_and(|finding| !finding.signal.is_loop())
    }

    pub fn hints(&self) -> bool {
        self.is_enforced && self.verdict == Verdict::Hint
    }
}

#[cfg(test)]
mod tests {
    use sentinel_config::{Config, Sender};
    use sentinel_detect::verdict::Signal;

    use super::*;

    #[test]
    fn the_strongest_finding_decides_and_of_equal_ones_that_which_ranks_first() {
        let config = Config::from_json(b"{}").unwrap();
        let decide = |found: &[(Signal, Verdict)]| {
            let findings: Vec<_> =
                found.iter().map(|(signal, verdict)| Finding::of(*signal, *verdict)).collect();
            let decision = super::decide(&findings, config.policy(Sender::default()));
            (decision.verdict, decision.finding.map(|finding| finding.signal))
        };
        assert_eq!(decide(&[]), (Verdict::Allow, None));
        let (cycle, limit, score) = (
            (Signal::Cycle, Verdict::Hint),
            (Signal::RunLimit, Verdict::Kill),
            (Signal::Score, Verdict::Kill),
        );
        assert_eq!(decide(&[cycle, limit, score]), (Verdict::Kill, Some(Signal::RunLimit)));
        assert_eq!(decide(&[score, limit, cycle]), (Verdict::Kill, Some(Signal::RunLimit)));
        let flush = (Signal::MemoryFlush, Verdict::Hint);
        assert_eq!(decide(&[cycle, flush]), (Verdict::Hint, Some(Signal::MemoryFlush)));
        assert_eq!(decide(&[cycle]), (Verdict::Hint, Some(Signal::Cycle)));
    }

    #[test]
    fn without_kills_a_loop_is_hinted_and_a_denied_tool_refused() {
        let config = Config::from_json(br#"{"kill":{"enabled":false}}"#).unwrap();
        let decide =
            |signal| super::decide(&[Finding::of(signal, Verdict::Kill)], config.policy(Sender::default()));
        assert_eq!(decide(Signal::Cycle).verdict, Verdict::Hint);
        assert!(decide(Signal::ToolDenied).refuses() && !decide(Signal::Cycle).refuses());
    }
}
