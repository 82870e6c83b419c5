//! The response cache from the outside: what is looked up, what is given, what is stored.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use sentinel_config::Config;
use sentinel_llm_api::repeatable::FunctionCall;
use sentinel_pipeline::{
    host::ServiceReply,
    in_memory::{ClientRequest, Exchange, InMemory, ProviderResponse},
    metric::{CacheBypass, CacheHit, Metric},
    service_outcome::ServiceOutcome,
    stored::{LookupKind, LookupReply, Partition, StoredAnswer},
};
use serde_json::{Value, json};

const ON: &str = r#"{"cache":{"enabled":true},"prices":[{"prefix":"m","input":1,"output":2}]}"#;
const PROMPT: &str = "What is the capital of France?";
const TEXT: &str = "Paris.";

type Stored = Rc<RefCell<HashMap<(Partition, String), StoredAnswer>>>;

/// A host whose service stores answers in a table, and finds them by the same text.
struct Stage {
    host: InMemory,
    stored: Stored,
    asked: Rc<RefCell<Vec<bool>>>,
    /// For each question, whether only the same text may be found.
    exact: Rc<RefCell<Vec<bool>>>,
}

impl Stage {
    fn new(config: &str) -> Self {
        let mut host = InMemory::new(Config::from_json(config.as_bytes()).unwrap());
        let (stored, asked) = (Stored::default(), Rc::new(RefCell::new(Vec::new())));
        let exact = Rc::<RefCell<Vec<bool>>>::default();
        let (table, questions, exact_only) = (Rc::clone(&stored), Rc::clone(&asked), Rc::clone(&exact));
        host.service = Box::new(move |question| {
            questions.borrow_mut().push(question.cache_only);
            let cache = question.cache.as_ref().map(|lookup| {
                exact_only.borrow_mut().push(lookup.exact_only);
                let found = table.borrow().get(&(lookup.partition, question.prompt.clone())).cloned();
                LookupReply {
                    kind: if found.is_some() { LookupKind::Exact } else { LookupKind::Miss },
                    answer: found,
                    similarity: 1.0,
                    age: 2_500,
                    candidate: vec![9],
                    ..LookupReply::default()
                }
            });
            Ok(ServiceReply { cache, ..ServiceReply::default() })
        });
        Self { host, stored, asked, exact }
    }

    fn send(&mut self, request: &ClientRequest, response: &ProviderResponse) -> Exchange {
        self.host.now += 1_000;
        let exchange = self.host.exchange(request, response);
        for order in self.host.stored.drain(..).filter(|order| !order.compare_only) {
            self.stored.borrow_mut().insert((order.partition, order.prompt), order.answer);
        }
        exchange
    }

    fn bypassed(&self, cause: CacheBypass) -> u64 {
        self.host.counted(Metric::CacheBypasses(cause))
    }

    fn hits(&self, hit: CacheHit) -> u64 {
        self.host.counted(Metric::CacheHits(hit))
    }
}

fn body(prompt: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}]})
}

fn post(body: &Value) -> ClientRequest {
    ClientRequest::post("/v1/chat/completions", body.to_string())
}

fn ask() -> ClientRequest {
    post(&body(PROMPT))
}

fn answer() -> ProviderResponse {
    ProviderResponse::json(
        json!({"id": "c", "model": "m-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 3}})
        .to_string(),
    )
}

fn cache_header(exchange: &Exchange) -> &str {
    exchange.header("x-sentinel-cache").unwrap_or("none")
}

#[test]
fn the_same_question_is_answered_once() {
    let mut stage = Stage::new(ON);
    let first = stage.send(&ask(), &answer());
    assert_eq!((cache_header(&first), first.sent.is_some()), ("miss", true));
    let second = stage.send(&ask(), &answer());
    assert_eq!((cache_header(&second), second.sent.is_none()), ("exact", true));
    assert_eq!(second.header("age"), Some("2"));
    assert_eq!(second.header("x-sentinel-similarity"), Some("1.0000"));
    assert_eq!(second.header("x-sentinel-verdict"), Some("allow"));
    assert_eq!(second.header("x-should-retry"), None);
    let reply = second.reply.unwrap();
    let said: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(said["choices"][0]["message"]["content"], TEXT);
    assert_eq!((&said["model"], &said["usage"]["prompt_tokens"]), (&json!("m-1"), &json!(20)));
    assert_eq!((stage.hits(CacheHit::Exact), stage.hits(CacheHit::Miss)), (1, 1));
    // 20 for 1 and 3 for 2 millionths of a USD.
    assert_eq!(stage.host.counted(Metric::Saved), 26_000);
    assert_eq!(stage.host.counted(Metric::SavedTokens), 23);
    assert_eq!(*stage.asked.borrow(), [true, true], "nobody who can be told apart asked");
    assert!(!stage.host.lines("cache_hit").is_empty());
    assert!(stage.host.log.iter().all(|line| !line.contains("France") && !line.contains("Paris")));
}

/// With instructions to translate, two wordings of one question need two answers.
#[test]
fn a_text_that_is_worked_on_shares_answers_with_the_same_text_alone() {
    let mut stage = Stage::new(ON);
    let work = "Translate what the user says into French.";
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    for before in [
        vec![said("system", "Be brief.")],
        vec![said("system", work)],
        vec![said("user", work), said("assistant", "Gladly.")],
    ] {
        let messages: Vec<Value> = before.into_iter().chain([said("user", PROMPT)]).collect();
        stage.send(&post(&json!({"model": "m", "messages": messages})), &answer());
    }
    assert_eq!(*stage.exact.borrow(), [false, true, true]);
}

/// A stream that was given, as a provider would send it: in parts.
fn as_stream(given: Exchange) -> ProviderResponse {
    ProviderResponse {
        content_type: "text/event-stream".into(),
        part: Some(11),
        ..ProviderResponse::json(given.reply.unwrap().body)
    }
}

#[test]
fn what_was_stored_from_json_is_given_as_a_stream_and_the_other_way_round() {
    let mut stage = Stage::new(ON);
    stage.send(&ask(), &answer());
    let mut streamed = body(PROMPT);
    streamed["stream"] = json!(true);
    let given = stage.send(&post(&streamed), &answer());
    assert_eq!((cache_header(&given), given.header("content-type")), ("exact", Some("text/event-stream")));
    // The other way: a new stage, whose first answer is that stream.
    let stream = as_stream(given);
    let mut stage = Stage::new(ON);
    stage.send(&post(&streamed), &stream);
    let given = stage.send(&ask(), &answer());
    assert_eq!((cache_header(&given), given.header("content-type")), ("exact", Some("application/json")));
    assert!(String::from_utf8_lossy(&given.reply.unwrap().body).contains(TEXT));
}

#[test]
fn off_by_default_nothing_is_asked_and_nothing_stored() {
    let mut stage = Stage::new("{}");
    for _ in 0..2 {
        let passed = stage.send(&ask(), &answer());
        assert_eq!((cache_header(&passed), passed.sent.is_some()), ("none", true));
    }
    assert!(stage.asked.borrow().is_empty() && stage.stored.borrow().is_empty());
}

#[test]
fn it_is_on_where_it_is_switched_on() {
    let config = r#"{"cache":{"enabled":true,"paths":["/openai/"]},"agents":[{"name":"a","settings":{"cache":{"enabled":false}}}]}"#;
    let mut stage = Stage::new(config);
    assert_eq!(cache_header(&stage.send(&ask(), &answer())), "none");
    let routed = ClientRequest::post("/openai/v1/chat/completions", body(PROMPT).to_string());
    assert_eq!(cache_header(&stage.send(&routed, &answer())), "miss");
    assert_eq!(cache_header(&stage.send(&routed.with("x-agent-id", "a"), &answer())), "none");
}

#[test]
fn who_asks_and_how_decides_who_gets_it() {
    let config = r#"{"cache":{"enabled":true,"headers":["x-route"]},"identity":{"principal":"x-client"}}"#;
    let base = ask().with("x-tenant-id", "t").with("x-client", "c");
    let mut stage = Stage::new(config);
    stage.send(&base, &answer());
    assert_eq!(cache_header(&stage.send(&base, &answer())), "exact");
    // Any run or agent of the same client gets it.
    assert_eq!(cache_header(&stage.send(&base.clone().with("x-run-id", "r"), &answer())), "exact");
    assert_eq!(cache_header(&stage.send(&base.clone().with("x-agent-id", "a"), &answer())), "exact");
    for (name, value) in [
        ("x-tenant-id", "t2"),
        ("x-client", "c2"),
        (":authority", "elsewhere"),
        (":path", "/v1/chat/completions?api-version=2"),
        ("anthropic-beta", "x"),
        ("openai-project", "p"),
        ("x-route", "other"),
    ] {
        let other = stage.send(&base.clone().with(name, value), &answer());
        assert_eq!(cache_header(&other), "miss", "{name}");
    }
    // A principal is known: whatever key comes along.
    assert_eq!(cache_header(&stage.send(&base.with("authorization", "Bearer k"), &answer())), "exact");
    // A header without a value names nobody.
    let nobody = |key: &str| ask().with("x-client", "").with("authorization", key);
    stage.send(&nobody("Bearer one"), &answer());
    assert_eq!(cache_header(&stage.send(&nobody("Bearer two"), &answer())), "miss");
}

#[test]
fn without_a_principal_the_key_tells_who_asks() {
    let mut stage = Stage::new(ON);
    let with = |key: &str| ask().with("authorization", key);
    stage.send(&with("Bearer one"), &answer());
    assert_eq!(cache_header(&stage.send(&with("Bearer two"), &answer())), "miss");
    assert_eq!(cache_header(&stage.send(&with("Bearer one"), &answer())), "exact");
    let mut shared = Stage::new(r#"{"cache":{"enabled":true,"share_between_tenants":true}}"#);
    shared.send(&with("Bearer one").with("x-tenant-id", "a"), &answer());
    let other = shared.send(&with("Bearer two").with("x-tenant-id", "b"), &answer());
    assert_eq!(cache_header(&other), "exact");
}

/// A signature that was made up names the same key as the true one, and only the provider can tell.
#[test]
fn a_signed_request_needs_a_principal() {
    let signed = |signature: &str| {
        let value = format!("AWS4-HMAC-SHA256 Credential=AKIA1/2026/x, Signature={signature}");
        ask().with("authorization", &value)
    };
    let mut stage = Stage::new(ON);
    for signature in ["true", "none"] {
        let passed = stage.send(&signed(signature), &answer());
        assert_eq!((cache_header(&passed), passed.sent.is_some()), ("bypass", true), "{signature}");
    }
    assert!(stage.stored.borrow().is_empty());
    assert_eq!(stage.bypassed(CacheBypass::Signed), 2);
    let mut stage = Stage::new(r#"{"identity":{"principal":"x-client"},"cache":{"enabled":true}}"#);
    stage.send(&signed("1").with("x-client", "alice"), &answer());
    assert_eq!(cache_header(&stage.send(&signed("2").with("x-client", "alice"), &answer())), "exact");
    assert_eq!(cache_header(&stage.send(&signed("2").with("x-client", "bob"), &answer())), "miss");
    assert_eq!(cache_header(&stage.send(&signed("2"), &answer())), "bypass", "nobody says whose it is");
}

#[test]
fn whatever_looks_like_a_credential_keeps_callers_apart() {
    for name in [
        "authorization",
        "proxy-authorization",
        "x-forwarded-authorization",
        "ocp-apim-subscription-key",
        "cf-aig-authorization",
        "x-litellm-api-key",
        "x-portkey-api-key",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "x-amz-security-token",
        "cookie",
        "x-my-token",
        "my-own-key",
        "x-client-secret",
        "x-session-id",
        "x-auth",
        "x-forwarded-user",
        "x-auth-request-email",
        "x-forwarded-client-cert",
        "x-ms-client-principal-id",
        "x-amzn-oidc-identity",
        "x-consumer-username",
        "x-jwt-claim-sub",
    ] {
        let mut stage = Stage::new(ON);
        stage.send(&ask().with(name, "one"), &answer());
        for other in [ask().with(name, "two"), ask()] {
            assert_eq!(cache_header(&stage.send(&other, &answer())), "miss", "{name}");
        }
        assert_eq!(cache_header(&stage.send(&ask().with(name, "one"), &answer())), "exact", "{name}");
    }
    // A header that changes with each request, or says nothing of rights, keeps nobody's answers apart.
    let mut stage = Stage::new(ON);
    for name in
        ["traceparent", "x-request-id", "user-agent", "x-amz-user-agent", "x-stainless-retry-count", "accept"]
    {
        stage.send(&ask().with(name, "one"), &answer());
        assert_eq!(cache_header(&stage.send(&ask().with(name, "two"), &answer())), "exact", "{name}");
    }
}

/// A key that was revoked gets nothing, until the provider takes it again.
#[test]
fn after_a_401_nothing_is_given_to_that_key() {
    let with = |key: &str, prompt: &str| post(&body(prompt)).with("authorization", key);
    let refused = |status: u16| ProviderResponse { status, ..ProviderResponse::json("{}") };
    let mut stage = Stage::new(ON);
    stage.send(&with("one", PROMPT), &answer());
    stage.send(&with("two", PROMPT), &answer());
    // A 403 concerns that request alone.
    stage.send(&with("one", "What is the capital of Chad?"), &refused(403));
    assert_eq!(cache_header(&stage.send(&with("one", PROMPT), &answer())), "exact");
    stage.send(&with("one", "What is the capital of Mali?"), &refused(401));
    let asked = stage.send(&with("one", PROMPT), &refused(401));
    assert_eq!((cache_header(&asked), asked.sent.is_some()), ("bypass", true));
    assert_eq!(stage.bypassed(CacheBypass::Refused), 1);
    assert_eq!(cache_header(&stage.send(&with("two", PROMPT), &answer())), "exact", "another key");
    let again = stage.send(&with("one", PROMPT), &answer());
    assert_eq!((cache_header(&again), again.sent.is_some()), ("bypass", true));
    assert_eq!(cache_header(&stage.send(&with("one", PROMPT), &answer())), "exact", "it is taken again");
}

#[test]
fn what_asks_for_now_is_neither_looked_up_nor_stored() {
    for prompt in ["What time is it?", "Where is my last order?", "Was kostet Gold heute?", "现在几点?"] {
        let mut stage = Stage::new(ON);
        for _ in 0..2 {
            let passed = stage.send(&post(&body(prompt)), &answer());
            assert_eq!((cache_header(&passed), passed.sent.is_some()), ("bypass", true), "{prompt}");
        }
        assert!(stage.stored.borrow().is_empty());
        assert_eq!(stage.bypassed(CacheBypass::Now), 2);
    }
}

#[test]
fn a_provider_that_forbids_to_keep_its_answer_is_obeyed() {
    for (values, is_stored) in [
        (&["no-store"][..], false),
        (&["max-age=60, Private"], false),
        (&["private=\"x\""], false),
        (&["public", "max-age=5", "no-store"], false),
        (&["max-age=5", "private=\"set-cookie, x\""], false),
        (&["public"], true),
        (&["max-age=0", "no-cache"], true),
        (&["x=\"no-store, private\""], true),
    ] {
        for (config, obeys) in [(ON, true), (r#"{"cache":{"enabled":true,"obey_provider":false}}"#, false)] {
            let mut stage = Stage::new(config);
            let mut response = answer();
            response.cache_control = values.iter().map(ToString::to_string).collect();
            stage.send(&ask(), &response);
            let is_stored = is_stored || !obeys;
            assert_eq!(!stage.stored.borrow().is_empty(), is_stored, "{values:?} {obeys}");
            assert_eq!(stage.bypassed(CacheBypass::AnswerPrivate), u64::from(!is_stored));
        }
    }
}

#[test]
fn cache_control_is_obeyed() {
    let mut stage = Stage::new(ON);
    stage.send(&ask().with("cache-control", "no-store"), &answer());
    assert!(stage.stored.borrow().is_empty());
    assert_eq!(stage.bypassed(CacheBypass::NoStore), 1);
    // Not given, but stored.
    for directive in ["no-cache", "max-age=0", "foo, No-Cache"] {
        let passed = stage.send(&ask().with("cache-control", directive), &answer());
        assert_eq!((cache_header(&passed), passed.sent.is_some()), ("bypass", true), "{directive}");
    }
    assert_eq!(stage.bypassed(CacheBypass::NoCache), 3);
    assert_eq!(cache_header(&stage.send(&ask(), &answer())), "exact");
}

#[test]
fn what_is_not_eligible_is_counted_by_its_cause() {
    let messages = |more: Value| {
        let mut body = body(PROMPT);
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    let turns: Vec<Value> = (0..13)
        .map(|at| json!({"role": if at % 2 == 0 { "user" } else { "assistant" }, "content": format!("{PROMPT} {at}")}))
        .collect();
    let image = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, {"role": "user", "content": PROMPT}]);
    let result = json!([{"role": "user", "content": PROMPT}, {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "x"}]);
    for (body, cause) in [
        (messages(json!({"temperature": 1.5})), CacheBypass::Temperature),
        (messages(json!({"messages": turns})), CacheBypass::Turns),
        (messages(json!({"messages": image})), CacheBypass::Media),
        (messages(json!({"messages": result})), CacheBypass::Tail),
        (messages(json!({"store": true})), CacheBypass::Kept),
    ] {
        let mut stage = Stage::new(ON);
        let passed = stage.send(&post(&body), &answer());
        assert_eq!((cache_header(&passed), passed.sent.is_some()), ("bypass", true), "{cause:?}");
        assert_eq!(stage.bypassed(cause), 1, "{cause:?}");
        assert!(stage.stored.borrow().is_empty() && stage.asked.borrow().is_empty(), "{cause:?}");
    }
    let mut stage = Stage::new(ON);
    let forged =
        format!(r#"{{"temperature":0,{}"#, body(PROMPT).to_string().replacen('{', r#""temperature":1,"#, 1));
    let passed = stage.send(&ClientRequest::post("/v1/chat/completions", forged), &answer());
    assert_eq!((cache_header(&passed), stage.bypassed(CacheBypass::DuplicateKey)), ("bypass", 1));
}

#[test]
fn only_whole_and_plain_answers_are_stored() {
    let json = |change: fn(&mut Value)| {
        let mut body: Value = serde_json::from_slice(&answer().body).unwrap();
        change(&mut body);
        ProviderResponse::json(body.to_string())
    };
    let long = || {
        let mut body: Value = serde_json::from_slice(&answer().body).unwrap();
        body["choices"][0]["message"]["content"] = json!("x".repeat(70_000));
        ProviderResponse::json(body.to_string())
    };
    for (response, cause) in [
        (json(|body| body["choices"][0]["finish_reason"] = json!("length")), CacheBypass::AnswerOther),
        (
            json(|body| body["choices"][0]["message"]["tool_calls"] = json!([{"id": "c"}])),
            CacheBypass::AnswerOther,
        ),
        (
            json(|body| body["choices"] = json!([body["choices"][0], body["choices"][0]])),
            CacheBypass::AnswerOther,
        ),
        (json(|body| body["error"] = json!({"message": "x"})), CacheBypass::AnswerOther),
        (long(), CacheBypass::AnswerLength),
        (ProviderResponse { status: 500, ..answer() }, CacheBypass::AnswerStatus),
        (ProviderResponse { status: 206, ..answer() }, CacheBypass::AnswerStatus),
        (ProviderResponse { content_type: "text/html".into(), ..answer() }, CacheBypass::AnswerForm),
        // A stream where none was asked for.
        (ProviderResponse { content_type: "text/event-stream".into(), ..answer() }, CacheBypass::AnswerForm),
        (ProviderResponse { is_cut_off: true, ..answer() }, CacheBypass::AnswerIncomplete),
        (ProviderResponse::json(b"{\"choices\":[".to_vec()), CacheBypass::AnswerIncomplete),
    ] {
        let mut stage = Stage::new(ON);
        let received = stage.send(&ask(), &response).received;
        assert_eq!(received, response.body, "it passes as it came");
        assert!(stage.stored.borrow().is_empty(), "{cause:?}");
        assert_eq!(stage.bypassed(cause), 1, "{cause:?}: {:?}", stage.host.counters);
    }
}

#[test]
fn a_loop_comes_first_and_a_given_answer_counts_as_one() {
    let mut stage = Stage::new(ON);
    let ask = ask().with("x-agent-id", "a").with("x-run-id", "r");
    let seen: Vec<(String, String)> = (0..5)
        .map(|_| {
            let exchange = stage.send(&ask, &answer());
            (cache_header(&exchange).to_owned(), exchange.verdict().unwrap_or("none").to_owned())
        })
        .collect();
    let seen: Vec<_> = seen.iter().map(|(cache, verdict)| (cache.as_str(), verdict.as_str())).collect();
    assert_eq!(
        seen,
        [("miss", "allow"), ("exact", "allow"), ("exact", "allow"), ("bypass", "hint"), ("bypass", "kill")]
    );
    assert_eq!(stage.bypassed(CacheBypass::Loop), 2);
    // The answer to the hinted request is not stored: one entry, the first.
    assert_eq!(stage.stored.borrow().len(), 1);
}

#[test]
fn a_request_that_the_tool_policy_changes_is_neither_looked_up_nor_stored() {
    let mut stage = Stage::new(r#"{"cache":{"enabled":true},"tools":{"deny":[{"name":"shell"}]}}"#);
    let mut body = body(PROMPT);
    body["tools"] = json!([{"type": "function", "function": {"name": "shell"}}]);
    assert_eq!(cache_header(&stage.send(&post(&body), &answer())), "bypass");
    assert_eq!((stage.bypassed(CacheBypass::Edited), stage.stored.borrow().len()), (1, 0));
}

#[test]
fn whatever_the_service_says_the_request_goes_on() {
    let reply = |kind, answer: Option<&str>, cause: &str| LookupReply {
        kind,
        answer: answer.map(|text| StoredAnswer { text: text.into(), ..StoredAnswer::default() }),
        similarity: f64::NAN,
        cause: cause.into(),
        ..LookupReply::default()
    };
    for (reply, cause) in [
        (Err(ServiceOutcome::Timeout), CacheBypass::Service),
        (Ok(None), CacheBypass::Service),
        (Ok(Some(reply(LookupKind::Exact, None, ""))), CacheBypass::Service),
        (Ok(Some(reply(LookupKind::Semantic, Some(""), ""))), CacheBypass::Service),
        (Ok(Some(reply(LookupKind::Bypass, None, "store_unavailable"))), CacheBypass::StoreUnavailable),
        (Ok(Some(reply(LookupKind::Bypass, None, "of next year"))), CacheBypass::Service),
    ] {
        let mut stage = Stage::new(ON);
        let given = reply.clone();
        stage.host.service =
            Box::new(move |_| given.clone().map(|cache| ServiceReply { cache, ..ServiceReply::default() }));
        let passed = stage.send(&ask(), &answer());
        assert_eq!((cache_header(&passed), passed.sent.is_some()), ("bypass", true), "{reply:?}");
        assert_eq!(stage.bypassed(cause), 1, "{reply:?}");
    }
}

#[test]
fn observing_gives_nothing_and_says_what_would_have_been() {
    let mut stage = Stage::new(r#"{"mode":"observe","cache":{"enabled":true}}"#);
    for _ in 0..2 {
        let passed = stage.send(&ask(), &answer());
        assert_eq!((cache_header(&passed), passed.sent.is_some()), ("none", true));
    }
    assert_eq!((stage.hits(CacheHit::Miss), stage.hits(CacheHit::Exact)), (1, 1));
    assert!(stage.host.lines("cache_hit").iter().any(|line| line.contains(r#""enforced":false"#)));
    assert_eq!(stage.host.counted(Metric::Saved), 0);
}

#[test]
fn a_sampled_hit_is_asked_upstream_and_compared() {
    let mut stage = Stage::new(r#"{"cache":{"enabled":true,"sample":0.5}}"#);
    stage.send(&ask(), &answer());
    stage.host.random = u64::MAX / 4;
    let passed = stage.host.exchange(&ask(), &answer());
    assert_eq!((cache_header(&passed), passed.sent.is_some()), ("miss", true));
    let order = stage.host.stored.pop().unwrap();
    assert!(order.compare_only && order.candidate == [9]);
    stage.host.random = u64::MAX / 4 * 3;
    assert_eq!(cache_header(&stage.host.exchange(&ask(), &answer())), "exact");
}

#[test]
fn a_threshold_is_taken_within_its_bounds() {
    let asked = |config: &str, wish: Option<&str>| {
        let mut host = InMemory::new(Config::from_json(config.as_bytes()).unwrap());
        let seen = Rc::new(RefCell::new(0.0));
        let at = Rc::clone(&seen);
        host.service = Box::new(move |question| {
            *at.borrow_mut() = question.cache.as_ref().unwrap().similarity_threshold;
            Ok(ServiceReply::default())
        });
        let request = match wish {
            Some(wish) => ask().with("x-sentinel-cache-threshold", wish),
            None => ask(),
        };
        host.exchange(&request, &answer());
        seen.take()
    };
    assert_eq!(asked(ON, None), 0.875);
    assert_eq!(asked(ON, Some("0.95")), 0.95);
    assert_eq!(asked(ON, Some("0.1")), 0.875, "not below what the operator allows");
    for odd in ["", "NaN", "inf", "1,0", "\u{7f}"] {
        assert_eq!(asked(ON, Some(odd)), 0.875, "{odd}");
    }
    let bounds = r#"{"cache":{"enabled":true,"min_threshold":0.8,"max_threshold":0.9}}"#;
    assert_eq!((asked(bounds, Some("0.1")), asked(bounds, Some("0.99"))), (0.8, 0.9));
}

/// Who goes on from an answer that the provider keeps names its id.
#[test]
fn an_answer_that_the_provider_keeps_is_given_under_its_id() {
    let request = |more: Value| {
        let mut body = json!({"model": "m", "input": PROMPT});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        ClientRequest::post("/v1/responses", body.to_string())
    };
    let answer = ProviderResponse::json(
        json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m-1", "output": [{"type": "message", "id": "msg_1",
            "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": TEXT, "annotations": []}]}],
            "usage": {"input_tokens": 5, "output_tokens": 2}})
        .to_string(),
    );
    for (more, id) in [(json!({}), "resp_1"), (json!({"store": false}), "resp_sentinel_")] {
        let mut stage = Stage::new(ON);
        stage.send(&request(more.clone()), &answer);
        let given = stage.send(&request(more), &answer);
        let said: Value = serde_json::from_slice(&given.reply.unwrap().body).unwrap();
        assert!(said["id"].as_str().unwrap().starts_with(id), "{said}");
    }
    let mut stage = Stage::new(ON);
    let follows = stage.send(&request(json!({"previous_response_id": "resp_1"})), &answer);
    assert_eq!((cache_header(&follows), stage.bypassed(CacheBypass::Kept)), ("bypass", 1));
}

const WITH_CALLS: &str = r#"{"cache":{"enabled":true,"store_tool_calls":true}}"#;
const ARGUMENTS: &str = r#"{"city": "Paris", "days": 2.0}"#;

/// An answer with a call, and whatever stands before it.
fn calling(content: Value) -> ProviderResponse {
    let call =
        json!({"id": "call_p1", "type": "function", "function": {"name": "look_up", "arguments": ARGUMENTS}});
    ProviderResponse::json(
        json!({"id": "c", "model": "m-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": content, "tool_calls": [call]},
            "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 20, "completion_tokens": 3}})
        .to_string(),
    )
}

fn given_message(exchange: Exchange) -> Value {
    let said: Value = serde_json::from_slice(&exchange.reply.unwrap().body).unwrap();
    assert_eq!(said["choices"][0]["finish_reason"], "tool_calls");
    said["choices"][0]["message"].clone()
}

#[test]
fn an_answer_with_calls_is_given_where_that_is_wanted() {
    let mut stage = Stage::new(WITH_CALLS);
    stage.send(&ask(), &calling(json!("I look.")));
    let mut ids = Vec::new();
    for random in [1, 2] {
        stage.host.random = random;
        let given = stage.send(&ask(), &answer());
        assert_eq!((cache_header(&given), given.sent.is_none()), ("exact", true));
        let message = given_message(given);
        let call = &message["tool_calls"][0];
        assert_eq!((&message["content"], &call["type"]), (&json!("I look."), &json!("function")));
        assert_eq!(call["function"], json!({"name": "look_up", "arguments": ARGUMENTS}));
        ids.push(call["id"].as_str().unwrap().to_owned());
    }
    ids.push("call_p1".to_owned());
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3, "each time a call of its own");

    // As a stream, and from that stream as JSON.
    let mut streamed = body(PROMPT);
    streamed["stream"] = json!(true);
    let given = stage.send(&post(&streamed), &answer());
    assert_eq!((cache_header(&given), given.header("content-type")), ("exact", Some("text/event-stream")));
    let stream = as_stream(given);
    let mut stage = Stage::new(WITH_CALLS);
    stage.send(&post(&streamed), &stream);
    let message = given_message(stage.send(&ask(), &answer()));
    assert_eq!(
        (&message["content"], message["tool_calls"].as_array().unwrap().len()),
        (&json!("I look."), 1)
    );

    // A text alone is given as ever.
    let mut stage = Stage::new(WITH_CALLS);
    stage.send(&ask(), &answer());
    assert_eq!(cache_header(&stage.send(&ask(), &answer())), "exact");
}

#[test]
fn an_answer_with_calls_is_stored_for_nobody_else() {
    let mut stage = Stage::new(ON);
    stage.send(&ask(), &calling(Value::Null));
    assert_eq!((stage.stored.borrow().len(), stage.bypassed(CacheBypass::AnswerOther)), (0, 1));
    // Those who want calls and those who do not share nothing.
    let mut stage = Stage::new(
        r#"{"cache":{"enabled":true},"agents":[{"name":"calls","settings":{"cache":{"store_tool_calls":true}}}]}"#,
    );
    let calls = ask().with("x-agent-id", "calls");
    stage.send(&calls, &calling(Value::Null));
    assert_eq!(cache_header(&stage.send(&ask(), &answer())), "miss");
    let given = stage.send(&calls, &answer());
    assert_eq!(cache_header(&given), "exact");
    assert_eq!(given_message(given)["content"], Value::Null);
}

/// Whatever the service says of calls, they are given for the same text only, and only where they are wanted and can be made.
#[test]
fn calls_are_given_for_the_same_text_only() {
    let call = |name: &str, arguments: &str| FunctionCall { name: name.into(), arguments: arguments.into() };
    let sound = || vec![call("look_up", "{}")];
    for (config, kind, calls, given) in [
        (WITH_CALLS, LookupKind::Exact, sound(), true),
        (WITH_CALLS, LookupKind::Semantic, sound(), false),
        (ON, LookupKind::Exact, sound(), false),
        (WITH_CALLS, LookupKind::Exact, vec![call("look_up", "{}"), call("", "{}")], false),
        (WITH_CALLS, LookupKind::Exact, vec![call("look_up", "{},\"x\":{}")], false),
        (WITH_CALLS, LookupKind::Exact, vec![call("look_up", "[]")], false),
    ] {
        let mut stage = Stage::new(config);
        let answered = StoredAnswer { text: "I look.".into(), calls, ..StoredAnswer::default() };
        let reply = LookupReply { kind, answer: Some(answered), similarity: 0.99, ..LookupReply::default() };
        let found = reply.clone();
        stage.host.service =
            Box::new(move |_| Ok(ServiceReply { cache: Some(found.clone()), ..ServiceReply::default() }));
        let passed = stage.send(&ask(), &answer());
        let wanted = if given { "exact" } else { "bypass" };
        assert_eq!((cache_header(&passed), passed.sent.is_none()), (wanted, given), "{reply:?}");
        assert_eq!(stage.bypassed(CacheBypass::Service), u64::from(!given), "{reply:?}");
    }
}

/// A result names its call to the provider, who keeps the call under another id.
#[test]
fn calls_that_the_provider_keeps_are_not_given_again() {
    let answer = ProviderResponse::json(
        json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m-1", "output": [{"type": "function_call", "id": "fc_1",
            "call_id": "call_1", "name": "look_up", "arguments": ARGUMENTS, "status": "completed"}]})
        .to_string(),
    );
    let request = |store: bool| {
        ClientRequest::post(
            "/v1/responses",
            json!({"model": "m", "input": PROMPT, "store": store}).to_string(),
        )
    };
    let mut stage = Stage::new(WITH_CALLS);
    stage.send(&request(true), &answer);
    assert_eq!((stage.stored.borrow().len(), stage.bypassed(CacheBypass::Kept)), (0, 1));
    stage.send(&request(false), &answer);
    let given = stage.send(&request(false), &answer);
    let said: Value = serde_json::from_slice(&given.reply.unwrap().body).unwrap();
    let call = &said["output"][0];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("look_up"), &json!(ARGUMENTS)));
    assert!(call["call_id"].as_str().unwrap().starts_with("call_") && call["call_id"] != "call_1");
    // A stored answer of this kind, even though it should not exist.
    let calls = vec![FunctionCall { name: "look_up".into(), arguments: "{}".into() }];
    let answered = StoredAnswer { calls, id: "resp_1".into(), ..StoredAnswer::default() };
    stage.host.service = Box::new(move |_| {
        let found =
            LookupReply { kind: LookupKind::Exact, answer: Some(answered.clone()), ..LookupReply::default() };
        Ok(ServiceReply { cache: Some(found), ..ServiceReply::default() })
    });
    assert_eq!(cache_header(&stage.send(&request(true), &answer)), "bypass");
}

/// The loop window remembers calls that were given as it remembers those of the provider.
#[test]
fn calls_that_are_given_count_in_the_loop_window() {
    let ask = ask().with("x-agent-id", "a").with("x-run-id", "r");
    let verdicts = |config: &str| {
        let mut stage = Stage::new(config);
        let mut verdicts = Vec::new();
        for number in 0..5 {
            let exchange = stage.send(&ask, &calling(Value::Null));
            assert!(
                number != 1 || (exchange.reply.is_some() == (config == WITH_CALLS)),
                "the second is given"
            );
            verdicts.push(exchange.verdict().unwrap_or("none").to_owned());
        }
        (verdicts, stage.host.slots)
    };
    let ((given, remembered), (asked, expected)) = (verdicts(WITH_CALLS), verdicts("{}"));
    assert_eq!(given, asked);
    assert_eq!(given.last().map(String::as_str), Some("hint"));
    assert_eq!(remembered, expected);
}

#[test]
fn impossible_settings_are_refused_with_their_path() {
    for (config, path) in [
        (r#"{"cache":{"similarity_threshold":1.5}}"#, "cache.similarity_threshold"),
        (r#"{"cache":{"similarity_threshold":0.8,"min_threshold":0.9}}"#, "cache.similarity_threshold"),
        (r#"{"cache":{"max_error":-1}}"#, "cache.max_error"),
        (r#"{"cache":{"sample":2}}"#, "cache.sample"),
        (r#"{"cache":{"max_turns":0}}"#, "cache.max_turns"),
        (r#"{"cache":{"max_temperature":-1}}"#, "cache.max_temperature"),
        (r#"{"cache":{"max_answer_bytes":1000000}}"#, "cache.max_answer_bytes"),
        (r#"{"cache":{"ttl":"0s"}}"#, "cache.ttl"),
        (r#"{"cache":{"wait":"2m"}}"#, "cache.wait"),
        (r#"{"cache":{"paths":["v1"]}}"#, "cache.paths[0]"),
        (r#"{"cache":{"headers":["a b"]}}"#, "cache.headers[0]"),
        (r#"{"cache":{"on":true}}"#, "cache.on"),
        (r#"{"agents":[{"name":"a","settings":{"cache":{"sample":2}}}]}"#, "agents[0].settings.cache.sample"),
    ] {
        let error = Config::from_json(config.as_bytes()).unwrap_err();
        assert_eq!(error.path, path, "{error}");
    }
}

/// What is stored is what the agent got.
#[test]
fn a_cleaned_answer_is_for_those_whose_answers_are_cleaned() {
    let config =
        r#"{"cache":{"enabled":true},"agents":[{"prefix":"tidy","settings":{"clean":{"enabled":true}}}]}"#;
    let mut stage = Stage::new(config);
    let tidy = ask().with("x-agent-id", "tidy-1");
    let mut body: Value = serde_json::from_slice(&answer().body).unwrap();
    body["choices"][0]["message"]["content"] = json!("<think>Which country?</think>Paris.");
    let answer = ProviderResponse::json(body.to_string());
    stage.send(&tidy, &answer);
    let stored: Vec<String> = stage.stored.borrow().values().map(|answer| answer.text.clone()).collect();
    assert_eq!(stored, ["Paris."]);
    assert_eq!(cache_header(&stage.send(&ask(), &answer)), "miss");
    assert_eq!(cache_header(&stage.send(&ask().with("x-agent-id", "tidy-2"), &answer)), "exact");
}

#[test]
fn calls_that_are_given_are_on_record() {
    let config = r#"{"cache":{"enabled":true,"store_tool_calls":true},"tools":{"audit":true}}"#;
    let mut stage = Stage::new(config);
    for calls in 1..=2 {
        stage.send(&ask(), &calling(Value::Null));
        let recorded = stage.host.lines("tool_call").iter().filter(|line| line.contains("look_up")).count();
        assert_eq!(recorded, calls, "{:?}", stage.host.log);
    }
    assert_eq!(stage.hits(CacheHit::Exact), 1);
}

/// With calls it is the text that is cleaned, and what is left of it is stored with them.
#[test]
fn a_cleaned_answer_with_calls_is_stored_as_the_agent_got_it() {
    let config = r#"{"cache":{"enabled":true,"store_tool_calls":true},"clean":{"enabled":true}}"#;
    for (said, left) in [
        ("<think>Which?</think>I look.", json!("I look.")),
        ("<think>Which?</think>", json!("<think>Which?</think>")),
    ] {
        let mut stage = Stage::new(config);
        stage.send(&ask(), &calling(json!(said)));
        let given = stage.send(&ask(), &answer());
        assert_eq!(cache_header(&given), "exact", "{said}");
        let message = given_message(given);
        assert_eq!((&message["content"], message["tool_calls"].as_array().unwrap().len()), (&left, 1));
    }
}
