//! What is recorded of a decision: metrics, the line of the log, the headers for the client, the attributes of traces
//! and access logs. Never a prompt, the name of a person or agent, or a header value. The model's name comes from the
//! client or the provider, so it is cut to the characters of a name.

use std::sync::Arc;

use sentinel_detect::{
    injection::{Pattern, Place},
    step::shown,
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::answer::Answer;
use serde_json::json;

use crate::{
    case::Case,
    config::{Config, GuardAction, Mode},
    decide::Decision,
    host::{Host, Level},
    identity::Scope,
    metric::{Metric, ServiceOutcome},
    passes::cache::{Cached, Found, Hit},
};

/// Names of the headers that tell the client what was decided. No provider may set them.
pub const HEADERS: [&str; 4] =
    ["x-sentinel-verdict", "x-sentinel-reason", "x-sentinel-similarity", "x-sentinel-cache"];

/// Name of the header that marks an answer which says that there is nothing to say.
pub const NO_REPLY: &str = "x-sentinel-no-reply";

/// Records what was decided on a request that waits.
pub fn decision(config: &Config, case: &mut Case, decision: &Decision, host: &mut impl Host) {
    let (verdict, signal) = (decision.verdict, decision.finding.as_ref().map(|finding| finding.signal));
    host.count(Metric::Verdicts(verdict, signal, case.dialect.label(), Arc::clone(&case.policy.agent)), 1);
    host.record_latency(host.now().saturating_sub(case.arrived));
    if config.annotates {
        annotate_verdict(&case.scope, verdict, signal, host);
        annotate(host, "sentinel_model", &shown(&case.model));
        annotate(host, "sentinel_cache", case.cache.as_ref().map_or("", Cached::label));
    }
    let mut spans = std::mem::take(&mut case.spans);
    if !spans.is_empty() {
        spans.iter_mut().for_each(|span| span.add_verdict(verdict, signal));
        host.trace(spans);
    }
    if verdict != Verdict::Allow {
        let line = line(case, decision, host);
        host.log(&line);
    }
}

pub fn annotate_verdict(scope: &Scope, verdict: Verdict, signal: Option<Signal>, host: &mut impl Host) {
    annotate(host, "sentinel_verdict", verdict.label());
    annotate(host, "sentinel_signal", signal.map_or("", Signal::label));
    if scope.is_identified() {
        annotate(host, "sentinel_scope", &scope.label());
    }
}

/// The provider's own words: its model, and all tokens that it counted, cached ones too.
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

/// The log's line of a hint or a kill: one JSON object.
fn line(case: &Case, decision: &Decision, host: &impl Host) -> String {
    let finding = decision.finding.as_ref();
    let counted = finding.filter(|finding| finding.count > 0);
    let evidence = finding.map(|finding| finding.evidence).unwrap_or_default();
    json!({
        "event": "verdict",
        "verdict": decision.verdict.label(),
        "signal": finding.map_or("none", |finding| finding.signal.label()),
        "enforced": decision.is_enforced,
        "dialect": case.dialect.label(),
        "scope": case.scope.label(),
        "count": counted.map(|finding| finding.count),
        "tool": counted.map(|finding| finding.tool.as_str()),
        "prompts": evidence.prompts,
        "responses": evidence.responses,
        "tools": evidence.tools,
        "score": evidence.score(),
        "similarity": case.similarity,
        "cache": case.cache.as_ref().map(Cached::label),
        "request_id": request_id(host),
    })
    .to_string()
}

/// Puts on record that an answer was found in the cache, whether it is given or not.
pub fn cache_hit(case: &Case, hit: &Hit, is_enforced: bool, host: &mut impl Host) {
    let line = json!({
        "event": "cache_hit",
        "type": hit.kind.label(),
        "similarity": hit.similarity,
        "age_ms": hit.age,
        "entry": shown_entry(&hit.entry),
        "enforced": is_enforced,
        "dialect": case.dialect.label(),
        "scope": case.scope.label(),
        "request_id": request_id(host),
    });
    host.note(Level::Info, &line.to_string());
}

/// The service's name of an entry: digests, and nothing else.
fn shown_entry(entry: &str) -> Option<&str> {
    let is_name = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
    (!entry.is_empty() && entry.len() <= 128 && entry.bytes().all(is_name)).then_some(entry)
}

/// An injection, for the record.
pub struct Injection {
    pub pattern: Pattern,
    pub place: Place,
    /// Bytes of the text before it.
    pub offset: usize,
    pub action: GuardAction,
}

/// Puts an injection on record: one line of JSON, and nothing of the text.
pub fn injection(case: &Case, injection: &Injection, host: &mut impl Host) {
    let (level, action) = match injection.action {
        GuardAction::Off => return,
        GuardAction::Log => (Level::Info, "log"),
        GuardAction::Warn => (Level::Warn, "warn"),
        GuardAction::Block => (Level::Warn, "block"),
    };
    let [_, agent, _] = case.scope.names();
    let line = json!({
        "event": "security.injection_detected",
        "pattern": injection.pattern.label(),
        "place": injection.place.label(),
        "offset": injection.offset,
        "action": action,
        "enforced": case.policy.mode == Mode::Enforce,
        "agent": agent,
        "scope": case.scope.label(),
        "dialect": case.dialect.label(),
        "request_id": request_id(host),
    });
    host.note(level, &line.to_string());
}

/// A tool call, for the record.
pub struct ToolCallRecord<'a> {
    pub dialect: &'static str,
    pub tool: &'a str,
    /// Digest of the canonical arguments.
    pub arguments: u64,
    pub decision: CallDecision,
}

/// What became of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallDecision {
    Allow,
    /// The policy denies it.
    Deny,
    /// The breaker answered it, as one too many.
    Break,
    /// A model calls it that may not be offered: the answer passes.
    NotOffered,
}

impl CallDecision {
    fn label(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Break => "break",
            Self::NotOffered => "not_offered",
        }
    }
}

/// Puts a tool call on record: one line of JSON, with the agent's name as a digest.
pub fn tool_call(scope: &Scope, call: &ToolCallRecord<'_>, host: &mut impl Host) {
    let [_, agent, _] = scope.names();
    let line = json!({
        "event": "tool_call",
        "agent": agent,
        "scope": scope.label(),
        "dialect": call.dialect,
        "tool": shown(call.tool),
        "arguments": format!("{:016x}", call.arguments),
        "decision": call.decision.label(),
        "request_id": request_id(host),
    });
    host.note(Level::Info, &line.to_string());
}

/// Puts on record that an answer says that there is nothing to say. `is_marked`: the client is told by a header.
pub fn no_reply(scope: &Scope, dialect: &'static str, is_marked: bool, host: &mut impl Host) {
    let [_, agent, _] = scope.names();
    let line = json!({
        "event": "no_reply",
        "agent": agent,
        "scope": scope.label(),
        "dialect": dialect,
        "marked": is_marked,
        "request_id": request_id(host),
    });
    host.note(Level::Info, &line.to_string());
}

/// Envoy's request id. A client can send one of its own: what does not look like a UUID stays out of the log.
pub fn request_id(host: &impl Host) -> Option<String> {
    let id = String::from_utf8(host.request_header("x-request-id")?).ok()?;
    let is_uuid = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_uuid.then_some(id)
}

/// Headers that tell the client what was decided.
pub fn headers(case: &Case, decision: &Decision) -> Vec<(&'static str, String)> {
    let [verdict, reason, similarity, cache] = HEADERS;
    let mut headers = vec![(verdict, decision.verdict.label().to_owned())];
    let service_failed = case.service.filter(|outcome| *outcome != ServiceOutcome::Ok);
    let why = match &decision.finding {
        Some(finding) => Some(Finding::reason(finding)),
        None => service_failed.map(|outcome| format!("service_{}", outcome.label())),
    };
    headers.extend(why.map(|why| (reason, why)));
    // To an answer from the cache belongs how near its question came.
    let told = match case.cache.as_ref().map(|cached| &cached.found) {
        Some(Found::Hit(hit)) => Some(hit.similarity),
        _ => case.similarity,
    };
    headers.extend(told.map(|value| (similarity, format!("{value:.4}"))));
    headers.extend(case.cache.as_ref().map(|cached| (cache, cached.label().to_owned())));
    headers
}
