//! The configuration as the user writes it (JSON). Every field has a default, so `{}` is a complete configuration.
//! What a value must be beyond its type is checked in `valid`.

use sentinel_detect::{
    signal::{StepsPolicy, Thresholds},
    verdict::Signal,
};
use serde_json::{Map, Value};

mod guard;
mod tools;

pub use self::{
    guard::{GuardAction, RawGuard},
    tools::{RawToolName, RawTools},
};
use super::{
    ConfigError,
    field::{Field, choice, group, join, wrong_type},
};

group! {
    /// Configuration of the filter.
    struct RawConfig {
        /// Whether the filter looks at requests at all.
        enabled: bool = true,
        /// `enforce` acts; `observe` measures and logs what it would have done, and touches nothing.
        mode: Mode = Mode::Enforce,
        /// Envoy cluster of the embedding service.
        cluster: String = "embedding_service".into(),
        /// How long a request may wait for the embedding service. When it is over, the request goes on unchanged.
        timeout: String = "50ms".into(),
        /// A prompt matches an earlier one above this similarity, 0 to 1: `1 − cosine distance / 2`, so 0.95 is cosine 0.90.
        similarity_threshold: f64 = 0.95,
        /// The hint that the model is given, where `hint.messages` has none for the signal.
        intervention_message: String = "You seem to be repeating similar requests. Please take a different approach \
            or consider that the previous attempts may have already addressed your question."
            .into(),
        /// Bodies larger than this many bytes pass without inspection. Keep it well below Envoy's
        /// `per_connection_buffer_limit_bytes`, beyond which Envoy answers 413.
        max_body_bytes: u64 = 1_048_576,
        /// Whether a request's headers are held until its verdict. This needs `allow_on_headers_stop_iteration` in the
        /// plugin's configuration; where that cannot be set (Istio's `WasmPlugin`), say `false`: the provider then gets
        /// the headers at once, and the body without `content-length`.
        hold_headers: bool = true,
        /// Whether responses carry `x-sentinel-verdict`, `x-sentinel-reason` and `x-sentinel-similarity`.
        response_headers: bool = true,
        /// The semantic signal: similarity of a prompt to the last prompts of its scope. It hints and never kills.
        semantic: RawSemantic = RawSemantic::default(),
        /// The signals in what the agent does: steps, each a call with its result, read from the request's own history.
        /// Only steps after the last user message count, and a loop must reach the last one.
        steps: RawSteps = RawSteps::default(),
        /// Most assistant turns after the last user message: hint at four fifths of it, kill at the limit. 0: no limit.
        run_limit: u32 = 0,
        /// The local score: 1.0 for each similar prompt, 2.0 for each similar response, 1.5 for each repeated tool call.
        /// Prompts that differ in numbers, ids or dates, and prompts of few words, count only where their responses
        /// repeat too.
        score: RawScore = RawScore::default(),
        /// Which tools an agent may use. Those that it may not are cut from its requests and from the lists of MCP servers.
        tools: RawTools = RawTools::default(),
        /// The input guard: texts that try to instruct the model in its operator's place, looked for in what is new in a
        /// request.
        guard: RawGuard = RawGuard::default(),
        /// How the model is told.
        hint: RawHint = RawHint::default(),
        /// How an agent is stopped.
        kill: RawKill = RawKill::default(),
        /// Where tenant, agent and run are read from. Everything is hashed as soon as it is read. Without agent and run,
        /// nothing is compared across requests: people who share one key may well ask the same question.
        identity: RawIdentity = RawIdentity::default(),
        /// Paths of providers that the filter does not know by itself; the first that fits wins over the built-in ones.
        paths: Vec<RawPath> = Vec::new(),
        /// Settings for single agents or groups of them; the first that fits is used. Metrics and alerts name the row: the
        /// label `agent` of `sentinel_verdicts_total`.
        agents: Vec<RawAgent> = Vec::new(),
        /// The breaker for MCP servers: one tool called with the same arguments too often is answered in the server's place.
        mcp: RawMcp = RawMcp::default(),
        /// What models cost. A response's tokens and their price are counted by model; models that are not listed are
        /// `other`, and cost nothing.
        prices: Vec<RawPrice> = Vec::new(),
        /// What traces (OpenTelemetry) get from the filter.
        traces: RawTraces = RawTraces::default(),
        /// The memory of prompts and responses in Envoy, shared by all workers: a fixed number of slots, so its size does
        /// not depend on the number of agents.
        state: RawState = RawState::default(),
    }
}

choice! {
    /// What the filter does with its verdicts.
    enum Mode { Enforce = "enforce", Observe = "observe", }
}

group! {
    /// The semantic signal.
    struct RawSemantic {
        /// Whether the embedding service is asked.
        enabled: bool = true,
        /// How many of the last 5 prompts must match. 1 is the literal contract: a single question that is asked again
        /// satisfies it.
        repeats: u32 = 2,
        /// Prompts of fewer words are not sent: "continue" and "yes" are no evidence.
        min_words: u16 = 4,
    }
}

group! {
    /// The signals in steps.
    struct RawSteps {
        /// Whether steps are looked at.
        enabled: bool = true,
        /// Whether agents that act in texts are looked at too: actions and observations ("Action: …", "Observation: …")
        /// count as steps, and of agents that call no tools what they say and are answered.
        react: bool = true,
        /// Steps back from the last one in which it is looked for: 2 to 48.
        window: u32 = 20,
        /// The last step, with the same outcome, so often among the last `window`, where the outcome tells something or is
        /// a failure. Ids, numbers and times in failures do not count.
        repeated_step: RawThresholds = thresholds(|steps| steps.repeated_step),
        /// The same 2 to 5 steps with the same outcomes, so many rounds.
        cycle: RawThresholds = thresholds(|steps| steps.cycle),
        /// Steps in a row that repeat an approach and an outcome.
        stagnation: RawThresholds = thresholds(|steps| steps.stagnation),
        /// Steps in a row that try something new and bring nothing new: a failure, or what was there before.
        stuck: RawThresholds = thresholds(|steps| steps.stuck),
        /// Steps in a row that fail, and call one tool with arguments that share more than half of their words.
        similar_failures: RawThresholds = thresholds(|steps| steps.similar_failures),
        /// Steps in a row with one tool and one outcome, whatever the arguments.
        same_outcome: RawThresholds = thresholds(|steps| steps.same_outcome),
        /// Repetitions and cycles whose outcome is empty: `[]`, "no new messages".
        empty: RawThresholds = thresholds(|steps| steps.empty),
        /// Repetitions and cycles whose outcome merely acknowledges: "ok", "Clicked.", nothing at all. They never kill.
        acknowledgement: RawHintOnly = RawHintOnly { hint: StepsPolicy::default().acknowledgement },
        /// Repetitions and cycles that wait: the outcome is "running" or "pending", or the tool lets time pass or asks for
        /// a state. They never kill.
        waiting: RawHintOnly = RawHintOnly { hint: StepsPolicy::default().waiting },
        /// What no rule can know of single tools; the first that fits is used.
        tools: Vec<RawTool> = Vec::new(),
    }
}

group! {
    /// Counts from which a signal hints and kills.
    struct RawThresholds {
        /// Count from which the model is given a hint; 0: never.
        hint: u32 = 0,
        /// Count from which the agent is stopped; 0: never.
        kill: u32 = 0,
    }
}

group! {
    /// A count from which a signal hints.
    struct RawHintOnly {
        /// Count from which the model is given a hint; 0: never.
        hint: u32 = 0,
    }
}

group! {
    /// A tool, or several. Exactly one of `name` and `prefix`, and something that is said of it.
    struct RawTool {
        /// The tool's exact name.
        name: Option<String> = None,
        /// How the tool's name begins.
        prefix: Option<String> = None,
        /// What its results amount to, whatever they say: `content`, `failure`, `empty`, `acknowledgement` or `waiting`.
        kind: Option<String> = None,
        /// Equal outcomes from which its step hints; 0: never.
        hint: Option<u32> = None,
        /// Equal outcomes from which its step kills; 0: never.
        kill: Option<u32> = None,
        /// Whether its calls count as not made.
        ignore: bool = false,
    }
}

/// The default of a signal, which is defined with the signal.
fn thresholds(of: fn(StepsPolicy) -> Thresholds) -> RawThresholds {
    let Thresholds { hint, kill } = of(StepsPolicy::default());
    RawThresholds { hint, kill }
}

group! {
    /// The local score.
    struct RawScore {
        /// Whether prompts and responses are remembered and scored.
        enabled: bool = true,
        /// Score from which the model is given a hint.
        hint: f64 = 5.0,
        /// Score from which the agent is stopped, where responses or tool calls repeat as well, and all that counts is known
        /// to be of one run: the request names its run, or its history goes on from the earlier requests.
        kill: f64 = 10.0,
        /// Shorter prompts are evidence only where their responses repeat.
        min_words: u16 = 4,
        /// Prompts that are remembered for each scope: 2 to 50.
        window: u32 = 20,
    }
}

group! {
    /// The hint.
    struct RawHint {
        /// Where an OpenAI chat request gets the hint for a prompt: as a system message at the `start` or the `end`. `start`
        /// changes the first bytes of the request, so the provider's prompt cache misses for that one request.
        position: HintPosition = HintPosition::Start,
        /// Texts for single signals; an empty one stands for `intervention_message`. `{tool}` and `{count}` are filled in.
        messages: RawMessages = RawMessages::default(),
    }
}

choice! {
    /// Place of the hint among the messages.
    enum HintPosition { Start = "start", End = "end", }
}

group! {
    /// Hint texts by signal.
    struct RawMessages {
        /// The local score is the reason.
        score: String = String::new(),
        /// Semantic similarity is the reason.
        semantic: String = String::new(),
        /// A step is repeated.
        repeated_step: String = and_then(
            "You have called `{tool}` {count} times with the same arguments and got the same result."
        ),
        /// Steps are walked in a circle.
        cycle: String = and_then(
            "You have gone through the same steps {count} times with the same results."
        ),
        /// Old approaches bring old outcomes.
        stagnation: String = and_then(
            "Your last {count} steps repeat what you have done before and bring nothing new."
        ),
        /// New approaches bring nothing new.
        stuck: String = and_then("Your last {count} attempts all failed or brought what you had seen before."),
        /// One tool fails with similar arguments.
        similar_failures: String = and_then("`{tool}` has failed {count} times in a row with similar arguments."),
        /// One tool brings one outcome whatever the arguments.
        same_outcome: String = and_then(
            "`{tool}` has brought the same result {count} times in a row, whatever the arguments."
        ),
        /// What the agent says, and what it is answered, is repeated.
        repeated_exchange: String = "You have said the same {count} times and got the same answer. Do not repeat it: use \
            what you know, take a different approach, or tell the user what stops you."
            .into(),
        /// What is repeated waits for something, whatever the signal.
        waiting: String = "You have asked {count} times and it is still not there. Wait longer before you ask again, do \
            something else meanwhile, or report to the user how things stand."
            .into(),
        /// The run limit is near.
        run_limit: String = "You have taken {count} turns without a word from the user. Come to an end: sum up what \
            you have and what is missing."
            .into(),
    }
}

fn and_then(what: &str) -> String {
    [what, " Do not try it again: use what you know, take a different approach, or tell the user what stops you."]
        .concat()
}

impl RawMessages {
    pub fn of(&self, signal: Signal) -> &str {
        match signal {
            Signal::Score => &self.score,
            Signal::Semantic => &self.semantic,
            Signal::RepeatedStep => &self.repeated_step,
            Signal::RepeatedExchange => &self.repeated_exchange,
            Signal::Cycle => &self.cycle,
            Signal::Stagnation => &self.stagnation,
            Signal::Stuck => &self.stuck,
            Signal::SimilarFailures => &self.similar_failures,
            Signal::SameOutcome => &self.same_outcome,
            Signal::RunLimit => &self.run_limit,
            // These answer the agent, not the model.
            Signal::McpBreaker | Signal::ToolDenied | Signal::Injection => "",
        }
    }
}

group! {
    /// The kill response.
    struct RawKill {
        /// Whether agents are stopped at all. Without it there are hints only, whatever any threshold says.
        enabled: bool = true,
        /// `error`: an error in the provider's own form. `final_message`: an assistant message that ends the run in good order.
        mode: KillMode = KillMode::Error,
        /// HTTP status in mode `error`: 400 to 499, but none that SDKs retry (408, 409, 425, 429).
        status: u16 = 403,
        /// What the agent is told; `{reason}` is filled in.
        message: String = "This agent was stopped because {reason}. Send a new user message to go on.".into(),
        /// A run that names itself and was stopped by the score stays stopped for this time, or until a user says something
        /// new. What is read from a request's own history is judged anew each time.
        expires: String = "10m".into(),
    }
}

choice! {
    /// Form of the kill response.
    enum KillMode { Error = "error", FinalMessage = "final_message", }
}

group! {
    /// Whose a request is.
    struct RawIdentity {
        /// The tenant.
        tenant: RawSource = RawSource::new("x-tenant-id", None),
        /// The agent.
        agent: RawSource = RawSource::new("x-agent-id", Some("metadata.agent_id")),
        /// The run. A request with history but without a run gets one from its conversation's first user message.
        run: RawSource = RawSource::new("x-run-id", Some("metadata.run_id")),
        /// Header in which an authentication filter before this one has put the client's id; it becomes part of the
        /// scope. Empty: none.
        principal: String = String::new(),
    }
}

group! {
    /// Where one part of the identity is read from; the first that is there wins, headers before body fields.
    struct RawSource {
        /// Request headers.
        headers: Vec<String> = Vec::new(),
        /// Body fields: `user`, `safety_identifier` or `metadata.NAME`.
        body: Vec<String> = Vec::new(),
    }
}

impl RawSource {
    fn new(header: &str, body: Option<&str>) -> Self {
        Self { headers: vec![header.into()], body: body.into_iter().map(Into::into).collect() }
    }
}

group! {
    /// A path and what is spoken there. Exactly one of `exact`, `prefix` and `suffix`.
    struct RawPath {
        /// The whole path, without query.
        exact: Option<String> = None,
        /// How the path begins.
        prefix: Option<String> = None,
        /// How the path ends.
        suffix: Option<String> = None,
        /// The dialect spoken there: `openai_chat`, `openai_responses`, `anthropic`, `gemini`,
        /// `gemini_interactions`, `bedrock` or `vertex_anthropic`; `none` leaves the path alone.
        dialect: Option<String> = None,
    }
}

group! {
    /// Settings of some agents. Exactly one of `name` and `prefix`.
    struct RawAgent {
        /// The agent's exact name.
        name: Option<String> = None,
        /// How the agent's name begins.
        prefix: Option<String> = None,
        /// The fields to change for it: any of `enabled`, `mode`, `similarity_threshold`, `intervention_message`,
        /// `semantic`, `steps`, `run_limit`, `score`, `tools`, `guard`, `hint` and `kill`, each with the single fields that differ.
        settings: Map<String, Value> = Map::new(),
    }
}

group! {
    /// The breaker for MCP servers.
    struct RawMcp {
        /// Paths where MCP is spoken (JSON-RPC over streamable HTTP); none by default.
        paths: Vec<RawMcpPath> = Vec::new(),
        /// A tool may be called so often with the same arguments in one session of one agent.
        calls: u32 = 20,
        /// The time in which these calls are counted.
        window: String = "60s".into(),
        /// `result`: a tool result that says why (`isError`). `error`: a JSON-RPC error.
        answer: McpAnswer = McpAnswer::Result,
    }
}

group! {
    /// A path. Exactly one of `exact`, `prefix` and `suffix`.
    struct RawMcpPath {
        /// The whole path, without query.
        exact: Option<String> = None,
        /// How the path begins.
        prefix: Option<String> = None,
        /// How the path ends.
        suffix: Option<String> = None,
    }
}

choice! {
    /// What a call too many is answered with.
    enum McpAnswer { Result = "result", Error = "error", }
}

group! {
    /// Prices of some models, in USD for a million tokens. Exactly one of `name` and `prefix`.
    struct RawPrice {
        /// The model's exact name, as requests have it.
        name: Option<String> = None,
        /// How the model's name begins.
        prefix: Option<String> = None,
        /// Input tokens.
        input: f64 = 0.0,
        /// Input tokens from the provider's cache; without it they cost what others do.
        cached_input: Option<f64> = None,
        /// Output tokens.
        output: f64 = 0.0,
    }
}

group! {
    /// What traces get.
    struct RawTraces {
        /// Whether verdict, signal, scope, models and tokens are left as filter state (`wasm.sentinel_verdict` and so on),
        /// where Envoy's tracer and access logs can show them.
        attributes: bool = false,
        /// Envoy cluster of a collector (OTLP/gRPC). Each tool step of a run that names itself (`identity.run`) is sent there
        /// as a span, with its error state, in a trace of the run. Empty: none are made.
        cluster: String = String::new(),
    }
}

group! {
    /// State in Envoy.
    struct RawState {
        /// Buckets of 4 scopes each, about 6 kB a bucket when full, and more where providers keep
        /// the histories; changing it forgets what was remembered.
        buckets: u32 = 4096,
        /// A scope that was silent this long is forgotten.
        ttl: String = "1h".into(),
    }
}
