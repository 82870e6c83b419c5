//! The request's way: headers, body, window, embedding service, and out.

use super::{
    Case, Effect, Held, Opening, Passage, Phase, Question, Reply, ServiceReply, SlotWrite, Step, log, mcp,
    note, text,
};
use crate::{
    arrival::{self, Arrival, Judgement, Occasion},
    config::{Config, HintPosition, KillMode, Mode},
    dialect::{FinalMessage, Form, Route, Scan, Tail},
    identity::{Claims, Scope},
    metric::{Bypass, MCP, Metric, ServiceOutcome},
    prompt::{digest, digest_pair},
    signal::{self, Finding},
    slot::Slot,
    span::{self, Cause},
    step::{self, Done, StepReader},
    verdict::{Signal, Verdict},
    window::Window,
};

/// Headers: is this a request that we can read?
pub fn open(config: &Config, end_of_stream: bool, held: &dyn Held) -> Step {
    let header = |name: &str| held.request_header(name);
    let ignore = (Phase::Done, Vec::new());
    if end_of_stream || header(":method").as_deref() != Some(b"POST") {
        return ignore;
    }
    let path = header(":path").unwrap_or_default();
    let Ok(path) = std::str::from_utf8(&path) else { return ignore };
    let is_mcp = config.mcp.is_spoken_on(path);
    let route = if is_mcp { None } else { Route::of(path, &config.paths) };
    let label = match &route {
        Some(route) => route.dialect.label(),
        None if is_mcp => MCP,
        None => return ignore,
    };
    let claims = Claims::from_headers(config, header);
    if !config.policy(claims.agent()).enabled {
        return ignore;
    }
    let length = header("content-length");
    let too_large = |length: &[u8]| {
        std::str::from_utf8(length)
            .ok()
            .and_then(|length| length.parse().ok())
            .is_some_and(|length: usize| length > config.max_body)
    };
    let mut effects = vec![Effect::Count(Metric::Requests(label), 1)];
    let bypass = if !header("content-type").is_none_or(|value| is_json(&value)) {
        Some(Bypass::ContentType)
    } else if header("content-encoding").is_some_and(|value| !value.eq_ignore_ascii_case(b"identity")) {
        Some(Bypass::Encoded)
    } else if length.as_deref().is_some_and(too_large) {
        Some(Bypass::TooLarge)
    } else {
        None
    };
    if let Some(bypass) = bypass {
        effects.push(bypass.into());
        return (Phase::Done, effects);
    }
    let is_retry = header("x-stainless-retry-count").is_some_and(|count| count != b"0");
    // Headers that go on at once must not tell a length that a hint changes.
    let has_length = length.is_some() && config.hold_headers;
    effects.push(if config.hold_headers {
        Effect::Hold
    } else {
        Effect::RemoveRequestHeader("content-length")
    });
    let opening = Opening { route, claims, has_length, is_retry };
    (Phase::Reading(Box::new(opening)), effects)
}

fn is_json(content_type: &[u8]) -> bool {
    let media = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    media.eq_ignore_ascii_case(b"application/json") || media.to_ascii_lowercase().ends_with(b"+json")
}

pub fn body(
    config: &Config,
    opening: Box<Opening>,
    bytes: usize,
    end_of_stream: bool,
    held: &dyn Held,
) -> Step {
    if bytes > config.max_body {
        return bypass(Bypass::TooLarge);
    }
    if end_of_stream { whole(config, *opening, held) } else { (Phase::Reading(opening), vec![Effect::Hold]) }
}

fn bypass(cause: Bypass) -> Step {
    (Phase::Done, vec![cause.into(), Effect::Release])
}

/// The whole body is there: who sends it, and what does it say?
pub fn whole(config: &Config, opening: Opening, held: &dyn Held) -> Step {
    let body = held.request_body().unwrap_or_default();
    if body.is_empty() {
        return bypass(Bypass::Empty);
    }
    let Some(route) = opening.route else { return mcp::whole(config, &opening.claims, &body, held) };
    let dialect = route.dialect;
    let known = config.policy(opening.claims.agent());
    let scan = Scan { before_word: config.collector.is_some(), ..Scan::of(&known.steps, known.run_limit) };
    let reading = match dialect.read(&body, scan) {
        Ok(reading) => reading,
        Err(error) => return bypass(Bypass::Unreadable(error)),
    };
    let claims = opening.claims.with_body(config, &reading);
    let policy = config.policy(claims.agent()).clone();
    if !policy.enabled {
        return (Phase::Done, vec![Effect::Release]);
    }
    let scope = claims.scope(reading.run);
    let is_traced = config.collector.is_some() && claims.names_run() && !opening.is_retry;
    let cause = is_traced.then(|| held.request_header("traceparent")).flatten();
    let finding = signal::strongest(&reading, &policy);
    let counted = Effect::Count(Metric::BytesInspected, u64::try_from(body.len()).unwrap_or(0));
    let case = Case {
        dialect,
        form: route.form.unwrap_or(if reading.stream { Form::Sse } else { Form::Json }),
        model: route.model.unwrap_or_else(|| reading.model.into_owned()),
        include_usage: reading.include_usage,
        has_length: opening.has_length,
        policy,
        scope,
        arrival: Arrival {
            now: held.now(),
            body: if scope.is_identified() { digest(&body) } else { 0 },
            turns: reading.turns,
            has_history: reading.run.is_some(),
            is_retry: opening.is_retry,
            occasion: Occasion::of(&reading.tail),
        },
        prompt: match reading.tail {
            Tail::Prompt(text) => text,
            Tail::Aside(_) | Tail::Other => String::new(),
        },
        remote: reading.remote,
        is_traced,
        done: reading.done,
        cause: cause.and_then(|header| Cause::of(&header)),
        spans: Vec::new(),
        body,
        judgement: Judgement::default().or_finding(finding.as_ref()),
        finding,
        similarity: None,
        service: None,
    };
    if !scope.is_identified() {
        let (phase, mut effects) = settle(config, Box::new(case), held);
        effects.insert(0, counted);
        effects.insert(1, Bypass::NoIdentity.into());
        return (phase, effects);
    }
    let load = load(config, &scope);
    (Phase::Deciding(Box::new(case), SlotWrite::default()), vec![counted, load])
}

/// The effect that asks for a scope's slot.
pub fn load(config: &Config, scope: &Scope) -> Effect {
    Effect::LoadSlot(Slot::key(scope.id(), config.buckets))
}

/// Changes a scope's window in the bytes of its slot.
pub fn change<T>(
    config: &Config,
    scope: &Scope,
    now: u64,
    (bytes, version): (Option<&[u8]>, Option<u32>),
    change: impl FnOnce(&mut Window) -> T,
) -> (T, Effect) {
    let mut slot = bytes.map(Slot::decode).unwrap_or_default();
    let mut window = slot.take(scope.id(), now, config.state_ttl);
    let result = change(&mut window);
    slot.put(scope.id(), window);
    let key = Slot::key(scope.id(), config.buckets);
    (result, Effect::StoreSlot { key, bytes: slot.encode(), version })
}

pub fn decide(
    config: &Config,
    mut case: Box<Case>,
    write: SlotWrite,
    bytes: Option<&[u8]>,
    version: Option<u32>,
) -> Step {
    let ((judgement, finding, spans), store) =
        change(config, &case.scope, case.arrival.now, (bytes, version), |window| {
            let (steps, done) = in_remote(window, &case);
            let done = if done.is_empty() { &case.done } else { &done };
            let spans = if case.is_traced {
                span::of_steps(window, &case.scope, &case.arrival, done, case.cause)
            } else {
                Vec::new()
            };
            let finding = case.finding.clone().or_else(|| signal::in_steps(&steps, &case.policy.steps));
            let judgement = arrival::judge(window, &case.arrival, &case.policy, finding.as_ref());
            (judgement, finding, spans)
        });
    case.judgement = judgement;
    case.finding = finding;
    case.spans = spans;
    (Phase::Deciding(case, write), vec![store])
}

/// The steps of a history that the provider keeps, and the new ones. A history in the body needs no memory.
fn in_remote(window: &mut Window, case: &Case) -> (Vec<step::Step>, Vec<Done>) {
    match &case.remote {
        Some(tail) => window.remote.follow(tail),
        None => {
            window.remote = StepReader::default();
            Default::default()
        }
    }
}

/// The window has taken note, or has not: the verdict stands either way.
pub fn decided(config: &Config, case: Box<Case>, write: SlotWrite, stored: bool, held: &dyn Held) -> Step {
    if !stored && let Some(again) = write.again() {
        let load = load(config, &case.scope);
        return (Phase::Deciding(case, again), vec![load]);
    }
    let (phase, mut effects) = if case.judgement.is_open { ask(case) } else { settle(config, case, held) };
    if !stored {
        effects.insert(0, Bypass::Contention.into());
    }
    (phase, effects)
}

/// What is known is all that will be.
fn settle(config: &Config, mut case: Box<Case>, held: &dyn Held) -> Step {
    if case.judgement.verdict == Verdict::Kill && case.policy.mode == Mode::Enforce {
        return kill(config, &mut case, held);
    }
    release(config, *case, held)
}

fn ask(case: Box<Case>) -> Step {
    let [tenant, agent, run] = case.scope.names();
    let question = Question {
        tenant,
        agent,
        run,
        prompt: case.prompt.clone(),
        similarity_threshold: case.policy.similarity_threshold,
        repeats: case.policy.semantic.repeats,
    };
    (Phase::Asking(case), vec![Effect::Hold, Effect::Ask(question)])
}

pub fn answered(
    config: &Config,
    mut case: Box<Case>,
    reply: Result<ServiceReply, ServiceOutcome>,
    held: &dyn Held,
) -> Step {
    let reply = reply.and_then(|reply| {
        let is_similarity = (0.0..=1.0).contains(&reply.max_similarity);
        if is_similarity { Ok(reply) } else { Err(ServiceOutcome::Garbage) }
    });
    let outcome = reply.err().unwrap_or(ServiceOutcome::Ok);
    let counted = Effect::Count(outcome.into(), 1);
    case.service = Some(outcome);
    case.similarity = reply.ok().map(|reply| reply.max_similarity);
    if reply.is_ok_and(|reply| reply.loop_detected) {
        case.judgement.verdict = Verdict::Hint;
        case.judgement.signal = Some(Signal::Semantic);
        let load = load(config, &case.scope);
        return (Phase::Marking(case, SlotWrite::default()), vec![counted, load]);
    }
    let (phase, mut effects) = release(config, *case, held);
    effects.insert(0, counted);
    (phase, effects)
}

/// A retry of a request that was hinted must be hinted again: the window remembers the hint.
pub fn mark(
    config: &Config,
    case: Box<Case>,
    write: SlotWrite,
    bytes: Option<&[u8]>,
    version: Option<u32>,
) -> Step {
    let Judgement { verdict, signal, entry, .. } = case.judgement;
    let ((), store) = change(config, &case.scope, case.arrival.now, (bytes, version), |window| {
        if let Some(entry) = entry.and_then(|number| window.entry(number)) {
            entry.verdict = verdict;
            entry.signal = signal;
        }
    });
    (Phase::Marking(case, write), vec![store])
}

pub fn marked(config: &Config, case: Box<Case>, write: SlotWrite, stored: bool, held: &dyn Held) -> Step {
    if !stored && let Some(again) = write.again() {
        let load = load(config, &case.scope);
        return (Phase::Marking(case, again), vec![load]);
    }
    release(config, *case, held)
}

/// Lets the request go on, with a hint where that is the verdict.
fn release(config: &Config, mut case: Case, held: &dyn Held) -> Step {
    let enforced = case.policy.mode == Mode::Enforce;
    let mut effects = verdict_effects(config, &mut case, held);
    if enforced && case.judgement.verdict == Verdict::Hint {
        match hinted(&case) {
            Some(body) => {
                if case.has_length {
                    effects.push(Effect::SetRequestHeader("content-length", body.len().to_string()));
                }
                effects.push(Effect::ReplaceRequestBody(body));
            }
            None => effects.push(Bypass::NoPlace.into()),
        }
    }
    effects.push(Effect::Release);
    let passage = Passage {
        dialect: case.dialect,
        scope: case.scope,
        entry: case.judgement.entry,
        headers: if enforced && config.response_headers { headers(&case) } else { Vec::new() },
        model: case.model,
        reader: None,
        succeeded: false,
    };
    (Phase::Passing(Box::new(passage)), effects)
}

fn hinted(case: &Case) -> Option<Vec<u8>> {
    let body = std::str::from_utf8(&case.body).ok()?;
    let text = text::hint(case);
    let position = case.policy.hint.position;
    let splice = match case.finding_at_hand() {
        // After the last result; where that has no place for it, after everything.
        Some(_) => case
            .dialect
            .hint_in_result(body, &text)
            .or_else(|_| case.dialect.hint(body, &text, HintPosition::End)),
        None => case.dialect.hint(body, &text, position),
    };
    splice.ok()?.apply(body)
}

fn verdict_effects(config: &Config, case: &mut Case, held: &dyn Held) -> Vec<Effect> {
    let Judgement { verdict, signal, .. } = case.judgement;
    let mut effects = vec![
        Effect::Count(Metric::Verdicts(verdict, signal, case.dialect.label()), 1),
        Effect::Held(held.now().saturating_sub(case.arrival.now)),
    ];
    if config.notes {
        effects.extend(note::of_request(case));
    }
    let mut spans = std::mem::take(&mut case.spans);
    if !spans.is_empty() {
        spans.iter_mut().for_each(|span| span.note(verdict, signal));
        effects.push(Effect::Trace(spans));
    }
    if verdict != Verdict::Allow {
        effects.push(Effect::Log(log::line(case, held)));
    }
    effects
}

/// Headers that tell the client what was decided.
fn headers(case: &Case) -> Vec<(&'static str, String)> {
    let Judgement { verdict, signal, evidence, .. } = case.judgement;
    let mut headers = vec![("x-sentinel-verdict", verdict.label().to_owned())];
    let reason = match (signal, case.service) {
        (Some(_), _) if case.finding_at_hand().is_some() => case.finding_at_hand().map(Finding::reason),
        (Some(Signal::Score), _) if evidence.prompts > 0 => Some(format!(
            "score; prompts={}; responses={}; tools={}; score={}",
            evidence.prompts,
            evidence.responses,
            evidence.tools,
            evidence.score()
        )),
        (Some(signal), _) => Some(signal.label().to_owned()),
        (None, Some(outcome)) if outcome != ServiceOutcome::Ok => {
            Some(format!("service_{}", outcome.label()))
        }
        (None, _) => None,
    };
    headers.extend(reason.map(|reason| ("x-sentinel-reason", reason)));
    headers.extend(case.similarity.map(|similarity| ("x-sentinel-similarity", format!("{similarity:.4}"))));
    headers
}

fn kill(config: &Config, case: &mut Case, held: &dyn Held) -> Step {
    let policy = &case.policy.kill;
    let text = text::kill(case);
    let (status, content_type, body) = match policy.mode {
        KillMode::Error => (policy.status, "application/json", case.dialect.error(policy.status, &text)),
        KillMode::FinalMessage => {
            let message = FinalMessage {
                text: &text,
                model: &case.model,
                form: case.form,
                id: digest_pair(case.scope.id(), case.arrival.now),
                created: case.arrival.now.checked_div(1_000).unwrap_or(0),
                include_usage: case.include_usage,
            };
            let content_type = if case.form == Form::Sse { "text/event-stream" } else { "application/json" };
            (200, content_type, case.dialect.final_message(&message))
        }
    };
    let mut reply_headers =
        vec![("content-type", content_type.to_owned()), ("x-should-retry", "false".to_owned())];
    if config.response_headers {
        reply_headers.extend(headers(case));
    }
    let mut effects = verdict_effects(config, case, held);
    let saved = config.price(&case.model).map_or(0, |price| price.of_body(case.body.len()));
    effects.push(Effect::Count(Metric::Saved, saved));
    effects.push(Effect::Reply(Reply { status, headers: reply_headers, body }));
    (Phase::Done, effects)
}
