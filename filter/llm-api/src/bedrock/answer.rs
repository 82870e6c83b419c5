//! Answers: a message of content blocks, whole or in events that are named by their frames.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{answer::Answer, json, usage::Report};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Block {
    text: String,
    tool_use: Option<ToolUse>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolUse {
    name: String,
    /// An object in a whole answer; in a stream pieces of its text.
    input: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_write_input_tokens: Option<u64>,
}

/// The input has neither what was read from the cache nor what was written to it.
impl From<Usage> for Report {
    fn from(usage: Usage) -> Self {
        let written = usage.cache_write_input_tokens.unwrap_or(0);
        Self {
            input: usage.input_tokens.map(|input| input.saturating_add(written)),
            cached: usage.cache_read_input_tokens.unwrap_or(0),
            output: usage.output_tokens.unwrap_or(0),
        }
    }
}

pub fn whole(json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Deserialize)]
    struct Body {
        output: Output,
        #[serde(default)]
        usage: Option<Usage>,
    }
    #[derive(Deserialize)]
    struct Output {
        message: Message,
    }
    #[derive(Deserialize)]
    struct Message {
        content: Vec<Block>,
    }
    let body: Body = json::read(json).ok()?;
    answer.add_usage(body.usage);
    for block in body.output.message.content {
        answer.push_text(&block.text);
        if let Some(call) = block.tool_use {
            answer.add_call(&call.name, call.input.as_deref().map_or("{}", RawValue::get));
        }
    }
    Some(())
}

/// The last event, `metadata`, comes after `messageStop`.
pub fn event(kind: &str, json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Event {
        content_block_index: u64,
        start: Block,
        delta: Block,
        usage: Option<Usage>,
    }
    let event: Event = json::read(json).ok()?;
    let index = event.content_block_index;
    match kind {
        "contentBlockStart" => answer.push_call(index, &event.start.tool_use?.name, ""),
        "contentBlockDelta" => {
            answer.push_text(&event.delta.text);
            let piece = event.delta.tool_use.and_then(|call| call.input)?;
            answer.push_call(index, "", &crate::json::string(&piece)?);
        }
        "metadata" => {
            answer.add_usage(event.usage);
            answer.has_ended = true;
        }
        _ => {}
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_says_what_the_whole_says() {
        let mut streamed = Answer::default();
        for (kind, json) in [
            ("messageStart", r#"{"role":"assistant"}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"Let me "}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"look."}}"#),
            ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
            (
                "contentBlockStart",
                r#"{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}"#,
            ),
            ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"a\":"}}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"1}"}}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"reasoningContent":{"text":"hm"}}}"#),
            ("messageStop", r#"{"stopReason":"tool_use"}"#),
            ("metadata", r#"{"usage":{"inputTokens":7,"outputTokens":3},"metrics":{"latencyMs":1}}"#),
            ("newKindOfEvent", r#"{"x":[1]}"#),
        ] {
            let _ = event(kind, json, &mut streamed);
        }
        let mut at_once = Answer::default();
        whole(
            r#"{"output":{"message":{"role":"assistant","content":[{"text":"Let me look."},{"toolUse":{"toolUseId":"t","name":"f","input":{"a":1}}}]}},"stopReason":"tool_use","usage":{"inputTokens":7,"outputTokens":3}}"#,
            &mut at_once,
        )
        .unwrap();
        assert!(streamed.has_ended);
        assert_eq!((&streamed.text, streamed.usage), (&at_once.text, at_once.usage));
        let calls = |answer: &Answer| {
            answer.calls.iter().map(|call| format!("{}{}", call.name, call.arguments)).collect::<Vec<_>>()
        };
        assert_eq!(calls(&streamed), calls(&at_once));
        assert_eq!(calls(&streamed), [r#"f{"a":1}"#]);
    }
}
