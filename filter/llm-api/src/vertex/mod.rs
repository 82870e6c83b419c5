//! Anthropic's models on Google's Vertex AI: Anthropic Messages, with the model and the framing of the answer in the
//! path. Gemini on Vertex AI is the Gemini dialect on a longer path.

use crate::{
    anthropic::Anthropic,
    dialect::{Dialect, DialectRef},
    framing::Framing,
    path::{PathFacts, model_before_method},
};

/// The models of other publishers have wire formats of their own on the same methods.
const PUBLISHER: &str = "/publishers/anthropic/models/";

#[derive(Debug)]
pub struct VertexAnthropic;

impl Dialect for VertexAnthropic {
    fn label(&self) -> &'static str {
        "vertex_anthropic"
    }

    fn is_served_on(&self, path: &str) -> bool {
        let ends = path.ends_with(":rawpredict") || path.ends_with(":streamrawpredict");
        // `count-tokens` is not a model. It only counts tokens.
        ends && path.contains(PUBLISHER) && !path.contains("/models/count-tokens:")
    }

    fn like(&self) -> DialectRef {
        &Anthropic
    }

    fn facts_of_path(&self, path: &str, _query: &str) -> PathFacts {
        let (model, method) = model_before_method(path);
        let framing =
            if method.eq_ignore_ascii_case("streamRawPredict") { Framing::Sse } else { Framing::Json };
        PathFacts {
            framing: Some(framing),
            model,
            methods: Some(["streamRawPredict", "rawPredict"]),
            ..PathFacts::default()
        }
    }
}
