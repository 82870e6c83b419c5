//! Bytes that are no UTF-8, in every place where a peer can put them: the agent, the provider, the embedding service, the
//! collector. The request goes on, the answer comes as it was sent, and the filter looks at the next request.

mod answers;
mod grpc;

use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use sentinel_harness::fake_service::Behaviour;
use sentinel_harness::provider::{Answer, Piece};
use sentinel_harness::raw::{RawConnection, RawResponse};
use sentinel_harness::stack::HELD;
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::{CHAT, QUESTION, nothing_similar};
use sentinel_wire::Run;

/// What no text in UTF-8 begins or ends with.
const FOREIGN: &[u8] = b"\xff\xfe caf\xe9 \xc3";

/// A stack in which a request that hangs is answered by Envoy after some seconds.
fn stack(config: &serde_json::Value) -> Stack {
    Stack::builder()
        .fake(Behaviour::Answer(nothing_similar(), Duration::ZERO))
        .config(config)
        .edit("idle_timeout: 60s}", HELD)
        .start()
}

/// The collector stands behind the same name as the embedding service.
fn with_traces() -> serde_json::Value {
    json!({"traces": {"attributes": true, "cluster": "embedding_service"}})
}

fn by_default() -> Stack {
    stack(&json!({}))
}

/// What was wrong, over all cases of a test.
#[derive(Default)]
struct Findings {
    all: Vec<String>,
    /// How often the module had been loaded anew after the last case.
    reloads: u64,
}

impl Findings {
    fn expect(&mut self, met: bool, what: impl FnOnce() -> String) {
        if !met {
            self.all.push(what());
        }
    }

    /// The request went on and was answered by the provider; after it, the filter looks at another one.
    fn judge(&mut self, stack: &Stack, what: &str, response: Option<&RawResponse>) {
        let status = response.map(|response| response.status);
        self.expect(status == Some(200), || format!("{what}: answered {}", said(status)));
        self.still_works(stack, what);
    }

    fn still_works(&mut self, stack: &Stack, what: &str) {
        let body = CHAT.ask(QUESTION, false).to_string();
        // An agent of its own: nothing has come before.
        let next = send(stack, CHAT.path(false), &[("x-agent-id", what.as_bytes())], body.as_bytes());
        let verdict = next.as_ref().and_then(|next| field(&next.head, "x-sentinel-verdict"));
        let status = next.as_ref().map(|next| next.status);
        self.expect(status == Some(200) && verdict.as_deref() == Some("allow"), || {
            format!("{what}: the next request is answered {}, verdict {verdict:?}", said(status))
        });
        let before = std::mem::replace(&mut self.reloads, stack.reloads());
        self.expect(self.reloads == before, || format!("{what}: the module had to be loaded anew"));
    }

    fn none(self, stack: &mut Stack) {
        assert!(self.all.is_empty(), "{} findings:\n{}", self.all.len(), self.all.join("\n"));
        stack.assert_sound();
    }
}

fn said(status: Option<u16>) -> String {
    status.map_or_else(|| "not at all".to_owned(), |status| status.to_string())
}

fn field(head: &str, name: &str) -> Option<String> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}

/// POSTs over HTTP/1.1, as it is given.
fn send(stack: &Stack, path: &str, headers: &[(&str, &[u8])], body: &[u8]) -> Option<RawResponse> {
    send_to(stack, path.as_bytes(), headers, body)
}

fn send_to(stack: &Stack, path: &[u8], headers: &[(&str, &[u8])], body: &[u8]) -> Option<RawResponse> {
    let mut request = [b"POST ", path, b" HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"].concat();
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        request.extend_from_slice(b"content-type: application/json\r\n");
    }
    for (name, value) in headers {
        request.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    request.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
    let mut connection = RawConnection::open(stack.address());
    connection.write(&[&request, body].concat());
    connection.response()
}

/// One question, as the agent `what` asks it.
fn ask(stack: &Stack, dialect: Dialect, stream: bool, what: &str) -> Option<RawResponse> {
    let body = dialect.ask(QUESTION, stream).to_string();
    send(stack, dialect.path(stream), &[("x-agent-id", what.as_bytes())], body.as_bytes())
}

fn headers(all: &[(&str, &[u8])]) -> HeaderMap {
    let value = |value: &[u8]| HeaderValue::from_bytes(value).expect("bytes that HTTP allows");
    all.iter().map(|(name, bytes)| (name.parse::<HeaderName>().expect("a name"), value(bytes))).collect()
}

/// Every one that the filter reads, those that it sets itself, and some of which it should know nothing.
const REQUEST_HEADERS: [&str; 20] = [
    "x-agent-id",
    "x-run-id",
    "x-tenant-id",
    "content-type",
    "content-encoding",
    "x-stainless-retry-count",
    "x-request-id",
    "traceparent",
    "tracestate",
    "mcp-session-id",
    "authorization",
    "user-agent",
    "accept",
    "cookie",
    "x-sentinel-verdict",
    "x-sentinel-reason",
    "x-sentinel-scope",
    "x-sentinel-client",
    "grpc-timeout",
    "x-more",
];

/// Where traces are on as well: then the filter reads more of them.
#[tokio::test]
async fn in_each_header_of_a_request() {
    for config in [json!({}), with_traces()] {
        let mut stack = stack(&config);
        let mut findings = Findings::default();
        let mut run = Run::new(CHAT, QUESTION);
        run.step("read_page", r#"{"of":"rivers"}"#, "It rains.");
        for body in [CHAT.ask(QUESTION, false).to_string(), run.body(false)] {
            for name in REQUEST_HEADERS {
                // The same question from one agent again and again would be a loop.
                let named = ["x-agent-id", "x-run-id"].into_iter().filter(|other| *other != name);
                let mut all: Vec<(&str, &[u8])> = named.map(|header| (header, name.as_bytes())).collect();
                all.push((name, FOREIGN));
                let response = send(&stack, CHAT.path(false), &all, body.as_bytes());
                findings.judge(&stack, name, response.as_ref());
            }
        }
        findings.none(&mut stack);
    }
}

/// Envoy may refuse them itself; then they do not come to the filter.
#[tokio::test]
async fn in_the_path_and_the_query() {
    let mut stack = by_default();
    let mut findings = Findings::default();
    let body = CHAT.ask(QUESTION, false).to_string();
    for (what, path) in [
        ("path, raw", [b"/caf\xe9".as_slice(), CHAT.path(false).as_bytes()].concat()),
        ("path, escaped", [b"/caf%E9%FF".as_slice(), CHAT.path(false).as_bytes()].concat()),
        ("query, raw", [CHAT.path(false).as_bytes(), b"?a=\xff\xfe"].concat()),
        ("query, escaped", [CHAT.path(false).as_bytes(), b"?a=%FF%FE"].concat()),
        ("model, escaped", b"/v1beta/models/caf%E9:generateContent".to_vec()),
        ("model, raw", b"/v1beta/models/caf\xe9:generateContent".to_vec()),
    ] {
        let response = send_to(&stack, &path, &[("x-agent-id", what.as_bytes())], body.as_bytes());
        let status = response.map(|response| response.status);
        let refused = status == Some(400) && what.ends_with("raw");
        // The mock knows no such path of the API: 404 is its own answer.
        let answered = matches!(status, Some(200 | 404));
        findings.expect(refused || answered, || format!("{what}: answered {}", said(status)));
        findings.still_works(&stack, what);
    }
    findings.none(&mut stack);
}

#[tokio::test]
async fn in_the_body_of_a_request() {
    let mut stack = by_default();
    let mut findings = Findings::default();
    for dialect in Dialect::ALL {
        let whole = dialect.ask(QUESTION, false).to_string().into_bytes();
        let at = whole.windows(6).position(|window| window == b"rivers").expect("the question is there");
        let inside = [&whole[..at], FOREIGN, &whole[at..]].concat();
        for (what, body) in [("inside a text", inside), ("all of it", FOREIGN.repeat(50))] {
            let what = format!("{dialect:?}, {what}");
            let response = send(&stack, dialect.path(false), &[("x-agent-id", b"a")], &body);
            let got = stack.provider.received().last().map(|got| got.body.to_vec());
            findings.expect(got.as_deref() == Some(body.as_slice()), || {
                format!("{what}: the provider did not get what was sent")
            });
            findings.judge(&stack, &what, response.as_ref());
        }
    }
    findings.none(&mut stack);
}

#[tokio::test]
async fn in_what_is_spoken_with_an_mcp_server() {
    let mut stack = stack(&json!({"mcp": {"paths": [{"prefix": "/mcp"}]}}));
    let mut findings = Findings::default();
    let call =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}"#;
    let foreign = [&call[..call.len() - 4], b",\"b\":\"", FOREIGN, b"\"}}}"].concat();
    for (what, session, body) in [
        ("session", FOREIGN, call.as_slice()),
        ("body", b"s", foreign.as_slice()),
        ("both", FOREIGN, &foreign),
    ] {
        for name in ["mcp-session-id", "mcp-protocol-version", "last-event-id"] {
            let what = format!("{what}, {name}");
            let response = send(&stack, "/mcp", &[(name, session), ("x-agent-id", b"a")], body);
            findings.judge(&stack, &what, response.as_ref());
        }
    }
    for kind in ["application/json", "text/event-stream"] {
        let answer = Answer::of(200, kind, vec![Piece::Bytes(FOREIGN.to_vec().into())]);
        stack.provider.script(move |_| answer.clone());
        let response = send(&stack, "/mcp", &[("mcp-session-id", b"s")], call);
        stack.provider.script(sentinel_harness::provider::faithful);
        findings.judge(&stack, &format!("an answer, {kind}"), response.as_ref());
    }
    findings.none(&mut stack);
}
