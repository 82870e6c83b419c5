//! Runs in which one thing is asked again in other words, among other work. And batches, which ask for something else each time
//! in similar words. They are made from sets of wordings and from the prompts of recorded healthy runs. The same seed gives the
//! same runs.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::inject::WORDINGS;
use sentinel_replay_core::chance::Chance;
use sentinel_replay_core::history::{MessageContent, RecordedMessage, RecordedRun};

#[cfg(test)]
mod tests;

/// The set that comes with the program.
const OWN: &str = include_str!("own.json");
/// Its name on the command line.
pub const OWN_NAME: &str = "own";

/// Wordings in a loop, and prompts in a batch.
const TIMES: usize = 6;
/// Runs that are made of pairs, of prompts and of long prompts, of each label.
const RUNS: usize = 150;
/// Words of a long prompt: more than the model reads.
const LONG: usize = 137;
/// Prompts of fewer words ask for nothing in particular.
const SHORT: usize = 5;

/// An entry of a file of wordings.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum WordingEntry {
    /// One thing in other words.
    Same { same: Vec<String> },
    /// Something else each time.
    Batch { batch: Vec<String> },
    /// One thing in two wordings.
    Pair { origin: String, similar: String },
}

/// Answers of an assistant that does not know.
const NO_ANSWERS: [&str; TIMES] = [
    "I could not find that out.",
    "Unfortunately there is nothing on it in the documents that I can see.",
    "I do not know. May I help you with something else?",
    "My search has brought nothing about this.",
    "That is not known to me, as far as I can tell.",
    "I have looked everywhere, and there is no answer to this.",
];

/// The runs of a file (`own`: of the set that comes with the program). `recorded`: runs whose prompts are the other work.
pub fn runs(file: &Path, recorded: &[RecordedRun], seed: u64) -> Result<Vec<RecordedRun>, String> {
    let text = match file.to_str() {
        Some(OWN_NAME) => OWN.to_owned(),
        _ => fs::read_to_string(file).map_err(|error| format!("{}: {error}.", file.display()))?,
    };
    let entries: Vec<WordingEntry> = serde_json::from_str(&text).map_err(|error| {
        format!("{}: {error}. It needs a list of `same`, `batch`, or `origin` and `similar`.", file.display())
    })?;
    let work = prompts(recorded);
    if work.len() < 2 * TIMES {
        return Err(format!(
            "the healthy runs have {} different prompts: too few to be other work.",
            work.len()
        ));
    }
    let maker = Maker { work, seed };
    let mut runs = Vec::new();
    let (mut pairs, mut number) = (Vec::new(), 0);
    for entry in entries {
        number += 1;
        match entry {
            WordingEntry::Same { same } => runs.push(maker.run("wordings", number, Ask::InWords(same))),
            WordingEntry::Batch { batch } => runs.push(maker.run("wordings", number, Ask::Batch(batch))),
            WordingEntry::Pair { origin, similar } => pairs.push([origin, similar]),
        }
    }
    runs.extend(maker.of_pairs(&pairs));
    runs.extend(maker.of_prompts());
    runs.extend(maker.of_long_prompts());
    Ok(runs)
}

/// The different prompts of healthy runs, in order.
fn prompts(recorded: &[RecordedRun]) -> Vec<String> {
    let mut known = std::collections::HashSet::new();
    let healthy = recorded.iter().filter(|run| run.label == "healthy");
    let said = healthy.flat_map(|run| &run.messages).filter_map(|message| match &message.said {
        MessageContent::User(text) => Some(text.trim()),
        _ => None,
    });
    said.filter(|text| (SHORT..=100).contains(&text.split_whitespace().count()))
        .filter(|text| known.insert(*text))
        .map(str::to_owned)
        .collect()
}

/// What the user of a run asks for.
enum Ask {
    /// One thing in other words; the assistant says each time in other words that it does not know.
    InWords(Vec<String>),
    /// One thing in nearly the same words; the assistant says the same each time.
    Nearly(Vec<String>),
    /// Something else each time, and it is found.
    Batch(Vec<String>),
}

struct Maker {
    work: Vec<String>,
    seed: u64,
}

impl Maker {
    fn chance(&self, of: &str) -> Chance {
        Chance::new(self.seed, of)
    }

    /// Two other prompts, and then the prompts of `ask`, with another prompt or none behind each.
    fn run(&self, source: &str, number: usize, ask: Ask) -> RecordedRun {
        let (label, kind) = match &ask {
            Ask::Batch(_) => ("healthy", "batch"),
            _ => ("stuck", "loop"),
        };
        let id = format!("{source}-{kind}-{number}");
        let mut chance = self.chance(&id);
        let mut answers = NO_ANSWERS;
        chance.shuffle(&mut answers);
        let answer = |at: usize, text: &str| match &ask {
            Ask::InWords(_) => answers[at % TIMES].to_owned(),
            Ask::Nearly(_) => answers[0].to_owned(),
            Ask::Batch(_) => found(text),
        };
        let (Ask::InWords(texts) | Ask::Nearly(texts) | Ask::Batch(texts)) = &ask;
        let mut texts = texts.clone();
        chance.shuffle(&mut texts);
        let mut said = Vec::new();
        let mut talk = |asked: &str, answered: String| {
            said.push(MessageContent::User(asked.to_owned()));
            said.push(MessageContent::Assistant { text: answered, calls: Vec::new() });
        };
        let other = |chance: &mut Chance| chance.pick(&self.work).map(|work| (work.as_str(), found(work)));
        let mut between = vec![other(&mut chance), other(&mut chance)];
        for (at, text) in texts.iter().take(TIMES).enumerate() {
            between.drain(..).flatten().for_each(|(asked, answered)| talk(asked, answered));
            talk(text, answer(at, text));
            between.extend(chance.once_in(2).then(|| other(&mut chance)));
        }
        let messages = said.into_iter().map(RecordedMessage::new).collect();
        RecordedRun { id, source: format!("rewordings: {source}"), label: label.to_owned(), messages }
    }

    /// Loops: both wordings, alone and with what people say around them. Batches: neighbours, which are about the same subject.
    fn of_pairs(&self, pairs: &[[String; 2]]) -> Vec<RecordedRun> {
        let pairs: Vec<&[String; 2]> =
            pairs.iter().filter(|[origin, _]| origin.split_whitespace().count() >= SHORT).collect();
        let mut chance = self.chance("pairs");
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        chance.shuffle(&mut order);
        let loops = order.iter().take(RUNS).enumerate().map(|(number, at)| {
            let mut around = WORDINGS;
            chance.shuffle(&mut around);
            let mut texts = pairs[*at].to_vec();
            let framed = around.iter().zip(pairs[*at].iter().cycle()).take(TIMES - texts.len());
            texts.extend(framed.map(|(around, text)| around.replace("{}", text)));
            self.run("pairs", number, Ask::InWords(texts))
        });
        let mut runs: Vec<RecordedRun> = loops.collect();
        let batches = pairs.chunks_exact(TIMES).take(RUNS).enumerate();
        runs.extend(batches.map(|(number, near)| {
            self.run("pairs", number, Ask::Batch(near.iter().map(|[origin, _]| origin.clone()).collect()))
        }));
        runs
    }

    /// Loops: a prompt with what people say around it. Batches: other prompts.
    fn of_prompts(&self) -> Vec<RecordedRun> {
        let mut order: Vec<&String> = self.work.iter().collect();
        let mut chance = self.chance("prompts");
        chance.shuffle(&mut order);
        let framed = |text: &str| WORDINGS.iter().map(|around| around.replace("{}", text)).collect();
        let loops = order.iter().take(RUNS).enumerate();
        let mut runs: Vec<RecordedRun> =
            loops.map(|(number, text)| self.run("prompts", number, Ask::InWords(framed(text)))).collect();
        let batches = self.work.chunks_exact(TIMES).take(RUNS).enumerate();
        runs.extend(batches.map(|(number, near)| self.run("prompts", number, Ask::Batch(near.to_vec()))));
        runs
    }

    /// Loops: a long prompt in which one word is another each time. Batches: long prompts with another middle each time.
    fn of_long_prompts(&self) -> Vec<RecordedRun> {
        let mut runs = Vec::new();
        for number in 0..RUNS / 3 {
            let mut chance = self.chance(&format!("long-{number}"));
            let words = |chance: &mut Chance| {
                let mut words: Vec<String> = Vec::new();
                while words.len() < LONG {
                    words.extend(
                        chance
                            .pick(&self.work)
                            .into_iter()
                            .flat_map(|text| text.split_whitespace())
                            .map(str::to_owned),
                    );
                }
                words.truncate(LONG);
                words
            };
            let template = words(&mut chance);
            let changed = |chance: &mut Chance| {
                let mut words = template.clone();
                let at = chance.below(LONG);
                words[at] = ["slowly", "perhaps", "together", "elsewhere", "tomorrow", "indeed"]
                    [chance.below(TIMES)]
                .to_owned();
                words.join(" ")
            };
            let texts = (0..TIMES).map(|_| changed(&mut chance)).collect();
            runs.push(self.run("long prompts", number, Ask::Nearly(texts)));
            let with_middle = |chance: &mut Chance| {
                let mut all = template.clone();
                let middle = words(chance).into_iter().take(LONG / 3);
                all.splice(LONG / 3..2 * LONG / 3, middle);
                all.join(" ")
            };
            let texts = (0..TIMES).map(|_| with_middle(&mut chance)).collect();
            runs.push(self.run("long prompts", number, Ask::Batch(texts)));
        }
        runs
    }
}

/// An answer that tells something of its own: it comes back to what was asked, or to the middle of it.
fn found(asked: &str) -> String {
    /// Words of it that are said again.
    const MOST: usize = 14;
    let words: Vec<&str> = asked.split_whitespace().collect();
    let start = if words.len() > MOST { words.len() / 3 } else { 0 };
    let about: Vec<&str> = words.iter().skip(start).take(MOST).copied().collect();
    format!("I have found it: {}.", about.join(" "))
}
