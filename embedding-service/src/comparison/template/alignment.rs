//! Where two texts agree word by word, and what stands between.

use super::super::wording::{Word, WordKind};

/// The longest common subsequence of two texts; words that say the same are common to both.
pub(super) struct Alignment<'a> {
    /// Words that agree to the letter.
    pub shared: usize,
    /// Words that agree otherwise: other inflections, or words that say the same.
    pub inexact: usize,
    /// Words before the first difference and after the last.
    pub ends: usize,
    /// Words of content that agree between the first difference and the last.
    pub shared_content: usize,
    /// What stands between two words that agree, where anything does.
    pub gaps: Vec<Gap<'a>>,
}

pub(super) struct Gap<'a> {
    pub a: Part<'a>,
    pub b: Part<'a>,
}

/// What only one of the texts has in a place.
pub(super) struct Part<'a> {
    before: Option<&'a Word>,
    pub words: &'a [Word],
}

impl<'a> Part<'a> {
    fn of(text: &'a [Word], start: usize, end: usize) -> Self {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        Self { before, words: text.get(start..end).unwrap_or_default() }
    }

    /// Each word with the one before it.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&'a Word>, &'a Word)> + use<'a> {
        std::iter::once(self.before).chain(self.words.iter().map(Some)).zip(self.words)
    }
}

pub(super) fn align<'a>(a: &'a [Word], b: &'a [Word]) -> Alignment<'a> {
    let same = |(a, b): &(&Word, &Word)| a.is_same(b);
    let prefix = a.iter().zip(b).take_while(same).count();
    let rest = |text: &'a [Word]| text.get(prefix..).unwrap_or_default();
    let suffix = rest(a).iter().rev().zip(rest(b).iter().rev()).take_while(same).count();
    let a = a.get(..a.len().saturating_sub(suffix)).unwrap_or_default();
    let b = b.get(..b.len().saturating_sub(suffix)).unwrap_or_default();

    let ends = prefix.saturating_add(suffix);
    let mut alignment = Alignment { shared: ends, inexact: 0, ends, shared_content: 0, gaps: Vec::new() };
    let mut start = (prefix, prefix);
    let matches = CommonEnds::of(rest(a), rest(b)).matches(rest(a), rest(b));
    for (i, j) in matches.into_iter().map(|(i, j)| (prefix.saturating_add(i), prefix.saturating_add(j))) {
        alignment.add_gap(Part::of(a, start.0, i), Part::of(b, start.1, j));
        if let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
            alignment.add_match(x, y);
        }
        start = (i.saturating_add(1), j.saturating_add(1));
    }
    alignment.add_gap(Part::of(a, start.0, a.len()), Part::of(b, start.1, b.len()));
    alignment
}

impl<'a> Alignment<'a> {
    fn add_gap(&mut self, a: Part<'a>, b: Part<'a>) {
        if !(a.words.is_empty() && b.words.is_empty()) {
            self.gaps.push(Gap { a, b });
        }
    }

    fn add_match(&mut self, a: &Word, b: &Word) {
        let agreed = if a.is_same(b) { &mut self.shared } else { &mut self.inexact };
        *agreed = agreed.saturating_add(1);
        if a.kind == WordKind::Content {
            self.shared_content = self.shared_content.saturating_add(1);
        }
    }
}

/// How long the longest common subsequence is of each end of one text with each end of the other.
struct CommonEnds {
    /// By the length of the end of `a`, then of the end of `b`.
    rows: Vec<Vec<u16>>,
}

impl CommonEnds {
    fn of(a: &[Word], b: &[Word]) -> Self {
        let mut rows = vec![vec![0_u16; b.len().saturating_add(1)]];
        for x in a.iter().rev() {
            let mut row = vec![0_u16];
            let shorter = rows.last().map(Vec::as_slice).unwrap_or_default();
            for (y, (both_shorter, a_shorter)) in
                b.iter().rev().zip(shorter.iter().zip(shorter.iter().skip(1)))
            {
                let b_shorter = row.last().copied().unwrap_or_default();
                let longest =
                    if x.is_like(y) { both_shorter.saturating_add(1) } else { b_shorter.max(*a_shorter) };
                row.push(longest);
            }
            rows.push(row);
        }
        Self { rows }
    }

    /// Which word of `a` agrees with which of `b`, in order.
    fn matches(&self, a: &[Word], b: &[Word]) -> Vec<(usize, usize)> {
        let common = |i: usize, j: usize| {
            let row = self.rows.get(a.len().saturating_sub(i));
            row.and_then(|row| row.get(b.len().saturating_sub(j))).copied().unwrap_or_default()
        };
        let (mut i, mut j) = (0_usize, 0_usize);
        let mut matches = Vec::new();
        while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
            let (next_i, next_j) = (i.saturating_add(1), j.saturating_add(1));
            if x.is_like(y) {
                matches.push((i, j));
                (i, j) = (next_i, next_j);
            } else if common(next_i, j) >= common(i, next_j) {
                i = next_i;
            } else {
                j = next_j;
            }
        }
        matches
    }
}
