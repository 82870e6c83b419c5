//! What happens to the requests and answers of a worker when the filter's virtual machine fails. Our module never does that on purpose, so a
//! module that traps takes its place, in envoy/production.yaml as it is shipped.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use http_body_util::Empty;
use hyper::Method;
use sentinel_harness::client;
use sentinel_harness::gateway::{ALICE, Gateway, key_header, path};
use sentinel_harness::process::{PATIENCE, eventually};
use sentinel_harness::provider::{Piece, faithful};
use tempfile::TempDir;

use crate::support::{CHAT, QUESTION, assembled};

/// A module that lets requests without a body pass, holds requests with a body forever, and traps at a request with forty or more headers.
const TRAP: &str = r#"(module
  (memory (export "memory") 2)
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "_initialize"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) i32.const 1024)
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) i32.const 1)
  (func (export "proxy_on_configure") (param i32 i32) (result i32) i32.const 1)
  (func (export "proxy_on_request_headers") (param $context i32) (param $count i32) (param $end i32) (result i32)
    local.get $count
    i32.const 40
    i32.ge_s
    if
      unreachable
    end
    local.get $end
    i32.eqz)
  (func (export "proxy_on_request_body") (param i32 i32 i32) (result i32) i32.const 1))"#;

fn trap(folder: &TempDir) -> PathBuf {
    let module = folder.path().join("trap.wasm");
    fs::write(&module, assembled(TRAP)).unwrap();
    module
}

/// The workers of the tests' Envoy: each has a virtual machine of its own.
const WORKERS: usize = 2;
/// Enough for each worker to hold some.
const HELD: usize = 12;

#[tokio::test]
async fn what_it_held_ends_within_seconds_and_what_had_gone_on_may_take_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Gateway::builder().module(&trap(&folder)).start();
    let (name, value) = key_header(CHAT, ALICE.key);
    let key = [(name, value.as_str())];

    // The provider thinks about these for longer than anything may be held.
    let gate = sentinel_harness::provider::Gate::closed();
    let waits = gate.clone();
    gateway.provider.script(move |request| {
        let mut answer = faithful(request);
        answer.pieces.insert(0, Piece::Await(waits.clone()));
        answer
    });
    let get = || {
        let request = client::request(
            gateway.address(),
            Method::GET,
            "/openai/v1/models",
            &key,
            Empty::<bytes::Bytes>::new(),
        );
        tokio::spawn(client::send(request))
    };
    let thinking = get();
    eventually("the provider thinks", async || gateway.provider.count() == 1).await;

    let address = gateway.address();
    let held: Vec<_> = (0..HELD)
        .map(|_| {
            let (key, body) = (value.clone(), CHAT.ask(QUESTION, false).to_string());
            tokio::spawn(
                async move { client::post(address, path(CHAT), &[("authorization", &key)], body).await },
            )
        })
        .collect();
    eventually("all are held", async || {
        gateway.count("envoy_http_downstream_rq_active", &[("envoy_http_conn_manager_prefix", "agents")])
            == HELD as u64 + 1
    })
    .await;

    // Sends such requests until each worker has failed: Envoy decides which worker gets a connection.
    let names: Vec<String> = (0..40).map(|number| format!("x-h-{number}")).collect();
    let mut many = key.to_vec();
    many.extend(names.iter().map(|name| (name.as_str(), "1")));
    let failures = || gateway.envoy.log().matches("unreachable").count();
    eventually("the virtual machine of each worker has failed", async || {
        let refused = gateway.post(path(CHAT), &many, "{}".to_owned()).await;
        assert_eq!(refused.status, 503, "{:?}", refused.body);
        failures() >= WORKERS
    })
    .await;

    let mut ended = Vec::new();
    for request in held {
        let response = tokio::time::timeout(PATIENCE, request).await.expect("it is held no longer").unwrap();
        ended.push(response.status);
        // In the provider's own form, with a status that SDKs retry.
        assert_eq!(response.json()["error"]["type"], "server_error", "{:?}", response.body);
    }
    assert!(ended.iter().all(|status| [503, 504].contains(status)), "{ended:?}");

    // The filter is loaded afresh: nobody is refused for long.
    gateway.provider.script(faithful);
    eventually("requests pass again", async || {
        let request = client::request(
            gateway.address(),
            Method::GET,
            "/openai/v1/models",
            &key,
            Empty::<bytes::Bytes>::new(),
        );
        client::send(request).await.is_ok_and(|response| response.status == 200)
    })
    .await;
    assert!(gateway.count("envoy_wasm_sentinel_vm_reload_success", &[]) > 0);
    gate.open();
    let late = tokio::time::timeout(PATIENCE, thinking).await.expect("an end").unwrap();
    // The answer reaches a virtual machine that has failed, so Envoy breaks it off, whatever the failure policy says. The comment beside
    // `failure_policy` says so.
    assert!(late.is_err() || late.is_ok_and(|response| response.status == 503));
}

/// Without a fault, the idle time-out for held requests does not end a request that the filter has let go.
#[tokio::test]
async fn a_provider_may_think_for_longer_than_anything_is_held() {
    let mut builder = Gateway::builder();
    for name in ["openai", "anthropic", "gemini", "groq", "failover"] {
        let cluster = if name == "failover" { "openai" } else { name };
        let held = |time: &str| {
            format!(
                "{{name: {name}, match: {{path_separated_prefix: /{name}}}, route: {{cluster: {cluster}, idle_timeout: {time}}}}}"
            )
        };
        builder = builder.edit(&held("10s"), &held("1s"));
    }
    let gateway = builder.start();
    gateway.provider.script(|request| {
        let mut answer = faithful(request);
        answer.pieces.insert(0, Piece::Pause(Duration::from_secs(3)));
        answer
    });
    let (name, value) = key_header(CHAT, ALICE.key);
    let failover = async {
        gateway
            .post("/failover/v1/chat/completions", &[(name, &value)], CHAT.ask(QUESTION, false).to_string())
            .await
    };
    let asked = gateway.ask(CHAT, ALICE, &[("x-agent-id", "a")], QUESTION);
    let anthropic = gateway.ask(sentinel_harness::Dialect::Anthropic, ALICE, &[], QUESTION);
    let gemini = gateway.ask(sentinel_harness::Dialect::Gemini, ALICE, &[], QUESTION);
    let key = [(name, value.as_str())];
    let models = gateway.get("/groq/openai/v1/models", &key);
    let (a, b, c, d, e) = tokio::join!(asked, anthropic, gemini, models, failover);
    assert_eq!([a.status, b.status, c.status, d.status, e.status], [200; 5]);
}
