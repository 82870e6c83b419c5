//! What was found out about results in earlier requests. A run sends all its results again with each request, and judging them takes
//! longer than anything else. Findings are stored under a digest of the call and its result; texts are not stored. Each worker of the host
//! has a memory of its own with a fixed number of places: a new finding takes the place of an old one. A finding depends only on what
//! the digest is made of, so no verdict depends on whether it was stored.

use std::{
    cell::RefCell,
    hash::{BuildHasher, RandomState},
};

use sentinel_text::seeded_digest;

use super::{judge::Facts, residue::Residue};

/// Results whose findings are stored: those of some forty runs of 100 results each (136 bytes a result).
const PLACES: usize = 4_096;

/// A call with its result, under the seed of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key([u64; 2]);

/// The memory of one worker. The host has it, and hands it to whoever reads a conversation.
pub struct Memo {
    seed: u64,
    stored: RefCell<Stored>,
}

/// The findings lie in the order in which they came. A run's results come one behind the other, and are found so: a request touches
/// few pages of memory.
#[derive(Default)]
struct Stored {
    findings: Vec<(Key, Remembered)>,
    /// The place of a finding, by the low bits of its key. Empty until something is stored.
    places: Vec<u16>,
    /// The oldest finding, once all places are taken.
    oldest: usize,
    /// Where the last finding was.
    last: usize,
}

/// What was found out about a result; `None` where nobody has asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub facts: Option<Facts>,
    /// No other text can have the same outcome.
    pub is_apart: Option<bool>,
    /// Digest of its first letters; `None` within where they cannot be read.
    pub beginning: Option<Option<u64>>,
    /// Digest of the text without what is volatile.
    pub alike: Option<u64>,
    /// Digest of the beginning of that.
    pub beginning_alike: Option<u64>,
    /// What is left of it without the words of its call; `None` within where it says something of its own.
    pub residue: Option<Option<Residue>>,
}

/// Where one of the findings stands.
pub(super) type Finding<T> = fn(&mut Remembered) -> &mut Option<T>;

impl Default for Memo {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0_u8), stored: RefCell::default() }
    }
}

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}

impl Key {
    fn low_bits(self) -> usize {
        let Self([low, _]) = self;
        (low as usize) % PLACES
    }
}

impl Stored {
    /// The place of the findings of this key. Mostly it is the place of the last ones, or the one behind it.
    fn place(&self, key: Key) -> Option<usize> {
        let is_there = |place: &usize| self.findings.get(*place).is_some_and(|(of, _)| *of == key);
        let near = [self.last, self.last.saturating_add(1)];
        near.into_iter()
            .chain(self.places.get(key.low_bits()).map(|place| usize::from(*place)))
            .find(is_there)
    }

    fn get(&mut self, key: Key) -> Option<&mut Remembered> {
        self.last = self.place(key)?;
        self.findings.get_mut(self.last).map(|(_, found)| found)
    }

    /// Adds this key, in the place of the oldest findings.
    fn add(&mut self, key: Key) {
        let new = (key, Remembered::default());
        let place = self.oldest;
        match self.findings.get_mut(place) {
            Some(oldest) => *oldest = new,
            None => self.findings.push(new),
        }
        self.oldest = place.saturating_add(1) % PLACES;
        self.places.resize(PLACES, 0);
        if let (Some(at), Ok(place)) = (self.places.get_mut(key.low_bits()), u16::try_from(place)) {
            *at = place;
        }
    }
}

impl Memo {
    /// `parts`: the tool's name, its arguments and its result. `sort`: what else a finding depends on.
    pub(super) fn key(&self, parts: [&str; 3], sort: u8) -> Key {
        let seed = self.seed;
        let parts = parts.map(|part| seeded_digest(part.as_bytes(), seed).to_le_bytes());
        let digest = seeded_digest(parts.as_flattened(), seed ^ u64::from(sort));
        let [low, high] = [digest, digest >> 64].map(|half| half as u64);
        Key([low, high])
    }

    /// What is known of a result; nothing of one that was not seen.
    pub(super) fn get<T: Copy>(&self, key: Key, finding: Finding<T>) -> Option<T> {
        let mut stored = self.stored.try_borrow_mut().ok()?;
        *finding(stored.get(key)?)
    }

    /// Stores what was found out about a result.
    pub(super) fn set<T>(&self, key: Key, finding: Finding<T>, value: T) {
        let Ok(mut stored) = self.stored.try_borrow_mut() else { return };
        if stored.get(key).is_none() {
            stored.add(key);
        }
        if let Some(found) = stored.get(key) {
            *finding(found) = Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Purpose, Weight, judge::JudgedResult};

    fn facts(said: &str) -> Facts {
        let is_error = false;
        JudgedResult { said, purpose: Purpose::Any, weight: Weight::Full, is_error, call: [""; 2] }
            .facts(None)
    }

    fn known(memo: &Memo, key: Key) -> Option<Facts> {
        memo.get(key, |found| &mut found.facts)
    }

    #[test]
    fn what_was_found_out_is_known_of_the_same_call_and_result_alone() {
        let memo = Memo::default();
        let key = memo.key(["search", "{}", "rain"], 0);
        memo.set(key, |found| &mut found.facts, facts("rain"));
        memo.set(key, |found| &mut found.is_apart, true);
        assert_eq!(known(&memo, key), Some(facts("rain")));
        assert_eq!(memo.get(key, |found| &mut found.is_apart), Some(true));
        assert_eq!(memo.get(key, |found| &mut found.alike), None);
        for other in [
            memo.key(["search", "{}", "rain"], 1),
            memo.key(["search", "{}", "snow"], 0),
            memo.key(["search", "{ }", "rain"], 0),
            memo.key(["searc", "h{}", "rain"], 0),
        ] {
            assert_eq!(known(&memo, other), None);
        }
    }

    #[test]
    fn what_is_new_takes_the_place_of_what_is_old() {
        let memo = Memo::default();
        let keys: Vec<_> = (0..PLACES * 2).map(|n| memo.key(["t", "", &n.to_string()], 0)).collect();
        keys.iter().for_each(|key| memo.set(*key, |found| &mut found.facts, facts("x")));
        let known: Vec<_> = keys.iter().map(|key| known(&memo, *key).is_some()).collect();
        assert!(known.iter().take(PLACES).all(|known| !known), "the older half");
        let newer = known.iter().filter(|known| **known).count();
        assert!((PLACES / 2..=PLACES).contains(&newer), "{newer}");
        assert!(known.last().unwrap());
    }

    #[test]
    fn a_seed_is_of_one_memory() {
        assert_ne!(Memo::default().key(["t", "", "r"], 0), Memo::default().key(["t", "", "r"], 0));
    }
}
