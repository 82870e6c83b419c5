//! The configuration as the user writes it (JSON). Every field has a default, so `{}` is a complete configuration.
//! What a value must be beyond its type is checked in `valid`.

use sentinel_detect::{
    signal::{StepsPolicy, Thresholds},
    verdict::Signal,
};
use serde_json::{Map, Value};

mod bounds;
mod budgets;
mod cache;
mod clean;
mod control;
mod guard;
mod spotlight;
mod tools;

pub use self::{
    bounds::{RawBounds, RawContextWindow},
    budgets::{AtLimit, BudgetPer, RawBudget, RawLimits, Unpriced, WARN_AT},
    cache::RawCache,
    clean::RawClean,
    control::{OnUnavailable, RawControl},
    guard::{GuardAction, RawGuard},
    spotlight::RawSpotlight,
    tools::{RawToolName, RawTools},
};
use crate::{
    ConfigError,
    field::{Duration, Field, choice, group, join, wrong_type},
};

group! {
    /// Configuration of the filter.
    ///
    /// ```json
    /// {"mode": "observe", "timeout": "30ms", "run_limit": 60}
    /// ```
    struct RawConfig {
        /// Whether the filter inspects requests. `false` lets every request pass.
        enabled: bool = true,
        /// `enforce` writes hints and sends kills. `observe` only counts and logs the verdicts; requests and responses
        /// stay as they are, apart from `plain_answers`.
        mode: Mode = Mode::Enforce,
        /// Name of the Envoy cluster that leads to the embedding service. Envoy starts without such a cluster too. Then the
        /// log has a warning with the first call of the service and at most once a minute (`service_unknown_cluster`), and
        /// requests pass without the semantic check.
        cluster: String = "embedding_service".into(),
        /// The longest time that a request waits for the embedding service. After that time the request goes on
        /// unchanged.
        /// Range: `1ms` to `8760h`.
        timeout: Duration = "50ms".into(),
        /// A prompt matches an earlier prompt when their similarity is above this value. Similarity is
        /// `1 − cosine distance / 2`: 0.95 is a cosine of 0.90.
        /// Range: 0 to 1.
        similarity_threshold: f64 = 0.95,
        /// The text of a hint when `hint.messages` has no text for the signal.
        intervention_message: String = "You seem to be repeating similar requests. Please take a different approach \
            or consider that the previous attempts may have already addressed your question."
            .into(),
        /// Request bodies with more bytes than this, as they come or decoded, are not read: see `unreadable`. Keep the value well below Envoy's
        /// `per_connection_buffer_limit_bytes`: Envoy answers a body above that limit with 413.
        /// Range: 1024 to 67108864.
        max_body_bytes: u64 = 1_048_576,
        /// Whether the filter holds the request's headers until it has a verdict. This needs
        /// `allow_on_headers_stop_iteration: true` in the plugin's configuration in Envoy. Set `false` where you cannot set
        /// that option (Istio's `WasmPlugin`). The provider then gets the headers at once, and the body without
        /// `content-length`.
        hold_headers: bool = true,
        /// Whether responses get the headers `x-sentinel-verdict`, `x-sentinel-reason`, `x-sentinel-similarity`,
        /// `x-sentinel-cache` and `x-sentinel-settings-version`.
        response_headers: bool = true,
        /// Whether the filter asks providers for answers without compression. On inspected requests it sets the agent's
        /// `accept-encoding` to `identity`, also in mode `observe`. The filter cannot read a compressed answer: such an answer
        /// passes as it is and is no evidence.
        plain_answers: bool = true,
        /// The semantic signal: the embedding service compares a new prompt with the last prompts of its scope. This signal
        /// hints. It kills only if `kill` is set.
        semantic: RawSemantic = RawSemantic::default(),
        /// The signals from steps. A step is one assistant turn with its tool calls and their results. The filter reads
        /// the steps from the history that the request carries. Only steps after the last user message count, and a loop
        /// must include the last step. The filter hints from the count `hint` on and kills from the count `kill` on, which is not
        /// below `hint`.
        steps: RawSteps = RawSteps::default(),
        /// The largest number of assistant turns after the last user message. The filter hints at four fifths of this
        /// number and kills at the number itself.
        /// Range: 0 and more.
        run_limit: u32 = 0,
        /// The score: 1.0 for each similar prompt, 2.0 for each similar response, 1.5 for each repeated set of tool calls.
        /// Two kinds of prompts count only if their responses repeat too: prompts that differ in numbers, ids or dates, and
        /// prompts of few words.
        score: RawScore = RawScore::default(),
        /// The only models that an agent may ask, by the names that its requests use. A request for another model is refused. An
        /// empty list allows all models. The filter checks requests that it inspects, not embeddings and other paths.
        models: Vec<RawModelName> = Vec::new(),
        /// Which tools an agent may use. All other tools are cut from its requests and from the lists of MCP servers.
        tools: RawTools = RawTools::default(),
        /// The input guard. It looks for prompt injection in the texts that are new in a request: texts that try to give the
        /// model instructions which only its operator may give.
        guard: RawGuard = RawGuard::default(),
        /// What the filter does with a request that it cannot read in full, where `models`, `tools.allow`, `tools.deny` or the
        /// `block` of `guard` forbids something to the agent. `refuse` answers it with an error that names the cause. `pass` lets it go on
        /// unchecked. Where nothing is forbidden such a request always goes on.
        unreadable: WhenUnreadable = WhenUnreadable::Refuse,
        /// How much of a history reaches the model: long texts are cut, old turns and results dropped, calls and results paired.
        /// Everything here is off by default.
        bounds: RawBounds = RawBounds::default(),
        /// Answers that are stored and given again, to the same question and to the same question in other words.
        cache: RawCache = RawCache::default(),
        /// Spotlighting: tool results are marked as data before the model reads them.
        spotlight: RawSpotlight = RawSpotlight::default(),
        /// Clean answers: what models leave in their texts that is not meant for a reader is taken out.
        clean: RawClean = RawClean::default(),
        /// Where a hint is written, and its texts.
        hint: RawHint = RawHint::default(),
        /// How the filter stops an agent.
        kill: RawKill = RawKill::default(),
        /// Where the filter reads tenant, agent and run. Each value is hashed as soon as it is read. Without an agent and
        /// without a run, nothing is compared across requests: different people may ask the same question with one key.
        identity: RawIdentity = RawIdentity::default(),
        /// Paths that the filter does not know by itself. The first rule that fits is used, before the built-in paths.
        paths: Vec<RawPath> = Vec::new(),
        /// Settings for one agent or a group of agents. The entries are tried in the order in which they are written, and only the first
        /// that fits is used. So write an agent's name before a prefix that it begins with, and an entry with a `client` before one
        /// without. An entry that could never be used is refused. Metrics and alerts name the entry: label `agent` of
        /// `sentinel_verdicts_total`.
        agents: Vec<RawAgent> = Vec::new(),
        /// What may be spent: limits of money, tokens, requests, tool calls and time. The embedding service counts for all Envoys together.
        /// They need `control.enabled`. See [Control](control.md#budgets).
        budgets: Vec<RawBudget> = Vec::new(),
        /// The breaker for MCP servers. When an agent calls one tool with the same arguments too often, the filter answers
        /// instead of the server.
        mcp: RawMcp = RawMcp::default(),
        /// Prices of models, in USD for a million tokens. The filter counts the tokens of each response, and their price,
        /// by model. All models that are not listed are counted as `other`, with a price of 0.
        prices: Vec<RawPrice> = Vec::new(),
        /// The context windows of models, in tokens, for `bounds`. These come before those that the filter knows: the usual models
        /// of OpenAI, Anthropic, Google, Amazon, Meta, Mistral, DeepSeek, Alibaba, xAI and Cohere.
        context_windows: Vec<RawContextWindow> = Vec::new(),
        /// Reports to the embedding service, and what its operators say in return.
        control: RawControl = RawControl::default(),
        /// What the filter adds to OpenTelemetry traces.
        traces: RawTraces = RawTraces::default(),
        /// The memory for prompts and responses in Envoy, shared by all workers. It has a fixed number of buckets, so its
        /// size does not depend on the number of agents.
        state: RawState = RawState::default(),
    }
}

choice! {
    /// What the filter does with its verdicts.
    enum Mode { Enforce = "enforce", Observe = "observe", }
}

choice! {
    /// What the filter does with a request that it cannot read in full, where something is forbidden.
    enum WhenUnreadable { Refuse = "refuse", Pass = "pass", }
}

group! {
    /// The semantic signal.
    ///
    /// ```json
    /// {"similarity_threshold": 0.96, "semantic": {"repeats": 3}}
    /// ```
    struct RawSemantic {
        /// Whether the filter asks the embedding service.
        enabled: bool = true,
        /// How many of the last 5 prompts must match. With 1, a question that is asked twice gets a hint.
        /// Range: 1 to 5.
        repeats: u32 = 2,
        /// The filter kills from this many matches on, which may not be below `repeats`, if the request names its run. Prompts
        /// that are alike prove no loop, so this can stop an agent that is well.
        /// Range: 0 to 5.
        kill: u32 = 0,
        /// Prompts with fewer words are not sent to the embedding service. Texts like "continue" and "yes" are no evidence.
        /// Range: 0 to 65535.
        min_words: u16 = 4,
    }
}

group! {
    /// The signals in steps.
    ///
    /// ```json
    /// {
    ///   "steps": {
    ///     "repeated_step": {"hint": 4, "kill": 8},
    ///     "tools": [
    ///       {"name": "get_build_status", "kind": "waiting"},
    ///       {"prefix": "log_", "ignore": true}
    ///     ]
    ///   }
    /// }
    /// ```
    struct RawSteps {
        /// Whether the filter judges steps.
        enabled: bool = true,
        /// Whether the filter also judges agents that act in text. Their steps are actions with observations
        /// ("Action: …", "Observation: …"), or what the assistant says together with the user text that answers it.
        react: bool = true,
        /// How many of the last steps are searched for repetitions.
        /// Range: 2 to 48.
        window: u32 = 20,
        /// How often the last step occurs with the same outcome among the last `window` steps, if the repetition says something:
        /// the outcome is an explicit failure or has ten words, or the call names two words, a path or code. In explicit
        /// failures ids, times and counters are ignored.
        repeated_step: RawThresholds = thresholds(|steps| steps.repeated_step),
        /// How many rounds of the same 2 to 5 steps with the same outcomes.
        cycle: RawThresholds = thresholds(|steps| steps.cycle),
        /// How many steps in a row repeat both an earlier approach and an earlier outcome.
        stagnation: RawThresholds = thresholds(|steps| steps.stagnation),
        /// How many steps in a row try something new without a new outcome: each fails, or repeats an earlier outcome. For an agent
        /// that acts in text: how many actions in a row get the same answer, or are new and fail in one way.
        stuck: RawThresholds = thresholds(|steps| steps.stuck),
        /// How many calls of one tool fail in a row, with arguments that share more than half of their words.
        similar_failures: RawThresholds = thresholds(|steps| steps.similar_failures),
        /// How many steps in a row call one tool, with any arguments, and get the same outcome.
        same_outcome: RawThresholds = thresholds(|steps| steps.same_outcome),
        /// How many repetitions or rounds, if the outcome is empty: `[]`, "no new messages".
        empty: RawThresholds = thresholds(|steps| steps.empty),
        /// How many repetitions or rounds, if the outcome is an acknowledgement: "ok", "Clicked.", no text at all. These
        /// never kill.
        acknowledgement: RawHintOnly = RawHintOnly { hint: StepsPolicy::default().acknowledgement },
        /// How many repetitions or rounds, if the agent waits: the outcome is "running" or "pending", or the tool waits or
        /// asks for a status. These never kill.
        waiting: RawHintOnly = RawHintOnly { hint: StepsPolicy::default().waiting },
        /// How many repetitions, if the call names one token (an id, a word) and the outcome is short.
        one_token: RawThresholds = thresholds(|steps| steps.one_token),
        /// How many repetitions, if the same call had another outcome since the user's last new text: a coin, a flaky test. The
        /// kill counts repetitions in a row.
        changing: RawThresholds = thresholds(|steps| steps.changing),
        /// How many repetitions, if the outcomes differ only in times, durations, long ids and the like, and are no explicit
        /// failures.
        alike: RawThresholds = thresholds(|steps| steps.alike),
        /// How many repetitions, if they prove little: the call names nothing and the outcome is short, or new work lies between
        /// the repetitions, or the call is the same each time and the outcome is not. These never kill.
        weak: RawHintOnly = RawHintOnly { hint: StepsPolicy::default().weak },
        /// How many repetitions of a text that does nothing: prose that is answered by prose. These never kill.
        talk: RawHintOnly = RawHintOnly { hint: StepsPolicy::default().talk },
        /// Rules for single tools. The first rule that fits is used.
        tools: Vec<RawTool> = Vec::new(),
    }
}

group! {
    /// Counts from which a signal hints and kills.
    struct RawThresholds {
        /// The filter hints from this count on.
        /// Range: 0, or 2 and more.
        hint: u32 = 0,
        /// The filter kills from this count on.
        /// Range: 0, or 2 and more.
        kill: u32 = 0,
    }
}

group! {
    /// A count from which a signal hints.
    struct RawHintOnly {
        /// The filter hints from this count on.
        /// Range: 0, or 2 and more.
        hint: u32 = 0,
    }
}

group! {
    /// A rule for one tool or several. It needs exactly one of `name` and `prefix`, and at least one other field.
    struct RawTool {
        /// The exact name of the tool.
        name: Option<String> = None,
        /// The beginning of the tool's name.
        prefix: Option<String> = None,
        /// The kind of all its results: `content`, `failure`, `empty`, `acknowledgement` or `waiting`.
        kind: Option<String> = None,
        /// The filter hints from this number of equal outcomes on.
        /// Range: 0, or 2 and more.
        hint: Option<u32> = None,
        /// The filter kills from this number of equal outcomes on.
        /// Range: 0, or 2 and more.
        kill: Option<u32> = None,
        /// Whether the filter ignores the calls of this tool.
        ignore: bool = false,
    }
}

/// The default of a signal, which is defined with the signal.
fn thresholds(of: fn(StepsPolicy) -> Thresholds) -> RawThresholds {
    let Thresholds { hint, kill } = of(StepsPolicy::default());
    RawThresholds { hint, kill }
}

group! {
    /// The score.
    ///
    /// ```json
    /// {"score": {"hint": 6.0, "kill": 14.0, "window": 30}}
    /// ```
    struct RawScore {
        /// Whether the filter remembers and scores prompts and responses.
        enabled: bool = true,
        /// The filter hints from this score on.
        /// Range: 1 to 1000.
        hint: f64 = 5.0,
        /// The filter kills from this score on, under two conditions. Responses or tool calls repeat as well. And all that
        /// counts belongs to one run: the request names its run, or its history continues the earlier requests.
        /// Range: `score.hint` to 1000.
        kill: f64 = 10.0,
        /// Prompts with fewer words count only if their responses repeat.
        /// Range: 0 to 65535.
        min_words: u16 = 4,
        /// How many prompts of each scope are remembered.
        /// Range: 2 to 50.
        window: u32 = 20,
        /// Whether an agent is killed across its runs, by its name alone. Several runs often share the name of an agent, so this
        /// can stop one for what another has done.
        kill_by_agent: bool = false,
    }
}

group! {
    /// The hint.
    ///
    /// ```json
    /// {
    ///   "hint": {
    ///     "position": "end",
    ///     "messages": {"repeated_step": "`{tool}` gave you this result {count} times. Ask the user how to go on."}
    ///   }
    /// }
    /// ```
    struct RawHint {
        /// Where an OpenAI chat request gets a hint about prompts: as a system message at the `start` or at the `end`.
        /// `start` changes the first bytes of the request, so the provider's prompt cache misses for this one request.
        position: HintPosition = HintPosition::Start,
        /// The hint text of each signal. An empty text means `intervention_message`. The filter fills in `{tool}` and
        /// `{count}`.
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
        /// For the signal `score`.
        score: String = String::new(),
        /// For the signal `semantic`.
        semantic: String = String::new(),
        /// For the signal `repeated_step`.
        repeated_step: String = and_then(
            "You have called `{tool}` {count} times with the same arguments and got the same result."
        ),
        /// For the signal `cycle`.
        cycle: String = and_then(
            "You have gone through the same steps {count} times with the same results."
        ),
        /// For the signal `stagnation`.
        stagnation: String = and_then(
            "Your last {count} steps repeat what you have done before and bring nothing new."
        ),
        /// For the signal `stuck`.
        stuck: String = and_then("Your last {count} attempts all failed or brought what you had seen before."),
        /// For the signal `similar_failures`.
        similar_failures: String = and_then("`{tool}` has failed {count} times in a row with similar arguments."),
        /// For the signal `same_outcome`.
        same_outcome: String = and_then(
            "`{tool}` has brought the same result {count} times in a row, whatever the arguments."
        ),
        /// For the signal `repeated_exchange`.
        repeated_exchange: String = "You have said the same {count} times and got the same answer. Do not repeat it: use \
            what you know, take a different approach, or tell the user what stops you."
            .into(),
        /// For repetitions that wait, whatever the signal.
        waiting: String = "You have asked {count} times and it is still not there. Wait longer before you ask again, do \
            something else meanwhile, or report to the user how things stand."
            .into(),
        /// For the same call again and again, whatever came of it.
        same_call: String = "You have made the same call {count} times in a row, and what came of it was not the same each \
            time. If it does not bring you nearer to your goal, do something else, or tell the user what stops you."
            .into(),
        /// For the signal `run_limit`.
        run_limit: String = "You have taken {count} turns without a word from the user. Come to an end: sum up what \
            you have and what is missing."
            .into(),
        /// For the signal `budget`. The filter fills in `{left}`, such as `a fifth`.
        budget: String = "About {left} of what this task may spend is left: finish, or report what you have.".into(),
        /// For the signal `memory_flush`.
        memory_flush: String = "Store durable memories now: this conversation has almost filled the context window, and what \
            was said first may soon be gone. Keep what you must remember with the tools you have, or sum it up in your \
            answer, then go on. If there is nothing to store, just go on."
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
            Signal::MemoryFlush => &self.memory_flush,
            Signal::Budget => &self.budget,
            // These answer the agent, not the model.
            Signal::McpBreaker
            | Signal::ModelDenied
            | Signal::Stopped
            | Signal::ToolDenied
            | Signal::Injection
            | Signal::Unreadable => "",
        }
    }
}

group! {
    /// The kill response.
    ///
    /// ```json
    /// {"kill": {"mode": "final_message", "message": "I stopped because {reason}. Tell me how to go on."}}
    /// ```
    struct RawKill {
        /// Whether the filter stops agents. With `false` every kill becomes a hint, whatever the thresholds say.
        enabled: bool = true,
        /// `error` answers with an error in the provider's own form. `final_message` answers with an assistant message, so
        /// that the run ends normally.
        mode: KillMode = KillMode::Error,
        /// The HTTP status in mode `error`. Not one that SDKs retry (408, 409, 425, 429).
        /// Range: 400 to 499.
        status: u16 = 400,
        /// The text that the agent gets. The filter fills in `{reason}`, and for `{advice}` `Send a new user message to go
        /// on.` After an operator's stop or a spent budget that would not help, so `{advice}` is empty.
        message: String = "This agent was stopped because {reason}. {advice}".into(),
        /// How long a kill by the score lasts, for a run that names itself. A new user message ends it earlier. Kills by
        /// other signals are not remembered: each request's history is judged afresh.
        /// Range: `1ms` to `8760h`.
        expires: Duration = "10m".into(),
    }
}

choice! {
    /// Form of the kill response.
    enum KillMode { Error = "error", FinalMessage = "final_message", }
}

group! {
    /// Whose a request is.
    ///
    /// ```json
    /// {
    ///   "identity": {
    ///     "agent": {"headers": ["x-agent-id", "x-service-name"], "body": ["user"]},
    ///     "principal": "x-client-id"
    ///   }
    /// }
    /// ```
    struct RawIdentity {
        /// The tenant: the customer whose data must stay apart.
        tenant: RawSource = RawSource::new("x-tenant-id", None),
        /// The agent: one instance.
        agent: RawSource = RawSource::new("x-agent-id", Some("metadata.agent_id")),
        /// The run: one task of the agent. If a request has a history but names no run, the first user message of the
        /// history stands for the run.
        run: RawSource = RawSource::new("x-run-id", Some("metadata.run_id")),
        /// The header in which an authentication filter before this one puts the client's id. It becomes part of the
        /// scope. Empty means none.
        principal: String = String::new(),
        /// The clients that the metric `sentinel_requests_total` counts by name: values of the header in `principal`. All
        /// other clients are counted as `other`, and requests without a client as `none`.
        clients: Vec<String> = Vec::new(),
        /// Whether reports (`control`) have the names of tenants, clients, agents and runs as they were sent. With `false` they have
        /// digests in their place, and an operator sees and stops digests.
        names: bool = true,
    }
}

group! {
    /// Where one part of the identity is read. The first value that is present is used, headers before body fields.
    struct RawSource {
        /// The request headers to read, in this order.
        headers: Vec<String> = Vec::new(),
        /// The body fields to read, in this order: `user`, `safety_identifier` or `metadata.NAME`.
        body: Vec<String> = Vec::new(),
    }
}

impl RawSource {
    fn new(header: &str, body: Option<&str>) -> Self {
        Self { headers: vec![header.into()], body: body.into_iter().map(Into::into).collect() }
    }
}

group! {
    /// A path and its dialect. It needs exactly one of `exact`, `prefix` and `suffix`.
    ///
    /// ```json
    /// {
    ///   "paths": [
    ///     {"prefix": "/llm/embeddings", "dialect": "none"},
    ///     {"prefix": "/llm/", "dialect": "openai_chat"}
    ///   ]
    /// }
    /// ```
    struct RawPath {
        /// The whole path, without the query.
        exact: Option<String> = None,
        /// The beginning of the path.
        prefix: Option<String> = None,
        /// The end of the path.
        suffix: Option<String> = None,
        /// The dialect on this path: `openai_chat`, `openai_responses`, `anthropic`, `gemini`,
        /// `gemini_interactions`, `bedrock` or `vertex_anthropic`. With `none` the filter ignores the path.
        dialect: Option<String> = None,
    }
}

group! {
    /// A model, or several. Exactly one of `name` and `prefix`. Capital and small letters make no difference.
    ///
    /// ```json
    /// {"models": [{"name": "gpt-5-mini"}, {"prefix": "claude-haiku-"}]}
    /// ```
    struct RawModelName {
        /// The exact name of the model.
        name: Option<String> = None,
        /// The beginning of the model's name.
        prefix: Option<String> = None,
    }
}

group! {
    /// Settings of some agents. An entry needs `client`, or one of `name` and `prefix`, or `client` and one of these. An agent gives
    /// itself its name, so rights that must hold against the agent itself need `client`. Put these entries first.
    ///
    /// ```json
    /// {
    ///   "identity": {"principal": "x-sentinel-client"},
    ///   "agents": [
    ///     {"client": "interns", "settings": {"models": [{"prefix": "gpt-5-mini"}]}},
    ///     {"name": "nightly-report", "settings": {"mode": "observe"}},
    ///     {"prefix": "support-", "settings": {"run_limit": 20, "kill": {"mode": "final_message"}}}
    ///   ]
    /// }
    /// ```
    struct RawAgent {
        /// The client to which the request's key belongs: the value of the header in `identity.principal`.
        client: Option<String> = None,
        /// The exact name of the agent.
        name: Option<String> = None,
        /// The beginning of the agent's name.
        prefix: Option<String> = None,
        /// The fields that differ for this agent. Possible fields are `enabled`, `mode`, `similarity_threshold`,
        /// `intervention_message`, `semantic`, `steps`, `run_limit`, `score`, `models`, `tools`, `guard`, `spotlight`, `bounds`, `cache`,
        /// `clean`, `hint`, `kill` and `unreadable`. Fields that you leave out keep their common value.
        settings: Map<String, Value> = Map::new(),
    }
}

group! {
    /// The breaker for MCP servers.
    ///
    /// ```json
    /// {"mcp": {"paths": [{"prefix": "/mcp"}], "calls": 10, "window": "30s"}}
    /// ```
    struct RawMcp {
        /// The paths of MCP servers (JSON-RPC over streamable HTTP). Without a path the breaker is off.
        paths: Vec<RawMcpPath> = Vec::new(),
        /// How many calls of one tool with the same arguments pass within `window`, in one session of one agent.
        /// Range: 1 and more.
        calls: u32 = 20,
        /// The time in which the calls are counted.
        /// Range: `1ms` to `8760h`.
        window: Duration = "60s".into(),
        /// `result` answers with a tool result that gives the reason (`isError: true`). `error` answers with a JSON-RPC
        /// error.
        answer: McpAnswer = McpAnswer::Result,
    }
}

group! {
    /// A path. It needs exactly one of `exact`, `prefix` and `suffix`.
    struct RawMcpPath {
        /// The whole path, without the query.
        exact: Option<String> = None,
        /// The beginning of the path.
        prefix: Option<String> = None,
        /// The end of the path.
        suffix: Option<String> = None,
    }
}

choice! {
    /// The answer to a call that is over the limit.
    enum McpAnswer { Result = "result", Error = "error", }
}

group! {
    /// Prices of some models, in USD for a million tokens. An entry needs exactly one of `name` and `prefix`.
    ///
    /// ```json
    /// {
    ///   "prices": [
    ///     {"name": "gpt-4o-mini", "input": 0.15, "cached_input": 0.075, "output": 0.6},
    ///     {"prefix": "claude-", "input": 3, "output": 15}
    ///   ]
    /// }
    /// ```
    struct RawPrice {
        /// The exact name of the model, as requests give it.
        name: Option<String> = None,
        /// The beginning of the model's name.
        prefix: Option<String> = None,
        /// Price of input tokens.
        /// Range: 0 to 100000.
        input: f64 = 0.0,
        /// Price of input tokens that come from the provider's prompt cache. Without it they have the price `input`.
        /// Range: 0 to 100000.
        cached_input: Option<f64> = None,
        /// Price of output tokens.
        /// Range: 0 to 100000.
        output: f64 = 0.0,
    }
}

group! {
    /// What traces get.
    ///
    /// ```json
    /// {"traces": {"attributes": true, "cluster": "collector"}}
    /// ```
    struct RawTraces {
        /// Whether the filter stores verdict, signal, scope, models and tokens as filter state (`wasm.sentinel_verdict` and
        /// so on). Envoy's tracer and access logs can show filter state.
        attributes: bool = false,
        /// Name of the Envoy cluster of a collector (OTLP/gRPC). The filter sends each tool step of a run that names itself
        /// (`identity.run`) there as a span, in a trace of the run. Empty means no spans.
        cluster: String = String::new(),
    }
}

group! {
    /// State in Envoy.
    ///
    /// ```json
    /// {"state": {"buckets": 16384, "ttl": "30m"}}
    /// ```
    struct RawState {
        /// The number of buckets. Each holds 4 scopes and takes about 6 kB when it is full, and more where providers keep
        /// the histories. When you change the number, the filter forgets what it remembered.
        /// Range: 1 to 65536.
        buckets: u32 = 4096,
        /// A scope without a request for this time is forgotten.
        /// Range: `1ms` to `8760h`.
        ttl: Duration = "1h".into(),
    }
}
