//! Gemini Interactions: steps, whose history the provider may keep (`previous_interaction_id`), on Google's own API and on
//! Vertex AI.

mod answer;
mod outline;
mod repeatable;
mod reply;
mod request;
mod spoken;
mod tools;

use crate::{
    answer::Answer,
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, LocalReply, Position},
    edit::Edit,
    json::Unreadable,
    outline::Outline,
    repeatable::{Repeatable, Said},
    spoken::Visit,
    tools::{May, Offer},
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
        let mut segments = before.rsplit('/');
        let is_version = segments.next().is_some_and(|segment| segment.starts_with("v1"));
        is_version || segments.next() == Some("locations")
    }

    fn keeps_answers(&self) -> bool {
        true
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        request::read(body)
    }

    fn hint(&self, body: &str, text: &str, _position: Position) -> Result<Edit, Unreadable> {
        request::hint(body, text)
    }

    fn hint_in_result(&self, body: &str, text: &str) -> Result<Edit, Unreadable> {
        request::hint_in_result(body, text)
    }

    fn offer(&self, body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
        tools::offer(body, may)
    }

    fn outline<'a>(&self, body: &'a str) -> Result<Outline<'a>, Unreadable> {
        outline::outline(body)
    }

    fn takes_objects_as_results(&self) -> bool {
        true
    }

    fn whole_answer(&self, json: &str, answer: &mut Answer) -> Option<()> {
        answer::whole(json, answer)
    }

    fn event(&self, _kind: &str, json: &str, answer: &mut Answer) -> Option<()> {
        answer::event(json, answer)
    }

    fn look(&self, said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
        repeatable::look(said, answer)
    }

    fn spoken<'a>(&self, json: &'a str, visit: Visit<'_, 'a>) {
        spoken::whole(json, visit);
    }

    fn spoken_in_event<'a>(&self, _kind: &str, json: &'a str, visit: Visit<'_, 'a>) {
        spoken::event(json, visit);
    }

    fn error(&self, status: u16, message: &str) -> LocalReply {
        reply::error(status, message)
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
