//! The tables of control, with the requirements.

use serde_json::{Value, json};

use super::runs::Page;
use super::{Control, OFF, ON};
use crate::cpu::{Line, Variant};
use crate::measure::quantile;
use crate::table::Table;

/// Microseconds of Envoy for a request, and part of a core of the service, that control may cost on a machine on which Envoy without
/// the filter takes [`OWN_MICROS`] for a request of 1 kB. A slower machine may take as much longer as its Envoy does.
const MICROS: f64 = 5.0;
const CORE: f64 = 0.02;
const OWN_MICROS: f64 = 39.5;
/// Milliseconds of a page.
const PAGE: f64 = 50.0;

impl Control {
    pub fn markdown(&self) -> String {
        let slower = self.slower();
        let (micros, core) = (MICROS * slower, CORE * slower);
        let mut envoys = Table::new(&[
            "kB",
            "variant",
            "Envoy \u{b5}s a request",
            "more than off",
            "quartiles",
            "required",
            "met",
            "on / off",
            "requests",
        ]);
        for line in &self.lines {
            let off = self.off(line);
            let more = off.map(|off| line.more_than(off));
            let share = |share: f64| more.as_ref().map(|more| quantile(more, share));
            let [low, middle, high] = [0.25, 0.5, 0.75].map(share);
            let is_required = name(line) == ON;
            envoys.row(vec![
                line.kb.to_string(),
                name(line).to_owned(),
                format!("{:.1}", line.processor()),
                middle.map_or_else(String::new, |more| format!("{more:.1}")),
                low.zip(high).map_or_else(String::new, |(low, high)| format!("{low:.1} to {high:.1}")),
                if is_required { format!("{micros:.1}") } else { String::new() },
                middle.filter(|_| is_required).map_or("", |more| met(more <= micros)).to_owned(),
                off.map_or_else(String::new, |off| format!("{:.3}", line.processor() / off.processor())),
                line.times.len().to_string(),
            ]);
        }
        let mut steady = Table::new(&[
            "store",
            "variant",
            "requests a second",
            "cores of the service",
            "required",
            "met",
            "cores of Envoy",
        ]);
        for line in &self.steady {
            let is_required = line.variant == ON;
            steady.row(vec![
                line.store.to_owned(),
                line.variant.to_owned(),
                format!("{:.0}", line.rate),
                format!("{:.4}", line.service),
                if is_required { format!("{core:.4}") } else { String::new() },
                if is_required { met(line.service <= core).to_owned() } else { String::new() },
                format!("{:.3}", line.envoy),
            ]);
        }
        let mut pages = Table::new(&[
            "store",
            "runs",
            "reported in s",
            "page",
            "runs on it",
            "p50 ms",
            "p95 ms",
            "worst ms",
            "met",
        ]);
        for of_store in &self.pages {
            for Page { name, times, runs } in &of_store.pages {
                let [middle, high, worst] = [0.5, 0.95, 1.0].map(|share| quantile(times, share));
                pages.row(vec![
                    of_store.store.to_owned(),
                    of_store.runs.to_string(),
                    format!("{:.1}", of_store.reported),
                    (*name).to_owned(),
                    runs.to_string(),
                    format!("{middle:.1}"),
                    format!("{high:.1}"),
                    format!("{worst:.1}"),
                    met(high <= PAGE).to_owned(),
                ]);
            }
        }
        format!(
            "\n## Control\n\nEnvoy's processor time: all on one processor, slices of a second in random order; medians, for what is more \
             those of the differences round by round. Envoy without the filter takes {slower:.2} times the {OWN_MICROS} \u{b5}s of the machine \
             for which {MICROS} \u{b5}s and {CORE} cores are required, so that many times more is allowed here.\n\n{}\nRequests with a budget: {}. Calls of the service for them: {} (the rest had a \
             lease).\n\n{}\n{}",
            envoys.text(),
            self.budgeted,
            self.asked,
            steady.text(),
            pages.text()
        )
    }

    pub fn json(&self) -> Value {
        let lines = self.lines.iter().map(|line| {
            json!({"body_kb": line.kb, "variant": name(line), "envoy_micros_per_request": line.processor(),
                "more_micros": self.off(line).map(|off| quantile(&line.more_than(off), 0.5)),
                "ratio": self.off(line).map(|off| line.processor() / off.processor())})
        });
        let steady = self.steady.iter().map(|line| {
            json!({"store": line.store, "variant": line.variant, "rate": line.rate, "service_cores": line.service, "envoy_cores": line.envoy})
        });
        let pages = self.pages.iter().flat_map(|of_store| {
            of_store.pages.iter().map(move |page| {
                json!({"store": of_store.store, "runs": of_store.runs, "page": page.name,
                    "p50_ms": quantile(&page.times, 0.5), "p95_ms": quantile(&page.times, 0.95), "worst_ms": quantile(&page.times, 1.0)})
            })
        });
        json!({"slower": self.slower(), "envoy": lines.collect::<Vec<_>>(), "budgeted": self.budgeted, "asked": self.asked,
            "steady": steady.collect::<Vec<_>>(), "pages": pages.collect::<Vec<_>>()})
    }

    /// How many times longer Envoy without the filter takes here for the smallest body.
    fn slower(&self) -> f64 {
        let own = self.lines.iter().find(|line| line.variant == Variant::Without);
        own.map_or(f64::NAN, |own| own.processor() / OWN_MICROS)
    }

    /// The same bodies with control off. `None` for itself, and without the filter.
    fn off(&self, line: &Line) -> Option<&Line> {
        let off = self.lines.iter().find(|other| other.kb == line.kb && name(other) == OFF)?;
        (off.variant != line.variant && line.variant != Variant::Without).then_some(off)
    }
}

fn name(line: &Line) -> &str {
    match &line.variant {
        Variant::Inspected(name) => name,
        _ => "without the filter",
    }
}

fn met(is_met: bool) -> &'static str {
    if is_met { "yes" } else { "no" }
}
