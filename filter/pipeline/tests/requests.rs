//! The pipeline from the outside: requests and responses in, what reaches the provider and the client out.
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test may fail")]

use sentinel_config::Config;
use sentinel_llm_api::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    registry::by_label,
    usage::Usage,
};
use sentinel_pipeline::{
    bypass::Bypass,
    host::ServiceReply,
    in_memory::{ClientRequest, Exchange, InMemory, ProviderResponse},
    metric::Metric,
    service_outcome::ServiceOutcome,
};
use serde_json::json;

const PROMPT: &str = "Where is the report of last week?";
const ANSWER: &str = "I could not find any such report.";

fn host(config: &str) -> InMemory {
    InMemory::new(Config::from_json(config.as_bytes()).unwrap())
}

fn chat(prompt: &str) -> ClientRequest {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": prompt}]}).to_string();
    ClientRequest::post("/v1/chat/completions", body).with("x-agent-id", "a-1").with("x-run-id", "r-1")
}

fn answer(text: &str) -> ProviderResponse {
    ProviderResponse::json(
        json!({"choices": [{"message": {"role": "assistant", "content": text}}]}).to_string(),
    )
}

fn said(reply: &LocalReply) -> &str {
    std::str::from_utf8(&reply.body).unwrap()
}

fn send(host: &mut InMemory, prompt: &str) -> Exchange {
    host.now += 1_000;
    host.exchange(&chat(prompt), &answer(ANSWER))
}

/// The time of a line in the log is all that is stored.
fn nothing_is_remembered(host: &InMemory) -> bool {
    host.slots.keys().all(|key| key.starts_with("sentinel/told/"))
}

fn verdicts(host: &mut InMemory, times: usize) -> Vec<String> {
    (0..times).map(|_| send(host, PROMPT).verdict().unwrap_or("none").to_owned()).collect()
}

#[test]
fn a_repeater_is_hinted_then_killed_and_stays_so() {
    let mut host = host("{}");
    assert_eq!(verdicts(&mut host, 6), ["allow", "allow", "allow", "hint", "kill", "kill"]);
    let killed = send(&mut host, PROMPT);
    let reply = killed.reply.as_ref().unwrap();
    assert_eq!(reply.status, 400);
    assert_eq!(killed.header("x-should-retry"), Some("false"));
    assert!(said(reply).contains("agent_loop_killed"));
    assert!(killed.sent.is_none());
    assert_eq!(send(&mut host, "Stop and summarise what you have").verdict(), Some("allow"));
    assert_eq!(host.lines("verdict").len(), 4);
    assert!(host.log.iter().all(|line| !line.contains("report") && !line.contains("a-1")), "{:?}", host.log);
}

#[test]
fn the_hint_reaches_the_provider_with_the_right_length() {
    let mut host = host("{}");
    verdicts(&mut host, 3);
    let hinted = send(&mut host, PROMPT);
    let sent = hinted.sent.as_ref().unwrap();
    assert!(String::from_utf8_lossy(sent).contains("You seem to be repeating similar requests."));
    assert_eq!(hinted.changed, [("content-length", sent.len().to_string())]);
    assert!(hinted.header("x-sentinel-reason").unwrap().starts_with("score; prompts=3; responses=2"));
}

#[test]
fn the_service_hints_and_a_retry_is_hinted_again_without_asking() {
    let mut host = host("{}");
    host.service = Box::new(|_| {
        Ok(ServiceReply { loop_detected: true, max_similarity: 0.97, related: 2, ..ServiceReply::default() })
    });
    let failed = ProviderResponse { status: 500, ..answer("") };
    let first = host.exchange(&chat(PROMPT), &failed);
    assert_eq!((first.verdict(), first.header("x-sentinel-similarity")), (Some("hint"), Some("0.9700")));
    assert_eq!(first.header("x-sentinel-reason"), Some("semantic"));
    host.service = Box::new(|_| panic!("a retry must not be asked about"));
    let again = host.exchange(&chat(PROMPT), &answer(ANSWER));
    assert_eq!(again.verdict(), Some("hint"));
    assert_eq!(again.sent, first.sent);
}

#[test]
fn rewordings_kill_a_named_run_where_an_operator_wants_it() {
    let asked = |config: &str, matches: u32, run: bool| {
        let mut host = host(config);
        host.service = Box::new(move |_| {
            Ok(ServiceReply { loop_detected: true, max_similarity: 0.97, matches, ..ServiceReply::default() })
        });
        let mut request = chat(PROMPT);
        request.headers.retain(|(name, _)| run || name != "x-run-id");
        host.exchange(&request, &answer(ANSWER)).verdict().map(str::to_owned)
    };
    let on = r#"{"semantic":{"kill":4}}"#;
    for (config, matches, run, verdict) in [
        ("{}", 5, true, "hint"),
        (on, 3, true, "hint"),
        (on, 4, true, "kill"),
        (on, 5, false, "hint"),
        (r#"{"semantic":{"kill":4},"score":{"kill_by_agent":true}}"#, 4, false, "kill"),
        (r#"{"semantic":{"kill":4},"kill":{"enabled":false}}"#, 5, true, "hint"),
    ] {
        assert_eq!(asked(config, matches, run).as_deref(), Some(verdict), "{config} {matches} {run}");
    }
}

#[test]
fn whatever_the_service_does_the_request_goes_on_unchanged() {
    for outcome in [
        ServiceOutcome::Timeout,
        ServiceOutcome::Refused,
        ServiceOutcome::Unavailable,
        ServiceOutcome::Error,
        ServiceOutcome::Garbage,
        ServiceOutcome::UnknownCluster,
    ] {
        let mut host = host("{}");
        host.service = Box::new(move |_| Err(outcome));
        let request = chat(PROMPT);
        let passed = host.exchange(&request, &answer(ANSWER));
        assert_eq!(passed.sent, Some(request.body));
        assert_eq!(host.counted(Metric::ServiceCalls(outcome)), 1);
        assert_eq!(passed.header("x-sentinel-reason"), Some(format!("service_{}", outcome.label()).as_str()));
    }
    for similarity in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let mut host = host("{}");
        host.service = Box::new(move |_| {
            Ok(ServiceReply {
                loop_detected: true,
                max_similarity: similarity,
                related: 2,
                ..ServiceReply::default()
            })
        });
        assert_eq!(send(&mut host, PROMPT).verdict(), Some("allow"));
        assert_eq!(host.counted(Metric::ServiceCalls(ServiceOutcome::Garbage)), 1);
    }
}

#[test]
fn the_service_is_told_no_name_and_only_what_matters() {
    let mut host = host(r#"{"similarity_threshold":0.9,"semantic":{"repeats":3}}"#);
    host.service = Box::new(|question| {
        assert_eq!(question.prompt, PROMPT);
        assert_eq!((question.similarity_threshold, question.repeats), (0.9, 3));
        assert_eq!((question.tenant.len(), question.agent.len(), question.run.len()), (16, 16, 16));
        Ok(ServiceReply { loop_detected: false, max_similarity: 0.5, related: 0, ..ServiceReply::default() })
    });
    assert_eq!(send(&mut host, PROMPT).header("x-sentinel-similarity"), Some("0.5000"));
}

#[test]
fn observe_touches_nothing_and_counts_everything() {
    let mut host = host(r#"{"mode":"observe","traces":{"attributes":true}}"#);
    let mut traced = 0;
    for _ in 0..8 {
        let request = chat(PROMPT);
        let outcome = host.exchange(&request, &answer(ANSWER));
        assert_eq!(outcome.sent, Some(request.body));
        assert!(outcome.headers.is_empty() && outcome.changed.is_empty() && outcome.reply.is_none());
        traced += u32::from(outcome.annotations.contains(&("sentinel_verdict", "kill".to_owned())));
    }
    assert!(traced > 0, "its trace says what it would have been");
    let killed = host.counters.keys().any(|name| name.contains("verdict.kill"));
    assert!(killed, "{:?}", host.counters);
    assert!(host.lines("verdict").iter().all(|line| line.contains(r#""enforced":false"#)));
}

#[test]
fn a_final_message_ends_the_run_in_the_form_that_was_asked_for() {
    for (dialect, path, body) in [
        (
            "openai_chat",
            "/v1/chat/completions",
            json!({"stream": true, "messages": [{"role": "user", "content": PROMPT}]}),
        ),
        ("openai_responses", "/v1/responses", json!({"stream": true, "input": PROMPT})),
        (
            "anthropic",
            "/v1/messages",
            json!({"stream": true, "messages": [{"role": "user", "content": PROMPT}]}),
        ),
        (
            "gemini",
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({"contents": [{"parts": [{"text": PROMPT}]}]}),
        ),
    ] {
        let mut host = host(r#"{"kill":{"mode":"final_message"}}"#);
        let request = ClientRequest::post(path, body.to_string()).with("x-run-id", "a");
        let answer = {
            let message = FinalMessage {
                text: ANSWER,
                calls: &[],
                model: "m",
                framing: Framing::Json,
                id: 1,
                kept_as: "",
                usage: Usage::default(),
                created: 1,
                include_usage: false,
            };
            ProviderResponse::json(by_label(dialect).unwrap().final_message(&message).body)
        };
        let last = (0..5).map(|_| host.exchange(&request, &answer)).last().unwrap();
        let reply = last.reply.unwrap_or_else(|| panic!("{dialect:?} was not killed"));
        assert_eq!(reply.status, 200);
        assert!(reply.headers.contains(&("content-type", "text/event-stream".to_owned())), "{dialect:?}");
        assert!(said(&reply).starts_with("data:") || said(&reply).starts_with("event:"), "{dialect:?}");
    }
}

#[test]
fn what_cannot_be_read_passes_and_is_counted() {
    let deep = format!(r#"{{"messages":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    let many = format!(r#"{{"messages":[{}]}}"#, vec![r#"{"role":"user","content":"x"}"#; 10_000].join(","));
    for (body, cause) in [
        (b"".to_vec(), None),
        (b"not json".to_vec(), Some("not_json")),
        (br#"{"messages":[{"role":"us"#.to_vec(), Some("not_json")),
        (br#"[1,2]"#.to_vec(), Some("shape")),
        (br#"{"messages":7}"#.to_vec(), Some("shape")),
        (br#"{"messages":[7]}"#.to_vec(), Some("shape")),
        (br#"{"prompt":"x"}"#.to_vec(), Some("shape")),
        (b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}".to_vec(), Some("invalid_utf8")),
        (br#"{"messages":[{"role":"user","content":7}]}"#.to_vec(), Some("shape")),
        // Half a character is read as one that stands for nothing: it hides no request.
        (br#"{"messages":[{"role":"user","content":"\ud800"}]}"#.to_vec(), None),
        (deep.into_bytes(), Some("shape")),
        (br#"{"messages":[]}"#.to_vec(), None),
        (br#"{"messages":[{"role":"user","content":"a\u0000b"}]}"#.to_vec(), None),
        (many.into_bytes(), None),
    ] {
        let mut host = host("{}");
        let request = ClientRequest::post("/v1/chat/completions", body.clone()).with("x-agent-id", "a");
        let outcome = host.exchange(&request, &answer(ANSWER));
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(outcome.sent, Some(body), "{shown}");
        let counted: Vec<_> = host
            .counters
            .keys()
            .filter_map(|name| name.strip_prefix("sentinel_bypasses_total.cause."))
            .collect();
        assert_eq!(counted, cause.into_iter().collect::<Vec<_>>(), "{shown}");
    }
}

#[test]
fn headers_decide_what_is_not_even_read() {
    let other = |name: &str, value: &str| chat(PROMPT).with(name, value);
    for (request, metric) in [
        (other(":method", "GET"), None),
        (other(":path", "/v1/embeddings"), None),
        (other("content-type", "text/plain"), Some(Bypass::ContentType)),
        (other("content-encoding", "gzip"), Some(Bypass::Encoded)),
        (other("content-length", "99999999"), Some(Bypass::TooLarge)),
    ] {
        let mut host = host("{}");
        let outcome = host.exchange(&request, &answer(ANSWER));
        assert_eq!(outcome.sent.as_ref(), Some(&request.body));
        assert!(outcome.headers.is_empty() && nothing_is_remembered(&host));
        if let Some(cause) = metric {
            assert_eq!(host.counted(Metric::Bypasses(cause)), 1);
        }
    }
}

#[test]
fn without_identity_nothing_is_remembered() {
    let mut host = host("{}");
    for _ in 0..8 {
        let body = json!({"messages": [{"role": "user", "content": PROMPT}]}).to_string();
        let outcome = host.exchange(&ClientRequest::post("/v1/chat/completions", body), &answer(ANSWER));
        assert_eq!(outcome.verdict(), Some("allow"));
    }
    assert!(host.slots.is_empty());
    assert_eq!(host.counted(Metric::Bypasses(Bypass::NoIdentity)), 8);
}

#[test]
fn a_store_that_is_lost_is_tried_again_and_given_up_in_the_end() {
    let mut racing = host("{}");
    racing.lost_stores = 3;
    assert_eq!(verdicts(&mut racing, 5), ["allow", "allow", "allow", "hint", "kill"]);
    let mut stuck = host("{}");
    stuck.lost_stores = u32::MAX;
    let request = chat(PROMPT);
    let outcome = stuck.exchange(&request, &answer(ANSWER));
    assert_eq!(outcome.sent, Some(request.body));
    assert_eq!(stuck.counted(Metric::Bypasses(Bypass::Contention)), 2);
}

#[test]
fn failures_are_retries_and_cut_off_responses_too() {
    let mut host = host("{}");
    for response in [
        ProviderResponse { status: 500, ..answer("") },
        ProviderResponse { status: 429, ..answer("") },
        ProviderResponse { is_cut_off: true, ..answer(ANSWER) },
    ] {
        for _ in 0..6 {
            assert_eq!(host.exchange(&chat(PROMPT), &response).verdict(), Some("allow"));
        }
    }
    assert_eq!(verdicts(&mut host, 5), ["allow", "allow", "allow", "hint", "kill"]);
}

#[test]
fn settings_of_an_agent_win_over_the_common_ones() {
    let config = r#"{"agents":[
        {"name":"a-1","settings":{"enabled":false}},
        {"prefix":"a-","settings":{"score":{"hint":1,"kill":1},"hint":{"messages":{"score":"Own words."}}}}
    ]}"#;
    let mut host = host(config);
    let silent = send(&mut host, PROMPT);
    assert_eq!(silent.verdict(), None);
    let eager = chat(PROMPT).with("x-agent-id", "a-2");
    host.exchange(&eager, &answer(ANSWER));
    let hinted = host.exchange(&eager, &answer(ANSWER));
    assert_eq!(hinted.verdict(), Some("hint"));
    assert!(String::from_utf8_lossy(&hinted.sent.unwrap()).contains("Own words."));
    assert_eq!(host.exchange(&eager, &answer(ANSWER)).verdict(), Some("kill"));
}

#[test]
fn refused_configurations_name_the_field() {
    for (config, path) in [
        (r#"{"similarity_treshold":0.9}"#, "similarity_treshold"),
        (r#"{"similarity_threshold":1.5}"#, "similarity_threshold"),
        (r#"{"similarity_threshold":"high"}"#, "similarity_threshold"),
        (r#"{"timeout":"50"}"#, "timeout"),
        ("[]", "."),
        ("7", "."),
        (r#"{"kill":[]}"#, "kill"),
        (r#"{"hint":{"messages":["a","b"]}}"#, "hint.messages"),
        (r#"{"paths":[["/a"]]}"#, "paths[0]"),
        (r#"{"agents":[{"name":"a","settings":{"kill":[1]}}]}"#, "agents[0].settings.kill"),
        (r#"{"cluster":""}"#, "cluster"),
        (r#"{"mode":"watch"}"#, "mode"),
        (r#"{"intervention_message":" "}"#, "intervention_message"),
        (r#"{"kill":{"status":429}}"#, "kill.status"),
        (r#"{"kill":{"status":200}}"#, "kill.status"),
        (r#"{"kill":{"expires":"soon"}}"#, "kill.expires"),
        (r#"{"score":{"hint":8,"kill":4}}"#, "score.kill"),
        (r#"{"semantic":{"repeats":0}}"#, "semantic.repeats"),
        (r#"{"identity":{"agent":{"headers":["no good"]}}}"#, "identity.agent.headers[0]"),
        (r#"{"identity":{"run":{"body":["user","model"]}}}"#, "identity.run.body[1]"),
        (r#"{"paths":[{"exact":"/a","prefix":"/b","dialect":"gemini"}]}"#, "paths[0]"),
        (r#"{"paths":[{"exact":"/a","dialect":"cohere"}]}"#, "paths[0].dialect"),
        (r#"{"paths":[{"exact":"/a"}]}"#, "paths[0].dialect"),
        (r#"{"run_limit":-1}"#, "run_limit"),
        (r#"{"steps":{"cycle":{"hint":1}}}"#, "steps.cycle"),
        (r#"{"steps":{"cycle":{"kill":2}}}"#, "steps.cycle"),
        (r#"{"steps":{"cycle":{"kil":2}}}"#, "steps.cycle.kil"),
        (r#"{"agents":[{"settings":{}}]}"#, "agents[0]"),
        (r#"{"agents":[{"name":"a","settings":{"cluster":"c"}}]}"#, "agents[0].settings.cluster"),
        (r#"{"agents":[{"name":"a","settings":{"kill":{"status":500}}}]}"#, "agents[0].settings.kill.status"),
        (r#"{"agents":[{"name":"a","settings":{"kill":{"sttus":1}}}]}"#, "agents[0].settings.kill.sttus"),
        (r#"{"state":{"buckets":0}}"#, "state.buckets"),
        (r#"{"max_body_bytes":10}"#, "max_body_bytes"),
    ] {
        let error = Config::from_json(config.as_bytes()).unwrap_err();
        assert_eq!(error.path, path, "{config}: {error}");
    }
    assert!(Config::from_json(b"{").is_err());
    assert!(Config::from_json(b"").is_ok());
}

/// A chat request whose history has these steps (arguments, result) of one tool, after a user's word.
fn run_of(steps: &[(String, String)]) -> ClientRequest {
    let mut messages = vec![json!({"role": "user", "content": "Deploy the new release, please"})];
    for (n, (arguments, result)) in steps.iter().enumerate() {
        let function = json!({"name": "deploy", "arguments": arguments});
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": format!("c{n}"), "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": result}));
    }
    ClientRequest::post("/v1/chat/completions", json!({"messages": messages}).to_string())
}

fn failing(times: usize) -> Vec<(String, String)> {
    vec![(r#"{"to":"prod"}"#.to_owned(), "error: permission denied".to_owned()); times]
}

#[test]
fn a_repeated_step_is_hinted_in_the_result_and_killed_without_any_identity() {
    let mut host = host("{}");
    let verdicts: Vec<_> = (0..7)
        .map(|times| host.exchange(&run_of(&failing(times)), &answer(ANSWER)).verdict().unwrap().to_owned())
        .collect();
    assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "hint", "kill", "kill"]);
    let hinted = host.exchange(&run_of(&failing(3)), &answer(ANSWER));
    assert_eq!(hinted.header("x-sentinel-reason"), Some("repeated_step; count=3; tool=deploy"));
    let sent: serde_json::Value = serde_json::from_slice(&hinted.sent.unwrap()).unwrap();
    let last = sent["messages"].as_array().unwrap().last().unwrap();
    let told = last["content"].as_str().unwrap();
    assert!(told.starts_with("error: permission denied\n\nYou have called `deploy` 3 times"), "{told}");
    let killed = host.exchange(&run_of(&failing(5)), &answer(ANSWER)).reply.unwrap();
    assert!(said(&killed).contains("it called `deploy` 5 times"), "{}", said(&killed));
    assert!(host.slots.is_empty(), "the history says it all");
}

#[test]
fn a_kill_by_steps_belongs_to_its_history_and_a_new_user_message_lifts_it() {
    let mut host = host("{}");
    let identified = |request: ClientRequest| request.with("x-run-id", "r");
    let mut verdict =
        |request| host.exchange(&identified(request), &answer(ANSWER)).verdict().map(str::to_owned);
    assert_eq!(verdict(run_of(&failing(5))).unwrap(), "kill");
    assert_eq!(verdict(run_of(&failing(5))).unwrap(), "kill", "judged anew, and the same");
    let mut moved_on = failing(5);
    moved_on.push(("{}".to_owned(), "something else entirely".to_owned()));
    assert_eq!(verdict(run_of(&moved_on)).unwrap(), "allow", "the loop does not reach its end");
    assert_eq!(verdict(run_of(&failing(2))).unwrap(), "allow", "a run that starts afresh");
    let mut body: serde_json::Value = serde_json::from_slice(&run_of(&failing(5)).body).unwrap();
    body["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "Stop, and summarise"}));
    assert_eq!(verdict(ClientRequest::post("/v1/chat/completions", body.to_string())).unwrap(), "allow");
}

#[test]
fn the_run_limit_counts_turns_since_the_user() {
    let mut host = host(r#"{"run_limit":10}"#);
    let steps: Vec<_> = (0..12).map(|n| (format!("{{\"n\":{n}}}"), format!("result {n}"))).collect();
    let verdict = |host: &mut InMemory, turns: usize| {
        host.exchange(&run_of(&steps[..turns]), &answer(ANSWER)).verdict().unwrap().to_owned()
    };
    assert_eq!([7, 8, 9, 10].map(|turns| verdict(&mut host, turns)), ["allow", "hint", "hint", "kill"]);
}

fn tool_call(id: usize, arguments: &str) -> ClientRequest {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
    );
    ClientRequest::post("/mcp", body).with("mcp-session-id", "s-1")
}

#[test]
fn the_mcp_breaker_answers_a_call_too_many() {
    let mut host = host(r#"{"mcp":{"paths":[{"prefix":"/mcp"}]}}"#);
    for n in 0..20 {
        let request = tool_call(n, r#"{"a":1,"b":2}"#);
        assert_eq!(host.exchange(&request, &answer("")).sent, Some(request.body));
    }
    let denied = host.exchange(&tool_call(20, r#"{"b":2,"a":1}"#), &answer(""));
    assert_eq!(denied.header("x-sentinel-reason"), Some("mcp_breaker; count=21; tool=echo"));
    let reply = denied.reply.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((reply.status, &body["id"], &body["result"]["isError"]), (200, &json!(20), &json!(true)));
    for other in [
        tool_call(21, r#"{"a":2}"#),
        tool_call(22, r#"{"a":1,"b":2}"#).with("mcp-session-id", "s-2"),
        ClientRequest::post("/mcp", r#"{"id":1,"method":"tools/list"}"#).with("mcp-session-id", "s-1"),
        ClientRequest::post("/mcp", "no json").with("mcp-session-id", "s-1"),
    ] {
        assert_eq!(host.exchange(&other, &answer("")).sent, Some(other.body));
    }
    host.now += 120_000;
    assert!(host.exchange(&tool_call(23, r#"{"a":1,"b":2}"#), &answer("")).sent.is_some());
    assert_eq!(host.counted(Metric::McpCalls), 24);
}

#[test]
fn without_kills_and_in_observe_a_call_too_many_goes_on_and_is_recorded() {
    for (config, verdict) in [(r#""kill":{"enabled":false}"#, "hint"), (r#""mode":"observe""#, "kill")] {
        let mut host = host(&format!(r#"{{{config},"mcp":{{"paths":[{{"prefix":"/mcp"}}],"calls":1}}}}"#));
        for n in 0..2 {
            assert!(host.exchange(&tool_call(n, "{}"), &answer("")).sent.is_some(), "{config}");
        }
        let [line] = host.lines("verdict")[..] else { panic!("{:?}", host.log) };
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            (&line["verdict"], &line["tool"], &line["count"]),
            (&json!(verdict), &json!("echo"), &json!(2))
        );
        assert_eq!(line["score"], json!(null), "a request to an MCP server has no score");
    }
}

#[test]
fn an_mcp_client_without_session_and_agent_is_left_alone() {
    let mut host = host(r#"{"mcp":{"paths":[{"exact":"/mcp"}],"calls":1}}"#);
    for n in 0..5 {
        let request = tool_call(n, "{}").with("mcp-session-id", "");
        assert!(host.exchange(&request, &answer("")).sent.is_some());
    }
    assert!(host.slots.is_empty());
}

#[test]
fn a_history_that_the_provider_keeps_is_judged_like_one_in_the_body() {
    let mut host = host(r#"{"semantic":{"enabled":false}}"#);
    let post = |body: serde_json::Value| {
        ClientRequest::post("/v1/responses", body.to_string()).with("x-run-id", "r")
    };
    let calls = |n: usize| {
        ProviderResponse::json(
            json!({"id": format!("resp_{n}"), "output": [{"type": "function_call", "call_id": format!("c{n}"), "name": "deploy", "arguments": "{}"}]})
                .to_string(),
        )
    };
    let first = host.exchange(&post(json!({"input": "Deploy the new release, please"})), &calls(0));
    assert_eq!(first.verdict(), Some("allow"));
    let mut verdicts = Vec::new();
    // A stopped request had no answer, so the agent comes again with its last one.
    for n in [0, 1, 2, 3, 4, 4] {
        let output =
            json!({"type": "function_call_output", "call_id": format!("c{n}"), "output": "error: denied"});
        let request = post(json!({"previous_response_id": format!("resp_{n}"), "input": [output]}));
        let outcome = host.exchange(&request, &calls(n + 1));
        if n == 2 {
            let sent = String::from_utf8(outcome.sent.clone().unwrap()).unwrap();
            assert!(sent.contains(r"error: denied\n\nYou have called `deploy` 3 times"), "{sent}");
        }
        verdicts.push(outcome.verdict().unwrap().to_owned());
    }
    assert_eq!(verdicts, ["allow", "allow", "hint", "hint", "kill", "kill"]);
    let asked =
        post(json!({"previous_response_id": "resp_4", "input": "Stop now, and tell me what is wrong"}));
    assert_eq!(host.exchange(&asked, &calls(9)).verdict(), Some("allow"));
}

#[test]
fn a_client_that_leaves_after_the_last_event_has_its_answer() {
    let stream =
        ProviderResponse { content_type: "text/event-stream".into(), is_cut_off: true, ..answer(ANSWER) };
    let mut host = host("{}");
    for (body, verdict) in [("data: [DONE]\n\n", "kill"), ("", "allow")] {
        host.slots.clear();
        let text = json!({"choices": [{"index": 0, "delta": {"content": ANSWER}}]});
        let response =
            ProviderResponse { body: format!("data: {text}\n\n{body}").into_bytes(), ..stream.clone() };
        let last = (0..5).map(|_| host.exchange(&chat(PROMPT), &response)).last().unwrap();
        assert_eq!(last.verdict(), Some(verdict));
    }
}

/// How often each of the requests so far was counted, by client and status.
fn requests(host: &InMemory) -> Vec<(String, u64)> {
    let counters = host.counters.iter().filter_map(|(name, count)| {
        let labels = name.strip_prefix("sentinel_requests_total.client.")?;
        Some((labels.strip_suffix(".dialect.openai_chat")?.replace(".status.", " "), *count))
    });
    counters.collect()
}

#[test]
fn each_request_is_counted_once_with_what_became_of_it() {
    let mut host = host(r#"{"identity": {"principal": "x-client", "clients": ["billing"]}}"#);
    let by = |client: &str| chat(PROMPT).with("x-client", client);
    verdicts(&mut host, 5);
    host.exchange(&by("billing"), &answer(ANSWER));
    host.exchange(&by("billing"), &ProviderResponse { status: 429, ..answer("") });
    host.exchange(&by("somebody"), &ProviderResponse { status: 503, ..answer("") });
    host.exchange(&by("billing").with("content-encoding", "gzip"), &answer(ANSWER));
    host.exchange(&by("billing").with(":method", "GET"), &answer(ANSWER));
    let expected =
        [("billing 2xx", 2), ("billing 4xx", 1), ("none 2xx", 4), ("none stopped", 1), ("other 5xx", 1)];
    assert_eq!(requests(&host), expected.map(|(labels, count)| (labels.to_owned(), count)));
}

#[test]
fn failing_open_is_told_once_a_minute_for_each_cause() {
    let mut host = host("{}");
    host.service = Box::new(|_| Err(ServiceOutcome::Unavailable));
    let told = |host: &InMemory, cause: &str| {
        let line = |line: &&&String| line.contains(&format!(r#""cause":"{cause}""#));
        host.lines("fail_open").iter().filter(line).count()
    };
    for number in 0..60 {
        send(&mut host, &format!("A question of more than four words, number {}", "x".repeat(number)));
        host.exchange(&chat(PROMPT).with("content-encoding", "br"), &answer(ANSWER));
    }
    assert_eq!(
        (told(&host, "service_unavailable"), told(&host, "encoded"), host.lines("fail_open").len()),
        (1, 1, 2)
    );
    host.now += 60_000;
    send(&mut host, "A question that was not asked before at all");
    assert_eq!((told(&host, "service_unavailable"), told(&host, "encoded")), (2, 1));
    // Another worker wrote the line a moment later than the time that this request has.
    host.now -= 5;
    send(&mut host, "A question that another worker has seen before");
    assert_eq!(told(&host, "service_unavailable"), 2);
    // A clock that is set back does not keep it silent.
    host.now -= 40_000_000;
    send(&mut host, "And one that is another again, after so long");
    assert_eq!(told(&host, "service_unavailable"), 3);
    // Another worker was faster: the line is its own.
    host.now += 60_000;
    host.lost_stores = 1;
    host.exchange(&chat(PROMPT).with("content-encoding", "br"), &answer(ANSWER));
    assert_eq!(told(&host, "encoded"), 1);
    assert!(host.log.iter().all(|line| !line.contains("question") && !line.contains("a-1")));
}

#[test]
fn a_plain_answer_is_asked_for_where_it_is_read() {
    let wish = |request: ClientRequest| request.with("accept-encoding", "gzip, br");
    let asked = |config: &str, request: &ClientRequest| {
        let exchange = host(config).exchange(request, &answer(ANSWER));
        exchange
            .changed
            .into_iter()
            .filter(|(name, _)| *name == "accept-encoding")
            .map(|(_, value)| value)
            .collect::<Vec<_>>()
    };
    assert_eq!(asked("{}", &wish(chat(PROMPT))), ["identity"]);
    assert_eq!(asked(r#"{"mode": "observe"}"#, &wish(chat(PROMPT))), ["identity"]);
    let nothing: [&str; 0] = [];
    assert_eq!(asked(r#"{"plain_answers": false}"#, &wish(chat(PROMPT))), nothing);
    assert_eq!(asked("{}", &chat(PROMPT)), nothing);
    assert_eq!(asked("{}", &chat(PROMPT).with("accept-encoding", "Identity")), nothing);
    assert_eq!(asked("{}", &wish(chat(PROMPT)).with(":path", "/v1/models")), nothing);
    let signature = "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=accept-encoding;host, Signature=c";
    assert_eq!(asked("{}", &wish(chat(PROMPT)).with("authorization", signature)), nothing);
    let signature = signature.replace("accept-encoding;", "");
    assert_eq!(asked("{}", &wish(chat(PROMPT)).with("authorization", &signature)), ["identity"]);
}
