//! Which methods and paths go on with the gateway's own keys, and that a query goes on byte for byte. On
//! envoy/production.yaml as it is shipped.

use hyper::Method;
use sentinel_harness::client::{self, Response};
use sentinel_harness::gateway::{
    ADMIN, ALICE, BOB, Client, Gateway, key_header, path, provider_key, shipped,
};
use sentinel_harness::process::eventually;
use sentinel_harness::raw::RawConnection;
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::providers::Tls;
use crate::support::{CHAT, QUESTION};

async fn send(
    gateway: &Gateway,
    client: Client,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
) -> Response {
    let key = format!("Bearer {}", client.key);
    let mut all = vec![("authorization", key.as_str())];
    all.extend_from_slice(headers);
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let body = if method == Method::POST { "{}" } else { "" };
    let body = http_body_util::Full::new(bytes::Bytes::from_static(body.as_bytes()));
    let request = client::request(gateway.address(), method.clone(), target, &all, body);
    client::send(request).await.unwrap_or_else(|error| panic!("{method} {target}: {error}"))
}

/// What every client of the providers needs.
const PASSES: [(&str, &str); 29] = [
    ("POST", "/openai/v1/chat/completions"),
    ("POST", "/openai/v1/responses"),
    ("POST", "/openai/v1/responses/input_tokens"),
    ("POST", "/openai/v1/embeddings"),
    ("GET", "/openai/v1/models"),
    ("GET", "/openai/v1/models/gpt-4o-mini"),
    ("GET", "/openai/v1/models/ft:gpt-4o-mini:acme::id"),
    ("POST", "/failover/v1/chat/completions"),
    ("GET", "/failover/v1/models?limit=2"),
    ("POST", "/anthropic/v1/messages"),
    ("POST", "/anthropic/v1/messages?beta=true"),
    ("POST", "/anthropic/v1/messages/count_tokens"),
    ("GET", "/anthropic/v1/models"),
    ("GET", "/anthropic/v1/models/claude-sonnet-4-5"),
    ("POST", "/gemini/v1beta/models/gemini-2.5-flash:generateContent"),
    ("POST", "/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"),
    ("POST", "/gemini/v1/models/gemini-2.5-flash:countTokens"),
    ("POST", "/gemini/v1alpha/models/gemini-embedding-001:embedContent"),
    ("POST", "/gemini/v1beta/models/gemini-embedding-001:batchEmbedContents"),
    ("POST", "/gemini/v1beta/interactions"),
    ("POST", "/gemini/v1beta/openai/chat/completions"),
    ("POST", "/gemini/v1beta/openai/embeddings"),
    ("GET", "/gemini/v1beta/models"),
    ("GET", "/gemini/v1beta/models/gemini-2.5-flash"),
    ("POST", "/groq/openai/v1/chat/completions"),
    ("POST", "/groq/openai/v1/responses"),
    ("GET", "/groq/openai/v1/models"),
    ("GET", "/groq/openai/v1/models/llama-3.3-70b"),
    ("GET", "/groq/openai/v1/models/openai/gpt-oss-20b"),
];

/// Requests that would act on the gateway's account: objects of other clients, the account itself, and unknown paths.
const REFUSED: [(&str, &str); 48] = [
    ("GET", "/openai/v1/responses/resp_1"),
    ("DELETE", "/openai/v1/responses/resp_1"),
    ("GET", "/openai/v1/responses/resp_1/input_items"),
    ("POST", "/openai/v1/responses/resp_1/cancel"),
    ("GET", "/openai/v1/chat/completions"),
    ("GET", "/openai/v1/chat/completions/chatcmpl-1"),
    ("DELETE", "/openai/v1/chat/completions/chatcmpl-1"),
    ("POST", "/openai/v1/conversations"),
    ("GET", "/openai/v1/conversations/conv_1"),
    ("GET", "/openai/v1/files"),
    ("POST", "/openai/v1/files"),
    ("DELETE", "/openai/v1/files/file-1"),
    ("GET", "/openai/v1/files/file-1/content"),
    ("POST", "/openai/v1/threads/thread_1/runs"),
    ("POST", "/openai/v1/batches"),
    ("GET", "/openai/v1/organization/api_keys"),
    ("GET", "/openai/v1/organization/costs"),
    ("POST", "/openai/v1/organization/admin_api_keys"),
    ("POST", "/openai/v1/fine_tuning/jobs"),
    ("DELETE", "/openai/v1/models/ft:gpt-4o-mini:acme::id"),
    ("GET", "/openai/v1/vector_stores"),
    ("GET", "/openai/v1/realtime"),
    ("POST", "/openai/v1/completions"),
    ("PUT", "/openai/v1/chat/completions"),
    ("PATCH", "/openai/v1/chat/completions"),
    ("OPTIONS", "/openai/v1/chat/completions"),
    ("HEAD", "/openai/v1/models"),
    ("POST", "/openai/v1/models"),
    ("POST", "/openai/"),
    ("POST", "/openai"),
    ("POST", "/openai/v1/chat/completions/more"),
    ("POST", "/openai/v1/x/../organization/api_keys"),
    ("POST", "/openai/v1/chat%2Dcompletions"),
    ("POST", "/openai/V1/Chat/Completions"),
    ("POST", "/openai/v1/chat/completions;x=1"),
    ("POST", "/openai/v1/organization/api_keys?x=/openai/v1/chat/completions"),
    ("DELETE", "/failover/v1/files/file-1"),
    ("POST", "/anthropic/v1/messages/batches"),
    ("GET", "/anthropic/v1/messages/batches/b/results"),
    ("GET", "/anthropic/v1/files"),
    ("GET", "/anthropic/v1/organizations/api_keys"),
    ("DELETE", "/gemini/v1beta/files/1"),
    ("POST", "/gemini/upload/v1beta/files"),
    ("POST", "/gemini/v1beta/cachedContents"),
    ("POST", "/gemini/v1beta/models/m:batchGenerateContent"),
    ("GET", "/gemini/v1beta/interactions/1"),
    ("DELETE", "/gemini/v1beta/tunedModels/m"),
    ("GET", "/groq/openai/v1/files"),
];

#[tokio::test]
async fn what_the_dialects_know_passes_and_nothing_else() {
    let gateway = Gateway::builder().start();
    for (method, target) in PASSES {
        let before = gateway.provider.count();
        let response = send(&gateway, ALICE, method, target, &[]).await;
        assert_eq!(response.status, 200, "{method} {target}: {:?}", response.body);
        assert_eq!(gateway.provider.count(), before + 1, "{method} {target}");
    }
    let (reached, seen) = (gateway.provider.count(), gateway.count("sentinel_requests_total", &[]));
    // The client `admin` has no more rights here.
    for client in [ALICE, ADMIN] {
        for (method, target) in REFUSED {
            // A bucket of limits is no matter here.
            let response = send(&gateway, client, method, target, &[]).await;
            assert_eq!(response.status, 403, "{method} {target}: {:?}", response.body);
        }
    }
    assert_eq!(gateway.provider.count() + gateway.backup.count(), reached, "a refused request went on");
    assert_eq!(gateway.count("sentinel_requests_total", &[]), seen, "a refused request was looked at");
    assert_eq!(gateway.count("envoy_http_rbac_denied", &[]), 2 * REFUSED.len() as u64);
    // Without a key the answer is 401, so it does not show which paths are refused.
    let nobody = Client { name: "nobody", key: "never-given-out" };
    assert_eq!(send(&gateway, nobody, "DELETE", "/openai/v1/files/file-1", &[]).await.status, 401);
}

#[tokio::test]
async fn a_refusal_is_an_error_of_the_dialect() {
    let gateway = Gateway::builder().start();
    let said = "This gateway does not pass on this method and path for this client.";
    for (target, shape) in [
        (
            "/openai/v1/files",
            json!({"type": "invalid_request_error", "param": null, "code": "path_not_allowed"}),
        ),
        ("/anthropic/v1/files", json!({"type": "permission_error"})),
        ("/gemini/v1beta/files", json!({"code": 403, "status": "PERMISSION_DENIED"})),
    ] {
        let response = send(&gateway, ALICE, "GET", target, &[]).await;
        assert_eq!(response.header("content-type"), Some("application/json"), "{target}");
        let mut body = response.json();
        let message = body["error"].as_object_mut().unwrap().remove("message").unwrap();
        assert!(message.as_str().unwrap().starts_with(said), "{message}");
        assert_eq!(body["error"], shape, "{target}");
        assert_eq!(body["type"], if target.starts_with("/anthropic") { json!("error") } else { json!(null) });
    }
}

/// A method in a header is refused, because some servers would use it in place of the request's.
#[tokio::test]
async fn no_header_makes_another_method_of_a_request() {
    let gateway = Gateway::builder().start();
    let headers =
        [("x-http-method-override", "DELETE"), ("x-http-method", "DELETE"), ("x-method-override", "DELETE")];
    assert_eq!(send(&gateway, ALICE, "GET", "/gemini/v1beta/models/m", &headers).await.status, 200);
    let got = gateway.provider.last();
    for (name, _) in headers {
        assert_eq!(got.header(name), None, "{name} went on");
    }
}

#[tokio::test]
async fn trace_is_never_passed_on() {
    // Even where the list names every method.
    let gateway = Gateway::builder().start();
    let all = "          everybody:\n            principals: [{any: true}]\n            permissions:\n";
    let open = shipped("paths.yaml").replace(all, &format!("{all}              - {{any: true}}\n"));
    gateway.replace("paths.yaml", &open);
    eventually("everything passes", async || {
        send(&gateway, ALICE, "DELETE", "/openai/v1/files/file-1", &[]).await.status == 200
    })
    .await;
    let reached = gateway.provider.count();
    for target in
        ["/openai/v1/models", "/anthropic/v1/messages", "/gemini/v1beta/models", "/health", "/v1/metrics"]
    {
        let mut connection = RawConnection::open(gateway.address());
        let head =
            format!("TRACE {target} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\n\r\n", ALICE.key);
        connection.write(head.as_bytes());
        let response = connection.response().expect("an answer");
        assert!(response.status == 403 || !target.starts_with("/openai"), "{target}: {}", response.status);
        let body = String::from_utf8_lossy(&response.body).into_owned();
        assert!(!body.contains(ALICE.key) && !body.contains("TRACE"), "{target}: it was sent back: {body}");
    }
    assert_eq!(gateway.provider.count(), reached, "TRACE went on");
}

/// The example in the shipped file, as it stands there: for one client, and without a restart.
#[tokio::test]
async fn more_is_named_for_one_client_and_no_other() {
    let gateway = Gateway::builder().start();
    let status = async |client, method, target| send(&gateway, client, method, target, &[]).await.status;
    assert_eq!(status(BOB, "GET", "/openai/v1/files").await, 403);
    let text = shipped("paths.yaml");
    let (before, example) = text.split_once("          # nightly-batch:\n").expect("the example");
    let example: String = example.lines().map(|line| line.replacen("# ", "", 1) + "\n").collect();
    let mine = format!("{before}          bob:\n{}", example.replace("nightly-batch", "bob"));
    gateway.replace("paths.yaml", &mine);
    eventually("bob may", async || status(BOB, "GET", "/openai/v1/files").await == 200).await;
    for (client, method, target, expected) in [
        (BOB, "POST", "/openai/v1/files", 200),
        (BOB, "POST", "/openai/v1/batches", 200),
        (BOB, "GET", "/openai/v1/files/file-1/content", 200),
        (BOB, "POST", "/openai/v1/batches/b/cancel", 200),
        (BOB, "DELETE", "/openai/v1/files/file-1", 403),
        (BOB, "POST", "/openai/v1/chat/completions", 200),
        (ALICE, "GET", "/openai/v1/files", 403),
        (ALICE, "POST", "/openai/v1/chat/completions", 200),
    ] {
        assert_eq!(status(client, method, target).await, expected, "{} {method} {target}", client.name);
    }
    // Who says that he is bob is not.
    let forged = send(&gateway, ALICE, "GET", "/openai/v1/files", &[("x-sentinel-client", "bob")]).await;
    assert_eq!(forged.status, 403);
}

/// As docs/production.md says, for clients that must not reach each other's stored responses.
#[tokio::test]
async fn one_client_may_have_a_provider_key_of_its_own_project() {
    let route = "                        - name: openai\n                          match: {path_separated_prefix: /openai, ";
    let own = "                        - name: openai\n                          match: {headers: [{name: x-sentinel-client, string_match: {exact: bob}}], path_separated_prefix: /openai, filter_state: [{key: sentinel.let_go, string_match: {exact: \"yes\"}}]}\n                          route: {cluster: openai_backup, regex_rewrite: {pattern: {regex: '^/openai/?'}, substitution: '/'}, auto_host_rewrite: true, timeout: 0s, idle_timeout: 600s}\n";
    let gateway = Gateway::builder().edit(route, &format!("{own}{route}")).start();
    assert_eq!(gateway.ask(CHAT, ALICE, &[("x-sentinel-client", "bob")], QUESTION).await.status, 200);
    assert_eq!((gateway.provider.count(), gateway.backup.count()), (1, 0));
    assert_eq!(gateway.ask(CHAT, BOB, &[], QUESTION).await.status, 200);
    assert_eq!((gateway.provider.count(), gateway.backup.count()), (1, 1));
    let key = format!("Bearer {}", provider_key("openai_backup"));
    assert_eq!(gateway.backup.last().header("authorization"), Some(key.as_str()));
}

#[tokio::test]
async fn a_query_goes_on_byte_for_byte() {
    let gateway = Gateway::builder().start();
    for query in [
        "a%20b=c%26d&page=x+y%2B",
        "pageToken=a+b/c==&x=%26key%3D1",
        "monkey=1&keys=2&k%65ys=3&primary_key_=4",
        "a=key&b=api_key",
        "alt=sse&$fields=%24",
        "%zz=%&&==&",
        "q=?key",
        "",
    ] {
        let target = format!("/gemini/v1beta/models?{query}");
        assert_eq!(send(&gateway, ALICE, "GET", &target, &[]).await.status, 200, "{query}");
        assert_eq!(gateway.provider.last().path, format!("/v1beta/models?{query}"));
    }
}

#[tokio::test]
async fn a_key_in_the_query_is_refused_and_says_where_it_belongs() {
    let gateway = Gateway::builder().start();
    for query in [
        "key=5d1f0c-alice",
        "key",
        "key=",
        "alt=sse&key=x",
        "key=x&alt=sse",
        "a?key=x&key=y",
        "k%65y=x",
        "%6Be%79=x",
        "$key=x",
        "%24key=x",
        "api_key=x",
        "apikey=x",
        "access_token=x",
        "oauth_token=x",
    ] {
        for (dialect, shape) in [
            (Dialect::Gemini, json!({"code": 400, "status": "INVALID_ARGUMENT"})),
            (CHAT, json!({"type": "invalid_request_error", "param": null, "code": "key_in_query"})),
            (Dialect::Anthropic, json!({"type": "invalid_request_error"})),
        ] {
            let (name, value) = key_header(dialect, ALICE.key);
            let body = dialect.ask(QUESTION, false).to_string();
            let response = gateway.post(&format!("{}?{query}", path(dialect)), &[(name, &value)], body).await;
            assert_eq!(response.status, 400, "{query} {dialect:?}: {:?}", response.body);
            let mut body = response.json();
            let message = body["error"].as_object_mut().unwrap().remove("message").unwrap();
            assert!(message.as_str().unwrap().contains("x-goog-api-key"), "{message}");
            assert_eq!(body["error"], shape, "{query} {dialect:?}");
        }
    }
    assert_eq!(gateway.provider.count(), 0, "a key went on");
    assert_eq!(gateway.count("sentinel_requests_total", &[]), 0, "a refused request was looked at");
    assert!(!gateway.envoy.log().contains(ALICE.key), "a key stands in the log");
}

/// envoy/providers.yaml has no key of its own but for Bedrock, where it signs.
#[tokio::test]
async fn envoy_signs_for_bedrock_only_what_is_inference() {
    let tls = Tls::start_in(true, &[("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")]);
    let send = async |method: Method, target: &str| {
        let body = http_body_util::Full::new(bytes::Bytes::from_static(b"{}"));
        let request = client::request(tls.envoy.address(), method, target, &[], body);
        client::send(request).await.unwrap().status
    };
    for target in ["converse", "converse-stream", "count-tokens", "invoke"] {
        assert_eq!(send(Method::POST, &format!("/bedrock/model/a.b-v1%3A0/{target}")).await, 200, "{target}");
    }
    let reached = tls.provider.count();
    for (method, target) in [
        (Method::POST, "/bedrock/async-invoke"),
        (Method::GET, "/bedrock/async-invoke"),
        (Method::DELETE, "/bedrock/model/m/converse"),
        (Method::POST, "/bedrock/guardrail/g/version/1/apply"),
        (Method::POST, "/bedrock/model/m/converse/more"),
        (Method::POST, "/bedrock"),
    ] {
        assert_eq!(send(method.clone(), target).await, 403, "{method} {target}");
    }
    assert_eq!(tls.provider.count(), reached);
}

/// Nothing of it is in the demo's bootstrap, whose provider stands on this machine.
#[tokio::test]
async fn the_demo_passes_every_path() {
    let stack = Stack::builder().start();
    assert_eq!(client::post(stack.address(), "/v1/anything?key=x%20y", &[], "{}").await.status, 200);
    assert_eq!(stack.provider.last().path, "/v1/anything?key=x%20y");
}
