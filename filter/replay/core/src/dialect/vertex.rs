//! Anthropic on Vertex AI: Anthropic Messages whose model is in the path, with a version in its place. Answers are
//! Anthropic's.

use serde::Serialize;

use super::{anthropic::Body, text};
use crate::history::RecordedMessage;

#[derive(Serialize)]
struct Request<'a> {
    anthropic_version: &'a str,
    #[serde(flatten)]
    body: Body<'a>,
}

pub fn request(history: &[RecordedMessage]) -> String {
    text(&Request { anthropic_version: "vertex-2023-10-16", body: Body::of(history) })
}
