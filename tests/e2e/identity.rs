//! Whose a request is: scopes are never mixed, and without an identity nothing is compared across requests.

use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::QUESTION;

const CHAT: Dialect = Dialect::OpenaiChat;

async fn verdicts(stack: &Stack, headers: &[(&str, &str)], body: &str, times: usize) -> Vec<String> {
    let mut verdicts = Vec::new();
    for _ in 0..times {
        verdicts.push(stack.post(CHAT, headers, body.to_owned()).await.verdict().to_owned());
    }
    verdicts
}

#[tokio::test]
async fn without_an_identity_two_people_may_ask_the_same() {
    let mut stack = Stack::builder().service().start();
    let body = CHAT.ask(QUESTION, false).to_string();
    for headers in [
        &[][..],
        &[("authorization", "Bearer shared-key")],
        &[("x-tenant-id", "acme")],
        &[("x-agent-id", "")],
    ] {
        let verdicts = verdicts(&stack, headers, &body, 10).await;
        assert!(verdicts.iter().all(|verdict| verdict == "allow"), "{headers:?}: {verdicts:?}");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn tenants_agents_and_runs_are_kept_apart() {
    let mut stack = Stack::builder().service().start();
    let body = CHAT.ask(QUESTION, false).to_string();
    let scopes: [&[(&str, &str)]; 6] = [
        &[("x-agent-id", "a")],
        &[("x-agent-id", "b")],
        &[("x-tenant-id", "t"), ("x-agent-id", "a")],
        &[("x-agent-id", "a"), ("x-run-id", "1")],
        &[("x-agent-id", "a"), ("x-run-id", "2")],
        &[("x-run-id", "1")],
    ];
    for headers in scopes {
        let two = verdicts(&stack, headers, &body, 2).await;
        assert_eq!(two, ["allow", "allow"], "{headers:?} met another scope");
    }
    for headers in scopes {
        let third = verdicts(&stack, headers, &body, 1).await;
        assert_eq!(third, ["hint"], "{headers:?} forgot itself");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn body_fields_can_be_the_identity() {
    let config = json!({"identity": {"tenant": {"headers": [], "body": ["user"]}, "agent": {"headers": ["x-bot"], "body": ["metadata.bot"]}}});
    let mut stack = Stack::builder().config(&config).start();
    let of = |user: &str, bot: &str| {
        let mut body = CHAT.ask(QUESTION, false);
        body["user"] = json!(user);
        body["metadata"] = json!({"bot": bot});
        body.to_string()
    };
    for (user, bot) in [("u1", "b1"), ("u1", "b2"), ("u2", "b1")] {
        let verdicts = verdicts(&stack, &[], &of(user, bot), 4).await;
        assert_eq!(verdicts, ["allow", "allow", "allow", "hint"], "{user}, {bot}");
    }
    // The header wins over the body.
    let by_header = verdicts(&stack, &[("x-bot", "b3")], &of("u1", "b1"), 3).await;
    assert_eq!(by_header, ["allow", "allow", "allow"]);
    stack.assert_sound();
}

#[tokio::test]
async fn the_client_id_of_an_authentication_filter_is_part_of_the_scope() {
    let mut stack = Stack::builder().config(&json!({"identity": {"principal": "x-client"}})).start();
    let body = CHAT.ask(QUESTION, false).to_string();
    for client in ["one", "two"] {
        let verdicts = verdicts(&stack, &[("x-agent-id", "a"), ("x-client", client)], &body, 4).await;
        assert_eq!(verdicts, ["allow", "allow", "allow", "hint"], "{client}");
    }
    stack.assert_sound();
}

/// Anthropic's clients put the user's id into `metadata.user_id`.
#[tokio::test]
async fn anthropics_user_id() {
    let config = json!({"identity": {"agent": {"headers": [], "body": ["metadata.user_id"]}}});
    let mut stack = Stack::builder().config(&config).start();
    for user in ["u1", "u2"] {
        let mut body = Dialect::Anthropic.ask(QUESTION, false);
        body["metadata"] = json!({"user_id": user});
        let mut verdicts = Vec::new();
        for _ in 0..4 {
            verdicts.push(stack.post(Dialect::Anthropic, &[], body.to_string()).await.verdict().to_owned());
        }
        assert_eq!(verdicts, ["allow", "allow", "allow", "hint"], "{user}");
    }
    stack.assert_sound();
}
