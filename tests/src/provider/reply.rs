//! What the mock model says, before it takes the shape of a provider.

use serde_json::{Value, json};

use super::answer::Answer;
use super::{
    Received, anthropic, bedrock, gemini, gemini_interactions, openai_chat, openai_responses, pairing, vertex,
};
use crate::Dialect;

#[derive(Clone, Debug)]
pub enum Reply {
    Text(String),
    /// A call of a tool; `arguments` is an object.
    Tool {
        name: String,
        arguments: Value,
    },
    /// An error in the provider's shape, with this status.
    Error(u16),
}

/// Says `reply` in the shape that this request asks for: its provider's, as JSON or as a stream.
/// A path that no provider has gets 404, and a request that its provider would not take 400.
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
    let streams = dialect.wants_stream(&request.path, &request.body);
    match dialect {
        Dialect::Gemini if streams && !request.path.contains("alt=sse") => gemini::array(reply),
        Dialect::Bedrock if streams => bedrock::events(reply),
        Dialect::Bedrock => bedrock::body(reply),
        _ if streams => Answer::events(match dialect {
            Dialect::OpenaiChat => {
                openai_chat::events(reply, request.json()["stream_options"]["include_usage"] == true)
            }
            Dialect::OpenaiResponses => openai_responses::events(reply),
            Dialect::Gemini => gemini::events(reply),
            Dialect::GeminiInteractions => gemini_interactions::events(reply, &request.json()),
            _ => anthropic::events(reply),
        }),
        _ => Answer::json(
            200,
            &match dialect {
                Dialect::OpenaiChat => openai_chat::body(reply),
                Dialect::OpenaiResponses => openai_responses::body(reply),
                Dialect::Gemini => gemini::body(reply),
                Dialect::GeminiInteractions => gemini_interactions::body(reply, &request.json()),
                _ => anthropic::body(reply),
            },
        ),
    }
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

/// What the provider says to a request that it does not take.
fn refusal(dialect: Dialect, request: &Received) -> Option<Answer> {
    own_refusal(dialect, request).or_else(|| {
        let body = serde_json::from_slice(&request.body).ok()?;
        pairing::complaint(dialect.label(), &body).map(|message| unpaired(dialect, &message))
    })
}

/// The error of a provider for calls and results that do not pair.
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

/// The script that a provider starts with: the same question gets the same answer, another question another one.
/// A request that is not a question to a model is answered 200 with its length.
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
    // FNV-1a, then a step of a linear generator a word.
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
