//! A run that names itself: what it was asked for, the calls of the model and the tool steps as spans in a trace of the run, sent by the
//! filter.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sentinel_harness::client::Response;
use sentinel_harness::gateway::{ALICE, DIALECTS, Gateway, key_header, path};
use sentinel_harness::otlp::{Collector, Span};
use sentinel_harness::port;
use sentinel_harness::process::eventually;
use sentinel_harness::provider::{Reply, speak};
use serde_json::json;

use crate::support::{CHAT, QUESTION, assert_allowed};
use sentinel_wire::{Call, Dialect, Run};

const READ: Call = Call { tool: "read_page", arguments: r#"{"of":"secret"}"#, result: "It rains in secret." };
const FAILS: Call = Call { tool: "search", arguments: r#"{"q":"secret"}"#, result: "Error: no such secret" };

async fn send(gateway: &Gateway, run: &Run, headers: &[(&str, &str)]) -> Response {
    let (name, key) = key_header(run.dialect, ALICE.key);
    let all = [&[(name, key.as_str())], headers].concat();
    gateway.post(path(run.dialect), &all, run.body(false)).await
}

/// The agent at work between an answer and its next request. Spans have times in milliseconds: without it, a step on a
/// quick machine begins and ends in the same one.
async fn the_tools_run() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// The provider answers with a call, until it has done so as often as this.
fn calls_first(gateway: &Gateway, calls: usize) {
    let asked = AtomicUsize::new(0);
    gateway.provider.script(move |request| {
        if asked.fetch_add(1, Ordering::Relaxed) < calls {
            speak(request, &Reply::Tool { name: "read_page".into(), arguments: json!({"of": "secret"}) })
        } else {
            speak(request, &Reply::Text("It rains in secret all day.".into()))
        }
    });
}

/// What the filter has sent: the spans of the traces in which a run is.
fn steps(collector: &Collector) -> Vec<Span> {
    let spans = collector.spans();
    let runs: BTreeSet<_> =
        spans.iter().filter(|span| span.name == "invoke_agent").map(|span| span.trace.clone()).collect();
    spans.into_iter().filter(|span| runs.contains(&span.trace)).collect()
}

async fn wait_for_steps(collector: &Collector, wanted: usize) -> Vec<Span> {
    eventually("the steps", async || steps(collector).len() >= wanted).await;
    let found = steps(collector);
    assert_eq!(found.len(), wanted, "{found:#?}");
    found
}

#[tokio::test]
async fn each_step_is_a_span_with_its_error_state_in_the_trace_of_the_run() {
    for dialect in DIALECTS {
        let collector = Collector::start();
        let gateway = Gateway::builder().collector(collector.port()).start();
        calls_first(&gateway, 2);
        let mut run = Run::new(dialect, QUESTION);
        let headers = [("x-agent-id", "secret-agent"), ("x-run-id", "secret-run")];
        assert_allowed(&send(&gateway, &run, &headers).await, "the question");
        the_tools_run().await;
        run.turn(&[READ, FAILS]);
        assert_allowed(&send(&gateway, &run, &headers).await, "two results");
        the_tools_run().await;
        run.step(READ.tool, READ.arguments, "Now it snows.");
        assert_allowed(&send(&gateway, &run, &headers).await, "one more");

        let spans = wait_for_steps(&collector, 1 + 3 + 3).await;
        let agent: Vec<_> = spans.iter().filter(|span| span.name == "invoke_agent").collect();
        let [agent] = agent.as_slice() else { panic!("{dialect:?}: not one run: {spans:#?}") };
        assert_eq!((agent.parent.as_str(), agent.failed), ("", false));
        assert_eq!(agent.attribute("sentinel.status"), Some("done"));
        let (mut told, calls): (Vec<_>, Vec<_>) = spans
            .iter()
            .filter(|span| span.parent == agent.id)
            .partition(|span| span.name.starts_with("execute_tool "));
        assert_calls(dialect, &calls);
        told.sort_by_key(|span| (span.time.1, span.name.clone()));
        let names: Vec<_> = told.iter().map(|span| (span.name.as_str(), span.failed)).collect();
        assert_eq!(
            names,
            [
                ("execute_tool read_page", false),
                ("execute_tool search", true),
                ("execute_tool read_page", false)
            ],
            "{dialect:?}"
        );
        let [first, failed, second] = told.as_slice() else { panic!("{dialect:?}: {told:#?}") };
        for (name, value) in [
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "search"),
            ("error.type", "tool_failure"),
        ] {
            assert_eq!(failed.attribute(name), Some(value), "{dialect:?}: {failed:#?}");
        }
        assert_eq!(first.attribute("error.type"), None);
        assert_eq!(first.attribute("sentinel.approach"), second.attribute("sentinel.approach"));
        assert_ne!(first.attribute("sentinel.outcome"), second.attribute("sentinel.outcome"));
        assert!(agent.time.0 <= first.time.0 && first.time.1 <= second.time.0, "{dialect:?}: {spans:#?}");
        assert!(
            calls.iter().all(|call| agent.time.0 <= call.time.0 && call.time.1 <= agent.time.1),
            "{spans:#?}"
        );
        assert!(told.iter().all(|span| span.time.0 < span.time.1), "the agent had it for a while: {told:#?}");

        // The request that brought a result is linked, and has the scope with which the trace's id begins.
        let request = || {
            collector
                .spans()
                .into_iter()
                .find(|span| told[2].links == [(span.trace.clone(), span.id.clone())])
        };
        eventually("the request of the last step", async || request().is_some()).await;
        let request = request().unwrap();
        assert!(agent.trace.starts_with(request.attribute("sentinel.scope").unwrap()), "{request:#?}");
        assert_ne!(first.links, second.links, "{dialect:?}");
        let all = format!("{:?}", collector.spans());
        assert!(!all.contains("secret") && !all.contains("rain"), "{all}");
    }
}

/// Three calls of a model, each with its provider and the tokens that the mock provider says.
fn assert_calls(dialect: Dialect, calls: &[&Span]) {
    assert_eq!(calls.len(), 3, "{dialect:?}: {calls:#?}");
    for call in calls {
        let operation = call.attribute("gen_ai.operation.name").expect("an operation");
        let model = call.attribute("gen_ai.request.model").expect("a model");
        assert_eq!(call.name, format!("{operation} {model}"), "{dialect:?}");
        assert!(["chat", "generate_content"].contains(&operation) && !model.is_empty(), "{call:#?}");
        let provider = call.attribute("gen_ai.provider.name").expect("a provider");
        assert!(
            ["openai", "anthropic", "gcp.gemini", "aws.bedrock", "gcp.vertex_ai"].contains(&provider),
            "{provider}"
        );
        for tokens in ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"] {
            let count = call.attribute(tokens).and_then(|count| count.parse::<u64>().ok());
            assert!(count.is_some_and(|count| count > 0), "{dialect:?}: {call:#?}");
        }
        assert!(!call.failed, "{dialect:?}: {call:#?}");
    }
}

#[tokio::test]
async fn a_trace_belongs_to_one_run_and_a_step_to_one_request() {
    let collector = Collector::start();
    let gateway = Gateway::builder().collector(collector.port()).start();
    let mut run = Run::new(CHAT, QUESTION);
    run.turn(&[FAILS]);
    // Nobody has said which run it is.
    send(&gateway, &run, &[("x-agent-id", "one")]).await;
    for name in ["first", "second"] {
        let headers = [("x-agent-id", "one"), ("x-run-id", name)];
        send(&gateway, &run, &headers).await;
        // The same again is the same step, and an SDK's retry says that it is one.
        send(&gateway, &run, &headers).await;
        send(&gateway, &run, &[headers.as_slice(), &[("x-stainless-retry-count", "1")]].concat()).await;
    }
    run.user("What of it?");
    send(&gateway, &run, &[("x-agent-id", "one"), ("x-run-id", "third")]).await;
    run.assistant("Nothing.");
    run.user("And now?");
    send(&gateway, &run, &[("x-agent-id", "one"), ("x-run-id", "third")]).await;

    // Each answer is a text, so each request is something that was asked for and its call: two spans, and the steps.
    let spans = wait_for_steps(&collector, 2 * (3 * 2 + 2) + 2 * 2 + 1).await;
    let count = |keys: BTreeSet<&str>| keys.len();
    assert_eq!(count(spans.iter().map(|span| span.trace.as_str()).collect()), 3);
    let steps = spans.iter().filter(|span| span.name.starts_with("execute_tool "));
    assert_eq!(count(steps.map(|span| span.id.as_str()).collect()), 3, "{spans:#?}");
    assert_eq!(
        count(spans.iter().map(|span| span.id.as_str()).collect()),
        2 * (3 * 2 + 1) + 2 * 2 + 1,
        "{spans:#?}"
    );
}

#[tokio::test]
async fn a_killed_run_ends_with_the_step_that_was_too_much() {
    let collector = Collector::start();
    let gateway = Gateway::builder().collector(collector.port()).start();
    calls_first(&gateway, 5);
    let headers = [("x-agent-id", "a"), ("x-run-id", "r")];
    let mut run = Run::new(CHAT, QUESTION);
    let mut verdicts = Vec::new();
    for _ in 0..5 {
        run.turn(&[FAILS]);
        verdicts.push(send(&gateway, &run, &headers).await.verdict().to_owned());
    }
    assert_eq!(verdicts, ["allow", "allow", "hint", "hint", "kill"]);
    let spans = wait_for_steps(&collector, 1 + 4 + 5).await;
    let agent = spans.iter().find(|span| span.name == "invoke_agent").expect("the run");
    assert_eq!((agent.attribute("sentinel.status"), agent.failed), (Some("killed"), true));
    assert!(spans.iter().all(|span| span.parent == agent.id || span.id == agent.id), "{spans:#?}");
    let mut failed: Vec<_> = spans.iter().filter(|span| span.failed && span.id != agent.id).collect();
    failed.sort_by_key(|span| span.time.1);
    let told: Vec<_> = failed.iter().filter_map(|span| span.attribute("sentinel.verdict")).collect();
    assert_eq!(told, verdicts);
    assert_eq!(failed[4].attribute("sentinel.signal"), Some("repeated_step"));
}

#[tokio::test]
async fn a_collector_that_is_not_there_costs_the_spans_and_a_line() {
    // Nobody listens there any more.
    let port = port::free().port();
    for cluster in ["collector", "nobody"] {
        let named = |cluster: &str| format!("\"cluster\": \"{cluster}\"}}\n");
        let gateway = Gateway::builder().collector(port).edit(&named("collector"), &named(cluster)).start();
        let mut run = Run::new(CHAT, QUESTION);
        let told = || gateway.envoy.log().matches("does not take spans").count();
        for n in 0..20 {
            run.step("read_page", &format!(r#"{{"page":{n}}}"#), &format!("Page {n} of the book."));
            assert_allowed(&send(&gateway, &run, &[("x-agent-id", "a"), ("x-run-id", "r")]).await, cluster);
        }
        eventually("the log says so", async || told() > 0).await;
        assert!(told() <= 2, "each of the two workers says it once: {}", gateway.envoy.log());
        assert!(!gateway.envoy.log().contains("panicked"), "{}", gateway.envoy.log());
    }
}
