//! The one place where a verdict becomes bytes: edits of the original request, or a reply in the provider's place.

use sentinel_detect::verdict::Signal;
use sentinel_llm_api::{
    dialect::{FinalMessage, LocalReply, Position},
    edit::{self, Edit},
    json::Unreadable,
    usage::Usage,
};
use sentinel_text::digest_pair;

use crate::{case::Case, config::KillMode, decide::Decision, messages};

/// The body with these edits made; nothing where there are none, or they do not fit together.
pub fn edited(case: &Case, hint: Option<&Edit>) -> Option<Vec<u8>> {
    let edits: Vec<Edit> = case.edits.iter().chain(hint).cloned().collect();
    let body = std::str::from_utf8(&case.body).ok().filter(|_| !edits.is_empty())?;
    edit::apply(body, &edit::settled(&edits))
}

/// The edit that puts the hint in; nothing where the body has no place for one.
pub fn hint(case: &Case, decision: &Decision) -> Option<Edit> {
    hint_in(case, decision, std::str::from_utf8(&case.body).ok()?).ok()
}

fn hint_in(case: &Case, decision: &Decision, body: &str) -> Result<Edit, Unreadable> {
    let text = messages::hint(case, decision);
    let is_about_prompts = decision
        .finding
        .as_ref()
        .is_none_or(|finding| matches!(finding.signal, Signal::Score | Signal::Semantic));
    if is_about_prompts {
        return case.dialect.hint(body, &text, case.policy.hint.position);
    }
    // After the last result; where that has no place for it, or is cut itself, after everything.
    let in_result = case.dialect.hint_in_result(body, &text);
    in_result
        .and_then(|hint| if edit::stays(&case.edits, &hint) { Ok(hint) } else { Err(Unreadable::Shape) })
        .or_else(|_| case.dialect.hint(body, &text, Position::End))
}

/// What the agent gets in the answer's place.
pub fn kill(case: &Case, decision: &Decision) -> LocalReply {
    let policy = &case.policy.kill;
    if decision.refuses() {
        return case.dialect.refusal(policy.status, &messages::refusal(decision));
    }
    let text = messages::kill(case, decision);
    match policy.mode {
        KillMode::Error => case.dialect.error(policy.status, &text),
        KillMode::FinalMessage => case.dialect.final_message(&FinalMessage {
            text: &text,
            calls: &[],
            model: &case.model,
            framing: case.framing,
            id: digest_pair(case.scope.id(), case.arrived),
            kept_as: "",
            usage: Usage::default(),
            created: case.arrived.checked_div(1_000).unwrap_or(0),
            include_usage: case.include_usage,
        }),
    }
}
