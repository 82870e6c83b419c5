//! The digest and the words of a call's arguments. The order of members and white space make no difference, as in
//! `sentinel_llm_api::canonical`. No tree is built, because this is computed for every call of a history.

use std::borrow::Cow;

use sentinel_llm_api::{
    canonical::{self, Ambiguous, Builder},
    json::{self, Raw},
};
use sentinel_text::{digest, digest_pair};

use crate::WordSet;

/// Most bytes of arguments whose words are taken if they are not JSON.
const MAX_WORDS: usize = 4_096;

/// A call's arguments in a form that does not depend on how they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments {
    pub digest: u64,
    /// The words of the values, without names of members.
    pub words: WordSet,
}

/// Reads a call's arguments: JSON, or JSON inside a JSON string. Anything else counts as it is written.
pub fn canonical(arguments: &str) -> Arguments {
    // In a stream, a call without arguments comes without any piece of them.
    let arguments = if arguments.is_empty() { "{}" } else { arguments };
    if arguments.starts_with('"')
        && let Some(inner) = Raw::read(arguments).ok().and_then(json::string)
        && inner.trim_start().starts_with(['{', '['])
        && let Ok(inner) = canonical::read(&inner, &mut Digest)
    {
        return inner;
    }
    canonical::read(arguments, &mut Digest).unwrap_or_else(|_| Arguments::as_written(arguments))
}

impl Arguments {
    /// For arguments that are not JSON, or too long to be read. Only the words of their beginning count.
    pub fn as_written(arguments: &str) -> Self {
        let beginning = arguments.get(..arguments.floor_char_boundary(MAX_WORDS)).unwrap_or_default();
        Self { digest: digest(arguments.as_bytes()), words: WordSet::of(beginning) }
    }

    /// A value, by its kind and its number or digest.
    fn of_kind(kind: u64, value: u64) -> Self {
        let digest = digest_pair(kind, value);
        Self { digest, words: WordSet::of_value(digest) }
    }

    fn of_text(text: &str) -> Self {
        Self { words: WordSet::of(text), ..Self::of_kind(5, digest(text.as_bytes())) }
    }
}

/// The elements of a list, or the members of an object.
#[derive(Default)]
struct Sum {
    digest: u64,
    words: WordSet,
}

/// Reads a value into its digest and its words.
struct Digest;

impl<'a> Builder<'a> for Digest {
    type Value = Arguments;
    type List = Sum;
    type Object = Sum;
    const MAX_VALUES: usize = usize::MAX;

    fn word(&mut self, word: &'a str) -> Arguments {
        match word {
            "null" => Arguments::of_kind(0, 0),
            "true" | "false" => Arguments::of_kind(1, u64::from(word == "true")),
            // Fractions, and integers that do not fit, count as they are written: two ids that differ in their last digit stay different.
            number => Arguments::of_kind(2, number.parse().unwrap_or_else(|_| digest(number.as_bytes()))),
        }
    }

    fn text(&mut self, _: Raw<'a>, text: Cow<'a, str>) -> Arguments {
        Arguments::of_text(&text)
    }

    fn push(list: &mut Sum, element: Arguments) {
        list.digest = digest_pair(list.digest, element.digest);
        list.words = list.words.union(element.words);
    }

    fn list(list: Sum) -> Arguments {
        Arguments { words: list.words, ..Arguments::of_kind(6, list.digest) }
    }

    /// Adds up, because the order of members does not count.
    fn insert(object: &mut Sum, name: Cow<'a, str>, member: Arguments) {
        let name = digest_pair(5, digest(name.as_bytes()));
        object.digest = object.digest.wrapping_add(digest_pair(name, member.digest));
        object.words = object.words.union(member.words);
    }

    fn object(object: Sum) -> Result<Arguments, Ambiguous> {
        Ok(Arguments { words: object.words, ..Arguments::of_kind(7, object.digest) })
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
            // Beyond what a float can tell apart.
            "123456789012345678901",
            "123456789012345678902",
            r#"{"a":1,"a":1}"#,
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[..at] {
                assert_ne!(canonical(one).digest, canonical(other).digest, "{one} {other}");
            }
        }
    }
}
