//! Gemini Interactions, on Google's own API and on Vertex AI. A history consists of steps, and the provider may keep it
//! (`previous_interaction_id`).

mod answer;
mod reply;
mod request;
mod tools;

use crate::{
    answer_event::{EventSink, Payload},
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, Header, LocalReply},
    json::Unreadable,
    path::ends_with_version,
};

#[derive(Debug)]
pub struct GeminiInteractions;

impl Dialect for GeminiInteractions {
    fn label(&self) -> &'static str {
        "gemini_interactions"
    }

    /// `/v1beta/interactions`, and on Vertex AI `/v1beta1/projects/PROJECT/locations/LOCATION/interactions`.
    fn is_served_on(&self, path: &str) -> bool {
        let Some(before) = path.strip_suffix("/interactions") else { return false };
        ends_with_version(before) || before.rsplit('/').nth(1) == Some("locations")
    }

    /// Its client library does not mark retries.
    fn is_retry(&self, _header: Header<'_>) -> bool {
        false
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        request::read(body)
    }

    fn read_answer<'a>(&self, payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
        answer::read_answer(payload, sink)
    }

    fn error(&self, status: u16, message: &str) -> LocalReply {
        reply::error(status, message)
    }

    fn stream_error(&self, status: u16, message: &str) -> Vec<u8> {
        reply::stream_error(status, message)
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        reply::final_message(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_paths_are_told_from_others_of_that_name() {
        for path in [
            "/v1beta/interactions",
            "/gemini/v1alpha/interactions",
            "/v1beta1/projects/acme/locations/global/interactions",
        ] {
            assert!(GeminiInteractions.is_served_on(path), "{path}");
        }
        for path in [
            "/interactions",
            "/api/interactions",
            "/v1beta/interactions/i1",
            "/v1beta/interactions/i1/cancel",
        ] {
            assert!(!GeminiInteractions.is_served_on(path), "{path}");
        }
    }
}
