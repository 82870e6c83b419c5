//! Spotlight: tool results are marked as data. Every result of a request is, the same each time, so that the provider's prompt
//! cache keeps its prefix while the run grows.

use sentinel_llm_api::conversation::Conversation;

use crate::{
    case::Case,
    config::{Mode, Policy},
};

/// Adds the edits that mark them.
pub fn run(case: &mut Case, body: &[u8], conversation: &Conversation<'_>) {
    let Policy { marks: Some(marks), mode: Mode::Enforce, .. } = &*case.policy else { return };
    let Ok(body) = std::str::from_utf8(body) else { return };
    let are_objects = case.dialect.takes_objects_as_results();
    case.edits.extend(marks.edits(body, &conversation.history, are_objects));
}
