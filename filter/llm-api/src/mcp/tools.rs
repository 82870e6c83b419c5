//! What an MCP client asks of tools. No call can be hidden from it: it reads a key that occurs twice both times, and a
//! notification can be a call too.

use serde_json::value::RawValue;

use crate::{
    edit::apply,
    json,
    members::{elements, members, named},
    tools::{May, filter, text},
};

/// What a client's message wants of tools.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The tools that are called, whether an answer is awaited or not.
    pub calls: Vec<String>,
    /// The list of tools is asked for.
    pub list: bool,
}

/// What a body wants of tools: of one message or of a batch.
pub fn wanted(body: &[u8]) -> Wanted {
    let mut wanted = Wanted::default();
    let Some(whole) = std::str::from_utf8(body).ok().and_then(|body| json::read::<&RawValue>(body).ok())
    else {
        return wanted;
    };
    for message in messages(whole) {
        let all = members(message);
        let methods: Vec<String> = named(&all, &["method"]).into_iter().map(text).collect();
        wanted.list |= methods.iter().any(|method| method == "tools/list");
        if methods.iter().any(|method| method == "tools/call") {
            let params = named(&all, &["params"]).into_iter();
            wanted.calls.extend(params.flat_map(|params| named(&members(params), &["name"])).map(text));
        }
    }
    wanted
}

/// The answer to `tools/list` without the tools that may not be used, and their names; nothing where it stays as it is.
pub fn restricted_list(json: &str, may: May<'_>) -> Option<(String, Vec<String>)> {
    // Most messages of a stream are none.
    if !json.contains("tools") {
        return None;
    }
    let whole = json::read::<&RawValue>(json).ok()?;
    let (mut edits, mut denied) = (Vec::new(), Vec::new());
    for message in messages(whole) {
        for result in named(&members(message), &["result"]) {
            for tools in named(&members(result), &["tools"]) {
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

fn messages(whole: &RawValue) -> Vec<&RawValue> {
    if whole.get().starts_with('[') { elements(whole) } else { vec![whole] }
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
        let (left, denied) = restricted_list(list, &|name| name != "rm").unwrap();
        assert_eq!(left, list.replace(r#"{"name":"rm","inputSchema":{}}, "#, ""));
        assert_eq!(denied, ["rm"]);
        assert_eq!(restricted_list(list, &|_| true), None);
        assert_eq!(restricted_list(list, &|_| false).unwrap().0.matches("name").count(), 0);
        for other in [r#"{"id":1,"result":{"tools":7}}"#, r#"{"error":{"message":"tools"}}"#, "tools"] {
            assert_eq!(restricted_list(other, &|_| false), None, "{other}");
        }
    }
}
