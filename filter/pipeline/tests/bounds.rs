//! Bounds from the outside: what stays where it is while a run grows, what is counted, and what odd requests come to. What
//! each part makes of a request is in `bounds_golden`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]

use sentinel_config::{Config, Sender};
use sentinel_pipeline::{
    in_memory::{ClientRequest, Exchange, InMemory, ProviderResponse},
    metric::{Bound, Bounding, Metric},
};
use serde_json::{Value, json};

fn host(bounds: &Value) -> InMemory {
    let config = json!({"bounds": bounds, "semantic": {"enabled": false}, "max_body_bytes": 64 << 20,
        "context_windows": [{"name": "small", "tokens": 20_000}, {"name": "tiny", "tokens": 4_000}],
        "prices": [{"name": "small", "input": 4, "cached_input": 1}]});
    InMemory::new(Config::from_json(config.to_string().as_bytes()).unwrap())
}

fn send(host: &mut InMemory, messages: &[Value]) -> Exchange {
    send_to("small", host, messages)
}

fn send_to(model: &str, host: &mut InMemory, messages: &[Value]) -> Exchange {
    let body = json!({"model": model, "messages": messages});
    host.now += 1_000;
    host.exchange(
        &ClientRequest::post("/v1/chat/completions", body.to_string()),
        &ProviderResponse::json("{}"),
    )
}

fn sent(exchange: &Exchange) -> Value {
    serde_json::from_slice(exchange.sent.as_ref().unwrap()).unwrap()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn call(id: usize) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{id}"), "type": "function",
        "function": {"name": "read", "arguments": format!("{{\"n\": {id}}}")}}]})
}

fn result(id: usize, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": text})
}

/// Words that never repeat, so that no loop is seen in them.
fn words(seed: usize, characters: usize) -> String {
    let mut text = String::new();
    let mut state = seed as u64 + 1;
    while text.len() < characters {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!("{:x} ", state >> 40));
    }
    text.truncate(characters);
    text
}

/// What was sent up to the answer of the request before is unchanged in the next request.
fn keeps(before: &[u8], after: &[u8]) -> bool {
    let end = before.len() - r#"],"model":"tiny"}"#.len();
    after.len() > end && after[..end] == before[..end]
}

/// A run: every fifth turn the user says something, in all others a tool is called.
fn run(turns: usize, characters: usize) -> Vec<Vec<Value>> {
    let mut messages =
        vec![json!({"role": "system", "content": "Be brief."}), user("Look into every file, please.")];
    let mut requests = vec![messages.clone()];
    for turn in 1..turns {
        if turn % 5 == 0 {
            messages.push(json!({"role": "assistant", "content": words(turn + 1_000, 80)}));
            messages.push(user(&words(turn + 2_000, 60)));
        } else {
            messages.push(call(turn));
            messages.push(result(turn, &words(turn, characters)));
        }
        requests.push(messages.clone());
    }
    requests
}

#[test]
fn over_a_run_of_60_turns_at_most_every_8th_request_changes_an_earlier_byte() {
    let pruning = json!({"enabled": true, "soft_trim_chars": 800, "soft_trim_head": 300, "soft_trim_tail": 300,
        "min_prunable_tool_chars": 2_000});
    let all = json!({"truncation": {"enabled": true, "max_message_chars": 40, "max_tool_result_chars": 1_000}, "repair": true,
        "history_limit": 4, "pruning": pruning});
    for (characters, bounds) in
        [(1_100, &all), (1_500, &json!({ "pruning": pruning })), (300, &json!({"history_limit": 1}))]
    {
        let mut host = host(bounds);
        let mut moved = Vec::new();
        let mut before: Option<Vec<u8>> = None;
        let mut cut = 0;
        for (number, messages) in run(60, characters).iter().enumerate() {
            let now = send_to("tiny", &mut host, messages).sent.unwrap();
            if number % 16 == 0 {
                assert_eq!(
                    send_to("tiny", &mut host, messages).sent.as_ref(),
                    Some(&now),
                    "the same request, the same bytes"
                );
            }
            let whole = json!({"model": "tiny", "messages": messages}).to_string();
            cut += usize::from(now.len() < whole.len());
            if before.is_some_and(|before| !keeps(&before, &now)) {
                moved.push(number);
            }
            before = Some(now);
        }
        assert!(cut > 20 && !moved.is_empty(), "there was something to cut: {cut} {moved:?}");
        assert!(moved.len() * 8 <= 60, "{moved:?}");
        assert!(moved.windows(2).all(|pair| pair[1] - pair[0] >= 8), "{moved:?}");
    }
}

#[test]
fn a_cut_counts_characters_and_never_splits_one() {
    let mut host =
        host(&json!({"truncation": {"enabled": true, "max_message_chars": 3, "max_tool_result_chars": 4}}));
    for (text, kept) in [
        (r"\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00x", r"\ud83d\ude00\ud83d\ude00\ud83d\ude00"),
        (r"é日😀é\n", "é日😀"),
        (r#"\\\"\u00e9xy"#, r#"\\\"\u00e9"#),
    ] {
        let body = format!(r#"{{"messages":[{{"role":"user","content":"{text}"}}]}}"#);
        let passed =
            host.exchange(&ClientRequest::post("/v1/chat/completions", body), &ProviderResponse::json("{}"));
        let got = String::from_utf8(passed.sent.unwrap()).unwrap();
        let expected = format!(
            r#"{{"messages":[{{"role":"user","content":"{kept}\n\n[Message truncated: 2 characters are missing]"}}]}}"#
        );
        assert_eq!(got, expected);
    }
    let lone = r#"{"messages":[{"role":"tool","tool_call_id":"c","content":"\ud83dab\ud83d\ude00\ud83d"}]}"#;
    let passed =
        host.exchange(&ClientRequest::post("/v1/chat/completions", lone), &ProviderResponse::json("{}"));
    let expected = r#"\ud83dab\ud83d\ude00\n\n[Tool result truncated: 1 characters are missing]"#;
    assert!(String::from_utf8(passed.sent.unwrap()).unwrap().contains(expected));
    let whole = [
        user("abc"),
        call(1),
        result(1, "abcd"),
        json!({"role": "assistant", "content": "What the model says is never cut."}),
    ];
    assert_eq!(sent(&send(&mut host, &whole))["messages"], json!(whole));
}

#[test]
fn the_seeds_defaults_hold() {
    let bounds = json!({"truncation": {"enabled": true}, "pruning": {"enabled": true}});
    let policy = Config::from_json(json!({"bounds": bounds}).to_string().as_bytes()).unwrap();
    let bounds = policy.policy(Sender::default()).bounds;
    let pruning = bounds.pruning.unwrap();
    assert_eq!((bounds.message, bounds.window), (32_768, 200_000));
    assert_eq!((pruning.soft, pruning.hard, pruning.keep), (0.3, 0.5, 3));
    assert_eq!(
        (pruning.trim_above, pruning.head, pruning.tail, pruning.least_in_all),
        (4_000, 1_500, 1_500, 50_000)
    );
    assert!(Config::from_json(b"{}").unwrap().policy(Sender::default()).bounds.is_off());
    for (bounds, path) in [
        (json!({"pruning": {"soft_trim_ratio": 1.1}}), "bounds.pruning.soft_trim_ratio"),
        (json!({"pruning": {"hard_clear_ratio": 0.2}}), "bounds.pruning.hard_clear_ratio"),
        (json!({"pruning": {"soft_trim_head": 3_000}}), "bounds.pruning.soft_trim_chars"),
        (json!({"context_window": 0}), "bounds.context_window"),
        (json!({"history": 1}), "bounds.history"),
    ] {
        assert_eq!(
            Config::from_json(json!({"bounds": bounds}).to_string().as_bytes()).unwrap_err().path,
            path
        );
    }
    let windows = json!({"context_windows": [{"name": "a", "prefix": "b"}]});
    assert_eq!(Config::from_json(windows.to_string().as_bytes()).unwrap_err().path, "context_windows[0]");
}

/// A run of `results` in one window of 20,000 tokens: 80,000 bytes.
fn pruned(results: &[usize]) -> Vec<Value> {
    let mut messages = vec![json!({"role": "system", "content": words(9, 5_000)}), user(&words(8, 5_000))];
    for (id, characters) in results.iter().enumerate() {
        messages.extend([call(id), result(id, &words(id, *characters))]);
    }
    let passed = send(&mut host(&json!({"pruning": {"enabled": true}})), &messages);
    let got = sent(&passed)["messages"].as_array().unwrap().clone();
    assert_eq!((&got[0], &got[1]), (&messages[0], &messages[1]), "system and first user message stay whole");
    got.into_iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].clone())
        .collect()
}

#[test]
fn pruning_begins_at_its_shares_of_the_window() {
    let length = |text: &Value| text.as_str().unwrap().len();
    let lengths = |results: &[usize]| pruned(results).iter().map(length).collect::<Vec<_>>();
    assert_eq!(
        lengths(&[4_500, 1_000, 1_000, 1_000, 1_000]),
        [4_500, 1_000, 1_000, 1_000, 1_000],
        "under 0.3"
    );
    // Over 0.3: what is longer than 4,000 and not of the last three assistants.
    let trimmed = lengths(&[9_000, 4_000, 1_000, 9_000, 9_000]);
    assert_eq!(trimmed, [3_003, 4_000, 1_000, 9_000, 9_000]);
    // Over 0.5 with less than 50,000 characters to clear: trimmed only.
    assert_eq!(lengths(&[4_500, 4_500, 500, 500, 60_000]), [3_003, 3_003, 500, 500, 60_000]);
    // With more, the oldest are cleared until it is less than 0.5: 17 short ones and 3 protected.
    let cleared = lengths(&[[3_900; 17].as_slice(), &[500; 3]].concat());
    let placeholder = "[Old tool result content cleared]".len();
    let gone = cleared.iter().take_while(|length| **length == placeholder).count();
    assert!(gone > 3 && gone < 17, "{cleared:?}");
    assert!(cleared[gone..17].iter().all(|length| *length == 3_900), "{cleared:?}");
    assert_eq!(cleared[17..], [500; 3]);
}

#[test]
fn the_last_user_turns_stay_with_all_that_belongs_to_them() {
    let mut messages = vec![json!({"role": "system", "content": "Be brief."})];
    for turn in 0..3 {
        messages.extend([
            user(&words(turn, 40)),
            call(turn),
            result(turn, "ok"),
            json!({"role": "assistant", "content": "So."}),
        ]);
    }
    messages.insert(6, json!({"role": "developer", "content": "An instruction in between."}));
    messages.push(user("And now?"));
    let got = sent(&send(&mut host(&json!({"history_limit": 3})), &messages));
    let kept: Vec<Value> = messages[..1].iter().chain(&messages[5..]).cloned().collect();
    assert_eq!(got["messages"], json!(kept));
    assert_eq!(sent(&send(&mut host(&json!({"history_limit": 4})), &messages))["messages"], json!(messages));
}

#[test]
fn the_model_is_told_once_before_its_window_is_full() {
    let mut host = host(&json!({"memory_flush": {"enabled": true, "tokens_left": 5_000}}));
    let mut told = Vec::new();
    for (number, messages) in run(40, 3_000).iter().enumerate() {
        let passed = send(&mut host, messages);
        if passed.verdict() == Some("hint") {
            assert_eq!(passed.header("x-sentinel-reason"), Some("memory_flush"));
            assert_eq!(send(&mut host, messages).sent, passed.sent, "a retry is told the same");
            let got = sent(&passed)["messages"].as_array().unwrap().clone();
            assert_eq!(got.len(), messages.len());
            assert!(got.last().unwrap()["content"].as_str().unwrap().contains("Store durable memories now"));
            told.push((number, json!(messages).to_string().len()));
        } else {
            assert_eq!(sent(&passed)["messages"], json!(messages));
        }
    }
    let [(_, bytes)] = told.as_slice() else { panic!("{told:?}") };
    assert!((60_000..63_500).contains(bytes), "15,000 tokens: {bytes}");
}

#[test]
fn a_loop_is_told_before_a_memory_is_stored_and_is_judged_on_what_the_client_sent() {
    // After the cut all results look the same. Whole, each is different, so nothing is repeated.
    let same = words(1, 500);
    let mut messages = vec![user("Look into the build.")];
    for turn in 0..5 {
        let mut poll = call(7);
        poll["tool_calls"][0]["id"] = json!(format!("c{turn}"));
        messages.extend([poll, result(turn, &format!("{same} {}", words(turn + 50, 200)))]);
    }
    let bounds = json!({"truncation": {"enabled": true, "max_tool_result_chars": 400}});
    let passed = send(&mut host(&bounds), &messages);
    assert_eq!(passed.verdict(), Some("allow"));
    assert!(sent(&passed)["messages"][2]["content"].as_str().unwrap().contains("characters are missing"));
    // The other way round: what is cleared repeats all the same.
    for message in messages.iter_mut().filter(|message| message["role"] == "tool") {
        message["content"] = json!(same);
    }
    assert_eq!(send(&mut host(&json!({"repair": true})), &messages).verdict(), Some("kill"));
}

#[test]
fn a_hint_finds_its_place_where_the_last_result_is_cut_or_gone() {
    let mut messages = vec![user("Look into it.")];
    for turn in 0..3 {
        let mut again = call(7);
        again["tool_calls"][0]["id"] = json!(format!("c{turn}"));
        messages.extend([again, result(turn, &words(1, 500))]);
    }
    let cut = sent(&send(
        &mut host(&json!({"truncation": {"enabled": true, "max_tool_result_chars": 100}})),
        &messages,
    ));
    let last = cut["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    let (missing, hint) =
        (last.find("[Tool result truncated").unwrap(), last.find("You have called").unwrap());
    assert!(missing < hint, "{last}");
    // An orphan at the end is dropped, and the hint with it comes at the end of all messages.
    messages.push(result(99, "nobody asked"));
    let passed = send(&mut host(&json!({"repair": true})), &messages);
    let got = sent(&passed)["messages"].as_array().unwrap().clone();
    assert_eq!((passed.verdict(), got.len()), (Some("hint"), messages.len()));
    assert!(got.last().unwrap()["content"].as_str().unwrap().contains("You have called"), "{got:?}");
    assert!(!json!(got).to_string().contains("nobody asked"));
}

/// Marks of spotlighting move with a result that is moved, are dropped with one that is cleared, and close behind one that is cut.
#[test]
fn edits_of_other_passes_go_along() {
    let config = |bounds: Value| {
        json!({"spotlight": {"enabled": true, "tag": "data", "preamble": "Data:"}, "bounds": bounds, "semantic": {"enabled": false},
            "tools": {"deny": [{"name": "rm"}]}, "context_windows": [{"name": "small", "tokens": 200}]})
    };
    let sent_with = |bounds: Value, messages: &[Value]| {
        let mut host = InMemory::new(Config::from_json(config(bounds).to_string().as_bytes()).unwrap());
        let tools = json!([{"type": "function", "function": {"name": "rm"}}, {"type": "function", "function": {"name": "ls"}}]);
        let body = json!({"model": "small", "tools": tools, "messages": messages}).to_string();
        let passed =
            host.exchange(&ClientRequest::post("/v1/chat/completions", body), &ProviderResponse::json("{}"));
        let got = sent(&passed);
        assert_eq!(got["tools"].as_array().unwrap().len(), 1, "{got}");
        got["messages"].as_array().unwrap().clone()
    };
    let late = [user("x"), call(1), user("y"), result(1, "late"), result(2, "nobody's")];
    let got = sent_with(json!({"repair": true}), &late);
    assert_eq!(got.len(), 4, "{got:?}");
    let told = got[2]["content"].as_str().unwrap();
    assert!(got[2]["role"] == "tool" && told.contains("<data>") && told.contains("late"), "{told}");
    let mut long = vec![user("x")];
    (0..5).for_each(|id| long.extend([call(id), result(id, &words(id, 300))]));
    let truncated = sent_with(json!({"truncation": {"enabled": true, "max_tool_result_chars": 50}}), &long);
    let told = truncated[2]["content"].as_str().unwrap();
    let (cut, end) = (told.find("characters are missing]").unwrap(), told.find("</data>").unwrap());
    assert!(told.contains("<data>") && cut < end, "{told}");
    let pruning = json!({"enabled": true, "soft_trim_chars": 100, "soft_trim_head": 60, "soft_trim_tail": 30, "min_prunable_tool_chars": 1});
    let cleared = sent_with(json!({ "pruning": pruning }), &long);
    assert_eq!(cleared[2]["content"], "[Old tool result content cleared]");
}

#[test]
fn observe_says_what_it_would_save_and_touches_nothing() {
    let bounds = json!({"truncation": {"enabled": true, "max_tool_result_chars": 5_000}, "history_limit": 4,
        "pruning": {"enabled": true, "min_prunable_tool_chars": 1_000}, "repair": true});
    let requests = run(30, 6_000);
    let (mut enforcing, mut observing) = (host(&bounds), host(&bounds));
    observing.config = {
        let config = json!({"mode": "observe", "bounds": bounds, "semantic": {"enabled": false}, "max_body_bytes": 64 << 20,
            "context_windows": [{"name": "small", "tokens": 20_000}],
            "prices": [{"name": "small", "input": 4, "cached_input": 1}]});
        std::sync::Arc::new(Config::from_json(config.to_string().as_bytes()).unwrap())
    };
    let mut saved = 0;
    for messages in &requests {
        let body = json!({"model": "small", "messages": messages}).to_string();
        saved += body.len() - send(&mut enforcing, messages).sent.unwrap().len();
        assert_eq!(send(&mut observing, messages).sent, Some(body.into_bytes()));
    }
    let mut tokens = 0;
    for kind in [Bounding::Truncation, Bounding::History, Bounding::Pruning] {
        let metric = || Metric::BoundsTokens(kind, "openai_chat");
        assert_eq!(observing.counted(metric()), enforcing.counted(metric()), "{kind:?}");
        let money = observing.counted(Metric::BoundsSaved(kind));
        let counted = observing.counted(metric());
        assert!(
            counted > 0 && money >= counted * 1_000 && money < counted * 4_000,
            "{kind:?} {counted} {money}"
        );
        tokens += counted;
    }
    // Commas and rounding apart, these are the bytes that were not sent.
    let saved = u64::try_from(saved / 4).unwrap();
    assert!(tokens.abs_diff(saved) * 100 < saved, "{tokens} {saved}");
    for bound in [Bound::ResultTruncated, Bound::MessageDropped, Bound::ResultTrimmed, Bound::ResultCleared] {
        assert!(observing.counted(Metric::Bounds(bound, "openai_chat")) > 0, "{bound:?}");
    }
    assert_eq!(observing.counted(Metric::Bounds(Bound::ResultMade, "openai_chat")), 0);
}

#[test]
fn each_agent_has_bounds_of_its_own() {
    let config = json!({"agents": [{"name": "chatty", "settings": {"bounds": {"truncation": {"enabled": true, "max_message_chars": 4}}}}]});
    let mut host = InMemory::new(Config::from_json(config.to_string().as_bytes()).unwrap());
    let body = json!({"messages": [user("A long story.")]}).to_string();
    let request = ClientRequest::post("/v1/chat/completions", body.clone());
    assert_eq!(host.exchange(&request, &ProviderResponse::json("{}")).sent, Some(body.clone().into_bytes()));
    let chatty = host.exchange(&request.with("x-agent-id", "chatty"), &ProviderResponse::json("{}"));
    assert!(chatty.sent.unwrap() != body.into_bytes());
}

fn all() -> Value {
    json!({"truncation": {"enabled": true}, "repair": true, "history_limit": 20, "pruning": {"enabled": true},
        "memory_flush": {"enabled": true}})
}

#[test]
fn odd_requests_pass_as_they_are() {
    for body in [
        json!({"messages": {"role": "user"}}),
        json!({"messages": []}),
        json!({"messages": [7, null, "x"]}),
        json!({"messages": [{"role": "user", "content": [7, {"type": "text"}]}]}),
        json!({"messages": [{"role": "user", "content": null}]}),
        json!({"messages": [{"role": 7, "content": {"a": 1}}]}),
        json!({"messages": [user("x")], "tools": 7}),
        json!({"messages": [{"role": "assistant", "tool_calls": "none"}]}),
    ] {
        let body = body.to_string();
        for path in ["/v1/chat/completions", "/v1/messages", "/model/m/converse"] {
            let mut host = host(&all());
            let passed =
                host.exchange(&ClientRequest::post(path, body.clone()), &ProviderResponse::json("{}"));
            assert_eq!(passed.sent, Some(body.clone().into_bytes()), "{path}");
        }
    }
}

#[test]
fn large_and_hostile_requests_pass_in_bounds() {
    // 5,000 turns.
    let mut messages = vec![user("Look into every file, please.")];
    for turn in 0..5_000 {
        messages.extend([call(turn), result(turn, &words(turn, 120))]);
    }
    let got = sent(&send(&mut host(&all()), &messages));
    assert_eq!(got["messages"].as_array().unwrap().len(), messages.len());
    // 5,000 results of one call, then as many calls of one id.
    let strays: Vec<Value> = (0..5_000).map(|_| result(1, "x")).collect();
    let got =
        sent(&send(&mut host(&all()), &[[user("x"), call(1)].as_slice(), &strays, &[user("y")]].concat()));
    assert_eq!(got["messages"].as_array().unwrap().len(), 4);
    let calls: Vec<Value> = (0..3_000).map(|_| call(1)["tool_calls"][0].clone()).collect();
    let got = sent(&send(
        &mut host(&all()),
        &[user("x"), json!({"role": "assistant", "tool_calls": calls}), user("y")],
    ));
    assert_eq!(got["messages"].as_array().unwrap().len(), 3_003);
    // A message of 1 MB in characters of four bytes.
    let mega = "😀".repeat(262_144);
    let got = sent(&send(&mut host(&all()), &[user(&mega)]));
    let text = got["messages"][0]["content"].as_str().unwrap();
    assert!(
        text.starts_with(&"😀".repeat(32_768))
            && text.ends_with("[Message truncated: 229376 characters are missing]")
    );
    // Lone surrogates, and results that are nested.
    let nested = format!("{}\"x\"{}", "[".repeat(100), "]".repeat(100));
    let body = format!(
        r#"{{"contents":[{{"parts":[{{"text":"{}"}}]}},{{"role":"model","parts":[{{"functionCall":{{"name":"f"}}}}]}},{{"parts":[{{"functionResponse":{{"name":"f","response":{{"a":{nested}}}}}}},{{"functionResponse":{{"name":"f","response":7}}}}]}}]}}"#,
        r"\ud83d".repeat(40_000)
    );
    let path = "/v1beta/models/gemini-2.5-flash:generateContent";
    let passed =
        host(&all()).exchange(&ClientRequest::post(path, body.clone()), &ProviderResponse::json("{}"));
    assert!(passed.reply.is_none());
}
