//! A verbatim repeater is hinted, then killed: in each dialect, as JSON and as a stream, with the service and without.

use sentinel_harness::VERTEX_VERSION;
use sentinel_harness::provider::{faithful, reply::text_for};
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::{QUESTION, assert_hinted, signal_of, verdicts_of};

/// Local signals alone.
#[tokio::test]
async fn without_the_service_the_fourth_is_hinted_and_the_fifth_killed() {
    let mut stack = Stack::builder().start();
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let agent = format!("repeater {dialect:?} {stream}");
            let mut verdicts = Vec::new();
            for turn in 1..=5 {
                let sent = dialect.ask(QUESTION, stream).to_string();
                let response = if stream {
                    stack.ask_stream(dialect, &agent, QUESTION).await
                } else {
                    stack.ask(dialect, &agent, QUESTION).await
                };
                verdicts.push(response.verdict().to_owned());
                let got = stack.provider.last();
                match response.verdict() {
                    "allow" => {
                        assert_eq!(got.body, sent, "{dialect:?}, stream {stream}, turn {turn}");
                        assert_eq!(
                            dialect.answer_text(&response.body),
                            text_for(QUESTION),
                            "{dialect:?}, stream {stream}, turn {turn}"
                        );
                    }
                    "hint" => {
                        assert_eq!(response.status, 200);
                        assert_hinted(dialect, sent.as_bytes(), &got);
                        assert_eq!(signal_of(&response), "score", "{dialect:?}");
                    }
                    _ => {
                        assert_eq!(response.status, 400, "{dialect:?}, stream {stream}: {:?}", response.body)
                    }
                }
            }
            assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"], "{dialect:?}, stream {stream}");
        }
    }
    // Four questions of each reached the provider; the killed ones did not.
    assert_eq!(stack.provider.count(), 4 * Dialect::ALL.len() * 2);
    stack.assert_sound();
}

#[tokio::test]
async fn with_the_service_the_third_is_hinted_and_the_fifth_killed() {
    let mut stack = Stack::builder().service().start();
    for dialect in Dialect::ALL {
        let mut reasons = Vec::new();
        for turn in 1..=5 {
            let response = stack.ask(dialect, &format!("repeater {dialect:?}"), QUESTION).await;
            if turn == 3 {
                assert_hinted(
                    dialect,
                    dialect.ask(QUESTION, false).to_string().as_bytes(),
                    &stack.provider.last(),
                );
                let similarity: f64 = response
                    .header("x-sentinel-similarity")
                    .expect("a similarity")
                    .parse()
                    .expect("a number");
                assert!(similarity > 0.999, "a repeat of the same words has similarity {similarity}");
            }
            let signal = if response.verdict() == "hint" { signal_of(&response) } else { "" };
            reasons.push(format!("{} {signal}", response.verdict()));
        }
        assert_eq!(reasons, ["allow ", "allow ", "hint semantic", "hint score", "kill "], "{dialect:?}");
    }
    assert!(stack.count("sentinel_service_calls_total", &[("outcome", "ok")]) >= 8);
    stack.assert_sound();
}

/// The same intent in other words: the embedding sees it, the score does not.
#[tokio::test]
async fn a_question_that_is_rephrased_is_hinted_and_never_killed() {
    let mut stack = Stack::builder().service().start();
    let questions = [
        "How can I reset the password of my account?",
        "How do I reset the password of my account?",
        "How can I reset my account password?",
        "How do I reset my account password?",
        "How could I reset the password for my account?",
        "How should I reset my account's password?",
        "How can I reset the password for my account?",
    ];
    let mut verdicts = Vec::new();
    for question in questions {
        verdicts.push(stack.ask(Dialect::OpenaiChat, "rephraser", question).await.verdict().to_owned());
    }
    assert_eq!(verdicts[..2], ["allow", "allow"], "two prompts are no loop");
    assert!(verdicts.iter().any(|verdict| verdict == "hint"), "{verdicts:?}");
    assert!(verdicts.iter().all(|verdict| verdict != "kill"), "{verdicts:?}");
    stack.assert_sound();
}

#[tokio::test]
async fn the_hint_joins_what_the_system_says_already() {
    let mut stack = Stack::builder().start();
    let bodies = [
        (
            Dialect::OpenaiChat,
            json!({"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]}),
        ),
        (Dialect::OpenaiResponses, json!({"model": "m", "instructions": "Be brief.", "input": QUESTION})),
        (
            Dialect::Anthropic,
            json!({"model": "m", "max_tokens": 9, "system": "Be brief.", "messages": [{"role": "user", "content": QUESTION}]}),
        ),
        (
            Dialect::Anthropic,
            json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
                "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]}),
        ),
        (
            Dialect::Gemini,
            json!({"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": [{"role": "user", "parts": [{"text": QUESTION}]}]}),
        ),
        (
            Dialect::GeminiInteractions,
            json!({"model": "m", "system_instruction": "Be brief.", "input": QUESTION}),
        ),
        (
            Dialect::Bedrock,
            json!({"system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
                "messages": [{"role": "user", "content": [{"text": QUESTION}]}]}),
        ),
        (
            Dialect::VertexAnthropic,
            json!({"anthropic_version": VERTEX_VERSION, "max_tokens": 9, "system": "Be brief.",
                "messages": [{"role": "user", "content": QUESTION}]}),
        ),
    ];
    for (number, (dialect, body)) in bodies.into_iter().enumerate() {
        let sent = body.to_string();
        let agent = format!("system-{number}");
        let mut hinted = false;
        for _ in 0..4 {
            let response = stack.post(dialect, &[("x-agent-id", &agent)], sent.clone()).await;
            hinted = response.verdict() == "hint";
        }
        assert!(hinted, "{dialect:?}: the fourth was not hinted");
        let got = stack.provider.last();
        assert_hinted(dialect, sent.as_bytes(), &got);
        assert!(dialect.system_text(&got.json()).contains("Be brief."), "{dialect:?}");
    }
    stack.assert_sound();
}

/// A hint is a function of the request: after it, another question goes on untouched.
#[tokio::test]
async fn another_question_after_a_hint_is_untouched() {
    let mut stack = Stack::builder().start();
    assert_eq!(verdicts_of(&stack, Dialect::OpenaiChat, "a", QUESTION, 4).await[3], "hint");
    let other = "Please write a short poem about the copper roofs of old towns";
    let response = stack.ask(Dialect::OpenaiChat, "a", other).await;
    crate::support::assert_allowed(&response, "another question");
    assert_eq!(stack.provider.last().body, Dialect::OpenaiChat.ask(other, false).to_string());
    stack.assert_sound();
}

/// Gemini without `alt=sse` streams one JSON array.
#[tokio::test]
async fn geminis_array_stream_is_read_too() {
    let mut stack = Stack::builder().start();
    let mut verdicts = Vec::new();
    for _ in 0..5 {
        let body = Dialect::Gemini.ask(QUESTION, true).to_string();
        let path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent";
        let response =
            sentinel_harness::client::post(stack.address(), path, &[("x-run-id", "array")], body).await;
        verdicts.push(response.verdict().to_owned());
    }
    assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"]);
    stack.assert_sound();
}

/// Changed answers are progress: the prompts alone never kill.
#[tokio::test]
async fn prompts_alone_never_kill() {
    let mut stack = Stack::builder().service().start();
    let turn = std::sync::atomic::AtomicUsize::new(0);
    stack.provider.script(move |request| {
        let turn = turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut other = request.clone();
        let text = Dialect::OpenaiChat.ask(&format!("answer {turn}"), false).to_string();
        other.body = text.into();
        faithful(&other)
    });
    let verdicts = verdicts_of(&stack, Dialect::OpenaiChat, "poller", QUESTION, 25).await;
    assert!(!verdicts.contains(&"kill".to_owned()), "{verdicts:?}");
    stack.assert_sound();
}
