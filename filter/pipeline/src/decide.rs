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
    let most = if policy.kill.enabled { Verdict::Kill } else { Verdict::Hint };
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
}
