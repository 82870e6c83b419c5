//! Reads what Redis answers, replies and errors alike. Sends nothing.

use std::{borrow::Cow, error::Error, sync::Arc};

use redis::{ErrorKind, RedisError, Value};

use super::{
    super::{Earlier, HistoryError, Moment},
    search::INDEX,
};
use crate::{embed::window::Digest, similarity};

/// What an error of the client or the server means to us. Server messages can quote their input, so only the code of
/// one that is not known is passed on.
pub fn error(e: &RedisError) -> HistoryError {
    if let Some(trouble) = tls(e) {
        return HistoryError::Unreachable(trouble);
    }
    if e.is_timeout() {
        return HistoryError::Unreachable("no answer in time".to_owned());
    }
    if is_silence(e) {
        return HistoryError::Unreachable(e.category().to_owned());
    }
    // The client takes the first word for a code, which the search module does not mean as one; and a script's error
    // has the code of the command that failed in its text in older servers.
    let words = [e.code(), e.detail()].map(Option::unwrap_or_default);
    let message = words.join(" ").to_lowercase();
    let says = |part: &str| message.contains(part);
    let unreachable = |why: &str| HistoryError::Unreachable(why.to_owned());
    if says("unknown command") && says("ft.") {
        HistoryError::NoSearchModule
    } else if says("no such index") || says("unknown index") || says("index_not_found") {
        HistoryError::IndexMissing(INDEX)
    } else if e.kind() == ErrorKind::AuthenticationFailed || says("noauth") || says("wrongpass") {
        unreachable("it wants other credentials; check REDIS_URL and REDIS_PASSWORD_FILE")
    } else if says("noperm") {
        HistoryError::WrongKind(
            "this Redis user may not do what is needed: EVAL, PING and the keys that begin with loop: (with REDIS_LOOKUP=search also FT.CREATE, FT.INFO and FT.SEARCH)",
        )
    } else if says("oom command not allowed") || says("oom ") {
        HistoryError::Full
    } else if says("readonly") {
        HistoryError::Replica
    } else if says("loading") {
        unreachable("it is still loading its data")
    } else if says("clusterdown") || e.kind() == ErrorKind::ClusterConnectionNotFound {
        unreachable("a part of the cluster is down")
    } else if says("masterdown") {
        unreachable("it is a replica without its primary")
    } else if says("cluster support disabled") {
        HistoryError::WrongKind("this Redis is no cluster: set REDIS_CLUSTER=false")
    } else if says("moved") || says("cross") {
        HistoryError::WrongKind("this Redis is a node of a cluster: set REDIS_CLUSTER=true")
    } else {
        HistoryError::Refused(e.code().unwrap_or(e.category()).to_owned())
    }
}

/// Whether nothing was answered: there is nobody, or who is there went away.
pub fn is_silence(e: &RedisError) -> bool {
    tls(e).is_none() && (e.is_io_error() || e.is_connection_dropped() || e.is_connection_refusal())
}

/// What is wrong with TLS, if that is what went wrong.
fn tls(e: &RedisError) -> Option<String> {
    // The client gives its shared pointer to the cause as the cause.
    let source: &Arc<dyn Error + Send + Sync> = e.source()?.downcast_ref()?;
    let tls: &rustls::Error = match source.downcast_ref::<std::io::Error>() {
        Some(io) => io.get_ref()?.downcast_ref()?,
        None => source.downcast_ref()?,
    };
    Some(match tls {
        rustls::Error::InvalidCertificate(why) => {
            format!(
                "its certificate is not accepted ({}); check REDIS_CA_FILE and the host in REDIS_URL",
                word(why)
            )
        }
        rustls::Error::AlertReceived(why) => {
            format!("it ended TLS ({why:?}); check REDIS_CERT_FILE and REDIS_KEY_FILE")
        }
        rustls::Error::InvalidMessage(_) => {
            "it does not speak TLS; give redis:// instead of rediss://".to_owned()
        }
        _ => "TLS failed".to_owned(),
    })
}

/// The name of the reason without what was in the certificate.
fn word(why: &impl std::fmt::Debug) -> String {
    format!("{why:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// What the script gave: the fields `moment`, `prompt`, `unseen` and `vec` of each hash, held against `vector`.
pub fn of_script(reply: Value, vector: &[f32]) -> Result<Vec<Earlier>, HistoryError> {
    let Value::Array(hashes) = reply else {
        return Err(HistoryError::Unreadable("EVAL gave no list"));
    };
    let mut found = Vec::with_capacity(hashes.len());
    for hash in &hashes {
        let Value::Array(fields) = hash else {
            return Err(HistoryError::Unreadable("EVAL gave a prompt without fields"));
        };
        let [moment, prompt, unseen, stored] = fields.as_slice() else {
            return Err(HistoryError::Unreadable("EVAL gave a prompt with other fields"));
        };
        // A hash that has expired or was evicted is still named in its scope's set.
        let Some(moment) = text(moment) else { continue };
        let (Ok(moment), Value::BulkString(stored)) = (moment.parse(), stored) else {
            return Err(HistoryError::Unreadable("a prompt without moment or vector"));
        };
        let (components, rest) = stored.as_chunks::<4>();
        if components.len() != vector.len() || !rest.is_empty() {
            return Err(HistoryError::Unreadable("a prompt with a vector of another length"));
        }
        let stored: Vec<f32> = components.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        found.push(Earlier {
            moment: Moment(moment),
            similarity: similarity::of_vectors(vector, &stored),
            head: text(prompt).unwrap_or_default().into_owned(),
            unseen: text(unseen).and_then(|hex| Digest::from_hex(&hex)),
        });
    }
    Ok(found)
}

/// The hits of a search that returned `distance`, `moment`, `prompt` and `unseen`, in no particular order.
pub fn of_search(reply: Value) -> Result<Vec<Earlier>, HistoryError> {
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
        let found = of_search(reply).unwrap();
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
            assert!(matches!(of_search(odd), Err(HistoryError::Unreadable(_))));
        }
        assert_eq!(of_search(Value::Array(vec![Value::Int(0)])), Ok(vec![]));
    }

    fn floats(values: &[f32]) -> Value {
        Value::BulkString(values.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    #[test]
    fn a_script_gives_prompts_and_an_expired_one_is_passed_over() {
        let reply = Value::Array(vec![
            Value::Array(vec![bulk("17"), bulk("hi"), bulk(""), floats(&[1.0, 0.0])]),
            Value::Array(vec![Value::Nil, Value::Nil, Value::Nil, Value::Nil]),
            Value::Array(vec![bulk("16"), bulk("ho"), bulk(""), floats(&[0.0, 1.0])]),
        ]);
        let found = of_script(reply, &[1.0, 0.0]).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].moment, found[0].similarity, &*found[0].head), (Moment(17), 1.0, "hi"));
        assert_eq!((found[1].moment, found[1].similarity), (Moment(16), 0.5));
    }

    #[test]
    fn what_is_no_scripts_reply_is_a_named_error() {
        for odd in [
            Value::Nil,
            Value::Array(vec![Value::Okay]),
            Value::Array(vec![list(&["17", "hi", ""])]),
            Value::Array(vec![list(&["soon", "hi", "", ""])]),
            Value::Array(vec![Value::Array(vec![bulk("17"), bulk("hi"), bulk(""), Value::Nil])]),
            Value::Array(vec![Value::Array(vec![bulk("17"), bulk("hi"), bulk(""), floats(&[1.0, 0.0])])]),
        ] {
            assert!(matches!(of_script(odd, &[1.0]), Err(HistoryError::Unreadable(_))));
        }
    }

    #[test]
    fn what_servers_say_is_understood() {
        let error_of = |line: &str| {
            let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
            error(&value.extract_error().unwrap_err())
        };
        for line in [
            "OOM command not allowed when used memory > 'maxmemory'. script: f00, on @user_script:1.",
            "ERR Error running script: @user_script:1: -OOM command not allowed when used memory > 'maxmemory'.",
        ] {
            assert_eq!(error_of(line), HistoryError::Full);
        }
        assert_eq!(error_of("READONLY You can't write against a read only replica."), HistoryError::Replica);
        assert!(error_of("MOVED 1234 10.0.0.1:6379").to_string().contains("REDIS_CLUSTER=true"));
        assert!(error_of("NOPERM this user has no permissions").to_string().contains("EVAL"));
        assert!(
            error_of("WRONGPASS invalid username-password pair").to_string().contains("REDIS_PASSWORD_FILE")
        );
        let odd = error_of("ODD do not quote 'my secret prompt'").to_string();
        assert!(odd.contains("ODD") && !odd.contains("secret"), "{odd}");
    }
}
