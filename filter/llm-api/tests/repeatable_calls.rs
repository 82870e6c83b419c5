//! Calls in answers that may be given again: real answers, and answers with something more or less.
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test may fail")]

#[path = "support/repeatable.rs"]
mod support;

use sentinel_llm_api::{
    framing::{Framing, event_stream},
    registry::{ALL, by_label},
    repeatable::NotRepeatable,
};
use support::*;

/// Shortened answers of real providers, and their content.
#[test]
fn real_calls_are_repeatable() {
    let paris = r#"{"city":"Paris"}"#;
    for (label, content_type, body, text, calls) in [
        (
            "openai_chat",
            "application/json",
            r#"{"id":"chatcmpl-B","object":"chat.completion","created":1,"model":"gpt-4o-2024-08-06","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"f","arguments":"{\"city\":\"Paris\"}"}},{"id":"call_def","type":"function","function":{"name":"g","arguments":"{}"}}],"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},"service_tier":"default"}"#,
            "",
            vec![("f", paris), ("g", "{}")],
        ),
        (
            "openai_chat",
            "text/event-stream",
            "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"call_a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}],\"refusal\":null},\"logprobs\":null,\"finish_reason\":null}]}\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"city\\\":\"}}]},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"Paris\\\"}\"}}]},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
            "",
            vec![("f", paris)],
        ),
        (
            "openai_responses",
            "application/json",
            r#"{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"city\":\"Paris\"}","call_id":"call_1","name":"f"}],"tool_choice":"auto","tools":[{"type":"function","name":"f"}],"store":false}"#,
            "",
            vec![("f", paris)],
        ),
        (
            "anthropic",
            "application/json",
            r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"toolu_01","name":"f","input":{"city":"Paris"},"caller":{"type":"direct"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":4}}"#,
            "Let me see.",
            vec![("f", paris)],
        ),
        (
            "vertex_anthropic",
            "text/event-stream",
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"c\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":9}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"I look.\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_vrtx_01\",\"name\":\"f\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":4}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
            "I look.",
            vec![("f", "{}")],
        ),
        (
            "gemini",
            "application/json",
            "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I look.\"},{\"functionCall\":{\"name\":\"f\",\"args\":{\"city\":\"Paris\"}}},{\"functionCall\":{\"id\":\"x\",\"name\":\"g\"}}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],\"modelVersion\":\"m\"}",
            "I look.",
            vec![("f", paris), ("g", "{}")],
        ),
        (
            "gemini_interactions",
            "application/json",
            r#"{"id":"v1_x","status":"requires_action","model":"m","steps":[{"type":"function_call","id":"k7","name":"f","arguments":{"city":"Paris"}}]}"#,
            "",
            vec![("f", paris)],
        ),
        (
            "bedrock",
            "application/json",
            r#"{"metrics":{"latencyMs":5},"output":{"message":{"content":[{"text":"I look."},{"toolUse":{"input":{"city":"Paris"},"name":"f","toolUseId":"tooluse_a"}}],"role":"assistant"}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}"#,
            "I look.",
            vec![("f", paris)],
        ),
    ] {
        let dialect = by_label(label).unwrap();
        let got = repeatable(dialect, content_type, body.as_bytes());
        assert_eq!(got, Some(Ok(content(text, &calls))), "{label} {content_type}");
        let without = plain(dialect, content_type, body.as_bytes());
        assert_eq!(without, Some(Err(NotRepeatable::Other)), "{label} {content_type}: none wanted");
    }
}

/// Changes of answers with calls, as JSON and as a stream, after which they cannot be given again.
#[test]
fn what_is_more_or_less_than_calls_is_told_from_them() {
    // Dialect, place, and replacement, in each form that contains the place.
    let cases: &[(&str, &str, &str)] = &[
        // Other reasons to end than calls.
        ("openai_chat", r#""finish_reason":"tool_calls""#, r#""finish_reason":"stop""#),
        ("openai_chat", r#""finish_reason":"tool_calls""#, r#""finish_reason":"length""#),
        ("openai_responses", r#""status":"completed","error""#, r#""status":"incomplete","error""#),
        ("anthropic", r#""stop_reason":"tool_use""#, r#""stop_reason":"end_turn""#),
        ("anthropic", r#""stop_reason":"tool_use""#, r#""stop_reason":"max_tokens""#),
        ("gemini", r#""finishReason":"STOP""#, r#""finishReason":"MAX_TOKENS""#),
        ("gemini", r#""finishReason":"STOP""#, r#""finishReason":"MALFORMED_FUNCTION_CALL""#),
        ("gemini_interactions", r#""status":"requires_action""#, r#""status":"completed""#),
        ("gemini_interactions", r#""status":"requires_action""#, r#""status":"failed""#),
        ("bedrock", r#""stopReason":"tool_use""#, r#""stopReason":"end_turn""#),
        // Other kinds of calls.
        ("openai_chat", r#""type":"function""#, r#""type":"custom""#),
        ("openai_responses", r#""type":"function_call""#, r#""type":"custom_tool_call""#),
        ("openai_responses", r#""type":"function_call""#, r#""type":"web_search_call""#),
        ("openai_responses", r#""type":"function_call""#, r#""type":"mcp_call""#),
        ("anthropic", r#""type":"tool_use","#, r#""type":"server_tool_use","#),
        ("anthropic", r#""type":"tool_use","#, r#""type":"mcp_tool_use","#),
        ("gemini", r#""functionCall""#, r#""executableCode""#),
        ("gemini_interactions", r#""type":"function_call""#, r#""type":"code_execution_call""#),
        ("bedrock", r#""toolUse""#, r#""reasoningContent""#),
        // Unknown members, reasoning and signatures, and calls by programs.
        (
            "openai_chat",
            r#""type":"function""#,
            r#""extra_content":{"google":{"thought_signature":"x"}},"type":"function""#,
        ),
        ("openai_chat", r#""name":"get_weather""#, r#""strict":true,"name":"get_weather""#),
        ("openai_responses", r#""name":"get_weather""#, r#""namespace":"n","name":"get_weather""#),
        (
            "openai_responses",
            r#""type":"function_call""#,
            r#""caller":{"type":"program","caller_id":"c"},"type":"function_call""#,
        ),
        (
            "anthropic",
            r#""name":"get_weather""#,
            r#""caller":{"type":"code_execution_20250825","tool_id":"x"},"name":"get_weather""#,
        ),
        ("gemini", r#""functionCall""#, r#""thoughtSignature":"x","functionCall""#),
        ("gemini", r#"{"text":"Paris"#, r#"{"thoughtSignature":"x","text":"Paris"#),
        ("gemini", r#""name":"get_weather""#, r#""willContinue":true,"name":"get_weather""#),
        ("gemini_interactions", r#""name":"get_weather""#, r#""signature":"x","name":"get_weather""#),
        ("bedrock", r#""name":"get_weather""#, r#""type":"server_tool_use","name":"get_weather""#),
        // Ids of another form, and missing ids.
        ("openai_chat", r#""id":"call_"#, r#""id":""#),
        ("openai_responses", r#""call_id":"call_"#, r#""call_id":""#),
        ("anthropic", r#""id":"toolu_"#, r#""id":"x"#),
        ("bedrock", r#""toolUseId":"tooluse_"#, r#""toolUseId":"x"#),
        // Missing names, and arguments that are not an object.
        ("openai_chat", r#""name":"look""#, r#""name":"""#),
        ("anthropic", r#""name":"look""#, r#""name":"""#),
        ("gemini", r#""name":"look""#, r#""name":null"#),
        ("gemini_interactions", r#""name":"look""#, r#""nom":"look""#),
        ("bedrock", r#""name":"look""#, r#""name":"""#),
        ("openai_chat", r#""arguments":"{}""#, r#""arguments":"""#),
        ("openai_chat", r#""arguments":"{}""#, r#""arguments":"{\"a\":""#),
        ("openai_responses", r#""arguments":"{}""#, r#""arguments":"[]""#),
        ("openai_responses", r#""arguments":"{}""#, r#""arguments":{}"#),
        ("gemini", r#""args":{}"#, r#""args":[1]"#),
        // Duplicates.
        ("openai_chat", r#""name":"look""#, r#""name":"look","name":"hook""#),
        ("anthropic", r#""name":"look""#, r#""name":"look","name":"hook""#),
    ];
    let sound = content(TEXT, &calls());
    for (label, place, instead) in cases {
        let dialect = by_label(label).unwrap();
        let mut found = 0;
        for (framing, _) in framings(dialect).into_iter().filter(|(f, _)| *f != Framing::AwsEventStream) {
            let body = String::from_utf8(written_of(&sound, dialect, framing, "")).unwrap();
            if !body.contains(place) {
                continue;
            }
            found += 1;
            let body = body.replace(place, instead);
            let got = repeatable(dialect, framing.content_type(), body.as_bytes());
            assert!(
                matches!(got, None | Some(Err(NotRepeatable::Other | NotRepeatable::Incomplete))),
                "{label} {framing:?} {instead}: {got:?}"
            );
        }
        assert!(found > 0, "{label}: {place} is in none");
    }
}

#[test]
fn calls_in_a_stream_come_in_order_and_whole() {
    for (label, place, instead) in [
        // A text behind a call.
        ("openai_chat", r#""delta":{},"#, r#""delta":{"content":"more"},"#),
        // Mixed pieces of two calls, a missing call, and a second call in place of the first.
        ("openai_chat", r#""tool_calls":[{"index":1,"#, r#""tool_calls":[{"index":0,"#),
        ("openai_chat", r#""tool_calls":[{"index":1,"#, r#""tool_calls":[{"index":7,"#),
        ("anthropic", r#""index":2,"delta""#, r#""index":1,"delta""#),
        ("gemini_interactions", r#""index":2,"delta""#, r#""index":1,"delta""#),
        // A call that does not end.
        ("anthropic", r#"{"type":"content_block_stop","index":3}"#, r#"{"type":"ping"}"#),
        (
            "gemini_interactions",
            r#""event_type":"step.stop","index":3"#,
            r#""event_type":"interaction.created""#,
        ),
        // The repeated answer at the end differs from what came before.
        ("openai_responses", r#""type":"response.output_item.done","#, r#""type":"response.in_progress","#),
    ] {
        let dialect = by_label(label).unwrap();
        let body =
            String::from_utf8(written_of(&content(TEXT, &calls()), dialect, Framing::Sse, "")).unwrap();
        assert!(body.contains(place), "{label}: {place}");
        let got = repeatable(dialect, "text/event-stream", body.replace(place, instead).as_bytes());
        assert_eq!(got, Some(Err(NotRepeatable::Other)), "{label} {place}");
    }
    // Bedrock's frames have checksums, so they are built anew.
    let bedrock = by_label("bedrock").unwrap();
    let stream = |events: &[(&str, &str)]| {
        let frames: Vec<u8> =
            events.iter().flat_map(|(kind, json)| event_stream::written(kind, json)).collect();
        repeatable(bedrock, event_stream::CONTENT_TYPE, &frames)
    };
    let start = (
        "contentBlockStart",
        r#"{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"tooluse_a","name":"f"}}}"#,
    );
    let delta = ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}"#);
    let stop = ("contentBlockStop", r#"{"contentBlockIndex":0}"#);
    let end = [("messageStop", r#"{"stopReason":"tool_use"}"#), ("metadata", "{}")];
    assert_eq!(stream(&[start, delta, stop, end[0], end[1]]), Some(Ok(content("", &[("f", "{}")]))));
    assert_eq!(stream(&[start, stop, end[0], end[1]]), Some(Ok(content("", &[("f", "{}")]))));
    let text = ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"text":"more"}}"#);
    let elsewhere = ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{}"}}}"#);
    for bad in [
        vec![start, delta, end[0], end[1]],
        vec![start, delta, stop, text, end[0], end[1]],
        vec![start, elsewhere, stop, end[0], end[1]],
        vec![delta, stop, end[0], end[1]],
    ] {
        assert_eq!(stream(&bad), Some(Err(NotRepeatable::Other)), "{bad:?}");
    }
    assert_eq!(stream(&[start, delta, stop, end[0]]), Some(Err(NotRepeatable::Incomplete)));
}

/// A provider may require its reasoning to be sent back with the calls.
#[test]
fn calls_behind_thoughts_are_not_given_again() {
    for (label, content_type, body) in [
        (
            "openai_responses",
            "application/json",
            r#"{"status":"completed","output":[{"id":"rs","type":"reasoning","summary":[]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}]}"#,
        ),
        (
            "gemini_interactions",
            "application/json",
            r#"{"status":"requires_action","steps":[{"type":"thought","signature":"x"},{"type":"function_call","id":"c","name":"f"}]}"#,
        ),
        (
            "anthropic",
            "application/json",
            r#"{"content":[{"type":"thinking","thinking":"","signature":"x"},{"type":"tool_use","id":"toolu_1","name":"f","input":{}}],"stop_reason":"tool_use"}"#,
        ),
        (
            "bedrock",
            "application/json",
            r#"{"output":{"message":{"content":[{"reasoningContent":{"reasoningText":{"text":"x"}}},{"toolUse":{"toolUseId":"tooluse_a","name":"f","input":{}}}]}},"stopReason":"tool_use"}"#,
        ),
    ] {
        let got = repeatable(by_label(label).unwrap(), content_type, body.as_bytes());
        assert_eq!(got, Some(Err(NotRepeatable::Other)), "{label}");
    }
}

#[test]
fn names_and_arguments_count_as_length() {
    let sound = content("", &[("f", &format!(r#"{{"a":"{}"}}"#, "x".repeat(1_000)))]);
    for dialect in ALL {
        for (framing, _) in framings(dialect) {
            let body = written_of(&sound, dialect, framing, "");
            let got = repeatable(dialect, framing.content_type(), &body);
            assert_eq!(got, Some(Err(NotRepeatable::TooLong)), "{dialect:?} {framing:?}");
        }
    }
}
