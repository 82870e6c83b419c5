//! Compares a request with the window of its scope: is it a retry or a new prompt, is its run stopped, and what does the
//! score find?

use sentinel_text::Fingerprint;

use crate::{
    context::Context,
    growing::{self, Extent},
    history::{Reading, Tail},
    signal::score::{self, ScorePolicy},
    step::{FinishedCall, is_weak_answer, without_volatile},
    verdict::{Finding, Signal, Verdict},
    window::{Fate, PromptEvent, Window},
};

/// A repeated prompt that comes at least this long after the last answer (milliseconds) proves nothing: it is hinted at most.
const REST: u64 = 30_000;

/// What matters of a request here.
#[derive(Clone, Debug)]
pub struct Incoming<'a> {
    /// Milliseconds since 1970.
    pub now: u64,
    /// Digest of the body; 0 where it was not needed.
    pub body: u64,
    /// Messages in the body.
    pub messages: u32,
    /// The request itself names its run, so everything that the window remembers is of this run.
    pub names_run: bool,
    /// The user text that it ends with. `None` if it ends with tool results, or anything else.
    pub prompt: Option<IncomingPrompt>,
    /// The text of the prompt as it stands. Empty if there is no prompt.
    pub said: &'a str,
}

/// A user text that stands alone at the end of a request.
#[derive(Clone, Debug, Default)]
pub struct IncomingPrompt {
    pub text: Fingerprint,
    /// It is the outcome of an action that the agent wrote into its text, and not for the first time. What that proves is judged
    /// in the history.
    pub is_observation: bool,
    /// It continues an earlier text. Only what was added is compared.
    pub is_addition: bool,
    /// What was added merely acknowledges, or says that something is not there yet.
    pub is_weak_addition: bool,
    pub context: Context,
}

impl IncomingPrompt {
    pub fn of(reading: &Reading) -> Option<Self> {
        let Tail::Prompt(prompt) = &reading.tail else { return None };
        let exchange = reading.exchanges.all.last();
        Some(Self {
            text: Fingerprint::of(&prompt.text),
            is_observation: exchange.is_some_and(|step| step.acts),
            is_addition: false,
            is_weak_addition: false,
            context: prompt.context.clone().unwrap_or_default(),
        })
    }

    /// The prompt with what was added in place of the whole text. In an explicit failure, what is volatile does not count, but numbers do.
    fn of_addition(&self, added: &str) -> Self {
        Self {
            text: Fingerprint::of(&without_volatile(added)),
            is_observation: self.is_observation,
            is_addition: true,
            is_weak_addition: is_weak_answer(added),
            context: self.context.clone(),
        }
    }

    /// The same text stands in this history already: it is a framework's text, or a question that is asked again.
    pub(crate) fn is_known(&self) -> bool {
        !self.context.earlier.is_empty()
    }
}

/// When prompts are evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptsPolicy {
    pub score: ScorePolicy,
    /// The embedding service is asked about prompts of at least this many words. `None` if it is never asked.
    pub words_to_ask: Option<u16>,
    /// How long a kill lasts (milliseconds).
    pub kill_lasts: u64,
}

/// What the window says to a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    pub finding: Option<Finding>,
    /// Entry to which the response belongs.
    pub entry: Option<u32>,
    /// A new prompt event that the window did not settle: worth asking the embedding service.
    pub is_open: bool,
}

impl Observed {
    pub fn verdict(&self) -> Verdict {
        self.finding.as_ref().map_or(Verdict::Allow, |finding| finding.verdict)
    }
}

/// Judges a request by the window of its scope, and notes it there. `done` gives the calls that got their results with the request.
pub fn observe<'r>(
    window: &mut Window,
    incoming: &Incoming<'_>,
    done: impl FnOnce() -> &'r [FinishedCall],
    policy: &PromptsPolicy,
) -> Observed {
    window.touched = incoming.now;
    let Some(prompt) = &incoming.prompt else {
        take_on_results(window, incoming.messages, done);
        return match stopped(window, incoming.now) {
            Some(observed) => observed,
            None => {
                Observed { entry: window.entries.last().map(|entry| entry.number), ..Observed::default() }
            }
        };
    };
    if let Some(observed) = known_request(window, incoming.body) {
        return observed;
    }
    let earlier = window.entries.iter().rev().map(|entry| entry.said);
    let addition = growing::addition(earlier, incoming.said).map(|added| prompt.of_addition(added));
    let prompt = addition.as_ref().unwrap_or(prompt);
    if stays_stopped(window, prompt, incoming.now)
        && let Some(observed) = stopped(window, incoming.now)
    {
        return observed;
    }
    event(window, incoming, prompt, policy)
}

/// A call whose result merely acknowledges, is empty or waits does not count in the score, so it is taken out of its entry.
fn take_on_results<'r>(window: &mut Window, messages: u32, done: impl FnOnce() -> &'r [FinishedCall]) {
    // The same number of messages again: the request is a retry.
    if std::mem::replace(&mut window.messages, messages) == messages {
        return;
    }
    if let Some(entry) = window.entries.last_mut() {
        for call in done().iter().filter(|call| !call.is_evidence()) {
            entry.tools = entry.tools.wrapping_sub(call.approach);
        }
    }
}

/// A body that was sent before and not answered is a retry: it gets the same verdict again. A client library's own claim that a
/// request is a retry does not count.
fn known_request(window: &mut Window, body: u64) -> Option<Observed> {
    let known = window.entries.iter_mut().rev().find(|entry| entry.body == body)?;
    if known.verdict == Verdict::Kill || known.fate == Fate::Answered {
        return None;
    }
    known.fate = Fate::Pending;
    Some(Observed {
        finding: known.signal.map(|signal| Finding::of(signal, known.verdict)),
        entry: Some(known.number),
        is_open: false,
    })
}

/// A run that was stopped stays so until a user says something new.
fn stays_stopped(window: &mut Window, prompt: &IncomingPrompt, now: u64) -> bool {
    let stays = now < window.killed_until && (prompt.is_known() || window.knows(&prompt.text));
    if window.killed_until > 0 && !stays {
        window.killed_until = 0;
        window.entries.clear();
    }
    stays
}

/// What a stopped run gets, with the signal that stopped it.
fn stopped(window: &Window, now: u64) -> Option<Observed> {
    let signal = window.killed_by.unwrap_or(Signal::Score);
    (now < window.killed_until)
        .then(|| Observed { finding: Some(Finding::of(signal, Verdict::Kill)), ..Observed::default() })
}

fn event(
    window: &mut Window,
    incoming: &Incoming<'_>,
    prompt: &IncomingPrompt,
    policy: &PromptsPolicy,
) -> Observed {
    let (verdict, evidence) = score::judge(window, prompt, incoming.names_run, &policy.score);
    // An agent that loops asks again at once. One that asks on a schedule pauses in between.
    let rests = window.answered > 0 && incoming.now.saturating_sub(window.answered) >= REST;
    let verdict = if rests { verdict.min(Verdict::Hint) } else { verdict };
    let signal = (verdict != Verdict::Allow).then_some(Signal::Score);
    let is_open = signal.is_none() && is_worth_asking(window, prompt, policy);
    let number = window.push(
        PromptEvent {
            body: incoming.body,
            prompt: prompt.text,
            context: prompt.context.whole,
            setting: prompt.context.setting,
            history: prompt.context.history,
            said: Extent::of(incoming.said),
            verdict,
            signal,
            ..PromptEvent::default()
        },
        policy.score.window,
    );
    // Without the name of a run, the window may hold the prompts of other runs too, and a lasting kill would hit them.
    if verdict == Verdict::Kill && incoming.names_run {
        window.killed_until = incoming.now.saturating_add(policy.kill_lasts);
        window.killed_by = signal;
    }
    let finding = signal.map(|signal| Finding { evidence, ..Finding::of(signal, verdict) });
    Observed { finding, entry: Some(number), is_open }
}

/// Whether the embedding service may know more. Returns false for short texts, for texts that are in the history already or continue
/// an earlier one, and for a text that was asked in another context or got different answers.
fn is_worth_asking(window: &Window, prompt: &IncomingPrompt, policy: &PromptsPolicy) -> bool {
    let is_long = policy.words_to_ask.is_some_and(|least| prompt.text.words >= least.max(1));
    if !is_long || prompt.is_known() || prompt.is_addition {
        return false;
    }
    let mut verbatim = window.entries.iter().filter(|entry| entry.prompt.is_verbatim(&prompt.text));
    let is_other_work = verbatim.clone().any(|entry| entry.context != prompt.context.whole);
    let answered = verbatim.find(|entry| entry.fate == Fate::Answered);
    let differs = answered.is_some_and(|first| {
        verbatim.any(|entry| entry.fate == Fate::Answered && !entry.answered_like(first, false))
    });
    !is_other_work && !differs
}

#[cfg(test)]
mod tests;
