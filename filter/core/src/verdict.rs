//! Verdicts and what they rest on.

/// What is to happen with a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    #[default]
    Allow,
    Hint,
    Kill,
}

/// A measured reason for suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// The last step, with the same outcome, again and again.
    RepeatedStep,
    /// The same few steps round after round.
    Cycle,
    /// Old approaches that bring old outcomes.
    Stagnation,
    /// New approaches that bring nothing new.
    Stuck,
    /// One tool, similar arguments, and it fails.
    SimilarFailures,
    /// One tool, any arguments, one outcome.
    SameOutcome,
    /// Too many assistant turns without a user message.
    RunLimit,
    /// One MCP tool with the same arguments, too often in too short a time.
    McpBreaker,
    /// Similar prompts, similar responses and repeated tool calls, weighed.
    Score,
    /// Similarity of the prompt's meaning to the last prompts.
    Semantic,
}

/// What was counted for the score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Earlier prompts like this one.
    pub prompts: u32,
    /// Of their responses, those like the last one.
    pub responses: u32,
    /// Of their tool calls, those like the last ones.
    pub tools: u32,
}

impl Verdict {
    pub fn label(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Hint => "hint",
            Self::Kill => "kill",
        }
    }
}

impl Signal {
    pub const ALL: [Self; 10] = [
        Self::Score,
        Self::Semantic,
        Self::RepeatedStep,
        Self::Cycle,
        Self::Stagnation,
        Self::Stuck,
        Self::SameOutcome,
        Self::RunLimit,
        Self::McpBreaker,
        Self::SimilarFailures,
    ];

    pub fn label(self) -> &'static str {
        match self {
            Self::RepeatedStep => "repeated_step",
            Self::Cycle => "cycle",
            Self::Stagnation => "stagnation",
            Self::Stuck => "stuck",
            Self::SimilarFailures => "similar_failures",
            Self::SameOutcome => "same_outcome",
            Self::RunLimit => "run_limit",
            Self::McpBreaker => "mcp_breaker",
            Self::Score => "score",
            Self::Semantic => "semantic",
        }
    }
}

impl Evidence {
    /// 1.0 for each prompt, 2.0 for each response, 1.5 for each tool call.
    pub fn score(&self) -> f64 {
        f64::from(self.prompts) + 2.0 * f64::from(self.responses) + 1.5 * f64::from(self.tools)
    }
}
