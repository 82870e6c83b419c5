//! What Prometheus sees of the response cache, and the same figures for the administration.

use std::sync::atomic::{AtomicI64, AtomicU64};

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use sentinel_proto::v1::CachedAnswer;

use strum::VariantArray as _;

use super::labels::{AnswerStored, Bypassed, Label, LabelValue as _, Learned, LookedUp, SavedTokens, label};

const NANO: f64 = 1e-9;

/// Counters of the response cache of one server.
#[derive(Default)]
pub struct AnswerMetrics {
    looked_up: Family<Label, Counter>,
    bypassed: Family<Label, Counter>,
    stored: Family<Label, Counter>,
    learned: Family<Label, Counter>,
    saved_tokens: Family<Label, Counter>,
    saved_usd: Counter<f64, AtomicU64>,
    entries: Gauge<i64, AtomicI64>,
}

/// What look-ups have come to since the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookUps {
    pub exact: u64,
    pub semantic: u64,
    pub misses: u64,
    /// By cause, those that did not happen included.
    pub bypasses: Vec<(&'static str, u64)>,
    pub saved_input_tokens: u64,
    pub saved_output_tokens: u64,
    pub saved_usd: f64,
}

impl AnswerMetrics {
    pub(super) fn register(&self, r: &mut Registry) {
        r.register("cache_lookups", "Look-ups of stored answers by result", self.looked_up.clone());
        r.register(
            "cache_bypasses",
            "Look-ups that gave nothing for another reason than that nothing was there, by cause",
            self.bypassed.clone(),
        );
        r.register("cache_answers", "Answers that were to be stored, by outcome", self.stored.clone());
        r.register(
            "cache_learned",
            "Answers of the provider that were compared with a stored one, by what they said of it",
            self.learned.clone(),
        );
        r.register(
            "cache_saved_tokens",
            "Tokens of the answers that were given from the cache",
            self.saved_tokens.clone(),
        );
        r.register(
            "cache_saved_usd",
            "What the answers that were given from the cache had cost, in US dollars, as far as it is known",
            self.saved_usd.clone(),
        );
        r.register("cache_entries", "Stored answers when last counted: at every change in memory, at every question for the statistics in Redis", self.entries.clone());
        // There from the start, so that a rate can be taken of the first one.
        for result in LookedUp::VARIANTS {
            drop(self.looked_up.get_or_create(&label(*result)));
        }
        for cause in Bypassed::VARIANTS {
            drop(self.bypassed.get_or_create(&label(*cause)));
        }
        for kind in SavedTokens::VARIANTS {
            drop(self.saved_tokens.get_or_create(&label(*kind)));
        }
    }

    /// A look-up ended without an answer.
    pub fn missed(&self) {
        self.looked_up.get_or_create(&label(LookedUp::Miss)).inc();
    }

    pub fn bypassed(&self, cause: Bypassed) {
        self.looked_up.get_or_create(&label(LookedUp::Bypass)).inc();
        self.bypassed.get_or_create(&label(cause)).inc();
    }

    /// A look-up ended with an answer.
    pub fn served(&self, how: LookedUp, answer: &CachedAnswer) {
        self.looked_up.get_or_create(&label(how)).inc();
        let tokens = |kind: SavedTokens, number| self.saved_tokens.get_or_create(&label(kind)).inc_by(number);
        tokens(SavedTokens::Input, answer.input_tokens);
        tokens(SavedTokens::Output, answer.output_tokens);
        #[allow(clippy::cast_precision_loss)] // a sum of money
        self.saved_usd.inc_by(answer.cost_nano_usd as f64 * NANO);
    }

    pub fn stored(&self, outcome: AnswerStored) {
        self.stored.get_or_create(&label(outcome)).inc();
    }

    pub fn learned(&self, verdict: Learned) {
        self.learned.get_or_create(&label(verdict)).inc();
    }

    pub fn entries(&self, number: u64) {
        self.entries.set(i64::try_from(number).unwrap_or(i64::MAX));
    }

    #[must_use]
    pub fn look_ups(&self) -> LookUps {
        let results = |result: LookedUp| self.looked_up.get_or_create(&label(result)).get();
        let tokens = |kind: SavedTokens| self.saved_tokens.get_or_create(&label(kind)).get();
        let bypasses = |cause: &Bypassed| (cause.text(), self.bypassed.get_or_create(&label(*cause)).get());
        LookUps {
            exact: results(LookedUp::Exact),
            semantic: results(LookedUp::Semantic),
            misses: results(LookedUp::Miss),
            bypasses: Bypassed::VARIANTS.iter().map(bypasses).collect(),
            saved_input_tokens: tokens(SavedTokens::Input),
            saved_output_tokens: tokens(SavedTokens::Output),
            saved_usd: self.saved_usd.get(),
        }
    }
}
