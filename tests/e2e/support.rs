//! What several modules assert.

use std::process::Command;
use std::time::Duration;

use sentinel_harness::client::Response;
use sentinel_harness::fake_service::Behaviour;
use sentinel_harness::provider::Received;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::said::short;
use sentinel_harness::{Dialect, Stack, parts};
use sentinel_proto::v1::CheckLoopResponse;
use sentinel_wire::pairing;

/// First words of the hint that the product specifies.
pub const HINT: &str = "You seem to be repeating similar requests.";

/// A question of more than four words.
pub const QUESTION: &str = "Which of the rivers in this region carries the most water in spring?";

/// Where it does not matter which dialect is spoken.
pub const CHAT: Dialect = Dialect::OpenaiChat;

/// The service's answer for a scope that is new.
pub fn nothing_similar() -> CheckLoopResponse {
    CheckLoopResponse::default()
}

/// The service's answer for a prompt that has come before.
pub fn similar() -> CheckLoopResponse {
    CheckLoopResponse {
        loop_detected: true,
        max_similarity: 1.0,
        matches: 2,
        compared: 2,
        ..CheckLoopResponse::default()
    }
}

/// Every request is hinted.
pub fn hinting() -> Stack {
    Stack::builder().fake(Behaviour::Answer(similar(), Duration::ZERO)).start()
}

/// No request is touched.
pub fn allowing() -> Stack {
    Stack::builder().fake(Behaviour::Answer(nothing_similar(), Duration::ZERO)).start()
}

/// A question of its own for each number, as a body.
pub fn question(number: usize) -> Vec<u8> {
    CHAT.ask(&format!("{QUESTION} {}", text_for(&number.to_string())), false).to_string().into_bytes()
}

/// The module that this text (wat) is.
pub fn assembled(text: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [from, to] = ["module.wat", "module.wasm"].map(|name| folder.path().join(name));
    std::fs::write(&from, text).expect("the text is written");
    let mut command = Command::new(parts::node());
    let done = command.arg(parts::wasm_opt()).arg(from).arg("-o").arg(&to).output().expect("Node starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(to).expect("a module")
}

/// What was put into `sent` to make `got`, if that is all that was changed: one insertion at one place.
pub fn inserted(sent: &[u8], got: &[u8]) -> Option<Vec<u8>> {
    let extra = got.len().checked_sub(sent.len())?;
    let head = sent.iter().zip(got).take_while(|(a, b)| a == b).count();
    let tail = &got[head + extra..];
    (sent[head..] == *tail).then(|| got[head..head + extra].to_vec())
}

/// The provider got this request with a hint in its place, and otherwise byte for byte as it was sent.
pub fn assert_hinted(dialect: Dialect, sent: &[u8], got: &Received) {
    let body = short(&String::from_utf8_lossy(&got.body), 2_000);
    let extra = inserted(sent, &got.body)
        .unwrap_or_else(|| panic!("{dialect:?}: more was changed than a hint put in: {body}"));
    assert!(!extra.is_empty(), "{dialect:?}: no hint was put in: {body}");
    // serde_json refuses these three. Providers accept them: Python's `json.loads` and `JSON.parse` read halves of surrogate
    // pairs. So does the filter, or a request could hide from its barriers.
    let readable = ["1e999", "\\ud800", "\\udc00"]
        .iter()
        .fold(String::from_utf8_lossy(&got.body).into_owned(), |body, odd| body.replace(odd, "1"));
    let readable = readable.trim_start_matches('\u{feff}');
    let parsed = serde_json::from_str(readable)
        .unwrap_or_else(|error| panic!("{dialect:?}: no JSON any more ({error}): {body}"));
    let system = dialect.system_text(&parsed);
    assert!(system.contains(HINT), "{dialect:?}: the hint does not stand where the model looks: {body}");
    if let Some(length) = got.header("content-length") {
        assert_eq!(length, got.body.len().to_string(), "{dialect:?}: content-length");
    }
}

/// The verdicts of asking the same thing again and again.
pub async fn verdicts_of(
    stack: &Stack,
    dialect: Dialect,
    agent: &str,
    text: &str,
    times: usize,
) -> Vec<String> {
    let mut verdicts = Vec::new();
    for _ in 0..times {
        verdicts.push(stack.ask(dialect, agent, text).await.verdict().to_owned());
    }
    verdicts
}

/// The provider's own answer, allowed.
pub fn assert_allowed(response: &Response, what: &str) {
    assert_eq!(response.status, 200, "{what}: {:?}", response.body);
    assert_eq!(response.verdict(), "allow", "{what}: reason {}", response.reason());
}

/// The signal in a reason; its evidence follows in the same header.
pub fn signal_of(response: &Response) -> &str {
    response.reason().split(';').next().unwrap_or_default()
}

/// The provider accepts this history: each call has its result, where the provider requires it.
pub fn assert_valid(dialect: Dialect, body: &serde_json::Value) {
    assert_eq!(pairing::complaint(dialect, body), None, "{dialect:?} refuses {body}");
}
