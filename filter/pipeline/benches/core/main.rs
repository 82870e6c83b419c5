//! Native time per call of what the filter does to a request: read the body, digest it, fingerprint the prompt, change the
//! window, insert the hint, and all of it together with a host in memory. In Envoy the same code runs as WebAssembly, which is
//! slower. What that adds to a request is measured there (`make bench`).

#![expect(clippy::expect_used, reason = "a bench says by failing that what it measures is not what it says")]

mod conversation;
mod passes;

use std::hint::black_box;

use conversation::{Dice, Ending, SLOT, body, slot_of};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sentinel_config::Config;
use sentinel_detect::history::{Reach, Reading};
use sentinel_detect::signal::StepsPolicy;
use sentinel_llm_api::{
    dialect::{DialectRef, Position},
    edit::apply,
    registry::{by_label, read},
};
use sentinel_pipeline::in_memory::{ClientRequest, InMemory, ProviderResponse};
use sentinel_text::{Fingerprint, digest, normalise};

/// Bodies and texts, in kB.
const SIZES: [usize; 3] = [1, 16, 256];
/// Steps of a run.
const STEPS: [usize; 4] = [10, 100, 1_000, 5_000];
const PROMPT: Ending = Ending::Prompt { more: 0 };
const HINT: &str = "You seem to be repeating similar requests. Please take a different approach.";

fn chat() -> DialectRef {
    by_label("openai_chat").expect("a dialect of the filter")
}

/// Each body in each size.
fn bodies(criterion: &mut Criterion, name: &str, mut measured: impl FnMut(&str)) {
    each(criterion, name, |kb| body(kb.saturating_mul(1024), PROMPT), &mut measured);
}

/// Each prompt text in each size.
fn texts(criterion: &mut Criterion, name: &str, mut measured: impl FnMut(&str)) {
    each(criterion, name, |kb| Dice::new(3).text(kb.saturating_mul(1024)), &mut measured);
}

fn each(
    criterion: &mut Criterion,
    name: &str,
    input: impl Fn(usize) -> String,
    measured: &mut impl FnMut(&str),
) {
    let mut group = criterion.benchmark_group(name);
    for kb in SIZES {
        let input = input(kb);
        group.throughput(Throughput::Bytes(u64::try_from(input.len()).unwrap_or(0)));
        group.bench_with_input(BenchmarkId::from_parameter(kb), input.as_str(), |bencher, input| {
            bencher.iter(|| measured(black_box(input)));
        });
    }
    group.finish();
}

fn parse(criterion: &mut Criterion) {
    bodies(criterion, "parse", |body| {
        let conversation = read(chat(), body.as_bytes()).expect("a readable body");
        black_box(
            Reading::of(&conversation, Reach::of(&StepsPolicy::default(), 0)).expect("a readable history"),
        );
    });
}

fn body_digest(criterion: &mut Criterion) {
    bodies(criterion, "digest", |body| {
        black_box(digest(body.as_bytes()));
    });
}

fn splice(criterion: &mut Criterion) {
    bodies(criterion, "splice", |body| {
        let places = read(chat(), body.as_bytes()).expect("a readable body").hint_places();
        let slot = places.beside(Position::Start).expect("a place for the hint");
        black_box(apply(body, &[slot.edit(HINT)]).expect("the hint goes in"));
    });
}

fn normal_form(criterion: &mut Criterion) {
    texts(criterion, "normalise", |text| {
        black_box(normalise(text));
    });
}

fn fingerprint(criterion: &mut Criterion) {
    texts(criterion, "fingerprint", |text| {
        black_box(Fingerprint::of(text));
    });
}

/// A new prompt of a known agent and its answer, from the first header to the last byte. The host in memory copies bodies
/// as Envoy does.
fn request(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("request");
    let answer = ProviderResponse::json(
        r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"The order is on its way."},"finish_reason":"stop"}]}"#,
    );
    for kb in SIZES {
        let body = body(kb.saturating_mul(1024), PROMPT);
        let slot = slot_of(&body).expect("a slot");
        let (before, after) = body.split_at(slot);
        let after = after.get(SLOT..).expect("a whole slot");
        let config = Config::from_json(br#"{"semantic": {"enabled": false}}"#).expect("a configuration");
        let mut host = InMemory::new(config);
        let mut dice = Dice::new(11);
        group.bench_function(BenchmarkId::from_parameter(kb), |bencher| {
            bencher.iter_batched(
                || {
                    let body = format!("{before}{}{after}", dice.text(SLOT));
                    ClientRequest::post("/v1/chat/completions", body).with("x-agent-id", "bench")
                },
                |sent| {
                    let outcome = host.exchange(&sent, &answer);
                    assert_eq!(outcome.verdict(), Some("allow"), "a healthy prompt passes");
                    (outcome, sent)
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// A request of a run with `steps` steps since the user's question: each another call, with a result of its own.
fn run(steps: usize) -> String {
    let mut dice = Dice::new(13);
    let turns = (0..steps).map(|n| {
        let (words, result) = (dice.text(30), dice.text(150));
        format!(
            r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{n}","type":"function","function":{{"name":"look_up","arguments":"{{\"words\":\"{words}\"}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{n}","content":"Order {n}: {result}"}}"#
        )
    });
    let turns: String = turns.collect();
    let question = r#"{"role":"user","content":"Please work through the open orders, one by one."}"#;
    format!(r#"{{"model":"gpt-5-mini","messages":[{question}{turns}],"stream":false}}"#)
}

/// Requests of runs with more and more steps, none like another.
fn steps(criterion: &mut Criterion) {
    let config = format!(r#"{{"max_body_bytes": {}, "semantic": {{"enabled": false}}}}"#, 16_usize << 20);
    let mut group = criterion.benchmark_group("steps");
    for steps in STEPS {
        let mut host = InMemory::new(Config::from_json(config.as_bytes()).expect("a configuration"));
        let request = ClientRequest::post("/v1/chat/completions", run(steps));
        let answer = ProviderResponse::json("{}");
        group.throughput(Throughput::Elements(u64::try_from(steps).unwrap_or(0)));
        group.bench_function(BenchmarkId::from_parameter(steps), |bencher| {
            bencher.iter(|| {
                let outcome = host.exchange(black_box(&request), &answer);
                assert_eq!(outcome.verdict(), Some("allow"), "a run that goes on passes");
            });
        });
    }
    group.finish();
}

criterion_group!(
    core,
    parse,
    body_digest,
    normal_form,
    fingerprint,
    splice,
    request,
    steps,
    passes::requests,
    passes::clean
);
criterion_main!(core);
