//! Verdicts and what they rest on.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// What is to happen with a request.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize, IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    #[default]
    Allow,
    Hint,
    Kill,
}

/// A measured reason for suspicion. The codes stand in shared data and never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, IntoStaticStr, VariantArray)]
#[serde(into = "u8", try_from = "u8")]
#[repr(u8)]
#[strum(serialize_all = "snake_case")]
pub enum Signal {
    /// Similar prompts, similar responses and repeated tool calls, weighed.
    Score = 1,
    /// Similarity of the prompt's meaning to the last prompts.
    Semantic = 2,
    /// The last step, with the same outcome, again and again.
    RepeatedStep = 3,
    /// The same few steps round after round.
    Cycle = 4,
    /// Old approaches that bring old outcomes.
    Stagnation = 5,
    /// New approaches that bring nothing new.
    Stuck = 6,
    /// One tool, any arguments, one outcome.
    SameOutcome = 7,
    /// Too many assistant turns without a user message.
    RunLimit = 8,
    /// One MCP tool with the same arguments, too often in too short a time.
    McpBreaker = 9,
    /// One tool, similar arguments, and it fails.
    SimilarFailures = 10,
    /// The last words of the agent, with the same answer, again and again.
    RepeatedExchange = 11,
    /// The request wants a tool that its agent may not use.
    ToolDenied = 12,
    /// What is new in the request looks like an injection.
    Injection = 13,
    /// The newest turn fills the context window up to a mark.
    MemoryFlush = 14,
    /// The request cannot be read in full, and its agent may not do everything.
    Unreadable = 15,
    /// The request asks for a model that its agent may not use.
    ModelDenied = 16,
    /// An operator has stopped the run, agent, client or tenant.
    Stopped = 17,
    /// What may be spent is spent, or almost.
    Budget = 18,
}

impl From<Signal> for u8 {
    fn from(signal: Signal) -> Self {
        signal as Self
    }
}

/// A code that no signal has.
#[derive(Debug)]
pub struct UnknownSignal(u8);

impl std::fmt::Display for UnknownSignal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no signal has the code {}", self.0)
    }
}

impl TryFrom<u8> for Signal {
    type Error = UnknownSignal;

    fn try_from(code: u8) -> Result<Self, UnknownSignal> {
        Self::ALL.iter().copied().find(|signal| u8::from(*signal) == code).ok_or(UnknownSignal(code))
    }
}

/// What a signal found: the evidence for a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub verdict: Verdict,
    pub signal: Signal,
    /// Steps, rounds of a cycle, turns or calls; 0 where nothing is counted.
    pub count: u32,
    /// The tool that it is about, or the pattern, or the model, or why the request cannot be read, or an operator's words, or the name of
    /// a budget; empty where it is about none.
    pub tool: String,
    /// What is left of a budget, or why it allows no more, in words.
    pub amount: String,
    /// What is repeated waits for something.
    pub is_waiting: bool,
    /// The call is the same each time, but its outcomes differ.
    pub is_any_outcome: bool,
    /// What the score rests on.
    pub evidence: Evidence,
}

impl Finding {
    /// A finding of which only the signal is known.
    pub fn of(signal: Signal, verdict: Verdict) -> Self {
        Self {
            verdict,
            signal,
            count: 0,
            tool: String::new(),
            amount: String::new(),
            is_waiting: false,
            is_any_outcome: false,
            evidence: Evidence::default(),
        }
    }

    /// The request cannot be read in full. `cause`: why, as metrics name it.
    pub fn unreadable(cause: &str) -> Self {
        Self { tool: cause.to_owned(), ..Self::of(Signal::Unreadable, Verdict::Kill) }
    }

    /// Why the request cannot be read, where it is about that.
    pub fn cause(&self) -> Option<&str> {
        (self.signal == Signal::Unreadable).then_some(self.tool.as_str())
    }

    /// The name of the budget, where it is about one.
    pub fn budget(&self) -> Option<&str> {
        (self.signal == Signal::Budget && !self.tool.is_empty()).then_some(self.tool.as_str())
    }

    /// For a header: signal, count and tool, or what the score rests on.
    pub fn reason(&self) -> String {
        let Self { signal, count, tool, evidence, .. } = self;
        let label = signal.label();
        match signal {
            Signal::Injection => format!("{label}; pattern={tool}"),
            Signal::Unreadable => format!("{label}; cause={tool}"),
            Signal::ModelDenied if !tool.is_empty() => format!("{label}; model={tool}"),
            Signal::Budget if !tool.is_empty() => format!("{label}; budget={tool}"),
            // The operator's words are only for the agent.
            Signal::Stopped => label.to_owned(),
            Signal::Score if evidence.prompts > 0 => format!("{label}; {evidence}"),
            _ if *count == 0 && tool.is_empty() => label.to_owned(),
            _ if *count == 0 => format!("{label}; tool={tool}"),
            _ if tool.is_empty() => format!("{label}; count={count}"),
            _ => format!("{label}; count={count}; tool={tool}"),
        }
    }

    /// For the agent: a clause that goes on after "because".
    pub fn explanation(&self) -> String {
        let Self { count, tool, .. } = self;
        match self.signal {
            Signal::RepeatedStep if self.is_any_outcome => {
                format!("it called `{tool}` {count} times in a row with the same arguments")
            }
            Signal::RepeatedStep => {
                format!("it called `{tool}` {count} times with the same arguments and the same result")
            }
            Signal::RepeatedExchange => {
                format!("it said the same {count} times and got the same answer")
            }
            Signal::Cycle => format!("it went through the same steps {count} times, with the same results"),
            Signal::Stagnation => format!("{count} steps in a row repeated what it had done and seen before"),
            Signal::Stuck => {
                format!("{count} new attempts in a row failed or brought what it had seen before")
            }
            Signal::SimilarFailures => {
                format!("`{tool}` failed {count} times in a row with similar arguments")
            }
            Signal::SameOutcome => format!("`{tool}` brought the same result {count} times in a row"),
            Signal::RunLimit => format!("it took {count} turns without a word from the user"),
            Signal::Injection => format!("what is new in it looks like an injection ({tool})"),
            Signal::ToolDenied => format!("it asked for the tool `{tool}`, which it may not use"),
            Signal::ModelDenied if tool.is_empty() => "it names no model, and may use only some".to_owned(),
            Signal::ModelDenied => format!("it asked for the model `{tool}`, which it may not use"),
            Signal::Unreadable => format!("the gateway cannot read it in full ({tool})"),
            Signal::Stopped if tool.is_empty() => "an operator stopped it".to_owned(),
            Signal::Stopped => format!("an operator stopped it: {tool}"),
            Signal::Budget if tool.is_empty() => self.amount.clone(),
            Signal::Budget => format!("its budget `{tool}` does not allow more: {}", self.amount),
            Signal::MemoryFlush => "its context window is almost full".to_owned(),
            Signal::Score | Signal::Semantic | Signal::McpBreaker => {
                "it keeps repeating the same request with the same outcome".to_owned()
            }
        }
    }
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
        self.into()
    }
}

impl Signal {
    /// Every signal.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Its rank among the signals that ask for the same verdict. The most telling one comes first.
    pub fn rank(self) -> u8 {
        match self {
            // The warnings that the window is almost full and that a budget runs out are given only once, so they go before hints that come
            // again as long as there is a loop.
            Self::MemoryFlush => 0,
            Self::Stopped => 1,
            Self::Budget => 2,
            Self::ModelDenied => 3,
            Self::ToolDenied => 4,
            Self::Unreadable => 5,
            Self::Injection => 6,
            Self::RepeatedStep => 7,
            Self::RepeatedExchange => 8,
            Self::Cycle => 9,
            Self::Stagnation => 10,
            Self::SimilarFailures => 11,
            Self::SameOutcome => 12,
            Self::Stuck => 13,
            Self::RunLimit => 14,
            Self::Score => 15,
            Self::Semantic => 16,
            Self::McpBreaker => 17,
        }
    }

    /// Whether it is about a loop.
    pub fn is_loop(self) -> bool {
        !self.is_refusal() && !matches!(self, Self::MemoryFlush | Self::Stopped | Self::Budget)
    }

    /// Whether it is about what one request says, and not about a loop.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::ToolDenied | Self::ModelDenied | Self::Injection | Self::Unreadable)
    }

    pub fn label(self) -> &'static str {
        self.into()
    }
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { prompts, responses, tools } = self;
        write!(f, "prompts={prompts}; responses={responses}; tools={tools}; score={}", self.score())
    }
}

impl Evidence {
    /// 1.0 for each prompt, 2.0 for each response, 1.5 for each tool call.
    pub fn score(&self) -> f64 {
        f64::from(self.prompts) + 2.0 * f64::from(self.responses) + 1.5 * f64::from(self.tools)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_has_one_code_of_its_own() {
        for signal in Signal::ALL.iter().copied() {
            assert_eq!(Signal::try_from(u8::from(signal)).ok(), Some(signal));
        }
        assert!(Signal::try_from(0).is_err() && Signal::try_from(99).is_err());
    }
}
