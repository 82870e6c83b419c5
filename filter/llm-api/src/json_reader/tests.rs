//! The reader against serde_json: the same values, and the same refusals for the same cause.

use std::{borrow::Cow, collections::BTreeMap, fmt::Debug};

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{read, read_raw};
use crate::{json, json::Unreadable};

/// Everything that the dialects' types are made of.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Shapes<'a> {
    #[serde(borrow)]
    a: Option<&'a RawValue>,
    #[serde(borrow)]
    b: Cow<'a, str>,
    #[serde(borrow, alias = "cc")]
    c: Option<Box<Shapes<'a>>>,
    #[serde(borrow)]
    d: Vec<&'a RawValue>,
    e: Option<u64>,
    f: bool,
    g: Option<String>,
    h: BTreeMap<String, serde_json::Value>,
    i: Vec<Shapes<'a>>,
}

fn agree<'a, T: Deserialize<'a> + Debug>(text: &'a str) {
    let expected = serde_json::from_str::<T>(text).map_err(Unreadable::from);
    assert_eq!(format!("{:?}", read::<T>(text)), format!("{expected:?}"), "{text:?}");
    if let Ok(raw) = serde_json::from_str::<&RawValue>(text) {
        let expected = serde_json::from_str::<T>(raw.get()).map_err(Unreadable::from);
        assert_eq!(format!("{:?}", read_raw::<T>(raw)), format!("{expected:?}"), "{text:?}");
    }
}

/// Structs are read from objects alone: where serde_json may have taken a list for one, ours may refuse what it reads, or
/// refuse it for another cause. What both read is the same.
fn agree_in_shapes(text: &str) {
    match read::<Shapes<'_>>(text) {
        Err(_) => {
            assert!(text.contains('[') || serde_json::from_str::<Shapes<'_>>(text).is_err(), "{text:?}")
        }
        Ok(_) => agree::<Shapes<'_>>(text),
    }
}

fn agree_in_all(text: &str) {
    agree_in_shapes(text);
    agree::<&RawValue>(text);
    agree::<Vec<&RawValue>>(text);
    agree::<serde_json::Value>(text);
    agree::<Cow<'_, str>>(text);
    agree::<serde::de::IgnoredAny>(text);
    if let Ok(raw) = serde_json::from_str::<&RawValue>(text) {
        assert_eq!(json::string(raw), serde_json::from_str::<String>(text).ok().map(Cow::Owned), "{text:?}");
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
fn a_struct_is_an_object() {
    for text in ["[]", r#"[{"a":1}]"#, r#"{"c":[]}"#, r#"{"i":[[]]}"#, "7", "null"] {
        assert_eq!(read::<Shapes<'_>>(text).err(), Some(Unreadable::Shape), "{text}");
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
    fn broken_json_is_refused_for_the_same_cause(
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
