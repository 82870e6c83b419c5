//! What came of a call and of a whole turn. It is judged when somebody asks, and once: most steps of a healthy run differ
//! in what they did, or in the first letters of what came of it, and nobody needs to know more of them.

use std::cell::OnceCell;

use sentinel_llm_api::json::{self, Raw};
use sentinel_text::digest_pair;

use super::{
    Kind, Purpose, Weight,
    call::{CallResult, Meaning, StepCall, Tool, UnreadResult, Written, judged},
    explicit,
    judge::{Facts, MAX_FAILURE},
    memo::{Key, Remembered},
    numbers::Numbers,
    purpose::waits_for_minutes,
    residue::{self, Residue},
    volatile,
};

/// Characters of a result that are looked at before it is judged: results that differ do so early.
const BEGINNING: usize = 32;
/// Stands for the kind of a tool's results where the operator has said none; no kind has this number.
const NOT_TOLD: u8 = 0x3F;

/// A call with its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done<'s, 'a> {
    pub call: &'s StepCall<'a>,
    pub result: &'s CallResult<'a>,
    pub tool: &'s Tool,
}

impl Done<'_, '_> {
    pub fn facts(&self) -> Facts {
        match self.result {
            CallResult::Judged(facts) => *facts,
            CallResult::Unread(result) => self.find(
                result,
                |found| &mut found.facts,
                || {
                    let (said, is_error) = result.said();
                    judged(said, is_error, &self.call.meaning, &self.tool.shown).facts(self.tool.rule.kind)
                },
            ),
        }
    }

    /// What is known of the result from an earlier request or from this one, or else what `find` finds.
    fn find<T: Copy>(
        &self,
        result: &UnreadResult<'_>,
        place: fn(&mut Remembered) -> &mut Option<T>,
        find: impl FnOnce() -> T,
    ) -> T {
        let key = *result.key.get_or_init(|| {
            let key = self.key(result)?;
            result.found.set(result.memo?.found(key));
            Some(key)
        });
        let known = *place(&mut result.found.get());
        known.unwrap_or_else(|| {
            let value = find();
            let mut found = result.found.get();
            *place(&mut found) = Some(value);
            result.found.set(found);
            if let Some((memo, key)) = result.memo.zip(key) {
                memo.keep(key, found);
            }
            value
        })
    }

    /// All that a finding depends on. Nothing where there is no memory, or the call's words are not known.
    fn key(&self, result: &UnreadResult<'_>) -> Option<Key> {
        let memo = result.memo?;
        let Meaning::Written(Written { name, arguments, .. }) = &self.call.meaning else { return None };
        let said = result.content.map_or_else(|| result.text(), Raw::get);
        let told = self.tool.rule.kind.map_or(NOT_TOLD, |kind| kind as u8);
        // A text has been taken out of its wrapper, which may have said that it is an error.
        let is_error = if result.content.is_some() { result.is_error } else { result.said().1 };
        let sort = (told << 2) | (u8::from(result.content.is_some()) << 1) | u8::from(is_error);
        Some(memo.key([name, arguments, said], sort))
    }

    /// Whether only an identical text can have the same outcome, because this one is compared unchanged.
    fn is_apart(&self) -> bool {
        let CallResult::Unread(result) = self.result else { return false };
        let is_apart = || {
            let (said, is_error) = result.said();
            let text = said.trim();
            let is_failure = || match self.tool.rule.kind {
                Some(kind) => kind == Kind::Failure,
                None => is_error || explicit::may_be_failure(text) && explicit::is_failure(said),
            };
            (text.len() > MAX_FAILURE || !is_failure()) && !volatile::may_be_settled(text)
        };
        self.find(result, |found| &mut found.is_apart, is_apart)
    }

    /// Digest of the beginning of the text that `alike` is of.
    fn beginning_alike(&self) -> u64 {
        match self.result {
            CallResult::Judged(facts) => facts.outcome,
            CallResult::Unread(result) => self.find(
                result,
                |found| &mut found.beginning_alike,
                || volatile::beginning(result.text().trim()),
            ),
        }
    }

    /// Digest of the text without what is volatile by its shape, its numbers kept.
    fn alike(&self) -> u64 {
        match self.result {
            CallResult::Judged(facts) => facts.outcome,
            CallResult::Unread(result) => self.find(
                result,
                |found| &mut found.alike,
                || {
                    let text = result.text().trim();
                    if text.len() > MAX_FAILURE {
                        self.facts().outcome
                    } else {
                        volatile::settled(text).exact
                    }
                },
            ),
        }
    }

    fn residue(&self) -> Option<Residue> {
        match self.result {
            CallResult::Judged(facts) => {
                let is_nothing = matches!(facts.kind, Kind::Failure | Kind::Empty);
                Some(Residue { digest: facts.outcome, is_nothing })
            }
            CallResult::Unread(result) => self.find(
                result,
                |found| &mut found.residue,
                || residue::of(result.text(), self.call.meaning.arguments(), self.facts().kind),
            ),
        }
    }

    pub fn text(&self) -> Option<&str> {
        self.result.text()
    }

    /// Digest of the beginning of what it says; nothing where it is not known.
    fn beginning(&self) -> Option<u64> {
        let CallResult::Unread(result) = self.result else { return None };
        self.find(
            result,
            |found| &mut found.beginning,
            || match (result.is_read(), result.content) {
                (false, Some(content))
                    if content.get().starts_with('"') && !may_be_wrapped(content.get()) =>
                {
                    beginning(json::chars(content)?)
                }
                _ => beginning(result.text().chars().map(Some)),
            },
        )
    }
}

/// Whether a string, as written in a body, may hold a text in one more wrapper, so that its first letters are not those of the text.
/// Returns false for strings longer than `MOST`: they are compared by their first letters anyway.
fn may_be_wrapped(string: &str) -> bool {
    /// Longer results come in one form each time (bytes).
    const MOST: usize = 1_024;
    /// A label or the first field ends here at the latest (bytes).
    const LABEL: usize = 40;
    let text = string.strip_prefix('"').unwrap_or(string).trim_start();
    let has_label = || text.bytes().take(LABEL).any(|byte| matches!(byte, b':' | b'='));
    string.len() <= MOST && (text.starts_with(['{', '[', '\\']) || has_label())
}

/// A digest of the beginning of a text behind what it may be wrapped in. Nothing where it cannot be read.
fn beginning(chars: impl Iterator<Item = Option<char>>) -> Option<u64> {
    /// Characters that are read, with those of a wrapper.
    const WRAPPED: usize = 96;
    Some(digest_of_beginning(&chars.take(WRAPPED).collect::<Option<String>>()?))
}

/// Of the first characters that are neither white space nor an escape.
#[inline(never)]
fn digest_of_beginning(text: &str) -> u64 {
    let (mut hash, mut is_escaped, mut count) = (0xCBF2_9CE4_8422_2325_u64, false, 0_usize);
    for c in peeled(text.trim_start()).chars() {
        let is_told = !c.is_whitespace() && c != '\\' && !(is_escaped && matches!(c, 'n' | 't' | 'r'));
        is_escaped = c == '\\';
        if count >= BEGINNING {
            break;
        }
        if is_told {
            // FNV-1a.
            hash = (hash ^ u64::from(u32::from(c))).wrapping_mul(0x100_0000_01B3);
            count = count.saturating_add(1);
        }
    }
    hash
}

/// The beginning of a text without what it may be wrapped in: brackets, quotes, and names of members. Of a block's type its value too.
fn peeled(text: &str) -> &str {
    let is_mark = |c: char| matches!(c, '{' | '[' | '"' | '\\') || c.is_whitespace();
    if !text.starts_with(['{', '[', '"']) {
        return text;
    }
    let mut rest = text.trim_start_matches(is_mark);
    loop {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let value = after.trim_start_matches('\\').strip_prefix('"').map(str::trim_start);
        let Some(value) = value.and_then(|value| value.strip_prefix(':')) else { return rest };
        let value =
            if name == "type" { value.split_once(',').map_or(value, |(_, next)| next) } else { value };
        rest = value.trim_start_matches(is_mark);
    }
}

/// What came of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Brought<'a> {
    /// The calls of the turn, all with their results, and the tools of the log.
    turn: (&'a [StepCall<'a>], &'a [Tool]),
    /// Sum of the digests of the pictures that came with the results.
    media: u64,
    facts: OnceCell<Facts>,
    is_apart: OnceCell<bool>,
    beginning: OnceCell<Option<u64>>,
    alike: OnceCell<u64>,
    residue: OnceCell<Option<Residue>>,
    /// What it says, where there are no results.
    said: Option<String>,
}

impl<'a> Brought<'a> {
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

    /// `alike`: by what it is compared where what is volatile does not count. `said`: the text.
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
            // An identical picture says something, whatever stands beside it.
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
        // What begins otherwise is another result, unless it is a failure.
        if self.begins_otherwise(other) && self.one_is_apart(other) {
            return false;
        }
        // What is no failure is compared as it stands: nothing else need be known of it.
        if let (Some(mine), Some(its)) = (self.only_result(), other.only_result())
            && self.media == other.media
            && self.is_apart()
            && other.is_apart()
        {
            // What is written alike need not be decoded.
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

    /// Those that are alike begin alike, and most others do not.
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

    /// An outcome with the place of its call among all calls of the turn: two lamps that change places have changed.
    #[inline(never)]
    fn placed(&self, done: &Done<'_, '_>, outcome: u64) -> u64 {
        let before = |other: &Done<'_, '_>| other.call.approach < done.call.approach;
        match self.results().filter(before).count() {
            0 => outcome,
            place => digest_pair(place as u64, outcome),
        }
    }

    /// What is left of a short outcome without the words of its call; nothing where it says something of its own.
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

    /// One of the calls is for this.
    pub fn is_for(&self, purpose: Purpose) -> bool {
        self.results().any(|done| done.call.meaning.purpose() == purpose)
    }

    /// What the calls were given, as far as it is kept.
    pub fn arguments(&self) -> String {
        self.results().map(|done| done.call.meaning.arguments()).collect::<Vec<_>>().join(" ")
    }

    /// Whether a call says itself that minutes go by before it is made.
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

    fn results(&self) -> impl Iterator<Item = Done<'a, 'a>> {
        let (calls, tools) = self.turn;
        calls.iter().filter_map(|call| {
            let tool = tools.get(call.tool).filter(|tool| !tool.rule.ignore)?;
            Some(Done { call, result: call.result.as_ref()?, tool })
        })
    }
}
