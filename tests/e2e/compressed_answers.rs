//! No answer is ever changed: providers are asked for plain ones, and what comes compressed all the same passes as it is,
//! through every shipped bootstrap.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::Method;
use sentinel_harness::client::{self, Response};
use sentinel_harness::gateway::{ALICE, Gateway, key_header, path};
use sentinel_harness::process::eventually;
use sentinel_harness::provider::{Answer, Piece, Provider, Received, faithful};
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::providers::Tls;
use crate::support::{CHAT, QUESTION};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn brotli(text: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    brotli::CompressorWriter::new(&mut compressed, 4096, 9, 22).write_all(text).unwrap();
    compressed
}

/// A chat answer whose text repeats one sentence, with this many bytes of padding.
fn answer(times: usize, noise: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'!' + u8::try_from((state >> 40) % 90).unwrap())
    };
    let noise: String = (0..noise).map(|_| letter()).filter(|letter| !"\"\\".contains(*letter)).collect();
    let text = "The same sentence again and again. ".repeat(times) + &noise;
    json!({"choices": [{"message": {"role": "assistant", "content": text}}]}).to_string().into_bytes()
}

/// What is sent, by name: how it is coded, and the bytes.
fn bodies() -> Vec<(String, &'static str, Vec<u8>)> {
    let (mut all, mut ratios) = (Vec::new(), Vec::new());
    for (times, noise) in [(100, 200), (1_500, 400), (3_000, 0), (30_000, 100), (60_000, 0)] {
        let plain = answer(times, noise);
        for (coding, compressed) in [
            ("gzip", gzip(&plain)),
            ("br", brotli(&plain)),
            ("zstd", zstd::encode_all(&plain[..], 19).unwrap()),
        ] {
            let ratio = plain.len() / compressed.len();
            ratios.push((coding, ratio));
            all.push((format!("{coding}, ratio {ratio}"), coding, compressed));
        }
    }
    for coding in ["gzip", "br", "zstd"] {
        let of = ratios.iter().filter(|(known, _)| *known == coding).map(|(_, ratio)| *ratio);
        let (least, most) = (of.clone().min().unwrap(), of.max().unwrap());
        // A text that repeats gives gzip a thousandth at best; the others do better.
        assert!(least < 30 && most > 250, "{coding}: {least} to {most}");
    }
    let members =
        |parts: &[&[u8]], coding: fn(&[u8]) -> Vec<u8>| parts.iter().flat_map(|part| coding(part)).collect();
    let whole = answer(500, 0);
    let (first, rest) = whole.split_at(whole.len() / 3);
    let (second, third) = rest.split_at(rest.len() / 2);
    let frame = |part: &[u8]| zstd::encode_all(part, 3).unwrap();
    all.push(("gzip, three members".into(), "gzip", members(&[first, second, third], gzip)));
    all.push(("zstd, three frames".into(), "zstd", members(&[first, second, third], frame)));
    all.push(("gzip and bytes behind it".into(), "gzip", [&gzip(&whole)[..], b"\0\0 more"].concat()));
    all.push(("gzip, cut short".into(), "gzip", {
        let all = gzip(&whole);
        all[..all.len() / 2].to_vec()
    }));
    all.push(("gzip upon gzip".into(), "gzip, gzip", gzip(&gzip(&whole))));
    all.push(("not what it says".into(), "br", whole.clone()));
    all.push(("nothing".into(), "gzip", Vec::new()));
    all.push(("a coding that nobody knows".into(), "x-own", whole));
    all
}

/// The provider sends it compressed, whatever it was asked for.
fn send(provider: &Provider, coding: &str, body: &[u8]) {
    let (coding, body) = (coding.to_owned(), body.to_vec());
    provider.script(move |_| {
        // In pieces, as they come over a network.
        let pieces = body.chunks(10_000).map(|part| Piece::Bytes(part.to_vec().into())).collect();
        Answer::of(200, "application/json", pieces).with("content-encoding", &coding).with("etag", "\"e\"")
    });
}

fn assert_as_sent(what: &str, response: &Response, coding: &str, body: &[u8]) {
    assert_eq!(response.status, 200, "{what}");
    assert_eq!(response.header("content-encoding"), Some(coding), "{what}");
    assert_eq!(response.header("etag"), Some("\"e\""), "{what}");
    assert_eq!(response.header("content-length"), Some(body.len().to_string().as_str()), "{what}");
    assert!(response.body == body, "{what}: {} bytes came of {}", response.body.len(), body.len());
}

const TAKES_ALL: (&str, &str) = ("accept-encoding", "gzip, deflate, br, zstd");

#[tokio::test]
async fn what_comes_compressed_passes_byte_for_byte_in_production() {
    let gateway = Gateway::builder().start();
    for (number, (what, coding, body)) in bodies().into_iter().enumerate() {
        send(&gateway.provider, coding, &body);
        let response = gateway
            .ask(CHAT, ALICE, &[TAKES_ALL, ("x-agent-id", "a")], &format!("{QUESTION} {number}"))
            .await;
        assert_as_sent(&what, &response, coding, &body);
        assert_eq!(response.verdict(), "allow", "{what}");
    }
    let unread = || gateway.count("sentinel_bypasses_total", &[("cause", "response")]);
    assert_eq!(unread(), bodies().len() as u64, "a compressed answer was read");
}

#[tokio::test]
async fn what_comes_compressed_passes_byte_for_byte_before_the_providers_and_in_the_demo() {
    let (tls, demo) = (Tls::start(true), Stack::builder().start());
    for (what, coding, body) in bodies() {
        send(&tls.provider, coding, &body);
        send(&demo.provider, coding, &body);
        let headers = [TAKES_ALL, ("x-agent-id", what.as_str())];
        let question = CHAT.ask(QUESTION, false).to_string();
        let address = tls.envoy.address();
        let response = client::post(address, "/openai/v1/chat/completions", &headers, question.clone()).await;
        assert_as_sent(&what, &response, coding, &body);
        assert_as_sent(&what, &demo.post(CHAT, &headers, question).await, coding, &body);
    }
}

/// As real providers do: they compress where they are asked for it.
fn obliging(request: &Received) -> Answer {
    let mut answer = faithful(request);
    if request.headers.get_all("accept-encoding").iter().all(|value| value == "identity") {
        return answer;
    }
    let whole: Vec<u8> = answer
        .pieces
        .iter()
        .flat_map(|piece| if let Piece::Bytes(bytes) = piece { bytes.to_vec() } else { Vec::new() })
        .collect();
    answer.pieces = vec![Piece::Bytes(gzip(&whole).into())];
    answer.with("content-encoding", "gzip")
}

#[tokio::test]
async fn providers_are_asked_for_plain_answers_which_are_read() {
    let gateway = Gateway::builder().start();
    gateway.provider.script(obliging);
    for dialect in [CHAT, Dialect::OpenaiResponses, Dialect::Anthropic, Dialect::Gemini] {
        let run = [TAKES_ALL, ("x-run-id", dialect.label())];
        let mut verdicts = Vec::new();
        for _ in 0..5 {
            let response = gateway.ask(dialect, ALICE, &run, QUESTION).await;
            assert_eq!(response.header("content-encoding"), None, "{dialect:?}");
            verdicts.push(response.verdict().to_owned());
        }
        // Equal questions lead to a kill only if their answers are equal too, so the answers must have been read.
        assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"], "{dialect:?}");
        assert_eq!(gateway.provider.last().header("accept-encoding"), Some("identity"), "{dialect:?}");
    }
}

/// For answers that are not read, the agent's `accept-encoding` is passed on, and none is added.
#[tokio::test]
async fn what_is_not_inspected_is_asked_for_as_the_agent_does() {
    let gateway = Gateway::builder().start();
    gateway.provider.script(obliging);
    let (name, value) = key_header(CHAT, ALICE.key);
    let key = (name, value.as_str());
    let models = gateway.get("/openai/v1/models", &[key, TAKES_ALL]).await;
    assert_eq!(models.header("content-encoding"), Some("gzip"));
    let embeddings = gateway.post("/openai/v1/embeddings", &[key, TAKES_ALL], "{}".to_owned()).await;
    assert_eq!(embeddings.header("content-encoding"), Some("gzip"));
    assert_eq!(gateway.provider.last().header("accept-encoding"), Some(TAKES_ALL.1));
    assert_eq!(gateway.ask(CHAT, ALICE, &[], QUESTION).await.status, 200);
    assert_eq!(gateway.provider.last().header("accept-encoding"), None);

    // Two lines of the header are replaced by one.
    let body = Full::new(bytes::Bytes::from(CHAT.ask(QUESTION, false).to_string()));
    let mut request =
        client::request(gateway.address(), Method::POST, path(CHAT), &[key, ("accept-encoding", "br")], body);
    request.headers_mut().append("accept-encoding", "gzip".parse().unwrap());
    assert_eq!(client::send(request).await.unwrap().header("content-encoding"), None);
    let last = gateway.provider.last();
    assert_eq!(last.headers.get_all("accept-encoding").iter().collect::<Vec<_>>(), ["identity"]);
}

/// The header stays if the agent's signature covers it, or if the operator has switched the change off.
#[tokio::test]
async fn a_wish_that_is_signed_or_left_alone_goes_on_as_it_is() {
    let signed = "AWS4-HMAC-SHA256 Credential=A/20260101/r/s/aws4_request, SignedHeaders=Accept-Encoding;host, Signature=00";
    for (config, authorization, asked) in [
        (json!({}), "Bearer accept-encoding", "identity"),
        (json!({"mode": "observe"}), "Bearer k", "identity"),
        (json!({}), signed, TAKES_ALL.1),
        (json!({"plain_answers": false}), "Bearer k", TAKES_ALL.1),
        (json!({"enabled": false}), "Bearer k", TAKES_ALL.1),
        (json!({"hold_headers": false}), "Bearer k", "identity"),
    ] {
        let stack = Stack::builder().config(&config).start();
        let headers = [TAKES_ALL, ("authorization", authorization)];
        assert_eq!(stack.post(CHAT, &headers, CHAT.ask(QUESTION, false).to_string()).await.status, 200);
        assert_eq!(stack.provider.last().header("accept-encoding"), Some(asked), "{config} {authorization}");
    }
}

/// `identity` is a coding only in name.
#[tokio::test]
async fn an_answer_that_says_it_is_plain_is_read() {
    let stack = Stack::builder().start();
    stack.provider.script(|request| faithful(request).with("content-encoding", "identity"));
    stack.ask(CHAT, "a", QUESTION).await;
    eventually("the answer was read", async || {
        stack.count("sentinel_requests_total", &[]) == 1
            && stack.count("sentinel_bypasses_total", &[("cause", "response")]) == 0
    })
    .await;
}
