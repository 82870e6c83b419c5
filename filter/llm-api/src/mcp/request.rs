//! Reads what a client posts to an MCP server: one JSON-RPC message or a batch.

use std::borrow::Cow;

use crate::json::{self, Raw, Unreadable};

/// A JSON-RPC request, which expects an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The id as it stands in the message.
    pub id: &'a str,
    /// Present if the method is `tools/call`.
    pub call: Option<McpToolCall<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpToolCall<'a> {
    pub tool: Cow<'a, str>,
    /// JSON.
    pub arguments: &'a str,
}

/// Whether a body is a batch.
pub fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"[")
}

/// The requests in a body, without notifications and responses, which expect no answer.
pub fn requests(body: &[u8]) -> Result<Vec<Request<'_>>, Unreadable> {
    let is_batch = is_batch(body);
    let body = std::str::from_utf8(body).map_err(|_| Unreadable::InvalidUtf8)?;
    let whole = Raw::read(body)?;
    if !is_batch {
        return Ok(request(whole)?.into_iter().collect());
    }
    whole.elements().filter_map(|message| request(message).transpose()).collect()
}

fn request(message: Raw<'_>) -> Result<Option<Request<'_>>, Unreadable> {
    let [id, method, params] = message.pick(["id", "method", "params"])?;
    if method.is_some_and(|method| !method.is_string()) {
        return Err(Unreadable::Shape);
    }
    let (Some(id), Some(method)) = (id, method) else { return Ok(None) };
    if json::name(Some(method)) != "tools/call" {
        return Ok(Some(Request { id: id.get(), call: None }));
    }
    // `["rm"]` is `rm` to some servers.
    let is_name = |params: Raw<'_>| params.members().all(|(key, value)| !key.is("name") || value.is_string());
    if !params.is_none_or(is_name) {
        return Err(Unreadable::Shape);
    }
    Ok(Some(Request { id: id.get(), call: params.and_then(call) }))
}

fn call(params: Raw<'_>) -> Option<McpToolCall<'_>> {
    let [name, arguments] = params.pick(["name", "arguments"]).ok()?;
    Some(McpToolCall { tool: json::string(name?)?, arguments: arguments.map_or("{}", Raw::get) })
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
        assert_eq!(call.call, Some(McpToolCall { tool: "f".into(), arguments: r#"{"b":2}"# }));
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
