//! The final message, written as text. The error form is that of chat completions.

use crate::{
    dialect::{FinalMessage, LocalReply, WrittenCall},
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
    let calls = message.calls("call_");
    let call = |call: &WrittenCall<'_>, status: &str, arguments: &str| {
        let WrittenCall { number, id, name, .. } = call;
        format!(
            r#"{{"type":"function_call","id":"fc_{number}","call_id":{id},"name":{name},"arguments":{arguments},"status":"{status}"}}"#
        )
    };
    let texts = message.has_text().then(|| item("completed", &part(&text)));
    let items = calls.iter().map(|made| call(made, "completed", &quoted(made.arguments)));
    let items: Vec<String> = texts.into_iter().chain(items).collect();
    let (input, cached, output, total) = (message.input(), took.cached, took.output, message.total());
    let usage = format!(
        r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":{cached}}},"output_tokens":{output},"output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":{total}}}"#
    );
    let done = response("completed", &items.join(","), &usage);
    if *framing == Framing::Json {
        return done;
    }
    let mut events = Events::default();
    let started = format!(r#""response":{}"#, response("in_progress", "", "null"));
    events.add("created", &started);
    events.add("in_progress", &started);
    let mut items = items.iter().enumerate();
    if message.has_text()
        && let Some((_, done)) = items.next()
    {
        let at = format!(r#""item_id":"msg_sentinel_{id:016x}","output_index":0,"content_index":0"#);
        events.add("output_item.added", &format!(r#""output_index":0,"item":{}"#, item("in_progress", "")));
        events.add("content_part.added", &format!(r#"{at},"part":{}"#, part("\"\"")));
        events.add("output_text.delta", &format!(r#"{at},"delta":{text},"logprobs":[]"#));
        events.add("output_text.done", &format!(r#"{at},"text":{text},"logprobs":[]"#));
        events.add("content_part.done", &format!(r#"{at},"part":{}"#, part(&text)));
        events.add("output_item.done", &format!(r#""output_index":0,"item":{done}"#));
    }
    for ((index, done), made) in items.zip(&calls) {
        let arguments = quoted(made.arguments);
        let output = format!(r#""output_index":{index}"#);
        let at = format!(r#""item_id":"fc_{}",{output}"#, made.number);
        let added = call(made, "in_progress", "\"\"");
        events.add("output_item.added", &format!(r#"{output},"item":{added}"#));
        events.add("function_call_arguments.delta", &format!(r#"{at},"delta":{arguments}"#));
        let name = &made.name;
        events.add("function_call_arguments.done", &format!(r#"{at},"name":{name},"arguments":{arguments}"#));
        events.add("output_item.done", &format!(r#"{output},"item":{done}"#));
    }
    events.add("completed", &format!(r#""response":{done}"#));
    events.written
}

/// The events of a stream, which are numbered.
#[derive(Default)]
struct Events {
    written: String,
    number: u32,
}

impl Events {
    #[inline(never)]
    fn add(&mut self, kind: &str, data: &str) {
        let number = self.number;
        self.written += &format!(
            "event: response.{kind}\ndata: {{\"type\":\"response.{kind}\",\"sequence_number\":{number},{data}}}\n\n"
        );
        self.number = number.saturating_add(1);
    }
}
