//! How many tokens models read at most: what the configuration says, then what is known of the usual models.

use crate::price::Model;

/// The window of one model or of several whose names begin alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextWindow {
    pub model: Model,
    /// Tokens.
    pub tokens: usize,
}

/// How names of models begin, behind the names of publishers and regions (`us.anthropic.`, `openai/`). Of two that fit the
/// first is meant.
const KNOWN: [(&str, usize); 41] = [
    ("gpt-5-chat", 128_000),
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-1106", 128_000),
    ("gpt-4-0125", 128_000),
    ("gpt-4-32k", 32_768),
    ("gpt-4", 8_192),
    ("gpt-3.5-turbo", 16_385),
    ("gpt-oss", 131_072),
    ("chatgpt-4o", 128_000),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("codex-mini", 200_000),
    ("claude-2.0", 100_000),
    ("claude-instant", 100_000),
    ("claude-", 200_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-", 1_048_576),
    ("gemma-3", 131_072),
    ("nova-premier", 1_000_000),
    ("nova-micro", 128_000),
    ("nova-", 300_000),
    ("deepseek", 131_072),
    ("mistral-large", 131_072),
    ("mistral-", 32_768),
    ("codestral", 262_144),
    ("llama3-1", 131_072),
    ("llama3-2", 131_072),
    ("llama3-3", 131_072),
    ("llama-3.1", 131_072),
    ("llama-3.3", 131_072),
    ("qwen3-coder", 262_144),
    ("qwen", 131_072),
    ("grok-4", 262_144),
    ("grok-3", 131_072),
    ("command-r", 131_072),
];
/// Bytes of a name that are looked at.
const MAX_NAME: usize = 256;

/// The window of the model of this name where it is known without any configuration.
pub fn known(model: &str) -> Option<usize> {
    let model = model.get(..model.floor_char_boundary(MAX_NAME)).unwrap_or(model).to_ascii_lowercase();
    let ends = model.char_indices().filter(|(_, c)| matches!(c, '/' | '.' | ':'));
    let starts = std::iter::once(0).chain(ends.map(|(at, _)| at.saturating_add(1)));
    let mut names = starts.filter_map(|start| model.get(start..));
    names.find_map(|name| KNOWN.iter().find(|(known, _)| name.starts_with(known)).map(|(_, tokens)| *tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_models_are_known_by_all_their_names() {
        for (model, tokens) in [
            ("gpt-5-mini", 400_000),
            ("gpt-4.1-nano-2025-04-14", 1_047_576),
            ("gpt-4o-mini", 128_000),
            ("gpt-4", 8_192),
            ("openai/gpt-4o", 128_000),
            ("claude-sonnet-4-5-20250929", 200_000),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
            ("arn:aws:bedrock:eu-west-1:123:inference-profile/eu.anthropic.claude-haiku-4-5-v1:0", 200_000),
            ("gemini-2.5-flash", 1_048_576),
            ("models/gemini-1.5-pro-002", 2_097_152),
            ("amazon.nova-pro-v1:0", 300_000),
            ("deepseek-ai/DeepSeek-V3", 131_072),
        ] {
            assert_eq!(known(model), Some(tokens), "{model}");
        }
        for model in ["", "my-own", "ogpt-4o", &"x.".repeat(100_000)] {
            assert_eq!(known(model), None);
        }
    }

    #[test]
    fn no_row_is_hidden_by_one_before_it() {
        for (at, (name, _)) in KNOWN.iter().enumerate() {
            assert!(!KNOWN.iter().take(at).any(|(other, _)| name.starts_with(other)), "{name}");
        }
    }
}
