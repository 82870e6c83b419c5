//! Healthy agents are never touched: each of these has been flagged by some other loop detector.

use std::sync::atomic::{AtomicUsize, Ordering};

use sentinel_harness::provider::{Reply, reply::text_for, speak};
use sentinel_harness::{Dialect, Stack};
use sentinel_wire::Run;
use serde_json::json;

use crate::support::{QUESTION, assert_allowed};

const CHAT: Dialect = Dialect::OpenaiChat;

/// A provider that never says the same thing twice.
fn never_the_same(stack: &Stack) {
    let turn = AtomicUsize::new(0);
    stack.provider.script(move |request| {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        speak(request, &Reply::Text(text_for(&format!("turn {turn}"))))
    });
}

#[tokio::test]
async fn a_batch_with_one_template() {
    let mut stack = Stack::builder().service().start();
    let templates: [fn(usize) -> String; 4] = [
        |n| format!("Process order {n} and tell me the shipping state of its parcels"),
        |n| format!("Summarise the ticket 6f1c2d3e-0000-4000-8000-{n:012} in one sentence"),
        |n| format!("What was the weather in Hamburg on 2026-03-{:02}T12:00:00Z ?", n % 28 + 1),
        |n| format!("Translate the name of customer number {n} into Greek letters"),
    ];
    for (number, template) in templates.into_iter().enumerate() {
        for item in 0..30 {
            let text = template(1_000 + item);
            assert_allowed(&stack.ask(CHAT, &format!("batch-{number}"), &text).await, &text);
            assert_eq!(stack.provider.last().body, CHAT.ask(&text, false).to_string());
        }
    }
    stack.assert_sound();
}

#[tokio::test]
async fn a_user_who_says_yes_and_continue_a_lot() {
    let mut stack = Stack::builder().service().start();
    never_the_same(&stack);
    for dialect in Dialect::ALL {
        for turn in 0..25 {
            let text = ["yes", "continue", "go on", "ok, next", "Yes!"][turn % 5];
            assert_allowed(
                &stack.ask(dialect, dialect.label(), text).await,
                &format!("{dialect:?}, {text}, turn {turn}"),
            );
        }
    }
    stack.assert_sound();
}

/// The same, as the conversation that grows that it really is.
#[tokio::test]
async fn a_conversation_that_grows() {
    let mut stack = Stack::builder().service().start();
    never_the_same(&stack);
    for dialect in Dialect::ALL {
        let mut turns: Vec<(String, String)> =
            vec![("user".into(), "Tell me a long story about a river, in many parts".into())];
        for turn in 0..15 {
            let borrowed: Vec<(&str, &str)> =
                turns.iter().map(|(role, text)| (role.as_str(), text.as_str())).collect();
            let response = stack.converse(dialect, &format!("story {dialect:?}"), &borrowed).await;
            assert_allowed(&response, &format!("{dialect:?}, turn {turn}"));
            turns.push(("assistant".into(), dialect.answer_text(&response.body)));
            turns.push(("user".into(), "continue".into()));
        }
    }
    stack.assert_sound();
}

/// Trap 1: the last user message stays while tool results advance below it.
#[tokio::test]
async fn tool_results_that_advance_below_one_question() {
    let mut stack = Stack::builder().service().start();
    stack.provider.script(|request| {
        speak(
            request,
            &Reply::Tool { name: "read_page".into(), arguments: json!({"page": request.body.len()}) },
        )
    });
    for dialect in Dialect::ALL {
        let mut run = Run::new(dialect, QUESTION);
        for step in 0..20 {
            let body = run.body(false);
            let response = stack.post(dialect, &[("x-agent-id", dialect.label())], body.clone()).await;
            assert_allowed(&response, &format!("{dialect:?}, step {step}"));
            assert_eq!(stack.provider.last().body, body);
            let result = format!("Page {step}: {}", text_for(&step.to_string()));
            run.step("read_page", &json!({"page": step}).to_string(), &result);
        }
    }
    stack.assert_sound();
}

/// Different things, asked by one agent all day.
#[tokio::test]
async fn an_agent_with_many_questions() {
    let mut stack = Stack::builder().service().start();
    for number in 0..40 {
        let text = format!("Explain {} to me", text_for(&format!("topic {number}")));
        assert_allowed(&stack.ask(CHAT, "curious", &text).await, &text);
    }
    stack.assert_sound();
}
