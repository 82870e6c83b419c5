//! When the embedding service is asked, and what it is told.

use std::time::Duration;

use sentinel_harness::fake_service::Behaviour;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::{QUESTION, nothing_similar, verdicts_of};

const CHAT: Dialect = Dialect::OpenaiChat;

fn stack() -> Stack {
    Stack::builder().fake(Behaviour::Answer(nothing_similar(), Duration::ZERO)).start()
}

#[tokio::test]
async fn it_gets_the_prompt_and_hashes_never_names() {
    let mut stack = stack();
    let headers = [("x-tenant-id", "acme-corp"), ("x-agent-id", "invoice-bot"), ("x-run-id", "run-77")];
    let text = "  Where did\n\tthe Ledger of 2026 go — \u{1F4D2}, and who holds it?";
    for dialect in Dialect::ALL {
        let text = format!("{text} {}", text_for(dialect.label()));
        stack.post(dialect, &headers, dialect.ask(&text, false).to_string()).await;
        let call = stack.fake.as_ref().unwrap().calls().pop().expect("a call");
        assert_eq!(call.prompt, text, "{dialect:?}: as the user wrote it");
        assert_eq!((call.repeats, call.similarity_threshold), (2, Some(0.95)), "{dialect:?}");
        for id in [&call.tenant_id, &call.agent_id, &call.run_id] {
            assert!(id.len() >= 8, "{dialect:?}: {id:?} is no hash");
            let readable = ["acme", "invoice", "run-77"].into_iter().find(|name| id.contains(name));
            assert_eq!(readable, None, "{dialect:?}: a name was sent");
        }
        // What a call is sent by, where there are several services, is the same scope.
        let metadata = stack.fake.as_ref().unwrap().metadata().pop().expect("a call");
        let scope = [call.tenant_id, call.agent_id, call.run_id].join("-");
        assert_eq!(metadata["x-sentinel-scope"], scope, "{dialect:?}");
    }
    let others = Dialect::ALL.len();
    // The same names give the same scope, others another.
    stack.post(CHAT, &[("x-agent-id", "somebody else")], CHAT.ask(QUESTION, false).to_string()).await;
    let calls = stack.fake.as_ref().unwrap().calls();
    let scope = |n: usize| (calls[n].tenant_id.clone(), calls[n].agent_id.clone(), calls[n].run_id.clone());
    assert_eq!(scope(0), scope(others - 1));
    assert_ne!(scope(0), scope(others));
    assert!(!calls[others].tenant_id.is_empty(), "the service refuses an empty tenant");
    stack.assert_sound();
}

#[tokio::test]
async fn it_is_asked_once_for_each_new_prompt_that_is_not_settled_here() {
    let mut stack = stack();
    let verdicts = verdicts_of(&stack, CHAT, "a", QUESTION, 5).await;
    assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"]);
    assert_eq!(stack.fake.as_ref().unwrap().calls().len(), 3, "the score settled the fourth and the fifth");
    stack.assert_sound();
}

#[tokio::test]
async fn it_is_not_asked_about_what_is_no_evidence() {
    let mut stack = stack();
    for text in ["yes", "continue please", "go on now", "   ", ""] {
        stack.ask(CHAT, "short", text).await;
    }
    // No identity.
    stack.post(CHAT, &[], CHAT.ask(QUESTION, false).to_string()).await;
    assert!(stack.fake.as_ref().unwrap().calls().is_empty(), "{:?}", stack.fake.as_ref().unwrap().calls());
    stack.assert_sound();
}

/// Trap 1: below an unchanged question tool results advance; only the question is a prompt, and only once.
#[tokio::test]
async fn it_is_asked_once_for_a_run_of_tools() {
    let mut stack = stack();
    let mut messages = vec![json!({"role": "user", "content": QUESTION})];
    for step in 0..10 {
        let body = json!({"model": "m", "messages": messages}).to_string();
        let response = stack.post(CHAT, &[("x-agent-id", "tools")], body).await;
        crate::support::assert_allowed(&response, &format!("step {step}"));
        let id = format!("call_{step}");
        messages
            .push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "look", "arguments": format!("{{\"page\":{step}}}")}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": format!("result {step}")}));
    }
    assert_eq!(stack.fake.as_ref().unwrap().calls().len(), 1);
    stack.assert_sound();
}

/// Text in parts is one prompt; pictures and files are skipped.
#[tokio::test]
async fn pictures_are_skipped() {
    let mut stack = stack();
    let picture = "A".repeat(300_000);
    let bodies = [
        (
            CHAT,
            json!({"model": "m", "messages": [{"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}},
                {"type": "text", "text": QUESTION}]}]}),
        ),
        (
            Dialect::OpenaiResponses,
            json!({"model": "m", "input": [{"role": "user", "content": [
                {"type": "input_image", "image_url": format!("data:image/png;base64,{picture}")},
                {"type": "input_text", "text": QUESTION}]}]}),
        ),
        (
            Dialect::Anthropic,
            json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}},
                {"type": "text", "text": QUESTION}]}]}),
        ),
        (
            Dialect::Gemini,
            json!({"contents": [{"role": "user", "parts": [
                {"inlineData": {"mimeType": "image/png", "data": picture}}, {"text": QUESTION}]}]}),
        ),
        (
            Dialect::GeminiInteractions,
            json!({"model": "m", "input": [
                {"type": "image", "mime_type": "image/png", "data": picture}, {"type": "text", "text": QUESTION}]}),
        ),
        (
            Dialect::Bedrock,
            json!({"messages": [{"role": "user", "content": [
                {"image": {"format": "png", "source": {"bytes": picture}}}, {"text": QUESTION}]}]}),
        ),
    ];
    for (dialect, body) in bodies {
        let sent = body.to_string();
        let response = stack.post(dialect, &[("x-agent-id", dialect.label())], sent.clone()).await;
        crate::support::assert_allowed(&response, dialect.label());
        let call = stack.fake.as_ref().unwrap().calls().pop().expect("a call");
        assert_eq!(call.prompt.trim(), QUESTION, "{dialect:?}");
        assert!(stack.provider.last().body == sent, "{dialect:?}");
    }
    stack.assert_sound();
}
