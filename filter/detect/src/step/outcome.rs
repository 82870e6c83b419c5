//! What came of a whole turn: the results of its calls, as far as somebody asks.

use std::cell::OnceCell;

use sentinel_text::digest_pair;

use super::{
    Kind, Purpose, Weight,
    answered_call::AnsweredCall,
    call::{CallResult, StepCall, Tool, UnreadResult},
    judge::Facts,
    numbers::Numbers,
    purpose::waits_for_minutes,
    residue::Residue,
    volatile,
};

/// What came of a turn.
#[derive(Clone, Debug)]
pub(crate) struct StepOutcome<'a> {
    /// The calls of the turn, all with their results, and the tools of the log.
    turn: (&'a [StepCall<'a>], &'a [Tool]),
    /// Sum of the digests of the pictures that came with the results.
    media: u64,
    facts: OnceCell<Facts>,
    is_apart: OnceCell<bool>,
    beginning: OnceCell<Option<u64>>,
    alike: OnceCell<u64>,
    residue: OnceCell<Option<Residue>>,
    /// The text, if there are no results.
    said: Option<String>,
}

impl<'a> StepOutcome<'a> {
    pub fn by(calls: &'a [StepCall<'a>], tools: &'a [Tool], media: u64) -> Self {
        Self {
            turn: (calls, tools),
            media,
            facts: OnceCell::new(),
            is_apart: OnceCell::new(),
            beginning: OnceCell::new(),
            alike: OnceCell::new(),
            residue: OnceCell::new(),
            said: None,
        }
    }

    /// `alike`: the digest that is compared if what is volatile does not count. `said`: the text.
    pub fn known(facts: Facts, alike: u64, said: String) -> Self {
        Self {
            turn: (&[], &[]),
            media: 0,
            facts: OnceCell::from(facts),
            is_apart: OnceCell::from(false),
            beginning: OnceCell::from(None),
            alike: OnceCell::from(alike),
            residue: OnceCell::from(None),
            said: Some(said),
        }
    }

    pub fn facts(&self) -> Facts {
        *self.facts.get_or_init(|| {
            let mut sum = Facts {
                kind: Kind::Acknowledgement,
                weight: if self.media == 0 { Weight::Nothing } else { Weight::Full },
                outcome: self.media,
                numbers: Numbers::default(),
            };
            let is_one = self.results().nth(1).is_none();
            // A sum, since the order within a turn does not count.
            for done in self.results() {
                let facts = done.facts();
                sum.kind = sum.kind.and(facts.kind);
                sum.weight = sum.weight.max(facts.weight);
                let numbers = if is_one { 0 } else { facts.numbers.digest() };
                sum.outcome =
                    sum.outcome.wrapping_add(self.placed(&done, facts.outcome.wrapping_add(numbers)));
                sum.numbers = if is_one { facts.numbers } else { Numbers::default() };
            }
            // A picture counts as content, whatever stands beside it.
            if self.media != 0 && sum.kind < Kind::Content {
                sum.kind = Kind::Content;
            }
            sum
        })
    }

    pub fn kind(&self) -> Kind {
        self.facts().kind
    }

    /// Both came to the same, numbers aside.
    pub fn has_outcome_of(&self, other: &Self) -> bool {
        // Outcomes that begin differently are different, unless they are failures.
        if self.begins_otherwise(other) && self.one_is_apart(other) {
            return false;
        }
        // Outcomes that are no failures are compared as they stand. They need not be judged for that.
        if let (Some(mine), Some(its)) = (self.only_result(), other.only_result())
            && self.media == other.media
            && self.is_apart()
            && other.is_apart()
        {
            // Outcomes that are written the same need not be decoded.
            let is_written_alike = mine.content.is_some() && mine.content == its.content;
            return is_written_alike || mine.text().trim() == its.text().trim();
        }
        self.facts().outcome == other.facts().outcome
    }

    /// Both came to the same; the numbers of a failure may have risen as a counter does since the earlier one.
    pub fn is_like(&self, earlier: &Self) -> bool {
        self.has_outcome_of(earlier) && self.facts().numbers.are_like(&earlier.facts().numbers)
    }

    /// It came to what the earlier one came to; each number of a failure is the same, or one more.
    pub fn follows(&self, earlier: &Self) -> bool {
        self.has_outcome_of(earlier) && self.facts().numbers.follow(&earlier.facts().numbers)
    }

    /// Both came to the same but for what is volatile by its shape.
    pub fn is_alike(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || (self.beginning_alike() == other.beginning_alike() && self.alike() == other.alike())
    }

    /// Digest of the beginnings. Outcomes that are alike have the same one, and most others do not.
    fn beginning_alike(&self) -> u64 {
        match &self.said {
            Some(said) => volatile::beginning(said.trim()),
            None => self.results().fold(self.media, |sum, done| sum.wrapping_add(done.beginning_alike())),
        }
    }

    fn alike(&self) -> u64 {
        *self.alike.get_or_init(|| {
            self.results().fold(self.media, |sum, done| sum.wrapping_add(self.placed(&done, done.alike())))
        })
    }

    /// An outcome with the place of its call among the calls of the turn: if two lamps swap their states, the outcome is another.
    #[inline(never)]
    fn placed(&self, done: &AnsweredCall<'_, '_>, outcome: u64) -> u64 {
        let before = |other: &AnsweredCall<'_, '_>| other.call.approach < done.call.approach;
        match self.results().filter(before).count() {
            0 => outcome,
            place => digest_pair(place as u64, outcome),
        }
    }

    /// What is left of a short outcome without the words of its call. Returns `None` if the outcome says something of its own.
    pub fn residue(&self) -> Option<Residue> {
        *self.residue.get_or_init(|| {
            let start = Residue { digest: self.media, is_nothing: true };
            self.results().try_fold(start, |sum, done| {
                let Residue { digest, is_nothing } = done.residue()?;
                Some(Residue {
                    digest: sum.digest.wrapping_add(digest),
                    is_nothing: sum.is_nothing && is_nothing,
                })
            })
        })
    }

    pub fn weight_of_calls(&self) -> Weight {
        let calls = self.results().map(|done| done.call.meaning.weight());
        calls.max().unwrap_or_else(|| self.facts().weight)
    }

    /// Whether one of the calls has this purpose.
    pub fn is_for(&self, purpose: Purpose) -> bool {
        self.results().any(|done| done.call.meaning.purpose() == purpose)
    }

    /// What the calls were given, as far as it is kept.
    pub fn arguments(&self) -> String {
        self.results().map(|done| done.call.meaning.arguments()).collect::<Vec<_>>().join(" ")
    }

    /// Whether the arguments of a call say that it waits for minutes.
    pub fn waits_for_minutes(&self) -> bool {
        self.results().any(|done| waits_for_minutes(done.call.meaning.arguments()))
    }

    /// The texts of the results, as far as they are kept.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.results().filter_map(|done| done.text().map(str::to_owned)).chain(self.said.clone())
    }

    /// Its only result, as it came.
    fn only_result(&self) -> Option<&UnreadResult<'a>> {
        let mut results = self.results();
        let CallResult::Unread(result) = results.next()?.result else { return None };
        results.next().is_none().then_some(result)
    }

    fn begins_otherwise(&self, other: &Self) -> bool {
        self.beginning().zip(other.beginning()).is_some_and(|(mine, its)| mine != its)
    }

    fn beginning(&self) -> Option<u64> {
        *self.beginning.get_or_init(|| {
            self.results().try_fold(0_u64, |sum, done| Some(sum.wrapping_add(done.beginning()?)))
        })
    }

    fn is_apart(&self) -> bool {
        *self.is_apart.get_or_init(|| self.results().all(|done| done.is_apart()))
    }

    /// Whether one of the two outcomes is apart (`is_apart`). If that is already known of one, neither needs to be read.
    fn one_is_apart(&self, other: &Self) -> bool {
        let is_known = |one: &Self| one.is_apart.get() == Some(&true);
        is_known(self) || is_known(other) || self.is_apart() || other.is_apart()
    }

    fn results(&self) -> impl Iterator<Item = AnsweredCall<'a, 'a>> {
        let (calls, tools) = self.turn;
        calls.iter().filter_map(|call| {
            let tool = tools.get(call.tool).filter(|tool| !tool.rule.ignore)?;
            Some(AnsweredCall { call, result: call.result.as_ref()?, tool })
        })
    }
}
