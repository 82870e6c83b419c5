//! Anthropic's models on Google's Vertex AI: Anthropic Messages, with the model and the form of the answer in the path.
//! Gemini on Vertex AI is the Gemini dialect on a longer path.

use std::borrow::Cow;

use crate::{
    answer::Answer,
    anthropic::Anthropic,
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, LocalReply, Position},
    edit::Edit,
    framing::Framing,
    json::Unreadable,
    outline::Outline,
    path::{PathFacts, model_before_method, other_method},
    repeatable::{Repeatable, Said},
    spoken::Visit,
    tools::{May, Offer},
};

/// Other publishers' models have wire formats of their own behind the same methods.
const PUBLISHER: &str = "/publishers/anthropic/models/";

#[derive(Debug)]
pub struct VertexAnthropic;

impl Dialect for VertexAnthropic {
    fn label(&self) -> &'static str {
        "vertex_anthropic"
    }

    fn is_served_on(&self, path: &str) -> bool {
        let ends = path.ends_with(":rawpredict") || path.ends_with(":streamrawpredict");
        // The one model that this publisher has for nothing but counting tokens.
        ends && path.contains(PUBLISHER) && !path.contains("/count-tokens:")
    }

    fn facts_of_path(&self, path: &str, _query: &str) -> PathFacts {
        let (model, method) = model_before_method(path);
        let framing =
            if method.eq_ignore_ascii_case("streamRawPredict") { Framing::Sse } else { Framing::Json };
        PathFacts { framing: Some(framing), model }
    }

    fn is_retry(&self, header: &dyn Fn(&str) -> Option<Vec<u8>>) -> bool {
        Anthropic.is_retry(header)
    }

    fn without_stream<'a>(&self, target: &'a str) -> Cow<'a, str> {
        other_method(target, "streamRawPredict", "rawPredict")
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        Anthropic.read(body)
    }

    fn hint(&self, body: &str, text: &str, position: Position) -> Result<Edit, Unreadable> {
        Anthropic.hint(body, text, position)
    }

    fn hint_in_result(&self, body: &str, text: &str) -> Result<Edit, Unreadable> {
        Anthropic.hint_in_result(body, text)
    }

    fn offer(&self, body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
        Anthropic.offer(body, may)
    }

    fn outline<'a>(&self, body: &'a str) -> Result<Outline<'a>, Unreadable> {
        Anthropic.outline(body)
    }

    fn whole_answer(&self, json: &str, answer: &mut Answer) -> Option<()> {
        Anthropic.whole_answer(json, answer)
    }

    fn event(&self, kind: &str, json: &str, answer: &mut Answer) -> Option<()> {
        Anthropic.event(kind, json, answer)
    }

    fn look(&self, said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
        Anthropic.look(said, answer)
    }

    fn spoken<'a>(&self, json: &'a str, visit: Visit<'_, 'a>) {
        Anthropic.spoken(json, visit);
    }

    fn spoken_in_event<'a>(&self, kind: &str, json: &'a str, visit: Visit<'_, 'a>) {
        Anthropic.spoken_in_event(kind, json, visit);
    }

    fn takes_empty_texts(&self) -> bool {
        false
    }

    fn error(&self, status: u16, message: &str) -> LocalReply {
        Anthropic.error(status, message)
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        Anthropic.final_message(message)
    }
}
