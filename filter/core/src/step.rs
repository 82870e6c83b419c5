//! Steps: what the agent did and what came of it, read from the history that every request carries. No signal is
//! judged here, and nothing of a dialect is known: its reader calls in the order of the history.

use std::{borrow::Cow, collections::VecDeque};

use serde_json::{Value, value::RawValue};

use crate::{
    json,
    prompt::{canonical, digest, digest_pair, words},
};

/// Steps that are remembered: five rounds of the longest cycle, and room for what lies between.
pub const LENGTH: usize = 48;
/// Results are looked into up to this size (bytes); beyond it their digest must do.
const MAX_RESULT: usize = 4_096;
/// Results are taken out of what they are wrapped in up to this size (bytes).
const MAX_WRAPPED: usize = 65_536;
/// Receipts ("3 lines written to notes.txt") are not longer than this (words).
const RECEIPT_WORDS: usize = 12;
/// Nor are reports that nothing came of a call (words).
const SHORT_WORDS: usize = 60;

/// One assistant turn and its outcome. A parallel fan-out is one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Digest of the multiset of (tool name, canonical arguments).
    pub approach: u64,
    /// Digest of the multiset of results.
    pub outcome: u64,
    /// Digest of the multiset of tool names.
    pub tools: u64,
    /// Name of the first tool, for people to read: letters, digits and `_.-/:` only.
    pub tool: String,
    pub kind: Kind,
}

/// What a result amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It merely says that something was done ("OK.", "3 lines written"): different writes end alike.
    Receipt,
    /// It says that nothing came of it: an error, nothing found, nothing at all.
    Failure,
    Substance,
}

/// Collects the steps of one history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepReader {
    pub(crate) turns: VecDeque<Turn>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    pub calls: Vec<Call>,
}

/// A call, and its result once there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub id: u64,
    pub name: u64,
    pub approach: u64,
    pub is_send: bool,
    pub result: Option<(u64, Kind)>,
    /// The tool's name, at the first call of a turn.
    pub shown: Option<String>,
}

/// A result whose call is not in the same body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayResult {
    id: u64,
    /// Digest of the result, for most tools and for those that send.
    outcomes: [u64; 2],
    kind: Kind,
}

impl StrayResult {
    pub fn of(id: &str, result: Option<&RawValue>) -> Self {
        let raw = result.map_or("", RawValue::get);
        Self {
            id: digest(id.as_bytes()),
            outcomes: [outcome(raw, false), outcome(raw, true)],
            kind: kind(raw),
        }
    }
}

impl StepReader {
    /// A new assistant turn begins.
    pub fn turn(&mut self) {
        // A turn without calls is no step and leaves no trace.
        if self.turns.back().is_none_or(|turn| !turn.calls.is_empty()) {
            if self.turns.len() >= LENGTH {
                self.turns.pop_front();
            }
            self.turns.push_back(Turn::default());
        }
    }

    /// A call of the turn. `arguments` is JSON, or JSON inside a JSON string, or whatever the model wrote.
    pub fn call(&mut self, id: &str, name: &str, arguments: &str) {
        if self.turns.is_empty() {
            self.turn();
        }
        let Some(turn) = self.turns.back_mut() else { return };
        let shown = turn.calls.is_empty().then(|| shown(name));
        turn.calls.push(Call {
            id: digest(id.as_bytes()),
            name: digest(name.as_bytes()),
            approach: digest_pair(digest(name.as_bytes()), canonical(arguments)),
            is_send: is_send(name),
            result: None,
            shown,
        });
    }

    /// The result of the call that has this id: of the last such call that has none yet. Others say nothing.
    pub fn result(&mut self, id: &str, result: Option<&RawValue>, is_error: bool) {
        let id = digest(id.as_bytes());
        if let Some(call) = self.open_call(|call| call.id == id) {
            call.resolve(result, is_error);
        }
    }

    /// A result that was read before its call was known.
    pub fn stray_result(&mut self, result: &StrayResult) {
        if let Some(call) = self.open_call(|call| call.id == result.id) {
            let [plain, sent] = result.outcomes;
            call.result = Some((if call.is_send { sent } else { plain }, result.kind));
        }
    }

    /// The result of a call that only its tool's name is known of: of the first such call of the last turn.
    pub fn result_of_tool(&mut self, name: &str, result: Option<&RawValue>) {
        let name = digest(name.as_bytes());
        if let Some(call) = self.open_call(|call| call.name == name) {
            call.resolve(result, false);
        }
    }

    fn open_call(&mut self, is_meant: impl Fn(&Call) -> bool) -> Option<&mut Call> {
        let turns = self.turns.iter_mut().rev();
        let mut open =
            turns.map(|turn| turn.calls.iter_mut().find(|call| call.result.is_none() && is_meant(call)));
        open.find_map(|call| call)
    }

    /// A genuine user message: only what follows it counts.
    pub fn user(&mut self) {
        self.turns.clear();
    }

    /// The steps, oldest first. A turn with a call that has no result is none.
    pub fn finish(self) -> Vec<Step> {
        self.turns.into_iter().filter_map(Turn::into_step).collect()
    }
}

impl Call {
    fn resolve(&mut self, result: Option<&RawValue>, is_error: bool) {
        let raw = result.map_or("", RawValue::get);
        let kind = if is_error { Kind::Failure } else { kind(raw) };
        self.result = Some((outcome(raw, self.is_send), kind));
    }
}

impl Turn {
    fn into_step(self) -> Option<Step> {
        let results: Vec<(u64, Kind)> = self.calls.iter().map(|call| call.result).collect::<Option<_>>()?;
        // Sums, since the order within a turn does not count.
        let sum = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::wrapping_add);
        Some(Step {
            approach: sum(&mut self.calls.iter().map(|call| call.approach)),
            outcome: sum(&mut results.iter().map(|(digest, _)| *digest)),
            tools: sum(&mut self.calls.iter().map(|call| call.name)),
            kind: if results.iter().any(|(_, kind)| *kind == Kind::Failure) {
                Kind::Failure
            } else if results.iter().all(|(_, kind)| *kind == Kind::Receipt) {
                Kind::Receipt
            } else {
                Kind::Substance
            },
            tool: self.calls.into_iter().next()?.shown.unwrap_or_default(),
        })
    }
}

/// A tool's name as it may stand in a header and a log.
pub fn shown(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || "_.-/:".contains(*c)).take(64).collect()
}

/// Whether the tool sends something, so that its receipt has a new id each time.
fn is_send(name: &str) -> bool {
    const VERBS: [&str; 8] = ["send", "post", "publish", "notify", "reply", "submit", "email", "message"];
    let name = name.to_ascii_lowercase();
    VERBS.iter().any(|verb| name.contains(verb))
}

/// Digest of a result. The id that a send returns does not count.
fn outcome(raw: &str, is_send: bool) -> u64 {
    let text = said(raw);
    if is_send
        && raw.len() <= MAX_RESULT
        && let Ok(mut value) = serde_json::from_str::<Value>(&text)
        && (value.is_object() || value.is_array())
    {
        remove_ids(&mut value);
        return canonical(&value.to_string());
    }
    digest(text.trim().as_bytes())
}

/// What a result says, out of what it is wrapped in: a string, a list of texts, or an object with one member that
/// dialects and frameworks call `output` or `result`. Anything else stands for itself.
fn said(raw: &str) -> Cow<'_, str> {
    let unwrapped = match raw.trim_start().bytes().next() {
        Some(b'"') => return serde_json::from_str(raw).unwrap_or(Cow::Borrowed(raw)),
        Some(b'[' | b'{') if raw.len() <= MAX_WRAPPED => serde_json::from_str(raw).ok().and_then(unwrap),
        _ => None,
    };
    unwrapped.map_or(Cow::Borrowed(raw), Cow::Owned)
}

fn unwrap(value: Value) -> Option<String> {
    match value {
        Value::Array(blocks) if !blocks.is_empty() => {
            let texts: Option<Vec<&str>> =
                blocks.iter().map(|block| block.get("text").and_then(Value::as_str)).collect();
            Some(texts?.join("\n"))
        }
        Value::Object(members) if members.len() == 1 => match members.into_iter().next()? {
            (key, Value::String(text)) if is_wrapper(&key) => Some(text),
            (key, inner) if is_wrapper(&key) => Some(inner.to_string()),
            _ => None,
        },
        _ => None,
    }
}

fn is_wrapper(key: &str) -> bool {
    matches!(key, "output" | "result")
}

fn remove_ids(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| !is_id_key(key));
            members.values_mut().for_each(remove_ids);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_ids),
        _ => {}
    }
}

fn is_id_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key == "id" || key == "ts" || key.ends_with("_id") || key.ends_with("uuid") || key == "messageid"
}

/// What a short text says, by the words that it begins with; a long text is substance whatever it says.
fn kind(raw: &str) -> Kind {
    const FAILURES: [&str; 23] = [
        "error",
        "errors",
        "fail",
        "failed",
        "failure",
        "exception",
        "invalid",
        "unknown",
        "unable",
        "cannot",
        "can't",
        "denied",
        "refused",
        "forbidden",
        "missing",
        "not",
        "no",
        "none",
        "nothing",
        "null",
        "timeout",
        "unavailable",
        "couldn't",
    ];
    if raw.len() > MAX_RESULT {
        return Kind::Substance;
    }
    let text = said(raw);
    let mut count = 0_usize;
    let mut is_failure = false;
    for word in words(&text).take(SHORT_WORDS.saturating_add(1)) {
        count = count.saturating_add(1);
        is_failure |=
            count <= RECEIPT_WORDS && FAILURES.iter().any(|failure| word.eq_ignore_ascii_case(failure));
    }
    match count {
        0 => Kind::Failure,
        1..=SHORT_WORDS if is_failure => Kind::Failure,
        1..=RECEIPT_WORDS => Kind::Receipt,
        _ => Kind::Substance,
    }
}

/// A call's arguments where they may be text or an object.
pub fn arguments(raw: Option<&RawValue>) -> Cow<'_, str> {
    match raw {
        None => Cow::Borrowed("{}"),
        Some(raw) => json::string(raw).unwrap_or(Cow::Borrowed(raw.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(serde_json::to_string(text).unwrap()).unwrap()
    }

    fn step(calls: &[(&str, &str, &str)]) -> Step {
        let mut reader = StepReader::default();
        reader.turn();
        for (n, (name, arguments, _)) in calls.iter().enumerate() {
            reader.call(&n.to_string(), name, arguments);
        }
        for (n, (.., result)) in calls.iter().enumerate() {
            reader.result(&n.to_string(), Some(&raw(result)), false);
        }
        reader.finish().pop().unwrap()
    }

    #[test]
    fn order_ids_and_wrapping_do_not_count() {
        let one = step(&[("read", r#"{"a":1,"b":2}"#, "x"), ("list", "{}", "y")]);
        let two = step(&[("list", "", "y"), ("read", r#""{\"b\": 2, \"a\": 1}""#, "x")]);
        assert_eq!((one.approach, one.outcome, one.tools), (two.approach, two.outcome, two.tools));
        assert_eq!(one.tool, "read");
    }

    #[test]
    fn arguments_and_results_count() {
        let one = step(&[("read", r#"{"a":1}"#, "x")]);
        assert_ne!(one.approach, step(&[("read", r#"{"a":2}"#, "x")]).approach);
        assert_ne!(one.outcome, step(&[("read", r#"{"a":1}"#, "y")]).outcome);
        assert_eq!(one.outcome, step(&[("other", r#"{"a":2}"#, "x")]).outcome);
    }

    #[test]
    fn a_call_without_result_is_no_step_and_a_stray_result_says_nothing() {
        let mut reader = StepReader::default();
        reader.result("1", Some(&raw("early")), false);
        reader.turn();
        reader.call("1", "f", "{}");
        reader.call("2", "g", "{}");
        reader.result("1", Some(&raw("x")), false);
        reader.result("1", Some(&raw("again")), false);
        reader.result("unknown", Some(&raw("x")), false);
        assert_eq!(reader.finish(), []);
    }

    #[test]
    fn ids_count_except_in_what_a_send_returns() {
        let receipt = |id: &str| format!(r#"{{"message_id":"{id}","status":"queued for delivery"}}"#);
        assert_eq!(
            step(&[("send_mail", "{}", &receipt("a1"))]).outcome,
            step(&[("send_mail", "{}", &receipt("b2"))]).outcome
        );
        assert_ne!(
            step(&[("list_mail", "{}", &receipt("a1"))]).outcome,
            step(&[("list_mail", "{}", &receipt("b2"))]).outcome
        );
    }

    #[test]
    fn results_are_told_apart_by_what_they_say() {
        let kind = |text: &str| step(&[("write", "{}", text)]).kind;
        for text in ["OK.", "Done", "3 lines written to notes.txt", "true"] {
            assert_eq!(kind(text), Kind::Receipt, "{text}");
        }
        for text in ["", "[]", "{}", "No results found", "error: file is locked", "null"] {
            assert_eq!(kind(text), Kind::Failure, "{text}");
        }
        assert_eq!(kind(&"word ".repeat(30)), Kind::Substance);
        assert_eq!(kind(&format!("No {}", "word ".repeat(100))), Kind::Substance);
    }

    #[test]
    fn what_a_result_is_wrapped_in_does_not_count() {
        for text in ["[]", "No results found", "OK.", "{\"a\": 1}"] {
            let quoted = serde_json::to_string(text).unwrap();
            for wrapped in [
                format!(r#"[{{"type":"text","text":{quoted}}}]"#),
                format!(r#"[{{"type":"text","text":{quoted},"cache_control":{{"type":"ephemeral"}}}}]"#),
                format!(r#"{{"output":{quoted}}}"#),
                format!(r#"{{ "result" : {quoted} }}"#),
            ] {
                assert_eq!(outcome(&wrapped, false), outcome(&quoted, false), "{wrapped}");
                assert_eq!(kind(&wrapped), kind(&quoted), "{wrapped}");
            }
        }
        assert_ne!(
            outcome(r#"{"output":"a","more":1}"#, false),
            outcome(r#"{"output":"a","more":2}"#, false)
        );
        assert_ne!(outcome(r#"[{"type":"image","data":"a"}]"#, false), outcome("\"\"", false));
        let receipt = |id: &str| format!(r#"{{"output":{{"message_id":"{id}","status":"sent"}}}}"#);
        assert_eq!(outcome(&receipt("a"), true), outcome(&receipt("b"), true));
    }

    #[test]
    fn only_the_last_steps_are_kept_and_a_user_message_ends_them() {
        let mut reader = StepReader::default();
        for n in 0..200 {
            reader.turn();
            reader.call(&n.to_string(), "f", &n.to_string());
            reader.result(&n.to_string(), None, false);
        }
        reader.user();
        assert_eq!(reader.finish(), []);
    }

    #[test]
    fn a_shown_name_holds_no_surprises() {
        assert_eq!(step(&[("get\r\nx: y\u{0}", "{}", "")]).tool, "getx:y");
    }
}
