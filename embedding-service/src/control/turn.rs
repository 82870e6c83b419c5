//! One judged request with its answer, as it is stored and shown.

use sentinel_proto::v1;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use utoipa::ToSchema;

use super::{
    names::{bounded, cut, hex},
    prices::{Priced, Prices, Tokens},
};

/// Steps of one turn that are stored.
const MOST_STEPS: usize = 32;
/// Bytes of each text, where texts are stored.
const TEXT: usize = 2_048;

/// One judged request with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Turn {
    /// When the request came, in milliseconds since 1970, by the service's clock.
    pub at_ms: u64,
    pub duration_ms: u32,
    pub dialect: String,
    /// Empty where it is not known.
    pub provider: String,
    pub model: String,
    /// HTTP status of the answer. 0 if none has come.
    pub status: u32,
    #[serde(flatten)]
    pub tokens: Tokens,
    /// The tokens were counted from bytes, because the answer did not say how many.
    pub estimated: bool,
    /// Billionths of a US dollar.
    pub cost_nano_usd: u64,
    pub priced: Priced,
    pub verdict: Decision,
    /// Answered from the response cache.
    pub cache_hit: bool,
    /// What is new in this request.
    pub steps: Vec<TurnStep>,
    /// How many more steps there were.
    pub more_steps: u32,
    pub prompt_digest: String,
    /// Of the prompt to the nearest earlier one; null where that was not asked.
    pub similarity: Option<f64>,
    pub end: End,
    /// Texts in which an injection was found.
    pub injections: u32,
    /// Empty unless texts are stored.
    pub prompt: String,
}

/// What was decided, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Decision {
    pub kind: VerdictKind,
    /// Empty if no signal was found.
    pub signal: String,
    pub count: u32,
    pub tool: String,
    /// False in mode `observe`: nothing was changed.
    pub enforced: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum VerdictKind {
    #[default]
    Allow,
    Hint,
    Kill,
}

/// A call and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnStep {
    pub tool: String,
    pub arguments_digest: String,
    /// Empty where the outcome is not known: calls of an MCP server.
    pub outcome_digest: String,
    /// `content`, `failure`, `empty`, `acknowledgement` or `waiting`; empty where the outcome is not known.
    pub kind: String,
    /// Of the outcome.
    pub bytes: u64,
    /// The same step came before.
    pub repeated: bool,
    /// Empty unless texts are stored.
    pub arguments: String,
    /// Empty unless texts are stored.
    pub outcome: String,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    #[default]
    Unknown,
    /// With a text: the agent has what it asked for.
    Text,
    /// With calls: the agent has tools to run.
    Calls,
    /// With what an MCP server says: the agent goes on.
    Results,
    /// At a limit of tokens.
    Limit,
    Error,
    ClientGone,
}

impl Turn {
    /// As it was reported; `at_ms` is by the service's clock.
    #[must_use]
    pub fn of(turn: v1::Turn, at_ms: u64, prices: &Prices) -> Self {
        let tokens = Tokens {
            input_tokens: turn.input_tokens,
            cached_tokens: turn.cached_tokens.min(turn.input_tokens),
            output_tokens: turn.output_tokens,
            reasoning_tokens: turn.reasoning_tokens.min(turn.output_tokens),
        };
        let (provider, model) = (bounded(turn.provider), bounded(turn.model));
        let is_free = turn.cache_hit || tokens == Tokens::default();
        let (cost_nano_usd, priced) = match turn.cost_nano_usd {
            Some(cost) => (cost, Priced::Configured),
            None if is_free => (0, Priced::Known),
            None => match prices.cost(&provider, &model, tokens) {
                Some(cost) => (cost, Priced::Known),
                None => (0, Priced::Unknown),
            },
        };
        let more = u32::try_from(turn.steps.len().saturating_sub(MOST_STEPS)).unwrap_or(u32::MAX);
        Self {
            at_ms,
            duration_ms: turn.duration_ms,
            dialect: bounded(turn.dialect),
            provider,
            model,
            status: turn.status,
            tokens,
            estimated: turn.estimated,
            cost_nano_usd,
            priced,
            verdict: turn.verdict.map(Decision::of).unwrap_or_default(),
            cache_hit: turn.cache_hit,
            more_steps: turn.more_steps.saturating_add(more),
            steps: turn.steps.into_iter().take(MOST_STEPS).map(TurnStep::of).collect(),
            prompt_digest: if turn.prompt_digest == 0 { String::new() } else { hex(turn.prompt_digest) },
            similarity: turn.similarity.filter(|similarity| similarity.is_finite()),
            end: match v1::End::try_from(turn.end).unwrap_or_default() {
                v1::End::Unspecified => End::Unknown,
                v1::End::Text => End::Text,
                v1::End::Calls => End::Calls,
                v1::End::Results => End::Results,
                v1::End::Limit => End::Limit,
                v1::End::Error => End::Error,
                v1::End::ClientGone => End::ClientGone,
            },
            injections: turn.injections,
            prompt: cut(turn.prompt, TEXT),
        }
    }
}

impl Decision {
    fn of(verdict: v1::Verdict) -> Self {
        Self {
            kind: match v1::verdict::Kind::try_from(verdict.kind).unwrap_or_default() {
                v1::verdict::Kind::Allow => VerdictKind::Allow,
                v1::verdict::Kind::Hint => VerdictKind::Hint,
                v1::verdict::Kind::Kill => VerdictKind::Kill,
            },
            signal: bounded(verdict.signal),
            count: verdict.count,
            tool: bounded(verdict.tool),
            enforced: verdict.enforced,
        }
    }
}

impl TurnStep {
    fn of(step: v1::Step) -> Self {
        Self {
            tool: bounded(step.tool),
            arguments_digest: hex(step.arguments_digest),
            outcome_digest: if step.outcome_digest == 0 { String::new() } else { hex(step.outcome_digest) },
            kind: bounded(step.kind),
            bytes: step.bytes,
            repeated: step.repeated,
            arguments: cut(step.arguments, TEXT),
            outcome: cut(step.outcome, TEXT),
        }
    }
}
