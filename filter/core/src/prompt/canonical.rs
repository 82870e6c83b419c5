//! One digest for all ways to write the same JSON: what the model wrote in another order or with other spaces is the
//! same. Nothing is built on the way, for this is done for every call of a history.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use super::{digest, digest_pair};

/// Digest of a call's arguments: JSON whatever its order and spaces, or JSON inside a JSON string; what is no JSON as it
/// stands.
pub fn canonical(arguments: &str) -> u64 {
    // A stream says no arguments by sending no piece of them.
    let arguments = if arguments.is_empty() { "{}" } else { arguments };
    if arguments.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(arguments)
        && inner.trim_start().starts_with(['{', '['])
        && let Ok(Json(inner)) = serde_json::from_str(&inner)
    {
        return inner;
    }
    serde_json::from_str(arguments).map_or_else(|_| digest(arguments.as_bytes()), |Json(value)| value)
}

/// The digest of a JSON value.
struct Json(u64);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Digester).map(Json)
    }
}

struct Digester;

/// A value of a kind and its digest or number.
fn of_kind(kind: u64, value: u64) -> u64 {
    digest_pair(kind, value)
}

impl<'de> Visitor<'de> for Digester {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<u64, E> {
        Ok(of_kind(0, 0))
    }

    fn visit_bool<E>(self, value: bool) -> Result<u64, E> {
        Ok(of_kind(1, u64::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<u64, E> {
        Ok(of_kind(2, value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<u64, E> {
        Ok(of_kind(3, value.cast_unsigned()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<u64, E> {
        Ok(of_kind(4, value.to_bits()))
    }

    fn visit_str<E>(self, value: &str) -> Result<u64, E> {
        Ok(of_kind(5, digest(value.as_bytes())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u64, A::Error> {
        let mut all = 0;
        while let Some(Json(item)) = items.next_element()? {
            all = digest_pair(all, item);
        }
        Ok(of_kind(6, all))
    }

    /// A sum, since the order of members does not count.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<u64, A::Error> {
        let mut all = 0_u64;
        while let Some((Json(key), Json(value))) = members.next_entry()? {
            all = all.wrapping_add(digest_pair(key, value));
        }
        Ok(of_kind(7, all))
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn order_space_and_wrapping_do_not_count() {
        let form = canonical(r#"{"a": {"y":1,"x":2}, "b":[1, 2]}"#);
        assert_eq!(form, canonical(r#"{"b":[1,2],"a":{"x":2,"y":1}}"#));
        assert_eq!(form, canonical(r#""{\"b\":[1,2],\"a\":{\"x\":2,\"y\":1}}""#));
        assert_eq!(canonical(""), canonical("{}"));
    }

    #[test]
    fn everything_else_counts() {
        let all = [
            "{}",
            "[]",
            "null",
            "0",
            "1",
            "-1",
            "1.5",
            "true",
            "false",
            r#""""#,
            r#""1""#,
            r#"{"a":1}"#,
            r#"{"a":2}"#,
            r#"{"b":1}"#,
            r#"{"a":1,"b":1}"#,
            "[1,2]",
            "[2,1]",
            "[[1,2]]",
            r#"{"a":[1]}"#,
            r#"{"a":{"b":1}}"#,
            "not json",
            r#"["a",1]"#,
            r#"{"a":null}"#,
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[..at] {
                assert_ne!(canonical(one), canonical(other), "{one} {other}");
            }
        }
    }
}
