//! How often an entry's answer was right for texts near its own, and how near a text must come so that the answer is served.
//! Numbers only: no texts, no store.
//!
//! After "vCache: Verified Semantic Prompt Caching" (arXiv 2502.03771). Each entry has a logistic curve of its own: the answer is right for
//! a text at similarity s with P(right | s) = 1 / (1 + exp(−g·(s − t))). The curve is learned from what was observed. There are two
//! differences to the paper:
//!
//! * The paper fits one curve and takes its confidence band. Here the chance of an error is the mean over all curves, weighted by how well
//!   each agrees with what was observed. A fit would fail on the few observations that an entry has. With few observations the mean stays
//!   careful.
//! * The paper serves some uncertain answers at random, which bounds the share of wrong answers among all requests. Here uncertain requests
//!   go to the provider, which bounds their share among the answers that are served, too.

use std::{collections::BTreeMap, sync::LazyLock};

/// A text below this similarity is no candidate: no answer is served for it, and nothing is learned from it.
pub const LEAST_SIMILARITY: f64 = 0.75;
/// An answer that was right so often that the chance of an error is below the bound is served from this similarity on, even below the
/// threshold. Both texts must be the same question (`equality`) here too.
pub const FLOOR: f64 = 0.80;
/// The share of wrong answers that the default threshold and `equality` allow for an entry without observations. If the bound is lower than
/// this, such an entry is not served.
pub const PROMISED_ERROR: f64 = 0.01;

/// Observations are counted in steps of this width.
const STEP: f64 = 0.01;
const STEPS: u8 = 25;
/// Steepness of the curves.
const STEEPNESS: [f64; 5] = [15.0, 30.0, 60.0, 120.0, 240.0];
/// The number of similarities at which a curve may be at one half: 0.50, 0.51 and so on.
const MIDDLES: u8 = 61;
/// For an ordinary entry that point is one of the first of these, up to this index. All of them are equally likely.
const LAST_ORDINARY: u8 = 18;
/// The share of entries that are not ordinary: their answers are right for hardly any other text, or change from one time to the next.
const NOT_ORDINARY: f64 = 0.01;

/// How far an answer may be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The least similarity where nothing was learned.
    pub threshold: f64,
    /// Share of the answers served that may be wrong.
    pub max_error: f64,
}

/// What was observed of one entry: how often its answer was that of the provider to a text near its own, by similarity.
/// Bounded, whatever is observed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations(BTreeMap<u8, Count>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    right: u16,
    wrong: u16,
}

impl Observations {
    /// Notes whether the provider's answer to a text at this similarity was the same as the entry's.
    pub fn note(&mut self, similarity: f64, is_right: bool) {
        let count = self.0.entry(step(similarity)).or_default();
        let counter = if is_right { &mut count.right } else { &mut count.wrong };
        *counter = counter.saturating_add(1);
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the answer may be served for a text at this similarity. All other checks are the caller's.
    #[must_use]
    pub fn allow(&self, similarity: f64, bound: Bound) -> bool {
        let is_near = similarity >= bound.threshold;
        if self.0.is_empty() && bound.max_error >= PROMISED_ERROR {
            return is_near;
        }
        let is_any = |of: fn(&Count) -> u16| self.0.values().any(|count| of(count) > 0);
        let (is_right, is_wrong) = (is_any(|count| count.right), is_any(|count| count.wrong));
        match (is_right, is_wrong) {
            (true, false) if is_near && bound.max_error >= PROMISED_ERROR => true,
            (true, false) => {
                similarity >= bound.threshold.min(FLOOR) && self.error(similarity) <= bound.max_error
            }
            _ => is_near && self.error(similarity) <= bound.max_error,
        }
    }

    /// The chance that the answer is wrong for a text at this similarity.
    #[must_use]
    pub fn error(&self, similarity: f64) -> f64 {
        let plausible: Vec<f64> = CURVES.iter().map(|curve| curve.prior + self.agreement(curve)).collect();
        let best = plausible.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut all, mut wrong) = (0.0, 0.0);
        for (curve, plausible) in CURVES.iter().zip(plausible) {
            let weight = (plausible - best).exp();
            all += weight;
            wrong += weight * (1.0 - curve.right(similarity));
        }
        wrong / all
    }

    /// Log-likelihood of the observations under this curve.
    fn agreement(&self, curve: &Curve) -> f64 {
        let of = |(step, count): (&u8, &Count)| {
            let (right, wrong) = curve.logarithms.get(usize::from(*step)).copied().unwrap_or_default();
            f64::from(count.right) * right + f64::from(count.wrong) * wrong
        };
        self.0.iter().map(of).sum()
    }

    /// As it is stored: step, right, wrong, each step once and in their order.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let of = |(step, count): (&u8, &Count)| {
            let ([a, b], [c, d]) = (count.right.to_le_bytes(), count.wrong.to_le_bytes());
            [*step, a, b, c, d]
        };
        self.0.iter().flat_map(of).collect()
    }

    /// The inverse; `None` for whatever [`Observations::to_bytes`] does not give.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (chunks, rest) = bytes.as_chunks::<5>();
        let of = |[step, a, b, c, d]: &[u8; 5]| {
            (*step, Count { right: u16::from_le_bytes([*a, *b]), wrong: u16::from_le_bytes([*c, *d]) })
        };
        let counts: BTreeMap<u8, Count> = chunks.iter().map(of).collect();
        let is_ours = rest.is_empty()
            && chunks.iter().map(|chunk| chunk[0]).is_sorted_by(|a, b| a < b)
            && counts.keys().all(|step| *step <= STEPS);
        is_ours.then_some(Self(counts))
    }
}

/// The step of a similarity, rounded up. An answer that is right at a higher similarity says less about a lower one; a wrong one says more.
fn step(similarity: f64) -> u8 {
    let above = ((similarity - LEAST_SIMILARITY) / STEP - 1e-6).ceil();
    (0..=STEPS).rev().find(|step| f64::from(*step) <= above).unwrap_or_default()
}

fn similarity_of(step: u8) -> f64 {
    LEAST_SIMILARITY + f64::from(step) * STEP
}

struct Curve {
    middle: f64,
    steepness: f64,
    /// Logarithm of the curve's prior probability.
    prior: f64,
    /// For each step, the logarithms of the chance that the answer is right and of the chance that it is wrong.
    logarithms: Vec<(f64, f64)>,
}

impl Curve {
    fn new(middle: f64, steepness: f64, prior: f64) -> Self {
        let mut curve = Self { middle, steepness, prior, logarithms: Vec::new() };
        let logarithms = (0..=STEPS).map(|step| {
            let right = curve.right(similarity_of(step)).clamp(1e-9, 1.0 - 1e-9);
            (right.ln(), (1.0 - right).ln())
        });
        curve.logarithms = logarithms.collect();
        curve
    }

    fn right(&self, similarity: f64) -> f64 {
        1.0 / (1.0 + (-self.steepness * (similarity - self.middle)).exp())
    }
}

static CURVES: LazyLock<Vec<Curve>> = LazyLock::new(|| {
    let curve = |middle: u8, steepness: f64| {
        let is_ordinary = middle <= LAST_ORDINARY;
        let (share, among) = if is_ordinary {
            (1.0 - NOT_ORDINARY, f64::from(LAST_ORDINARY) + 1.0)
        } else {
            (NOT_ORDINARY, f64::from(MIDDLES) - f64::from(LAST_ORDINARY) - 1.0)
        };
        Curve::new(0.5 + f64::from(middle) * STEP, steepness, (share / among).ln())
    };
    (0..MIDDLES).flat_map(|middle| STEEPNESS.map(|steepness| curve(middle, steepness))).collect()
});

#[cfg(test)]
mod tests;
