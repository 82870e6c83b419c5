//! `make up`: the demo bootstrap before a provider that the user names, and what it says to do next.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use sentinel_harness::Stack;
use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::client::{Response, post};
use sentinel_harness::envoy::{Envoy, assert_valid};
use sentinel_harness::provider::Provider;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::real_provider::{RealProvider, next_steps};
use sentinel_harness::tls::{Certificate, Relay};

use crate::support::{CHAT, QUESTION};

/// The demo bootstrap on free ports, led to this provider.
fn towards(provider: &RealProvider, roots: &Path) -> Bootstrap {
    let mut bootstrap = Bootstrap::demo();
    provider.lead(&mut bootstrap, roots);
    bootstrap
}

async fn ask(envoy: &Envoy, path: &str) -> Response {
    let headers = [("x-agent-id", "a"), ("x-run-id", "a"), ("authorization", "Bearer sk-1")];
    post(envoy.address(), path, &headers, CHAT.ask(QUESTION, false).to_string()).await
}

#[tokio::test]
async fn a_provider_named_by_its_url_is_reached_over_tls_with_its_own_name_path_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    let certificate = Certificate::of(&["localhost"]);
    fs::write(&roots, &certificate.pem).unwrap();
    let mock = Provider::start();
    let relay = Relay::start(mock.port(), &certificate);
    let provider = RealProvider::parse(&format!("https://localhost:{}/openai/v1/", relay.port())).unwrap();
    let envoy = Envoy::start(folder.path(), &towards(&provider, &roots));
    assert_eq!(provider.base_url(envoy.address()), format!("http://{}/openai/v1", envoy.address()));

    let mut verdicts = Vec::new();
    for _ in 0..4 {
        let response = ask(&envoy, "/openai/v1/chat/completions?a=b%20c").await;
        assert_eq!((response.status, CHAT.answer_text(&response.body)), (200, text_for(QUESTION)));
        verdicts.push(response.verdict().to_owned());
    }
    // There is no service beside it: the hint is the score's.
    assert_eq!(verdicts, ["allow", "allow", "allow", "hint"]);
    let got = mock.received().remove(0);
    assert_eq!(got.host(), Some(format!("localhost:{}", relay.port())));
    assert_eq!(got.path, "/openai/v1/chat/completions?a=b%20c");
    assert_eq!(got.header("authorization"), Some("Bearer sk-1"));
    assert_eq!(relay.names()[0], "localhost");
}

#[tokio::test]
async fn a_provider_with_somebody_elses_certificate_is_not_spoken_to() {
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    let certificate = Certificate::of(&["elsewhere.example.com"]);
    fs::write(&roots, &certificate.pem).unwrap();
    let mock = Provider::start();
    let relay = Relay::start(mock.port(), &certificate);
    let provider = RealProvider::parse(&format!("https://localhost:{}", relay.port())).unwrap();
    let envoy = Envoy::lent(&towards(&provider, &roots));
    assert_eq!(ask(&envoy, "/v1/chat/completions").await.status, 503);
    assert_eq!(mock.count(), 0);
}

#[tokio::test]
async fn a_provider_without_tls_is_reached_too() {
    let mock = Provider::start();
    let provider = RealProvider::parse(&format!("http://127.0.0.1:{}", mock.port())).unwrap();
    let envoy = Envoy::lent(&towards(&provider, Path::new("/no/such/file")));
    assert_eq!(ask(&envoy, "/v1/chat/completions").await.status, 200);
    assert_eq!(mock.last().host(), Some(format!("127.0.0.1:{}", mock.port())));
}

#[test]
fn every_kind_of_url_makes_a_valid_bootstrap() {
    let roots = tempfile::NamedTempFile::new().unwrap();
    fs::write(roots.path(), Certificate::of(&["localhost"]).pem).unwrap();
    for url in ["https://api.openai.com", "https://[2001:db8::1]:8443/v1", "http://localhost:11434/v1"] {
        let bootstrap = towards(&RealProvider::parse(url).unwrap(), roots.path());
        assert_valid(url, &Envoy::validate_without_filter(&bootstrap, &[]));
    }
}

#[test]
fn a_url_that_cannot_be_meant_is_refused_with_what_to_write() {
    for (url, what) in [
        ("api.openai.com", "neither https:// nor http://"),
        ("ftp://api.openai.com", "neither https:// nor http://"),
        ("https://sk-1@api.openai.com", "a key does not belong into it"),
        ("https://api.openai.com?key=1", "it has a query"),
        ("https://", "it is no URL"),
    ] {
        let said = RealProvider::parse(url).unwrap_err();
        assert!(said.contains(what) && said.contains("PROVIDER=https://api.openai.com"), "{said}");
    }
}

#[test]
fn each_sdk_is_told_by_its_own_variable() {
    let listener = SocketAddr::from(([127, 0, 0, 1], 10000));
    for (url, setting) in [
        ("https://api.openai.com", "OPENAI_BASE_URL=http://127.0.0.1:10000/v1"),
        ("https://api.openai.com/v1", "OPENAI_BASE_URL=http://127.0.0.1:10000/v1"),
        ("https://api.groq.com/openai/v1", "OPENAI_BASE_URL=http://127.0.0.1:10000/openai/v1"),
        ("https://api.anthropic.com", "ANTHROPIC_BASE_URL=http://127.0.0.1:10000"),
        ("https://generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:10000"),
    ] {
        assert_eq!(RealProvider::parse(url).unwrap().sdk_setting(listener), setting, "{url}");
    }
}

/// The commands that it says, run as they stand. Without the service the hint comes one request later.
#[tokio::test(flavor = "multi_thread")]
async fn what_it_says_to_do_next_works() {
    let stack = Stack::builder().start();
    let log = stack.envoy.log_file();
    let steps = next_steps(stack.address(), stack.envoy.admin(), log, None);
    assert!(steps.iter().all(|step| !step.contains('\n')));
    let run = |step: &str| {
        let command = step.split_once(':').unwrap().1;
        let output = Command::new("bash").args(["-c", command]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let verdicts: Vec<String> = run(&steps[2])
        .lines()
        .filter_map(|line| Some(line.split_once("verdict: ")?.1.trim().to_owned()))
        .collect();
    assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"]);
    assert!(run(&steps[3]).contains("verdict=\"kill\""), "{}", run(&steps[3]));
    assert!(steps[4].contains(&log.display().to_string()) && log.exists());

    let real = RealProvider::parse("https://api.openai.com").unwrap();
    let steps = next_steps(stack.address(), stack.envoy.admin(), log, Some(&real));
    assert!(steps[0].ends_with(&format!("OPENAI_BASE_URL=http://{}/v1", stack.address())));
}
