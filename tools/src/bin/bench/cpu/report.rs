//! The table of processor time, with the requirements and goals.

use serde_json::{Value, json};

use super::{Cpu, Line, Variant};
use crate::measure::quantile;
use crate::table::Table;

/// Microseconds that the filter may add to a request by size in kB: required, and the goal.
const LIMITS: [(usize, f64, f64); 3] = [(1, 60.0, 45.0), (16, 95.0, 75.0), (256, 300.0, 240.0)];
/// Microseconds that it may add on a path that it does not inspect.
const PASSED: f64 = 10.0;

impl Cpu {
    pub fn markdown(&self) -> String {
        let mut table = Table::new(&[
            "kB",
            "variant",
            "Envoy \u{b5}s a request",
            "added",
            "quartiles",
            "required",
            "goal",
            "met",
            "ratio",
            "p50 \u{b5}s",
            "slices",
            "requests",
        ]);
        for line in &self.lines {
            let without = self.without(line);
            let added = without.map(|without| line.more_than(without));
            let [low, middle, high] =
                [0.25, 0.5, 0.75].map(|share| added.as_ref().map(|all| quantile(all, share)));
            let (required, goal) =
                limits(line).map_or((None, None), |(required, goal)| (Some(required), goal));
            let whole = |limit: Option<f64>| limit.map_or_else(String::new, |limit| format!("{limit:.0}"));
            let tenths = |value: f64| format!("{value:.1}");
            table.row(vec![
                line.kb.to_string(),
                name(&line.variant),
                tenths(line.processor()),
                middle.map_or_else(String::new, tenths),
                low.zip(high).map_or_else(String::new, |(low, high)| format!("{low:.1} to {high:.1}")),
                whole(required),
                whole(goal),
                middle.map_or("", |added| met(added, required, goal)).to_owned(),
                without.map_or_else(String::new, |without| {
                    format!("{:.2}", line.processor() / without.processor())
                }),
                format!("{:.0}", quantile(&line.times, 0.5)),
                line.micros.len().to_string(),
                line.times.len().to_string(),
            ]);
        }
        format!(
            "\n## Processor time of Envoy\n\nAll on processor {}, one request at a time, slices of a second in random order; \
             medians, for what is added those of the differences round by round. The agent's conversation ends with a tool result: nobody is asked. Other work had {:.0} % of this \
             processor and {:.0} % of the others meanwhile: the more, the more all figures grow, and only those of one run compare.\n\n{}",
            self.processor,
            self.others[0] * 100.0,
            self.others[1] * 100.0,
            table.text()
        )
    }

    pub fn json(&self) -> Value {
        let lines = self.lines.iter().map(|line| {
            json!({
                "body_kb": line.kb, "variant": name(&line.variant), "envoy_micros_per_request": line.processor(),
                "added_micros": self.without(line).map(|without| quantile(&line.more_than(without), 0.5)),
                "ratio": self.without(line).map(|without| line.processor() / without.processor()),
                "p50_micros": quantile(&line.times, 0.5), "slices": line.micros.len(), "requests": line.times.len(),
            })
        });
        json!({"processor": self.processor, "other_work_here": self.others[0], "other_work_elsewhere": self.others[1], "lines": lines.collect::<Vec<_>>()})
    }

    /// The same Envoy without the filter, with the same bodies. `None` for itself.
    fn without(&self, line: &Line) -> Option<&Line> {
        let is_it = |other: &&Line| other.kb == line.kb && other.variant == Variant::Without;
        self.lines.iter().find(is_it).filter(|_| line.variant != Variant::Without)
    }
}

fn name(variant: &Variant) -> String {
    match variant {
        Variant::Without => "without the filter".to_owned(),
        Variant::Inspected(build) => build.clone(),
        Variant::NewResults(build) => format!("{build}, all results new"),
        Variant::Passed(build) => format!("{build}, path not inspected"),
    }
}

/// The requirement, and the goal if there is one.
fn limits(line: &Line) -> Option<(f64, Option<f64>)> {
    match line.variant {
        Variant::Without | Variant::NewResults(_) => None,
        Variant::Passed(_) => Some((PASSED, None)),
        Variant::Inspected(_) => {
            LIMITS.iter().find(|(kb, ..)| *kb == line.kb).map(|(_, required, goal)| (*required, Some(*goal)))
        }
    }
}

fn met(added: f64, required: Option<f64>, goal: Option<f64>) -> &'static str {
    match (required, goal) {
        (None, _) => "",
        (Some(required), _) if added > required => "no",
        (_, Some(goal)) if added <= goal => "the goal too",
        _ => "yes",
    }
}
