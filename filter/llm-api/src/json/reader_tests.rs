//! The reader against serde_json: the same values, and the same refusals.

use std::{borrow::Cow, fmt};

use proptest::prelude::*;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::json::{self, Raw, Unreadable};

/// The members of an object as serde_json reads them.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Each<'a> {
            type Value = Vec<(String, &'a RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Each(std::marker::PhantomData)).map(Members)
    }
}

fn agree_in_all(text: &str) {
    let expected =
        serde_json::from_str::<&RawValue>(text).map(RawValue::get).map_err(|_| Unreadable::NotJson);
    assert_eq!(Raw::read(text).map(Raw::get), expected, "{text:?}");
    let Ok(raw) = Raw::read(text) else { return };
    assert_eq!(json::string(raw), serde_json::from_str::<String>(text).ok().map(Cow::Owned), "{text:?}");
    assert_eq!(json::text(raw).is_some(), raw.is_string(), "{text:?}");
    // What was read is gone over again without a look at what it passes.
    let elements = serde_json::from_str::<Vec<&RawValue>>(text).unwrap_or_default();
    let expected: Vec<&str> = elements.into_iter().map(RawValue::get).collect();
    assert_eq!(raw.elements().map(Raw::get).collect::<Vec<_>>(), expected, "{text:?}");
    // Half a surrogate pair in a name is an error there.
    if let Ok(Members(members)) = serde_json::from_str(text) {
        let expected: Vec<_> =
            members.iter().map(|(key, value)| (key.as_str().into(), value.get())).collect();
        let read: Vec<(Cow<'_, str>, &str)> =
            raw.members().map(|(key, value)| (key.text(), value.get())).collect();
        assert_eq!(read, expected, "{text:?}");
        assert!(raw.members().zip(&members).all(|((key, _), (name, _))| key.is(name)), "{text:?}");
    }
}

#[test]
fn what_is_and_what_is_no_json() {
    let deep = |depth: usize, inside: &str| format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{}1{}", r#"{"c":"#.repeat(depth), "}".repeat(depth));
    for text in [
        "",
        " ",
        "1",
        "-",
        "-0",
        "00",
        "01",
        "1.",
        "1.5",
        ".5",
        "1e",
        "1e+",
        "1E-7",
        "1e999",
        "-1",
        "18446744073709551616",
        "nul",
        "null",
        "nulll",
        "true",
        "tru",
        "false",
        " \t\r\n[ ] ",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "[",
        "]",
        "{",
        "{}",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a":1,"a":2}"#,
        r#"{1:2}"#,
        r#"{"a":[}]"#,
        "{]",
        "[}",
        r#"["#,
        r#"""#,
        r#""\"#,
        r#""\x""#,
        r#""\u12""#,
        r#""\u12g4""#,
        r#""\u+123""#,
        r#""\ud83d\ude00""#,
        r#""\ud83d""#,
        r#""\ude00""#,
        r#""\ud83d\n""#,
        r#""\ud83dx""#,
        r#""\ud83d\ud83d""#,
        r#""\u0000\b\f\n\r\t\/\\\"""#,
        "\"\u{1f}\"",
        "\"\n\"",
        "\"\u{7f}é日😀\"",
        "\u{feff}{}",
        r#"{"b":1}"#,
        r#"{"b":"\ud800"}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"e":-1}"#,
        r#"{"e":1.0}"#,
        r#"{"e":null,"f":null}"#,
        r#"{"c":{"b":"x\"y"}}"#,
        r#"{"cc":{},"c":{}}"#,
        r#"{"\u0062":"x"}"#,
        r#"[1,"x",null,[],1,true,"y",{},[]]"#,
        r#"{"i":[[],{}]}"#,
        r#"{"h":{"x":{"y":[1.5e3]}}}"#,
        r#"{"b":[1,}"#,
        r#"{"z":"#,
        r#"{"b":"x"#,
        r#"{"b":7, broken"#,
        r#"{"b":-, "#,
        r#"{"i":{"x":"#,
        "{} {}",
        "[]x",
        "\"a\"\"b\"",
    ] {
        agree_in_all(text);
    }
    for depth in
        [1, 15, 16, 17, 31, 32, 33, 49, 50, 63, 64, 65, 66, 79, 80, 81, 126, 127, 128, 129, 192, 193, 5_000]
    {
        agree_in_all(&deep(depth, ""));
        agree_in_all(&deep(depth, "{}"));
        agree_in_all(&objects(depth));
        agree_in_all(&format!("{}{}", "[".repeat(depth), "}".repeat(depth)));
        for open in [0, 1, 15, 16, 17, 40] {
            agree_in_all(&deep(depth, &format!(r#"{{"x":{}}}"#, deep(open, "[],1"))));
            agree_in_all(&format!("{}{}", "[".repeat(depth), "]".repeat(depth.saturating_sub(open))));
            agree_in_all(&format!("{}{}", "[".repeat(depth), "]".repeat(depth.saturating_add(open))));
            agree_in_all(&format!("{}{}", "[".repeat(open), deep(depth, r#"[{"y":[1,[]]}]"#)));
        }
        agree_in_all(&format!(r#"{{"a":{},"f":true}}"#, deep(depth, r#"{"x":[{}, 1]}"#)));
        agree_in_all(&format!("{}{}", r#"[{"x":"#.repeat(depth), "}]".repeat(depth.saturating_sub(1))));
    }
}

#[test]
fn a_string_ends_where_it_ends_wherever_that_is() {
    for length in 0..70 {
        for special in
            ["", "\"", "\\n", "\\", "\u{1}", "\u{1f}", "é", "\u{7f}", "\u{80}", "\\u00e9", "!", "#"]
        {
            for after in [0, 1, 15, 40] {
                agree_in_all(&format!("\"{}{special}{}\"", "x".repeat(length), "y".repeat(after)));
            }
        }
    }
}

#[test]
fn a_row_of_backslashes_escapes_what_stands_behind_it_or_not() {
    for before in 0..18 {
        for row in 0..36 {
            for after in ["\"", "n\"", "u00e9\"", "x\"", "\u{1}\"", "\", \"\\n\\\\\\\"y\""] {
                agree_in_all(&format!("\"{}{}{after}", "x".repeat(before), "\\".repeat(row)));
            }
        }
    }
}

fn json_text() -> impl Strategy<Value = String> {
    let space = || prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\n\t\r ")];
    let string = prop_oneof![
        "[ -~é日]{0,40}".prop_map(|text| serde_json::Value::from(text).to_string()),
        r#"(\\[\\"/bfnrtux]|\\u[0-9a-fD][0-9a-f89][0-9a-f]{2}|\\ud83d\\ude00|[a-z"]){0,12}"#
            .prop_map(|inside| format!("\"{inside}\"")),
    ];
    let leaf = prop_oneof![
        3 => string,
        1 => r"-?[0-9]{1,3}(\.[0-9]{0,2})?([eE][+-]?[0-9]{0,4})?",
        1 => prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        let key = prop_oneof!["[a-i]", "cc", "x", r"\\u006[0-9]"];
        let member = (space(), key, space(), inner.clone())
            .prop_map(|(s, key, t, value)| format!("{s}\"{key}\"{t}:{t}{value}{s}"));
        prop_oneof![
            prop::collection::vec((space(), inner), 0..6).prop_map(|items| {
                let items: Vec<String> =
                    items.into_iter().map(|(space, item)| format!("{space}{item}{space}")).collect();
                format!("[{}]", items.join(","))
            }),
            prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn json_reads_the_same(text in json_text()) {
        agree_in_all(&text);
    }

    #[test]
    fn broken_json_is_refused(
        text in json_text(), at in any::<prop::sample::Index>(), with in "[\\[\\]{}:,\"\\\\0-9a-i \u{1}nt.-]{0,2}", cut in 0..3_usize
    ) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let at = at.index(places.len());
        let end = places.get(at.saturating_add(cut)).copied().unwrap_or(text.len());
        let (before, after) = (text.get(..places[at]).unwrap(), text.get(end..).unwrap());
        agree_in_all(&format!("{before}{with}{after}"));
    }

    #[test]
    fn whatever_text_reads_the_same(text in any::<String>()) {
        agree_in_all(&text);
        agree_in_all(&format!("\"{text}\""));
    }
}
