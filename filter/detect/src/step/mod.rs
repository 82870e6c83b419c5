//! Steps: what the agent did and what came of it. No signal is judged here, and nothing of a dialect is known.

use sentinel_text::{digest, digest_pair};

use self::known::is_one_of;
use crate::{WordSet, words::english};

pub(crate) use self::{
    asked::{Asked, is_given_back, number_of_named},
    explicit::is_failed_answer,
    judge::{Facts, JudgedResult, is_weak_answer, without_volatile},
    log::StrayResult,
    numbers::{Numbers, Sequence},
    outcome::StepOutcome,
    purpose::{Purpose, reads},
    residue::Residue,
    tool_rules::ToolRule,
    trend::nears_an_end,
    unwrapped::{alike as alike_digest, frame as frame_digest, said as unwrapped_text},
    weight::Weight,
};
pub use self::{
    kind::Kind,
    log::StepLog,
    memo::Memo,
    tool_rules::{ToolName, ToolRule as Rule, ToolRules},
};

mod acknowledging;
mod answered_call;
mod asked;
mod beginning;
mod call;
mod explicit;
mod first_words;
mod judge;
mod kind;
mod known;
mod log;
mod member;
mod memo;
mod numbers;
mod outcome;
mod phrases;
mod plain;
mod purpose;
mod residue;
mod shapes;
mod states;
mod structure;
mod tool_rules;
mod trend;
mod unwrapped;
mod volatile;
mod waiting;
mod weight;

/// Steps that are remembered: five rounds of the longest cycle, and room for what lies between.
pub const LENGTH: usize = 48;
/// Results are examined up to this size (bytes). Of a longer one, only its digest and its ends count.
const MAX_RESULT: usize = 4_096;
/// A tool's name is not longer than this (bytes).
const MAX_NAME: usize = 64;

/// One assistant turn and what came of it. A parallel fan-out is one step.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Digest of the multiset of (tool name, canonical arguments).
    pub approach: u64,
    /// The words in all arguments.
    pub words: WordSet,
    /// Digest of the multiset of tool names.
    pub tools: u64,
    /// Name of the first tool, for people to read; empty where no tool was called.
    pub tool: &'a str,
    /// What the operator says of its tools.
    pub(crate) rules: Vec<ToolRule>,
    /// Whether it does something. An exchange of prose does not: it is a talk.
    pub(crate) acts: bool,
    pub(crate) brought: StepOutcome<'a>,
}

impl Step<'_> {
    pub fn kind(&self) -> Kind {
        self.brought.kind()
    }

    /// How much it says.
    pub(crate) fn weight(&self) -> Weight {
        self.brought.facts().weight
    }

    /// How much its calls say, whatever came of them.
    pub(crate) fn weight_of_calls(&self) -> Weight {
        self.brought.weight_of_calls()
    }

    pub(crate) fn numbers(&self) -> Numbers {
        self.brought.facts().numbers
    }

    /// Digest of the multiset of results, the numbers of failures aside.
    pub fn outcome(&self) -> u64 {
        self.brought.facts().outcome
    }

    /// Both brought the same, the numbers of failures aside.
    pub(crate) fn has_outcome_of(&self, other: &Self) -> bool {
        self.brought.has_outcome_of(&other.brought)
    }

    /// Both brought the same. The numbers of a failure may have risen since the earlier one, as those of a counter do.
    pub fn brings_like(&self, earlier: &Self) -> bool {
        self.brought.is_like(&earlier.brought)
    }

    /// The same approach with the same outcome as an earlier step.
    pub fn is_like(&self, earlier: &Self) -> bool {
        self.approach == earlier.approach && self.brings_like(earlier)
    }

    /// Whether the earlier step came again: each number of a failure is the same, or one more.
    pub(crate) fn repeats(&self, earlier: &Self) -> bool {
        self.approach == earlier.approach && self.brought.follows(&earlier.brought)
    }

    /// The same approach with an outcome that differs in what is volatile by its shape only.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.approach == other.approach && self.brought.is_alike(&other.brought)
    }

    /// Both brought the same, apart from what is volatile and from numbers.
    pub(crate) fn has_frame_of(&self, other: &Self) -> bool {
        let frame = |step: &Self| step.text().map(|text| frame_digest(&text));
        self.has_outcome_of(other) || frame(self).is_some_and(|mine| frame(other) == Some(mine))
    }

    /// The first and the last line of what it brought, without numbers: `[File: a.py ( lines total)]` and `bash-$`. If a person
    /// has added something, the last line differs. Returns `None` when the text was not stored.
    pub(crate) fn ends(&self) -> Option<[String; 2]> {
        let text = self.brought.texts().next()?;
        let mut lines = text.trim().lines();
        let first = lines.next().unwrap_or_default();
        let without_numbers = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "");
        Some([first, lines.next_back().unwrap_or(first)].map(without_numbers))
    }

    /// Both brought the same, but for one word of a sentence that may be an id: "no handler for it (trace 6d8b6e)".
    pub(crate) fn brings_nearly(&self, earlier: &Self) -> bool {
        /// Words of a sentence, at least.
        const SENTENCE: usize = 6;
        if self.brings_like(earlier) {
            return true;
        }
        let (Some(mine), Some(other)) = (self.text(), earlier.text()) else { return false };
        let (mut words, mut others) = (mine.split_whitespace(), other.split_whitespace());
        let (mut equal, mut different) = (0_usize, 0_usize);
        loop {
            match (words.next(), others.next()) {
                (None, None) => return different == 1 && equal >= SENTENCE,
                (Some(word), Some(other)) if word == other => equal = equal.saturating_add(1),
                (Some(word), Some(other)) if different == 0 && is_id(word) && is_id(other) => different = 1,
                _ => return false,
            }
        }
    }

    /// It waits, or asks how something stands. A call whose job still runs does neither: it has started something.
    pub(crate) fn lets_time_pass(&self) -> bool {
        self.kind() == Kind::Waiting
            && (self.brought.is_for(Purpose::Wait) || self.brought.is_for(Purpose::AskState))
    }

    /// Each call of it moves something on.
    pub(crate) fn moves_on(&self) -> bool {
        self.brought.is_for(Purpose::MoveOn)
    }

    /// It has moved something on, and that is all that its outcome says.
    pub(crate) fn has_moved_on(&self) -> bool {
        self.moves_on() && self.kind() == Kind::Acknowledgement
    }

    /// A person was asked, and said "yes" or "done".
    #[inline(never)]
    pub(crate) fn is_go_ahead(&self) -> bool {
        let has = |known: &[&str]| purpose::name_words(self.tool).any(|word| is_one_of(word, known));
        has(english::PERSONS) && has(english::ASKS) && self.kind() == Kind::Acknowledgement
    }

    /// See `asked::is_given_back`.
    pub(crate) fn gives_back(&self, number: u32) -> bool {
        is_given_back(number, &self.brought.arguments())
    }

    /// See `purpose::waits_for_minutes`.
    pub(crate) fn waits_for_minutes(&self) -> bool {
        self.brought.waits_for_minutes()
    }

    /// What kind of failure its results tell, if a line of them says so. Returns `None` when their texts were not stored.
    pub(crate) fn failure_head(&self) -> Option<String> {
        self.text().map(|text| explicit::head(&unwrapped_text(&text).0).to_owned())
    }

    /// What its results say. Returns `None` when their texts were not stored.
    pub(crate) fn text(&self) -> Option<String> {
        let texts: Vec<String> = self.brought.texts().collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// An old observation that the agent has taken out of its history: "Old output omitted (12 lines)".
    pub(crate) fn is_cut_out(&self) -> bool {
        self.brought.texts().any(|text| is_cut_out(&text))
    }

    /// Its outcome is a few words.
    pub(crate) fn brings_few_words(&self) -> bool {
        self.text()
            .is_some_and(|text| Weight::of_outcome(&text) < Weight::Full && !acknowledging::is_receipt(&text))
    }

    /// Its outcome is a few words that say that something was done.
    pub(crate) fn is_receipt(&self) -> bool {
        self.brought.texts().any(|text| acknowledging::is_receipt(&text))
    }

    /// The arguments of both are the same but for one word: `{"path": "a/VERSION"}`, `{"path": "b/VERSION"}`.
    pub(crate) fn differs_in_a_word_from(&self, other: &Self) -> bool {
        let (one, two) = (self.brought.arguments(), other.brought.arguments());
        let (mut one, mut two) = (sentinel_text::words(&one), sentinel_text::words(&two));
        let mut differ = 0_u32;
        loop {
            match (one.next(), two.next()) {
                (None, None) => return differ == 1,
                (one, two) if one != two => differ = differ.saturating_add(1),
                _ => {}
            }
            if differ > 1 {
                return false;
            }
        }
    }

    /// The arguments of both differ in numbers alone: two of a batch.
    pub(crate) fn is_numbered_as(&self, other: &Self) -> bool {
        let (mine, its) = (self.brought.arguments(), other.brought.arguments());
        self.approach != other.approach && without_numbers(&mine) == without_numbers(&its)
    }

    /// What is left of a short outcome without the words of its call.
    pub(crate) fn residue(&self) -> Option<Residue> {
        self.brought.residue()
    }
}

/// The steps of a history, oldest first, and where a new count begins.
#[derive(Clone, Debug, Default)]
pub struct Steps<'a> {
    pub all: Vec<Step<'a>>,
    /// Where new counts begin; ascending, the number of steps at most.
    pub begins: Vec<Begin>,
    /// The user's text that may ask for a number of repetitions.
    pub task: Task<'a>,
}

/// Where a new count begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// The place in `all` before which a user spoke.
    pub at: usize,
    /// The assistant had answered before: what came before is over, and is not taken up again.
    pub is_answered: bool,
}

/// What the user wants, as far as it says how often something is to be done.
#[derive(Clone, Debug)]
pub enum Task<'a> {
    Asked(Asked),
    /// The first and the last text since the last answer, as they stand in the body.
    Texts([&'a str; 2]),
}

impl Default for Task<'_> {
    fn default() -> Self {
        Self::Asked(Asked::NotSaid)
    }
}

impl Task<'_> {
    /// How often something is to be done.
    pub(crate) fn asked(&self) -> Asked {
        match self {
            Self::Asked(asked) => *asked,
            Self::Texts(texts) => most(texts, &Asked::by),
        }
    }

    /// How many of the things that the step names are wanted; 0 if the texts do not say. Also 0 for code and paths, which name many things.
    pub(crate) fn named_by(&self, step: &Step<'_>) -> u32 {
        if step.weight_of_calls() > Weight::Words {
            return 0;
        }
        let call = format!("{} {}", step.tool, step.brought.arguments());
        // For a tool that reads, "the twenty pages" are twenty different calls.
        let says_little = step.weight_of_calls() < Weight::Words && !reads(step.tool);
        match self {
            Self::Asked(_) => 0,
            Self::Texts(texts) => most(texts, &|text| number_of_named(text, &call, says_little)),
        }
    }
}

/// The most that one of the texts asks for. Escaped line ends become spaces, because otherwise they would belong to the next word.
fn most<T: Ord + Default>(texts: &[&str], asked: &dyn Fn(&str) -> T) -> T {
    texts.iter().map(|text| asked(&text.replace("\\n", " "))).max().unwrap_or_default()
}

impl<'a> Steps<'a> {
    /// Whether the last step came before.
    #[must_use]
    pub fn ends_repeated(&self) -> bool {
        self.all.split_last().is_some_and(|(last, before)| {
            before.iter().any(|step| step.approach == last.approach && step.outcome() == last.outcome())
        })
    }

    /// The steps from one new user text to the next, oldest first; the last are those that count now. With each, whether
    /// the assistant had answered before it.
    pub fn counts(&self) -> impl Iterator<Item = (&[Step<'a>], bool)> {
        let ends = self.begins.iter().copied().map(Some).chain([None]);
        let (mut start, mut is_answered) = (0, false);
        ends.map(move |end| {
            let to = end.map_or(self.all.len(), |begin| begin.at);
            let from = std::mem::replace(&mut start, to);
            let answered = std::mem::replace(&mut is_answered, end.is_some_and(|begin| begin.is_answered));
            (self.all.get(from..to).unwrap_or_default(), answered)
        })
    }

    /// The steps since a user said something new.
    pub fn current(&self) -> &[Step<'a>] {
        self.all.get(self.begins.last().map_or(0, |begin| begin.at)..).unwrap_or_default()
    }
}

/// A call that has its result, as a trace shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedCall {
    pub tool: String,
    /// Digest of tool and canonical arguments.
    pub approach: u64,
    /// Digest of the result.
    pub outcome: u64,
    pub kind: Kind,
    /// Length of the result as it stands in the body, without the quotes of a string.
    pub bytes: usize,
}

/// What a call that has its result was made with, and what came of it. Empty if it was not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTexts<'a> {
    /// As the model wrote them: JSON, JSON in a JSON string, or anything.
    pub arguments: &'a str,
    pub result: &'a str,
}

impl FinishedCall {
    /// Whether a repetition of it is evidence: not where it merely acknowledges, is empty or waits.
    pub fn is_evidence(&self) -> bool {
        matches!(self.kind, Kind::Content | Kind::Failure)
    }
}

/// Where a part of a text begins.
fn place(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Digest of the words without a digit, and of where the others stand.
fn without_numbers(text: &str) -> u64 {
    let mut sum = 0;
    for word in sentinel_text::words(text) {
        let is_number = word.bytes().any(|byte| byte.is_ascii_digit());
        sum = digest_pair(sum, if is_number { 0 } else { digest(word.as_bytes()) });
    }
    sum
}

/// A word of letters and digits, such as `6d8b6e`. A number alone may be progress.
fn is_id(word: &str) -> bool {
    const SHORTEST: usize = 5;
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    bare.len() >= SHORTEST
        && bare.bytes().any(|byte| byte.is_ascii_digit())
        && bare.bytes().any(|byte| byte.is_ascii_alphabetic())
        && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn is_cut_out(text: &str) -> bool {
    /// Such a remark has at most this many words.
    const MOST: usize = 12;
    let all = || sentinel_text::words(text).take(MOST.saturating_add(1));
    all().count() <= MOST
        && all().any(|word| is_one_of(word, english::CUT_OUT))
        && all().any(|word| is_one_of(word, english::CUT_OUT_THING))
}

/// A tool's name as it may stand in a header and a log. Agents that act in text may call anything a tool: what does not
/// look like a name stands there as its digest.
pub fn shown(name: &str) -> String {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "_.-/:@".contains(c);
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_sign) {
        name.to_owned()
    } else {
        format!("tool-{:016x}", digest(name.as_bytes()))
    }
}
