//! The dialects, and where their requests go.

/// Names and paths.
pub const PATHS: [(&str, &str); 7] = [
    ("openai_chat", "/v1/chat/completions"),
    ("openai_responses", "/v1/responses"),
    ("anthropic", "/v1/messages"),
    ("gemini", "/v1beta/models/gemini-2.5-flash:generateContent"),
    ("gemini_interactions", "/v1beta/interactions"),
    ("bedrock", "/model/anthropic.claude-sonnet-4-5/converse"),
    (
        "vertex_anthropic",
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5:rawPredict",
    ),
];
