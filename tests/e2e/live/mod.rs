//! What live agents do, request by request, in every dialect, as JSON and as streams: work that must go on, and loops that
//! must be noticed.
//! What must not live here: single rules, which are tested natively beside their code.

mod loops;
mod material;
mod work;

use sentinel_tests::client::{self, Response};
use sentinel_tests::{Dialect, Stack};
use serde_json::{Value, json};

/// Healthy work is seen for so many requests.
const REQUESTS: usize = 24;

/// One way in which an agent speaks: a dialect, as JSON or as a stream.
#[derive(Clone, Copy, Debug)]
struct Way {
    dialect: Dialect,
    stream: bool,
}

impl Way {
    fn all() -> impl Iterator<Item = Self> {
        Dialect::ALL.into_iter().flat_map(|dialect| [false, true].map(|stream| Self { dialect, stream }))
    }

    /// A name that no other way has.
    fn agent(self, what: &str) -> String {
        format!("{what} {} {}", self.dialect.label(), if self.stream { "stream" } else { "json" })
    }

    async fn send(self, stack: &Stack, headers: &[(&str, &str)], body: impl Into<bytes::Bytes>) -> Response {
        client::post(stack.address(), self.dialect.path(self.stream), headers, body).await
    }
}

/// The verdicts of the requests that `body` writes, one after the other.
async fn verdicts(
    stack: &Stack,
    way: Way,
    headers: &[(&str, &str)],
    requests: usize,
    body: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut seen = Vec::new();
    for number in 0..requests {
        seen.push(way.send(stack, headers, body(number)).await.verdict().to_owned());
    }
    seen
}

/// A request with instructions.
fn with_instructions(dialect: Dialect, mut body: Value, text: &str) -> Value {
    match dialect {
        Dialect::OpenaiChat => {
            let messages = body["messages"].as_array_mut().expect("messages");
            messages.insert(0, json!({"role": "system", "content": text}));
        }
        Dialect::OpenaiResponses => body["instructions"] = json!(text),
        Dialect::Anthropic | Dialect::VertexAnthropic => body["system"] = json!(text),
        Dialect::Gemini => body["systemInstruction"] = json!({"parts": [{"text": text}]}),
        Dialect::GeminiInteractions => body["system_instruction"] = json!(text),
        Dialect::Bedrock => body["system"] = json!([{"text": text}]),
    }
    body
}
