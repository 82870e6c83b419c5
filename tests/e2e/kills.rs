//! What a killed agent gets, and how it lives on.

use sentinel_harness::client::{self, Response};
use sentinel_harness::process::eventually;
use sentinel_harness::stack::in_run;
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

use crate::support::{QUESTION, assert_allowed, verdicts_of};

const WORDS: &str = "Stopped by the test: this goes in circles.";

/// Asks until it is killed.
async fn killed(stack: &Stack, dialect: Dialect, agent: &str, stream: bool) -> Response {
    for _ in 0..8 {
        let response = if stream {
            stack.ask_stream(dialect, agent, QUESTION).await
        } else {
            stack.ask(dialect, agent, QUESTION).await
        };
        if response.verdict() == "kill" {
            return response;
        }
    }
    panic!("{dialect:?}: eight repetitions and no kill");
}

#[tokio::test]
async fn an_error_in_the_providers_form_that_no_sdk_retries() {
    let mut stack = Stack::builder().config(&json!({"kill": {"message": WORDS}})).start();
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let response = killed(&stack, dialect, &format!("error {dialect:?} {stream}"), stream).await;
            let what = format!("{dialect:?}, stream {stream}");
            assert_eq!(response.status, 400, "{what}");
            let no = dialect.tells_its_retries().then_some("false");
            assert_eq!(response.header("x-should-retry"), no, "{what}");
            assert_eq!(response.header("retry-after"), None, "{what}");
            assert!(
                response.header("content-type").is_some_and(|value| value.starts_with("application/json")),
                "{what}"
            );
            let body = response.json();
            assert_eq!(dialect.error_message(&body), WORDS, "{what}: {body}");
            let form = dialect.is_bad_request(response.header("x-amzn-errortype"), &body, WORDS);
            assert!(form, "{what}: {body}");
        }
    }
    stack.assert_sound();
}

#[tokio::test]
async fn a_final_message_that_ends_the_run_in_good_order() {
    let mut stack =
        Stack::builder().config(&json!({"kill": {"mode": "final_message", "message": WORDS}})).start();
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let response = killed(&stack, dialect, &format!("final {dialect:?} {stream}"), stream).await;
            let what = format!("{dialect:?}, stream {stream}: {:?}", response.body);
            assert_eq!(response.status, 200, "{what}");
            let content_type = response.header("content-type").unwrap_or_default().to_owned();
            let expected = if stream { dialect.stream_type() } else { "application/json" };
            assert!(content_type.starts_with(expected), "{what}: {content_type}");
            assert_eq!(dialect.answer_text(&response.body), WORDS, "{what}");
            assert!(dialect.ends_normally(&response.body), "{what}");
        }
    }
    // Gemini's other stream is one JSON array.
    let path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent";
    let body = Dialect::Gemini.ask(QUESTION, true).to_string();
    let response = client::post(stack.address(), path, &in_run("final Gemini true"), body).await;
    assert_eq!(response.verdict(), "kill");
    let chunks: Vec<Value> = serde_json::from_slice(&response.body).expect("a JSON array");
    assert!(!chunks.is_empty());
    stack.assert_sound();
}

#[tokio::test]
async fn a_kill_stays_for_the_same_and_ends_with_something_new() {
    let mut stack = Stack::builder().start();
    for dialect in Dialect::ALL {
        let agent = format!("stubborn {dialect:?}");
        killed(&stack, dialect, &agent, false).await;
        let before = stack.provider.count();
        for _ in 0..3 {
            assert_eq!(stack.ask(dialect, &agent, QUESTION).await.verdict(), "kill", "{dialect:?}");
        }
        assert_eq!(stack.provider.count(), before, "{dialect:?}: a killed request reached the provider");
        let response = stack.ask(dialect, &agent, "Stop that now and summarise what you know so far").await;
        assert_allowed(&response, "a genuine new user message");
        // Others never notice.
        assert_allowed(
            &stack.ask(dialect, &format!("somebody else {dialect:?}"), QUESTION).await,
            "another agent",
        );
    }
    stack.assert_sound();
}

#[tokio::test]
async fn a_kill_expires() {
    let mut stack = Stack::builder().config(&json!({"kill": {"expires": "1s"}})).start();
    killed(&stack, Dialect::OpenaiChat, "waits", false).await;
    eventually("the kill expires", async || {
        stack.ask(Dialect::OpenaiChat, "waits", QUESTION).await.verdict() != "kill"
    })
    .await;
    stack.assert_sound();
}

#[tokio::test]
async fn status_of_the_configuration() {
    let mut stack = Stack::builder().config(&json!({"kill": {"status": 422}})).start();
    let response = killed(&stack, Dialect::Anthropic, "a", false).await;
    assert_eq!(response.status, 422);
    assert_eq!(response.header("x-should-retry"), Some("false"));
    stack.assert_sound();
}

/// The body may still be on its way when it is known that the agent is stopped; HTTP/1.1 and the next request go on. After 400
/// Envoy closes a connection of HTTP/1.1, and says so.
#[tokio::test]
async fn a_connection_lives_on_after_a_kill() {
    let mut stack = Stack::builder().config(&json!({"kill": {"status": 403}})).start();
    verdicts_of(&stack, Dialect::OpenaiChat, "a", QUESTION, 5).await;
    let mut connection = sentinel_harness::raw::RawConnection::open(stack.address());
    for (text, status) in
        [(QUESTION, 403), ("Something else that was never asked before", 200), (QUESTION, 200)]
    {
        let agent = if status == 200 && text == QUESTION { "b" } else { "a" };
        let body = Dialect::OpenaiChat.ask(text, false).to_string();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-agent-id: {agent}\r\nx-run-id: {agent}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        connection.write(format!("{head}{body}").as_bytes());
        assert_eq!(connection.response().expect("an answer").status, status, "{text}");
    }
    stack.assert_sound();
}
