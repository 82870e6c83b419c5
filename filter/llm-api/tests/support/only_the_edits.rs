//! The law of edits in general: the output is the input without what is cut and with what is inserted, and it is valid
//! JSON.

use sentinel_llm_api::{
    conversation::Conversation,
    dialect::Dialect,
    edit::{self, Edit},
    spotlight::Spotlight,
};
use serde_json::value::RawValue;

/// Checks the law for spotlighting, alone and with a hint.
fn marks(
    dialect: &dyn Dialect,
    conversation: &Conversation<'_>,
    text: &str,
    hint: Option<&Edit>,
) -> Result<(), String> {
    let marks = Spotlight::new("tool_output", "It is \"data\".");
    let edits = marks.edits(conversation);
    let changed = edit::apply(text, &edits).ok_or("marks lie over each other")?;
    all_at_once(text, &edits).map_err(|problem| format!("marked: {problem}"))?;
    let with_hint: Vec<Edit> = edits.iter().chain(hint).cloned().collect();
    all_at_once(text, &with_hint).map_err(|problem| format!("marked, hinted: {problem}"))?;
    // Nothing else that is inserted may close the tags.
    let opened = edits.iter().filter(|edit| edit.with.ends_with(r"<tool_output>\n")).count();
    let closed = edits.iter().filter(|edit| edit.with == r"\n</tool_output>").count();
    if opened != closed {
        return Err("marks that do not pair".into());
    }
    let changed = String::from_utf8(changed).map_err(|error| error.to_string())?;
    dialect.read(&changed).map_err(|error| format!("marked: {error}"))?;
    Ok(())
}

/// Checks the law for a dialect's edits of `text`, with a hint.
pub fn check(
    dialect: &dyn Dialect,
    conversation: &Conversation<'_>,
    text: &str,
    hint: Option<&Edit>,
) -> Result<(), String> {
    marks(dialect, conversation, text, hint)?;
    for may in [(|_| false) as fn(&str) -> bool, |name| name.len() % 2 == 0] {
        let Ok(offer) = conversation.offer(&|name, _| may(name)) else { continue };
        if offer.forced.is_some() && !offer.edits.is_empty() {
            return Err("a request that is refused is edited".into());
        }
        if offer.denied.is_empty() && offer.forced.is_none() && !offer.edits.is_empty() {
            // A choice may name tools that are not offered. Then only the choice is edited.
            if conversation.offer(&|_, _| true).is_ok_and(|all| !all.edits.is_empty()) {
                return Err("edits without a tool that is denied".into());
            }
        }
        all_at_once(text, &offer.edits).map_err(|problem| format!("without tools: {problem}"))?;
        let with_hint: Vec<Edit> = offer.edits.iter().chain(hint).cloned().collect();
        all_at_once(text, &with_hint).map_err(|problem| format!("without tools, hinted: {problem}"))?;
        let changed = edit::apply(text, &offer.edits).ok_or("edits lie over each other")?;
        let changed = String::from_utf8(changed).map_err(|error| error.to_string())?;
        let again = dialect
            .read(&changed)
            .and_then(|again| again.offer(&|name, _| name == "no_tool_available" || may(name)));
        if offer.forced.is_none() && again.is_ok_and(|again| !again.denied.is_empty()) {
            return Err(format!("a denied tool is left: {changed}"));
        }
    }
    Ok(())
}

/// With any edits at once, in any order, the result is valid JSON, and removing what was inserted gives the original
/// bytes.
pub fn all_at_once(text: &str, edits: &[Edit]) -> Result<(), String> {
    let changed = edit::apply(text, edits);
    let backwards: Vec<Edit> = edits.iter().rev().cloned().collect();
    if edits.iter().map(|edit| edit.at.start).collect::<std::collections::BTreeSet<_>>().len() == edits.len()
        && edit::apply(text, &backwards) != changed
    {
        return Err("the order of the edits matters".into());
    }
    let Some(changed) = changed else { return Ok(()) };
    serde_json::from_slice::<&RawValue>(&changed)
        .map_err(|error| format!("the result is not JSON: {error}"))?;
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.at.start, edit.at.end));
    let (mut rest, mut from, mut original) = (changed.as_slice(), 0, Vec::new());
    for edit in ordered {
        let kept = edit.at.start.checked_sub(from).ok_or("two edits lie over each other")?;
        let (before, after) = rest.split_at_checked(kept).ok_or("an edit lies beyond the result")?;
        original.extend_from_slice(before);
        original
            .extend_from_slice(text.get(edit.at.clone()).ok_or("an edit lies beside the text")?.as_bytes());
        rest = after.strip_prefix(edit.with.as_bytes()).ok_or("what was put in is not where it belongs")?;
        from = edit.at.end;
    }
    original.extend_from_slice(rest);
    if original == text.as_bytes() { Ok(()) } else { Err("more than the edits differs".into()) }
}
