//! The final message, written as text. The error form is that of chat completions.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    json::quoted,
};

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    LocalReply::new(200, message.framing, body(message)).without_stainless_retry()
}

fn body(message: &FinalMessage<'_>) -> String {
    let FinalMessage { text, model, id, created, framing, usage: took, .. } = message;
    let response_id = quoted(&message.id("resp_sentinel_"));
    let (text, model) = (quoted(text), quoted(model));
    let part =
        |text: &str| format!(r#"{{"type":"output_text","text":{text},"annotations":[],"logprobs":[]}}"#);
    let item = |status: &str, content: &str| {
        format!(
            r#"{{"type":"message","id":"msg_sentinel_{id:016x}","status":"{status}","role":"assistant","content":[{content}]}}"#
        )
    };
    let response = |status: &str, output: &str, usage: &str| {
        format!(
            r#"{{"id":{response_id},"object":"response","created_at":{created},"status":"{status}","error":null,"incomplete_details":null,"instructions":null,"metadata":{{}},"model":{model},"output":[{output}],"parallel_tool_calls":true,"temperature":null,"tool_choice":"auto","tools":[],"top_p":null,"usage":{usage}}}"#
        )
    };
    let done_item = item("completed", &part(&text));
    let (input, cached, output, total) = (message.input(), took.cached, took.output, message.total());
    let usage = format!(
        r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":{cached}}},"output_tokens":{output},"output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":{total}}}"#
    );
    let done = response("completed", &done_item, &usage);
    if *framing == Framing::Json {
        return done;
    }
    let started = response("in_progress", "", "null");
    let at = format!(r#""item_id":"msg_sentinel_{id:016x}","output_index":0,"content_index":0"#);
    let events = [
        ("created", format!(r#""response":{started}"#)),
        ("in_progress", format!(r#""response":{started}"#)),
        ("output_item.added", format!(r#""output_index":0,"item":{}"#, item("in_progress", ""))),
        ("content_part.added", format!(r#"{at},"part":{}"#, part("\"\""))),
        ("output_text.delta", format!(r#"{at},"delta":{text},"logprobs":[]"#)),
        ("output_text.done", format!(r#"{at},"text":{text},"logprobs":[]"#)),
        ("content_part.done", format!(r#"{at},"part":{}"#, part(&text))),
        ("output_item.done", format!(r#""output_index":0,"item":{done_item}"#)),
        ("completed", format!(r#""response":{done}"#)),
    ];
    let event = |((kind, data), number): ((&str, String), u32)| {
        format!(
            "event: response.{kind}\ndata: {{\"type\":\"response.{kind}\",\"sequence_number\":{number},{data}}}\n\n"
        )
    };
    events.into_iter().zip(0..).map(event).collect()
}
