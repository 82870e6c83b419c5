//! The canonical form of JSON arguments: the order of keys and white space make no difference. It allocates nothing,
//! because it is computed for every call of a history.

use std::fmt;

use sentinel_llm_api::json;
use sentinel_text::{WordSet, digest, digest_pair};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// Bytes of arguments as they stand whose words are taken.
const MAX_WORDS: usize = 4_096;

/// A call's arguments in a form that does not depend on how they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments {
    pub digest: u64,
    /// The words of the values, keys left out.
    pub words: WordSet,
}

/// The form of a call's arguments: JSON whatever its order and spaces, or JSON inside a JSON string; what is no JSON as
/// it stands.
pub fn canonical(arguments: &str) -> Arguments {
    // A stream says no arguments by sending no piece of them.
    let arguments = if arguments.is_empty() { "{}" } else { arguments };
    if arguments.starts_with('"')
        && let Ok(inner) = json::read::<String>(arguments)
        && inner.trim_start().starts_with(['{', '['])
        && let Ok(inner) = json::read(&inner)
    {
        return inner;
    }
    json::read(arguments).unwrap_or_else(|_| Arguments::as_written(arguments))
}

impl Arguments {
    /// Arguments as they stand, for those that are no JSON or too long to be read. Their words are those of the beginning.
    pub fn as_written(arguments: &str) -> Self {
        let beginning = arguments.get(..arguments.floor_char_boundary(MAX_WORDS)).unwrap_or_default();
        Self { digest: digest(arguments.as_bytes()), words: WordSet::of(beginning) }
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FromJson)
    }
}

struct FromJson;

/// A value of a kind and its digest or number.
fn of_kind(kind: u64, value: u64) -> Arguments {
    let digest = digest_pair(kind, value);
    Arguments { digest, words: WordSet::of_value(digest) }
}

impl<'de> Visitor<'de> for FromJson {
    type Value = Arguments;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Arguments, E> {
        Ok(of_kind(0, 0))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Arguments, E> {
        Ok(of_kind(1, u64::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Arguments, E> {
        Ok(of_kind(2, value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Arguments, E> {
        Ok(of_kind(3, value.cast_unsigned()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Arguments, E> {
        Ok(of_kind(4, value.to_bits()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Arguments, E> {
        Ok(Arguments { words: WordSet::of(value), ..of_kind(5, digest(value.as_bytes())) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Arguments, A::Error> {
        let (mut all, mut words) = (0, WordSet::default());
        while let Some(item) = items.next_element::<Arguments>()? {
            all = digest_pair(all, item.digest);
            words = words.union(item.words);
        }
        Ok(Arguments { words, ..of_kind(6, all) })
    }

    /// A sum, since the order of members does not count.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Arguments, A::Error> {
        let (mut all, mut words) = (0_u64, WordSet::default());
        while let Some((key, value)) = members.next_entry::<Arguments, Arguments>()? {
            all = all.wrapping_add(digest_pair(key.digest, value.digest));
            words = words.union(value.words);
        }
        Ok(Arguments { words, ..of_kind(7, all) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_space_and_wrapping_do_not_count() {
        let form = canonical(r#"{"a": {"y":1,"x":2}, "b":[1, 2]}"#);
        assert_eq!(form, canonical(r#"{"b":[1,2],"a":{"x":2,"y":1}}"#));
        assert_eq!(form, canonical(r#""{\"b\":[1,2],\"a\":{\"x\":2,\"y\":1}}""#));
        assert_eq!(canonical(""), canonical("{}"));
    }

    #[test]
    fn the_words_are_those_of_the_values() {
        let words = |arguments: &str| canonical(arguments).words;
        assert_eq!(words(r#"{"query":"Red shoes","tags":["size 12"]}"#), WordSet::of("12 red shoes size"));
        assert!(!words(r#"{"query":"alpha"}"#).is_similar(words(r#"{"query":"beta"}"#)));
        assert_eq!(words("no json"), WordSet::of("json no"));
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
                assert_ne!(canonical(one).digest, canonical(other).digest, "{one} {other}");
            }
        }
    }
}
