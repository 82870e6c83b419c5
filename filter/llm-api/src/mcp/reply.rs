//! The filter's replies to an MCP client in the server's place.

use super::Request;
use crate::json::quoted;

/// How a denied call is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerAs {
    /// With a tool result that is an error (`isError`), which the model reads.
    #[default]
    Result,
    /// With a JSON-RPC error.
    Error,
}

/// The JSON-RPC answer to all of `requests`. A batch is answered with a list, even a batch of one.
pub fn reply(requests: &[Request<'_>], is_batch: bool, message: &str, answer_as: AnswerAs) -> String {
    let message = quoted(message);
    let content = match answer_as {
        // `resultType` is required since protocol 2026-07-28. Older clients ignore it.
        AnswerAs::Result => format!(
            r#""result":{{"content":[{{"text":{message},"type":"text"}}],"isError":true,"resultType":"complete"}}"#
        ),
        AnswerAs::Error => format!(r#""error":{{"code":-32000,"message":{message}}}"#),
    };
    let answers: Vec<String> = requests
        .iter()
        .map(|request| format!(r#"{{"jsonrpc":"2.0","id":{},{content}}}"#, request.id))
        .collect();
    let answers = answers.join(",");
    if is_batch { format!("[{answers}]") } else { answers }
}

/// The JSON-RPC answer to a body that is not a request.
pub fn invalid(message: &str) -> String {
    let message = quoted(message);
    format!(r#"{{"error":{{"code":-32600,"message":{message}}},"id":null,"jsonrpc":"2.0"}}"#)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_carry_the_ids_of_their_requests() {
        let request = |id| Request { id, call: None };
        let one: serde_json::Value =
            serde_json::from_str(&reply(&[request("\"a\"")], false, "why", AnswerAs::Result)).unwrap();
        assert_eq!(one["id"], "a");
        assert_eq!(
            (&one["result"]["isError"], &one["result"]["resultType"]),
            (&json!(true), &json!("complete"))
        );
        assert_eq!(one["result"]["content"][0]["text"], "why");
        let two: serde_json::Value =
            serde_json::from_str(&reply(&[request("1"), request("2")], true, "why", AnswerAs::Error))
                .unwrap();
        assert_eq!((&two[1]["id"], &two[1]["error"]["code"]), (&json!(2), &json!(-32000)));
        let lone: serde_json::Value =
            serde_json::from_str(&reply(&[request("1")], true, "why", AnswerAs::Result)).unwrap();
        assert_eq!(lone[0]["id"], 1);
    }
}
