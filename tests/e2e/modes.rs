//! Settings that change what the filter does: observe, enabled, overrides, texts, places.

use std::time::Duration;

use sentinel_harness::fake_service::Behaviour;
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::{QUESTION, assert_hinted, signal_of, similar, verdicts_of};

const CHAT: Dialect = Dialect::OpenaiChat;

/// One question in five wordings.
const REWORDED: [&str; 5] = [
    QUESTION,
    "Which river in this region carries the most water in spring?",
    "Of the rivers in this region, which carries the most water in spring?",
    "Which of the rivers of this region carries most water in spring?",
    "In spring, which of the rivers in this region carries the most water?",
];

#[tokio::test]
async fn observe_touches_nothing_and_reports_all() {
    let mut stack = Stack::builder().config(&json!({"mode": "observe"})).service().start();
    let sent = CHAT.ask(QUESTION, false).to_string();
    for turn in 0..8 {
        let response = stack.ask(CHAT, "watched", QUESTION).await;
        assert_eq!(response.status, 200, "turn {turn}");
        assert!(
            !response.headers.keys().any(|name| name.as_str().starts_with("x-sentinel")),
            "turn {turn}: {:?}",
            response.headers
        );
        assert_eq!(stack.provider.last().body, sent, "turn {turn}");
    }
    for verdict in ["allow", "hint", "kill"] {
        let count = |more: &[(&str, &str)]| {
            stack.count("sentinel_verdicts_total", &[&[("verdict", verdict)], more].concat())
        };
        assert!(count(&[]) >= 1, "{verdict} was not counted");
        assert_eq!(count(&[("enforced", "false")]), count(&[]), "{verdict}: nothing was done");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn switched_off_it_is_not_there() {
    let mut stack = Stack::builder()
        .config(&json!({"enabled": false}))
        .fake(Behaviour::Answer(similar(), Duration::ZERO))
        .start();
    for _ in 0..6 {
        let response = stack.ask(CHAT, "a", QUESTION).await;
        assert_eq!(response.status, 200);
        assert_eq!(response.header("x-sentinel-verdict"), None);
    }
    assert!(stack.fake.as_ref().unwrap().calls().is_empty());
    assert_eq!(stack.provider.last().body, CHAT.ask(QUESTION, false).to_string());
    stack.assert_sound();
}

#[tokio::test]
async fn headers_can_be_switched_off_alone() {
    let mut stack = Stack::builder().config(&json!({"response_headers": false})).start();
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let response = stack.ask(CHAT, "a", QUESTION).await;
        assert_eq!(response.header("x-sentinel-verdict"), None);
        statuses.push(response.status);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 400]);
    let kills =
        |enforced| stack.count("sentinel_verdicts_total", &[("verdict", "kill"), ("enforced", enforced)]);
    assert_eq!((kills("true"), kills("false")), (1, 0));
    stack.assert_sound();
}

#[tokio::test]
async fn single_agents_have_settings_of_their_own() {
    let config = json!({"agents": [
        {"name": "trusted", "settings": {"enabled": false}},
        {"prefix": "batch-", "settings": {"mode": "observe"}},
        {"prefix": "strict-", "settings": {"score": {"hint": 3.0}, "kill": {"status": 422}}},
    ]});
    let mut stack = Stack::builder().config(&config).start();
    for (agent, verdicts) in [
        ("trusted", ["", "", "", "", ""]),
        ("batch-7", ["", "", "", "", ""]),
        ("strict-1", ["allow", "allow", "hint", "hint", "kill"]),
        ("strict", ["allow", "allow", "allow", "hint", "kill"]),
        ("trusted-2", ["allow", "allow", "allow", "hint", "kill"]),
    ] {
        assert_eq!(verdicts_of(&stack, CHAT, agent, QUESTION, 5).await, verdicts, "{agent}");
    }
    assert_eq!(stack.ask(CHAT, "strict-1", QUESTION).await.status, 422);
    stack.assert_sound();
}

#[tokio::test]
async fn texts_and_place_of_the_hint() {
    let config = json!({"intervention_message": "Common words.", "hint": {"position": "end", "messages": {"score": "Score's own words."}}});
    let stack = Stack::builder().config(&config).start();
    assert_eq!(verdicts_of(&stack, CHAT, "a", QUESTION, 4).await[3], "hint");
    let body = stack.provider.last().json();
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!({"role": "system", "content": "Score's own words."}), "{body}");

    let config = json!({"intervention_message": "Common words."});
    let mut stack =
        Stack::builder().config(&config).fake(Behaviour::Answer(similar(), Duration::ZERO)).start();
    assert_eq!(signal_of(&stack.ask(CHAT, "a", QUESTION).await), "semantic");
    let body = stack.provider.last().json();
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "Common words."}), "{body}");
    stack.assert_sound();
}

/// `repeats: 1` is the product's literal contract: one earlier prompt above the threshold.
#[tokio::test]
async fn the_literal_contract() {
    let mut stack = Stack::builder().config(&json!({"semantic": {"repeats": 1}})).service().start();
    let first = stack.ask(CHAT, "a", QUESTION).await;
    assert_eq!(first.verdict(), "allow");
    let second = stack.ask(CHAT, "a", QUESTION).await;
    assert_eq!((second.verdict(), signal_of(&second)), ("hint", "semantic"));
    assert_hinted(CHAT, CHAT.ask(QUESTION, false).to_string().as_bytes(), &stack.provider.last());
    stack.assert_sound();
}

#[tokio::test]
async fn likeness_in_meaning_and_the_name_of_an_agent_kill_only_where_the_operator_says_so() {
    let alike = json!({"semantic": {"kill": 4}, "score": {"enabled": false}});
    let by_name = json!({"semantic": {"enabled": false}, "score": {"kill_by_agent": true}});
    for (config, in_run, expected) in [
        (json!({"score": {"enabled": false}}), true, "allow allow hint hint hint"),
        // Four earlier ones.
        (alike, true, "allow allow hint hint kill"),
        (json!({"semantic": {"enabled": false}}), false, "allow allow allow hint hint"),
        (by_name, false, "allow allow allow hint kill"),
    ] {
        let mut stack = Stack::builder().config(&config).service().start();
        let names: &[(&str, &str)] =
            if in_run { &[("x-agent-id", "a"), ("x-run-id", "r")] } else { &[("x-agent-id", "a")] };
        let mut verdicts = Vec::new();
        for wording in REWORDED {
            // With a run, one question in new words; by the name alone, the same.
            let text = if in_run { wording } else { QUESTION };
            let body = CHAT.ask(text, false).to_string();
            verdicts.push(stack.post(CHAT, names, body).await.verdict().to_owned());
        }
        assert_eq!(verdicts.join(" "), expected, "{config}");
        stack.assert_sound();
    }
}

#[tokio::test]
async fn the_semantic_signal_can_be_switched_off() {
    let mut stack = Stack::builder()
        .config(&json!({"semantic": {"enabled": false}}))
        .fake(Behaviour::Answer(similar(), Duration::ZERO))
        .start();
    assert_eq!(
        verdicts_of(&stack, CHAT, "a", QUESTION, 5).await,
        ["allow", "allow", "allow", "hint", "kill"]
    );
    assert!(stack.fake.as_ref().unwrap().calls().is_empty());
    stack.assert_sound();
}

#[tokio::test]
async fn paths_of_the_configuration() {
    let config = json!({"paths": [
        {"exact": "/my/own/talk", "dialect": "anthropic"},
        {"prefix": "/raw/", "dialect": "none"},
    ]});
    let mut stack =
        Stack::builder().config(&config).fake(Behaviour::Answer(similar(), Duration::ZERO)).start();
    let body = Dialect::Anthropic.ask(QUESTION, false).to_string();
    let post = |path: &'static str, body: String| {
        sentinel_harness::client::post(stack.address(), path, &[("x-agent-id", "a")], body)
    };
    let response = post("/my/own/talk", body.clone()).await;
    assert_eq!(response.verdict(), "hint");
    assert_hinted(Dialect::Anthropic, body.as_bytes(), &stack.provider.last());
    let response = post("/raw/v1/messages", body.clone()).await;
    assert_eq!(response.header("x-sentinel-verdict"), None);
    assert_eq!(stack.provider.last().body, body);
    stack.assert_sound();
}
