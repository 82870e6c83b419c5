//! Each pass alone, no pass, and all passes: a request of a run of tool calls that ends with new results, and an answer. The
//! settings give each pass something to do.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use sentinel_config::Config;
use sentinel_pipeline::in_memory::{ClientRequest, InMemory, ProviderResponse};
use serde_json::{Value, json};

use crate::{conversation::Dice, run};

/// In kB.
const SIZES: [usize; 2] = [16, 256];

/// The settings of each pass that looks at requests.
fn settings() -> [(&'static str, Value); 11] {
    let bounds = |bounds: Value| json!({ "bounds": bounds });
    let cuts = json!({"enabled": true, "max_message_chars": 20, "max_tool_result_chars": 100});
    let pruning = json!({"enabled": true, "soft_trim_chars": 100, "soft_trim_head": 10, "soft_trim_tail": 10,
        "min_prunable_tool_chars": 1_000});
    let window = json!([{"name": "gpt-5-mini", "tokens": 2_000}]);
    [
        ("off", json!({})),
        ("tools", json!({"tools": {"deny": [{"name": "shell"}], "audit": true}})),
        ("guard", json!({"guard": {"user": "warn", "tool": "warn"}})),
        ("spotlight", json!({"spotlight": {"enabled": true}})),
        ("truncation", bounds(json!({"truncation": {"enabled": true}}))),
        ("truncation_cuts", bounds(json!({ "truncation": cuts }))),
        ("repair", bounds(json!({"repair": true}))),
        ("history", bounds(json!({"history_limit": 1}))),
        ("pruning", json!({"context_windows": window, "bounds": {"pruning": pruning}})),
        ("memory_flush", bounds(json!({"memory_flush": {"enabled": true}}))),
        (
            "all",
            json!({"tools": {"deny": [{"name": "shell"}], "audit": true}, "guard": {"user": "warn", "tool": "warn"},
                "spotlight": {"enabled": true}, "context_windows": window, "bounds": {"truncation": {"enabled": true}, "repair": true,
                "history_limit": 9, "memory_flush": {"enabled": true}, "pruning": pruning}}),
        ),
    ]
}

fn host(settings: &Value) -> InMemory {
    let mut config = json!({"max_body_bytes": 16 << 20, "semantic": {"enabled": false}, "guard": {"user": "off", "tool": "off"}});
    if let (Some(config), Some(settings)) = (config.as_object_mut(), settings.as_object()) {
        config.extend(settings.clone());
    }
    InMemory::new(Config::from_json(config.to_string().as_bytes()).expect("a configuration"))
}

/// A request of a run, of 16 and of 256 kB.
pub fn requests(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("passes");
    let step = run(2).len().saturating_sub(run(1).len()).max(1);
    let tools = r#","tools":[{"type":"function","function":{"name":"look_up"}},{"type":"function","function":{"name":"shell"}}],"stream":false}"#;
    for kb in SIZES {
        let body = run(kb.saturating_mul(1024).checked_div(step).unwrap_or(1));
        let request = ClientRequest::post("/v1/chat/completions", body.replace(r#","stream":false}"#, tools));
        let answer = ProviderResponse::json("{}");
        group.throughput(Throughput::Bytes(u64::try_from(request.body.len()).unwrap_or(0)));
        for (pass, settings) in settings() {
            let mut host = host(&settings);
            let sent = host.exchange(&request, &answer).sent;
            let is_changed = sent.is_some_and(|sent| sent != request.body);
            let edits = ["tools", "spotlight", "truncation_cuts", "pruning", "all"].contains(&pass);
            assert_eq!(is_changed, edits, "{pass} does what it says");
            group.bench_function(BenchmarkId::new(pass, kb), |bencher| {
                bencher.iter(|| black_box(host.exchange(black_box(&request), &answer)));
            });
        }
    }
    group.finish();
}

/// An answer that begins with a thought, whole and in deltas of a few words, as it came and cleaned.
pub fn clean(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("clean");
    let request = ClientRequest::post(
        "/v1/chat/completions",
        r#"{"model":"m","messages":[{"role":"user","content":"Tell me of the orders."}]}"#,
    );
    for kb in SIZES {
        // A little shorter than what is read of an answer at most.
        let text = format!(
            "<think>{}</think>{}",
            Dice::new(5).text(400),
            Dice::new(3).text(kb.saturating_mul(1_000))
        );
        let whole = format!(r#"{{"choices":[{{"index":0,"message":{{"content":"{text}"}}}}]}}"#);
        let words: Vec<&str> = text.split_inclusive(' ').collect();
        let deltas = words.chunks(4).map(|words| {
            format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
                words.concat()
            )
        });
        let stream: String = deltas.chain(["data: [DONE]\n\n".to_owned()]).collect();
        for (name, content_type, body) in
            [("whole", "application/json", whole), ("stream", "text/event-stream", stream)]
        {
            let answer = ProviderResponse {
                content_type: content_type.into(),
                part: Some(4_096),
                ..ProviderResponse::json(body)
            };
            for is_on in [false, true] {
                let config = format!(r#"{{"semantic":{{"enabled":false}},"clean":{{"enabled":{is_on}}}}}"#);
                let mut host = InMemory::new(Config::from_json(config.as_bytes()).expect("a configuration"));
                let id = BenchmarkId::new(format!("{name}/{}", if is_on { "on" } else { "off" }), kb);
                group.throughput(Throughput::Bytes(u64::try_from(answer.body.len()).unwrap_or(0)));
                group.bench_function(id, |bencher| {
                    bencher.iter(|| {
                        let outcome = host.exchange(black_box(&request), &answer);
                        let is_shorter = outcome.received.len() < answer.body.len();
                        assert_eq!(is_shorter, is_on, "thoughts go where that is wanted");
                    });
                });
            }
        }
    }
    group.finish();
}
