//! Texts that are too long by themselves: what is cut of them depends on nothing else, so it is the same in every request.

use std::collections::BTreeMap;

use sentinel_llm_api::outline::{Changes, Counted, Cut, Entry, Outline};

use crate::config::BoundsPolicy;

/// A text over its bound.
pub struct Long<'a> {
    pub texts: Counted<'a>,
    /// Bytes that the cut saves.
    pub saved: usize,
    bound: usize,
    mark: String,
}

impl Long<'_> {
    pub fn cut(&self) -> Cut<'_> {
        Cut { first: self.bound, last: 0, mark: &self.mark }
    }
}

/// All that is over its bound: user messages by their number, results by that and their own.
pub struct Truncated<'a> {
    pub messages: BTreeMap<usize, Long<'a>>,
    pub results: BTreeMap<(usize, usize), Long<'a>>,
    /// Bytes that are cut, by message.
    saved: BTreeMap<usize, usize>,
}

impl<'a> Truncated<'a> {
    pub fn of(outline: &Outline<'a>, changes: &Changes<'_, 'a>, policy: &BoundsPolicy) -> Self {
        let long = |texts: &[&'a _], bound: usize, what: &str| {
            let texts = Counted::over(texts, bound).filter(|_| bound > 0)?;
            let missing = texts.characters.saturating_sub(bound);
            let mark = format!("\n\n[{what} truncated: {missing} characters are missing]");
            let mut long = Long { texts, saved: 0, bound, mark };
            long.saved = changes.would_cut(&long.texts, long.cut());
            Some(long)
        };
        let (mut messages, mut results) = (BTreeMap::new(), BTreeMap::new());
        let mut saved: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, entry) in outline.entries.iter().enumerate() {
            if let Some(long) = long(&entry.texts, policy.message, "Message") {
                saved.insert(at, long.saved);
                messages.insert(at, long);
            }
            for (number, result) in entry.results.iter().enumerate() {
                if let Some(long) = long(&result.texts, policy.result, "Tool result") {
                    let sum = saved.entry(at).or_default();
                    *sum = sum.saturating_add(long.saved);
                    results.insert((at, number), long);
                }
            }
        }
        Self { messages, results, saved }
    }

    /// Bytes of a message without what is cut of it.
    pub fn size(&self, at: usize, entry: &Entry<'_>) -> usize {
        entry.size().saturating_sub(self.saved.get(&at).copied().unwrap_or(0))
    }

    /// Bytes that are cut of a result.
    pub fn saved(&self, entry: usize, number: usize) -> usize {
        self.results.get(&(entry, number)).map_or(0, |long| long.saved)
    }
}
