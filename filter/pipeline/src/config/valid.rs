//! The configuration as the filter works with it: every value checked, names lower-cased, agents' settings merged.

use std::sync::Arc;

use sentinel_detect::{
    prompts::PromptsPolicy,
    signal::{StepsPolicy, Thresholds, score::ScorePolicy},
    step::{self, Kind, ToolName, ToolRules},
    verdict::Signal,
    window,
};
use sentinel_llm_api::{
    conversation::BodyField,
    dialect::{DialectRef, Position},
    mcp::AnswerAs,
    path::RequestPath,
    registry,
    route::PathRules,
};
use serde_json::Value;

use super::{
    ConfigError,
    clients::Clients,
    duration::parse_millis,
    field::Field,
    raw::{
        HintPosition, KillMode, McpAnswer, Mode, RawAgent, RawConfig, RawIdentity, RawMcp, RawMcpPath,
        RawPath, RawPrice, RawSource, RawSteps, RawThresholds, RawTool,
    },
};
use crate::price::{Model, Price};

/// Limits of the semantic signal's history, kept by the service (`LOOP_HISTORY_SIZE`).
const MAX_REPEATS: u32 = 5;

/// What metrics call agents that no row of `agents[]` fits.
const OTHER: &str = "other";

/// Characters of a row's name in a metric.
const MAX_LABEL: usize = 64;
/// Statuses that SDKs of the providers retry.
const RETRIED: [u16; 4] = [408, 409, 425, 429];

/// A checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub cluster: String,
    /// Milliseconds.
    pub timeout: u64,
    /// Bytes.
    pub max_body: usize,
    pub hold_headers: bool,
    pub response_headers: bool,
    pub tenant: IdentitySource,
    pub agent: IdentitySource,
    pub run: IdentitySource,
    /// Whether providers are asked for answers that are not compressed.
    pub plain_answers: bool,
    /// Lower-case header name.
    pub principal: Option<String>,
    pub clients: Clients,
    pub paths: PathRuleList,
    pub mcp: McpPolicy,
    pub prices: Vec<Price>,
    /// What is known of a request is left where Envoy's tracer and access logs find it.
    pub annotates: bool,
    /// Envoy cluster to which tool steps are sent as spans; none where they are not.
    pub collector: Option<String>,
    pub buckets: u32,
    /// Milliseconds.
    pub state_ttl: u64,
    base: Arc<Policy>,
    agents: Vec<(AgentMatch, Arc<Policy>)>,
}

/// What may differ from agent to agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The row of `agents[]` that it comes from, as metrics name it: its name, or its prefix and `*`; `other` where none
    /// fits. A closed set of the operator's own words, never what a client sent.
    pub agent: Arc<str>,
    pub enabled: bool,
    pub mode: Mode,
    pub similarity_threshold: f64,
    /// Earlier prompts that must match.
    pub semantic_repeats: u32,
    pub steps: StepsPolicy,
    /// 0: none.
    pub run_limit: u32,
    pub prompts: PromptsPolicy,
    pub hint: HintPolicy,
    pub kill: KillPolicy,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HintPolicy {
    pub position: Position,
    /// Never empty.
    texts: [(Signal, String); Signal::ALL.len()],
    /// For what waits, whatever the signal.
    pub waiting: String,
}

impl HintPolicy {
    /// The text for a signal, as configured: placeholders are not filled in.
    pub fn text(&self, signal: Signal) -> &str {
        self.texts.iter().find(|(known, _)| *known == signal).map_or("", |(_, text)| text.as_str())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct KillPolicy {
    pub enabled: bool,
    pub mode: KillMode,
    pub status: u16,
    pub message: String,
}

/// The breaker for MCP servers.
#[derive(Clone, Debug)]
pub struct McpPolicy {
    paths: Vec<PathMatch>,
    pub calls: u32,
    /// Milliseconds.
    pub window: u64,
    pub answer: AnswerAs,
}

impl McpPolicy {
    /// Whether MCP is spoken on `path`.
    pub fn is_spoken_on(&self, path: &RequestPath<'_>) -> bool {
        self.paths.iter().any(|known| known.fits(&path.path))
    }
}

#[derive(Clone, Debug)]
pub struct IdentitySource {
    /// Lower-case header names.
    pub headers: Vec<String>,
    pub body: Vec<BodyField>,
}

#[derive(Clone, Debug)]
pub struct PathRule {
    pub path: PathMatch,
    /// None: leave the path alone.
    pub dialect: Option<DialectRef>,
}

/// The operator's rules; the first that fits counts.
#[derive(Clone, Debug)]
pub struct PathRuleList(Vec<PathRule>);

impl PathRules for PathRuleList {
    fn dialect_on(&self, path: &str) -> Option<Option<DialectRef>> {
        self.0.iter().find(|rule| rule.path.fits(path)).map(|rule| rule.dialect)
    }
}

#[derive(Clone, Debug)]
pub enum PathMatch {
    Exact(String),
    Prefix(String),
    Suffix(String),
}

#[derive(Clone, Debug)]
pub enum AgentMatch {
    Name(String),
    Prefix(String),
}

impl Config {
    /// Reads the plugin configuration; nothing at all is the default configuration.
    pub fn from_json(json: &[u8]) -> Result<Self, ConfigError> {
        let mut raw = RawConfig::default();
        if !json.iter().all(u8::is_ascii_whitespace) {
            let value: Value =
                serde_json::from_slice(json).map_err(|error| ConfigError::new(".", error.to_string()))?;
            raw.set(&value, "")?;
        }
        Self::try_from(raw)
    }

    /// The price of the model of this name.
    pub fn price(&self, model: &str) -> Option<&Price> {
        self.prices.iter().find(|price| price.model.fits(model))
    }

    /// The policy for the agent of this name.
    pub fn policy(&self, agent: Option<&[u8]>) -> &Arc<Policy> {
        let Some(agent) = agent else { return &self.base };
        self.agents.iter().find(|(name, _)| name.fits(agent)).map_or(&self.base, |(_, policy)| policy)
    }
}

impl TryFrom<RawConfig> for Config {
    type Error = ConfigError;

    fn try_from(raw: RawConfig) -> Result<Self, ConfigError> {
        if raw.cluster.is_empty() {
            return Err(ConfigError::new("cluster", "must name the Envoy cluster of the embedding service"));
        }
        if !(1_024..=67_108_864).contains(&raw.max_body_bytes) {
            return Err(ConfigError::new("max_body_bytes", "must lie between 1024 and 67108864"));
        }
        if !(1..=65_536).contains(&raw.state.buckets) {
            return Err(ConfigError::new("state.buckets", "must lie between 1 and 65536"));
        }
        let base = Policy::try_from(&raw)?;
        let agents = agents(&raw)?;
        let RawIdentity { tenant, agent, run, principal, clients } = raw.identity;
        Ok(Self {
            timeout: millis("timeout", &raw.timeout)?,
            state_ttl: millis("state.ttl", &raw.state.ttl)?,
            cluster: raw.cluster,
            max_body: usize::try_from(raw.max_body_bytes).unwrap_or(usize::MAX),
            hold_headers: raw.hold_headers,
            response_headers: raw.response_headers,
            plain_answers: raw.plain_answers,
            tenant: source("identity.tenant", tenant)?,
            agent: source("identity.agent", agent)?,
            run: source("identity.run", run)?,
            clients: Clients::of(&clients)?,
            principal: if principal.is_empty() {
                None
            } else {
                Some(header_name("identity.principal", &principal)?)
            },
            paths: PathRuleList(raw.paths.into_iter().enumerate().map(path_rule).collect::<Result<_, _>>()?),
            mcp: mcp(raw.mcp)?,
            prices: raw.prices.iter().enumerate().map(price).collect::<Result<_, _>>()?,
            annotates: raw.traces.attributes,
            collector: Some(raw.traces.cluster).filter(|cluster| !cluster.is_empty()),
            buckets: raw.state.buckets,
            base: Arc::new(base),
            agents,
        })
    }
}

impl TryFrom<&RawConfig> for Policy {
    type Error = ConfigError;

    fn try_from(raw: &RawConfig) -> Result<Self, ConfigError> {
        let RawConfig { semantic, score, hint, kill, .. } = raw;
        if !(0.0..=1.0).contains(&raw.similarity_threshold) {
            return Err(ConfigError::new("similarity_threshold", "must lie between 0 and 1"));
        }
        if !(1..=MAX_REPEATS).contains(&semantic.repeats) {
            return Err(ConfigError::new("semantic.repeats", "must lie between 1 and 5"));
        }
        let scores = 1.0..=1_000.0;
        if !scores.contains(&score.hint) {
            return Err(ConfigError::new("score.hint", "must lie between 1 and 1000"));
        }
        if !scores.contains(&score.kill) || score.kill < score.hint {
            return Err(ConfigError::new("score.kill", "must lie between score.hint and 1000"));
        }
        if !(400..=499).contains(&kill.status) || RETRIED.contains(&kill.status) {
            return Err(ConfigError::new(
                "kill.status",
                format!("{} would be retried or is no client error; take 400, 403 or 422", kill.status),
            ));
        }
        let text = |path: &str, text: &str| {
            if text.trim().is_empty() {
                return Err(ConfigError::new(path, "must not be empty"));
            }
            Ok(text.to_owned())
        };
        let fallback = text("intervention_message", &raw.intervention_message)?;
        let message = |own: &str| if own.trim().is_empty() { fallback.clone() } else { own.to_owned() };
        Ok(Self {
            agent: OTHER.into(),
            enabled: raw.enabled,
            mode: raw.mode,
            similarity_threshold: raw.similarity_threshold,
            semantic_repeats: semantic.repeats,
            steps: steps(&raw.steps)?,
            run_limit: raw.run_limit,
            prompts: PromptsPolicy {
                score: ScorePolicy {
                    enabled: score.enabled,
                    hint: score.hint,
                    kill: score.kill,
                    min_words: score.min_words,
                    window: between("score.window", score.window, 2, window::MAX_LENGTH)?,
                },
                words_to_ask: semantic.enabled.then_some(semantic.min_words),
                kill_lasts: millis("kill.expires", &kill.expires)?,
            },
            hint: HintPolicy {
                position: match hint.position {
                    HintPosition::Start => Position::Start,
                    HintPosition::End => Position::End,
                },
                texts: Signal::ALL.map(|signal| (signal, message(hint.messages.of(signal)))),
                waiting: message(&hint.messages.waiting),
            },
            kill: KillPolicy {
                enabled: kill.enabled,
                mode: kill.mode,
                status: kill.status,
                message: text("kill.message", &kill.message)?,
            },
        })
    }
}

fn steps(raw: &RawSteps) -> Result<StepsPolicy, ConfigError> {
    let thresholds = |name: &str, RawThresholds { hint, kill }: &RawThresholds| {
        let refuse = |problem| Err(ConfigError::new(format!("steps.{name}"), problem));
        if *hint == 1 || *kill == 1 {
            return refuse("a single step is no loop; take 2 or more, or 0 for never");
        }
        if *kill > 0 && kill < hint {
            return refuse("`kill` must not be below `hint`; 0 means never");
        }
        Ok(Thresholds { hint: *hint, kill: *kill })
    };
    let hint_only = |name: &str, hint: u32| {
        thresholds(name, &RawThresholds { hint, kill: 0 }).map(|thresholds| thresholds.hint)
    };
    Ok(StepsPolicy {
        enabled: raw.enabled,
        react: raw.react,
        window: between("steps.window", raw.window, 2, step::LENGTH)?,
        repeated_step: thresholds("repeated_step", &raw.repeated_step)?,
        cycle: thresholds("cycle", &raw.cycle)?,
        stagnation: thresholds("stagnation", &raw.stagnation)?,
        stuck: thresholds("stuck", &raw.stuck)?,
        similar_failures: thresholds("similar_failures", &raw.similar_failures)?,
        same_outcome: thresholds("same_outcome", &raw.same_outcome)?,
        empty: thresholds("empty", &raw.empty)?,
        acknowledgement: hint_only("acknowledgement", raw.acknowledgement.hint)?,
        waiting: hint_only("waiting", raw.waiting.hint)?,
        tools: ToolRules(raw.tools.iter().enumerate().map(tool).collect::<Result<_, _>>()?),
    })
}

fn tool((index, raw): (usize, &RawTool)) -> Result<(ToolName, step::Rule), ConfigError> {
    let refuse =
        |field: &str, problem: &str| Err(ConfigError::new(format!("steps.tools[{index}]{field}"), problem));
    let name = match (&raw.name, &raw.prefix) {
        (Some(name), None) => ToolName::Exact(name.clone()),
        (None, Some(prefix)) => ToolName::Prefix(prefix.clone()),
        _ => return refuse("", "needs exactly one of `name` and `prefix`"),
    };
    let kind = match raw.kind.as_deref() {
        None => None,
        Some("content") => Some(Kind::Content),
        Some("failure") => Some(Kind::Failure),
        Some("empty") => Some(Kind::Empty),
        Some("acknowledgement") => Some(Kind::Acknowledgement),
        Some("waiting") => Some(Kind::Waiting),
        Some(_) => {
            return refuse(".kind", "must be one of content, failure, empty, acknowledgement, waiting");
        }
    };
    for (field, count) in [(".hint", raw.hint), (".kill", raw.kill)] {
        if count == Some(1) {
            return refuse(field, "a single step is no loop; take 2 or more, or 0 for never");
        }
    }
    let rule = step::Rule { kind, hint: raw.hint, kill: raw.kill, ignore: raw.ignore };
    if rule == step::Rule::default() {
        return refuse("", "says nothing of the tool; give `kind`, `hint`, `kill` or `ignore`");
    }
    Ok((name, rule))
}

fn between(path: &str, number: u32, least: usize, most: usize) -> Result<usize, ConfigError> {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        Err(ConfigError::new(path, format!("must lie between {least} and {most}")))
    }
}

fn price((at, raw): (usize, &RawPrice)) -> Result<Price, ConfigError> {
    let refuse = |field: &str, problem: &str| Err(ConfigError::new(format!("prices[{at}]{field}"), problem));
    let is_price = |usd: f64| (0.0..=100_000.0).contains(&usd);
    for (field, usd) in
        [(".input", raw.input), (".cached_input", raw.cached_input.unwrap_or(0.0)), (".output", raw.output)]
    {
        if !is_price(usd) {
            return refuse(field, "must lie between 0 and 100000 (USD for a million tokens)");
        }
    }
    // The name becomes a label of a metric.
    let is_label = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._:/@-".contains(c))
    };
    let model = match (&raw.name, &raw.prefix) {
        (Some(name), None) if is_label(name) => Model::Name(name.as_str().into()),
        (None, Some(prefix)) if is_label(prefix) => Model::Prefix(prefix.as_str().into()),
        (Some(_), None) | (None, Some(_)) => {
            return refuse("", "a model's name has letters, digits and `._:/@-` only");
        }
        _ => return refuse("", "needs exactly one of `name` and `prefix`"),
    };
    Ok(Price { model, input: raw.input, cached: raw.cached_input.unwrap_or(raw.input), output: raw.output })
}

fn millis(path: &str, text: &str) -> Result<u64, ConfigError> {
    parse_millis(text).map_err(|problem| ConfigError::new(path, problem))
}

fn header_name(path: &str, name: &str) -> Result<String, ConfigError> {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(ConfigError::new(path, format!("`{name}` is no header name")));
    }
    Ok(name.to_ascii_lowercase())
}

fn source(path: &str, raw: RawSource) -> Result<IdentitySource, ConfigError> {
    let headers =
        raw.headers.iter().zip(0..).map(|(name, i)| header_name(&format!("{path}.headers[{i}]"), name));
    let body = raw.body.iter().zip(0..).map(|(name, i)| match name.as_str() {
        "user" => Ok(BodyField::User),
        "safety_identifier" => Ok(BodyField::SafetyIdentifier),
        other => match other.strip_prefix("metadata.") {
            Some(key) if !key.is_empty() => Ok(BodyField::Metadata(key.to_owned())),
            _ => Err(ConfigError::new(
                format!("{path}.body[{i}]"),
                format!("`{other}` is not one of user, safety_identifier, metadata.NAME"),
            )),
        },
    });
    Ok(IdentitySource { headers: headers.collect::<Result<_, _>>()?, body: body.collect::<Result<_, _>>()? })
}

fn mcp(raw: RawMcp) -> Result<McpPolicy, ConfigError> {
    if raw.calls == 0 {
        return Err(ConfigError::new(
            "mcp.calls",
            "must be 1 or more; to switch the breaker off, name no paths",
        ));
    }
    let path = |(index, raw): (usize, RawMcpPath)| {
        path_match(&format!("mcp.paths[{index}]"), (raw.exact, raw.prefix, raw.suffix))
    };
    Ok(McpPolicy {
        paths: raw.paths.into_iter().enumerate().map(path).collect::<Result<_, _>>()?,
        calls: raw.calls,
        window: millis("mcp.window", &raw.window)?,
        answer: match raw.answer {
            McpAnswer::Result => AnswerAs::Result,
            McpAnswer::Error => AnswerAs::Error,
        },
    })
}

fn path_match(
    path: &str,
    one_of: (Option<String>, Option<String>, Option<String>),
) -> Result<PathMatch, ConfigError> {
    match one_of {
        (Some(path), None, None) => Ok(PathMatch::Exact(path)),
        (None, Some(path), None) => Ok(PathMatch::Prefix(path)),
        (None, None, Some(path)) => Ok(PathMatch::Suffix(path)),
        _ => Err(ConfigError::new(path, "needs exactly one of `exact`, `prefix` and `suffix`")),
    }
}

fn path_rule((index, raw): (usize, RawPath)) -> Result<PathRule, ConfigError> {
    let path = path_match(&format!("paths[{index}]"), (raw.exact, raw.prefix, raw.suffix))?;
    let refuse = |problem: String| ConfigError::new(format!("paths[{index}].dialect"), problem);
    let dialect = match raw.dialect.as_deref() {
        Some("none") => None,
        Some(label) => Some(registry::by_label(label).ok_or_else(|| refuse(one_of_the_dialects()))?),
        None => return Err(refuse(one_of_the_dialects())),
    };
    Ok(PathRule { path, dialect })
}

fn one_of_the_dialects() -> String {
    let labels: Vec<&str> = registry::ALL.iter().map(|dialect| dialect.label()).collect();
    format!("must say what is spoken there: one of {}, none", labels.join(", "))
}

impl PathMatch {
    pub fn fits(&self, path: &str) -> bool {
        match self {
            Self::Exact(exact) => path == exact,
            Self::Prefix(prefix) => path.starts_with(prefix),
            Self::Suffix(suffix) => path.ends_with(suffix),
        }
    }
}

impl AgentMatch {
    /// What metrics call the row. Envoy parts names of metrics at dots, and some exporters at other signs.
    fn label(&self) -> Arc<str> {
        let (name, end) = match self {
            Self::Name(name) => (name, ""),
            Self::Prefix(prefix) => (prefix, "*"),
        };
        let plain = |char: char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' };
        name.chars().take(MAX_LABEL).map(plain).chain(end.chars()).collect::<String>().into()
    }

    fn fits(&self, agent: &[u8]) -> bool {
        match self {
            Self::Name(name) => agent == name.as_bytes(),
            Self::Prefix(prefix) => agent.starts_with(prefix.as_bytes()),
        }
    }
}

/// Each agent's settings laid over the common ones, and the result checked like any configuration.
fn agents(raw: &RawConfig) -> Result<Vec<(AgentMatch, Arc<Policy>)>, ConfigError> {
    const MAY_DIFFER: [&str; 10] = [
        "enabled",
        "mode",
        "similarity_threshold",
        "intervention_message",
        "semantic",
        "steps",
        "run_limit",
        "score",
        "hint",
        "kill",
    ];
    let policy = |(RawAgent { name, prefix, settings }, index): (&RawAgent, usize)| {
        let path = format!("agents[{index}]");
        let agent = match (name, prefix) {
            (Some(name), None) => AgentMatch::Name(name.clone()),
            (None, Some(prefix)) => AgentMatch::Prefix(prefix.clone()),
            _ => return Err(ConfigError::new(path, "needs exactly one of `name` and `prefix`")),
        };
        if let Some(key) = settings.keys().find(|key| !MAY_DIFFER.contains(&key.as_str())) {
            return Err(ConfigError::new(
                format!("{path}.settings.{key}"),
                format!("cannot differ between agents; these can: {}", MAY_DIFFER.join(", ")),
            ));
        }
        let mut merged = RawConfig { agents: Vec::new(), ..raw.clone() };
        merged.set(&Value::Object(settings.clone()), &format!("{path}.settings"))?;
        let mut policy =
            Policy::try_from(&merged).map_err(|error| error.below(&format!("{path}.settings")))?;
        policy.agent = agent.label();
        Ok((agent, Arc::new(policy)))
    };
    raw.agents.iter().zip(0..).map(policy).collect()
}
