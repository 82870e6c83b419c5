//! Budgets from end to end: the real Envoy, the real service, and a provider that writes bills.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::Full;
use hyper::{Method, body::Bytes};
use sentinel_harness::client::Response;
use sentinel_harness::provider::{Answer, Gate, Received, Reply, answer::event, faithful, speak};
use sentinel_harness::service::Service;
use sentinel_harness::stack::in_run;
use sentinel_harness::{Dialect, Stack, client};
use serde_json::{Value, json};

use crate::control::{Operator, start_with, until};
use crate::support::{CHAT, QUESTION};

fn budgets(budgets: Value) -> Value {
    json!({"budgets": budgets})
}

/// What is spent of the budget of this name, as the operator sees it.
async fn spent(operator: &Operator, budget: &str) -> Option<Value> {
    let answer = operator.ask(Method::GET, &format!("/v1/budgets?budget={budget}"), &Value::Null).await;
    answer["accounts"].get(0).map(|account| account["spent"].clone())
}

/// Waits until so much is spent.
async fn until_spent(operator: &Operator, budget: &str, unit: &str, wanted: u64) {
    let mut last = Value::Null;
    let what = format!("{wanted} {unit} of {budget} are spent");
    until(&what, async || {
        let now = spent(operator, budget).await?;
        if now != last {
            println!("spent of {budget}: {now}");
            last.clone_from(&now);
        }
        (now[unit] == json!(wanted)).then_some(())
    })
    .await;
}

fn assert_spent(answer: &Response, budget: &str, said: &str) {
    assert_eq!((answer.verdict(), answer.reason()), ("kill", format!("budget; budget={budget}").as_str()));
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(body.contains(&format!("its budget `{budget}` does not allow more: {said}")), "{body}");
}

#[tokio::test]
async fn a_spent_budget_stops_requests_of_every_dialect_and_nobody_elses() {
    let (mut stack, operator) =
        start_with(&budgets(json!([{"name": "two", "limits": {"requests": 2}}])), |b| b);
    for dialect in Dialect::ALL {
        let agent = dialect.label();
        assert_eq!(stack.ask(dialect, agent, QUESTION).await.verdict(), "allow", "{dialect:?}");
        assert_eq!(stack.ask_stream(dialect, agent, QUESTION).await.verdict(), "allow", "{dialect:?}");
        // A worker reports once a second. Until then its part is reserved, not spent.
        until("both are counted", async || {
            let answer = operator.ask(Method::GET, "/v1/budgets?budget=two", &Value::Null).await;
            let all = answer["accounts"].as_array().cloned().unwrap_or_default();
            all.iter().any(|one| one["run"] == agent && one["spent"]["requests"] == 2).then_some(())
        })
        .await;
        let before = stack.provider.count();
        for answer in
            [stack.ask(dialect, agent, QUESTION).await, stack.ask_stream(dialect, agent, QUESTION).await]
        {
            assert_eq!(answer.status, 400, "{dialect:?}");
            assert_spent(&answer, "two", "2 of 2 requests are spent");
        }
        assert_eq!(stack.provider.count(), before, "{dialect:?}");
    }
    let runs = Dialect::ALL.len() as u64;
    assert_eq!(stack.count("sentinel_reservations_total", &[("outcome", "refused")]), 2 * runs);
    let labels = [("verdict", "kill"), ("signal", "budget")];
    assert_eq!(stack.count("sentinel_verdicts_total", &labels), 2 * runs);
    let killed = until("all runs are known", async || {
        let all = operator.ask(Method::GET, "/v1/runs?signal=budget", &Value::Null).await;
        all["runs"].as_array().filter(|all| all.len() as u64 == runs).cloned()
    })
    .await;
    assert!(killed.iter().all(|run| run["status"] == "killed"), "{killed:?}");
    stack.assert_sound();
}

/// A chat request of an agent whose run has its name.
async fn chat(stack: &Stack, agent: &str, more: &[(&str, Value)]) -> Response {
    let mut body = CHAT.ask(QUESTION, false);
    for (name, value) in more {
        body[*name] = value.clone();
    }
    client::post(stack.address(), CHAT.path(false), &in_run(agent), body.to_string()).await
}

#[tokio::test]
async fn tokens_are_counted_with_and_without_usage_as_json_and_as_a_stream() {
    let limit = json!([{"name": "tokens", "limits": {"tokens": 1_000_000}}]);
    let (mut stack, operator) = start_with(&budgets(limit), |b| b);
    let text = "word ".repeat(60);
    stack.provider.script(move |request| {
        let mut answer = speak(request, &Reply::Text(text.clone()));
        if request.header("x-agent-id") == Some("silent-json") {
            answer =
                Answer::json(200, &json!({"choices": [{"message": {"role": "assistant", "content": text}}]}));
        }
        answer
    });
    let stream = ("stream", json!(true));
    let usage = ("stream_options", json!({"include_usage": true}));
    let mut by_bytes = 0;
    for (agent, more) in [
        ("json", vec![]),
        ("silent-json", vec![]),
        ("stream", vec![stream.clone(), usage]),
        ("silent-stream", vec![stream]),
    ] {
        let answer = chat(&stack, agent, &more).await;
        assert_eq!(answer.verdict(), "allow", "{agent}");
        if agent.starts_with("silent") {
            by_bytes += stack.provider.last().body.len().div_ceil(4) as u64 + 75;
        }
    }
    // The mock provider says that it took 12 and 9 tokens.
    let all = 2 * 21 + by_bytes;
    until("all is counted", async || {
        let answer = operator.ask(Method::GET, "/v1/budgets?budget=tokens", &Value::Null).await;
        let accounts = answer["accounts"].as_array().cloned().unwrap_or_default();
        let sum: u64 = accounts.iter().filter_map(|account| account["spent"]["tokens"].as_u64()).sum();
        (sum == all).then_some(())
    })
    .await;
    stack.assert_sound();
}

#[tokio::test]
async fn far_from_the_limit_requests_ask_nobody_and_a_lease_that_is_not_used_goes_back() {
    let limits = json!([{"name": "wide", "limits": {"usd": 10}}]);
    let (mut stack, operator) = start_with(&budgets(limits), |builder| builder.workers(1));
    for _ in 0..20 {
        assert_eq!(chat(&stack, "spender", &[("max_tokens", json!(50))]).await.verdict(), "allow");
    }
    let asked = operator.metrics().await.sum("embedding_service_control_reservations_total", &[]);
    assert_eq!(asked, 1, "20 requests, of which 19 have a lease");
    assert_eq!(stack.count("sentinel_reservations_total", &[("outcome", "lease")]), 19);
    // By the price of the answers' model, 0.15 and 0.60 USD for a million tokens.
    until_spent(&operator, "wide", "nano_usd", 20 * (12 * 150 + 9 * 600)).await;
    until("the lease is given back", async || {
        let answer = operator.ask(Method::GET, "/v1/budgets?budget=wide", &Value::Null).await;
        (answer["accounts"][0]["held"]["nano_usd"] == 0).then_some(())
    })
    .await;
    stack.assert_sound();
}

#[tokio::test]
async fn the_model_is_told_once_that_little_is_left_and_a_raised_limit_lets_the_run_go_on() {
    let limit = |requests: u32| json!([{"name": "few", "limits": {"requests": requests}}]);
    let (mut stack, operator) = start_with(&budgets(limit(5)), |b| b);
    let mut verdicts = Vec::new();
    for n in 1..=6 {
        let answer = stack.ask(CHAT, "worker", QUESTION).await;
        verdicts.push(answer.verdict().to_owned());
        until_spent(&operator, "few", "requests", n.min(5)).await;
        if answer.verdict() == "hint" {
            let got = String::from_utf8_lossy(&stack.provider.last().body).into_owned();
            assert!(
                got.contains("About a fifth of what this task may spend is left: finish, or report"),
                "{got}"
            );
        }
    }
    assert_eq!(verdicts, ["allow", "allow", "allow", "allow", "hint", "kill"]);
    let settings =
        json!({"version": 0, "author": "eve", "reason": "it is worth it", "settings": {"budgets": limit(8)}});
    operator.ask(Method::PUT, "/v1/settings", &settings).await;
    let answer = stack.ask(CHAT, "worker", QUESTION).await;
    assert_eq!(answer.verdict(), "allow", "with its next request: {:?}", answer.body);
    let path = "/v1/events?cursor=0-0&kind=budget.warned,budget.spent";
    let nothing = Full::new(Bytes::new());
    let mut events = client::begin(client::request(operator.0, Method::GET, path, &[], nothing)).await;
    let mut got = String::new();
    while !["budget.warned", "budget.spent"].iter().all(|kind| got.contains(kind)) {
        let chunk = events.chunk().await.unwrap_or_else(|| panic!("the events end: {got}"));
        got.push_str(&String::from_utf8_lossy(&chunk));
    }
    stack.assert_sound();
}

#[tokio::test]
async fn while_the_service_is_away_the_operator_decides_and_what_passed_counts_when_it_is_back() {
    for decision in ["allow", "refuse"] {
        let config = json!({
            "budgets": [{"name": "few", "limits": {"requests": 4}}],
            "control": {"enabled": true, "on_unavailable": decision},
        });
        let (mut stack, operator) = start_with(&config, |b| b);
        assert_eq!(stack.ask(CHAT, "first", QUESTION).await.verdict(), "allow", "{decision}");
        drop(stack.service.take());
        let mut passed = 0;
        for _ in 0..3 {
            let answer = stack.ask(CHAT, "worker", QUESTION).await;
            if decision == "allow" {
                assert_eq!(answer.verdict(), "allow");
                passed += 1;
            } else {
                assert_eq!((answer.verdict(), answer.reason()), ("kill", "budget"));
                let body = String::from_utf8_lossy(&answer.body).into_owned();
                assert!(body.contains("the service that counts it does not answer"), "{body}");
            }
        }
        assert_eq!(stack.count("sentinel_bypasses_total", &[("cause", "budget")]), passed);
        let settings = operator.settings().map(|(name, value)| (name.to_owned(), value));
        stack.service = Some(Service::start(stack.folder(), &stack.socket(), &settings));
        let still = 4 - passed;
        if passed > 0 {
            until("what passed is reported", async || {
                let answer = operator.ask(Method::GET, "/v1/budgets?budget=few", &Value::Null).await;
                let accounts = answer["accounts"].as_array().cloned().unwrap_or_default();
                accounts
                    .iter()
                    .any(|account| {
                        account["run"] == "worker" && account["spent"]["requests"] == json!(passed)
                    })
                    .then_some(())
            })
            .await;
        }
        // Envoy's connection to the service comes back by itself.
        until("the service is asked again", async || {
            (stack.ask(CHAT, "another", QUESTION).await.verdict() == "allow"
                && operator.metrics().await.sum("embedding_service_control_reservations_total", &[]) > 0)
                .then_some(())
        })
        .await;
        for n in 0..still {
            let verdict = stack.ask(CHAT, "worker", QUESTION).await.verdict().to_owned();
            assert_ne!(verdict, "kill", "{decision} {n}");
        }
        until("all four are counted", async || {
            let answer = operator.ask(Method::GET, "/v1/budgets?budget=few", &Value::Null).await;
            let all = answer["accounts"].as_array().cloned().unwrap_or_default();
            all.iter().any(|one| one["run"] == "worker" && one["spent"]["requests"] == 4).then_some(())
        })
        .await;
        assert_spent(&stack.ask(CHAT, "worker", QUESTION).await, "few", "4 of 4 requests");
        stack.assert_sound();
    }
}

#[tokio::test]
async fn calls_of_mcp_tools_are_counted_and_stopped_in_their_form() {
    let config = json!({
        "budgets": [{"name": "calls", "limits": {"tool_calls": 3}}],
        "mcp": {"paths": [{"prefix": "/mcp"}]},
    });
    let (mut stack, operator) = start_with(&config, |b| b);
    let post =
        async |body: Value| client::post(stack.address(), "/mcp", &in_run("agent"), body.to_string()).await;
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {"id": id}}});
    assert_eq!(post(json!([call(1), call(2)])).await.status, 200);
    assert_eq!(post(json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})).await.status, 200);
    assert_eq!(post(call(3)).await.status, 200);
    assert_eq!(stack.provider.count(), 3);
    until_spent(&operator, "calls", "tool_calls", 3).await;
    let stopped = post(call(4)).await;
    assert_eq!((stopped.verdict(), stopped.reason()), ("kill", "budget; budget=calls"));
    let body = stopped.json();
    assert_eq!((&body["id"], &body["result"]["isError"]), (&json!(4), &json!(true)), "{body}");
    assert!(
        body.to_string().contains("its budget `calls` does not allow more: 3 of 3 tool calls are spent"),
        "{body}"
    );
    assert_eq!(stack.provider.count(), 3);
    stack.assert_sound();
}

#[tokio::test]
async fn requests_that_cannot_be_read_count_and_are_stopped_at_the_limit() {
    const LIMIT: usize = 20_000;
    let limits = json!({"tokens": 1_000_000, "requests": 2});
    let mut config = budgets(json!([{"name": "both", "per": "agent", "window": "day", "limits": limits}]));
    config["max_body_bytes"] = json!(LIMIT);
    let (mut stack, operator) = start_with(&config, |builder| builder.workers(1));
    let mut large = CHAT.ask(QUESTION, false);
    large["note"] = json!("x".repeat(3 * LIMIT));
    let garbage = format!("{{not json{}", "x".repeat(391));
    for (agent, body) in [("large", large.to_string()), ("garbage", garbage)] {
        let ask = async || {
            client::post(stack.address(), CHAT.path(false), &[("x-agent-id", agent)], body.clone()).await
        };
        let mut tokens = 0;
        for _ in 0..2 {
            let answer = ask().await;
            assert_eq!(
                (answer.status, answer.verdict(), answer.header("x-sentinel-reason")),
                (200, "", None)
            );
            // The mock provider says that it took 12 and 9 tokens, where it can read what it is asked.
            let by_bytes = body.len().div_ceil(4) + answer.body.len().div_ceil(4);
            tokens += if answer.json().get("usage").is_some() { 21 } else { by_bytes };
        }
        until("both are counted", async || {
            let answer = operator.ask(Method::GET, "/v1/budgets?budget=both", &Value::Null).await;
            let all = answer["accounts"].as_array().cloned().unwrap_or_default();
            let spent = all.iter().find(|one| one["agent"] == agent)?["spent"].clone();
            (spent["requests"] == 2 && spent["tokens"] == json!(tokens)).then_some(())
        })
        .await;
        // A provider that answers late, as models do: what is too large goes on while the service is asked.
        stack.provider.script(|request| faithful(request).head_gated(&Gate::closed()));
        assert_spent(&ask().await, "both", "2 of 2 requests");
        stack.provider.script(faithful);
    }
    assert_eq!(stack.count("sentinel_bypasses_total", &[("cause", "not_json")]), 2);
    stack.assert_sound();
}

/// In billionths of a USD for a token.
const INPUT: u64 = 100;
const OUTPUT: u64 = 500;
/// What the filter takes for the first answer of a run.
const FIRST_OUTPUT: u64 = 1_000;
const CALLERS: usize = 256;

/// What the provider has billed.
#[derive(Default)]
struct Bills {
    total: u64,
    requests: u64,
    /// For each caller: by how much its last request took more than the filter reserved for it.
    misjudged: HashMap<String, u64>,
}

/// Answers and adds to the bill. Answers are JSON or streams, with usage or without it, and some are much shorter or longer than expected.
fn billed(request: &Received, bills: &Mutex<Bills>) -> Answer {
    let body = request.json();
    let number = body["seed"].as_u64().expect("a number");
    let tokens = |bytes: u64| bytes.div_ceil(4);
    let input = tokens(request.body.len() as u64);
    // The length without a hint, which may have been added on the way.
    let sent = request.header("x-sent").and_then(|bytes| bytes.parse().ok()).expect("how long it was");
    let output = [300, 1_500, 700, 1_100, 40][(number % 5) as usize];
    let bill = input * INPUT + output * OUTPUT;
    let probable = tokens(sent) * INPUT + FIRST_OUTPUT * OUTPUT;
    {
        let mut bills = bills.lock().expect("nobody panics with it");
        bills.total += bill;
        bills.requests += 1;
        let caller = request.header("x-caller").expect("a caller").to_owned();
        bills.misjudged.insert(caller, bill.saturating_sub(probable));
    }
    let usage = json!({"prompt_tokens": input, "completion_tokens": output});
    let (is_stream, says_usage) = (body["stream"] == json!(true), number.is_multiple_of(2));
    // Without usage the text itself is what is counted.
    let text = "x".repeat(if says_usage { 20 } else { output as usize * 4 });
    let choice =
        |name: &str, content: &str| json!([{"index": 0, name: {"role": "assistant", "content": content}}]);
    if !is_stream {
        let mut answer = json!({"choices": choice("message", &text)});
        if says_usage {
            answer["usage"] = usage;
        }
        return Answer::json(200, &answer);
    }
    let half = text.len() / 2;
    let mut events: Vec<String> = [&text[..half], &text[half..]]
        .map(|part| event("", &json!({"choices": choice("delta", part)})))
        .into();
    if says_usage {
        events.push(event("", &json!({"choices": [], "usage": usage})));
    }
    events.push("data: [DONE]\n\n".to_owned());
    Answer::events(events)
}

/// Sends the request of this number of a caller. Returns why it was refused, and `None` where it was not.
async fn spend(address: SocketAddr, caller: usize, n: u64) -> Option<String> {
    let number = n * 7 + caller as u64;
    let mut body = CHAT.ask(QUESTION, number % 4 < 2);
    (body["model"], body["seed"]) = (json!("mock"), json!(number));
    let (name, run) = (caller.to_string(), format!("{caller}-{n}"));
    let (body, length) = (body.to_string(), body.to_string().len().to_string());
    let headers = [
        ("x-agent-id", "spender"),
        ("x-run-id", run.as_str()),
        ("x-caller", name.as_str()),
        ("x-sent", length.as_str()),
    ];
    let answer = client::post(address, CHAT.path(false), &headers, body).await;
    if answer.verdict() == "kill" {
        return Some(answer.reason().to_owned());
    }
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    None
}

/// Each request belongs to a run of its own, so the test knows how much the filter reserves for it. A caller stops at its first refusal. At
/// the last grant, the service knows what every request really took, except for the last request of each caller: earlier ones were reported
/// when the caller's worker asked for the next one. So the bound is what these last requests took beyond their reservations.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_dollar_for_an_agent_is_overrun_by_no_more_than_what_was_in_flight_was_misjudged() {
    const LIMIT: u64 = 1_000_000_000;
    let config = json!({
        "budgets": [{"name": "dollar", "agent": "spender", "per": "agent", "window": "24h", "limits": {"usd": 1.0}}],
        "prices": [{"name": "mock", "input": 0.1, "output": 0.5}],
        "control": {"enabled": true, "on_unavailable": "refuse"},
        // A grant that comes too late is lost until its lease ends; on a busy machine that would be most of them.
        "timeout": "5s",
    });
    let (mut stack, operator) = start_with(&config, |builder| builder.workers(4));
    let bills = Arc::new(Mutex::new(Bills::default()));
    let writer = Arc::clone(&bills);
    stack.provider.script(move |request| billed(request, &writer));
    let address = stack.address();
    let callers = (0..CALLERS).map(|caller| {
        tokio::spawn(async move {
            for n in 0..10_000 {
                match spend(address, caller, n).await.as_deref() {
                    None => {}
                    // Nobody answered in time, as happens on a busy machine.
                    Some("budget") => tokio::time::sleep(Duration::from_millis(20)).await,
                    Some(reason) => return reason.to_owned(),
                }
            }
            panic!("the budget never ends");
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        assert_eq!(caller.await.expect("it ends"), "budget; budget=dollar");
    }
    // What leases held at that moment is free again later, so the budget can be used up. On a busy machine a part of it counts as spent,
    // because a worker was not heard of for as long as its lease lasted.
    let mut n = 10_000;
    until("the budget is used", async || {
        while spend(address, 0, n).await.is_none() {
            n += 1;
        }
        n += 1;
        (bills.lock().expect("nobody panics with it").total > LIMIT / 2).then_some(())
    })
    .await;
    let (total, requests, bound) = {
        let bills = bills.lock().expect("nobody panics with it");
        (bills.total, bills.requests, bills.misjudged.values().sum::<u64>())
    };
    let usd = |nano: u64| nano as f64 / 1e9;
    println!("billed {:.4} USD for {requests} requests; the bound is 1 + {:.4} USD", usd(total), usd(bound));
    assert!(
        total <= LIMIT + bound,
        "{} USD were billed, and the bound is {}",
        usd(total),
        usd(LIMIT + bound)
    );
    // All that was billed is known in the end.
    until_spent(&operator, "dollar", "nano_usd", total).await;
    let (asked, served) = (
        stack.count("sentinel_reservations_total", &[]),
        stack.count("sentinel_reservations_total", &[("outcome", "lease")]),
    );
    println!("{served} of {asked} requests were served by a lease");
    assert!(served > requests / 10);
    stack.assert_sound();
}
