//! What the mock model says, independent of the provider's format.

use serde_json::{Value, json};

use super::answer::Answer;
use super::{
    Received, anthropic, bedrock, gemini, gemini_interactions, openai_chat, openai_responses, pairing, vertex,
};
use crate::Dialect;

#[derive(Clone, Debug)]
pub enum Reply {
    Text(String),
    /// A tool call. `arguments` is an object.
    Tool {
        name: String,
        arguments: Value,
    },
    /// Several calls in one turn, each with its name and its arguments.
    Tools(Vec<(String, Value)>),
    /// An error with this status, in the provider's format.
    Error(u16),
}

impl Reply {
    /// The calls of the turn.
    pub(super) fn calls(&self) -> Vec<(&str, &Value)> {
        match self {
            Self::Tool { name, arguments } => vec![(name, arguments)],
            Self::Tools(calls) => calls.iter().map(|(name, arguments)| (name.as_str(), arguments)).collect(),
            Self::Text(_) | Self::Error(_) => Vec::new(),
        }
    }
}

/// Answers a request with `reply` in its provider's format, as JSON or as a stream. An unknown path gets 404, and a
/// request that the provider would refuse gets 400.
pub fn speak(request: &Received, reply: &Reply) -> Answer {
    let Some(dialect) = Dialect::of_path(&request.path) else {
        return Answer::json(404, &serde_json::json!({"error": {"message": "no such path"}}));
    };
    if let Some(refusal) = refusal(dialect, request) {
        return refusal;
    }
    if let Reply::Error(status) = reply {
        return error(dialect, *status);
    }
    if dialect.wants_stream(&request.path, &request.body) {
        return stream(dialect, request, reply);
    }
    let body = match dialect {
        Dialect::OpenaiChat => openai_chat::body(reply),
        Dialect::OpenaiResponses => openai_responses::body(reply),
        Dialect::Anthropic | Dialect::VertexAnthropic => anthropic::body(reply),
        Dialect::Gemini => gemini::body(reply),
        Dialect::GeminiInteractions => gemini_interactions::body(reply, &request.json()),
        Dialect::Bedrock => return bedrock::body(reply),
    };
    Answer::json(200, &body)
}

fn stream(dialect: Dialect, request: &Received, reply: &Reply) -> Answer {
    Answer::events(match dialect {
        Dialect::OpenaiChat => {
            openai_chat::events(reply, request.json()["stream_options"]["include_usage"] == true)
        }
        Dialect::OpenaiResponses => openai_responses::events(reply),
        Dialect::Anthropic | Dialect::VertexAnthropic => anthropic::events(reply),
        Dialect::Gemini if !request.path.contains("alt=sse") => return gemini::array(reply),
        Dialect::Gemini => gemini::events(reply),
        Dialect::GeminiInteractions => gemini_interactions::events(reply, &request.json()),
        Dialect::Bedrock => return bedrock::events(reply),
    })
}

/// A provider's error with this status.
fn error(dialect: Dialect, status: u16) -> Answer {
    let body = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => openai_chat::error(status),
        Dialect::Anthropic | Dialect::VertexAnthropic => anthropic::error(status),
        Dialect::Gemini => gemini::error(status),
        Dialect::GeminiInteractions => gemini_interactions::error(status),
        Dialect::Bedrock => return bedrock::error(status),
    };
    Answer::json(status, &body)
}

/// The provider's error for a request that it refuses.
fn refusal(dialect: Dialect, request: &Received) -> Option<Answer> {
    own_refusal(dialect, request).or_else(|| {
        let body = serde_json::from_slice(&request.body).ok()?;
        pairing::complaint(dialect, &body).map(|message| unpaired(dialect, &message))
    })
}

/// The provider's error for calls and results that do not pair.
fn unpaired(dialect: Dialect, message: &str) -> Answer {
    const KIND: &str = "invalid_request_error";
    let error = match dialect {
        Dialect::Bedrock => return bedrock::refusal(400, "ValidationException", message),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            json!({"error": {"message": message, "type": KIND, "param": null, "code": null}})
        }
        Dialect::Anthropic | Dialect::VertexAnthropic => {
            json!({"type": "error", "error": {"type": KIND, "message": message}, "request_id": "req_mock"})
        }
        Dialect::Gemini => {
            json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
        }
        Dialect::GeminiInteractions => json!({"error": {"code": "invalid_request", "message": message}}),
    };
    Answer::json(400, &error)
}

fn own_refusal(dialect: Dialect, request: &Received) -> Option<Answer> {
    match dialect {
        Dialect::Bedrock => bedrock::complaint(&request.body)
            .map(|message| bedrock::refusal(400, "ValidationException", &message)),
        Dialect::GeminiInteractions => {
            gemini_interactions::complaint(&request.body).map(|(status, body)| Answer::json(status, &body))
        }
        Dialect::Anthropic => {
            anthropic::complaint(&request.body).map(|(status, body)| Answer::json(status, &body))
        }
        Dialect::VertexAnthropic => vertex::complaint(&request.body).map(|body| Answer::json(400, &body)),
        _ => None,
    }
}

/// The default script: equal questions get equal answers, and different questions different ones. Other requests are
/// answered with status 200 and their length.
pub fn faithful(request: &Received) -> Answer {
    let question = Dialect::of_path(&request.path).and_then(|dialect| dialect.last_user_text(&request.body));
    match question {
        Some(question) => speak(request, &Reply::Text(text_for(&question))),
        None => Answer::json(200, &serde_json::json!({"received": request.body.len()})),
    }
}

/// Twenty words that depend on every byte of the question.
pub fn text_for(question: &str) -> String {
    const WORDS: [&str; 32] = [
        "river", "copper", "lantern", "winter", "garden", "signal", "marble", "harbour", "velvet", "engine",
        "meadow", "cipher", "bridge", "walnut", "thunder", "canvas", "pepper", "orbit", "ladder", "silver",
        "forest", "button", "island", "mirror", "rocket", "pillow", "desert", "violin", "anchor", "castle",
        "window", "feather",
    ];
    // FNV-1a, then one step of a linear generator for each word.
    let mut state = question.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut words = Vec::new();
    for _ in 0..20 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words.push(WORDS[(state >> 59) as usize]);
    }
    words.join(" ")
}
