//! What a client posts to an MCP server: one JSON-RPC message or a batch of them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    json::{Unreadable, must_be_object},
    prompt::{canonical, digest, digest_pair},
    step::shown,
};

/// A JSON-RPC request: a message that wants an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The id as it stands in the message.
    pub id: String,
    /// Present where the method is `tools/call`.
    pub call: Option<Call>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Digest of tool and canonical arguments.
    pub digest: u64,
    /// The tool's name as it may stand in a header and a log.
    pub tool: String,
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
pub fn requests(body: &[u8]) -> Result<Vec<Request>, Unreadable> {
    let is_batch = is_batch(body);
    let body = std::str::from_utf8(body).map_err(|_| Unreadable::InvalidUtf8)?;
    if !is_batch {
        return Ok(request(body)?.into_iter().collect());
    }
    let batch: Vec<&RawValue> = serde_json::from_str(body)?;
    batch.into_iter().filter_map(|message| request(message.get()).transpose()).collect()
}

fn request(message: &str) -> Result<Option<Request>, Unreadable> {
    let Message { id, method, params } = serde_json::from_str(message)?;
    must_be_object(message)?;
    let (Some(id), Some(method)) = (id, method) else { return Ok(None) };
    let call = if method == "tools/call" { params.and_then(call) } else { None };
    Ok(Some(Request { id: id.get().to_owned(), call }))
}

fn call(params: &RawValue) -> Option<Call> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow, default)]
        arguments: Option<&'a RawValue>,
    }
    must_be_object(params.get()).ok()?;
    let Params { name, arguments } = serde_json::from_str(params.get()).ok()?;
    let arguments = canonical(arguments.map_or("{}", RawValue::get)).digest;
    let digest = digest_pair(digest(name.as_bytes()), arguments);
    Some(Call { digest, tool: shown(&name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(body: &str) -> Request {
        requests(body.as_bytes()).unwrap().pop().unwrap()
    }

    #[test]
    fn the_same_call_is_the_same_whatever_its_id_and_order() {
        let a = one(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"a":1,"b":2}}}"#,
        );
        let b = one(
            r#"{"method":"tools/call","params":{"arguments":{"b":2,"a":1},"name":"f","_meta":{"x":1}},"id":"z"}"#,
        );
        assert_eq!((a.id.as_str(), b.id.as_str()), ("1", "\"z\""));
        assert_eq!(a.call, b.call);
        assert_eq!(a.call.unwrap().tool, "f");
        let none = one(r#"{"id":1,"method":"tools/call","params":{"name":"f"}}"#);
        let empty = one(r#"{"id":1,"method":"tools/call","params":{"name":"f","arguments":{}}}"#);
        assert_eq!(none.call, empty.call);
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
