//! The law of edits for passes that bound a history: dropped messages, cut texts, cleared results, and paired calls,
//! each alone and all together, with edits of other passes.

use sentinel_llm_api::{
    conversation::Conversation,
    edit::{self, Edit},
    outline::{Changes, Cut, MeasuredTexts, Outline, repair},
};

use super::only_the_edits::all_at_once;

/// Checks the law for edits that bound a request, together with other edits.
pub fn check(conversation: &Conversation<'_>, text: &str, others: &[Edit]) -> Result<(), String> {
    let Ok(outline) = conversation.outline() else { return Ok(()) };
    for what in [1, 2, 4, 8, 11, 15_u8] {
        let mut changes = Changes::of(&outline);
        if what & 1 != 0 {
            // The first message stays.
            (1..outline.entries.len()).filter(|at| at % 3 != 0).for_each(|at| changes.drop_entry(at));
        }
        if what & 2 != 0 {
            cut_texts(&outline, &mut changes);
        }
        if what & 4 != 0 {
            clear_results(&outline, &mut changes);
        }
        if what & 8 != 0 {
            repair(&mut changes);
        }
        let edits = changes.edits();
        let named = |problem: String| format!("bounds {what:04b}: {problem}");
        if edit::apply(text, &edits).is_none() {
            return Err(named("edits lie over each other".into()));
        }
        all_at_once(text, &edits).map_err(named)?;
        // Other edits within a cut are dropped.
        let all: Vec<Edit> = edits.iter().chain(others).cloned().collect();
        let together = edit::settled(&all);
        all_at_once(text, &together).map_err(|problem| named(format!("with others: {problem}")))?;
    }
    Ok(())
}

fn cut_texts<'a>(outline: &Outline<'a>, changes: &mut Changes<'_, 'a>) {
    let first = Cut { first: 2, last: 0, mark: "[\"cut\"]" };
    let middle = Cut { first: 1, last: 1, mark: "..." };
    for entry in &outline.entries {
        if let Some(texts) = MeasuredTexts::over(&entry.texts, 2) {
            changes.cut_texts(&texts, first);
        }
        for result in &entry.results {
            if let Some(texts) = MeasuredTexts::over(&result.texts, 2) {
                changes.cut_texts(&texts, middle);
            }
        }
    }
}

fn clear_results(outline: &Outline<'_>, changes: &mut Changes<'_, '_>) {
    for (at, entry) in outline.entries.iter().enumerate() {
        for (number, _) in entry.results.iter().enumerate().filter(|(_, result)| result.can_be_cleared()) {
            changes.clear_result(at, number, "[cleared]");
        }
    }
}
