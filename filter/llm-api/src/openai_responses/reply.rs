//! The final message, written as text. Errors are those of chat completions.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    template::Template,
};

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    LocalReply::new(200, message.framing, body(message)).without_stainless_retry()
}

/// A response up to its status, from there to its output, and what follows.
const START: &str = r#"{"id":$own_id,"object":"response","created_at":$created,"status":""#;
const OUTPUT: &str =
    r#"","error":null,"incomplete_details":null,"instructions":null,"metadata":{},"model":$model,"output":["#;
const USAGE: &str = r#"],"parallel_tool_calls":true,"temperature":null,"tool_choice":"auto","tools":[],"top_p":null,"usage":"#;

const TEXT: &str = r#"event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":$number,"output_index":$at,"item":{"type":"message","id":"msg_sentinel_$id","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":$number,"item_id":"msg_sentinel_$id","output_index":$at,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":$number,"item_id":"msg_sentinel_$id","output_index":$at,"content_index":0,"delta":$text,"logprobs":[]}

event: response.output_text.done
data: {"type":"response.output_text.done","sequence_number":$number,"item_id":"msg_sentinel_$id","output_index":$at,"content_index":0,"text":$text,"logprobs":[]}

event: response.content_part.done
data: {"type":"response.content_part.done","sequence_number":$number,"item_id":"msg_sentinel_$id","output_index":$at,"content_index":0,"part":{"type":"output_text","text":$text,"annotations":[],"logprobs":[]}}

"#;
const CALL: &str = r#"event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":$number,"output_index":$at,"item":{"type":"function_call","id":"fc_$call","call_id":"call_$call","name":$name,"arguments":"","status":"in_progress"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":$number,"item_id":"fc_$call","output_index":$at,"delta":$quoted}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","sequence_number":$number,"item_id":"fc_$call","output_index":$at,"name":$name,"arguments":$quoted}

"#;
const TEXT_ITEM: &str = r#"{"type":"message","id":"msg_sentinel_$id","status":"completed","role":"assistant","content":[{"type":"output_text","text":$text,"annotations":[],"logprobs":[]}]}"#;
const CALL_ITEM: &str = r#"{"type":"function_call","id":"fc_$call","call_id":"call_$call","name":$name,"arguments":$quoted,"status":"completed"}"#;

fn body(message: &FinalMessage<'_>) -> String {
    let mut out = Template::new(message, ["completed", "completed"], "resp_sentinel_");
    if message.framing == Framing::Json {
        add_done(&mut out);
        return out.take();
    }
    for event in [
        "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":$number,\"response\":",
        "event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"sequence_number\":$number,\"response\":",
    ] {
        out.add_all(&[event, START, "in_progress", OUTPUT, USAGE, "null}}\n\n"]);
    }
    for part in out.parts() {
        out.add_part(part, TEXT, CALL);
        out.add("event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"sequence_number\":$number,\"output_index\":$at,\"item\":");
        out.add_part(part, TEXT_ITEM, CALL_ITEM);
        out.add("}\n\n");
    }
    out.add("event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":$number,\"response\":");
    add_done(&mut out);
    out.add("}\n\n");
    out.take()
}

fn add_done(out: &mut Template<'_>) {
    out.add_all(&[START, "$stop", OUTPUT]);
    out.add_parts(TEXT_ITEM, CALL_ITEM, ",");
    out.add(USAGE);
    out.add(r#"{"input_tokens":$all_input,"input_tokens_details":{"cached_tokens":$cached},"output_tokens":$output,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":$total}}"#);
}
