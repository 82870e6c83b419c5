//! What is recorded of a decision: metrics, the line of the log, the headers for the client, the attributes of traces and access
//! logs. A prompt, the name of a person or agent, or the value of a header is never recorded. The model's name comes from the
//! client or the provider, so only the characters of a name are kept of it.

use std::sync::Arc;

use sentinel_config::{Config, GuardAction, Mode, Policy};
use sentinel_detect::{
    step::shown,
    verdict::{Evidence, Finding, Signal, Verdict},
};
use sentinel_llm_api::answer::Answer;

use crate::{
    case::{AnswerCase, Case, McpCase},
    decide::Decision,
    fail_open,
    host::{Facts, Host, Level},
    identity::Scope,
    line::Line,
    metric::{CacheBypass, Enforced, MCP, Metric},
    note::{CountedToolCall, FoundAnswer, Injection, Note},
    passes::cache::{Cached, LookUp},
    service_outcome::ServiceOutcome,
    stored::Partition,
};

/// Names of the headers that tell the client what was decided. No provider may set them.
pub const HEADERS: [&str; 5] = [
    "x-sentinel-verdict",
    "x-sentinel-reason",
    "x-sentinel-similarity",
    "x-sentinel-cache",
    "x-sentinel-settings-version",
];

/// Name of the header that marks an answer which says that there is nothing to say.
pub const NO_REPLY: &str = "x-sentinel-no-reply";

/// The request, or its answer, that a record is about.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The dialect's label, or `MCP`.
    pub dialect: &'static str,
    pub policy: &'a Arc<Policy>,
    pub scope: &'a Scope,
}

impl Case {
    pub fn subject(&self) -> Subject<'_> {
        Subject { dialect: self.dialect.label(), policy: &self.policy, scope: &self.scope }
    }
}

impl McpCase {
    pub fn subject(&self) -> Subject<'_> {
        Subject { dialect: MCP, policy: &self.policy, scope: &self.scope }
    }
}

impl AnswerCase {
    pub fn subject(&self) -> Subject<'_> {
        Subject { dialect: self.dialect.label(), policy: &self.policy, scope: &self.scope }
    }
}

/// Puts on record what passes have noted.
pub fn notes(subject: Subject<'_>, notes: Vec<Note>, host: &mut impl Host) {
    for note in notes {
        match note {
            Note::Count(metric, by) => host.count(metric, by),
            Note::Bypassed(cause) => fail_open::bypassed(cause, host),
            Note::Called(outcome) => fail_open::called(outcome, host),
            Note::Injection(found) => injection(subject, &found, host),
            Note::ToolCall(call) => tool_call(subject, &call, host),
            Note::NoReply { is_marked } => no_reply(subject, is_marked, host),
            Note::CacheHit(found) => cache_hit(subject, &found, host),
            Note::CacheMiss { similarity, partition } => cache_miss(subject, similarity, &partition, host),
            Note::Store(order) => {
                if host.store_answer(*order).is_err() {
                    host.count(Metric::CacheBypasses(CacheBypass::Store), 1);
                }
            }
        }
    }
}

/// Records what was decided on a request to a model, which is held.
pub fn decision(config: &Config, case: &mut Case, decision: &Decision, host: &mut impl Host) {
    host.record_latency(host.now().saturating_sub(case.arrived));
    let spans = std::mem::take(&mut case.spans);
    let about = About { similarity: case.similarity, cache: case.cache.as_ref().map(Cached::label) };
    verdict(config, case.subject(), decision, &about, host);
    if config.annotates {
        annotate(host, "sentinel_model", &shown(&case.model));
        annotate(host, "sentinel_cache", about.cache.unwrap_or_default());
    }
    let signal = decision.finding.as_ref().map(|finding| finding.signal);
    let spans: Vec<_> = spans.into_iter().map(|span| span.with_verdict(decision.verdict, signal)).collect();
    if !spans.is_empty() {
        host.trace(spans);
    }
}

/// Records what was decided on a request to an MCP server, where it was judged.
pub fn mcp_decision(config: &Config, case: &McpCase, decision: &Decision, host: &mut impl Host) {
    if case.is_judged || decision.finding.is_some() {
        verdict(config, case.subject(), decision, &About::default(), host);
    }
}

/// Records that an answer was ended under way.
pub fn stopped(config: &Config, subject: Subject<'_>, decision: &Decision, host: &mut impl Host) {
    verdict(config, subject, decision, &About::default(), host);
}

/// What only a request to a model has.
#[derive(Default)]
struct About {
    similarity: Option<f64>,
    cache: Option<&'static str>,
}

/// Counts a verdict. If something was found, it goes to Envoy's tracer and access logs, and to the log. The filter state
/// `wasm.sentinel_event` has the log's line.
fn verdict(config: &Config, subject: Subject<'_>, decision: &Decision, about: &About, host: &mut impl Host) {
    let Subject { dialect, policy, scope } = subject;
    let (verdict, signal) = (decision.verdict, decision.finding.as_ref().map(|finding| finding.signal));
    let enforced = Enforced(decision.is_enforced);
    host.count(Metric::Verdicts(verdict, signal, dialect, enforced, Arc::clone(&policy.agent)), 1);
    if config.annotates {
        annotate_verdict(scope, verdict, signal, host);
    }
    if verdict != Verdict::Allow {
        let line = line(subject, decision, about, host);
        host.log(Level::Warn, &line);
        host.annotate("sentinel_event", &line);
    }
}

fn annotate_verdict(scope: &Scope, verdict: Verdict, signal: Option<Signal>, host: &mut impl Host) {
    annotate(host, "sentinel_verdict", verdict.label());
    annotate(host, "sentinel_signal", signal.map_or("", Signal::label));
    if scope.is_identified() {
        annotate(host, "sentinel_scope", &scope.label());
    }
}

/// What the provider says itself: its model, and all tokens that it counted, cached ones too.
pub fn annotate_answer(answer: &Answer, host: &mut impl Host) {
    let usage = &answer.usage;
    annotate(host, "sentinel_response_model", &shown(&answer.model));
    let counts = [
        ("sentinel_input_tokens", usage.input.saturating_add(usage.cached)),
        ("sentinel_output_tokens", usage.output),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        annotate(host, name, &count.to_string());
    }
}

fn annotate(host: &mut impl Host, name: &'static str, value: &str) {
    if !value.is_empty() {
        host.annotate(name, value);
    }
}

impl Line {
    /// Who a line is about: digests, and Envoy's id of the request.
    fn about(&mut self, subject: Subject<'_>, names_agent: bool, host: &impl Facts) -> String {
        if names_agent {
            let [_, agent, _] = subject.scope.names();
            self.text("agent", agent.as_str());
        }
        self.text("scope", subject.scope.label().as_str());
        self.text("dialect", subject.dialect);
        self.text("request_id", request_id(host).as_deref());
        self.end()
    }
}

/// The log's line of a hint or a kill: one JSON object.
fn line(subject: Subject<'_>, decision: &Decision, about: &About, host: &impl Facts) -> String {
    let finding = decision.finding.as_ref();
    let counted = finding.filter(|finding| finding.count > 0);
    let named = finding.filter(|finding| finding.count > 0 || finding.signal == Signal::ToolDenied);
    // A request to an MCP server has no score.
    let evidence = finding.filter(|_| subject.dialect != MCP).map(|finding| finding.evidence);
    let counts =
        evidence.map(|Evidence { prompts, responses, tools }| [prompts, responses, tools].map(u64::from));
    let [prompts, responses, tools] = match counts {
        Some(counts) => counts.map(Some),
        None => [None; 3],
    };
    let mut line = Line::of("verdict");
    line.text("verdict", decision.verdict.label())
        .text("signal", finding.map_or("none", |finding| finding.signal.label()))
        .flag("enforced", decision.is_enforced)
        .number("count", counted.map(|finding| u64::from(finding.count)))
        .text("tool", named.map(|finding| finding.tool.as_str()))
        .text("budget", finding.and_then(Finding::budget))
        .text("cause", finding.and_then(Finding::cause))
        .number("prompts", prompts)
        .number("responses", responses)
        .number("tools", tools)
        .float("score", evidence.map(|evidence| evidence.score()))
        .float("similarity", about.similarity)
        .text("cache", about.cache);
    line.about(subject, true, host)
}

/// Puts on record that an answer was found in the cache, whether it is given or not.
fn cache_hit(subject: Subject<'_>, found: &FoundAnswer, host: &mut impl Host) {
    let mut line = Line::of("cache_hit");
    line.text("type", found.hit.label())
        .float("similarity", Some(found.similarity))
        .number("age_ms", Some(found.age))
        .text("entry", shown_entry(&found.entry))
        .flag("enforced", found.is_given);
    let line = line.about(subject, false, host);
    host.log(Level::Info, &line);
}

/// Records that no stored answer could be given. The partition shows whether two requests could have shared one.
fn cache_miss(subject: Subject<'_>, similarity: f64, partition: &Partition, host: &mut impl Host) {
    let partition: String = partition.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut line = Line::of("cache_miss");
    line.float("similarity", Some(similarity)).text("partition", partition.as_str());
    let line = line.about(subject, false, host);
    host.log(Level::Info, &line);
}

/// The service's name of an entry: digests, and nothing else.
fn shown_entry(entry: &str) -> Option<&str> {
    let is_name = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
    (!entry.is_empty() && entry.len() <= 128 && entry.bytes().all(is_name)).then_some(entry)
}

/// Puts an injection on record: one line of JSON, and nothing of the text.
fn injection(subject: Subject<'_>, found: &Injection, host: &mut impl Host) {
    let (level, action) = match found.action {
        GuardAction::Off => return,
        GuardAction::Log => (Level::Info, "log"),
        GuardAction::Warn => (Level::Warn, "warn"),
        GuardAction::Block => (Level::Warn, "block"),
    };
    let mut line = Line::of("security.injection_detected");
    line.text("pattern", found.pattern.label())
        .text("place", found.place.label())
        .number("offset", u64::try_from(found.offset).ok())
        .text("action", action)
        .flag("enforced", subject.policy.mode == Mode::Enforce);
    let line = line.about(subject, true, host);
    host.log(level, &line);
}

/// Puts a tool call on record: one line of JSON, with the agent's name as a digest.
fn tool_call(subject: Subject<'_>, call: &CountedToolCall, host: &mut impl Host) {
    let mut line = Line::of("tool_call");
    line.text("tool", shown(&call.tool).as_str())
        .text("arguments", format!("{:016x}", call.arguments).as_str())
        .text("decision", call.decision.label());
    let line = line.about(subject, true, host);
    host.log(Level::Info, &line);
}

/// Puts on record that an answer says that there is nothing to say.
fn no_reply(subject: Subject<'_>, is_marked: bool, host: &mut impl Host) {
    let mut line = Line::of("no_reply");
    line.flag("marked", is_marked);
    let line = line.about(subject, true, host);
    host.log(Level::Info, &line);
}

/// Envoy's request id. A client can send an id of its own, so only what looks like a UUID goes into the log.
fn request_id(host: &impl Facts) -> Option<String> {
    let id = String::from_utf8(host.request_header("x-request-id")?.into_owned()).ok()?;
    let is_uuid = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_uuid.then_some(id)
}

/// Headers that tell the client what was decided, and what it rests on.
pub fn verdict_headers(config: &Config, decision: &Decision) -> Vec<(&'static str, String)> {
    let [verdict, reason, .., settings] = HEADERS;
    let mut headers = vec![(verdict, decision.verdict.label().to_owned())];
    headers.extend(decision.finding.iter().map(|finding| (reason, finding.reason())));
    if config.settings_version > 0 {
        headers.push((settings, config.settings_version.to_string()));
    }
    headers
}

/// The same for a request to a model: also what the service said.
pub fn headers(config: &Config, case: &Case, decision: &Decision) -> Vec<(&'static str, String)> {
    let [_, reason, similarity, cache, _] = HEADERS;
    let mut headers = verdict_headers(config, decision);
    let service_failed = case.service.filter(|outcome| *outcome != ServiceOutcome::Ok);
    if let (None, Some(outcome)) = (&decision.finding, service_failed) {
        headers.push((reason, format!("service_{}", outcome.label())));
    }
    // With an answer from the cache, the similarity of its question is told.
    let told = match case.cache.as_ref().map(|cached| &cached.found) {
        Some(LookUp::Hit(hit)) => Some(hit.similarity),
        _ => case.similarity,
    };
    headers.extend(told.map(|value| (similarity, format!("{value:.4}"))));
    headers.extend(case.cache.as_ref().map(|cached| (cache, cached.label().to_owned())));
    headers
}
