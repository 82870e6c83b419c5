//! The one place where findings become a verdict.

use sentinel_detect::verdict::{Finding, Verdict};

use crate::config::{Mode, Policy};

/// What is to happen with a request, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    /// What it rests on; none where nothing was found.
    pub finding: Option<Finding>,
    /// Whether it is acted on. In `observe` it is only recorded.
    pub is_enforced: bool,
}

/// The strongest finding decides; of equal ones the first, which is the most telling.
pub fn decide(findings: &[Finding], policy: &Policy) -> Decision {
    let strongest = |best: Option<Finding>, finding: &Finding| match best {
        Some(best) if best.verdict >= finding.verdict => Some(best),
        _ => Some(finding.clone()),
    };
    let finding = findings.iter().fold(None, strongest);
    // What one request says by itself is refused whether loops are stopped or not.
    let is_refusal = finding.as_ref().is_some_and(|finding| finding.signal.is_refusal());
    let most = if policy.kill.enabled || is_refusal { Verdict::Kill } else { Verdict::Hint };
    Decision {
        verdict: finding.as_ref().map_or(Verdict::Allow, |finding| finding.verdict.min(most)),
        finding,
        is_enforced: policy.mode == Mode::Enforce,
    }
}

impl Decision {
    pub fn kills(&self) -> bool {
        self.is_enforced && self.verdict == Verdict::Kill
    }

    /// Whether the request is answered for what it says by itself.
    pub fn refuses(&self) -> bool {
        self.kills() && self.finding.as_ref().is_some_and(|finding| finding.signal.is_refusal())
    }

    pub fn hints(&self) -> bool {
        self.is_enforced && self.verdict == Verdict::Hint
    }
}

#[cfg(test)]
mod tests {
    use sentinel_detect::verdict::Signal;

    use super::*;
    use crate::config::Config;

    #[test]
    fn the_strongest_finding_decides_and_of_equal_ones_the_first() {
        let config = Config::from_json(b"{}").unwrap();
        let decide = |found: &[(Signal, Verdict)]| {
            let findings: Vec<_> =
                found.iter().map(|(signal, verdict)| Finding::of(*signal, *verdict)).collect();
            let decision = super::decide(&findings, config.policy(None));
            (decision.verdict, decision.finding.map(|finding| finding.signal))
        };
        assert_eq!(decide(&[]), (Verdict::Allow, None));
        let (cycle, limit, score) = (
            (Signal::Cycle, Verdict::Hint),
            (Signal::RunLimit, Verdict::Kill),
            (Signal::Score, Verdict::Kill),
        );
        assert_eq!(decide(&[cycle, limit, score]), (Verdict::Kill, Some(Signal::RunLimit)));
        assert_eq!(decide(&[cycle]), (Verdict::Hint, Some(Signal::Cycle)));
    }

    #[test]
    fn without_kills_a_loop_is_hinted_and_a_denied_tool_refused() {
        let config = Config::from_json(br#"{"kill":{"enabled":false}}"#).unwrap();
        let decide = |signal| super::decide(&[Finding::of(signal, Verdict::Kill)], config.policy(None));
        assert_eq!(decide(Signal::Cycle).verdict, Verdict::Hint);
        assert!(decide(Signal::ToolDenied).refuses() && !decide(Signal::Cycle).refuses());
    }
}
