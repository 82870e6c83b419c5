//! What the client is told in the server's place.

use serde_json::json;

use super::Request;
use crate::config::McpAnswer;

/// The JSON-RPC answer to all of `requests`; a list where there was a batch of them.
pub fn reply(requests: &[Request], message: &str, answer: McpAnswer) -> String {
    let content = match answer {
        McpAnswer::Result => {
            let result = json!({"content": [{"type": "text", "text": message}], "isError": true});
            format!(r#""result":{result}"#)
        }
        McpAnswer::Error => format!(r#""error":{}"#, json!({"code": -32000, "message": message})),
    };
    let answers: Vec<String> = requests
        .iter()
        .map(|request| format!(r#"{{"jsonrpc":"2.0","id":{},{content}}}"#, request.id))
        .collect();
    match answers.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_carry_the_ids_of_their_requests() {
        let request = |id: &str| Request { id: id.to_owned(), call: None };
        let one: serde_json::Value =
            serde_json::from_str(&reply(&[request("\"a\"")], "why", McpAnswer::Result)).unwrap();
        assert_eq!(one["id"], "a");
        assert_eq!(one["result"]["isError"], true);
        assert_eq!(one["result"]["content"][0]["text"], "why");
        let two: serde_json::Value =
            serde_json::from_str(&reply(&[request("1"), request("2")], "why", McpAnswer::Error)).unwrap();
        assert_eq!((&two[1]["id"], &two[1]["error"]["code"]), (&json!(2), &json!(-32000)));
    }
}
