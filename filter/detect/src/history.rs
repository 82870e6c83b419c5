//! What a conversation says of its run: the steps since the last genuine user message, and what it ends with. Read
//! forwards, from no further back than the signals look.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sentinel_llm_api::{
    conversation::{Conversation, History, Kept, Part, Role},
    json::Unreadable,
};
use sentinel_text::digest;

use crate::{
    kept_history::KeptTail,
    signal::StepsPolicy,
    step::{self, FinishedCall, Step, StepLog, StrayResult, Turn},
};

/// How much of a history is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Assistant turns from the tail; 0: no steps are read.
    pub turns: usize,
    /// Actions in assistants' texts count, with the observations in the next user messages.
    pub react: bool,
    /// The turn before a user's word counts too, where no turn has followed: its results are new.
    pub before_word: bool,
}

/// Messages that are read for each turn: its calls, their results, and what a framework puts between.
const MESSAGES_A_TURN: usize = 32;

impl Default for Reach {
    fn default() -> Self {
        Self { turns: step::LENGTH, react: true, before_word: false }
    }
}

impl Reach {
    /// What the signals need to see.
    pub fn of(steps: &StepsPolicy, run_limit: u32) -> Self {
        let limit = usize::try_from(run_limit).unwrap_or(usize::MAX);
        let turns = limit.max(if steps.enabled { step::LENGTH } else { 0 });
        Self { turns, react: steps.react, before_word: false }
    }

    /// Where to begin: at the last message that is a user's word beyond doubt, and not before the last so many
    /// assistant turns.
    fn start(self, history: &dyn History<'_>) -> usize {
        let mut turns = 0_usize;
        let mut ends_with_word = false;
        let most = self.turns.saturating_mul(MESSAGES_A_TURN);
        for at in (0..history.len()).rev() {
            if turns >= self.turns || history.len().saturating_sub(at) > most {
                return at.saturating_add(1);
            }
            let is_turn = history.role(at) == Role::Assistant;
            let is_word = is_word(history, at);
            if (is_word && (turns > 0 || !self.before_word)) || (is_turn && ends_with_word) {
                return at;
            }
            ends_with_word |= is_word;
            turns = turns.saturating_add(usize::from(is_turn));
        }
        0
    }
}

/// Whether a message is a user's word beyond doubt: plain text that is no observation.
fn is_word(history: &dyn History<'_>, at: usize) -> bool {
    let content = if history.role(at) == Role::User { history.content(at) } else { None };
    content.and_then(|content| content.get().strip_prefix('"')).is_some_and(|text| !is_observation(text))
}

/// What a conversation says of its run.
#[derive(Debug, Default)]
pub struct Reading {
    /// Messages in the body.
    pub messages: u32,
    /// Digest of what tells the run apart where nobody names it: its first user message where it has been answered, or
    /// the provider's thread.
    pub head: Option<u64>,
    pub tail: Tail,
    /// What the agent did since the last user message.
    pub steps: Vec<Step>,
    /// The calls whose results are new in this request.
    pub done: Vec<FinishedCall>,
    /// What is new, where the provider keeps the history.
    pub kept: Option<KeptTail>,
    /// Assistant turns since the last user message.
    pub turns_alone: u32,
}

/// What the conversation ends with.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// A user text that the agent has appended: a prompt event.
    Prompt(String),
    /// A text beside tool results: a user's word to the agent, or a framework's reminder. No evidence.
    Aside(String),
    /// Tool results, an assistant's text, anything else.
    #[default]
    Other,
}

impl Reading {
    pub fn of(conversation: &Conversation<'_>, reach: Reach) -> Result<Self, Unreadable> {
        let history = &*conversation.history;
        let mut walk = Walk::default();
        for at in reach.start(history)..history.len() {
            walk.read(history, at, reach)?;
        }
        let tail = match (0..history.len()).rev().find(|at| history.role(*at) != Role::Instruction) {
            Some(at) if history.role(at) == Role::User && history.content(at).is_some() => {
                walk.tail_at(history, at)?
            }
            _ => Tail::Other,
        };
        let kept = match &conversation.kept {
            Some(_) => Some(kept_tail(history, &tail)?),
            None => None,
        };
        Ok(Self {
            messages: u32::try_from(history.len()).unwrap_or(u32::MAX),
            head: head(history, conversation.kept.as_ref()),
            tail,
            done: walk.done(),
            steps: walk.steps.steps(),
            kept,
            turns_alone: walk.turns,
        })
    }
}

fn head(history: &dyn History<'_>, kept: Option<&Kept<'_>>) -> Option<u64> {
    if let Some(kept) = kept {
        return kept.thread.as_deref().map(|thread| digest(thread.as_bytes()));
    }
    let first_user = (0..history.len()).find(|at| history.role(*at) == Role::User)?;
    let is_answer = |at| matches!(history.role(at), Role::Assistant | Role::Tool);
    let content = history.content(first_user).filter(|_| (0..history.len()).any(is_answer))?;
    Some(digest(content.get().as_bytes()))
}

/// The results whose calls the provider keeps.
fn kept_tail(history: &dyn History<'_>, tail: &Tail) -> Result<KeptTail, Unreadable> {
    let mut kept = KeptTail { results: Vec::new(), has_user_word: matches!(tail, Tail::Prompt(_)) };
    for at in 0..history.len() {
        match history.role(at) {
            Role::User => kept.has_user_word = true,
            Role::Tool => history.parts(at, &mut |part| {
                if let Part::Result(result) = part
                    && let sentinel_llm_api::conversation::CallRef::Id(id) = &result.of
                {
                    kept.results.push(StrayResult::of(id, result.content));
                }
            })?,
            _ => {}
        }
    }
    Ok(kept)
}

/// Steps and turns since the last genuine user message, collected while a history is read forwards.
#[derive(Debug, Default)]
struct Walk {
    steps: StepLog,
    turns: u32,
    /// The last turn before a user's word that no turn has followed yet.
    before_user: Option<Turn>,
    /// The assistant's last turn wrote a ReAct action.
    awaits_observation: bool,
    /// What the last user message that was read comes to, and its place.
    last_user: Option<(usize, Tail)>,
    /// Texts that stood beside tool results: a framework's reminder comes again and again.
    asides: BTreeSet<u64>,
}

/// The id of the one call that a ReAct turn makes.
const REACT: &str = "react";

impl Walk {
    fn read(&mut self, history: &dyn History<'_>, at: usize, reach: Reach) -> Result<(), Unreadable> {
        match history.role(at) {
            Role::Assistant => self.assistant(history, at, reach),
            Role::User | Role::Tool => self.told(history, at),
            Role::Instruction | Role::Other => Ok(()),
        }
    }

    fn assistant(&mut self, history: &dyn History<'_>, at: usize, reach: Reach) -> Result<(), Unreadable> {
        self.turn();
        let (mut text, mut has_calls) = (Joined::default(), false);
        let steps = &mut self.steps;
        history.parts(at, &mut |part| match part {
            Part::Text(part) if reach.react => text.push(part),
            Part::Text(_) | Part::Media(_) => {}
            Part::Call(call) => {
                has_calls = true;
                steps.written_call(&call);
            }
            Part::Result(result) => steps.result(&result),
        })?;
        if !has_calls && let Some((tool, input)) = action(&text.0) {
            self.steps.call(REACT, tool, input);
            self.awaits_observation = true;
        }
        Ok(())
    }

    /// Results, a user's text, or both.
    fn told(&mut self, history: &dyn History<'_>, at: usize) -> Result<(), Unreadable> {
        let (mut text, mut has_results) = (Joined::default(), false);
        let steps = &mut self.steps;
        history.parts(at, &mut |part| match part {
            Part::Text(part) => text.push(part),
            Part::Result(result) => {
                has_results = true;
                steps.result(&result);
            }
            Part::Call(_) | Part::Media(_) => {}
        })?;
        if history.role(at) == Role::User {
            let tail = self.user(text.0.into_owned(), has_results);
            self.last_user = Some((at, tail));
        }
        Ok(())
    }

    fn turn(&mut self) {
        self.steps.turn();
        self.before_user = None;
        self.turns = self.turns.saturating_add(1);
        self.awaits_observation = false;
    }

    /// A user message, and what it is at the end of a history.
    fn user(&mut self, text: String, has_results: bool) -> Tail {
        match (has_results, text.is_empty()) {
            (true, true) => Tail::Other,
            (true, false) => {
                // A user's word unless it was there before.
                if self.asides.insert(digest(text.as_bytes())) {
                    self.word();
                }
                Tail::Aside(text)
            }
            (false, _) if std::mem::take(&mut self.awaits_observation) && is_observation(&text) => {
                self.steps.text_result(REACT, &text);
                Tail::Other
            }
            (false, _) => {
                self.word();
                Tail::Prompt(text)
            }
        }
    }

    fn word(&mut self) {
        // Of two words in a row the second has no turn before it.
        self.before_user = self.steps.user().or(self.before_user.take());
        self.turns = 0;
    }

    /// What the user message at this place comes to. Where no step was read, nothing is known of an action before it.
    fn tail_at(&mut self, history: &dyn History<'_>, at: usize) -> Result<Tail, Unreadable> {
        if self.last_user.as_ref().is_none_or(|(read, _)| *read != at) {
            let mut alone = Self::default();
            alone.told(history, at)?;
            self.last_user = alone.last_user;
        }
        Ok(self.last_user.take().map(|(_, tail)| tail).unwrap_or_default())
    }

    /// The calls of the last turn that have their results. No earlier request can have carried these.
    fn done(&self) -> Vec<FinishedCall> {
        let last = self.steps.turns.back().or(self.before_user.as_ref());
        last.map(|turn| self.steps.done(turn)).unwrap_or_default()
    }
}

/// Texts with line ends between them; one alone is not copied.
#[derive(Default)]
struct Joined<'a>(Cow<'a, str>);

impl<'a> Joined<'a> {
    fn push(&mut self, text: Cow<'a, str>) {
        if self.0.is_empty() {
            self.0 = text;
        } else {
            let joined = self.0.to_mut();
            joined.push('\n');
            joined.push_str(&text);
        }
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
    use serde_json::json;

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

    fn reading(dialect: &str, body: &serde_json::Value, reach: Reach) -> Reading {
        let dialect = sentinel_llm_api::registry::by_label(dialect).unwrap();
        let body = body.to_string();
        Reading::of(&sentinel_llm_api::registry::read(dialect, body.as_bytes()).unwrap(), reach).unwrap()
    }

    fn chat(messages: &[(&str, &str)]) -> Reading {
        let messages: Vec<_> =
            messages.iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
        reading("openai_chat", &json!({"messages": messages}), Reach::default())
    }

    #[test]
    fn an_observation_counts_only_after_an_action() {
        let rain = "Observation: it rains";
        let stray = chat(&[("user", rain)]);
        assert_eq!((stray.tail, stray.steps.len()), (Tail::Prompt(rain.to_owned()), 0));
        let paired = chat(&[("user", "Well?"), ("assistant", "Action: look[out]"), ("user", rain)]);
        assert_eq!((paired.tail, paired.steps.len(), paired.turns_alone), (Tail::Other, 1, 1));
        assert_eq!(paired.steps[0].tool, "look");
    }

    #[test]
    fn a_reminder_beside_results_is_a_users_word_once() {
        let turn = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]});
        let told = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "x"},
            {"type": "text", "text": "remember the rules"},
        ]});
        let turns = |messages: &[&serde_json::Value]| {
            let read = reading("anthropic", &json!({"messages": messages}), Reach::default());
            assert_eq!(read.tail, Tail::Aside("remember the rules".to_owned()));
            (read.turns_alone, read.steps.len())
        };
        assert_eq!(turns(&[&turn, &told]), (0, 0));
        assert_eq!(turns(&[&turn, &told, &turn, &told]), (1, 1));
    }

    #[test]
    fn reading_begins_at_a_turn_or_at_a_users_word() {
        let call = json!({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]});
        let told = json!({"role": "tool", "tool_call_id": "c", "content": "x"});
        let user = json!({"role": "user", "content": "Go on, please"});
        let read = |messages: &[&serde_json::Value], reach: Reach| {
            let read = reading("openai_chat", &json!({"messages": messages}), reach);
            (read.steps.len(), read.done.len())
        };
        let history = [&user, &call, &told, &call, &told, &call, &told];
        let steps = |turns| read(&history, Reach { turns, ..Reach::default() });
        assert_eq!([0, 1, 2, 3, 9].map(|turns| steps(turns).0), [0, 1, 2, 3, 3]);
        let asked = [&user, &call, &told, &user];
        assert_eq!(read(&asked, Reach::default()), (0, 0));
        assert_eq!(read(&asked, Reach { before_word: true, ..Reach::default() }), (0, 1));
    }

    #[test]
    fn the_tail_is_known_even_where_no_step_is_read() {
        let read = reading(
            "anthropic",
            &json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]}),
            Reach { turns: 0, ..Reach::default() },
        );
        assert_eq!((read.tail, read.head), (Tail::Prompt("a\nb".to_owned()), None));
    }
}
