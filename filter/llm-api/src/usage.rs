//! The tokens that a response reports. Each provider has its own names for the same three counts, which its dialect
//! knows.

/// The tokens of one response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens, without those from the provider's cache.
    pub input: u64,
    /// Input tokens from the provider's cache.
    pub cached: u64,
    /// Output tokens, with those of the model's reasoning.
    pub output: u64,
}

/// The counts in one report of a provider. A stream may hold several reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageReport {
    /// Without tokens from the provider's cache. `None` if the report does not say.
    pub input: Option<u64>,
    pub cached: u64,
    pub output: u64,
}

impl Usage {
    /// Adds a report. The counts of a stream grow, and its last report of the input is the valid one.
    pub(crate) fn add(&mut self, report: UsageReport) {
        self.input = report.input.unwrap_or(self.input);
        self.cached = self.cached.max(report.cached);
        self.output = self.output.max(report.output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{answer_reader::AnswerReader, registry::by_label};

    fn usage(dialect: &str, content_type: &str, body: &str) -> Usage {
        let mut reader = AnswerReader::new(by_label(dialect).unwrap(), content_type.as_bytes()).unwrap();
        body.as_bytes().chunks(7).for_each(|chunk| reader.push(chunk));
        reader.into_answer().unwrap().usage
    }

    #[test]
    fn every_dialect_in_json_and_in_a_stream() {
        let expected = Usage { input: 40, cached: 60, output: 9 };
        let chat = r#""usage":{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_tokens_details":{"cached_tokens":60,"audio_tokens":0}}"#;
        let responses = r#""usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4}}"#;
        let gemini = r#""usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":5,"thoughtsTokenCount":4,"totalTokenCount":109}"#;
        let interactions = r#""usage":{"total_input_tokens":100,"total_cached_tokens":60,"total_output_tokens":5,"total_thought_tokens":4,"total_tokens":109}"#;
        let anthropic = r#""usage":{"input_tokens":30,"cache_creation_input_tokens":10,"cache_read_input_tokens":60,"output_tokens":9}"#;
        for (dialect, json, stream) in [
            (
                "openai_chat",
                format!(r#"{{"choices":[{{"message":{{"content":"x"}}}}],{chat}}}"#),
                format!("data: {{\"choices\":[],\"usage\":null}}\n\ndata: {{\"choices\":[],{chat}}}\n\ndata: [DONE]\n\n"),
            ),
            (
                "openai_responses",
                format!(r#"{{"output":[],{responses}}}"#),
                format!("data: {{\"type\":\"response.completed\",\"response\":{{\"output\":[],{responses}}}}}\n\n"),
            ),
            (
                "anthropic",
                format!(r#"{{"content":[],{anthropic}}}"#),
                "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":30,\"cache_creation_input_tokens\":10,\"cache_read_input_tokens\":60,\"output_tokens\":1}}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":9}}\n\n".to_owned(),
            ),
            (
                "gemini",
                format!(r#"{{"candidates":[],{gemini}}}"#),
                format!("data: {{\"candidates\":[],\"usageMetadata\":{{\"promptTokenCount\":100}}}}\n\ndata: {{\"candidates\":[],{gemini}}}\n\n"),
            ),
            (
                "gemini_interactions",
                format!(r#"{{"steps":[],{interactions}}}"#),
                format!("data: {{\"event_type\":\"interaction.completed\",\"interaction\":{{{interactions}}}}}\n\n"),
            ),
            (
                "vertex_anthropic",
                format!(r#"{{"content":[],{anthropic}}}"#),
                format!("data: {{\"type\":\"message_delta\",\"delta\":{{}},{anthropic}}}\n\n"),
            ),
        ] {
            assert_eq!(usage(dialect, "application/json", &json), expected, "{dialect:?}");
            assert_eq!(usage(dialect, "text/event-stream", &stream), expected, "{dialect:?} stream");
        }
    }

    #[test]
    fn bedrock_in_json_and_in_a_stream() {
        let usage_object = r#""usage":{"inputTokens":30,"cacheWriteInputTokens":10,"cacheReadInputTokens":60,"outputTokens":9,"totalTokens":109}"#;
        let expected = Usage { input: 40, cached: 60, output: 9 };
        let json = format!(r#"{{"output":{{"message":{{"content":[]}}}},{usage_object}}}"#);
        assert_eq!(usage("bedrock", "application/json", &json), expected);
        let stream = crate::framing::event_stream::written("metadata", &format!("{{{usage_object}}}"));
        let content_type = crate::framing::event_stream::CONTENT_TYPE.as_bytes();
        let mut reader = AnswerReader::new(by_label("bedrock").unwrap(), content_type).unwrap();
        stream.chunks(7).for_each(|chunk| reader.push(chunk));
        assert_eq!(reader.into_answer().unwrap().usage, expected);
    }

    #[test]
    fn what_reports_nothing_took_nothing() {
        let body = r#"{"choices":[{"message":{"content":"x"}}],"usage":null}"#;
        assert_eq!(usage("openai_chat", "application/json", body), Usage::default());
    }
}
