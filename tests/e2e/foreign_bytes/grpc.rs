//! From those that the filter asks over gRPC: the embedding service and the collector.

use std::time::{Duration, Instant};

use prost::Message;
use sentinel_harness::Stack;
use sentinel_harness::fake_service::{Behaviour, FakeService};
use sentinel_harness::process::{PATIENCE, eventually};
use sentinel_harness::raw::RawResponse;
use sentinel_proto::v1::CheckLoopResponse;
use serde_json::json;

use super::{FOREIGN, Findings, ask, by_default, field, headers, said, send, stack, with_traces};
use crate::support::{CHAT, QUESTION, nothing_similar};
use sentinel_wire::Run;

/// A message as gRPC sends it.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("a short message").to_be_bytes();
    [&[0], length.as_slice(), message].concat()
}

const GRPC: (&str, &[u8]) = ("content-type", b"application/grpc");

/// Answers of a gRPC service with foreign bytes in one place each.
fn of_a_service() -> Vec<(&'static str, Behaviour)> {
    let answer = framed(&nothing_similar().encode_to_vec());
    let text = CheckLoopResponse { similar_prompt: "abcdef".to_owned(), ..nothing_similar() }.encode_to_vec();
    let at = text.windows(6).position(|window| window == b"abcdef").expect("the text is there");
    let foreign_text = [&text[..at], b"ab\xff\xfeef", &text[at + 6..]].concat();
    let done = || Some(headers(&[("grpc-status", b"0")]));
    vec![
        (
            "grpc-message, headers alone",
            Behaviour::Whole(
                headers(&[GRPC, ("grpc-status", b"8"), ("grpc-message", FOREIGN)]),
                vec![],
                None,
            ),
        ),
        (
            "grpc-message, trailers",
            Behaviour::Whole(
                headers(&[GRPC]),
                vec![],
                Some(headers(&[("grpc-status", b"13"), ("grpc-message", FOREIGN)])),
            ),
        ),
        (
            "grpc-message, escaped",
            Behaviour::Whole(
                headers(&[GRPC]),
                vec![],
                Some(headers(&[("grpc-status", b"8"), ("grpc-message", b"%FF%FE caf%E9 %C3")])),
            ),
        ),
        (
            "grpc-message beside status 0",
            Behaviour::Whole(
                headers(&[GRPC]),
                answer.clone(),
                Some(headers(&[("grpc-status", b"0"), ("grpc-message", FOREIGN)])),
            ),
        ),
        (
            "grpc-message of a refusal after an answer",
            Behaviour::Whole(
                headers(&[GRPC]),
                answer.clone(),
                Some(headers(&[("grpc-status", b"14"), ("grpc-message", FOREIGN)])),
            ),
        ),
        (
            "grpc-status",
            Behaviour::Whole(headers(&[GRPC]), answer.clone(), Some(headers(&[("grpc-status", FOREIGN)]))),
        ),
        ("content-type", Behaviour::Whole(headers(&[("content-type", FOREIGN)]), answer.clone(), done())),
        ("another header", Behaviour::Whole(headers(&[GRPC, ("x-more", FOREIGN)]), answer.clone(), done())),
        (
            "another trailer",
            Behaviour::Whole(
                headers(&[GRPC]),
                answer,
                Some(headers(&[("grpc-status", b"0"), ("x-more", FOREIGN)])),
            ),
        ),
        ("the whole message", Behaviour::Bytes(framed(FOREIGN))),
        ("a text in the message", Behaviour::Bytes(framed(&foreign_text))),
        ("no message at all", Behaviour::Bytes(FOREIGN.to_vec())),
    ]
}

fn fake(stack: &Stack) -> &FakeService {
    stack.fake.as_ref().expect("a fake service")
}

/// Requests that wait for the service meanwhile: enough for each of Envoy's workers to hold one.
const WAITING: usize = 8;

#[tokio::test]
async fn in_what_the_embedding_service_answers() {
    let mut stack = by_default();
    let mut findings = Findings::default();
    for (what, behaviour) in of_a_service() {
        let asked = fake(&stack).calls().len();
        fake(&stack).behave(Behaviour::Answer(nothing_similar(), Duration::from_secs(2)));
        let (response, waited) = std::thread::scope(|scope| {
            let stack = &stack;
            let waiting: Vec<_> = (0..WAITING)
                .map(|n| scope.spawn(move || ask(stack, CHAT, false, &format!("{what}, beside it, {n}"))))
                .collect();
            wait_until(|| fake(stack).calls().len() == asked + WAITING, what);
            fake(stack).behave(behaviour);
            let response = ask(stack, CHAT, false, what);
            fake(stack).behave(Behaviour::Answer(nothing_similar(), Duration::ZERO));
            let waited: Vec<_> = waiting.into_iter().map(|one| one.join().expect("no one panics")).collect();
            (response, waited)
        });
        findings.expect(fake(&stack).calls().len() > asked + WAITING, || {
            format!("{what}: the service was not asked")
        });
        let verdict = |one: &RawResponse| field(&one.head, "x-sentinel-verdict");
        for one in &waited {
            let got = one.as_ref().map(|one| (one.status, verdict(one)));
            findings.expect(got == Some((200, Some("allow".to_owned()))), || {
                format!("{what}: a request that waited beside it got {got:?}")
            });
        }
        findings.judge(&stack, what, response.as_ref());
    }
    findings.none(&mut stack);
}

fn wait_until(mut met: impl FnMut() -> bool, what: &str) {
    let began = Instant::now();
    while !met() {
        assert!(began.elapsed() < PATIENCE, "{what}: the service is not asked by all who should");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The embedding service, behind the same name, is not asked here.
#[tokio::test]
async fn in_what_the_collector_answers() {
    let mut config = with_traces();
    config["semantic"] = json!({"enabled": false});
    let mut stack = stack(&config);
    let mut findings = Findings::default();
    for (number, (what, behaviour)) in of_a_service().into_iter().enumerate() {
        let exported = || fake(&stack).paths().iter().filter(|path| path.ends_with("/Export")).count();
        let before = exported();
        fake(&stack).behave(behaviour);
        let run_id = format!("run-{number}");
        let mut run = Run::new(CHAT, QUESTION);
        run.step("read_page", r#"{"of":"rivers"}"#, "It rains.");
        for body in [run.body(false), {
            run.step("read_page", r#"{"of":"lakes"}"#, "It snows.");
            run.body(false)
        }] {
            let all: [(&str, &[u8]); 2] = [("x-agent-id", b"a"), ("x-run-id", run_id.as_bytes())];
            let response = send(&stack, CHAT.path(false), &all, body.as_bytes());
            let status = response.map(|response| response.status);
            findings.expect(status == Some(200), || format!("{what}: answered {}", said(status)));
        }
        eventually(&format!("{what}: spans are sent"), async || exported() > before).await;
        // Whatever came back has been read by then.
        let reports = exported();
        let again: [(&str, &[u8]); 2] = [("x-agent-id", b"a"), ("x-run-id", run_id.as_bytes())];
        run.step("read_page", r#"{"of":"seas"}"#, "It hails.");
        send(&stack, CHAT.path(false), &again, run.body(false).as_bytes());
        eventually(&format!("{what}: more spans are sent"), async || exported() > reports).await;
        findings.still_works(&stack, what);
    }
    findings.none(&mut stack);
}
