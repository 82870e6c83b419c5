//! What a client posts to an MCP server: one JSON-RPC message or a batch of them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{self, Unreadable, must_be_object};

/// A JSON-RPC request: a message that wants an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The id as it stands in the message.
    pub id: &'a str,
    /// Present where the method is `tools/call`.
    pub call: Option<ToolCall<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall<'a> {
    pub tool: Cow<'a, str>,
    /// JSON.
    pub arguments: &'a str,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// Whether a body is a batch.
pub fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"[")
}

/// The requests in a body. Notifications and responses want no answer and are none.
pub fn requests(body: &[u8]) -> Result<Vec<Request<'_>>, Unreadable> {
    let is_batch = is_batch(body);
    let body = std::str::from_utf8(body).map_err(|_| Unreadable::InvalidUtf8)?;
    if !is_batch {
        return Ok(request(body)?.into_iter().collect());
    }
    let batch: Vec<&RawValue> = json::read(body)?;
    batch.into_iter().filter_map(|message| request(message.get()).transpose()).collect()
}

fn request(message: &str) -> Result<Option<Request<'_>>, Unreadable> {
    let Message { id, method, params }: Message<'_> = json::read(message)?;
    must_be_object(message)?;
    let (Some(id), Some(method)) = (id, method) else { return Ok(None) };
    let call = if method == "tools/call" { params.and_then(call) } else { None };
    Ok(Some(Request { id: id.get(), call }))
}

fn call(params: &RawValue) -> Option<ToolCall<'_>> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow, default)]
        arguments: Option<&'a RawValue>,
    }
    must_be_object(params.get()).ok()?;
    let Params { name, arguments } = json::read(params.get()).ok()?;
    Some(ToolCall { tool: name, arguments: arguments.map_or("{}", RawValue::get) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(body: &str) -> Request<'_> {
        requests(body.as_bytes()).unwrap().pop().unwrap()
    }

    #[test]
    fn a_call_is_its_tool_and_its_arguments() {
        let call = one(
            r#"{"method":"tools/call","params":{"arguments":{"b":2},"name":"f","_meta":{"x":1}},"id":"z"}"#,
        );
        assert_eq!(call.id, "\"z\"");
        assert_eq!(call.call, Some(ToolCall { tool: "f".into(), arguments: r#"{"b":2}"# }));
        let bare = one(r#"{"id":1,"method":"tools/call","params":{"name":"f"}}"#);
        assert_eq!(bare.call.unwrap().arguments, "{}");
    }

    #[test]
    fn other_messages_are_no_calls() {
        assert_eq!(one(r#"{"id":1,"method":"tools/list"}"#).call, None);
        assert_eq!(one(r#"{"id":1,"method":"tools/call","params":[1]}"#).call, None);
        assert_eq!(one(r#"{"id":1,"method":"tools/call"}"#).call, None);
        for silent in [r#"{"method":"notifications/initialized"}"#, r#"{"id":1,"result":{}}"#, "[]"] {
            assert_eq!(requests(silent.as_bytes()), Ok(Vec::new()), "{silent}");
        }
        for broken in ["", "7", "{", "[7]", r#"[[1,"tools/call",{}]]"#, "\"tools/call\""] {
            assert!(requests(broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_batch_is_all_of_its_requests() {
        let batch = r#"[{"id":1,"method":"ping"},{"method":"notifications/x"},{"id":2,"method":"tools/call","params":{"name":"f"}}]"#;
        let found = requests(batch.as_bytes()).unwrap();
        assert_eq!(found.iter().map(|request| request.call.is_some()).collect::<Vec<_>>(), [false, true]);
    }
}
