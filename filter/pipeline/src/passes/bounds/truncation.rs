//! Texts that are too long by themselves. What is cut of them depends on nothing else, so the cut is the same in every request.

use sentinel_llm_api::outline::{Changes, Cut, MeasuredTexts, Outline, OutlineEntry};

use sentinel_config::BoundsPolicy;

/// A text over its bound.
pub struct Long<'a> {
    pub texts: MeasuredTexts<'a>,
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

/// All that is over its bound, in its order.
pub struct Truncated<'a> {
    /// The message, and the index of the result in it. `None` for what the user says.
    pub long: Vec<(usize, Option<usize>, Long<'a>)>,
}

impl<'a> Truncated<'a> {
    pub fn of(outline: &Outline<'a>, changes: &Changes<'_, 'a>, policy: &BoundsPolicy) -> Self {
        let long = |texts: &[_], bound: usize, what: &str| {
            let texts = MeasuredTexts::over(texts, bound).filter(|_| bound > 0)?;
            let missing = texts.characters.saturating_sub(bound);
            let mark = format!("\n\n[{what} truncated: {missing} characters are missing]");
            let mut long = Long { texts, saved: 0, bound, mark };
            long.saved = changes.would_cut(&long.texts, long.cut());
            Some(long)
        };
        let mut all = Vec::new();
        for (at, entry) in outline.entries.iter().enumerate() {
            let message = long(&entry.texts, policy.message, "Message");
            all.extend(message.map(|long| (at, None, long)));
            for (number, result) in entry.results.iter().enumerate() {
                let result = long(&result.texts, policy.result, "Tool result");
                all.extend(result.map(|long| (at, Some(number), long)));
            }
        }
        Self { long: all }
    }

    /// Bytes of a message after the cuts.
    pub fn size(&self, at: usize, entry: &OutlineEntry<'_>) -> usize {
        let first = self.long.partition_point(|(entry, ..)| *entry < at);
        let here = self.long.iter().skip(first).take_while(|(entry, ..)| *entry == at);
        entry.size().saturating_sub(here.map(|(.., long)| long.saved).sum())
    }

    /// Bytes that are cut of a result.
    pub fn saved(&self, entry: usize, number: usize) -> usize {
        let at = (entry, Some(number));
        let place = self.long.partition_point(|(entry, number, _)| (*entry, *number) < at);
        let long = self.long.get(place).filter(|(entry, number, _)| (*entry, *number) == at);
        long.map_or(0, |(.., long)| long.saved)
    }
}
