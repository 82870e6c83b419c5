//! Keys: who gets in, what a refusal looks like, and what goes on to the provider. On envoy/production.yaml as it is shipped.

use std::collections::BTreeSet;

use sentinel_harness::Dialect;
use sentinel_harness::client::{self, Response};
use sentinel_harness::gateway::{
    ADMIN, ALICE, BOB, Client, DIALECTS, Gateway, HOSTS, key_header, path, provider_key, shipped,
};
use sentinel_harness::metrics::Metrics;
use sentinel_harness::process::eventually;
use sentinel_harness::provider::{Gate, Received, faithful};
use serde_json::json;

use crate::support::{CHAT, QUESTION};

/// Nothing of this text stands anywhere in the request.
fn assert_without(got: &Received, text: &str) {
    assert!(!got.path.contains(text), "the path holds {text}: {}", got.path);
    for (name, value) in &got.headers {
        assert!(!String::from_utf8_lossy(value.as_bytes()).contains(text), "{name} holds {text}");
    }
    assert!(!String::from_utf8_lossy(&got.body).contains(text), "the body holds {text}");
}

/// An error as the dialect's provider would say it, with a sentence for people.
fn assert_refused(dialect: Dialect, response: &Response, status: u16, kind: &str) {
    assert_eq!(response.status, status, "{dialect:?}: {:?}", response.body);
    assert_eq!(response.header("content-type"), Some("application/json"), "{dialect:?}");
    let body = response.json();
    let message = body["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.len() > 20, "{dialect:?}: no message: {body}");
    let shape = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": kind}})
        }
        Dialect::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Dialect::Gemini => json!({"error": {"code": status, "message": message, "status": kind}}),
        other => panic!("{other:?} has no route here"),
    };
    assert_eq!(body, shape, "{dialect:?}");
}

#[tokio::test]
async fn each_sdk_gets_in_with_its_own_header_and_the_provider_gets_the_key_of_the_gateway() {
    let gateway = Gateway::builder().start();
    for (dialect, cluster) in [
        (Dialect::OpenaiChat, "openai"),
        (Dialect::OpenaiResponses, "openai"),
        (Dialect::Anthropic, "anthropic"),
        (Dialect::Gemini, "gemini"),
    ] {
        let agent = format!("alice-{}", dialect.label());
        let headers = [("x-agent-id", agent.as_str()), ("x-tenant-id", "tenant-of-alice")];
        let response = gateway.ask(dialect, ALICE, &headers, QUESTION).await;
        assert_eq!(response.status, 200, "{dialect:?}: {:?}", response.body);
        assert_eq!(response.verdict(), "allow", "{dialect:?}");
        let got = gateway.provider.last();
        let (name, value) = key_header(dialect, &provider_key(cluster));
        assert_eq!(got.header(name), Some(value.as_str()), "{dialect:?}");
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            let expected = usize::from(name == key_header(dialect, "").0);
            assert_eq!(got.headers.get_all(name).iter().count(), expected, "{dialect:?}: {name}");
        }
        for private in ["alice", "127.0.0.1"] {
            assert_without(&got, private);
        }
    }
    let asked: BTreeSet<String> = gateway.names().into_iter().collect();
    assert_eq!(asked, HOSTS[..3].iter().map(ToString::to_string).collect(), "names that TLS asked for");
}

/// Whatever a client sends beside its valid key, in other places for keys.
#[tokio::test]
async fn no_other_key_of_the_client_goes_on_either() {
    let gateway = Gateway::builder().start();
    let headers = [
        ("x-goog-api-key", ALICE.key),
        ("x-api-key", "another-key"),
        ("authorization", "Bearer another-key"),
    ];
    let path = format!("{}?alt=sse", path(Dialect::Gemini));
    let body = Dialect::Gemini.ask(QUESTION, false).to_string();
    // The first header counts, and it is not known.
    assert_eq!(gateway.post(&path, &headers, body.clone()).await.status, 401);
    let headers = [("authorization", "Bearer 5d1f0c-alice"), headers[1], headers[0]];
    assert_eq!(gateway.post(&path, &headers, body).await.status, 200);
    let got = gateway.provider.last();
    assert_eq!(got.path, "/v1beta/models/gemini-2.5-flash:generateContent?alt=sse");
    for key in [ALICE.key, "another-key"] {
        assert_without(&got, key);
    }
}

#[tokio::test]
async fn without_a_valid_key_nobody_gets_in() {
    let gateway = Gateway::builder().start();
    for (dialect, kind) in [
        (Dialect::OpenaiChat, "invalid_api_key"),
        (Dialect::OpenaiResponses, "invalid_api_key"),
        (Dialect::Anthropic, "authentication_error"),
        (Dialect::Gemini, "UNAUTHENTICATED"),
    ] {
        let body = dialect.ask(QUESTION, false).to_string();
        let name = key_header(dialect, "").0;
        for headers in [
            &[][..],
            &[(name, "")],
            &[(name, "Bearer ")],
            &[(name, "never-given-out")],
            &[(name, "5D1F0C-ALICE")],
            &[(name, "5d1f0c-alice ,")],
            &[("cookie", "key=5d1f0c-alice")],
            &[("x-sentinel-client", "alice")],
        ] {
            let response = gateway.post(path(dialect), headers, body.clone()).await;
            assert_refused(dialect, &response, 401, kind);
        }
        for query in ["key=5d1f0c-alice", "api_key=5d1f0c-alice", "access_token=5d1f0c-alice"] {
            let response = gateway.post(&format!("{}?{query}", path(dialect)), &[], body.clone()).await;
            assert_refused(dialect, &response, 401, kind);
        }
    }
    assert_eq!(gateway.provider.count(), 0, "a refused request went to the provider");
    assert_eq!(gateway.count("sentinel_requests_total", &[]), 0, "a refused request was looked at");
    let log = gateway.envoy.log();
    assert!(!log.contains(ALICE.key) && !log.contains("never-given-out"), "a key stands in the log");
}

#[tokio::test]
async fn a_revoked_key_is_refused_and_all_else_goes_on() {
    let gateway = Gateway::builder().start();
    let status = async |client: Client| gateway.ask(CHAT, client, &[], QUESTION).await.status;
    assert_eq!([status(ALICE).await, status(BOB).await], [200, 200]);

    // Bob is in the middle of an answer.
    let gate = Gate::closed();
    let held = gate.clone();
    gateway.provider.script(move |request| faithful(request).gated(&held));
    let (name, value) = key_header(CHAT, BOB.key);
    let body = CHAT.ask(QUESTION, true).to_string();
    let mut stream = client::stream(gateway.address(), path(CHAT), &[(name, &value)], body).await;
    assert_eq!(stream.status, 200);
    assert!(stream.chunk().await.is_some());
    gateway.provider.script(faithful);

    gateway.clients(&[ALICE]);
    eventually("bob is refused", async || status(BOB).await == 401).await;
    let (asked, refused) = (gateway.provider.count(), gateway.ask(CHAT, BOB, &[], QUESTION).await);
    assert_refused(CHAT, &refused, 401, "invalid_api_key");
    assert_eq!(gateway.provider.count(), asked, "a revoked key reached the provider");
    assert_eq!(status(ALICE).await, 200);
    for _ in 0..200 {
        gate.open();
    }
    assert!(stream.to_its_end().await, "the answer that was under way was cut off");

    // A file that cannot be read changes nothing, and the log says so.
    gateway.replace("clients.yaml", "resources: [");
    eventually("the log names the file", async || {
        gateway
            .envoy
            .log()
            .lines()
            .any(|line| line.contains("update failure") && line.contains("clients.yaml"))
    })
    .await;
    assert_eq!([status(ALICE).await, status(BOB).await], [200, 401]);

    let new = Client { name: "bob", key: "0a2b4c-bob-again" };
    gateway.clients(&[ALICE, new]);
    eventually("bob's new key is good", async || status(new).await == 200).await;
    assert_eq!([status(ALICE).await, status(BOB).await], [200, 401]);
}

#[tokio::test]
async fn a_secret_that_kubernetes_has_mounted_is_read_anew() {
    let gateway = Gateway::builder().start();
    let status = async |client: Client| gateway.ask(CHAT, client, &[], QUESTION).await.status;
    gateway.mounted_clients("..2026_01", &[BOB]);
    eventually("alice is refused", async || status(ALICE).await == 401).await;
    assert_eq!(status(BOB).await, 200);
    gateway.mounted_clients("..2026_02", &[ALICE]);
    eventually("alice is back", async || status(ALICE).await == 200).await;
    assert_eq!(status(BOB).await, 401);
}

/// As it is shipped, nobody has a key.
#[tokio::test]
async fn the_shipped_file_of_clients_lets_nobody_in() {
    let gateway = Gateway::builder().start();
    gateway.replace("clients.yaml", &shipped("clients.yaml"));
    eventually("alice is refused", async || gateway.ask(CHAT, ALICE, &[], QUESTION).await.status == 401)
        .await;
    assert_refused(CHAT, &gateway.ask(CHAT, ALICE, &[], QUESTION).await, 401, "invalid_api_key");
}

#[tokio::test]
async fn a_provider_key_is_read_anew() {
    let gateway = Gateway::builder().start();
    let key = shipped("keys/openai.yaml").replace("replace-me", "sk-rotated");
    gateway.replace("keys/openai.yaml", &key);
    eventually("the new key is used", async || {
        gateway.ask(CHAT, ALICE, &[], QUESTION).await;
        gateway.provider.last().header("authorization") == Some("Bearer sk-rotated")
    })
    .await;
}

/// What Envoy puts into the providers' forms is its own answers, not those of the filter.
#[tokio::test]
async fn a_kill_stays_as_the_filter_wrote_it() {
    for status in [403, 401] {
        let principal = r#""identity": {"principal": "x-sentinel-client", "clients": []}"#;
        let config = format!(r#"{principal}, "kill": {{"status": {status}}}"#);
        let gateway = Gateway::builder().edit(principal, &config).start();
        for dialect in DIALECTS {
            let agent = [("x-run-id", dialect.label())];
            for _ in 0..4 {
                assert_eq!(gateway.ask(dialect, ALICE, &agent, QUESTION).await.status, 200);
            }
            let killed = gateway.ask(dialect, ALICE, &agent, QUESTION).await;
            assert_eq!((killed.status, killed.verdict()), (status, "kill"), "{dialect:?}");
            let said = String::from_utf8_lossy(&killed.body).into_owned();
            assert!(said.contains("This agent was stopped"), "{dialect:?}: {said}");
        }
    }
}

/// Bob says that he is alice, under the same agent, run and tenant: his windows stay his own.
#[tokio::test]
async fn a_forged_scope_does_not_reach_the_windows_of_another() {
    let gateway = Gateway::builder().start();
    let scope = [("x-agent-id", "a"), ("x-run-id", "r"), ("x-tenant-id", "t")];
    let forged = |client: &'static str| [scope[0], scope[1], scope[2], ("x-sentinel-client", client)];
    for (client, headers) in [(ALICE, forged("bob")), (BOB, forged("alice"))] {
        let mut verdicts = Vec::new();
        for _ in 0..4 {
            let response = gateway.ask(CHAT, client, &headers, QUESTION).await;
            verdicts.push(response.verdict().to_owned());
        }
        assert_eq!(verdicts, ["allow", "allow", "allow", "hint"], "{}", client.name);
    }
    assert_without(&gateway.provider.last(), "alice");
}

#[tokio::test]
async fn only_an_administrator_reads_the_statistics() {
    let gateway = Gateway::builder().start();
    assert_eq!(gateway.ask(CHAT, ALICE, &[("x-agent-id", "a")], QUESTION).await.status, 200);
    let get = async |key: &str, path: &str| {
        let value = format!("Bearer {key}");
        gateway.get(path, &[("authorization", &value)]).await
    };
    let value_of = |response: &Response, name: &str| {
        let stats = response.json()["stats"].as_array().expect("a list of statistics").clone();
        stats.iter().find(|stat| stat["name"] == name).and_then(|stat| stat["value"].as_u64())
    };

    let page = get(ADMIN.key, "/v1/metrics").await;
    assert_eq!(page.status, 200, "{:?}", page.body);
    assert_eq!(page.header("content-type"), Some("application/json"));
    for (name, value) in [
        ("wasmcustom.sentinel_requests_total.client.other.status.2xx.dialect.openai_chat", 1),
        (
            "wasmcustom.sentinel_verdicts_total.verdict.allow.signal.none.dialect.openai_chat.enforced.true.agent.other",
            1,
        ),
        ("http.agents.api_key_auth.unauthorized", 0),
        ("cluster.openai.upstream_rq_total", 1),
        ("cluster.openai.upstream_rq_retry", 0),
        ("limits.http_local_rate_limit.enforced", 0),
    ] {
        assert_eq!(value_of(&page, name), Some(value), "{name}");
    }
    for (key, status, code) in
        [(ALICE.key, 403, "not_an_administrator"), ("never-given-out", 401, "invalid_api_key")]
    {
        let refused = get(key, "/v1/metrics").await;
        assert_eq!(refused.status, status);
        assert_eq!(refused.json()["error"]["code"], code);
        assert_eq!(refused.json()["total_requests"], serde_json::Value::Null, "a total in an error");
    }
    // A query of the client's own neither widens nor narrows it.
    let with_query = get(ADMIN.key, "/v1/metrics?filter=.*&a=b").await;
    assert_eq!(value_of(&with_query, "cluster.openai.upstream_rq_total"), Some(1));
    assert_eq!(value_of(&with_query, "server.uptime"), None);

    // Who asks for text, as Prometheus does, reads names with labels.
    let header = format!("Bearer {}", ADMIN.key);
    let accept =
        ("accept", "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1");
    let text = gateway.get("/v1/metrics?a=b", &[("authorization", &header), accept]).await;
    let metrics = Metrics::parse(&String::from_utf8_lossy(&text.body));
    let labels = [("verdict", "allow"), ("signal", "none"), ("dialect", "openai_chat")];
    assert_eq!(metrics.sum("sentinel_verdicts_total", &labels), 1);
    assert_eq!(metrics.sum("envoy_cluster_upstream_rq_total", &[("envoy_cluster_name", "openai")]), 1);
    assert_eq!(metrics.beginning("envoy_server_").len(), 0);

    // Nothing else of the admin interface is there, for anybody.
    let headers = [("authorization", header.as_str())];
    for path in ["/v1/metrics/../../quitquitquit", "/v1/metrics/", "/quitquitquit", "/stats", "/config_dump"]
    {
        assert_eq!(gateway.post(path, &headers, String::new()).await.status, 404, "{path}");
        assert_eq!(gateway.get(path, &headers).await.status, 404, "{path}");
    }
    assert_eq!(gateway.post("/v1/metrics", &headers, String::new()).await.status, 404);
    assert_eq!(gateway.get("/v1/flush", &headers).await.status, 404);
}

#[tokio::test]
async fn only_an_administrator_resets_what_is_counted_and_nothing_else_is_lost() {
    let gateway = Gateway::builder().start();
    let agent = [("x-agent-id", "a")];
    for _ in 0..3 {
        assert_eq!(gateway.ask(CHAT, ALICE, &agent, QUESTION).await.verdict(), "allow");
    }
    let flush = async |key: &str| {
        let value = format!("Bearer {key}");
        gateway.post("/v1/flush?a=b", &[("authorization", &value)], String::new()).await
    };
    let counted = || gateway.count("sentinel_requests_total", &[]);
    for (key, status, code) in
        [(ALICE.key, 403, "not_an_administrator"), ("never-given-out", 401, "invalid_api_key")]
    {
        let refused = flush(key).await;
        assert_eq!(refused.status, status);
        assert_eq!(refused.json()["error"]["code"], code);
    }
    assert_eq!(counted(), 3);
    assert_eq!(flush(ADMIN.key).await.status, 200);
    assert_eq!(counted(), 0);
    // The window of the scope is still there: it is the fourth time.
    assert_eq!(gateway.ask(CHAT, ALICE, &agent, QUESTION).await.verdict(), "hint");
    assert_eq!(counted(), 1);
}

#[tokio::test]
async fn health_needs_no_key_and_says_when_envoy_is_being_drained() {
    let gateway = Gateway::builder().own_envoy().start();
    assert_eq!(gateway.get("/health", &[]).await.status, 200);
    let admin = async |path: &str| {
        let body = http_body_util::Empty::<bytes::Bytes>::new();
        let request = client::request(gateway.envoy.admin(), hyper::Method::POST, path, &[], body);
        client::send(request).await.unwrap().status
    };
    assert_eq!(admin("/healthcheck/fail").await, 200);
    assert_eq!(gateway.get("/health", &[]).await.status, 503);
    // Whoever comes all the same is served.
    assert_eq!(gateway.ask(CHAT, ALICE, &[], QUESTION).await.status, 200);
    assert_eq!(admin("/healthcheck/ok").await, 200);
    assert_eq!(gateway.get("/health", &[]).await.status, 200);
    assert_eq!(gateway.provider.count(), 1);
}

/// The provider stands in the service's place here: what it gets, the service would get.
#[tokio::test]
async fn an_administrators_key_ends_at_the_gateway() {
    let here = r"openapi\.json)(/.*)?'}}
                          route: {cluster: ";
    let gateway =
        Gateway::builder().edit(&format!("{here}embedding_service"), &format!("{here}openai")).start();
    for dialect in DIALECTS {
        let (name, value) = key_header(dialect, ADMIN.key);
        let _ = gateway.get("/v1/runs", &[(name, value.as_str())]).await;
        assert_without(&gateway.provider.last(), ADMIN.key);
    }
    assert_eq!(gateway.provider.count(), DIALECTS.len());
}
