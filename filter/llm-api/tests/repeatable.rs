//! Answers that may be given again. Each dialect reads what it writes, in every framing, and recognises what a text,
//! calls, a model and a usage cannot express. `golden/<dialect>/answer*` and `calls*` hold what is written;
//! `UPDATE_GOLDEN=1 cargo test -p sentinel-llm-api --test repeatable` rewrites them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test may fail")]

#[path = "support/repeatable.rs"]
mod support;

use std::{fs, path::Path};

use sentinel_llm_api::{
    dialect::FinalMessage,
    framing::{Framing, event_stream},
    registry::{ALL, by_label},
    repeatable::{Content, NotRepeatable},
};
use support::*;

#[test]
fn what_is_served_reads_as_what_was_stored() {
    for dialect in ALL {
        for (framing, ending) in framings(dialect) {
            for (name, content) in [
                ("answer", content(TEXT, &[])),
                ("calls", content("", &calls())),
                ("text_calls", content(TEXT, &calls())),
            ] {
                let body = written_of(&content, dialect, framing, "");
                let golden = Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("tests/golden")
                    .join(dialect.label())
                    .join(format!("{name}{ending}"));
                if std::env::var_os("UPDATE_GOLDEN").is_some() {
                    fs::write(&golden, &body).unwrap();
                }
                assert_eq!(
                    fs::read(&golden).unwrap(),
                    body,
                    "{} is not what the dialect makes",
                    golden.display()
                );
                for step in [1, 7, body.len()] {
                    let answer = read(dialect, framing.content_type(), &body, step).unwrap();
                    let place = format!("{dialect:?} {framing:?} {step} {name}");
                    let read = answer.content.unwrap().unwrap();
                    assert_eq!(one_line(&read), one_line(&content), "{place}");
                    if dialect.label().starts_with("openai") {
                        assert_eq!(read, content, "{place}: byte for byte");
                    }
                    assert_eq!(answer.usage, USAGE, "{place}");
                    // The record of it equals the record of the provider's answer.
                    let noted: Vec<_> = answer.calls.iter().map(|call| call.name.as_str()).collect();
                    let names: Vec<_> = content.calls.iter().map(|call| call.name.as_str()).collect();
                    assert_eq!((answer.text.as_str(), noted), (content.text.as_str(), names), "{place}");
                }
            }
        }
    }
}

/// If arguments are an object, line ends between their members are left out, because an event of a stream is one line.
fn one_line(content: &Content) -> Content {
    let mut content = content.clone();
    content.calls.iter_mut().for_each(|call| call.arguments = call.arguments.replace('\n', ""));
    content
}

/// The same id twice in a conversation would be another call.
#[test]
fn each_call_has_an_id_of_its_own() {
    for (dialect, before) in [
        ("openai_chat", "\"id\":\"call_"),
        ("openai_responses", "\"call_id\":\"call_"),
        ("anthropic", "\"toolu_"),
        ("vertex_anthropic", "\"toolu_"),
        ("bedrock", "\"tooluse_"),
        ("gemini_interactions", "\"call_"),
    ] {
        let dialect = by_label(dialect).unwrap();
        for (framing, _) in framings(dialect).into_iter().filter(|(f, _)| *f != Framing::AwsEventStream) {
            let mut ids: Vec<String> = Vec::new();
            for id in [1, 2] {
                let content = content("", &calls());
                let message = FinalMessage {
                    text: "",
                    calls: &content.calls,
                    model: "m",
                    framing,
                    id,
                    kept_as: "",
                    usage: USAGE,
                    created: 1,
                    include_usage: true,
                };
                let body = String::from_utf8(dialect.final_message(&message).body).unwrap();
                let found: std::collections::BTreeSet<String> = body
                    .split(before)
                    .skip(1)
                    .map(|rest| rest.split('"').next().unwrap().to_owned())
                    .collect();
                assert_eq!(found.len(), 3, "{dialect:?} {framing:?}: {body}");
                ids.extend(found);
            }
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), 6, "{dialect:?} {framing:?}: {ids:?}");
            assert!(ids.iter().all(|id| id.len() == 20 && id.bytes().all(|b| b.is_ascii_alphanumeric())));
        }
    }
}

#[test]
fn an_answer_that_the_provider_keeps_has_its_id() {
    for (label, id) in [("openai_responses", "resp_1"), ("gemini_interactions", "v1_abc")] {
        let dialect = by_label(label).unwrap();
        for (framing, _) in framings(dialect) {
            let answer = read(dialect, framing.content_type(), &written(dialect, framing, id), 9).unwrap();
            assert_eq!(answer.id, id, "{label}");
        }
    }
}

/// If an answer is cut off at any place, it cannot be given again.
#[test]
fn a_part_of_an_answer_is_none() {
    for dialect in ALL {
        for (framing, _) in framings(dialect) {
            for content in [content(TEXT, &[]), content(TEXT, &calls())] {
                let body = written_of(&content, dialect, framing, "");
                let needed = String::from_utf8_lossy(&body).trim_end().len().min(body.len());
                for end in 0..needed.saturating_sub(1) {
                    let got = repeatable(dialect, framing.content_type(), &body[..end]);
                    // In some dialects, one more event without content follows the last one.
                    let has_ended = end > needed.saturating_sub(30);
                    assert!(
                        !matches!(got, Some(Ok(_))) || has_ended,
                        "{dialect:?} {framing:?}: {}",
                        String::from_utf8_lossy(&body[..end])
                    );
                }
            }
        }
    }
}

/// For each whole answer, a member that makes it unrepeatable, and where it is inserted.
#[test]
fn what_says_more_than_a_text_is_told_from_it() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "openai_chat",
            r#""refusal":null"#,
            &[
                r#""refusal":"I cannot","#,
                r#""tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"#,
                r#""annotations":[{"type":"url_citation"}],"#,
                r#""audio":{"id":"a"},"#,
                r#""reasoning_content":"hm","#,
                r#""content":"other","#,
            ],
        ),
        (
            "openai_chat",
            r#""logprobs":null"#,
            &[r#""logprobs":{"content":[{}]},"#, r#""content_filter_results":{"hate":{"filtered":true}},"#],
        ),
        ("openai_chat", r#""choices":["#, &[r#""error":{"message":"x"},"#, r#""citations":["https://a"],"#]),
        (
            "openai_responses",
            r#"{"type":"message""#,
            &[
                r#"{"type":"reasoning","summary":[{"text":"x"}]},"#,
                r#"{"type":"reasoning","encrypted_content":"x"},"#,
                r#"{"type":"function_call","name":"f"},"#,
            ],
        ),
        (
            "openai_responses",
            r#"{"type":"output_text""#,
            &[r#"{"type":"refusal","refusal":"no"},"#, r#"{"type":"output_text","text":"a"},"#],
        ),
        ("openai_responses", r#""error":null"#, &[r#""conversation":{"id":"c"},"#, r#""background":true,"#]),
        ("openai_responses", r#""annotations":[]"#, &[r#""annotations":[{"type":"file_citation"}],"#]),
        (
            "anthropic",
            r#"{"type":"text""#,
            &[
                r#"{"type":"thinking","thinking":"hm","signature":"s"},"#,
                r#"{"type":"tool_use","id":"t","name":"f","input":{}},"#,
                r#"{"type":"server_tool_use","id":"t","name":"web_search","input":{}},"#,
            ],
        ),
        ("anthropic", r#""text":"Paris"#, &[r#""citations":[{"type":"char_location"}],"#]),
        (
            "anthropic",
            r#""stop_sequence":null"#,
            &[r#""container":{"id":"c"},"#, r#""stop_sequence":"END","#],
        ),
        ("vertex_anthropic", r#""usage":{"#, &[r#""stop_details":{"type":"refusal"},"#]),
        (
            "gemini",
            r#"{"text":"Paris"#,
            &[
                r#"{"text":"hm","thought":true},"#,
                r#"{"functionCall":{"name":"f"}},"#,
                r#"{"inlineData":{"data":""}},"#,
            ],
        ),
        (
            "gemini",
            r#""finishReason""#,
            &[r#""groundingMetadata":{"webSearchQueries":["q"]},"#, r#""safetyRatings":[{"blocked":true}],"#],
        ),
        ("gemini", r#""usageMetadata""#, &[r#""promptFeedback":{"blockReason":"SAFETY"},"#]),
        (
            "gemini_interactions",
            r#"{"type":"model_output""#,
            &[
                r#"{"type":"thought","summary":[{"type":"text","text":"hm"}]},"#,
                r#"{"type":"model_output","content":[]},"#,
                r#"{"type":"function_call","name":"f"},"#,
            ],
        ),
        ("bedrock", r#"{"text""#, &[r#"{"reasoningContent":{}},"#, r#"{"toolUse":{"name":"f"}},"#]),
        ("bedrock", r#""stopReason""#, &[r#""trace":{"guardrail":{"x":1}},"#]),
    ];
    for (label, place, inserted) in cases {
        let dialect = by_label(label).unwrap();
        let whole = String::from_utf8(written(dialect, Framing::Json, "")).unwrap();
        for more in *inserted {
            assert!(whole.contains(place), "{label}: {place}");
            let body = whole.replacen(place, &format!("{more}{place}"), 1);
            let got = plain(dialect, "application/json", body.as_bytes());
            assert!(matches!(got, None | Some(Err(NotRepeatable::Other))), "{label} {more}: {got:?}");
        }
    }
}

#[test]
fn another_end_is_no_good_end() {
    for (label, end, others) in [
        ("openai_chat", r#""finish_reason":"stop""#, &["length", "content_filter", "tool_calls"][..]),
        ("openai_responses", r#""status":"completed""#, &["incomplete", "failed", "queued"]),
        (
            "anthropic",
            r#""stop_reason":"end_turn""#,
            &["max_tokens", "refusal", "pause_turn", "stop_sequence"],
        ),
        ("gemini", r#""finishReason":"STOP""#, &["MAX_TOKENS", "SAFETY", "RECITATION"]),
        ("gemini_interactions", r#""status":"completed""#, &["failed", "requires_action"]),
        ("bedrock", r#""stopReason":"end_turn""#, &["max_tokens", "guardrail_intervened"]),
    ] {
        let dialect = by_label(label).unwrap();
        for other in others {
            let (key, _) = end.split_once(':').unwrap();
            let other = format!("{key}:\"{other}\"");
            for (framing, _) in framings(dialect).into_iter().filter(|(f, _)| *f != Framing::AwsEventStream) {
                let body = String::from_utf8(written(dialect, framing, "")).unwrap();
                assert!(body.contains(end), "{label} {framing:?}");
                let body = body.replace(end, &other);
                let got = plain(dialect, framing.content_type(), body.as_bytes());
                assert!(matches!(got, Some(Err(_))), "{label} {framing:?} {other}: {got:?}");
            }
        }
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_seen() {
    for (label, error) in [
        ("openai_chat", r#"{"error":{"message":"overloaded","code":500}}"#),
        ("openai_responses", r#"{"type":"error","message":"overloaded"}"#),
        ("anthropic", r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
        ("gemini", r#"{"error":{"code":503}}"#),
        ("gemini_interactions", r#"{"event_type":"error","error":{"code":"x"}}"#),
        ("openai_chat", "no JSON at all"),
        ("anthropic", r#"{"type":"something_new"}"#),
    ] {
        let dialect = by_label(label).unwrap();
        let body = String::from_utf8(written(dialect, Framing::Sse, "")).unwrap();
        let (first, rest) = body.split_once("\n\n").unwrap_or(("", &body));
        let body = format!("{first}\n\ndata: {error}\n\n{rest}");
        let got = plain(dialect, "text/event-stream", body.as_bytes());
        assert!(matches!(got, Some(Err(NotRepeatable::Other))), "{label} {error}: {got:?}");
    }
    // A byte that is not UTF-8.
    let chat = by_label("openai_chat").unwrap();
    let mut body = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n".to_vec();
    body.extend(written(chat, Framing::Sse, ""));
    assert_eq!(plain(chat, "text/event-stream", &body), Some(Err(NotRepeatable::Other)));
    // A frame of Bedrock with an unknown event.
    let bedrock = by_label("bedrock").unwrap();
    let mut body = event_stream::written("internalServerException", r#"{"message":"x"}"#);
    body.extend(written(bedrock, Framing::AwsEventStream, ""));
    assert_eq!(plain(bedrock, event_stream::CONTENT_TYPE, &body), Some(Err(NotRepeatable::Other)));
}

/// Shortened answers of real providers, with everything that they write beside the text.
#[test]
fn real_answers_are_plain() {
    for (label, content_type, body) in [
        (
            "openai_chat",
            "application/json",
            r#"{"id":"chatcmpl-B","object":"chat.completion","created":1,"model":"gpt-4o-2024-08-06","choices":[{"index":0,"message":{"role":"assistant","content":"Paris.","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"service_tier":"default","system_fingerprint":"fp_x"}"#,
        ),
        (
            "openai_chat",
            "text/event-stream",
            "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"service_tier\":\"default\",\"system_fingerprint\":null,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null,\"obfuscation\":\"x\"}\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Par\"},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"is.\"},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
        ),
        (
            "anthropic",
            "application/json",
            r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"Paris.","citations":null}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":4,"service_tier":"standard"}}"#,
        ),
        (
            "anthropic",
            "text/event-stream",
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"c\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Paris.\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":4}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
        (
            "gemini",
            "application/json",
            r#"{"candidates":[{"content":{"parts":[{"text":"Paris."}],"role":"model"},"finishReason":"STOP","index":0,"avgLogprobs":-0.1,"safetyRatings":[{"category":"HARM_CATEGORY_HATE_SPEECH","probability":"NEGLIGIBLE"}]}],"usageMetadata":{"promptTokenCount":4},"modelVersion":"gemini-2.5-flash","responseId":"r"}"#,
        ),
        (
            "gemini",
            "text/event-stream",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Par\"}],\"role\":\"model\"},\"index\":0}]}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"is.\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}]}\r\n\r\n",
        ),
        (
            "bedrock",
            "application/json",
            r#"{"metrics":{"latencyMs":5},"output":{"message":{"content":[{"text":"Paris."}],"role":"assistant"}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}"#,
        ),
    ] {
        let got = plain(by_label(label).unwrap(), content_type, body.as_bytes());
        assert_eq!(got, Some(Ok("Paris.".to_owned())), "{label} {content_type}");
    }
}

/// Hidden reasoning is not part of an answer.
#[test]
fn thoughts_that_are_not_told_are_left_out() {
    for (label, content_type, body) in [
        (
            "openai_responses",
            "application/json",
            r#"{"status":"completed","output":[{"id":"rs","type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Paris."}]}]}"#,
        ),
        (
            "gemini",
            "application/json",
            r#"{"candidates":[{"content":{"parts":[{"text":"Paris.","thoughtSignature":"x"}]},"finishReason":"STOP"}]}"#,
        ),
        (
            "gemini_interactions",
            "application/json",
            r#"{"status":"completed","steps":[{"type":"thought","signature":"x"},{"type":"model_output","content":[{"type":"text","text":"Paris."}]}]}"#,
        ),
        (
            "gemini_interactions",
            "text/event-stream",
            "data: {\"event_type\":\"step.start\",\"index\":0,\"step\":{\"type\":\"thought\"}}\n\ndata: {\"event_type\":\"step.delta\",\"index\":0,\"delta\":{\"type\":\"thought_signature\",\"signature\":\"x\"}}\n\ndata: {\"event_type\":\"step.start\",\"index\":1,\"step\":{\"type\":\"model_output\"}}\n\ndata: {\"event_type\":\"step.delta\",\"index\":1,\"delta\":{\"type\":\"text\",\"text\":\"Paris.\"}}\n\ndata: {\"event_type\":\"interaction.completed\",\"interaction\":{\"status\":\"completed\"}}\n\n",
        ),
    ] {
        let got = plain(by_label(label).unwrap(), content_type, body.as_bytes());
        assert_eq!(got, Some(Ok("Paris.".to_owned())), "{label} {content_type}");
    }
}

/// Some servers write `STOP` into every event, so it is unknown which text was the last.
#[test]
fn a_text_behind_the_end_makes_it_no_end() {
    let event = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Par\"}]},\"finishReason\":\"STOP\"}]}\n\n";
    let gemini = by_label("gemini").unwrap();
    let got = plain(gemini, "text/event-stream", [event, event].concat().as_bytes());
    assert_eq!(got, Some(Err(NotRepeatable::Other)));
}

#[test]
fn a_text_that_is_too_long_is_none() {
    let chat = by_label("openai_chat").unwrap();
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":"{}"}},"finish_reason":"stop"}}]}}"#,
        "x".repeat(1_001)
    );
    assert_eq!(plain(chat, "application/json", body.as_bytes()), Some(Err(NotRepeatable::TooLong)));
}
