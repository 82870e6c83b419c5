//! An agent that writes its actions as text, and gets what came of them as text.

use sentinel_harness::client;
use sentinel_harness::provider::{Reply, speak};
use sentinel_harness::{Dialect, Stack};

use crate::support::{QUESTION, inserted};
use sentinel_wire::Run;

const EXPECTED: [&str; 7] = ["allow", "allow", "allow", "hint", "hint", "kill", "kill"];

#[tokio::test]
async fn actions_and_observations_that_are_text() {
    let mut stack = Stack::builder().start();
    stack
        .provider
        .script(|request| speak(request, &Reply::Text("Thought: again.\nAction: search[the ledger]".into())));
    for dialect in Dialect::ALL {
        for (loops, agent) in [(true, None), (true, Some("react")), (false, None)] {
            let what = format!("{dialect:?}, agent {agent:?}, loops {loops}");
            let agent = agent.map(|name| format!("{name} {dialect:?}"));
            let headers: Vec<_> = agent.iter().map(|agent| ("x-agent-id", agent.as_str())).collect();
            let mut run = Run::new(dialect, QUESTION);
            let mut verdicts = Vec::new();
            for round in 0..7 {
                let body = run.body(false);
                let response =
                    client::post(stack.address(), dialect.path(false), &headers, body.clone()).await;
                verdicts.push(response.verdict().to_owned());
                if response.verdict() == "hint" {
                    assert_eq!(
                        response.reason(),
                        format!("repeated_step; count={round}; tool=search"),
                        "{what}"
                    );
                    let hint = inserted(body.as_bytes(), &stack.provider.last().body).expect("one insertion");
                    assert!(String::from_utf8_lossy(&hint).contains("search"), "{what}");
                }
                let found =
                    if loops { "Nothing was found.".to_owned() } else { format!("Page {round} of nine.") };
                run.assistant(&format!("Thought: I have seen {round} answers.\nAction: search[the ledger]"));
                run.user(&format!("Observation: {found}"));
            }
            let expected = if loops { EXPECTED } else { ["allow"; 7] };
            assert_eq!(verdicts, expected, "{what}");
        }
    }
    stack.assert_sound();
}
