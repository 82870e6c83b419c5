//! A turn: one judged request with its answer, as a record for the embedding service. Names, counts and digests; texts only where
//! `control.content` is on.

use sentinel_detect::{
    step::{FinishedCall, Kind, shown},
    verdict::Verdict,
};
use sentinel_llm_api::usage::Usage;
use serde::{Deserialize, Serialize};

use crate::decide::Decision;

/// Most steps of one turn.
pub const MOST_STEPS: usize = 32;

/// Who acts, as the request says. A name that was not sent is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Names {
    pub tenant: String,
    pub client: String,
    pub agent: String,
    pub run: String,
    /// Digest of how the history begins, where no run was sent. 0: it is not known.
    pub history: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// The worker's number for it; 0: it has none yet.
    pub number: u64,
    /// The answer has not come to its end.
    pub is_under_way: bool,
    /// The number under which it was reported as under way; 0: it was not.
    pub begun: u64,
    pub names: Names,
    /// Milliseconds since 1970.
    pub at: u64,
    /// Milliseconds.
    pub duration: u64,
    pub dialect: &'static str,
    pub model: String,
    /// HTTP status of the answer. 0 if none has come.
    pub status: u16,
    pub usage: Usage,
    /// The tokens were counted from bytes.
    pub is_estimated: bool,
    /// Billionths of a USD; `None` where the configuration has no price.
    pub cost: Option<u64>,
    pub verdict: Verdict,
    /// Empty where nothing was found.
    pub signal: &'static str,
    pub count: u32,
    pub tool: String,
    pub is_enforced: bool,
    /// The answer came from the response cache.
    pub is_cached: bool,
    pub steps: Vec<TurnStep>,
    /// Steps above `MOST_STEPS`.
    pub more_steps: u32,
    pub prompt: u64,
    pub similarity: Option<f64>,
    pub end: End,
    pub injections: u32,
    /// The new prompt; empty unless texts are reported.
    pub text: String,
    /// New tool results for the second opinion, and how many more there were. They are told once: a turn that was reported as
    /// under way has none when it ends.
    pub results: Vec<String>,
    pub more_results: u32,
}

/// A call and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnStep {
    pub tool: String,
    pub arguments: u64,
    /// 0 where it is not known.
    pub outcome: u64,
    /// Empty where it is not known.
    pub kind: &'static str,
    /// Length of the outcome.
    pub bytes: usize,
    pub is_repeated: bool,
    pub texts: StepTexts,
}

/// What a call was made with, and what came of it; empty unless texts are reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepTexts {
    pub arguments: String,
    pub outcome: String,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    #[default]
    Unknown,
    Text,
    Calls,
    /// With what an MCP server says. The agent goes on.
    Results,
    Error,
    ClientGone,
}

impl Turn {
    pub fn add_steps(&mut self, done: &[FinishedCall], is_repeated: bool) {
        self.steps = done.iter().take(MOST_STEPS).map(|call| TurnStep::of(call, is_repeated)).collect();
        self.more_steps = u32::try_from(done.len().saturating_sub(MOST_STEPS)).unwrap_or(u32::MAX);
    }

    pub fn judged(&mut self, decision: &Decision) {
        (self.verdict, self.is_enforced) = (decision.verdict, decision.is_enforced);
        if let Some(finding) = &decision.finding {
            self.signal = finding.signal.label();
            self.count = finding.count;
            // A finding without a count does not name a tool in `tool`.
            if finding.count > 0 {
                self.tool = finding.tool.clone();
            }
        }
    }

    /// About how many bytes it takes in a report.
    pub fn size(&self) -> usize {
        const FIXED: usize = 160;
        const STEP: usize = 48;
        let Names { tenant, client, agent, run, .. } = &self.names;
        let texts = [tenant, client, agent, run, &self.model, &self.tool, &self.text].map(String::len);
        let steps = self.steps.iter().map(|step| {
            let StepTexts { arguments, outcome } = &step.texts;
            [&step.tool, arguments, outcome].map(String::len).into_iter().fold(STEP, usize::saturating_add)
        });
        let all = texts.into_iter().chain(steps).fold(FIXED, usize::saturating_add);
        all.saturating_add(self.bytes_of_results())
    }

    pub fn bytes_of_results(&self) -> usize {
        self.results.iter().map(String::len).fold(0, usize::saturating_add)
    }

    /// Removes the results, because nobody reads them.
    pub fn leave_out_results(&mut self) {
        let left_out = std::mem::take(&mut self.results).len();
        self.more_results = self.more_results.saturating_add(u32::try_from(left_out).unwrap_or(u32::MAX));
    }

    /// Removes the results, because they have been told.
    pub fn forget_results(&mut self) {
        self.results = Vec::new();
        self.more_results = 0;
    }
}

impl TurnStep {
    fn of(call: &FinishedCall, is_repeated: bool) -> Self {
        let kind = match call.kind {
            Kind::Content => "content",
            Kind::Failure => "failure",
            Kind::Empty => "empty",
            Kind::Acknowledgement => "acknowledgement",
            Kind::Waiting => "waiting",
        };
        Self {
            tool: shown(&call.tool),
            arguments: call.approach,
            outcome: call.outcome,
            kind,
            bytes: call.bytes,
            is_repeated,
            texts: StepTexts::default(),
        }
    }
}
