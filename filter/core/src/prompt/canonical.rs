//! Arguments of a tool call in one form: what the model wrote in another order or with other spaces is the same.

use serde_json::Value;

use crate::json;

/// Arguments as text with sorted keys, so that order and white space do not count; what is no JSON stays as it is.
/// JSON inside a string is read as JSON.
pub fn canonical(arguments: &str) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by_key(|(key, _)| *key);
                out.push('{');
                for (key, value) in members {
                    out.push_str(&json::quoted(key));
                    out.push(':');
                    write(value, out);
                    out.push(',');
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for item in items {
                    write(item, out);
                    out.push(',');
                }
                out.push(']');
            }
            other => out.push_str(&other.to_string()),
        }
    }

    // A stream says no arguments by sending no piece of them.
    let arguments = if arguments.is_empty() { "{}" } else { arguments };
    let mut value: Value = match serde_json::from_str(arguments) {
        Ok(value) => value,
        Err(_) => return arguments.to_owned(),
    };
    if let Value::String(inner) = &value
        && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(inner)
    {
        value = inner;
    }
    let mut out = String::with_capacity(arguments.len());
    write(&value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn canonical_arguments_ignore_order_space_and_wrapping() {
        let canonical_form = canonical(r#"{"a": {"y":1,"x":2}, "b":[1, 2]}"#);
        assert_eq!(canonical_form, canonical(r#"{"b":[1,2],"a":{"x":2,"y":1}}"#));
        assert_eq!(canonical_form, canonical(r#""{\"b\":[1,2],\"a\":{\"x\":2,\"y\":1}}""#));
        assert_ne!(canonical_form, canonical(r#"{"b":[2,1],"a":{"x":2,"y":1}}"#));
        assert_eq!(canonical("not json"), "not json");
    }
}
