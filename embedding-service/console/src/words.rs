//! States and findings in plain words. The sentence of a run is what an operator reads first.

use maud::{Markup, html};
use strum::{IntoStaticStr, VariantArray};

use crate::{figure::times, text};

/// How a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum StatusWord {
    #[default]
    Working,
    Tools,
    Idle,
    Done,
    Killed,
    Stopped,
    Failed,
}

impl StatusWord {
    /// As the API names it.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.into()
    }

    /// A sign and a word. The status is also shown by a colour.
    #[must_use]
    pub fn badge(self) -> Markup {
        let (sign, word, meaning) = match self {
            Self::Working => ("●", "working", "An answer is under way"),
            Self::Tools => ("◆", "tools", "The agent has tools to run"),
            Self::Idle => ("○", "idle", "Nothing was heard of it for some time"),
            Self::Done => ("✓", "done", "Its last answer was a text"),
            Self::Killed => ("✕", "killed", "Sentinel has ended it"),
            Self::Stopped => ("■", "stopped", "An operator has stopped it"),
            Self::Failed => ("!", "failed", "Its last answer was an error, or its client went away"),
        };
        html! { span class={ "status " (self.id()) } title=(meaning) { span aria-hidden="true" { (sign) } " " (word) } }
    }

    /// Whether it may still spend something.
    #[must_use]
    pub fn is_under_way(self) -> bool {
        matches!(self, Self::Working | Self::Tools | Self::Idle)
    }
}

/// What a result is, as far as repeating it proves something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    #[default]
    Content,
    Failure,
    Empty,
    Acknowledgement,
    Waiting,
}

impl Outcome {
    /// From the name that the filter gives it.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "failure" => Self::Failure,
            "empty" => Self::Empty,
            "acknowledgement" => Self::Acknowledgement,
            "waiting" => Self::Waiting,
            _ => Self::Content,
        }
    }

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Failure => "error",
            Self::Empty => "empty",
            Self::Acknowledgement => "ok",
            Self::Waiting => "waiting",
        }
    }
}

/// What Sentinel did, or would have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictWord {
    Hint,
    Kill,
}

/// What was found in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub verdict: VerdictWord,
    /// As the filter names it.
    pub signal: String,
    pub count: u64,
    /// The tool that it is about; for some signals a model or a pattern. May be empty.
    pub tool: String,
    /// False: the agent is only observed.
    pub enforced: bool,
    /// Of the last step, where it is known.
    pub outcome: Option<Outcome>,
}

impl Finding {
    /// What was seen, as one clause.
    #[must_use]
    pub fn seen(&self) -> Markup {
        let Self { signal, count, tool, outcome, .. } = self;
        let n = times(*count);
        let named =
            html! { @if tool.is_empty() { "A tool" } @else { code { (text::name(tool, text::NAME)) } } };
        match (signal.as_str(), outcome) {
            ("repeated_step", Some(Outcome::Failure)) => {
                html! { (named) " failed " (n) " with the same error" }
            }
            ("repeated_step", Some(Outcome::Empty)) => {
                html! { (named) " found nothing " (n) ", asked the same way" }
            }
            ("repeated_step", Some(Outcome::Acknowledgement)) => {
                html! { (named) " was called " (n) " with the same arguments, and only says ok" }
            }
            ("repeated_step", Some(Outcome::Waiting)) => {
                html! { (named) " was asked " (n) " and still says to wait" }
            }
            ("repeated_step", _) => {
                html! { (named) " was called " (n) " with the same arguments and the same result" }
            }
            ("repeated_exchange", _) => html! { "It said the same " (n) " and got the same answer" },
            ("cycle", _) => html! { "It went through the same steps " (n) ", with the same results" },
            ("stagnation", _) => {
                html! { (count) " steps in a row repeated what it had done and seen before" }
            }
            ("stuck", _) => html! { (count) " new attempts in a row brought nothing new" },
            ("similar_failures", _) => {
                html! { (named) " failed " (n) " in a row with nearly the same arguments" }
            }
            ("same_outcome", _) => html! { (named) " brought the same result " (n) " in a row" },
            ("run_limit", _) => html! { "It took " (count) " turns without a word from its user" },
            ("mcp_breaker", _) => {
                html! { (named) " was called " (n) " with the same arguments in a short time" }
            }
            ("score", _) => html! { "Its prompts, its answers and its calls repeat themselves" },
            ("semantic", _) => html! { "It asks the same thing again in other words" },
            ("tool_denied", _) => html! { "It wants " (named) ", which it may not use" },
            ("model_denied", _) => {
                html! { "It asks for a model that it may not use" @if !tool.is_empty() { ": " (named) } }
            }
            ("injection", _) => html! { "A text that it was given looks like an injection" },
            ("memory_flush", _) => html! { "Its conversation nearly fills the model's window" },
            ("unreadable", _) => html! { "Its request could not be read in full" },
            ("stopped", _) => html! { "An operator stopped it" },
            ("budget", _) => html! { "A budget is spent" @if !tool.is_empty() { ": " (named) } },
            (other, _) => html! { "The signal " code { (text::name(other, text::NAME)) } " fired" },
        }
    }

    /// What was done about it, as the rest of the sentence.
    #[must_use]
    pub fn done(&self, hints: u64) -> Markup {
        match (self.verdict, self.enforced, self.signal.as_str()) {
            (VerdictWord::Hint, true, _) => html! { "; the model was told " (times(hints.max(1))) },
            (VerdictWord::Hint, false, _) => {
                html! { "; the model was not told, because the agent is only observed" }
            }
            (VerdictWord::Kill, true, "stopped") => html! {},
            (VerdictWord::Kill, true, _) => html! { "; Sentinel ended the run" },
            (VerdictWord::Kill, false, _) => {
                html! { "; Sentinel would have ended the run, but the agent is only observed" }
            }
        }
    }

    /// The sentence of a run.
    #[must_use]
    pub fn sentence(&self, hints: u64) -> Markup {
        html! { (self.seen()) (self.done(hints)) "." }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(signal: &str, verdict: VerdictWord, enforced: bool) -> Finding {
        Finding {
            verdict,
            signal: signal.to_owned(),
            count: 4,
            tool: "read_file".to_owned(),
            enforced,
            outcome: Some(Outcome::Failure),
        }
    }

    #[test]
    fn a_sentence_says_what_happened_and_what_was_done() {
        let told = finding("repeated_step", VerdictWord::Hint, true).sentence(2).into_string();
        assert_eq!(
            told,
            "<code><bdi>read_file</bdi></code> failed 4 times with the same error; the model was told twice."
        );
        let observed = finding("cycle", VerdictWord::Kill, false).sentence(0).into_string();
        assert!(observed.contains("would have ended the run"), "{observed}");
        let stopped = finding("stopped", VerdictWord::Kill, true).sentence(0).into_string();
        assert_eq!(stopped, "An operator stopped it.");
    }

    #[test]
    fn a_signal_of_a_newer_filter_is_named() {
        let unknown = finding("<b>", VerdictWord::Kill, true).sentence(0).into_string();
        assert_eq!(unknown, "The signal <code><bdi>&lt;b&gt;</bdi></code> fired; Sentinel ended the run.");
    }
}
