//! A history read forwards: turns, calls, results, and what users say between.

use std::{borrow::Cow, collections::HashSet};

use sentinel_llm_api::{
    conversation::{Part, Role},
    history::History,
    json::Unreadable,
};
use sentinel_text::{digest, digest_pair, normalise};

use super::{NORMALISED, deed, exchanges, text_actions};
use crate::{
    context::is_calendar,
    joined::Joined,
    signal::{Condition, StepsPolicy},
    step::{Asked, Memo, StepLog, Task, is_weak_answer},
};

/// The id of the calls that a text makes.
const IN_TEXT: &str = "in-text";

/// After this many messages that had results and no text, a text beside results is the user's and not a framework's.
const PLAIN_RESULTS: u32 = 2;

/// Steps and turns, collected while a history is read.
pub(super) struct Walk<'p, 'a> {
    pub steps: StepLog<'a>,
    /// Assistant turns since a user last said something new.
    pub turns: u32,
    policy: &'p StepsPolicy,
    /// Where the conversation ends, instructions aside.
    last: Option<usize>,
    /// The assistant's last turn wrote an action that has no observation yet.
    awaits_observation: bool,
    /// The assistant calls tools, so a bare text of it is no command.
    calls_tools: bool,
    /// How many messages had results and no text beside them. `None` once a message had both.
    plain_results: Option<u32>,
    /// Digests of what users have said: of the text as it stands, and in essence (`in_essence`).
    said: HashSet<u64>,
    /// The last message that is nothing but a user's text, and its place.
    word: Option<(usize, Cow<'a, str>)>,
    /// The previous message, if it is the assistant's and has no calls.
    spoken: Option<usize>,
    /// The first and the last of the user texts that began a count since the assistant's last answer.
    task: Option<[usize; 2]>,
    /// The place behind the last result.
    pub done: usize,
}

impl<'p, 'a> Walk<'p, 'a> {
    pub fn new(policy: &'p StepsPolicy, last: Option<usize>, memo: Option<&'a Memo>) -> Self {
        Self {
            steps: StepLog::with_memo(memo),
            turns: 0,
            policy,
            last,
            awaits_observation: false,
            calls_tools: false,
            plain_results: Some(0),
            said: HashSet::new(),
            word: None,
            spoken: None,
            task: None,
            done: 0,
        }
    }

    pub fn read(&mut self, history: &'a History<'_>, at: usize) -> Result<(), Unreadable> {
        match history.role(at) {
            Role::Assistant => {
                self.spoken = (!history.has_calls(at)).then_some(at);
                self.assistant(history, at)
            }
            Role::User | Role::Tool => {
                let read = self.told(history, at);
                self.spoken = None;
                read
            }
            Role::Instruction | Role::Other => Ok(()),
        }
    }

    /// Whether the assistant has just answered in prose, and not with a final message of ours. Then the user's next text begins a
    /// new count.
    fn is_answered(&self, history: &History<'_>) -> bool {
        let Some(at) = self.spoken.filter(|_| self.policy.off != Some(Condition::Answered)) else {
            return false;
        };
        let said = exchanges::raw_text(history, at);
        let text = said.trim_matches(|c: char| c.is_whitespace() || c == '"');
        let own = self.policy.own_words.as_str();
        let is_ours = !own.is_empty() && text.starts_with(own);
        !text.is_empty() && !is_ours && !self.awaits_observation && !deed::acts(&said, self.calls_tools)
    }

    fn assistant(&mut self, history: &'a History<'_>, at: usize) -> Result<(), Unreadable> {
        self.steps.turn();
        self.turns = self.turns.saturating_add(1);
        self.awaits_observation = false;
        let may_act =
            self.policy.react && history.content(at).is_some_and(|raw| text_actions::may_hold(raw.get()));
        if !may_act && !history.has_calls(at) {
            return Ok(());
        }
        let (mut text, mut has_calls) = (Joined::default(), false);
        let (steps, rules) = (&mut self.steps, &self.policy.tools);
        history.parts(at, &mut |part| match part {
            Part::Text(part) if may_act => text.push(part),
            Part::Text(_) | Part::Media(_) => {}
            Part::Call(call) => {
                has_calls = true;
                steps.written_call(call, rules);
            }
            Part::Result(result) => {
                steps.result(&result);
                self.done = at.saturating_add(1);
            }
        })?;
        self.calls_tools |= has_calls;
        if !has_calls && may_act {
            self.awaits_observation = self.text(&text.0);
            if !self.awaits_observation && !text_actions::of(&text.0).is_empty() {
                self.done = at.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Adds the actions in a text, with their observations. Returns whether one of them has no observation yet.
    fn text(&mut self, text: &str) -> bool {
        let mut is_open = false;
        for (number, action) in text_actions::of(text).into_iter().enumerate() {
            if number > 0 {
                self.steps.turn();
                self.turns = self.turns.saturating_add(1);
            }
            let (tool, input) = (action.tool.to_owned(), action.input.to_owned());
            self.steps.call(IN_TEXT, tool, input, &self.policy.tools);
            match action.observation {
                Some(observation) => self.steps.text_result(IN_TEXT, observation),
                None => is_open = true,
            }
        }
        is_open
    }

    /// Results, a user's text, or both.
    fn told(&mut self, history: &'a History<'_>, at: usize) -> Result<(), Unreadable> {
        let content = history.content(at).map_or("", |content| content.get());
        let is_text = history.role(at) == Role::User && content.starts_with('"');
        // Before the first step, it is enough to remember that the text was said.
        if is_text && !self.steps.has_calls() && !self.awaits_observation && self.last != Some(at) {
            self.said.insert(digest(content.as_bytes()));
            if self.spoken.is_some() {
                self.task = None;
            }
            self.new_word(at, false);
            return Ok(());
        }
        let (mut text, mut has_results, mut media) = (Joined::default(), false, 0_u64);
        let steps = &mut self.steps;
        history.parts(at, &mut |part| match part {
            Part::Text(part) => text.push(part),
            Part::Result(result) => {
                has_results = true;
                steps.result(&result);
            }
            // Chat agents put a picture of the current screen here.
            Part::Media(raw) => media = media.wrapping_add(digest(raw.get().as_bytes())),
            Part::Call(_) => {}
        })?;
        if media != 0 {
            self.steps.picture(media);
        }
        if has_results {
            self.done = at.saturating_add(1);
        }
        match (history.role(at), has_results) {
            // A picture without a text is the outcome of a step, and nothing that the user says.
            (Role::User, false) if media != 0 && text.0.trim().is_empty() && self.spoken.is_none() => {}
            (Role::User, false) => self.user(history, at, content, text.0),
            (Role::User, true) => self.beside_results(at, !text.0.is_empty()),
            _ => {}
        }
        Ok(())
    }

    /// A text beside results comes from the framework, which adds one each time. But if several messages had results and no text,
    /// the first text beside results is the user's comment on the run, because some formats have no other place for it.
    fn beside_results(&mut self, at: usize, has_text: bool) {
        match &mut self.plain_results {
            Some(plain) if !has_text => *plain = plain.saturating_add(1),
            Some(plain) => {
                if *plain >= PLAIN_RESULTS {
                    self.new_word(at, false);
                }
                self.plain_results = None;
            }
            None => {}
        }
    }

    /// A user's text that is alone in its message: an observation, a whole run written down, or something that the user says.
    fn user(&mut self, history: &History<'_>, at: usize, content: &str, text: Cow<'a, str>) {
        let is_answered = self.is_answered(history);
        if std::mem::take(&mut self.awaits_observation) && text_actions::is_observation(&text) {
            self.steps.text_result(IN_TEXT, &text);
            self.done = at.saturating_add(1);
            return;
        }
        if self.policy.react && self.last == Some(at) && self.is_run(&text) {
            return;
        }
        let is_new = self.said.insert(digest(content.as_bytes())) & self.said.insert(in_essence(&text));
        if is_new || is_answered {
            self.new_word(at, is_answered);
        }
        self.word = Some((at, text));
    }

    /// Whether a text is a run that an agent has written down, up to its last observation. If it is, its steps are added.
    fn is_run(&mut self, text: &str) -> bool {
        if !text_actions::may_hold(text) {
            return false;
        }
        let actions = text_actions::of(text);
        // A single command with its output is something that a person asks about, and no run.
        let is_question = matches!(actions.as_slice(), [action] if action.tool == text_actions::COMMAND);
        let is_run = !is_question && actions.last().is_some_and(|last| last.observation.is_some());
        if is_run {
            self.steps.turn();
            self.turns = self.turns.saturating_add(1);
            self.text(text);
        }
        is_run
    }

    fn new_word(&mut self, at: usize, is_answered: bool) {
        self.steps.word(is_answered, Asked::NotSaid);
        let first = self.task.filter(|_| !is_answered).map_or(at, |[first, _]| first);
        self.task = Some([first, at]);
        self.turns = 0;
    }

    /// The first and the last user text since the assistant's last answer, as they stand in the body. A later text does not take
    /// back what an earlier one asked for.
    pub fn task(&self, history: &'a History<'_>) -> Task<'a> {
        let texts =
            self.task.map(|task| task.map(|at| history.content(at).map_or("", |content| content.get())));
        texts.map_or_else(Task::default, Task::Texts)
    }

    /// The user text at this place, if it is alone in its message.
    pub fn prompt_at(
        &mut self,
        history: &'a History<'_>,
        at: usize,
    ) -> Result<Option<Cow<'a, str>>, Unreadable> {
        // If no steps are wanted, the message was not read before.
        if self.turns == 0 && self.word.is_none() {
            self.told(history, at)?;
        }
        Ok(self.word.take().filter(|(read, _)| *read == at).map(|(_, text)| text))
    }
}

/// Digest of what a user's text says in essence. All texts that only tell the agent to go on ("continue", "yes", "go ahead") have
/// one digest. Numbers, dates and long ids do not count. Of a long text only the beginning is read this way; the rest counts as
/// it stands.
fn in_essence(text: &str) -> u64 {
    /// A word with digits in it is an id if it has at least this many bytes.
    const ID: usize = 12;
    /// A longer text says more than to go on (bytes).
    const WEAK: usize = 64;
    if text.len() <= WEAK && is_weak_answer(text) {
        return digest(b"go on");
    }
    let (beginning, rest) = text.split_at_checked(text.floor_char_boundary(NORMALISED)).unwrap_or((text, ""));
    let normal = normalise(beginning);
    let has_accidents = |word: &str| word.len() >= ID && word.bytes().any(|byte| byte.is_ascii_digit());
    let kept = normal
        .split(' ')
        .filter(|word| !has_accidents(word))
        .filter(|word| !is_calendar(word.trim_matches(|c: char| !c.is_alphanumeric()).as_bytes()));
    let essence = kept.fold(0, |sum, word| digest_pair(sum, digest(word.as_bytes())));
    if rest.is_empty() { essence } else { digest_pair(essence, digest(rest.as_bytes())) }
}
