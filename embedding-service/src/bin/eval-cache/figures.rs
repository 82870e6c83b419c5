//! Counts how many pairs would be served, by category and by threshold. Writes no page and no file.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};

use crate::pairs::Pair;

/// At most this percentage of the traps may be served.
const MOST_TRAPS_PERCENT: usize = 1;

pub struct JudgedPair {
    pub pair: Pair,
    pub similarity: f64,
    /// Whether both ask for the same.
    pub is_same: bool,
}

impl JudgedPair {
    fn is_served(&self, threshold: f64, is_verified: bool) -> bool {
        self.similarity >= threshold && (!is_verified || self.is_same)
    }
}

pub struct CacheReport {
    pub threshold: f64,
    pub judged: Vec<JudgedPair>,
}

/// How many true pairs (one answer for both texts) and how many traps (two answers) were served.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub true_served: usize,
    pub true_total: usize,
    pub traps_served: usize,
    pub traps_total: usize,
}

impl Counts {
    fn add(&mut self, is_true: bool, is_served: bool) {
        let (served, total) = if is_true {
            (&mut self.true_served, &mut self.true_total)
        } else {
            (&mut self.traps_served, &mut self.traps_total)
        };
        *served = served.saturating_add(usize::from(is_served));
        *total = total.saturating_add(1);
    }

    fn json(self) -> Value {
        json!({
            "true_served": self.true_served,
            "true_total": self.true_total,
            "traps_served": self.traps_served,
            "traps_total": self.traps_total,
        })
    }
}

/// A point of the curve.
pub struct Point {
    pub threshold: f64,
    pub verified: Counts,
    pub unverified: Counts,
}

impl CacheReport {
    pub fn counts(&self, threshold: f64, is_verified: bool) -> Counts {
        self.judged.iter().fold(Counts::default(), |mut counts, judged| {
            counts.add(judged.pair.same_answer, judged.is_served(threshold, is_verified));
            counts
        })
    }

    fn categories(&self) -> BTreeMap<&str, Counts> {
        let mut categories: BTreeMap<&str, Counts> = BTreeMap::new();
        for judged in &self.judged {
            let counts = categories.entry(&judged.pair.category).or_default();
            counts.add(judged.pair.same_answer, judged.is_served(self.threshold, true));
        }
        categories
    }

    /// From 0.5, where texts have nothing in common, to 1, in steps of 0.005.
    pub fn curve(&self) -> Vec<Point> {
        (100..=200_u32)
            .map(|step| {
                let threshold = f64::from(step) / 200.0;
                Point {
                    threshold,
                    verified: self.counts(threshold, true),
                    unverified: self.counts(threshold, false),
                }
            })
            .collect()
    }

    pub fn serves_too_many_traps(&self) -> bool {
        let counts = self.counts(self.threshold, true);
        counts.traps_served.saturating_mul(100) > counts.traps_total.saturating_mul(MOST_TRAPS_PERCENT)
    }

    pub fn served_traps(&self) -> impl Iterator<Item = &JudgedPair> {
        self.judged.iter().filter(|judged| !judged.pair.same_answer && judged.is_served(self.threshold, true))
    }

    pub fn missed(&self) -> impl Iterator<Item = &JudgedPair> {
        self.judged.iter().filter(|judged| judged.pair.same_answer && !judged.is_served(self.threshold, true))
    }

    pub fn json(&self) -> Value {
        let pair = |judged: &JudgedPair| {
            json!({
                "a": judged.pair.a,
                "b": judged.pair.b,
                "category": judged.pair.category,
                "similarity": judged.similarity,
                "is_same": judged.is_same,
            })
        };
        let categories: serde_json::Map<String, Value> =
            self.categories().into_iter().map(|(name, counts)| (name.to_owned(), counts.json())).collect();
        let curve: Vec<Value> = self
            .curve()
            .into_iter()
            .map(|point| {
                json!({
                    "threshold": point.threshold,
                    "with_verification": point.verified.json(),
                    "without_verification": point.unverified.json(),
                })
            })
            .collect();
        json!({
            "threshold": self.threshold,
            "default": self.counts(self.threshold, true).json(),
            "without_verification": self.counts(self.threshold, false).json(),
            "categories": categories,
            "curve": curve,
            "served_traps": self.served_traps().map(pair).collect::<Vec<_>>(),
            "missed": self.missed().map(pair).collect::<Vec<_>>(),
        })
    }

    /// The figures as text.
    pub fn table(&self) -> String {
        let mut table = format!("{:<14} {:>12} {:>12}\n", "", "true served", "traps served");
        let mut line = |name: &str, counts: Counts| {
            let of = |served: usize, total: usize| {
                if total == 0 { String::new() } else { format!("{served} of {total}") }
            };
            let _ = writeln!(
                table,
                "{name:<14} {:>12} {:>12}",
                of(counts.true_served, counts.true_total),
                of(counts.traps_served, counts.traps_total)
            );
        };
        for (name, counts) in self.categories() {
            line(name, counts);
        }
        line("all", self.counts(self.threshold, true));
        line("unverified", self.counts(self.threshold, false));
        table
    }
}
