//! One trace from the agent to the search in the prompt history: Envoy's spans and the service's, at a collector.

use std::collections::BTreeSet;
use std::path::Path;

use sentinel_harness::Dialect;
use sentinel_harness::gateway::{ALICE, COLLECTOR, Gateway, provider_key};
use sentinel_harness::otlp::{Collector, Span};
use sentinel_harness::port;
use sentinel_harness::process::eventually;
use sentinel_harness::service::Service;

use crate::support::{CHAT, QUESTION, assert_allowed};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const AGENT: &str = "b7ad6b7169203331";
const CALL: &str = "sentinel.v1.EmbeddingService/CheckLoop";

fn service(folder: &Path, port: u16) -> Service {
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://127.0.0.1:{port}")),
        ("OTEL_BSP_SCHEDULE_DELAY", "100".to_owned()),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value));
    Service::start(folder, &folder.join("embedding.sock"), &settings)
}

/// The agent's own span, as a header. `flags`: 01 where its trace is kept, 00 where not.
fn parent(trace: &str, flags: &str) -> String {
    format!("00-{trace}-{AGENT}-{flags}")
}

/// Envoy's span of the request in the agent's trace.
async fn request_in(collector: &Collector, trace: &str) -> Span {
    let find = || collector.spans().into_iter().find(|span| span.trace == trace && span.parent == AGENT);
    eventually(&format!("the request in {trace}"), async || find().is_some()).await;
    find().unwrap()
}

#[tokio::test]
async fn a_collector_with_tls_is_asked_by_its_name() {
    let collector = Collector::start();
    let gateway = Gateway::builder().collector_with_tls(collector.port()).start();
    let parent = parent(TRACE, "01");
    let headers = [("x-agent-id", "a"), ("traceparent", parent.as_str())];
    assert_allowed(&gateway.ask(CHAT, ALICE, &headers, QUESTION).await, "the first");
    request_in(&collector, TRACE).await;
    assert_eq!(gateway.collector_names().first().map(String::as_str), Some(COLLECTOR));
}

#[tokio::test]
async fn a_request_is_one_trace_from_the_agent_to_the_search() {
    let (folder, collector) = (tempfile::tempdir().unwrap(), Collector::start());
    let service = service(folder.path(), collector.port());
    let gateway = Gateway::builder().collector(collector.port()).service(service.socket()).start();
    let parent = parent(TRACE, "01");
    let headers =
        [("x-agent-id", "secret-agent"), ("traceparent", parent.as_str()), ("tracestate", "secret=state")];
    assert_allowed(&gateway.ask(CHAT, ALICE, &headers, QUESTION).await, "the first");
    assert_allowed(&gateway.ask(CHAT, ALICE, &headers, &format!("{QUESTION} Say more.")).await, "the second");
    for got in gateway.provider.received() {
        assert_eq!(
            (got.header("traceparent"), got.header("tracestate")),
            (None, None),
            "the provider is told"
        );
    }

    let request = request_in(&collector, TRACE).await;
    let count = |parent: &str| collector.spans().iter().filter(|span| span.parent == parent).count();
    eventually("the call and the way to the provider", async || count(&request.id) >= 2).await;
    let spans = collector.spans();
    let of = |parent: &str, name: &str| {
        let mut found = spans.iter().filter(|span| span.parent == parent && span.name == name);
        let span = found.next().unwrap_or_else(|| panic!("no {name} below {parent}: {spans:#?}"));
        assert!(found.next().is_none(), "two of {name} below {parent}");
        assert_eq!(span.trace, TRACE);
        span.clone()
    };
    assert_eq!((request.service.as_str(), request.name.as_str()), ("agent-sentinel", "openai"));
    for (name, value) in [
        ("sentinel.verdict", "allow"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.request.model", "gpt-4o-mini"),
        ("gen_ai.response.model", "gpt-4o-mini-2024-07-18"),
        ("gen_ai.usage.input_tokens", "12"),
        ("gen_ai.usage.output_tokens", "9"),
        ("http.status_code", "200"),
    ] {
        assert_eq!(request.attribute(name), Some(value), "{name} of {request:#?}");
    }
    assert_eq!(request.attribute("sentinel.scope").map(str::len), Some(16), "{request:#?}");
    // What is not known is left out.
    assert_eq!(request.attribute("sentinel.signal"), None);
    for (name, value) in &request.attributes {
        let ours = name.starts_with("gen_ai.") || name.starts_with("sentinel.");
        assert!(!ours || (!value.is_empty() && value != "-"), "{name} of {request:#?}");
    }
    let call = of(&request.id, CALL);
    assert_eq!(call.service, "embedding-service");
    for (name, value) in [
        ("rpc.system.name", "grpc"),
        ("rpc.method", CALL),
        ("rpc.response.status_code", "Ok"),
        ("sentinel.loop_detected", "false"),
    ] {
        assert_eq!(call.attribute(name), Some(value), "{name} of {call:#?}");
    }
    let steps = ["tokenise", "infer", "search"].map(|name| of(&call.id, name));
    let [tokenise, infer, search] = &steps;
    assert!(tokenise.time.1 <= infer.time.0 && infer.time.1 <= search.time.0, "{steps:#?}");
    assert!(steps.iter().all(|step| call.time.0 <= step.time.0 && step.time.1 <= call.time.1), "{steps:#?}");
    assert_eq!(infer.attribute("gen_ai.operation.name"), Some("embeddings"));
    assert!(infer.attribute("gen_ai.usage.input_tokens").unwrap().parse::<u32>().unwrap() > 10, "{infer:#?}");
    let asked = of(&request.id, "openai");
    assert_eq!(asked.attribute("http.status_code"), Some("200"), "the provider's span");
    assert_eq!(asked.attribute("gen_ai.usage.input_tokens"), None, "tokens are counted once");

    let all = format!("{spans:?}");
    for word in ["rivers", "secret", ALICE.key, &provider_key("openai")] {
        assert!(!all.contains(word), "{word} in a span: {all}");
    }
}

#[tokio::test]
async fn a_kill_and_its_reason_stand_on_the_span_and_a_key_never() {
    let collector = Collector::start();
    let gateway = Gateway::builder().collector(collector.port()).start();
    let parent = parent(TRACE, "01");
    let headers = [("x-run-id", "a"), ("traceparent", parent.as_str())];
    for _ in 0..5 {
        gateway.ask(CHAT, ALICE, &headers, QUESTION).await;
    }
    let key = [("x-goog-api-key", ALICE.key), ("traceparent", parent.as_str())];
    let path = "/gemini/v1beta/models/gemini-2.5-flash:generateContent?key=key-in-the-query&alt=json";
    let asked = path.replace("key=key-in-the-query&", "");
    gateway.post(&asked, &key, Dialect::Gemini.ask(QUESTION, false).to_string()).await;
    let answer = gateway.post(path, &key, Dialect::Gemini.ask(QUESTION, false).to_string()).await;
    assert_eq!(answer.status, 400);
    let refused = [("traceparent", parent.as_str())];
    gateway.post(path, &refused, Dialect::Gemini.ask(QUESTION, false).to_string()).await;

    let verdicts = |verdict: &str| {
        let spans = collector.spans().into_iter();
        let requests = spans.filter(|span| span.parent == AGENT);
        requests.filter(|span| span.attribute("sentinel.verdict") == Some(verdict)).collect::<Vec<_>>()
    };
    let refusals = |status: &str| {
        let refused =
            |span: &sentinel_harness::otlp::Span| span.attribute("http.status_code") == Some(status);
        collector.spans().into_iter().filter(refused).count()
    };
    eventually("all spans", async || {
        let some = ["hint", "kill"].iter().all(|verdict| !verdicts(verdict).is_empty());
        some && verdicts("allow").len() >= 4 && refusals("401") > 0 && refusals("400") > 0
    })
    .await;
    let kills = verdicts("kill");
    let [kill] = kills.as_slice() else { panic!("not one: {kills:#?}") };
    assert_eq!(kill.attribute("error.type"), Some("sentinel_kill"));
    let reason = kill.attribute("sentinel.reason").unwrap();
    assert!(reason.starts_with("score; "), "{reason}");
    let hints = verdicts("hint");
    assert_eq!((hints.len(), hints[0].attribute("error.type")), (1, None));
    assert_eq!(kill.attribute("sentinel.signal"), Some("score"));
    assert_eq!(kill.attribute("sentinel.scope"), hints[0].attribute("sentinel.scope"));
    assert_eq!(kill.attribute("gen_ai.request.model"), Some("gpt-4o-mini"));
    assert_eq!(kill.attribute("gen_ai.response.model"), None, "nobody answered");
    let gemini = verdicts("allow").into_iter().find(|span| span.name == "gemini").expect("a span of gemini");
    assert_eq!(gemini.attribute("gen_ai.provider.name"), Some("gcp.gemini"));
    assert_eq!(gemini.attribute("gen_ai.operation.name"), Some("generate_content"));
    assert_eq!(gemini.attribute("gen_ai.request.model"), Some("gemini-2.5-flash"));
    assert_eq!(gemini.attribute("sentinel.scope"), None, "whose it is nobody has said");
    let url = gemini.attribute("http.url").expect("where it was sent");
    assert!(url.ends_with("/v1beta/models/gemini-2.5-flash:generateContent"), "{url}");
    let all = format!("{:?}", collector.spans());
    for word in ["key-in-the-query", ALICE.key, "rivers"] {
        assert!(!all.contains(word), "{word} in a span: {all}");
    }
}

#[tokio::test]
async fn a_trace_is_kept_whole_or_not_at_all() {
    let (folder, collector) = (tempfile::tempdir().unwrap(), Collector::start());
    let service = service(folder.path(), collector.port());
    let gateway = || Gateway::builder().collector(collector.port()).service(service.socket());
    let traces = |service: &str| -> BTreeSet<String> {
        let of = collector.spans().into_iter().filter(|span| span.service == service);
        of.map(|span| span.trace).collect()
    };

    // Envoy keeps one half, by chance.
    let half = gateway().edit("random_sampling: {value: 100}", "random_sampling: {value: 50}").start();
    for n in 0..20 {
        let agent = format!("agent-{n}");
        let response = half.ask(CHAT, ALICE, &[("x-agent-id", &agent)], QUESTION).await;
        assert_allowed(&response, "Envoy decides");
    }
    // Its workers send theirs every five seconds.
    eventually("the same traces of both", async || {
        let whole = traces("embedding-service");
        !whole.is_empty() && whole == traces("agent-sentinel")
    })
    .await;

    // Where Envoy keeps all, the agent decides: by the last bit, whatever the others say.
    let all = gateway().start();
    for (trace, flags) in [("2", "00"), ("4", "02"), ("1", "01"), ("3", "03")] {
        let parent = parent(&trace.repeat(32), flags);
        let headers = [("x-agent-id", flags), ("traceparent", parent.as_str())];
        assert_allowed(&all.ask(CHAT, ALICE, &headers, QUESTION).await, "the agent decides");
    }
    eventually("two more of both", async || {
        let whole = traces("embedding-service");
        ["1", "3"].iter().all(|trace| whole.contains(&trace.repeat(32))) && whole == traces("agent-sentinel")
    })
    .await;
    let whole = traces("agent-sentinel");
    assert!(whole.len() < 22, "all were kept by chance");
    assert!(!["2", "4"].iter().any(|trace| whole.contains(&trace.repeat(32))), "{whole:?}");
}

#[tokio::test]
async fn a_collector_that_is_not_there_costs_nothing_but_the_spans() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody listens there any more.
    let port = port::free().port();
    let mut service = service(folder.path(), port);
    let gateway = Gateway::builder().collector(port).service(service.socket()).start();
    for n in 0..20 {
        let agent = format!("agent-{n}");
        let response = gateway.ask(CHAT, ALICE, &[("x-agent-id", &agent)], QUESTION).await;
        assert_allowed(&response, "without a collector");
    }
    assert_eq!(gateway.count("sentinel_service_calls_total", &[("outcome", "ok")]), 20);
    let status = service.process().stop();
    assert!(status.success(), "{status}: {}", service.log());
    assert!(service.log().contains("Export.Failed"), "{}", service.log());
    assert!(!service.log().contains("rivers"), "{}", service.log());
}

#[tokio::test]
async fn where_none_is_named_the_service_makes_no_spans() {
    let (folder, collector) = (tempfile::tempdir().unwrap(), Collector::start());
    let service = Service::start(folder.path(), &folder.path().join("embedding.sock"), &[]);
    let gateway = Gateway::builder().collector(collector.port()).service(service.socket()).start();
    let parent = parent(TRACE, "01");
    let headers = [("x-agent-id", "a"), ("traceparent", parent.as_str())];
    assert_allowed(&gateway.ask(CHAT, ALICE, &headers, QUESTION).await, "one");
    request_in(&collector, TRACE).await;
    assert!(collector.spans().iter().all(|span| span.service == "agent-sentinel"));
}
