//! How the readers of the dialects walk a history: how far back, and what a ReAct agent writes as text.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::Tail;
use crate::{
    config::StepsPolicy,
    json::Unreadable,
    step::{self, Done, StepReader, Turn},
};

/// How much of a history is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// Assistant turns from the tail; 0: no steps are read.
    pub turns: usize,
    /// Actions in assistants' texts count, with the observations in the next user messages.
    pub react: bool,
    /// The turn before a user's word counts too, where no turn has followed: its results are new.
    pub before_word: bool,
}

impl Default for Scan {
    fn default() -> Self {
        Self { turns: step::LENGTH, react: true, before_word: false }
    }
}

impl Scan {
    /// What a policy needs to see.
    pub fn of(steps: &StepsPolicy, run_limit: u32) -> Self {
        let limit = usize::try_from(run_limit).unwrap_or(usize::MAX);
        let turns = limit.max(if steps.enabled { step::LENGTH } else { 0 });
        Self { turns, react: steps.react, before_word: false }
    }

    /// Where to begin in a history: at the last message that is a user's word beyond doubt, and not before the last
    /// so many assistant turns.
    pub fn start<T>(
        self,
        history: &[T],
        is_turn: impl Fn(&T) -> bool,
        is_word: impl Fn(&T) -> bool,
    ) -> usize {
        let mut turns = 0_usize;
        let mut ends_with_word = false;
        for (at, item) in (0..history.len()).zip(history).rev() {
            if turns >= self.turns {
                return at.saturating_add(1);
            }
            let is_turn = is_turn(item);
            let is_word = is_word(item);
            if (is_word && (turns > 0 || !self.before_word)) || (is_turn && ends_with_word) {
                return at;
            }
            ends_with_word |= is_word;
            turns = turns.saturating_add(usize::from(is_turn));
        }
        0
    }
}

/// Whether a message's content is a user's word beyond doubt: plain text that is no observation.
pub fn is_word(content: Option<&RawValue>) -> bool {
    content.and_then(|content| content.get().strip_prefix('"')).is_some_and(|text| !is_observation(text))
}

/// Steps and turns since the last genuine user message, collected while a history is read forwards.
#[derive(Debug, Default)]
pub struct Walk {
    pub steps: StepReader,
    pub turns: u32,
    /// The last turn before a user's word that no turn has followed yet.
    before_user: Option<Turn>,
    /// The history ends with what a ReAct agent has put in a user's place.
    pub ends_with_observation: bool,
    /// The assistant's last turn wrote a ReAct action.
    awaits_observation: bool,
    /// Texts that stood beside tool results: a framework's reminder comes again and again.
    asides: Vec<u64>,
}

/// The id of the one call that a ReAct turn makes.
const REACT: &str = "react";

impl Walk {
    /// Reads `history` forwards, item by item, from where the scan begins.
    pub fn over<T>(
        history: &[T],
        scan: Scan,
        is_turn: impl Fn(&T) -> bool,
        is_word: impl Fn(&T) -> bool,
        mut read: impl FnMut(&mut Self, &T) -> Result<(), Unreadable>,
    ) -> Result<Self, Unreadable> {
        let mut walk = Self::default();
        let start = scan.start(history, is_turn, is_word);
        for item in history.get(start..).unwrap_or_default() {
            walk.ends_with_observation = false;
            read(&mut walk, item)?;
        }
        Ok(walk)
    }

    pub fn turn(&mut self) {
        self.steps.turn();
        self.before_user = None;
        self.turns = self.turns.saturating_add(1);
        self.awaits_observation = false;
    }

    /// An assistant's text: is there an action in it?
    pub fn text(&mut self, text: &str, scan: Scan) {
        if let Some((tool, input)) = scan.react.then(|| action(text)).flatten() {
            self.steps.call(REACT, tool, input);
            self.awaits_observation = true;
        }
    }

    /// A user's text, unless it is the observation that a ReAct agent has put there.
    pub fn user(&mut self, text: &str) {
        if std::mem::take(&mut self.awaits_observation) && is_observation(text) {
            let raw = RawValue::from_string(crate::json::quoted(text)).ok();
            self.steps.result(REACT, raw.as_deref(), false);
            self.ends_with_observation = true;
        } else {
            self.word();
        }
    }

    fn word(&mut self) {
        // Of two words in a row the second has no turn before it.
        self.before_user = self.steps.user().or(self.before_user.take());
        self.turns = 0;
    }

    /// What a user's message comes to.
    pub fn tail(&mut self, tail: Tail) {
        match tail {
            Tail::Prompt(text) => self.user(&text),
            Tail::Aside(text) => self.aside(&text),
            Tail::Other => {}
        }
    }

    /// A text beside tool results: a user's word unless it was there before.
    pub fn aside(&mut self, text: &str) {
        let digest = crate::prompt::digest(text.as_bytes());
        if !self.asides.contains(&digest) {
            self.asides.push(digest);
            self.word();
        }
    }

    /// The calls of the last turn that have their results. No earlier request can have carried these.
    pub fn done(&self) -> Vec<Done> {
        self.steps.turns.back().or(self.before_user.as_ref()).map(Turn::done).unwrap_or_default()
    }
}

/// The last action in a text: `Action: tool[input]`, or `Action: tool` with `Action Input: input` after it.
fn action(text: &str) -> Option<(&str, &str)> {
    let after = |text: &'_ str, label: &str| -> Option<usize> {
        let at = text.rfind(label)?;
        let starts_line = text.get(..at)?.chars().next_back().is_none_or(|c| c == '\n');
        starts_line.then(|| at.saturating_add(label.len()))
    };
    let rest = text.get(after(text, "Action:")?..)?;
    let line = rest.lines().next()?.trim();
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() <= 64
            && name.chars().all(|c| c.is_alphanumeric() || "_-. ".contains(c))
    };
    if let Some((tool, input)) = line.split_once(['[', '(']) {
        let input = input.strip_suffix([']', ')'])?;
        return is_name(tool.trim()).then_some((tool.trim(), input));
    }
    let input = after(rest, "Action Input:").and_then(|at| rest.get(at..)).unwrap_or("").trim();
    is_name(line).then_some((line, input))
}

fn is_observation(text: &str) -> bool {
    let start: Cow<'_, str> = text.trim_start().chars().take(12).collect();
    start.to_ascii_lowercase().starts_with("observation")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_in_both_spellings() {
        for (text, found) in [
            ("Thought: hm\nAction: Search[Paris, France]", Some(("Search", "Paris, France"))),
            ("Thought: hm\nAction: search\nAction Input: {\"q\": 1}\n", Some(("search", "{\"q\": 1}"))),
            ("Action: finish(42)", Some(("finish", "42"))),
            ("The plan. Action: Search[x]", None),
            ("Action: do this! and then that", None),
            ("No plan at all", None),
        ] {
            assert_eq!(action(text), found, "{text}");
        }
    }

    #[test]
    fn an_observation_counts_only_after_an_action() {
        let mut walk = Walk::default();
        walk.user("Observation: it rains");
        assert!(!walk.ends_with_observation);
        walk.turn();
        walk.text("Action: look[out]", Scan::default());
        walk.user("Observation: it rains");
        assert!(walk.ends_with_observation);
        assert_eq!((walk.turns, walk.steps.finish().len()), (1, 1));
    }

    #[test]
    fn a_reminder_beside_results_is_a_users_word_once() {
        let mut walk = Walk::default();
        walk.turn();
        walk.aside("remember the rules");
        assert_eq!(walk.turns, 0);
        walk.turn();
        walk.aside("remember the rules");
        assert_eq!(walk.turns, 1);
    }

    #[test]
    fn a_scan_begins_at_a_turn_or_at_a_users_word() {
        let history = ["u", "a", "t", "a", "t", "a", "t"];
        let scan = |turns| Scan { turns, ..Scan::default() };
        let start = |turns| scan(turns).start(&history, |item| *item == "a", |item| *item == "u");
        assert_eq!([0, 1, 2, 3, 9].map(start), [7, 5, 3, 1, 0]);
        let word = |scan: Scan| scan.start(&history, |item| *item == "a", |item| *item == "t");
        assert_eq!(word(scan(9)), 6);
        assert_eq!(word(Scan { before_word: true, ..scan(9) }), 5);
    }
}
