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
    /// By the low bits of the key. Empty until something is stored.
    places: RefCell<Vec<(Key, Remembered)>>,
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

impl Default for Memo {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0_u8), places: RefCell::default() }
    }
}

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}

impl Key {
    fn place(self) -> usize {
        let Self([low, _]) = self;
        (low as usize) % PLACES
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
    pub(super) fn found(&self, key: Key) -> Remembered {
        let places = self.places.try_borrow().ok();
        let kept = places.as_ref().and_then(|places| places.get(key.place()));
        kept.filter(|(kept, _)| *kept == key).map(|(_, found)| *found).unwrap_or_default()
    }

    /// Stores what was found out about a result.
    pub(super) fn keep(&self, key: Key, found: Remembered) {
        let Ok(mut places) = self.places.try_borrow_mut() else { return };
        if places.is_empty() {
            *places = vec![(Key([0, 0]), Remembered::default()); PLACES];
        }
        if let Some(place) = places.get_mut(key.place()) {
            *place = (key, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Purpose, Weight, judge::JudgedResult};

    fn found(said: &str) -> Remembered {
        let facts = JudgedResult {
            said,
            purpose: Purpose::Any,
            weight: Weight::Full,
            is_error: false,
            call: [""; 2],
        }
        .facts(None);
        Remembered { facts: Some(facts), ..Remembered::default() }
    }

    #[test]
    fn what_was_found_out_is_known_of_the_same_call_and_result_alone() {
        let memo = Memo::default();
        memo.keep(memo.key(["search", "{}", "rain"], 0), found("rain"));
        assert_eq!(memo.found(memo.key(["search", "{}", "rain"], 0)), found("rain"));
        for other in [
            memo.key(["search", "{}", "rain"], 1),
            memo.key(["search", "{}", "snow"], 0),
            memo.key(["search", "{ }", "rain"], 0),
            memo.key(["searc", "h{}", "rain"], 0),
        ] {
            assert_eq!(memo.found(other), Remembered::default());
        }
    }

    #[test]
    fn what_is_new_takes_the_place_of_what_is_old() {
        let memo = Memo::default();
        let keys: Vec<_> = (0..PLACES * 2).map(|n| memo.key(["t", "", &n.to_string()], 0)).collect();
        keys.iter().for_each(|key| memo.keep(*key, found("x")));
        let known = keys.iter().filter(|key| memo.found(**key).facts.is_some()).count();
        assert!((PLACES / 2..=PLACES).contains(&known), "{known}");
        assert_eq!(memo.found(*keys.last().unwrap()), found("x"));
    }

    #[test]
    fn a_seed_is_of_one_memory() {
        assert_ne!(Memo::default().key(["t", "", "r"], 0), Memo::default().key(["t", "", "r"], 0));
    }
}
