//! What a conversation says of its run: the steps and exchanges that it holds, and what it ends with. Read forwards, from
//! no further back than the signals look.

use std::borrow::Cow;

use sentinel_llm_api::{
    conversation::{Conversation, Kept, Role},
    history::History,
    json::Unreadable,
};
use sentinel_text::{digest, digest_pair, normalise};

use self::walk::Walk;
use crate::{
    context::Context,
    kept_history::KeptTail,
    signal::StepsPolicy,
    step::{self, Asked, CallTexts, FinishedCall, Memo, StepLog, Steps, Task},
};

mod deed;
mod exchanges;
mod text_actions;
mod walk;
mod written_action;

/// The beginning of a user's text that is normalised (bytes). Reminders that differ only in numbers are shorter.
const NORMALISED: usize = 8_192;

/// Digest of a user's text in its normal form. Of a long text only the beginning is normalised; the rest counts as it stands.
pub(crate) fn digest_of_word(text: &str) -> u64 {
    let (beginning, rest) = text.split_at_checked(text.floor_char_boundary(NORMALISED)).unwrap_or((text, ""));
    let normal = digest(normalise(beginning).as_bytes());
    if rest.is_empty() { normal } else { digest_pair(normal, digest(rest.as_bytes())) }
}

/// How much of a history is looked at, and what for.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'p> {
    /// Assistant turns from the tail; 0: no steps are read.
    turns: usize,
    policy: &'p StepsPolicy,
    /// The context of a prompt is wanted.
    wants_context: bool,
}

/// Messages that are read for each turn: its calls, their results, and what a framework puts between.
const MESSAGES_A_TURN: usize = 32;

impl<'p> Reach<'p> {
    /// What the signals need to see.
    pub fn of(policy: &'p StepsPolicy, run_limit: u32) -> Self {
        let limit = usize::try_from(run_limit).unwrap_or(usize::MAX);
        let turns = limit.max(if policy.enabled { step::LENGTH } else { 0 });
        Self { turns, policy, wants_context: false }
    }

    /// The context of a prompt is wanted, or not.
    #[must_use]
    pub fn with_context(self, wants_context: bool) -> Self {
        Self { wants_context, ..self }
    }

    /// The message to begin with, so that `turns` assistant turns are read.
    fn start(self, history: &History<'_>) -> usize {
        let mut turns = 0_usize;
        let most = self.turns.saturating_mul(MESSAGES_A_TURN);
        for at in (0..history.len()).rev() {
            if turns >= self.turns || history.len().saturating_sub(at) > most {
                return at.saturating_add(1);
            }
            turns = turns.saturating_add(usize::from(history.role(at) == Role::Assistant));
        }
        0
    }
}

/// What a conversation says of its run.
#[derive(Debug, Default)]
pub struct Reading<'a> {
    /// Messages in the body.
    pub messages: u32,
    /// Digest that tells the run apart if the request names no run. It is made of the first user message once that has been
    /// answered, or of the provider's thread.
    pub head: Option<u64>,
    pub tail: Tail<'a>,
    /// What the agent did.
    log: StepLog<'a>,
    /// What the user wants, to find out how often something is to be done.
    task: Task<'a>,
    /// What the agent said since its last call, and what it was told; empty unless it repeats itself.
    pub exchanges: Steps<'a>,
    /// What is new, where the provider keeps the history.
    pub kept: Option<KeptTail>,
    /// Assistant turns since a user last said something new.
    pub turns_alone: u32,
}

/// What the conversation ends with.
#[derive(Debug, Default, PartialEq)]
pub enum Tail<'a> {
    /// A user text that stands alone in its message.
    Prompt(Prompt<'a>),
    /// Tool results, with or without a text beside them, an assistant's text, anything else.
    #[default]
    Other,
}

/// A user text at the end of a conversation.
#[derive(Debug, Default, PartialEq)]
pub struct Prompt<'a> {
    pub text: Cow<'a, str>,
    /// What the prompt is asked about. `None` if it was not wanted.
    pub context: Option<Context>,
}

impl<'a> Reading<'a> {
    pub fn of(conversation: &'a Conversation<'_>, reach: Reach<'_>) -> Result<Self, Unreadable> {
        Self::read(conversation, reach, None)
    }

    /// `memo`: what earlier requests have found out about results. New findings are added to it.
    pub fn remembering(
        conversation: &'a Conversation<'_>,
        reach: Reach<'_>,
        memo: &'a Memo,
    ) -> Result<Self, Unreadable> {
        Self::read(conversation, reach, Some(memo))
    }

    fn read(
        conversation: &'a Conversation<'_>,
        reach: Reach<'_>,
        memo: Option<&'a Memo>,
    ) -> Result<Self, Unreadable> {
        let history = &conversation.history;
        let last = (0..history.len()).rev().find(|at| history.role(*at) != Role::Instruction);
        let mut walk = Walk::new(reach.policy, last, memo);
        for at in reach.start(history)..history.len() {
            walk.read(history, at)?;
        }
        let tail = match last {
            Some(at) if history.role(at) == Role::User && history.content(at).is_some() => {
                let prompt = walk.prompt_at(history, at)?;
                match prompt {
                    Some(prompt) => Tail::Prompt(with_context(conversation, at, prompt, reach)?),
                    None => Tail::Other,
                }
            }
            _ => Tail::Other,
        };
        let kept = match &conversation.kept {
            Some(kept) => Some(KeptTail::of(history, kept)?),
            None => None,
        };
        let wants_exchanges = reach.policy.enabled && reach.policy.react;
        let start = reach.start(history).max(walk.done);
        let exchanges = if wants_exchanges { exchanges::of(history, start)? } else { Steps::default() };
        let task = walk.task(history);
        Ok(Self {
            messages: u32::try_from(history.len()).unwrap_or(u32::MAX),
            head: head(history, conversation.kept.as_ref()),
            tail,
            log: walk.steps,
            task,
            exchanges,
            kept,
            turns_alone: walk.turns,
        })
    }

    /// The steps that the history holds.
    pub fn steps(&self) -> Steps<'_> {
        let steps = self.log.steps();
        // A single turn that holds a whole run brings its own number. Of that and the user's number, the larger one counts.
        match steps.task {
            Task::Asked(Asked::NotSaid) => Steps { task: self.task.clone(), ..steps },
            Task::Asked(asked) => Steps { task: Task::Asked(asked.max(self.task.asked())), ..steps },
            Task::Texts(_) => steps,
        }
    }

    /// The calls whose results are new in this request.
    pub fn done(&self) -> Vec<FinishedCall> {
        self.log.done()
    }

    /// What these calls were made with, and what came of them.
    pub fn done_texts(&self) -> impl Iterator<Item = CallTexts<'_>> {
        self.log.texts()
    }
}

/// The user text at this place, and what it is asked about.
fn with_context<'a>(
    conversation: &'a Conversation<'_>,
    at: usize,
    text: Cow<'a, str>,
    reach: Reach<'_>,
) -> Result<Prompt<'a>, Unreadable> {
    let context = if reach.wants_context { Some(Context::of(conversation, at)?) } else { None };
    Ok(Prompt { text, context })
}

fn head(history: &History<'_>, kept: Option<&Kept<'_>>) -> Option<u64> {
    if let Some(kept) = kept {
        return kept.thread.as_deref().map(|thread| digest(thread.as_bytes()));
    }
    let first_user = (0..history.len()).find(|at| history.role(*at) == Role::User)?;
    let is_answer = |at| matches!(history.role(at), Role::Assistant | Role::Tool);
    let content = history.content(first_user).filter(|_| (0..history.len()).any(is_answer))?;
    Some(digest(content.get().as_bytes()))
}

#[cfg(test)]
mod tests;
