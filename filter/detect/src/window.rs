//! What is remembered of one scope: its last prompts with what became of them. No text, fingerprints only.
//! Where it is stored is not known here.

use sentinel_text::Fingerprint;
use serde::{Deserialize, Serialize};

use crate::{
    growing::Extent,
    kept_history::{KeptHistories, ThreadRef},
    step::StepLog,
    verdict::{Signal, Verdict},
};

/// Prompts that are remembered at most.
pub const MAX_LENGTH: usize = 50;

/// The window of one scope.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Window {
    /// When the scope was last heard of (milliseconds since 1970).
    pub touched: u64,
    /// The run is stopped until then (milliseconds since 1970); 0 when it is not.
    pub killed_until: u64,
    /// Why it was stopped.
    pub killed_by: Option<Signal>,
    /// When a response to it was last read to its end (milliseconds since 1970); 0 if none was.
    pub answered: u64,
    /// When the agent was last asked for something (milliseconds since 1970), for the span of the run. 0: that has come to its end.
    pub invoked: u64,
    /// How often it was asked for something.
    pub invocations: u32,
    /// Messages in the last request whose results were counted. A retry brings the same results again.
    pub messages: u32,
    /// Number for the next entry.
    pub next: u32,
    /// Oldest first.
    pub entries: Vec<PromptEvent>,
    /// Calls and results, where the provider keeps the history.
    pub kept: KeptHistories,
}

/// One prompt event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct PromptEvent {
    pub number: u32,
    /// Digest of the request body: the same body again is a retry, or a repetition where it was answered.
    pub body: u64,
    pub prompt: Fingerprint,
    /// What the prompt was asked about (`Context::whole`), and what a rewording must share of it (`Context::setting`).
    pub context: u64,
    pub setting: u64,
    /// The messages up to the prompt, itself included.
    pub history: u64,
    /// How far the prompt's text went.
    pub said: Extent,
    pub fate: Fate,
    /// What was decided on it, so that a retry gets the same again.
    pub verdict: Verdict,
    pub signal: Option<Signal>,
    /// The last text that was answered; no words where there was none.
    pub answer: Fingerprint,
    /// Digest of the tools that were called since; 0 without calls.
    pub tools: u64,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Fate {
    /// The response has not come yet.
    #[default]
    Pending,
    Answered,
    /// An error, a cut-off response, a client that went away.
    Failed,
}

/// What a response turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerOutcome<'a> {
    /// Text and tools; default and 0 where the response could not be read.
    Answered {
        answer: Fingerprint,
        tools: u64,
        /// Digest of the answer's id, where a later request may name it.
        id: Option<u64>,
        /// The calls, if the next request may not carry them.
        calls: StepLog<'a>,
    },
    Failed,
}

impl Window {
    /// Adds an entry, forgetting the oldest where there are `length` already, and gives it its number.
    pub fn push(&mut self, entry: PromptEvent, length: usize) -> u32 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let beyond = self.entries.len().saturating_add(1).saturating_sub(length.clamp(1, MAX_LENGTH));
        self.entries.drain(..beyond.min(self.entries.len()));
        self.entries.push(PromptEvent { number, ..entry });
        number
    }

    pub fn entry(&mut self, number: u32) -> Option<&mut PromptEvent> {
        self.entries.iter_mut().find(|entry| entry.number == number)
    }

    /// Notes what became of the request that belongs to the entry. `now`: milliseconds since 1970.
    pub fn record(&mut self, number: u32, thread: ThreadRef, outcome: AnswerOutcome<'_>, now: u64) {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.number == number) else { return };
        match outcome {
            AnswerOutcome::Answered { answer, tools, id, calls } => {
                self.answered = now;
                entry.fate = Fate::Answered;
                if answer.words > 0 {
                    entry.answer = answer;
                }
                entry.tools = entry.tools.wrapping_add(tools);
                self.kept.append(thread, id, calls);
            }
            // A later request of the same prompt event may fail after an earlier one was answered.
            AnswerOutcome::Failed if entry.fate == Fate::Pending => entry.fate = Fate::Failed,
            AnswerOutcome::Failed => {}
        }
    }

    /// The scope is stopped, or was suspected. Many other scopes must not push it out of the memory.
    pub fn is_suspect(&self) -> bool {
        self.killed_until > self.touched || self.entries.iter().any(|entry| entry.verdict > Verdict::Allow)
    }

    /// Whether a prompt like this one is remembered.
    pub fn knows(&self, prompt: &Fingerprint) -> bool {
        self.entries.iter().any(|entry| entry.prompt.is_verbatim(prompt) || entry.prompt.is_similar(prompt))
    }
}

impl PromptEvent {
    /// Both have the same text and the same calls. With `exactly`, digits count too, and the text must not be short: "yes"
    /// answers many questions.
    pub fn answered_like(&self, other: &Self, exactly: bool) -> bool {
        /// Fewest words of an answer that counts for prompts that differ.
        const WORDS: u16 = 4;
        let alike = if exactly {
            self.answer.is_verbatim(&other.answer)
        } else {
            self.answer.is_similar(&other.answer)
        };
        let least = if exactly { WORDS } else { 1 };
        self.answer.words.min(other.answer.words) >= least && alike && self.tools == other.tools
    }

    /// The same calls, where there were any.
    pub fn called_like(&self, other: &Self) -> bool {
        self.tools != 0 && self.tools == other.tools
    }
}
