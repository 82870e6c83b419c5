//! The response cache through the real Envoy and the real service: what is given, in every dialect and form, and what never is.

use std::time::Duration;

use sentinel_harness::client::{self, Response};
use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::provider::{Answer, Gate, Piece, Reply, faithful, speak};
use sentinel_harness::redis::Redis;
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

use crate::support::CHAT;

const ASK: &str = "How do I reset my password?";
const REWORDED: &str = "How can I reset my password?";
const TRAP: &str = "How do I not reset my password?";

fn on() -> Value {
    json!({"cache": {"enabled": true}, "prices": [{"prefix": "gpt", "input": 0.15, "output": 0.6}]})
}

fn caching(settings: &[(&str, &str)]) -> Stack {
    caching_with(&on(), settings)
}

fn caching_with(config: &Value, settings: &[(&str, &str)]) -> Stack {
    let settings: Vec<_> = [("LOOP_CACHE", "true")].into_iter().chain(settings.iter().copied()).collect();
    Stack::builder().config(config).service_with(&settings).start()
}

/// Asks without a name, so that no loop signal compares the requests.
async fn ask(
    stack: &Stack,
    dialect: Dialect,
    stream: bool,
    text: &str,
    headers: &[(&str, &str)],
) -> Response {
    let body = dialect.ask(text, stream).to_string();
    client::post(stack.address(), dialect.path(stream), headers, body).await
}

/// Waits for something; fails with `what` when patience has run out.
async fn until<T>(what: &str, mut ready: impl AsyncFnMut() -> Option<T>) -> T {
    let mut found = None;
    eventually(what, async || {
        found = ready().await;
        found.is_some()
    })
    .await;
    found.expect("it is there")
}

/// An answer that was cut off by its length.
fn unfinished(text: &str) -> Answer {
    let message = json!({"role": "assistant", "content": text});
    Answer::json(
        200,
        &json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "length", "message": message}]}),
    )
}

fn cache(response: &Response) -> &str {
    response.header("x-sentinel-cache").unwrap_or("none")
}

/// Asks until the answer is stored, which happens behind the response.
async fn stored(stack: &Stack, dialect: Dialect, stream: bool, text: &str) -> Response {
    until(&format!("a stored answer, {dialect:?}"), async || {
        let response = ask(stack, dialect, stream, text, &[]).await;
        (cache(&response) == "exact").then_some(response)
    })
    .await
}

fn bypasses(stack: &Stack, cause: &str) -> u64 {
    stack.count("sentinel_cache_bypasses_total", &[("cause", cause)])
}

/// Waits until a bypass is counted, which happens after the response.
async fn bypassed(stack: &Stack, cause: &str, times: u64) {
    until(cause, async || (bypasses(stack, cause) >= times).then_some(())).await;
}

/// Fails if an answer that was sent before is given from the cache.
async fn nothing_is_stored(stack: &Stack, text: &str) {
    // Answers are stored in order. Once this later answer is stored, an earlier one would be stored too.
    stored(stack, CHAT, false, &format!("{text} Or whatever else?")).await;
    let again = ask(stack, CHAT, false, text, &[]).await;
    assert_eq!(cache(&again), "miss");
}

#[tokio::test]
async fn the_same_question_and_a_rewording_are_answered_and_a_trap_is_not() {
    let mut stack = caching(&[]);
    assert_eq!(cache(&ask(&stack, CHAT, false, ASK, &[]).await), "miss");
    let exact = stored(&stack, CHAT, false, ASK).await;
    assert_eq!(CHAT.answer_text(&exact.body), text_for(ASK));
    assert_eq!((exact.status, exact.header("x-sentinel-similarity")), (200, Some("1.0000")));
    assert!(exact.header("age").is_some() && exact.header("content-type") == Some("application/json"));

    // What the provider says now is never stored: other words are answered from the cache, or not at all.
    stack.provider.script(|_| unfinished("Something else."));
    let semantic = until("an answer to other words", async || {
        let response = ask(&stack, CHAT, false, REWORDED, &[]).await;
        (cache(&response) == "semantic").then_some(response)
    })
    .await;
    assert_eq!(CHAT.answer_text(&semantic.body), text_for(ASK));
    let similarity: f64 = semantic.header("x-sentinel-similarity").unwrap().parse().unwrap();
    assert!((0.875..1.0).contains(&similarity), "{similarity}");
    stack.provider.script(faithful);
    let calls = stack.provider.count();
    let trap = ask(&stack, CHAT, false, TRAP, &[]).await;
    assert_eq!((cache(&trap), CHAT.answer_text(&trap.body)), ("miss", text_for(TRAP)));
    assert!(stack.provider.count() > calls, "the trap is the provider's");

    let hits = |kind| stack.count("sentinel_cache_hits_total", &[("type", kind)]);
    assert!(hits("exact") >= 1 && hits("miss") >= 2, "{} {}", hits("exact"), hits("miss"));
    assert!(stack.count("sentinel_saved_nanousd_total", &[]) > 0);
    assert!(stack.count("sentinel_saved_tokens_total", &[]) > 0);
    stack.assert_sound();
}

#[tokio::test]
async fn json_answers_a_stream_and_a_stream_json_in_every_dialect() {
    let mut stack = caching(&[]);
    for dialect in Dialect::ALL {
        for (stream, text) in [(false, "Which river is the longest?"), (true, "Which lake is the deepest?")] {
            stored(&stack, dialect, stream, text).await;
            let other = ask(&stack, dialect, !stream, text, &[]).await;
            assert_eq!(cache(&other), "exact", "{dialect:?} {stream}");
            assert_eq!(dialect.answer_text(&other.body), text_for(text), "{dialect:?} {stream}");
            let expected = if stream { "application/json" } else { dialect.stream_type() };
            assert_eq!(other.header("content-type"), Some(expected), "{dialect:?} {stream}");
        }
    }
    stack.assert_sound();
}

/// Where the provider would keep the answer or think before it, the request says that it is not to.
async fn ask_for_a_call(stack: &Stack, dialect: Dialect, stream: bool, text: &str) -> Response {
    let mut body = dialect.ask(text, stream);
    match dialect {
        Dialect::OpenaiResponses => body["store"] = json!(false),
        Dialect::GeminiInteractions => body["generation_config"] = json!({"thinking_level": "minimal"}),
        _ => {}
    }
    client::post(stack.address(), dialect.path(stream), &[], body.to_string()).await
}

/// With an id of its own each time, and for no other words.
#[tokio::test]
async fn calls_are_given_in_both_forms_in_every_dialect() {
    let config = json!({"cache": {"enabled": true, "store_tool_calls": true}});
    let redis = Redis::start();
    let mut stack = caching_with(&config, &[("REDIS_URL", &redis.url())]);
    let arguments = json!({"city": "Hamburg", "days": [1, 2.5], "note": "\"Stöp\"\n"});
    let reply = Reply::Tool { name: "get_weather".into(), arguments: arguments.clone() };
    stack.provider.script(move |request| speak(request, &reply));
    for dialect in Dialect::ALL {
        for (stream, text) in [(false, "How far is it to Hamburg?"), (true, "How wide is Hamburg?")] {
            let asked = ask_for_a_call(&stack, dialect, stream, text).await;
            let (same, other) = until(&format!("a stored call, {dialect:?} {stream}"), async || {
                let same = ask_for_a_call(&stack, dialect, stream, text).await;
                let other = ask_for_a_call(&stack, dialect, !stream, text).await;
                (cache(&same) == "exact" && cache(&other) == "exact").then_some((same, other))
            })
            .await;
            let mut ids = Vec::new();
            for response in [&asked, &same, &other] {
                let calls = dialect.answer_calls(&response.body);
                let [(id, name, given)] = calls.as_slice() else { panic!("{dialect:?} {stream}: {calls:?}") };
                assert_eq!((name.as_str(), given), ("get_weather", &arguments), "{dialect:?} {stream}");
                ids.push(id.clone());
            }
            ids.sort();
            ids.dedup();
            let number = if dialect == Dialect::Gemini { 1 } else { 3 };
            assert_eq!(ids.len(), number, "{dialect:?} {stream}: {ids:?}");
            let expected = if stream { "application/json" } else { dialect.stream_type() };
            assert_eq!(other.header("content-type"), Some(expected), "{dialect:?} {stream}");
        }
    }
    assert_eq!(
        cache(&ask_for_a_call(&stack, CHAT, false, "Could you tell me how far it is to Hamburg?").await),
        "miss"
    );
    assert_eq!(stack.count("sentinel_cache_hits_total", &[("type", "semantic")]), 0);
    // Kept by the provider, who knows each call by its id.
    let kept = ask(&stack, Dialect::OpenaiResponses, false, ASK, &[]).await;
    assert_eq!(cache(&kept), "miss");
    bypassed(&stack, "kept", 1).await;
    stack.assert_sound();
}

#[tokio::test]
async fn tenants_get_answers_of_their_own() {
    let stack = caching(&[]);
    let [one, other] = ["one", "other"].map(|tenant| [("x-tenant-id", tenant)]);
    until("a stored answer", async || {
        let response = ask(&stack, CHAT, false, ASK, &one).await;
        (cache(&response) == "exact").then_some(())
    })
    .await;
    assert_eq!(cache(&ask(&stack, CHAT, false, ASK, &other).await), "miss");
    assert_eq!(cache(&ask(&stack, CHAT, false, ASK, &[]).await), "miss");
    assert_eq!(cache(&ask(&stack, CHAT, false, ASK, &[("authorization", "Bearer k")]).await), "miss");
}

#[tokio::test]
async fn a_loop_is_hinted_and_stopped_and_its_answers_are_not_kept() {
    let mut stack = caching(&[]);
    let body = CHAT.ask(ASK, false).to_string();
    let mut seen = Vec::new();
    for _ in 0..6 {
        let response = stack.post(CHAT, &[("x-agent-id", "a"), ("x-run-id", "r")], body.clone()).await;
        seen.push((cache(&response).to_owned(), response.verdict().to_owned()));
        // What is stored is given to the next.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let verdicts: Vec<&str> = seen.iter().map(|(_, verdict)| verdict.as_str()).collect();
    assert!(verdicts.contains(&"hint") && verdicts.last() == Some(&"kill"), "{seen:?}");
    for (cache, verdict) in &seen {
        assert!(verdict == "allow" || cache == "bypass", "{seen:?}");
    }
    assert!(bypasses(&stack, "loop") >= 2);
    stack.assert_sound();
}

#[tokio::test]
async fn what_is_no_whole_plain_answer_is_never_stored() {
    let stack = caching(&[]);
    let cut = |request: &_| {
        let mut whole = speak(request, &Reply::Text("half of it".into()));
        // A provider that sends all at once is cut off within.
        if let [Piece::Bytes(only)] = whole.pieces.as_mut_slice() {
            only.truncate(only.len() / 2);
        }
        let pieces = whole.pieces.len();
        whole.cut_after(pieces.div_ceil(2))
    };
    for dialect in Dialect::ALL {
        stack.provider.script(cut);
        let before = bypasses(&stack, "answer_incomplete") + bypasses(&stack, "answer_other");
        let body = dialect.ask(ASK, true).to_string();
        let mut streaming = client::stream(stack.address(), dialect.path(true), &[], body).await;
        assert!(!streaming.to_its_end().await, "{dialect:?}");
        until("the count of a cut-off", async || {
            let now = bypasses(&stack, "answer_incomplete") + bypasses(&stack, "answer_other");
            (now > before).then_some(())
        })
        .await;
        stack.provider.script(faithful);
        assert_eq!(cache(&ask(&stack, dialect, false, ASK, &[]).await), "miss", "{dialect:?}");
    }
}

/// Clients close the connection once they have read the last event. In Gemini's streams only the end of the body says that nothing
/// more comes.
#[tokio::test]
async fn what_has_come_to_its_last_event_is_stored_though_the_client_leaves() {
    let mut stack = caching(&[]);
    for dialect in Dialect::ALL {
        let (report, mut sent) = tokio::sync::mpsc::unbounded_channel();
        stack.provider.script(move |request: &_| {
            let mut answer = faithful(request);
            let lengths = answer
                .pieces
                .iter()
                .map(|piece| if let Piece::Bytes(bytes) = piece { bytes.len() } else { 0 });
            report.send(lengths.sum::<usize>()).expect("the test goes on");
            answer.pieces.push(Piece::Await(Gate::closed()));
            answer
        });
        let text = format!("{ASK} ({})", dialect.label());
        let body = dialect.ask(&text, true).to_string();
        let mut streaming = client::stream(stack.address(), dialect.path(true), &[], body).await;
        let mut missing = sent.recv().await.expect("the provider answers");
        while missing > 0 {
            missing -= streaming.chunk().await.expect("the answer is not over").len();
        }
        drop(streaming);
        if dialect == Dialect::Gemini {
            bypassed(&stack, "answer_incomplete", 1).await;
            continue;
        }
        // Nothing that the provider says from here on is stored.
        stack.provider.script(|_: &_| Answer::json(503, &json!({"error": {"message": "overloaded"}})));
        stored(&stack, dialect, true, &text).await;
    }
    assert_eq!(bypasses(&stack, "answer_incomplete"), 1);
    stack.assert_sound();
}

#[tokio::test]
async fn errors_other_types_codings_and_sizes_are_counted_by_their_cause() {
    let mut stack = caching(&[]);
    let whole = |text: &str| {
        json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": text}}]})
        .to_string()
    };
    let of =
        |content_type: &str, body: String| Answer::of(200, content_type, vec![Piece::Bytes(body.into())]);
    let events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"overloaded\"}}\n\ndata: [DONE]\n\n";
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let calling = json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "tool_calls": [call]}}]});
    let cases: Vec<(&str, bool, Answer)> = vec![
        ("answer_other", true, of("text/event-stream", events.to_owned())),
        ("answer_form", false, of("text/plain", whole("a"))),
        ("answer_form", false, of("application/json", whole("a")).with("content-encoding", "gzip")),
        ("answer_form", true, of("application/json", whole("a"))),
        ("answer_length", false, of("application/json", whole(&"x".repeat(100_000)))),
        ("answer_incomplete", false, of("application/json", whole(&"x".repeat(2_000_000)))),
        ("answer_incomplete", false, of("application/json", "{\"choices\":[{".to_owned())),
        ("answer_status", false, Answer::json(500, &json!({"error": {"message": "x"}}))),
        ("answer_status", false, Answer::json(201, &serde_json::from_str(&whole("a")).unwrap())),
        ("answer_other", false, Answer::json(200, &json!({"error": {"message": "x"}, "choices": []}))),
        ("answer_other", false, Answer::json(200, &calling)),
    ];
    for (number, (cause, stream, answer)) in cases.into_iter().enumerate() {
        let before = bypasses(&stack, cause);
        let sent = answer.clone();
        stack.provider.script(move |_| sent.clone());
        let text = format!("{ASK} Case {}.", text_for(&number.to_string()));
        let response = ask(&stack, CHAT, stream, &text, &[]).await;
        assert_eq!((cache(&response), response.status), ("miss", answer.status), "{cause}");
        bypassed(&stack, cause, before + 1).await;
        stack.provider.script(faithful);
        assert_eq!(cache(&ask(&stack, CHAT, false, &text, &[]).await), "miss", "{number} {cause}");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn forged_bodies_are_no_way_into_another_partition() {
    let mut stack = caching(&[]);
    stored(&stack, CHAT, false, ASK).await;
    let messages = format!(r#"[{{"role":"user","content":"{ASK}"}}]"#);
    let other = r#"[{"role":"user","content":"Say something else."}]"#;
    for (body, cause) in [
        (format!(r#"{{"model":"gpt-4o-mini","model":"gpt-4o","messages":{messages}}}"#), "shape"),
        (
            format!(r#"{{"model":"gpt-4o-mini","temperature":0,"temperature":1,"messages":{messages}}}"#),
            "duplicate_key",
        ),
        (format!(r#"{{"model":"gpt-4o-mini","messages":{messages},"messages":{other}}}"#), "shape"),
        (format!(r#"{{"model":"gpt-4o-mini","messages":{messages},"mess\u0061ges":{other}}}"#), "shape"),
        (format!(r#"{{"model":"gpt-4o-mini","x":"\ud800","messages":{messages}}}"#), "escape"),
        (
            format!(r#"{{"model":"gpt-4o-mini","x":{{"a":1,"\u0061":2}},"messages":{messages}}}"#),
            "duplicate_key",
        ),
    ] {
        let calls = stack.provider.count();
        let response = client::post(stack.address(), CHAT.path(false), &[], body.clone()).await;
        assert!(matches!(cache(&response), "bypass" | "none"), "{body}");
        assert_eq!(stack.provider.count(), calls + 1, "{body}");
        let counted = bypasses(&stack, cause) + stack.count("sentinel_bypasses_total", &[("cause", cause)]);
        assert!(counted >= 1, "{cause}: {body}");
    }
    // Said in other JSON it is the same request.
    let same = format!(
        "{{ \"m\\u006fdel\" : \"gpt-4o-mini\",\n\"messages\":[{{\"content\":\"{ASK}\",\"role\":\"user\"}}] }}"
    );
    let response = client::post(stack.address(), CHAT.path(false), &[], same).await;
    assert_eq!(cache(&response), "exact");
    stack.assert_sound();
}

#[tokio::test]
async fn what_asks_for_now_is_neither_looked_up_nor_stored() {
    let mut stack = caching(&[]);
    let asked = [
        "What time is it?",
        "Where is my last order?",
        "What is the latest price of copper?",
        "Which trains to Basel are late today?",
        "Was kostet Gold heute?",
        "Quelle heure est-il ?",
        "¿Qué hora es?",
        "现在几点?",
    ];
    let mut times = 0;
    for dialect in Dialect::ALL {
        for text in asked {
            for _ in 0..2 {
                let calls = stack.provider.count();
                let response = ask(&stack, dialect, false, text, &[]).await;
                assert_eq!((cache(&response), response.status), ("bypass", 200), "{dialect:?}, {text}");
                assert_eq!(stack.provider.count(), calls + 1, "{dialect:?}, {text}");
                times += 1;
            }
        }
        bypassed(&stack, "now", times).await;
    }
    assert_eq!(bypasses(&stack, "now"), times);
    // Nothing else was looked up.
    for kind in ["exact", "semantic", "miss"] {
        assert_eq!(stack.count("sentinel_cache_hits_total", &[("type", kind)]), 0, "{kind}");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn cache_control_is_obeyed() {
    let stack = caching(&[]);
    assert_eq!(cache(&ask(&stack, CHAT, false, ASK, &[("cache-control", "no-store")]).await), "bypass");
    nothing_is_stored(&stack, ASK).await;
    stored(&stack, CHAT, false, ASK).await;
    let calls = stack.provider.count();
    for directive in ["no-store", "no-cache"] {
        assert_eq!(cache(&ask(&stack, CHAT, false, ASK, &[("cache-control", directive)]).await), "bypass");
    }
    assert_eq!(stack.provider.count(), calls + 2);
}

/// The header may come twice.
#[tokio::test]
async fn every_value_of_a_header_counts() {
    let stack = caching(&[]);
    let body = Dialect::Anthropic.ask(ASK, false).to_string();
    let send = async |betas: &[&str]| {
        let headers: Vec<_> = betas.iter().map(|beta| ("anthropic-beta", *beta)).collect();
        client::post(stack.address(), Dialect::Anthropic.path(false), &headers, body.clone()).await
    };
    until("a stored answer", async || (cache(&send(&["a"]).await) == "exact").then_some(())).await;
    assert_eq!(cache(&send(&["a", "b"]).await), "miss");
    assert_eq!(cache(&send(&["b"]).await), "miss");
}

#[tokio::test]
async fn without_its_store_everything_goes_to_the_provider() {
    let mut redis = Redis::start();
    let url = redis.url();
    let mut stack = caching(&[("REDIS_URL", &url)]);
    stored(&stack, CHAT, false, ASK).await;
    redis.kill();
    let response = ask(&stack, CHAT, false, ASK, &[]).await;
    assert_eq!((response.status, cache(&response)), (200, "bypass"));
    assert_eq!(CHAT.answer_text(&response.body), text_for(ASK));
    assert!(bypasses(&stack, "store_unavailable") + bypasses(&stack, "service") >= 1);
    stack.assert_sound();
}

#[tokio::test]
async fn a_service_whose_cache_is_off_is_a_bypass() {
    let stack = Stack::builder().config(&on()).service_with(&[("LOOP_CACHE", "false")]).start();
    let response = ask(&stack, CHAT, false, ASK, &[]).await;
    assert_eq!((response.status, cache(&response)), (200, "bypass"));
    assert_eq!(bypasses(&stack, "disabled"), 1);
}

#[tokio::test]
async fn observing_changes_nothing() {
    let config = json!({"mode": "observe", "cache": {"enabled": true}});
    let stack = Stack::builder().config(&config).service_with(&[("LOOP_CACHE", "true")]).start();
    until("what would have been given", async || {
        let calls = stack.provider.count();
        let response = ask(&stack, CHAT, false, ASK, &[]).await;
        assert_eq!((cache(&response), stack.provider.count()), ("none", calls + 1));
        let exact = stack.count("sentinel_cache_hits_total", &[("type", "exact")]);
        (exact > 0).then_some(())
    })
    .await;
    assert!(stack.envoy.log().contains(r#""event":"cache_hit""#));
    assert!(!stack.envoy.log().contains("password"));
}
