//! Paths that only look different, and headers that look like ours: neither gets a request past the filter.

use sentinel_harness::client::{self, Response};
use sentinel_harness::provider::{Answer, Piece, Reply, faithful, speak};
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::{CHAT, QUESTION, allowing, assert_hinted, hinting};

/// The same path as servers see it, and a name for people.
fn spellings(path: &str) -> Vec<(&'static str, String)> {
    let (path, query) =
        path.split_once('?').map_or((path, String::new()), |(path, query)| (path, format!("?{query}")));
    let slash = path[1..].find('/').expect("a second part") + 1;
    let (first, rest) = path.split_at(slash);
    let letter = path.rfind(|c: char| c.is_ascii_lowercase()).expect("a letter");
    let escape = |at: usize| format!("{}%{:02x}{}", &path[..at], path.as_bytes()[at], &path[at + 1..]);
    [
        ("as it is", path.to_owned()),
        ("a closing slash", format!("{path}/")),
        ("several", format!("{path}//")),
        ("repeated slashes", format!("/{first}//{rest}")),
        ("upper case", path.to_ascii_uppercase()),
        ("a parameter", format!("{path};a=1")),
        ("a parameter in the middle", format!("{first};a=1{rest}")),
        ("an escaped letter", escape(letter)),
        ("an escaped letter at the start", escape(1)),
        ("a dot segment", format!("/.{path}")),
        ("a step aside", format!("{first}/aside/..{rest}")),
        ("a fragment of a query", format!("{path}?")),
        ("all at once", format!("/{}/;b=2", escape(letter))),
    ]
    .map(|(what, path)| {
        (what, if query.is_empty() { path } else { format!("{}{query}", path.trim_end_matches('?')) })
    })
    .into()
}

#[tokio::test]
async fn paths_that_only_look_different_are_inspected() {
    let mut stack = hinting();
    // How a provider reads such a path does not matter here.
    stack.provider.script(|_| Answer::json(200, &json!({})));
    let mut missed = Vec::new();
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            for (what, path) in spellings(dialect.path(stream)) {
                let body = dialect.ask(&format!("{QUESTION} {what} {stream}"), stream).to_string();
                let agent = format!("{dialect:?} {stream}");
                let headers = [("x-agent-id", agent.as_str())];
                let response = client::post(stack.address(), &path, &headers, body.clone()).await;
                assert_eq!(response.status, 200, "{path}: {:?}", response.body);
                if response.verdict() == "hint" {
                    assert_hinted(dialect, body.as_bytes(), &stack.provider.last());
                } else {
                    missed.push(format!("{what}: {path} ({})", response.verdict()));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    stack.assert_sound();
}

/// An escaped slash could be read in two ways, so the shipped demo lets nobody use one.
#[tokio::test]
async fn escaped_slashes_go_nowhere() {
    let mut stack = allowing();
    for dialect in Dialect::ALL {
        let path = dialect.path(false).replacen("/", "%2F", 3).replacen("%2F", "/", 1);
        let body = dialect.ask(QUESTION, false).to_string();
        assert_eq!(client::post(stack.address(), &path, &[], body).await.status, 400, "{path}");
    }
    assert_eq!(stack.provider.count(), 0);
    stack.assert_sound();
}

const OURS: [&str; 3] = ["x-sentinel-verdict", "x-sentinel-reason", "x-sentinel-similarity"];

/// Each of our headers is there at most once, and never with the provider's value.
fn assert_ours(response: &Response, verdict: &str, what: &str) {
    for name in OURS {
        let values: Vec<_> = response.headers.get_all(name).iter().collect();
        assert!(values.len() <= 1, "{what}: {name} {values:?}");
        assert!(values.iter().all(|value| *value != "forged"), "{what}: {name} is the provider's");
    }
    assert_eq!(response.verdict(), verdict, "{what}");
}

#[tokio::test]
async fn a_provider_cannot_forge_a_verdict() {
    fn forged(mut answer: Answer) -> Answer {
        for name in OURS {
            let value = "forged".parse().expect("a value");
            answer.headers.append(name, value);
            answer.headers.append(name, "forged".parse().expect("a value"));
        }
        answer
    }
    let mut stack = Stack::builder().start();
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            stack.provider.script(|request| forged(faithful(request)));
            let (agent, mut verdicts) = (format!("{dialect:?} {stream}"), Vec::new());
            for _ in 0..5 {
                let response = if stream {
                    stack.ask_stream(dialect, &agent, QUESTION).await
                } else {
                    stack.ask(dialect, &agent, QUESTION).await
                };
                let verdict = response.verdict().to_owned();
                assert_ours(&response, &verdict, &agent);
                verdicts.push(verdict);
            }
            assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"], "{agent}");
        }
        // The same for errors, and for answers that cannot be read.
        stack.provider.script(|request| forged(speak(request, &Reply::Error(500))));
        assert_ours(&stack.ask(dialect, "e", dialect.label()).await, "allow", "an error");
        stack.provider.script(|_| forged(Answer::of(200, "text/plain", vec![Piece::Bytes("?".into())])));
        assert_ours(&stack.ask(dialect, "t", dialect.label()).await, "allow", "a text");
    }
    stack.assert_sound();
}

/// If the operator switches these headers off, those of a provider are not passed on either.
#[tokio::test]
async fn without_headers_of_ours_there_are_none() {
    let mut stack = Stack::builder().config(&json!({"response_headers": false})).start();
    stack.provider.script(|request| faithful(request).with("x-sentinel-verdict", "forged"));
    let response = stack.ask(CHAT, "a", QUESTION).await;
    assert_eq!((response.status, response.header("x-sentinel-verdict")), (200, None));
    stack.assert_sound();
}
