//! Requests of each dialect in pieces of text, for bodies that no library would write, and for arguments that must keep
//! their spaces and the order of their members.

use crate::Dialect::{
    self, Anthropic, Bedrock, Gemini, GeminiInteractions, OpenaiChat, OpenaiResponses, VertexAnthropic,
};

/// A whole body around these messages.
pub fn body(dialect: Dialect, messages: &str) -> String {
    match dialect {
        OpenaiChat => format!(r#"{{"model":"m","messages":[{messages}]}}"#),
        OpenaiResponses | GeminiInteractions => format!(r#"{{"model":"m","input":[{messages}]}}"#),
        Anthropic => format!(r#"{{"model":"m","max_tokens":9,"messages":[{messages}]}}"#),
        Gemini => format!(r#"{{"contents":[{messages}]}}"#),
        Bedrock => format!(r#"{{"messages":[{messages}]}}"#),
        VertexAnthropic => {
            format!(r#"{{"anthropic_version":"vertex-2023-10-16","max_tokens":9,"messages":[{messages}]}}"#)
        }
    }
}

/// A message with one text. Here and below, `text` is the content of a JSON string.
pub fn said(dialect: Dialect, role: &str, text: &str) -> String {
    content(dialect, role, &part(dialect, role, text))
}

/// A text as one part of a message.
pub fn part(dialect: Dialect, role: &str, text: &str) -> String {
    let kind = match dialect {
        OpenaiResponses if role == "user" => "input_text",
        OpenaiResponses => "output_text",
        _ => "text",
    };
    match dialect {
        Gemini | Bedrock => format!(r#"{{"text":"{text}"}}"#),
        _ => format!(r#"{{"type":"{kind}","text":"{text}"}}"#),
    }
}

/// A message with these parts.
pub fn content(dialect: Dialect, role: &str, parts: &str) -> String {
    match (dialect, role) {
        (Gemini, "assistant") => format!(r#"{{"role":"model","parts":[{parts}]}}"#),
        (GeminiInteractions, "assistant") => format!(r#"{{"type":"model_output","content":[{parts}]}}"#),
        (GeminiInteractions, _) => format!(r#"{{"type":"user_input","content":[{parts}]}}"#),
        (Gemini, _) => format!(r#"{{"role":"{role}","parts":[{parts}]}}"#),
        _ => format!(r#"{{"role":"{role}","content":[{parts}]}}"#),
    }
}

/// A call: id, tool, and arguments as JSON.
pub fn call(dialect: Dialect, id: &str, tool: &str, arguments: &str) -> String {
    let quoted = || serde_json::to_string(arguments).expect("a string");
    match dialect {
        OpenaiChat => format!(
            r#"{{"id":"{id}","type":"function","function":{{"name":"{tool}","arguments":{}}}}}"#,
            quoted()
        ),
        OpenaiResponses => {
            format!(r#"{{"type":"function_call","call_id":"{id}","name":"{tool}","arguments":{}}}"#, quoted())
        }
        Bedrock => {
            format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"{tool}","input":{arguments}}}}}"#)
        }
        Anthropic | VertexAnthropic => {
            format!(r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{arguments}}}"#)
        }
        GeminiInteractions => {
            format!(r#"{{"type":"function_call","id":"{id}","name":"{tool}","arguments":{arguments}}}"#)
        }
        Gemini => format!(r#"{{"functionCall":{{"id":"{id}","name":"{tool}","args":{arguments}}}}}"#),
    }
}

/// An assistant's turn with these calls, separated by commas.
pub fn calling(dialect: Dialect, calls: &str) -> String {
    match dialect {
        OpenaiChat => format!(r#"{{"role":"assistant","content":null,"tool_calls":[{calls}]}}"#),
        OpenaiResponses | GeminiInteractions => calls.to_owned(),
        _ => content(dialect, "assistant", calls),
    }
}

/// The result of a call, to be joined with others.
pub fn result(dialect: Dialect, id: &str, tool: &str, text: &str) -> String {
    let content = match dialect {
        Bedrock => format!(r#"[{{"text":"{text}"}}]"#),
        Gemini => format!(r#"{{"output":"{text}"}}"#),
        _ => format!("\"{text}\""),
    };
    result_with(dialect, id, tool, &content)
}

/// The same with this content, as JSON.
pub fn result_with(dialect: Dialect, id: &str, tool: &str, content: &str) -> String {
    match dialect {
        OpenaiChat => format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{content}}}"#),
        OpenaiResponses => {
            format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{content}}}"#)
        }
        Bedrock => format!(r#"{{"toolResult":{{"toolUseId":"{id}","content":{content}}}}}"#),
        Anthropic | VertexAnthropic => {
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}"#)
        }
        GeminiInteractions => {
            format!(r#"{{"type":"function_result","call_id":"{id}","name":"{tool}","result":{content}}}"#)
        }
        Gemini => {
            format!(r#"{{"functionResponse":{{"id":"{id}","name":"{tool}","response":{content}}}}}"#)
        }
    }
}

/// These results, separated by commas, as messages of the history.
pub fn answering(dialect: Dialect, results: &str) -> String {
    match dialect {
        OpenaiChat | OpenaiResponses | GeminiInteractions => results.to_owned(),
        _ => content(dialect, "user", results),
    }
}

/// The shortest possible call.
pub fn least_call(dialect: Dialect) -> &'static str {
    match dialect {
        OpenaiChat => "{}",
        OpenaiResponses | GeminiInteractions => r#"{"type":"function_call"}"#,
        Anthropic | VertexAnthropic => r#"{"type":"tool_use"}"#,
        Bedrock => r#"{"toolUse":{}}"#,
        Gemini => r#"{"functionCall":{}}"#,
    }
}

/// The shortest result without a call.
pub fn stray_result(dialect: Dialect) -> &'static str {
    match dialect {
        OpenaiChat => r#"{"role":"tool","tool_call_id":"x"}"#,
        OpenaiResponses => r#"{"type":"function_call_output","call_id":"x"}"#,
        Anthropic | VertexAnthropic => r#"{"type":"tool_result","tool_use_id":"x"}"#,
        Bedrock => r#"{"toolResult":{"toolUseId":"x"}}"#,
        GeminiInteractions => r#"{"type":"function_result","call_id":"x"}"#,
        Gemini => r#"{"functionResponse":{"id":"x"}}"#,
    }
}

/// The shortest possible message.
pub fn least_message(dialect: Dialect) -> &'static str {
    match dialect {
        OpenaiChat | Anthropic | Bedrock | VertexAnthropic => r#"{"role":""}"#,
        OpenaiResponses | Gemini | GeminiInteractions => "{}",
    }
}
