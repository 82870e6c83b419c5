//! Reads what Redis answers, replies and errors alike. Sends nothing.

use std::borrow::Cow;

use redis::{ErrorKind, RedisError, Value};

use super::{
    super::{Earlier, HistoryError, Moment},
    index::INDEX,
};
use crate::{embed::window::Digest, similarity};

/// What an error of the client or the server means to us. Server messages can quote their input, so only the code of
/// one that is not known is passed on.
pub fn error(e: &RedisError) -> HistoryError {
    if e.is_io_error() || e.is_connection_dropped() || e.is_connection_refusal() {
        return HistoryError::Unreachable(e.category().to_owned());
    }
    if e.is_timeout() {
        return HistoryError::Unreachable("no answer in time".to_owned());
    }
    // The client takes the first word for a code, which the search module does not mean as one.
    let words = [e.code(), e.detail()].map(Option::unwrap_or_default);
    let message = words.join(" ").to_lowercase();
    let says = |part: &str| message.contains(part);
    if says("unknown command") && says("ft.") {
        HistoryError::NoSearchModule
    } else if says("no such index") || says("unknown index") || says("index_not_found") {
        HistoryError::IndexMissing(INDEX)
    } else if e.kind() == ErrorKind::AuthenticationFailed || says("noauth") {
        HistoryError::Unreachable("it wants other credentials; check REDIS_URL".to_owned())
    } else if says("loading") {
        HistoryError::Unreachable("it is still loading its data".to_owned())
    } else {
        HistoryError::Refused(e.code().unwrap_or(e.category()).to_owned())
    }
}

/// The hits of a search that returned `distance`, `moment`, `prompt` and `unseen`, in no particular order.
pub fn earlier(reply: Value) -> Result<Vec<Earlier>, HistoryError> {
    let Value::Array(items) = reply else {
        return Err(HistoryError::Unreadable("FT.SEARCH gave no list"));
    };
    // The number of hits, then for each its key and its fields.
    let mut found = Vec::new();
    for hit in items.get(1..).unwrap_or_default().chunks(2) {
        let [_key, fields] = hit else {
            return Err(HistoryError::Unreadable("FT.SEARCH gave a key without fields"));
        };
        // A hash that expired between the search and the reading has no fields.
        let Some(distance) = field(fields, "distance").and_then(text) else {
            continue;
        };
        let moment = field(fields, "moment").and_then(text).and_then(|moment| moment.parse().ok());
        let (Some(moment), Ok(distance)) = (moment, distance.parse()) else {
            return Err(HistoryError::Unreadable("a prompt without moment or distance"));
        };
        let text_of = |name| field(fields, name).and_then(text).unwrap_or_default();
        found.push(Earlier {
            moment: Moment(moment),
            similarity: similarity::of_distance(distance),
            head: text_of("prompt").into_owned(),
            unseen: Digest::from_hex(&text_of("unseen")),
        });
    }
    Ok(found)
}

/// The keys of a search with NOCONTENT.
pub fn keys(reply: Value) -> Result<Vec<String>, HistoryError> {
    let Value::Array(items) = reply else {
        return Err(HistoryError::Unreadable("FT.SEARCH gave no list"));
    };
    let keys = items.iter().skip(1);
    Ok(keys.filter_map(text).map(Cow::into_owned).collect())
}

/// The value after `name` in a reply that is a flat list of names and values, or a map.
pub fn field<'a>(reply: &'a Value, name: &str) -> Option<&'a Value> {
    let is = |key: &Value| text(key).is_some_and(|key| key == name);
    match reply {
        Value::Array(items) => items.chunks(2).find_map(|pair| match pair {
            [key, value] if is(key) => Some(value),
            _ => None,
        }),
        Value::Map(pairs) => pairs.iter().find(|(key, _)| is(key)).map(|(_, value)| value),
        _ => None,
    }
}

/// A scalar reply as text.
pub fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes)),
        Value::SimpleString(text) => Some(Cow::Borrowed(text)),
        Value::Int(number) => Some(Cow::Owned(number.to_string())),
        Value::Double(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn list(items: &[&str]) -> Value {
        Value::Array(items.iter().map(|i| bulk(i)).collect())
    }

    #[test]
    fn hits_are_read_and_an_expired_one_is_passed_over() {
        let reply = Value::Array(vec![
            Value::Int(3),
            bulk("k1"),
            list(&["distance", "0.2", "moment", "17", "prompt", "hi", "unseen", ""]),
            bulk("k2"),
            Value::Nil,
            bulk("k3"),
            list(&["moment", "18", "distance", "5.9e-08"]),
        ]);
        let found = earlier(reply).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].moment, found[0].similarity), (Moment(17), 0.9));
        assert_eq!(found[0].head, "hi");
        assert_eq!((found[1].similarity, found[1].unseen), (1.0, None));
    }

    #[test]
    fn what_is_no_search_reply_is_a_named_error() {
        for odd in [
            Value::Nil,
            Value::Okay,
            Value::Array(vec![Value::Int(1), bulk("k")]),
            Value::Array(vec![Value::Int(1), bulk("k"), list(&["distance", "far", "moment", "1"])]),
        ] {
            assert!(matches!(earlier(odd), Err(HistoryError::Unreadable(_))));
        }
        assert_eq!(earlier(Value::Array(vec![Value::Int(0)])), Ok(vec![]));
    }
}
