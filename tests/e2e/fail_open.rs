//! Whatever happens to the service, every request is answered by the provider, with the bytes that the agent sent.

use std::collections::BTreeSet;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use sentinel_harness::fake_service::Behaviour;
use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::redis::Redis;
use sentinel_harness::{Dialect, Stack, client};
use sentinel_proto::v1::CheckLoopResponse;
use serde_json::json;

use crate::support::{nothing_similar, similar};

/// Requests at once in each row of the matrix.
const REQUESTS: usize = 24;

/// Sends them all at once, each with words of its own, and checks that every one is answered by the provider,
/// which got exactly what was sent.
async fn all_pass(stack: &Stack, what: &str) {
    let seen = stack.provider.count();
    let mut sent = BTreeSet::new();
    let mut running = Vec::new();
    for number in 0..REQUESTS {
        let dialect = Dialect::ALL[number % Dialect::ALL.len()];
        let body = dialect.ask(&text_for(&format!("{what} {number}")), false).to_string();
        sent.insert(body.clone().into_bytes());
        let address = stack.address();
        let agent = format!("{what}-{number}").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        running.push(tokio::spawn(async move {
            client::post(address, dialect.path(false), &[("x-agent-id", &agent)], body).await
        }));
    }
    for request in running {
        let response = request.await.expect("an answer");
        assert_eq!(response.status, 200, "{what}: {:?}", response.body);
        assert_eq!(response.verdict(), "allow", "{what}");
    }
    let got: BTreeSet<Vec<u8>> =
        stack.provider.received()[seen..].iter().map(|got| got.body.to_vec()).collect();
    assert!(got == sent, "{what}: the provider got something else than was sent");
}

/// Any outcome but a good one: which one is up to how Envoy reads the answer.
const FAILED: &str = "failed";

fn calls(stack: &Stack, outcome: &str) -> u64 {
    let metrics = stack.metrics();
    let of = |labels: &[(&str, &str)]| metrics.sum("sentinel_service_calls_total", labels);
    if outcome == FAILED { of(&[]) - of(&[("outcome", "ok")]) } else { of(&[("outcome", outcome)]) }
}

/// All pass, and each is counted as a call of the service with this outcome.
async fn all_pass_and_are_counted(stack: &mut Stack, what: &str, outcome: &str) {
    let before = calls(stack, outcome);
    all_pass(stack, what).await;
    let counted = calls(stack, outcome) - before;
    let all = stack.metrics();
    assert_eq!(
        counted,
        REQUESTS as u64,
        "{what}: {outcome} counted. {:?}",
        all.beginning("sentinel_service")
    );
    stack.assert_sound();
}

#[tokio::test]
async fn service_absent() {
    let mut stack = Stack::builder().start();
    all_pass_and_are_counted(&mut stack, "no socket", "unavailable").await;
}

#[tokio::test]
async fn service_that_does_not_listen() {
    let mut stack = Stack::builder().start();
    // The socket's file is there, as after a crash, and nobody listens.
    drop(UnixListener::bind(stack.socket()).expect("the socket is free"));
    all_pass_and_are_counted(&mut stack, "connection refused", "unavailable").await;
}

#[tokio::test]
async fn service_that_accepts_and_says_nothing() {
    let mut stack = Stack::builder().start();
    let listener = UnixListener::bind(stack.socket()).expect("the socket is free");
    all_pass_and_are_counted(&mut stack, "no HTTP/2 settings", "timeout").await;
    drop(listener);
}

#[tokio::test]
async fn service_that_refuses_or_fails() {
    let mut stack = Stack::builder().fake(Behaviour::Silence).start();
    let codes = [
        (1, "error"),
        (2, "error"),
        (3, "error"),
        (4, "timeout"),
        (8, "refused"),
        (12, "unimplemented"),
        (13, "error"),
        (14, "unavailable"),
        (99, "error"),
    ];
    for (code, outcome) in codes {
        stack.fake.as_ref().unwrap().behave(Behaviour::Refuse(code));
        all_pass_and_are_counted(&mut stack, &format!("gRPC status {code}"), outcome).await;
    }
}

#[tokio::test]
async fn service_that_is_slow() {
    let mut stack = Stack::builder().fake(Behaviour::Silence).in_a_hurry().start();
    // Around the limit of 50 ms either side may win; both must let the request through.
    for late in [49, 51] {
        stack
            .fake
            .as_ref()
            .unwrap()
            .behave(Behaviour::Answer(nothing_similar(), Duration::from_millis(late)));
        all_pass(&stack, &format!("{late} ms")).await;
    }
    // Ten times too late, with a verdict that would have been a hint: it must not count any more.
    stack.fake.as_ref().unwrap().behave(Behaviour::Answer(similar(), Duration::from_millis(500)));
    all_pass_and_are_counted(&mut stack, "500 ms", "timeout").await;
    stack.fake.as_ref().unwrap().behave(Behaviour::Silence);
    all_pass_and_are_counted(&mut stack, "never", "timeout").await;
    assert!(stack.count("sentinel_service_calls_total", &[("outcome", "timeout")]) >= 2 * REQUESTS as u64);
}

#[tokio::test]
async fn service_that_answers_garbage() {
    let mut stack = Stack::builder().fake(Behaviour::Silence).start();
    let similarity =
        |max_similarity| Behaviour::Answer(CheckLoopResponse { max_similarity, ..similar() }, Duration::ZERO);
    let rows = [
        ("a field cut short", Behaviour::Bytes(vec![0, 0, 0, 0, 2, 0x1a, 0x7f]), "garbage"),
        ("a wrong wire type", Behaviour::Bytes(vec![0, 0, 0, 0, 2, 0x0f, 0x01]), "garbage"),
        ("random bytes", Behaviour::Bytes([&[0, 0, 0, 0, 8], &[0xff; 8][..]].concat()), "garbage"),
        ("not UTF-8", Behaviour::Bytes(vec![0, 0, 0, 0, 4, 0x1a, 0x02, 0xff, 0xfe]), "garbage"),
        ("a length that lies", Behaviour::Bytes(vec![0, 0xff, 0xff, 0xff, 0xff, 0x08]), FAILED),
        ("no message", Behaviour::Bytes(Vec::new()), FAILED),
        ("a page", Behaviour::Page, FAILED),
        ("broken off", Behaviour::HangUp, FAILED),
        ("similarity is no number", similarity(f64::NAN), "garbage"),
        ("similarity is infinite", similarity(f64::INFINITY), "garbage"),
        ("similarity out of range", similarity(7.5), "garbage"),
        ("similarity is negative", similarity(-0.5), "garbage"),
    ];
    for (what, behaviour, outcome) in rows {
        stack.fake.as_ref().unwrap().behave(behaviour);
        all_pass_and_are_counted(&mut stack, what, outcome).await;
    }
}

#[tokio::test]
async fn service_that_does_not_speak_http() {
    let mut stack = Stack::builder().fake(Behaviour::Noise).start();
    all_pass_and_are_counted(&mut stack, "noise", "unavailable").await;
}

#[tokio::test]
async fn service_killed_in_the_middle_of_a_call() {
    let mut stack = Stack::builder().service().start();
    all_pass(&stack, "before").await;
    // It stands still, so that the calls are under way when it dies.
    stack.service.as_mut().unwrap().process().signal(libc::SIGSTOP);
    let before = calls(&stack, "unavailable");
    let bodies: Vec<String> =
        (0..4).map(|n| Dialect::ALL[n].ask(&text_for(&format!("killed {n}")), false).to_string()).collect();
    let running: Vec<_> = bodies
        .iter()
        .zip(Dialect::ALL)
        .map(|(body, dialect)| {
            let (address, body) = (stack.address(), body.clone());
            tokio::spawn(async move {
                client::post(address, dialect.path(false), &[("x-agent-id", "mid-call")], body).await
            })
        })
        .collect();
    eventually("all four wait for their verdict", async || {
        stack.count("envoy_cluster_upstream_rq_active", &[("envoy_cluster_name", "embedding_service")]) == 4
    })
    .await;
    stack.service.as_mut().unwrap().process().kill();
    for request in running {
        let response = request.await.expect("an answer");
        assert_eq!((response.status, response.verdict()), (200, "allow"));
    }
    let mut got: Vec<_> = stack.provider.received().into_iter().rev().take(4).map(|got| got.body).collect();
    got.sort();
    let mut sent = bodies.clone();
    sent.sort();
    assert_eq!(got, sent);
    assert_eq!(calls(&stack, "unavailable") - before, 4);
    stack.assert_sound();
}

#[tokio::test]
async fn service_that_comes_back() {
    let mut stack = Stack::builder().start();
    all_pass(&stack, "absent").await;
    let service = sentinel_harness::service::Service::start(stack.folder(), &stack.socket(), &[]);
    let mut number = 0;
    eventually("the service is used again", async || {
        number += 1;
        stack
            .ask(
                Dialect::OpenaiChat,
                &format!("back-{number}"),
                "A question for the service that has come back",
            )
            .await;
        stack.count("sentinel_service_calls_total", &[("outcome", "ok")]) > 0
    })
    .await;
    stack.assert_sound();
    drop(service);
}

#[tokio::test]
async fn redis_stopped_frozen_and_back() {
    let mut redis = Redis::start();
    let url = redis.url();
    let mut stack = Stack::builder().service_with(&[("REDIS_URL", &url)]).start();
    all_pass(&stack, "with Redis").await;
    assert!(stack.count("sentinel_service_calls_total", &[("outcome", "ok")]) > 0, "Redis was never used");
    redis.freeze();
    all_pass_and_are_counted(&mut stack, "frozen", FAILED).await;
    redis.thaw();
    redis.kill();
    all_pass_and_are_counted(&mut stack, "stopped", "unavailable").await;
    redis.restart();
    let before = stack.count("sentinel_service_calls_total", &[("outcome", "ok")]);
    let mut number = 0;
    eventually("the service has found Redis again", async || {
        number += 1;
        stack
            .ask(Dialect::OpenaiChat, &format!("again-{number}"), "A question after Redis has come back")
            .await;
        stack.count("sentinel_service_calls_total", &[("outcome", "ok")]) > before
    })
    .await;
    assert!(stack.service.as_mut().unwrap().process().is_running());
    stack.assert_sound();
}

/// What one replica of the service has seen, another knows.
#[tokio::test]
async fn two_envoys_share_their_memory_through_redis() {
    let redis = Redis::start();
    let url = redis.url();
    let stacks = [0, 1].map(|_| Stack::builder().service_with(&[("REDIS_URL", &url)]).start());
    let mut verdicts = Vec::new();
    for turn in 0..3 {
        let response = stacks[turn % 2].ask(Dialect::Anthropic, "roams", crate::support::QUESTION).await;
        verdicts.push(response.verdict().to_owned());
        // It is stored after the answer has gone.
        eventually("the prompt is stored", async || redis.prompts() > turn).await;
    }
    assert_eq!(verdicts, ["allow", "allow", "hint"]);
}

#[tokio::test]
async fn a_cluster_that_envoy_does_not_have() {
    let mut stack = Stack::builder().config(&json!({"cluster": "nowhere"})).start();
    all_pass_and_are_counted(&mut stack, "unknown cluster", "unknown_cluster").await;
}
