//! Splits requests for the response cache. If two requests differ in anything but the last user text, their rests always differ.
//! If they only write the same JSON differently, their rests are equal. Ambiguous bodies are refused.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]

use std::{fs, path::Path};

use proptest::prelude::*;
use sentinel_llm_api::{
    canonical::Ambiguous,
    dialect::DialectRef,
    path::without_stream,
    question::{Question, Unfit},
    registry::{ALL, by_label, read},
};
use serde_json::{Value, json};

type Rest = (String, Vec<u8>);

fn taken_apart(dialect: DialectRef, body: &str) -> Result<Rest, Unfit> {
    let conversation = read(dialect, body.as_bytes()).map_err(|_| Unfit::Ambiguous(Ambiguous::Shape))?;
    let question = Question::of(&conversation, &["run_id"])?;
    let mut rest = Vec::new();
    question.write_rest(&mut |part| rest.extend_from_slice(part));
    Ok((question.prompt.into_owned(), rest))
}

/// One request of each dialect, with most of the members that it may have.
fn requests() -> Vec<(DialectRef, Value)> {
    let tools =
        json!([{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]);
    let of = |label: &str| by_label(label).unwrap();
    vec![
        (
            of("openai_chat"),
            json!({"model":"gpt-4o","temperature":0.2,"top_p":1,"seed":7,"max_tokens":100,"stop":["END"],"tools":tools,"tool_choice":"auto",
                "response_format":{"type":"json_object"},"user":"u1","metadata":{"team":"a","run_id":"r"},
                "messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."},
                    {"role":"user","content":[{"type":"text","text":"What is the capital of France?"}]}]}),
        ),
        (
            of("openai_responses"),
            json!({"model":"gpt-4o","store":false,"instructions":"Be brief.","reasoning":{"effort":"low"},"text":{"format":{"type":"text"}},
                "input":[{"role":"user","content":"Hi"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello."}]},
                    {"role":"user","content":"What is the capital of France?"}]}),
        ),
        (
            of("anthropic"),
            json!({"model":"claude","max_tokens":100,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
                "messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"text","text":"Hello."}]},
                    {"role":"user","content":"What is the capital of France?"}]}),
        ),
        (
            of("gemini"),
            json!({"systemInstruction":{"parts":[{"text":"Be brief."}]},"generationConfig":{"temperature":0.5,"topK":40},
                "safetySettings":[{"category":"c","threshold":"t"}],
                "contents":[{"role":"user","parts":[{"text":"What is the capital of France?"}]}]}),
        ),
        (
            of("gemini_interactions"),
            json!({"model":"gemini","system_instruction":"Be brief.","generation_config":{"temperature":0.5},"input":"What is the capital of France?"}),
        ),
        (
            of("bedrock"),
            json!({"system":[{"text":"Be brief."}],"inferenceConfig":{"maxTokens":10,"temperature":1},"additionalModelRequestFields":{"k":1},
                "messages":[{"role":"user","content":[{"text":"What is the capital of France?"}]}]}),
        ),
    ]
}

const PROMPT: &str = "What is the capital of France?";

/// Written with members in another order, with other white space, and with escapes.
fn rewritten(value: &Value, salt: usize) -> String {
    match value {
        Value::Object(members) => {
            let mut written: Vec<String> = members
                .iter()
                .map(|(key, value)| {
                    format!(
                        "{} :\n{}",
                        escaped(key, salt),
                        rewritten(value, salt.wrapping_mul(31) + key.len())
                    )
                })
                .collect();
            let turn = if written.is_empty() { 0 } else { salt % written.len() };
            written.rotate_left(turn);
            if salt % 2 == 1 {
                written.reverse();
            }
            format!("{{ {}\t}}", written.join(" , "))
        }
        Value::Array(values) => {
            let written: Vec<String> = values.iter().map(|value| rewritten(value, salt + 1)).collect();
            format!("[\r\n{}]", written.join(", "))
        }
        Value::String(text) => escaped(text, salt),
        other => other.to_string(),
    }
}

fn escaped(text: &str, salt: usize) -> String {
    let mut written = String::from("\"");
    for (at, char) in text.chars().enumerate() {
        if (at + salt).is_multiple_of(3) {
            let mut units = [0; 2];
            char.encode_utf16(&mut units).iter().for_each(|unit| written.push_str(&format!("\\u{unit:04x}")));
        } else {
            let quoted = Value::from(char.to_string()).to_string();
            written.push_str(quoted.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')).unwrap());
        }
    }
    written + "\""
}

/// The places of all values in a body.
fn places(value: &Value, at: String, found: &mut Vec<String>) {
    found.push(at.clone());
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            places(value, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found)
        }),
        Value::Array(values) => {
            values
                .iter()
                .enumerate()
                .for_each(|(index, value)| places(value, format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

/// Changes the value at a place, so that its meaning changes.
fn changed(value: &mut Value, way: usize) {
    match (value, way) {
        (Value::Object(members), 0) if !members.is_empty() => {
            let key = members.keys().find(|key| *key != "run_id").unwrap().clone();
            members.remove(&key);
        }
        (Value::Object(members), _) => {
            members.insert("unheard_of".into(), json!([1, {"x": null}]));
        }
        (Value::Array(values), 0) if !values.is_empty() => drop(values.pop()),
        (Value::Array(values), 1) if values.len() > 1 && values.first() != values.last() => values.reverse(),
        (Value::Array(values), _) => values.push(Value::Null),
        (Value::String(text), 0) => text.push(' '),
        (Value::String(text), 1) => *text = text.to_uppercase() + "!",
        (other @ Value::Number(_), 0) => *other = json!(other.to_string()),
        (other, _) => *other = if *other == json!(12.5) { json!(13.5) } else { json!(12.5) },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_differs_in_anything_but_the_prompt_has_another_rest(which in 0_usize..6, place in any::<prop::sample::Index>(), way in 0_usize..4, salt in 0_usize..99) {
        let (dialect, body) = requests().swap_remove(which);
        let mut all = Vec::new();
        places(&body, String::new(), &mut all);
        // The prompt itself, and members that only name the run.
        all.retain(|at| body.pointer(at).is_none_or(|value| value != PROMPT) && at != "/metadata/run_id");
        let mut other = body.clone();
        let at = place.get(&all);
        changed(other.pointer_mut(at).unwrap(), way);
        let one = taken_apart(dialect, &body.to_string()).unwrap();
        if let Ok(two) = taken_apart(dialect, &rewritten(&other, salt)) {
            prop_assert!(one.1 != two.1, "{} {}", at, other);
        }
    }

    #[test]
    fn what_says_the_same_has_the_same_rest(which in 0_usize..6, salt in 0_usize..1_000, prompt in "[ -~é日\u{1F600}\n\"\\\\]{1,60}") {
        let (dialect, body) = requests().swap_remove(which);
        let asked = body.to_string().replace(&json!(PROMPT).to_string(), &json!(prompt).to_string());
        let other: Value = serde_json::from_str(&asked).unwrap();
        let one = taken_apart(dialect, &body.to_string()).unwrap();
        let two = taken_apart(dialect, &rewritten(&other, salt)).unwrap();
        prop_assert!(one.1 == two.1);
        prop_assert_eq!(two.0, prompt);
    }
}

fn chat(body: &str) -> Result<Rest, Unfit> {
    taken_apart(by_label("openai_chat").unwrap(), body)
}

/// Bodies that try to pass for another request.
#[test]
fn forged_bodies_have_no_rest() {
    let twins = Err(Unfit::Ambiguous(Ambiguous::DuplicateKey));
    let shape = Err(Unfit::Ambiguous(Ambiguous::Shape));
    for (body, expected) in [
        // Readers differ in which of the two they take.
        (r#"{"messages":[{"role":"user","content":"a"}],"temperature":0,"temperature":2}"#, &twins),
        (r#"{"messages":[{"role":"user","content":"a"}],"x":{"a":1,"\u0061":2}}"#, &twins),
        (
            r#"{"messages":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"b"}]}"#,
            &shape,
        ),
        (
            r#"{"messages":[{"role":"user","content":"a"}],"mess\u0061ges":[{"role":"user","content":"b"}]}"#,
            &shape,
        ),
        (r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#, &shape),
        (r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}"#, &shape),
        (r#"{"messages":[{"role":"user","content":"a\ud800"}]}"#, &Err(Unfit::Ambiguous(Ambiguous::Escape))),
        (
            r#"{"messages":[{"role":"user","content":"a"}],"x":"\ud800"}"#,
            &Err(Unfit::Ambiguous(Ambiguous::Escape)),
        ),
    ] {
        assert_eq!(&chat(body), expected, "{body}");
    }
    // A text that looks like the encoding of the hole is only a text.
    let [one, two] = ["a", "h"].map(|said| {
        let body = format!(
            r#"{{"messages":[{{"role":"system","content":"{said}"}},{{"role":"user","content":"x"}}]}}"#
        );
        chat(&body).unwrap().1
    });
    assert_ne!(one, two);
}

#[test]
fn only_a_text_of_a_user_alone_in_its_message_is_a_prompt() {
    for (messages, expected) in [
        (r#"{"role":"user","content":"a"}"#, Ok("a")),
        (r#"{"role":"user","content":"a"},{"role":"system","content":"s"}"#, Ok("a")),
        (r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#, Ok("a")),
        (
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            Err(Unfit::Tail),
        ),
        (r#"{"role":"user","content":"a"},{"role":"assistant","content":"b"}"#, Err(Unfit::Tail)),
        (
            r#"{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"b"}"#,
            Err(Unfit::Tail),
        ),
        (
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]},{"role":"user","content":"a"}"#,
            Err(Unfit::Media),
        ),
        (
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"file","file":{}}]}"#,
            Err(Unfit::Media),
        ),
        (r#"{"role":"user"}"#, Err(Unfit::Tail)),
    ] {
        let got = chat(&format!(r#"{{"messages":[{messages}]}}"#)).map(|(prompt, _)| prompt);
        assert_eq!(got.as_deref(), expected.as_deref(), "{messages}");
    }
    let long = format!(r#"{{"messages":[{{"role":"user","content":"{}"}}]}}"#, "x".repeat(20_000));
    assert_eq!(chat(&long), Err(Unfit::Length));
}

#[test]
fn how_the_answer_is_sent_and_which_run_asks_make_no_difference() {
    let with =
        |more: &str| chat(&format!(r#"{{"messages":[{{"role":"user","content":"a"}}]{more}}}"#)).unwrap().1;
    let plain = with("");
    assert_eq!(plain, with(r#","stream":true"#));
    assert_eq!(plain, with(r#","stream":true,"stream_options":{"include_usage":true}"#));
    assert_eq!(with(r#","metadata":{"run_id":"1"}"#), with(r#","metadata":{"run_id":"2"}"#));
    for more in [
        r#","stream":"yes""#,
        r#","stream_options":{"other":1}"#,
        r#","metadata":{"user":"2"}"#,
        r#","run_id":"1""#,
        r#","user":"u""#,
        r#","n":2"#,
    ] {
        assert_ne!(plain, with(more), "{more}");
    }
}

#[test]
fn what_the_provider_keeps_is_told() {
    let of = |label: &str, body: &str| {
        let dialect = by_label(label).unwrap();
        let conversation = read(dialect, body.as_bytes()).unwrap();
        Question::of(&conversation, &[]).map(|question| question.is_kept)
    };
    for (label, body, expected) in [
        ("openai_responses", r#"{"input":"a"}"#, Ok(true)),
        ("openai_responses", r#"{"input":"a","store":false}"#, Ok(false)),
        ("openai_responses", r#"{"input":"a","previous_response_id":"r"}"#, Err(Unfit::Kept)),
        ("openai_responses", r#"{"input":"a","conversation":"c"}"#, Err(Unfit::Kept)),
        ("openai_responses", r#"{"input":"a","background":true}"#, Err(Unfit::Kept)),
        ("gemini_interactions", r#"{"input":"a"}"#, Ok(true)),
        ("gemini_interactions", r#"{"input":"a","previous_interaction_id":"r"}"#, Err(Unfit::Kept)),
        ("anthropic", r#"{"messages":[{"role":"user","content":"a"}]}"#, Ok(false)),
        ("anthropic", r#"{"messages":[{"role":"user","content":"a"}],"thread":{}}"#, Err(Unfit::Kept)),
        ("openai_chat", r#"{"messages":[{"role":"user","content":"a"}],"store":true}"#, Err(Unfit::Kept)),
    ] {
        assert_eq!(of(label, body), expected, "{label} {body}");
    }
}

#[test]
fn the_highest_temperature_counts() {
    let of = |label: &str, body: &str| {
        let dialect = by_label(label).unwrap();
        let conversation = read(dialect, body.as_bytes()).unwrap();
        Question::of(&conversation, &[]).map(|question| question.temperature)
    };
    let messages = r#""messages":[{"role":"user","content":"a"}]"#;
    assert_eq!(of("openai_chat", &format!("{{{messages}}}")), Ok(None));
    assert_eq!(of("openai_chat", &format!(r#"{{{messages},"temperature":0.3}}"#)), Ok(Some(0.3)));
    let shape = Err(Unfit::Ambiguous(Ambiguous::Shape));
    assert_eq!(of("openai_chat", &format!(r#"{{{messages},"temperature":"0"}}"#)), shape);
    let gemini = r#"{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"temperature":1.5}}"#;
    assert_eq!(of("gemini", gemini), Ok(Some(1.5)));
}

/// All requests of the golden files can be split, or are refused with a reason.
#[test]
fn every_example_is_taken_apart_or_refused() {
    let mut taken = 0;
    for dialect in ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(dialect.label());
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let body = fs::read_to_string(&path).unwrap();
                taken += usize::from(taken_apart(dialect, &body).is_ok());
            }
        }
    }
    assert!(taken >= 5, "{taken}");
}

#[test]
fn a_path_without_its_stream_is_the_plain_one() {
    for (label, target, expected) in [
        ("openai_chat", "/v1/chat/completions?x=1", "/v1/chat/completions?x=1"),
        (
            "gemini",
            "/v1beta/models/m:streamGenerateContent?alt=sse&key=k",
            "/v1beta/models/m:generateContent?key=k",
        ),
        ("gemini", "/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent?"),
        ("bedrock", "/model/a%3A0/converse-stream", "/model/a%3A0/converse?"),
        ("bedrock", "/model/x-converse-stream", "/model/x-converse-stream?"),
        ("vertex_anthropic", "/m/c@1:streamRawPredict", "/m/c@1:rawPredict?"),
    ] {
        assert_eq!(without_stream(by_label(label).unwrap(), target), expected);
    }
}
