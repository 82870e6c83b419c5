//! Reads what Redis answers. Sends nothing, and knows no errors of the server: those are in `store/redis/error.rs`.

use std::collections::HashMap;

use redis::{FromRedisValue, ParsingError, Value, from_redis_value};

use super::super::{Earlier, Moment};
use crate::{embed::truncation::UnseenDigest, similarity, store::StoreError};

/// The fields `moment`, `prompt`, `unseen` and `vec` of a hash. All are `None` if the hash has expired or was evicted while its scope's set
/// still names it.
type Hash = (Option<u64>, Option<Vec<u8>>, Option<Vec<u8>>, Option<Vec<u8>>);

/// What the script gave: a [`Hash`] for each prompt, compared with `vector`.
pub fn of_script(reply: Value, vector: &[f32]) -> Result<Vec<Earlier>, StoreError> {
    let hashes: Vec<Hash> = list(reply, "EVAL gave no list of prompts")?;
    let mut found = Vec::with_capacity(hashes.len());
    for (moment, prompt, unseen, stored) in hashes {
        let Some(moment) = moment else { continue };
        let Some(stored) = stored else {
            return Err(StoreError::Unreadable("a prompt without a vector"));
        };
        let (components, rest) = stored.as_chunks::<4>();
        if components.len() != vector.len() || !rest.is_empty() {
            return Err(StoreError::Unreadable("a prompt with a vector of another length"));
        }
        let stored: Vec<f32> = components.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        found.push(Earlier {
            moment: Moment(moment),
            similarity: similarity::of_vectors(vector, &stored),
            head: text(prompt),
            unseen: UnseenDigest::from_hex(&text(unseen)),
        });
    }
    Ok(found)
}

/// The hits of a search that returned `distance`, `moment`, `prompt` and `unseen`, in no particular order.
pub fn of_search(reply: Value) -> Result<Vec<Earlier>, StoreError> {
    // The number of hits, then for each its key and its fields.
    let mut items: Vec<Value> = list(reply, "FT.SEARCH gave no list")?;
    let hits: Vec<(Value, Value)> =
        list(Value::Array(items.split_off(items.len().min(1))), "FT.SEARCH gave a key without fields")?;
    let mut found = Vec::with_capacity(hits.len());
    for (_key, fields) in hits {
        let mut fields: HashMap<String, Value> =
            convert(fields, "FT.SEARCH gave fields that are no names and values")?;
        // A hash that expired between the search and the reading has no fields.
        let Some(distance) = fields.remove("distance") else { continue };
        let mut field = |name| fields.remove(name).unwrap_or(Value::Nil);
        let distance = convert(distance, "a prompt with a distance that is no number")?;
        let moment = convert(field("moment"), "a prompt without moment")?;
        found.push(Earlier {
            moment: Moment(moment),
            similarity: similarity::of_distance(distance),
            head: text(convert(field("prompt"), "a prompt that is no text")?),
            unseen: UnseenDigest::from_hex(&text(convert(field("unseen"), "a digest that is no text")?)),
        });
    }
    Ok(found)
}

/// A reply as the client converts it.
pub fn convert<T: FromRedisValue>(reply: Value, or_else: &'static str) -> Result<T, StoreError> {
    from_redis_value(reply).map_err(|_: ParsingError| StoreError::Unreadable(or_else))
}

/// As [`convert`], of a list. Nothing is no list, though the client would make an empty one of it.
fn list<T: FromRedisValue>(reply: Value, or_else: &'static str) -> Result<Vec<T>, StoreError> {
    match reply {
        Value::Array(_) => convert(reply, or_else),
        _ => Err(StoreError::Unreadable(or_else)),
    }
}

/// A prompt's text: we write UTF-8, others may not.
fn text(bytes: Option<Vec<u8>>) -> String {
    bytes.map_or_else(String::new, |bytes| String::from_utf8_lossy(&bytes).into_owned())
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
            assert!(matches!(of_search(odd), Err(StoreError::Unreadable(_))));
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
            assert!(matches!(of_script(odd, &[1.0]), Err(StoreError::Unreadable(_))));
        }
    }
}
