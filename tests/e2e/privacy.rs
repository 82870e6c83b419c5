//! Prompts, keys and names appear in no log and no metric.

use sentinel_harness::{Dialect, Stack, raw};

#[tokio::test]
async fn no_log_and_no_metric_holds_what_agents_say_or_are_called() {
    let mut stack = Stack::builder().service_with(&[("LOG_LEVEL", "debug")]).start();
    let prompt = "Where did the zanzibarine chancellor hide the marmalade ledger?";
    let headers = [
        ("x-agent-id", "agent-quixotic"),
        ("x-tenant-id", "tenant-quixotic"),
        ("x-run-id", "run-quixotic"),
        ("authorization", "Bearer sk-quixotic"),
        ("x-api-key", "key-quixotic"),
    ];
    for dialect in Dialect::ALL {
        for _ in 0..6 {
            let body = dialect.ask(prompt, false).to_string();
            stack.post(dialect, &headers, body).await;
        }
        stack.post(dialect, &headers, &b"{\"messages\": [{\"content\": \"zanzibarine"[..]).await;
    }
    let path = "/v1beta/models/gemini-2.5-flash:generateContent?key=query-quixotic";
    sentinel_harness::client::post(
        stack.address(),
        path,
        &headers,
        Dialect::Gemini.ask(prompt, false).to_string(),
    )
    .await;
    let admin = |path| {
        String::from_utf8_lossy(&raw::get(stack.envoy.admin(), path).expect("an answer").body).into_owned()
    };
    let places = [
        ("Envoy's log", stack.envoy.log()),
        ("Envoy's metrics", admin("/stats/prometheus")),
        ("the service's log", stack.service.as_ref().unwrap().log()),
    ];
    for (place, text) in places {
        for secret in ["quixotic", "zanzibarine", "marmalade"] {
            assert!(!text.contains(secret), "{place} contains {secret:?}:\n{}", around(&text, secret));
        }
    }
    // And there was something to report.
    assert!(stack.count("sentinel_verdicts_total", &[("verdict", "kill")]) > 0);
    stack.assert_sound();
}

fn around(text: &str, word: &str) -> String {
    text.lines().find(|line| line.contains(word)).unwrap_or_default().to_owned()
}

/// One line a hint and a kill, that tells what happened and to whom only by hash.
#[tokio::test]
async fn hints_and_kills_are_logged_once_each() {
    let mut stack = Stack::builder().start();
    for _ in 0..5 {
        stack.ask(Dialect::OpenaiChat, "agent-quixotic", crate::support::QUESTION).await;
    }
    let log = stack.envoy.log();
    let lines = |verdict: &str| {
        log.lines().filter(|line| line.contains("wasm log") && line.contains(verdict)).count()
    };
    assert_eq!((lines("hint"), lines("kill")), (1, 1), "{log}");
    stack.assert_sound();
}
