//! Answers pass as they come: not delayed, not changed, and a broken one is no evidence.

use hyper::HeaderMap;
use sentinel_harness::provider::{
    Answer, Gate, Piece, Reply, bedrock, event_stream, faithful, reply::text_for, speak,
};
use sentinel_harness::raw::RawConnection;
use sentinel_harness::stack::in_run;
use sentinel_harness::{Dialect, Stack, client};
use serde_json::json;

use crate::support::QUESTION;

/// The provider sends its next chunk only when the agent has got the last one, so that a filter (or a proxy) that gathers
/// chunks hangs here. Nothing is timed.
#[tokio::test]
async fn chunks_arrive_one_by_one_and_unchanged() {
    let mut stack = Stack::builder().start();
    for dialect in Dialect::ALL {
        let gate = Gate::closed();
        let provider_gate = gate.clone();
        stack.provider.script(move |request| faithful(request).gated(&provider_gate));
        let body = dialect.ask(QUESTION, true).to_string();
        let mut answer =
            client::stream(stack.address(), dialect.path(true), &[("x-agent-id", dialect.label())], body)
                .await;
        assert_eq!(answer.status, 200, "{dialect:?}");
        let chunks = speak(&stack.provider.last(), &Reply::Text(text_for(QUESTION))).pieces;
        assert!(chunks.len() >= 5, "{dialect:?}: {} chunks are no stream", chunks.len());
        for (number, expected) in chunks.iter().enumerate() {
            let Piece::Bytes(expected) = expected else { panic!("the script sends bytes only") };
            let mut got = Vec::new();
            while got.len() < expected.len() {
                got.extend_from_slice(
                    &answer
                        .chunk()
                        .await
                        .unwrap_or_else(|| panic!("{dialect:?}: it ends before chunk {number}")),
                );
            }
            assert_eq!(got, **expected, "{dialect:?}: chunk {number}");
            gate.open();
        }
        assert_eq!(answer.chunk().await, None, "{dialect:?}: something after the end");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn answers_pass_byte_for_byte() {
    let mut stack = Stack::builder().start();
    let long =
        "data: {\"choices\":[{\"delta\":{\"content\":\"".to_owned() + &"y".repeat(300_000) + "\"}}]}\n\n";
    let answers: Vec<(&str, Answer)> = vec![
        ("an empty body", Answer::of(200, "application/json", vec![])),
        ("not JSON", Answer::of(200, "application/json", vec![Piece::Bytes("{\"choices\": [".into())])),
        ("invalid UTF-8", Answer::of(200, "application/json", vec![Piece::Bytes(vec![0xff; 100].into())])),
        ("an empty stream", Answer::events(vec![])),
        ("a stream of noise", Answer::events(vec!["\u{0}\u{1}data data:\n\n\n\n:::\r\r\n".to_owned()])),
        ("an endless line", Answer::events(vec![long])),
        ("a stream cut in the middle of words", {
            let whole = faithful_stream();
            Answer::of(
                200,
                "text/event-stream",
                whole.chunks(3).map(|piece| Piece::Bytes(piece.to_vec().into())).collect(),
            )
        }),
        (
            "a large body",
            Answer::of(
                200,
                "application/json",
                vec![Piece::Bytes(format!("\"{}\"", "z".repeat(6_000_000)).into())],
            ),
        ),
        (
            "compressed, it says",
            Answer::of(200, "application/json", vec![Piece::Bytes("{}".into())])
                .with("content-encoding", "zstd"),
        ),
        ("no content", Answer::of(204, "application/json", vec![])),
        ("frames that end with an exception", bedrock::broken_events("one two three four five")),
        ("frames with a wrong checksum", {
            let mut answer = bedrock::broken_events("one two three four five");
            answer
                .pieces
                .insert(1, Piece::Bytes(vec![0, 0, 0, 16, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8].into()));
            answer
        }),
        ("a frame that says it is of four gigabytes", {
            Answer::of(200, event_stream::CONTENT_TYPE, vec![Piece::Bytes(vec![0xff; 64].into())])
        }),
    ];
    for (what, answer) in answers {
        let expected: Vec<u8> = answer
            .pieces
            .iter()
            .flat_map(|piece| if let Piece::Bytes(bytes) = piece { bytes.to_vec() } else { Vec::new() })
            .collect();
        let status = answer.status;
        stack.provider.script(move |_| answer.clone());
        for dialect in Dialect::ALL {
            let response = stack.ask_stream(dialect, what, "Tell me something long about rivers").await;
            assert_eq!(response.status, status, "{dialect:?}, {what}");
            assert!(response.body == expected, "{dialect:?}, {what}: {} bytes", response.body.len());
        }
    }
    stack.assert_sound();
}

fn faithful_stream() -> Vec<u8> {
    let events = sentinel_harness::provider::openai_chat::events(
        &Reply::Text("one two three four — five".to_owned()),
        false,
    );
    events.concat().into_bytes()
}

#[tokio::test]
async fn errors_of_the_provider_pass_unchanged() {
    let mut stack = Stack::builder().start();
    for status in [401, 429, 500, 529] {
        stack.provider.script(move |request| speak(request, &Reply::Error(status)).with("retry-after", "7"));
        for dialect in Dialect::ALL {
            let response = stack.ask(dialect, "unlucky", &format!("{QUESTION} {status}")).await;
            assert_eq!(response.status, status, "{dialect:?}");
            assert_eq!(response.header("retry-after"), Some("7"), "{dialect:?}");
            assert_eq!(
                response.header("x-should-retry"),
                None,
                "{dialect:?}: our word about the provider's error"
            );
            let expected = speak(&stack.provider.last(), &Reply::Error(status));
            let Piece::Bytes(expected) = &expected.pieces[0] else { panic!("bytes") };
            assert_eq!(response.body, expected, "{dialect:?}");
        }
    }
    stack.assert_sound();
}

#[tokio::test]
async fn an_answer_with_trailers_ends() {
    let mut stack = Stack::builder().start();
    stack.provider.script(|request| {
        let mut answer = faithful(request);
        let mut trailers = HeaderMap::new();
        trailers.insert("x-checksum", "1".parse().unwrap());
        answer.pieces.push(Piece::Trailers(trailers));
        answer
    });
    for _ in 0..2 {
        let response = stack.ask_stream(Dialect::OpenaiChat, "trailers", QUESTION).await;
        assert_eq!(response.status, 200);
        assert!(response.body.ends_with(b"data: [DONE]\n\n"));
    }
    stack.assert_sound();
}

/// Repeating a request whose answer failed or broke off is not a loop.
#[tokio::test]
async fn a_retry_is_no_repetition() {
    let mut stack = Stack::builder().service().start();
    // Errors.
    for status in [429, 500] {
        stack.provider.script(move |request| speak(request, &Reply::Error(status)));
        for attempt in 0..8 {
            let response = stack.ask(Dialect::OpenaiChat, &format!("retry-{status}"), QUESTION).await;
            assert_eq!(
                (response.status, response.verdict()),
                (status, "allow"),
                "attempt {attempt}: {}",
                response.reason()
            );
        }
    }
    // Broken off in the middle of the stream.
    stack.provider.script(|request| faithful(request).cut_after(3));
    for attempt in 0..8 {
        let body = Dialect::OpenaiChat.ask(QUESTION, true).to_string();
        let mut answer =
            client::stream(stack.address(), Dialect::OpenaiChat.path(true), &[("x-agent-id", "cut")], body)
                .await;
        let verdict = answer.headers.get("x-sentinel-verdict").cloned();
        assert_eq!(
            (answer.status, verdict.as_ref().and_then(|v| v.to_str().ok())),
            (200, Some("allow")),
            "attempt {attempt}"
        );
        assert!(!answer.to_its_end().await, "the provider breaks it off");
    }
    // A request that was answered is not a retry, even if the SDK's header says so.
    stack.provider.script(faithful);
    for attempt in 0..8 {
        let retry = attempt.to_string();
        let headers =
            [("x-agent-id", "sdk-retry"), ("x-run-id", "r"), ("x-stainless-retry-count", retry.as_str())];
        let body = Dialect::OpenaiChat.ask(QUESTION, false).to_string();
        let response = stack.post(Dialect::OpenaiChat, &headers, body).await;
        let expected = ["allow", "allow", "hint", "hint"].get(attempt).copied().unwrap_or("kill");
        assert_eq!(response.verdict(), expected, "retry {attempt}: {}", response.reason());
    }
    stack.assert_sound();
}

/// A hint is a function of the request: the retry of a hinted request whose answer failed gets the same rewrite.
#[tokio::test]
async fn the_retry_of_a_hinted_request_is_rewritten_alike() {
    let mut stack = Stack::builder().start();
    for dialect in Dialect::ALL {
        let agent = format!("hinted {dialect:?}");
        for _ in 0..3 {
            assert_eq!(stack.ask(dialect, &agent, QUESTION).await.verdict(), "allow", "{dialect:?}");
        }
        stack.provider.script(|request| speak(request, &Reply::Error(500)));
        let mut rewrites = Vec::new();
        for attempt in 0..3 {
            let (name, value) = dialect.attempt(attempt);
            let [agent, run] = in_run(&agent);
            let headers = [agent, run, (name, value.as_str())];
            let response = stack.post(dialect, &headers, dialect.ask(QUESTION, false).to_string()).await;
            assert_eq!(
                (response.status, response.verdict()),
                (500, "hint"),
                "{dialect:?}, attempt {attempt}"
            );
            rewrites.push(stack.provider.last().body);
        }
        assert!(rewrites.iter().all(|rewrite| *rewrite == rewrites[0]), "{dialect:?}: {rewrites:?}");
        stack.provider.script(faithful);
    }
    stack.assert_sound();
}

/// A client that reads slowly, and leaves: Envoy and the filter go on.
#[tokio::test]
async fn an_agent_that_leaves_in_the_middle_of_an_answer() {
    let mut stack = Stack::builder().config(&json!({})).start();
    let gate = Gate::closed();
    let provider_gate = gate.clone();
    stack.provider.script(move |request| faithful(request).gated(&provider_gate));
    let body = Dialect::Anthropic.ask(QUESTION, true).to_string();
    let mut connection = RawConnection::open(stack.address());
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-agent-id: gone\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write(&[head.as_bytes(), body.as_bytes()].concat());
    sentinel_harness::process::eventually("the provider is asked", async || stack.provider.count() == 1)
        .await;
    drop(connection);
    for _ in 0..30 {
        gate.open();
    }
    stack.provider.script(faithful);
    assert_eq!(stack.ask(Dialect::Anthropic, "other", QUESTION).await.status, 200);
    stack.assert_sound();
}
