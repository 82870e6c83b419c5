//! What a response says that it took, in tokens. Each provider has names of its own for the same three counts.

use serde::Deserialize;

/// Tokens of one response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read from the request, those from the provider's cache left out.
    pub input: u64,
    /// Read from the provider's cache.
    pub cached: u64,
    /// Written, thinking included.
    pub output: u64,
}

/// The usage object of any dialect. OpenAI's and Gemini's input has the cached tokens in it, Anthropic's has not.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Reported {
    #[serde(alias = "prompt_tokens", alias = "promptTokenCount")]
    input_tokens: Option<u64>,
    #[serde(alias = "completion_tokens", alias = "candidatesTokenCount")]
    output_tokens: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
    #[serde(alias = "prompt_tokens_details")]
    input_tokens_details: Option<Details>,
    #[serde(rename = "cachedContentTokenCount")]
    cached_content: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Usage {
    /// A stream reports sums that grow; its last word on the input counts.
    pub(super) fn note(&mut self, reported: &Reported) {
        let within = reported.input_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        let within = within.or(reported.cached_content).unwrap_or(0);
        let beside = reported.cache_read_input_tokens.unwrap_or(0);
        let written_to_cache = reported.cache_creation_input_tokens.unwrap_or(0);
        if let Some(input) = reported.input_tokens {
            self.input = input.saturating_sub(within).saturating_add(written_to_cache);
        }
        let output = reported.output_tokens.unwrap_or(0).saturating_add(reported.thoughts.unwrap_or(0));
        self.cached = self.cached.max(within.saturating_add(beside));
        self.output = self.output.max(output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{AnswerReader, Dialect};

    fn usage(dialect: Dialect, content_type: &str, body: &str) -> Usage {
        let mut reader = AnswerReader::new(dialect, content_type.as_bytes()).unwrap();
        body.as_bytes().chunks(7).for_each(|chunk| reader.push(chunk));
        reader.finish().unwrap().usage
    }

    #[test]
    fn every_dialect_in_json_and_in_a_stream() {
        let expected = Usage { input: 40, cached: 60, output: 9 };
        let chat = r#""usage":{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_tokens_details":{"cached_tokens":60,"audio_tokens":0}}"#;
        let responses = r#""usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4}}"#;
        let gemini = r#""usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":5,"thoughtsTokenCount":4,"totalTokenCount":109}"#;
        let anthropic = r#""usage":{"input_tokens":30,"cache_creation_input_tokens":10,"cache_read_input_tokens":60,"output_tokens":9}"#;
        for (dialect, json, stream) in [
            (
                Dialect::OpenAiChat,
                format!(r#"{{"choices":[{{"message":{{"content":"x"}}}}],{chat}}}"#),
                format!("data: {{\"choices\":[],\"usage\":null}}\n\ndata: {{\"choices\":[],{chat}}}\n\ndata: [DONE]\n\n"),
            ),
            (
                Dialect::OpenAiResponses,
                format!(r#"{{"output":[],{responses}}}"#),
                format!("data: {{\"type\":\"response.completed\",\"response\":{{\"output\":[],{responses}}}}}\n\n"),
            ),
            (
                Dialect::Anthropic,
                format!(r#"{{"content":[],{anthropic}}}"#),
                "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":30,\"cache_creation_input_tokens\":10,\"cache_read_input_tokens\":60,\"output_tokens\":1}}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":9}}\n\n".to_owned(),
            ),
            (
                Dialect::Gemini,
                format!(r#"{{"candidates":[],{gemini}}}"#),
                format!("data: {{\"candidates\":[],\"usageMetadata\":{{\"promptTokenCount\":100}}}}\n\ndata: {{\"candidates\":[],{gemini}}}\n\n"),
            ),
        ] {
            assert_eq!(usage(dialect, "application/json", &json), expected, "{dialect:?}");
            assert_eq!(usage(dialect, "text/event-stream", &stream), expected, "{dialect:?} stream");
        }
    }

    #[test]
    fn what_reports_nothing_took_nothing() {
        let body = r#"{"choices":[{"message":{"content":"x"}}],"usage":null}"#;
        assert_eq!(usage(Dialect::OpenAiChat, "application/json", body), Usage::default());
    }
}
