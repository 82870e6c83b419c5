//! What was found out about results in earlier requests. A run sends all its results again with each request, and judging them takes
//! longer than anything else. Findings are kept under a digest of the call and its result; texts are not kept. Each thread has its
//! own memory with a fixed number of places: a new finding takes the place of an old one. A finding depends only on what the digest
//! is made of, so no verdict depends on whether it was kept.

use std::{
    cell::RefCell,
    hash::{BuildHasher, RandomState},
};

use sentinel_text::seeded_digest;

use super::Kind;

/// Results that are kept: those of some forty runs of 100 results each (40 bytes a result).
const PLACES: usize = 4_096;

/// A call with its result, under the seed of this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key([u64; 2]);

/// What was found out about one result so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Findings {
    pub outcome: Option<u64>,
    pub kind: Option<Kind>,
    pub is_apart: Option<bool>,
}

struct Memo {
    seed: u64,
    /// By the low bits of the key; empty until something is kept.
    places: Vec<(Key, Findings)>,
}

thread_local! {
    static MEMO: RefCell<Memo> =
        RefCell::new(Memo { seed: RandomState::new().hash_one(0_u8), places: Vec::new() });
}

impl Key {
    /// `parts`: the tool's name, its arguments and its result. `sort`: what else a finding depends on. Nothing while the thread ends.
    pub fn of(parts: [&str; 3], sort: u8) -> Option<Self> {
        let seed = with_memo(|memo| memo.seed)?;
        let [name, arguments, result] = parts.map(|part| seeded_digest(part.as_bytes(), seed).to_le_bytes());
        let all = [name.as_slice(), &arguments, &result, &[sort]].concat();
        let digest = seeded_digest(&all, seed);
        let [low, high] = [digest, digest >> 64].map(|half| half as u64);
        Some(Self([low, high]))
    }

    fn place(self) -> usize {
        let Self([low, _]) = self;
        (low as usize) % PLACES
    }
}

/// What is known of a result; nothing of one that was not seen.
pub(super) fn findings(key: Key) -> Findings {
    let known = with_memo(|memo| memo.places.get(key.place()).filter(|(kept, _)| *kept == key).copied());
    known.flatten().map(|(_, findings)| findings).unwrap_or_default()
}

/// Keeps what was found out about a result, beside what is known of it.
pub(super) fn keep(key: Key, change: impl FnOnce(&mut Findings)) {
    let mut findings = findings(key);
    change(&mut findings);
    with_memo(|memo| {
        if memo.places.is_empty() {
            memo.places = vec![(Key([0, 0]), Findings::default()); PLACES];
        }
        if let Some(place) = memo.places.get_mut(key.place()) {
            *place = (key, findings);
        }
    });
}

/// Nothing while the thread ends.
fn with_memo<T>(f: impl FnOnce(&mut Memo) -> T) -> Option<T> {
    MEMO.try_with(|memo| memo.try_borrow_mut().ok().map(|mut memo| f(&mut memo))).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, arguments: &str, result: &str, sort: u8) -> Key {
        Key::of([name, arguments, result], sort).unwrap()
    }

    #[test]
    fn what_was_found_out_is_known_of_the_same_call_and_result_alone() {
        let one = key("search", "{}", "rain", 0);
        keep(one, |findings| findings.kind = Some(Kind::Content));
        keep(one, |findings| findings.outcome = Some(7));
        let known = findings(key("search", "{}", "rain", 0));
        assert_eq!((known.kind, known.outcome, known.is_apart), (Some(Kind::Content), Some(7), None));
        for other in [
            key("search", "{}", "rain", 1),
            key("search", "{}", "snow", 0),
            key("search", "{ }", "rain", 0),
            key("searc", "h{}", "rain", 0),
        ] {
            assert_ne!(other, one);
            assert!(findings(other).kind.is_none());
        }
    }

    #[test]
    fn what_is_new_takes_the_place_of_what_is_old() {
        let keys: Vec<_> = (0..PLACES * 2).map(|n| key("t", "", &n.to_string(), 0)).collect();
        keys.iter().for_each(|key| keep(*key, |findings| findings.outcome = Some(1)));
        let known = keys.iter().filter(|key| findings(**key).outcome.is_some()).count();
        assert!((PLACES / 2..=PLACES).contains(&known), "{known}");
        assert_eq!(findings(*keys.last().unwrap()).outcome, Some(1));
    }

    #[test]
    fn a_seed_is_of_one_thread() {
        let here = key("t", "", "r", 0);
        let there = std::thread::spawn(|| key("t", "", "r", 0)).join().unwrap();
        assert_ne!(here, there);
    }
}
