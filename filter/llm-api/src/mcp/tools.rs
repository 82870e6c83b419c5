//! Finds the tools that an MCP client calls. A call cannot be hidden: all values of a duplicate key are read, and a
//! notification can be a call too.

use crate::{
    disguise::hides,
    edit::apply,
    json::{Raw, object::Object},
    path::trimmed,
    tool_names::text,
    tools::{May, filter, listed},
};

/// What a client's body asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct McpToolUse {
    /// The tools that are called, with or without an answer.
    pub calls: Vec<String>,
    /// Whether the list of tools is asked for.
    pub list: bool,
    /// A name has another case, so only some servers read it.
    pub is_disguised: bool,
}

/// Reads a body, one message or a batch.
pub fn wanted(body: &[u8]) -> McpToolUse {
    let mut wanted = McpToolUse::default();
    let Some(whole) = std::str::from_utf8(body).ok().and_then(|body| Raw::read(body).ok()) else {
        return wanted;
    };
    for message in listed(whole) {
        let all = Object::of(message);
        let params = all.all(&["params"]);
        wanted.is_disguised |=
            hides(message, &NAMES) || params.into_iter().any(|params| hides(params, &NAMES));
        let methods = all.all(&["method"]).into_iter().map(text);
        let methods: Vec<String> = methods.map(|method| trimmed(&method).to_ascii_lowercase()).collect();
        wanted.list |= methods.iter().any(|method| method == "tools/list");
        if methods.iter().any(|method| method == "tools/call") {
            let params = all.all(&["params"]).into_iter();
            // Parameters by position: only some servers accept them.
            wanted.is_disguised |= params.clone().any(Raw::is_list);
            wanted.calls.extend(params.flat_map(|params| Object::of(params).all(&["name"])).map(text));
        }
    }
    wanted
}

const NAMES: [&str; 3] = ["method", "params", "name"];

/// The answer to `tools/list` without the denied tools, and their names. Returns `None` when it does not change.
pub fn restricted_list(json: &str, may: May<'_>) -> Option<(String, Vec<String>)> {
    // Most messages of a stream are not lists of tools.
    if !json.contains("tools") && !json.contains('\\') {
        return None;
    }
    let whole = Raw::read(json).ok()?;
    let (mut edits, mut denied) = (Vec::new(), Vec::new());
    for message in listed(whole) {
        for result in Object::of(message).all(&["result"]) {
            for tools in Object::of(result).all(&["tools"]) {
                let filtered = filter(json, tools, false, may).ok()?;
                edits.extend(filtered.edits);
                denied.extend(filtered.denied);
            }
        }
    }
    if denied.is_empty() {
        return None;
    }
    Some((String::from_utf8(apply(json, &edits)?).ok()?, denied))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_seen_however_it_is_written() {
        let call = |body: &str| wanted(body.as_bytes()).calls;
        for body in [
            r#"{"id":1,"method":"tools/call","params":{"name":"rm"}}"#,
            r#"{"method":"tools/call","params":{"name":"rm"}}"#,
            r#"{"id":1,"method":"ping","method":"tools\/call","params":{"n\u0061me":"r\u006d"}}"#,
        ] {
            assert_eq!(call(body), ["rm"], "{body}");
        }
        let twice =
            r#"[{"id":1,"method":"tools/call","params":{"name":"ok","name":"rm"},"params":{"name":"x"}}]"#;
        assert_eq!(call(twice), ["ok", "rm", "x"]);
        for other in
            ["", "7", "[]", r#"{"id":1,"method":"tools/list"}"#, r#"{"method":"tools/call","params":[1]}"#]
        {
            assert_eq!(call(other), Vec::<String>::new(), "{other}");
        }
        assert!(wanted(br#"[{"method":"ping"},{"id":"a","method":"tools/list"}]"#).list);
    }

    #[test]
    fn a_list_loses_the_tools_that_may_not_be_used() {
        let list = r#"{"jsonrpc":"2.0", "id":1,"result":{"tools":[{"name":"rm","inputSchema":{}}, {"name":"ls"}],"nextCursor":"2"}}"#;
        let (left, denied) = restricted_list(list, &|name, _| name != "rm").unwrap();
        assert_eq!(left, list.replace(r#"{"name":"rm","inputSchema":{}}, "#, ""));
        assert_eq!(denied, ["rm"]);
        assert_eq!(restricted_list(list, &|_, _| true), None);
        assert_eq!(restricted_list(list, &|_, _| false).unwrap().0.matches("name").count(), 0);
        for other in [r#"{"id":1,"result":{"tools":7}}"#, r#"{"error":{"message":"tools"}}"#, "tools"] {
            assert_eq!(restricted_list(other, &|_, _| false), None, "{other}");
        }
    }
}
