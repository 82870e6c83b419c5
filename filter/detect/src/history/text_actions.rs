//! Actions and observations that stand in texts: `Action: tool[input]`, `Action:` and `Action Input:`, numbered ones
//! (`Action 3:`), and sections such as `[[ ## tool_name_0 ## ]]`. What matters is the label that a line begins with.

use memchr::memmem::Finder;

use crate::{Sought, words::formats};

/// Actions of one text that are read.
const MAX_ACTIONS: usize = 256;
/// A tool's name is not longer than this (bytes).
const MAX_NAME: usize = 64;

/// The tool name of a command that comes without one.
pub(super) const COMMAND: &str = "command";
/// The tool name that stands for an action written in JSON.
const IN_JSON: &str = "action";

/// One action in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextAction<'a> {
    pub tool: &'a str,
    pub input: &'a str,
    /// `None` if it has not come yet.
    pub observation: Option<&'a str>,
}

/// What a labelled line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Action,
    Input,
    Observation,
    /// The observation of an action that has none yet. Otherwise a further line of the last observation.
    Result,
    /// A line of a shell.
    Command,
    /// A thought, a final answer. It ends the section before it.
    Other,
}

/// Whether a text can hold actions at all; `text` may be a JSON string as it stands.
pub(super) fn may_hold(text: &str) -> bool {
    // `tool_name`, `Tool:`, `tool:` and `Tool Name` have their middle in common.
    let is_tool = |at: usize| {
        let (before, after) = text.as_bytes().split_at_checked(at).unwrap_or_default();
        match before.last() {
            Some(b't') => after.starts_with(b"ool_name") || after.starts_with(b"ool:"),
            Some(b'T') => [&b"ool:"[..], b"ool Name", b"ool Call"].iter().any(|end| after.starts_with(end)),
            _ => false,
        }
    };
    static OOL: Sought = Sought::new(|| Finder::new("ool"));
    static LABELS: [Sought; 3] = [
        Sought::new(|| Finder::new("ction")),
        Sought::new(|| Finder::new("Command:")),
        Sought::new(|| Finder::new("Act ")),
    ];
    LABELS.iter().any(|label| label.is_in(text)) || OOL.places(text).any(is_tool)
}

pub(super) fn is_observation(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    label(line).is_some_and(|(label, _)| label == Label::Observation)
        || text.trim_start().get(..11).is_some_and(|start| start.eq_ignore_ascii_case("observation"))
}

/// The actions of a text in their order, each with its observation where it follows.
pub(super) fn of(text: &str) -> Vec<TextAction<'_>> {
    let mut actions: Vec<TextAction<'_>> = Vec::new();
    // The tool that is named, and what it is given.
    let mut open: Option<(&str, &str)> = None;
    for (label, said) in Sections::of(text) {
        match label {
            Label::Action => {
                actions.extend(open.take().map(without_observation));
                open = action(said);
            }
            Label::Command => {
                actions.extend(open.take().map(without_observation));
                open = Some((COMMAND, said.trim()));
            }
            Label::Input => {
                if let Some((_, input)) = &mut open {
                    *input = said.trim();
                }
            }
            Label::Result if open.is_none() => {
                // A further line of the last observation.
                if let Some(TextAction { observation: Some(observation), .. }) = actions.last_mut() {
                    *observation = up_to(text, observation, said);
                }
            }
            Label::Observation | Label::Result => {
                if let Some((tool, input)) = open.take() {
                    // A label without a text at the end asks for the observation.
                    let observation = Some(said.trim()).filter(|said| !said.is_empty());
                    actions.push(TextAction { tool, input, observation });
                }
            }
            Label::Other => {}
        }
        if actions.len() >= MAX_ACTIONS {
            actions.remove(0);
        }
    }
    actions.extend(open.map(without_observation));
    without_closing_words(&mut actions);
    actions
}

/// Removes a framework's closing words from the last observation. They are recognised when the same action had an earlier observation
/// and the last one begins with exactly that text: then only that text is kept.
fn without_closing_words(actions: &mut [TextAction<'_>]) {
    let Some((last, earlier)) = actions.split_last_mut() else { return };
    let Some(observed) = last.observation else { return };
    let same = earlier.iter().rev().find(|action| action.tool == last.tool && action.input == last.input);
    if let Some(before) = same.and_then(|action| action.observation)
        && observed.strip_prefix(before).is_some_and(|rest| rest.starts_with('\n'))
    {
        last.observation = Some(before);
    }
}

/// The part of `text` from the beginning of `first` to the end of `last`, which are both parts of it.
fn up_to<'a>(text: &'a str, first: &'a str, last: &'a str) -> &'a str {
    let offset = |part: &str| (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    text.get(offset(first)..offset(last).saturating_add(last.len())).unwrap_or(first).trim_end()
}

fn without_observation<'a>((tool, input): (&'a str, &'a str)) -> TextAction<'a> {
    TextAction { tool, input, observation: None }
}

/// `tool[input]`, `tool(input)` or `tool` alone, in the first line that says anything.
fn action(said: &str) -> Option<(&str, &str)> {
    let said = said.trim_start();
    // `Action 3: {"action": "search", "action_input": "rome"}`.
    if said.starts_with('{') && said.trim_end().ends_with('}') {
        return Some((IN_JSON, said.trim_end()));
    }
    let line = said.lines().next().unwrap_or_default().trim();
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() <= MAX_NAME
            && name.chars().all(|c| c.is_alphanumeric() || "_-. ".contains(c))
    };
    if let Some((tool, _)) = line.split_once(['[', '(']) {
        // The input may go over several lines.
        let whole = said.trim_end();
        let input = whole.get(tool.len().saturating_add(1)..)?.strip_suffix([']', ')']);
        let input = input.or_else(|| line.get(tool.len().saturating_add(1)..)?.strip_suffix([']', ')']));
        // Without a closing bracket it goes on to the end of its section.
        let is_one_word = !tool.trim().is_empty() && !tool.trim().contains(' ');
        let input = input.or_else(|| whole.get(tool.len().saturating_add(1)..).filter(|_| is_one_word))?;
        return is_name(tool.trim()).then_some((tool.trim(), input));
    }
    is_name(line).then_some((line, ""))
}

/// A text cut at its labelled lines.
struct Sections<'a> {
    text: &'a str,
    /// The label that was found last, and where its section begins.
    found: Option<(Label, usize)>,
    /// Where the next line begins.
    at: usize,
}

impl<'a> Sections<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, found: None, at: 0 }
    }
}

impl<'a> Sections<'a> {
    /// The text behind a label. If the label is an element (`<action>look</action>`), the text in the element.
    fn section(&self, from: usize, to: usize) -> &'a str {
        let said = self.text.get(from..to).unwrap_or_default();
        let label = self.text.get(..from).unwrap_or_default().strip_suffix('>');
        let name = label.and_then(|label| label.rsplit_once('<')).map(|(_, name)| name);
        let Some(name) = name.filter(|name| !name.is_empty()) else { return said };
        let end = said
            .match_indices("</")
            .map(|(at, _)| at)
            .find(|at| said.get(at.saturating_add(2)..).is_some_and(|rest| rest.starts_with(name)));
        said.get(..end.unwrap_or(said.len())).unwrap_or(said)
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = (Label, &'a str);

    fn next(&mut self) -> Option<(Label, &'a str)> {
        while let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) {
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            let start = self.at;
            self.at = self.at.saturating_add(line.len());
            if let Some((label, prefix)) = label(line) {
                let before = self.found.replace((label, start.saturating_add(prefix)));
                if let Some((label, from)) = before {
                    return Some((label, self.section(from, start)));
                }
            }
        }
        let (label, from) = self.found.take()?;
        Some((label, self.section(from, self.text.len())))
    }
}

/// The label that a line begins with, and how long it is with its signs.
fn label(line: &str) -> Option<(Label, usize)> {
    // A label is not longer than this (bytes).
    const MOST: usize = 40;
    let is_sign = |c: char| matches!(c, '*' | '#' | '[' | '<' | ' ' | '\t' | '-' | '>' | '`');
    let inner = line.trim_start_matches(is_sign);
    let before = line.len().saturating_sub(inner.len());
    let in_brackets = line.get(..before).is_some_and(|signs| signs.contains("[[") || signs.contains("<"));
    let end = inner
        .bytes()
        .take(MOST)
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ')))
        .or_else(|| (inner.len() < MOST).then_some(inner.len()))?;
    let name = inner.get(..end)?.trim_end();
    let after = inner.get(name.len()..)?;
    let closed = after.trim_start_matches(['*', '#', ' ', '`', '>']);
    let is_heading = line.trim_start().starts_with('#') && closed.trim().is_empty();
    let signs = if is_heading {
        after.len()
    } else if let Some(rest) = closed.strip_prefix(':').or_else(|| closed.strip_prefix("]]")) {
        after.len().saturating_sub(rest.trim_start_matches('*').len())
    } else if in_brackets && closed.len() < after.len() {
        after.len().saturating_sub(closed.len())
    } else {
        return None;
    };
    let prefix = before.saturating_add(name.len()).saturating_add(signs);
    // `Action 3`, `observation_0`.
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', ' ']);
    let is = |known: &[&str]| {
        known.iter().any(|one| {
            name.len() == one.len()
                && name
                    .bytes()
                    .zip(one.bytes())
                    .all(|(a, b)| a.eq_ignore_ascii_case(&b) || (a == b' ' && b == b'_'))
        })
    };
    let label = if is(formats::ACTION) {
        Label::Action
    } else if is(formats::INPUT) {
        Label::Input
    } else if is(formats::OBSERVATION) {
        Label::Observation
    } else if is(formats::RESULT) {
        Label::Result
    } else if is(formats::COMMAND) {
        Label::Command
    } else if is(formats::OTHER) {
        Label::Other
    } else {
        return None;
    };
    Some((label, prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, &str, Option<&str>)> {
        of(text).into_iter().map(|action| (action.tool, action.input, action.observation)).collect()
    }

    #[test]
    fn one_action_in_many_spellings() {
        for (text, expected) in [
            ("Thought: hm\nAction: Search[Paris, France]", vec![("Search", "Paris, France", None)]),
            ("Thought: hm\nAction: search\nAction Input: {\"q\": 1}\n", vec![("search", "{\"q\": 1}", None)]),
            ("**Action:** search\n**Action Input:** x", vec![("search", "x", None)]),
            ("Action: finish(42)", vec![("finish", "42", None)]),
            ("Action 2: Search[x]\nObservation 2: none", vec![("Search", "x", Some("none"))]),
            (
                "Action: search\nAction Input: x\nObservation: it rains\nand pours\nThought:",
                vec![("search", "x", Some("it rains\nand pours"))],
            ),
            (
                "[[ ## thought_0 ## ]]\nhm\n\n[[ ## tool_name_0 ## ]]\nsearch\n\n[[ ## tool_args_0 ## ]]\n{\"q\":1}\n\n[[ ## observation_0 ## ]]\nnone\n",
                vec![("search", "{\"q\":1}", Some("none"))],
            ),
            (
                "Action 4: execute[awk '{print $1}'\nObservation 4: bad",
                vec![("execute", "awk '{print $1}'", Some("bad"))],
            ),
            ("Action: look at it [or not, we will see", vec![]),
            ("The plan. Action: Search[x]", vec![]),
            ("Action: do this! and then that", vec![]),
            ("No action at all", vec![]),
            ("Action: the action to take, should be one of [a, b]", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_may_hold_actions_has_a_label() {
        for text in [
            "\"Action: x\"",
            "the reaction",
            "[[ ## tool_name_0 ## ]]",
            "Tool: x",
            "a tool: x",
            "x\nTool Name x",
        ] {
            assert!(may_hold(text), "{text}");
        }
        for text in ["", "ool:", "a cool tool", "Tools: x", "tool Name", "Tool_name", "acting"] {
            assert!(!may_hold(text), "{text}");
        }
    }

    #[test]
    fn a_whole_run_in_one_text() {
        let round = "Thought: again\nAction: look\nAction Input: out\nObservation: it rains\n";
        let text = format!("Question: Well?\n{}Thought:", round.repeat(3));
        assert_eq!(found(&text), vec![("look", "out", Some("it rains")); 3]);
    }

    #[test]
    fn other_labels_and_headings() {
        for round in [
            "### Step 1\nAction: look(out)\nResult: it rains\n",
            "Step 1:\nTool: look\nInput: out\nOutput: it rains\n\n",
            "<step n=\"1\">\n<action>look</action>\n<action_input>out</action_input>\n<observation>it rains</observation>\n</step>\n",
            "Tool Call: look\nTool Input: out\nTool Response: it rains\n",
            "Act 1: look[out]\nObs 1: it rains\n",
            "Function: look\nParameters: out\nResult: it rains\n",
        ] {
            let text = format!("Task: Well?\n\n{}\nWhat is next?", round.repeat(3));
            assert_eq!(found(&text), vec![("look", "out", Some("it rains")); 3], "{round}");
        }
        let text = "Command: make test\nOutput: no rule\n".repeat(2);
        assert_eq!(found(&text), vec![("command", "make test", Some("no rule")); 2]);
    }

    #[test]
    fn a_result_in_an_observation_is_a_line_of_it() {
        let text = "Action: run\nAction Input: x\nObservation: logs\nOutput: 42\nand 43\nThought: hm";
        assert_eq!(found(text), vec![("run", "x", Some("logs\nOutput: 42\nand 43"))]);
    }

    #[test]
    fn odd_texts_do_no_harm() {
        for text in [
            "",
            "Action:",
            "Action:\nObservation:",
            "[[",
            "Action: [",
            "Action: (]",
            "Observation: x",
            "é: ü\nAction: ü[é]",
        ] {
            let _ = found(text);
        }
        assert_eq!(of(&"Action: f\nObservation: x\n".repeat(1_000)).len(), MAX_ACTIONS - 1);
    }
}
