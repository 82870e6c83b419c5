//! The configuration as the user writes it (JSON). Unknown fields are
//! refused. Every field has a default, so `{}` is a complete configuration. What a value must be beyond its type is
//! checked in `valid`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::verdict::Signal;

macro_rules! raw {
    ($(#[$meta:meta])* struct $name:ident { $($body:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Deserialize)]
        #[cfg_attr(feature = "reference", derive(schemars::JsonSchema, serde::Serialize))]
        #[serde(deny_unknown_fields, default)]
        pub struct $name { $($body)* }
    };
}

macro_rules! choice {
    ($(#[$meta:meta])* enum $name:ident { $($body:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
        #[cfg_attr(feature = "reference", derive(schemars::JsonSchema, serde::Serialize))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($body)* }
    };
}

raw! {
    /// Configuration of the filter.
    struct RawConfig {
        /// Whether the filter looks at requests at all.
        pub enabled: bool,
        /// `enforce` acts; `observe` measures and logs what it would have done, and touches nothing.
        pub mode: Mode,
        /// Envoy cluster of the embedding service.
        pub cluster: String,
        /// How long a request may wait for the embedding service. When it is over, the request goes on unchanged.
        pub timeout: String,
        /// A prompt matches an earlier one above this similarity, 0 to 1: `1 − cosine distance / 2`, so 0.95 is cosine 0.90.
        pub similarity_threshold: f64,
        /// The hint that the model is given, where `hint.messages` has none for the signal.
        pub intervention_message: String,
        /// Bodies larger than this many bytes pass without inspection. Keep it well below Envoy's
        /// `per_connection_buffer_limit_bytes`, beyond which Envoy answers 413.
        pub max_body_bytes: u64,
        /// Whether responses carry `x-sentinel-verdict`, `x-sentinel-reason` and `x-sentinel-similarity`.
        pub response_headers: bool,
        /// The semantic signal: similarity of a prompt to the last prompts of its scope.
        pub semantic: RawSemantic,
        /// The signals in what the agent does: steps, each a call with its result, read from the request's own history.
        pub steps: RawSteps,
        /// Most assistant turns after the last user message: hint at four fifths of it, kill at the limit. 0: no limit.
        pub run_limit: u32,
        /// The local score: 1.0 for each similar prompt, 2.0 for each similar response, 1.5 for each repeated tool call.
        pub score: RawScore,
        /// How the model is told.
        pub hint: RawHint,
        /// How an agent is stopped.
        pub kill: RawKill,
        /// Where tenant, agent and run are read from.
        pub identity: RawIdentity,
        /// Paths of providers that the filter does not know by itself; the first that fits wins over the built-in ones.
        pub paths: Vec<RawPath>,
        /// Settings for single agents or groups of them; the first that fits is used.
        pub agents: Vec<RawAgent>,
        /// The memory of prompts and responses in Envoy, shared by all workers.
        pub state: RawState,
    }
}

impl Default for RawConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: Mode::Enforce,
            cluster: "embedding_service".into(),
            timeout: "50ms".into(),
            similarity_threshold: 0.95,
            intervention_message:
                "You seem to be repeating similar requests. Please take a different approach \
                or consider that the previous attempts may have already addressed your question."
                    .into(),
            max_body_bytes: 1_048_576,
            response_headers: true,
            semantic: RawSemantic::default(),
            steps: RawSteps::default(),
            run_limit: 0,
            score: RawScore::default(),
            hint: RawHint::default(),
            kill: RawKill::default(),
            identity: RawIdentity::default(),
            paths: Vec::new(),
            agents: Vec::new(),
            state: RawState::default(),
        }
    }
}

choice! {
    /// What the filter does with its verdicts.
    enum Mode {
        #[default]
        Enforce,
        Observe,
    }
}

raw! {
    /// The semantic signal. It hints and never kills.
    struct RawSemantic {
        /// Whether the embedding service is asked.
        pub enabled: bool,
        /// How many of the last 5 prompts must match. 1 is the literal contract: a single question that is asked again satisfies it.
        pub repeats: u32,
        /// Prompts of fewer words are not sent: "continue" and "yes" are no evidence.
        pub min_words: u16,
    }
}

impl Default for RawSemantic {
    fn default() -> Self {
        Self { enabled: true, repeats: 2, min_words: 4 }
    }
}

raw! {
    /// The signals in steps. Only steps after the last user message count, and a loop must reach the last one.
    struct RawSteps {
        /// Whether steps are looked at.
        pub enabled: bool,
        /// Whether "Action: …" in an assistant's text with "Observation: …" in the next user message is a step too.
        pub react: bool,
        /// The last step, with the same outcome, so often among the last 20.
        pub repeated_step: RawRungs,
        /// The same 2 to 5 steps with the same outcomes, so many rounds.
        pub cycle: RawRungs,
        /// Steps in a row that repeat an approach and an outcome.
        pub stagnation: RawRungs,
        /// Steps in a row that try something new and bring nothing new: a failure, or what was there before.
        pub stuck: RawRungs,
        /// Steps in a row with one tool and one outcome, whatever the arguments.
        pub same_outcome: RawRungs,
    }
}

impl Default for RawSteps {
    fn default() -> Self {
        Self {
            enabled: true,
            react: true,
            repeated_step: RawRungs::new(3, 5),
            cycle: RawRungs::new(3, 5),
            stagnation: RawRungs::new(3, 5),
            stuck: RawRungs::new(5, 0),
            same_outcome: RawRungs::new(6, 0),
        }
    }
}

impl RawRungs {
    fn new(hint: u32, kill: u32) -> Self {
        Self { hint: Some(hint), kill: Some(kill) }
    }
}

raw! {
    /// Counts from which a signal hints and kills.
    #[derive(Default)]
    struct RawRungs {
        /// Count from which the model is given a hint; 0: never.
        pub hint: Option<u32>,
        /// Count from which the agent is stopped; 0: never.
        pub kill: Option<u32>,
    }
}

raw! {
    /// The local score. Prompts that differ in numbers, ids or dates, and prompts of fewer than `min_words` words,
    /// count only where their responses repeat too.
    struct RawScore {
        /// Whether prompts and responses are remembered and scored.
        pub enabled: bool,
        /// Score from which the model is given a hint.
        pub hint: f64,
        /// Score from which the agent is stopped, where responses or tool calls repeat as well.
        pub kill: f64,
        /// Shorter prompts are evidence only where their responses repeat.
        pub min_words: u16,
    }
}

impl Default for RawScore {
    fn default() -> Self {
        Self { enabled: true, hint: 5.0, kill: 10.0, min_words: 4 }
    }
}

raw! {
    /// The hint.
    struct RawHint {
        /// Where an OpenAI chat request gets the hint: as a system message at the `start` or the `end`. `start`
        /// changes the first bytes of the request, so the provider's prompt cache misses for that one request.
        pub position: HintPosition,
        /// Texts for single signals.
        pub messages: RawMessages,
    }
}

impl Default for RawHint {
    fn default() -> Self {
        Self { position: HintPosition::Start, messages: RawMessages::default() }
    }
}

choice! {
    /// Place of the hint among the messages.
    enum HintPosition {
        #[default]
        Start,
        End,
    }
}

raw! {
    /// Hint texts by signal.
    struct RawMessages {
        /// Text when the local score is the reason; empty for `intervention_message`, as with all of them.
        pub score: String,
        /// Text when semantic similarity is the reason.
        pub semantic: String,
        /// Text when a step is repeated; `{tool}` and `{count}` are filled in, as with those below.
        pub repeated_step: String,
        /// Text when steps are walked in a circle.
        pub cycle: String,
        /// Text when old approaches bring old outcomes.
        pub stagnation: String,
        /// Text when new approaches bring nothing new.
        pub stuck: String,
        /// Text when one tool brings one outcome whatever the arguments.
        pub same_outcome: String,
        /// Text when the run limit is near.
        pub run_limit: String,
    }
}

impl RawMessages {
    pub fn of(&self, signal: Signal) -> &str {
        match signal {
            Signal::Score => &self.score,
            Signal::Semantic => &self.semantic,
            Signal::RepeatedStep => &self.repeated_step,
            Signal::Cycle => &self.cycle,
            Signal::Stagnation => &self.stagnation,
            Signal::Stuck => &self.stuck,
            Signal::SameOutcome => &self.same_outcome,
            Signal::RunLimit => &self.run_limit,
        }
    }
}

impl Default for RawMessages {
    fn default() -> Self {
        let then = |what: &str| {
            format!(
                "{what} Do not try it again: use what you know, take a different approach, or tell the user \
                what stops you."
            )
        };
        Self {
            score: String::new(),
            semantic: String::new(),
            repeated_step: then(
                "You have called `{tool}` {count} times with the same arguments and got the same result.",
            ),
            cycle: then(
                "You have gone through the same steps {count} times with the same results, `{tool}` the last.",
            ),
            stagnation: then(
                "Your last {count} steps repeat what you have done before and bring nothing new.",
            ),
            stuck: then("Your last {count} attempts all failed or brought what you had seen before."),
            same_outcome: then(
                "`{tool}` has brought the same result {count} times in a row, whatever the arguments.",
            ),
            run_limit:
                "You have taken {count} turns without a word from the user. Come to an end: sum up what \
                you have and what is missing."
                    .into(),
        }
    }
}

raw! {
    /// The kill response.
    struct RawKill {
        /// `error`: an error in the provider's own form. `final_message`: an assistant message that ends the run in good order.
        pub mode: KillMode,
        /// HTTP status in mode `error`: 400 to 499, but none that SDKs retry (408, 409, 425, 429).
        pub status: u16,
        /// What the agent is told; `{reason}` is filled in.
        pub message: String,
        /// A kill ends after this time, or with a genuine new user message.
        pub expires: String,
    }
}

impl Default for RawKill {
    fn default() -> Self {
        Self {
            mode: KillMode::Error,
            status: 403,
            message: "This agent was stopped because {reason}. Send a new user message to go on.".into(),
            expires: "10m".into(),
        }
    }
}

choice! {
    /// Form of the kill response.
    enum KillMode {
        #[default]
        Error,
        FinalMessage,
    }
}

raw! {
    /// Whose a request is. Everything is hashed as soon as it is read. Without agent and run, nothing is compared
    /// across requests: people who share one key may well ask the same question.
    struct RawIdentity {
        /// The tenant.
        pub tenant: RawSource,
        /// The agent.
        pub agent: RawSource,
        /// The run. A request with history but without a run gets one from its conversation's first user message.
        pub run: RawSource,
        /// Header in which an authentication filter before this one has put the client's id; it becomes part of the
        /// scope. Empty: none.
        pub principal: String,
    }
}

impl Default for RawIdentity {
    fn default() -> Self {
        let source = |headers: &[&str], body: &[&str]| RawSource {
            headers: headers.iter().map(ToString::to_string).collect(),
            body: body.iter().map(ToString::to_string).collect(),
        };
        Self {
            tenant: source(&["x-tenant-id"], &[]),
            agent: source(&["x-agent-id"], &["metadata.agent_id"]),
            run: source(&["x-run-id"], &["metadata.run_id"]),
            principal: String::new(),
        }
    }
}

raw! {
    /// Where one part of the identity is read from; the first that is there wins, headers before body fields.
    #[derive(Default)]
    struct RawSource {
        /// Request headers.
        pub headers: Vec<String>,
        /// Body fields: `user`, `safety_identifier` or `metadata.NAME`.
        pub body: Vec<String>,
    }
}

/// A path and what is spoken there. Exactly one of `exact`, `prefix` and `suffix`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "reference", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct RawPath {
    /// The whole path, without query.
    #[serde(default)]
    pub exact: Option<String>,
    /// How the path begins.
    #[serde(default)]
    pub prefix: Option<String>,
    /// How the path ends.
    #[serde(default)]
    pub suffix: Option<String>,
    /// The dialect spoken there; `none` leaves the path alone.
    pub dialect: DialectName,
}

/// A dialect in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "reference", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub enum DialectName {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
    None,
}

/// Settings of some agents. Exactly one of `name` and `prefix`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "reference", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct RawAgent {
    /// The agent's exact name.
    #[serde(default)]
    pub name: Option<String>,
    /// How the agent's name begins.
    #[serde(default)]
    pub prefix: Option<String>,
    /// The fields to change for it: any of `enabled`, `mode`, `similarity_threshold`, `intervention_message`,
    /// `semantic`, `steps`, `run_limit`, `score`, `hint` and `kill`, each with the single fields that differ.
    #[serde(default)]
    pub settings: Map<String, Value>,
}

raw! {
    /// State is kept in a fixed number of slots, so its size does not depend on the number of agents.
    struct RawState {
        /// Buckets of 4 scopes each, about 6 kB a bucket when full; changing it forgets what was remembered.
        pub buckets: u32,
        /// A scope that was silent this long is forgotten.
        pub ttl: String,
    }
}

impl Default for RawState {
    fn default() -> Self {
        Self { buckets: 4096, ttl: "1h".into() }
    }
}
