//! What Prometheus sees of control. No name of an agent, client, tenant or run is a label.

use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

use super::labels::{Delivered, Label, Reported, Reserved, TurnTaken, label};
use crate::control::ingest::IngestCounts;

/// Counters of control.
#[derive(Default)]
pub struct ControlMetrics {
    reports: Family<Label, Counter>,
    turns: Family<Label, Counter>,
    unpriced: Counter,
    reservations: Family<Label, Counter>,
    unpriced_reservations: Counter,
    deliveries: Family<Label, Counter>,
    unknown_directives: Counter,
}

impl ControlMetrics {
    pub(super) fn register(&self, r: &mut Registry) {
        r.register("control_reports", "Reports of Envoy's workers, by outcome", self.reports.clone());
        r.register("control_turns", "Turns of agents in these reports, by outcome", self.turns.clone());
        r.register(
            "control_unpriced_turns",
            "Turns whose model has no known price. They are not in the costs of runs",
            self.unpriced.clone(),
        );
        r.register("control_reservations", "Reservations of budgets, by outcome", self.reservations.clone());
        r.register(
            "control_unpriced_reservations",
            "Reservations for a model without a known price, of a budget with a limit of money",
            self.unpriced_reservations.clone(),
        );
        r.register(
            "control_deliveries",
            "Events that were to be sent by webhook, by outcome",
            self.deliveries.clone(),
        );
        r.register(
            "control_unknown_directives",
            "Directives that a worker did not know, as workers report it: their filter is older than this service",
            self.unknown_directives.clone(),
        );
    }

    pub fn reported(&self, outcome: Reported) {
        self.reports.get_or_create(&label(outcome)).inc();
    }

    pub fn reserved(&self, outcome: Reserved) {
        self.reservations.get_or_create(&label(outcome)).inc();
    }

    pub fn unpriced(&self) {
        self.unpriced_reservations.inc();
    }

    pub fn delivered(&self, outcome: Delivered) {
        self.deliveries.get_or_create(&label(outcome)).inc();
    }

    pub fn counted(&self, counted: IngestCounts) {
        let IngestCounts { counted, repeated, refused, unpriced } = counted;
        for (outcome, number) in
            [(TurnTaken::Counted, counted), (TurnTaken::Repeated, repeated), (TurnTaken::Refused, refused)]
        {
            if number > 0 {
                self.turns.get_or_create(&label(outcome)).inc_by(u64::from(number));
            }
        }
        self.unpriced.inc_by(u64::from(unpriced));
    }

    /// What a worker has dropped, and how many directives it did not know.
    pub fn lost(&self, turns: u64, directives: u64) {
        if turns > 0 {
            self.turns.get_or_create(&label(TurnTaken::Dropped)).inc_by(turns);
        }
        self.unknown_directives.inc_by(directives);
    }
}
