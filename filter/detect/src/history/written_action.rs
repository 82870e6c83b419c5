//! The action that an agent writes into its text: the last fenced block, the XML element or the JSON at the end of the text, what
//! stands below the heading "Action", or after a prompt sign. A text may still be a JSON string as it stands in the body. In
//! these marks JSON escapes only quotes and line ends, so both forms of them are looked for.

use memchr::memmem;

use crate::{
    reverse_search::{last_place, places, split_at_last},
    words::formats,
};

/// What begins and ends a block of code.
const FENCE: &str = "```";
/// At most this much may follow an element or a block that is the action (bytes): a stop word.
const TAIL: usize = 48;
/// At most this many `<` are looked at to find where an element begins.
const TAGS: usize = 64;
/// An element's name is not longer than this (bytes).
const NAME: usize = 40;

/// The action, where there is one.
pub(super) fn of(said: &str) -> Option<&str> {
    last_block(said)
        .or_else(|| last_element(said))
        .or_else(|| last_json(said))
        .or_else(|| under_heading(said))
        .or_else(|| behind_label(said))
        .or_else(|| behind_prompt_sign(said))
}

fn last_block(said: &str) -> Option<&str> {
    let (before, after) = split_at_last(said, FENCE)?;
    // If the text was cut off, its last block has no closing fence.
    let (_, block) =
        split_at_last(before, FENCE).or_else(|| is_line_end(before).then_some((before, after)))?;
    // The fence's own line names the language.
    Some(block.split_once('\n').or_else(|| block.split_once("\\n")).map_or(block, |(_, code)| code))
}

/// Whether a fence behind this text would begin a block.
fn is_line_end(text: &str) -> bool {
    let text = text.trim_end_matches([' ', '"']);
    text.is_empty() || text.ends_with('\n') || text.ends_with("\\n") || text.ends_with(':')
}

/// `<execute_command>..</execute_command>` at the end of the text.
fn last_element(said: &str) -> Option<&str> {
    let (before, closing) = split_at_last(said, "</")?;
    let (name, tail) = closing.split_once('>')?;
    let is_name = !name.is_empty()
        && name.len() <= NAME
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'));
    if !is_name
        || tail.len() > TAIL
        || formats::NO_ACTIONS.iter().any(|known| name.eq_ignore_ascii_case(known))
    {
        return None;
    }
    let starts = |rest: &str| {
        rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['>', ' ', '=', '\n', '\\']))
    };
    before.rmatch_indices('<').take(TAGS).find_map(|(at, _)| {
        let rest = before.get(at.saturating_add(1)..)?;
        starts(rest).then_some(rest)
    })
}

/// JSON at the end of the text, from the member on that names the action: what stands before it is the agent's thought.
fn last_json(said: &str) -> Option<&str> {
    let text = said.trim_end_matches(|c: char| c.is_whitespace() || c == '"');
    if !text.ends_with('}') {
        return None;
    }
    let start = text.find('{')?;
    let object = text.get(start..)?;
    // `"action":` or `\"action\":`.
    let is_key = |at: usize, key: &str| {
        let opens = object.get(..at).is_some_and(|before| before.ends_with('"'));
        let rest = object.get(at.saturating_add(key.len())..).unwrap_or_default().trim_start_matches('\\');
        opens && rest.strip_prefix('"').is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    formats::ACTION_MEMBERS
        .iter()
        .filter_map(|key| memmem::find_iter(object.as_bytes(), key).find(|at| is_key(*at, key)))
        .min()
        .and_then(|at| object.get(at..))
}

/// What stands below the last line `## Action`.
fn under_heading(said: &str) -> Option<&str> {
    let at = formats::ACTION_HEADINGS.iter().filter_map(|mark| last_place(said, mark)).max()?;
    let rest = said.get(at..)?;
    let (_, below) = rest.split_once('\n').or_else(|| rest.split_once("\\n"))?;
    let below = below.trim_matches(|c: char| c.is_whitespace() || c == '"');
    (!below.is_empty()).then_some(below)
}

/// `Action: look` and what follows it.
fn behind_label(said: &str) -> Option<&str> {
    let begins_line = |at: &usize| {
        let before = said.get(..*at).unwrap_or_default().trim_end_matches(['*', '#', ' ']);
        before.is_empty() || before.ends_with(['\n', '"']) || before.ends_with("\\n")
    };
    let last = |mark: &str| places(said, mark).take(TAGS).find(begins_line);
    let at = formats::ACTION_LABELS.iter().filter_map(|mark| last(mark)).max()?;
    said.get(at..).map(|action| action.trim_matches(|c: char| c.is_whitespace() || c == '"'))
}

/// `> go north` in the last line.
fn behind_prompt_sign(said: &str) -> Option<&str> {
    let text = said.trim_end_matches(|c: char| c.is_whitespace() || c == '"');
    let line = text.rsplit('\n').next().unwrap_or(text);
    let line = split_at_last(line, "\\n").map_or(line, |(_, line)| line).trim_start_matches('"');
    line.strip_prefix("> ").filter(|line| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_action_that_a_text_ends_with() {
        for (text, action) in [
            ("First.\n```\nls\n```\nthen\n```sh\nmake\n```\nDone.", Some("make\n")),
            (
                "<thinking>hm</thinking>\n<run_it>\n<command>ls</command>\n</run_it>",
                Some("run_it>\n<command>ls</command>\n"),
            ),
            (
                "hm <function=bash>\n<parameter=c>ls</parameter>\n</function>",
                Some("function=bash>\n<parameter=c>ls</parameter>\n"),
            ),
            ("hm\n<code>\nf()\n</code>", Some("code>\nf()\n")),
            (
                r#"I try. {"thought": "hm", "action": "look", "for": 1}"#,
                Some(r#"action": "look", "for": 1}"#),
            ),
            (r#""{\"thought\": \"hm\", \"action\": \"look\"}""#, Some(r#"action\": \"look\"}"#)),
            ("Thought: hm\nAction: look\nAction Input: out", Some("Action: look\nAction Input: out")),
            (r#""Thought: hm\nAction: look""#, Some("Action: look")),
            ("My Action: none", None),
            ("## Thought\nhm\n\n## Action\nlook(out)", Some("look(out)")),
            ("> think: hm\n> go north", Some("go north")),
            (r#""hm\n> go north""#, Some("go north")),
            ("It is in <b>bold</b>", None),
            ("<thinking>hm</thinking>", None),
            ("Here:\n```sql\nSELECT 1", Some("SELECT 1")),
            ("Three ``` ticks", None),
            ("Nothing to do.", None),
            (r#"{"score": 5}"#, None),
            ("</", None),
            ("a </x>", None),
        ] {
            assert_eq!(of(text), action, "{text}");
        }
    }
}
