//! What came of the runs of one source and label, counted.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::inject::Loop;
use sentinel_replay_core::history::RecordedMessage;
use sentinel_replay_core::replay::{Replayed, RequestVerdict, SentRequest};

use crate::case::Case;

/// Runs of one source and label.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub source: String,
    pub label: String,
    /// The loop that was written into them.
    pub injected: Option<&'static str>,
    pub runs: usize,
    pub requests: usize,
    pub hinted: usize,
    pub killed: usize,
    /// Killed runs that got no hint before.
    pub killed_without_hint: usize,
    /// Requests that passed without being looked at.
    pub bypassed: usize,
    /// Runs by the signal of the first hint, or of the kill where there was none.
    pub by_signal: BTreeMap<String, usize>,
    pub killed_by_signal: BTreeMap<String, usize>,
    /// Assistant turns that had been taken when the first hint came.
    pub hint_at: Vec<usize>,
    pub kill_at: Vec<usize>,
    /// Flagged runs in which even a new text of the user did not pass without a verdict.
    pub flagged_after_user: usize,
    pub checked_after_user: usize,
    pub found: Recall,
}

/// What became of the injected loops.
#[derive(Clone, Debug, Default)]
pub struct Recall {
    /// Hinted or killed after the onset.
    pub found: usize,
    /// Ids of the runs whose loop was not found.
    pub missed: Vec<String>,
    /// Flagged before the onset: a false alarm.
    pub early: usize,
    /// Turns of the loop (for paraphrases: prompts) before the first hint, and before the kill.
    pub hint_delay: Vec<usize>,
    pub kill_delay: Vec<usize>,
    /// The same in rounds. A round that has begun counts.
    pub hint_rounds: Vec<usize>,
    pub kill_rounds: Vec<usize>,
}

/// All groups, by source and label.
pub fn groups(cases: &[Case], replayed: &[Replayed]) -> Vec<Group> {
    let mut groups: BTreeMap<(&str, &str), Group> = BTreeMap::new();
    for (case, replayed) in cases.iter().zip(replayed) {
        let group = groups.entry((&case.run.source, &case.run.label)).or_insert_with(|| Group {
            source: case.run.source.clone(),
            label: case.run.label.clone(),
            ..Group::default()
        });
        group.add(case, replayed);
    }
    groups.into_values().collect()
}

/// Assistant turns in the history of a request.
pub fn turns(case: &Case, sent: &SentRequest) -> usize {
    case.run.messages[..sent.history].iter().filter(|message| message.is_assistant()).count()
}

impl Group {
    fn add(&mut self, case: &Case, replayed: &Replayed) {
        self.runs += 1;
        self.requests += replayed.sent.len();
        self.bypassed +=
            replayed.sent.iter().filter(|sent| sent.judged.verdict == RequestVerdict::Bypassed).count();
        let (hint, kill) = (replayed.first(RequestVerdict::Hint), replayed.first(RequestVerdict::Kill));
        self.hinted += usize::from(hint.is_some());
        self.killed += usize::from(kill.is_some());
        self.killed_without_hint += usize::from(kill.is_some() && hint.is_none());
        self.hint_at.extend(hint.map(|sent| turns(case, sent)));
        self.kill_at.extend(kill.map(|sent| turns(case, sent)));
        for (sent, counts) in [(replayed.flagged(), &mut self.by_signal), (kill, &mut self.killed_by_signal)]
        {
            if let Some(sent) = sent {
                *counts.entry(sent.judged.signal().to_owned()).or_default() += 1;
            }
        }
        if let Some(after) = &replayed.after_user {
            self.checked_after_user += 1;
            self.flagged_after_user += usize::from(after.verdict != RequestVerdict::Allow);
        }
        if let Some(injected) = case.injected {
            self.injected = Some(injected.kind.label());
            self.found.add(case, replayed);
        }
    }

    /// For the table: the label, and the loop.
    pub fn title(&self) -> String {
        match self.injected {
            Some(injected) => format!("{} + {injected}", self.label),
            None => self.label.clone(),
        }
    }

    pub fn json(&self) -> Value {
        let mut json = json!({
            "source": self.source,
            "label": self.label,
            "runs": self.runs,
            "requests": self.requests,
            "hinted": self.hinted,
            "killed": self.killed,
            "killed_without_hint": self.killed_without_hint,
            "by_signal": self.by_signal,
            "killed_by_signal": self.killed_by_signal,
            "hint_at_step": Spread::of(&self.hint_at).map(Spread::json),
            "kill_at_step": Spread::of(&self.kill_at).map(Spread::json),
            "requests_not_inspected": self.bypassed,
            "after_user_message": {"checked": self.checked_after_user, "flagged": self.flagged_after_user},
        });
        if let Some(injected) = self.injected {
            let spread = |of: &[usize]| Spread::of(of).map(Spread::json);
            let found = &self.found;
            json["injected"] = json!(injected);
            json["found"] = json!(found.found);
            json["missed"] = json!(found.missed);
            json["flagged_before_onset"] = json!(found.early);
            json["delay_steps"] = json!(Spread::of(&found.hint_delay).map(|spread| spread.median));
            json["delay"] = json!({
                "hint": {"steps": spread(&found.hint_delay), "rounds": spread(&found.hint_rounds)},
                "kill": {"steps": spread(&found.kill_delay), "rounds": spread(&found.kill_rounds)},
            });
        }
        json
    }
}

impl Recall {
    fn add(&mut self, case: &Case, replayed: &Replayed) {
        let Some(injected) = case.injected else { return };
        let loops = |sent: &&SentRequest| sent.history > injected.onset;
        self.early += usize::from(replayed.flagged().is_some_and(|sent| !loops(&sent)));
        let since = |verdict| {
            let sent = replayed.sent.iter().filter(loops).find(|sent| sent.judged.verdict == verdict)?;
            let messages = &case.run.messages[injected.onset..sent.history];
            // A loop repeats an assistant's turn, or what the user asks.
            let is_asked = injected.kind == Loop::Paraphrase;
            let counts = |message: &&RecordedMessage| {
                if is_asked { message.is_user() } else { message.is_assistant() }
            };
            Some(messages.iter().filter(counts).count())
        };
        let (hint, kill) = (since(RequestVerdict::Hint), since(RequestVerdict::Kill));
        match hint.or(kill) {
            Some(_) => self.found += 1,
            None => self.missed.push(case.run.id.clone()),
        }
        self.hint_delay.extend(hint);
        self.kill_delay.extend(kill);
        self.hint_rounds.extend(hint.map(|steps| steps.div_ceil(injected.period)));
        self.kill_rounds.extend(kill.map(|steps| steps.div_ceil(injected.period)));
    }
}

/// Least, middle and most of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    pub min: usize,
    /// The upper one of two middle ones.
    pub median: usize,
    pub max: usize,
}

impl Spread {
    pub fn of(numbers: &[usize]) -> Option<Self> {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        Some(Self { min: *sorted.first()?, median: *sorted.get(sorted.len() / 2)?, max: *sorted.last()? })
    }

    fn json(self) -> Value {
        json!({"min": self.min, "median": self.median, "max": self.max})
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.min == self.max {
            write!(to, "{}", self.median)
        } else {
            write!(to, "{} ({}-{})", self.median, self.min, self.max)
        }
    }
}
