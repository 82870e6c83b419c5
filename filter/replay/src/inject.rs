//! Writes a loop with a known onset into a healthy run. Up to the onset the run is as recorded. From there on, the agent only
//! loops. What may differ in a real loop differs here too: call ids, the time, key order, white space, JSON in a string, the
//! order of parallel calls.

use std::collections::HashSet;

use serde_json::Value;
use strum::IntoStaticStr;

use sentinel_replay_core::chance::Chance;
use sentinel_replay_core::history::{
    MessageContent, RecordedCall, RecordedMessage, RecordedRun, StepSpan, steps,
};

mod shapes;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Loop {
    /// One step, with the same outcome each time.
    Repeat,
    /// Two to five steps round after round, with the same outcomes.
    Cycle,
    /// One tool with other arguments each time, and the same result.
    SameOutcome,
    /// The user's question in other words, and the same answer.
    Paraphrase,
    /// One step that fails the same way; ids, times and counters in the failure differ.
    VolatileFailure,
    /// A step over and over, with a reminder of the framework between.
    Reminder,
    /// An agent that acts in texts: one block and one answer of the user, over and over.
    Exchange,
    /// Actions with their observations in the assistant's own text, one of them over and over.
    Scratchpad,
    /// Healthy: a status that says "running" for long.
    Polling,
    /// Healthy: an action that is merely acknowledged, over and over.
    Actuator,
    /// Healthy: an inbox in which there is nothing.
    Empty,
    /// Healthy: samples of something that changes by chance.
    Sampling,
    /// Healthy: one step as often as the user has asked for it.
    AskedFor,
    /// Healthy: two agents that thank each other.
    Talk,
}

/// Where a loop begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Random,
    /// With or after this step of the run, counted from 1.
    Step(usize),
}

/// A loop in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injected {
    pub kind: Loop,
    /// Message with which the first round begins.
    pub onset: usize,
    /// Assistant turns in a round.
    pub period: usize,
}

/// Rounds of a loop, the first included: two more than the highest of the default thresholds.
const ROUNDS: usize = 7;
const SAME_OUTCOMES: usize = 8;
/// Results with more words than this tell something.
const TELLING_WORDS: usize = 12;

impl Loop {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

impl std::str::FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "random" => Ok(Self::Random),
            Ok(step) if step > 0 => Ok(Self::Step(step)),
            _ => Err("give `random`, or the number of a step (1, 2, ...)".to_owned()),
        }
    }
}

/// The run with a loop. Returns `None` when the run holds nothing that could be looped.
pub fn inject(run: &RecordedRun, kind: Loop, at: At, seed: u64) -> Option<(RecordedRun, Injected)> {
    let mut chance = Chance::new(seed, &run.id);
    let (messages, onset, period) = match kind {
        Loop::Repeat => repeat(&run.messages, at, &mut chance)?,
        Loop::Cycle => cycle(&run.messages, at, &mut chance)?,
        Loop::SameOutcome => same_outcome(&run.messages, at, &mut chance)?,
        Loop::Paraphrase => paraphrase(&run.messages, at, &mut chance)?,
        Loop::VolatileFailure => shapes::volatile_failure(&run.messages, at, &mut chance)?,
        Loop::Reminder => shapes::reminder(&run.messages, at, &mut chance)?,
        Loop::Exchange => shapes::exchange(&run.messages, at, &mut chance)?,
        Loop::Scratchpad => shapes::scratchpad(&run.messages, at, &mut chance)?,
        Loop::Polling => shapes::healthy(&run.messages, at, &mut chance, "get_export_status", "running")?,
        Loop::Actuator => shapes::healthy(&run.messages, at, &mut chance, "press_key", "OK.")?,
        Loop::Empty => shapes::healthy(&run.messages, at, &mut chance, "check_inbox", "[]")?,
        Loop::Sampling => shapes::sampling(&run.messages, at, &mut chance)?,
        Loop::AskedFor => shapes::asked_for(&run.messages, at, &mut chance)?,
        Loop::Talk => shapes::talk(&run.messages, at, &mut chance)?,
    };
    let messages = messages.into_iter().map(RecordedMessage::from).collect();
    Some((RecordedRun { messages, ..run.clone() }, Injected { kind, onset, period }))
}

/// A message of the run as it is, or one that is new.
enum InjectedMessage {
    Recorded(RecordedMessage),
    New(MessageContent),
}

impl From<InjectedMessage> for RecordedMessage {
    fn from(told: InjectedMessage) -> Self {
        match told {
            InjectedMessage::Recorded(message) => message,
            InjectedMessage::New(said) => RecordedMessage::new(said),
        }
    }
}

type Looped = (Vec<InjectedMessage>, usize, usize);

fn recorded(messages: &[RecordedMessage]) -> Vec<InjectedMessage> {
    messages.iter().cloned().map(InjectedMessage::Recorded).collect()
}

fn choose<T>(candidates: &[T], at: At, chance: &mut Chance) -> Option<usize> {
    match at {
        At::Random if candidates.is_empty() => None,
        At::Random => Some(chance.below(candidates.len())),
        At::Step(number) => (number <= candidates.len()).then(|| number - 1),
    }
}

/// The recorded step is the first round.
fn repeat(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    let steps: Vec<StepSpan> = steps(messages).into_iter().filter(|step| tells(messages, *step)).collect();
    // If the run itself repeats a step, its onset is not known.
    let once: Vec<StepSpan> = steps
        .iter()
        .filter(|step| {
            let approach = approach(messages, **step);
            steps.iter().filter(|other| self::approach(messages, **other) == approach).count() == 1
        })
        .copied()
        .collect();
    let step = *once.get(choose(&once, at, chance)?)?;
    let mut told = recorded(&messages[..step.end]);
    for _ in 1..ROUNDS {
        told.extend(again(messages, step, chance));
    }
    Some((told, step.start, 1))
}

/// Some recorded steps that the run takes for the first time, one after the other: what follows them is the loop.
fn cycle(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    let mut known = HashSet::new();
    let new: Vec<StepSpan> = steps(messages)
        .into_iter()
        .filter(|step| known.insert(approach(messages, *step)) && tells(messages, *step))
        .collect();
    // The last of them has no step behind it for a round.
    let starts = new.get(..new.len().checked_sub(1)?)?;
    let mut round = new.get(choose(starts, at, chance)?..)?.to_vec();
    round.truncate(2 + chance.below(round.len().min(5) - 1));
    let onset = round.first()?.start;
    let mut told = recorded(&messages[..onset]);
    for _ in 0..ROUNDS {
        for step in &round {
            told.extend(again(messages, *step, chance));
        }
    }
    Some((told, onset, round.len()))
}

/// Whether the outcome of a step is more than an acknowledgement, which may well be repeated.
fn tells(messages: &[RecordedMessage], step: StepSpan) -> bool {
    let words = |message: &RecordedMessage| match &message.said {
        MessageContent::Result { text, .. } => text.split_whitespace().count(),
        _ => 0,
    };
    messages
        .get(step.start..step.end)
        .is_some_and(|step| step.iter().map(words).sum::<usize>() > TELLING_WORDS)
}

/// Results of tools that find nothing, as they are in the wild.
const NOTHING: [&str; 6] = [
    "[]",
    "No results found.",
    "Error: 404 not found",
    "{\"results\": [], \"total\": 0}",
    "null",
    "The request failed: invalid parameter.",
];

fn same_outcome(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    let steps: Vec<StepSpan> =
        steps(messages).into_iter().filter(|step| step.end == step.start + 2).collect();
    let step = *steps.get(choose(&steps, at, chance)?)?;
    let MessageContent::Assistant { calls, .. } = &messages[step.start].said else { return None };
    let call = calls.first()?;
    // What the step brought, or one of the ways in which a tool says that it found nothing.
    let outcome = match &messages.get(step.start + 1)?.said {
        MessageContent::Result { text, .. } if chance.once_in(2) && tells(messages, step) => text.clone(),
        _ => (*chance.pick(&NOTHING)?).to_owned(),
    };
    let is_first = matches!(&messages.get(step.start + 1)?.said, MessageContent::Result { text, .. } if *text == outcome);
    let onset = if is_first { step.start } else { step.end };
    let mut told = recorded(&messages[..step.end]);
    for number in 0..SAME_OUTCOMES {
        let id = call_id(chance);
        let call = RecordedCall {
            id: id.clone(),
            name: call.name.clone(),
            arguments: other_arguments(&call.arguments, number),
        };
        told.push(InjectedMessage::New(MessageContent::Assistant {
            text: remark(chance),
            calls: vec![call.clone()],
        }));
        told.push(InjectedMessage::New(MessageContent::Result {
            call: id,
            name: call.name,
            text: outcome.clone(),
        }));
    }
    Some((told, onset, 1))
}

/// What people put around a question that they ask again.
pub const WORDINGS: [&str; 6] = [
    "Let me put it another way. {}",
    "Could you help me with this? {}",
    "{} Please look into it once more.",
    "What I would like you to do is the following: {}",
    "Sorry, I still need an answer here. {}",
    "{} Is there really nothing you can say to that?",
];

fn paraphrase(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    let asked: Vec<(usize, usize, &str, &str)> = messages
        .iter()
        .enumerate()
        .filter_map(|(at, message)| {
            let MessageContent::User(question) = &message.said else { return None };
            let reply =
                messages.iter().enumerate().skip(at + 1).find_map(|(end, message)| match &message.said {
                    MessageContent::Assistant { text, calls } if calls.is_empty() && !text.is_empty() => {
                        Some((end, text))
                    }
                    _ => None,
                });
            // A run that ends with a call has no answer in words.
            let (end, answer) =
                reply.map_or((messages.len() - 1, "I could not find that out."), |(end, text)| (end, text));
            (question.split_whitespace().count() > 3).then_some((at, end + 1, question.as_str(), answer))
        })
        .collect();
    let (onset, end, question, answer) = *asked.get(choose(&asked, at, chance)?)?;
    let mut wordings = WORDINGS;
    chance.shuffle(&mut wordings);
    let mut told = recorded(&messages[..end]);
    for wording in wordings {
        told.push(InjectedMessage::New(MessageContent::User(wording.replace("{}", question))));
        told.push(InjectedMessage::New(MessageContent::Assistant {
            text: answer.to_owned(),
            calls: Vec::new(),
        }));
    }
    Some((told, onset, 1))
}

/// What a step does, apart from ids, spelling and results.
fn approach(messages: &[RecordedMessage], step: StepSpan) -> Vec<(String, String)> {
    let MessageContent::Assistant { calls, .. } = &messages[step.start].said else { return Vec::new() };
    let mut approach: Vec<_> = calls
        .iter()
        .map(|call| {
            let arguments = serde_json::from_str::<Value>(&call.arguments);
            (call.name.clone(), arguments.map_or_else(|_| call.arguments.clone(), |value| value.to_string()))
        })
        .collect();
    approach.sort();
    approach
}

/// The step once more: other ids, another time, another spelling, another order.
fn again(messages: &[RecordedMessage], step: StepSpan, chance: &mut Chance) -> Vec<InjectedMessage> {
    let MessageContent::Assistant { calls, .. } = &messages[step.start].said else { return Vec::new() };
    let mut pairs: Vec<(RecordedCall, &str)> = calls
        .iter()
        .filter_map(|call| {
            let text = messages[step.start + 1..step.end].iter().find_map(|message| match &message.said {
                MessageContent::Result { call: id, text, .. } if *id == call.id => Some(text.as_str()),
                _ => None,
            })?;
            let arguments = respelt(&call.arguments, chance);
            Some((RecordedCall { id: call_id(chance), name: call.name.clone(), arguments }, text))
        })
        .collect();
    chance.shuffle(&mut pairs);
    let calls = pairs.iter().map(|(call, _)| call.clone()).collect();
    let mut told = vec![InjectedMessage::New(MessageContent::Assistant { text: remark(chance), calls })];
    chance.shuffle(&mut pairs);
    told.extend(pairs.into_iter().map(|(call, text)| {
        InjectedMessage::New(MessageContent::Result { call: call.id, name: call.name, text: text.to_owned() })
    }));
    told
}

fn call_id(chance: &mut Chance) -> String {
    format!("call_{:016x}", chance.draw())
}

/// What a model writes beside its call, with the time.
fn remark(chance: &mut Chance) -> String {
    if chance.once_in(3) {
        return String::new();
    }
    let (hour, minute, second) = (chance.below(24), chance.below(60), chance.below(60));
    format!("2025-03-{:02}T{hour:02}:{minute:02}:{second:02}Z: I will look at this.", 1 + chance.below(28))
}

/// The same arguments in another spelling.
fn respelt(arguments: &str, chance: &mut Chance) -> String {
    let Ok(value) = serde_json::from_str::<Value>(arguments) else { return arguments.to_owned() };
    if !value.is_object() {
        return arguments.to_owned();
    }
    let mut text = String::new();
    spell(&value, chance, &mut text);
    if chance.once_in(4) { Value::String(text).to_string() } else { text }
}

fn spell(value: &Value, chance: &mut Chance, out: &mut String) {
    const GAPS: [&str; 4] = ["", "", " ", "\n  "];
    let gap = |chance: &mut Chance| chance.pick(&GAPS).copied().unwrap_or_default();
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            chance.shuffle(&mut members);
            out.push('{');
            for (number, (key, value)) in members.into_iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                out.push_str(gap(chance));
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                out.push_str(gap(chance));
                spell(value, chance, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                out.push_str(gap(chance));
                spell(item, chance, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Arguments that no other round has.
fn other_arguments(arguments: &str, number: usize) -> String {
    let mut members = match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    match members.values_mut().find(|value| value.is_string()) {
        Some(Value::String(text)) => text.push_str(&format!(
            " {}",
            ["again", "more", "other", "new", "next"][number % 5].repeat(1 + number / 5)
        )),
        _ => _ = members.insert("page".to_owned(), (number + 2).into()),
    }
    Value::Object(members).to_string()
}

#[cfg(test)]
mod tests;
