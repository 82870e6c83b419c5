//! The table of the processor time, with what is required and what is aimed at beside it.

use serde_json::{Value, json};

use super::{Cpu, Line, Variant};
use crate::measure::quantile;
use crate::table::Table;

/// Microseconds that the filter may add to a request of so many kB: required, and the goal.
const LIMITS: [(usize, f64, f64); 3] = [(1, 60.0, 45.0), (16, 95.0, 75.0), (256, 300.0, 240.0)];
/// Microseconds that it may add where it has no business with the path.
const PASSED: f64 = 10.0;

impl Cpu {
    pub fn markdown(&self) -> String {
        let mut table = Table::new(&[
            "kB",
            "variant",
            "Envoy \u{b5}s a request",
            "quartiles",
            "added",
            "required",
            "goal",
            "met",
            "ratio",
            "p50 \u{b5}s",
            "slices",
            "requests",
        ]);
        for line in &self.lines {
            let added = self.added(line);
            let (required, goal) =
                limits(line).map_or((None, None), |(required, goal)| (Some(required), goal));
            let cell = |limit: Option<f64>| limit.map_or_else(String::new, |limit| format!("{limit:.0}"));
            let [low, high] = [0.25, 0.75].map(|share| quantile(&line.micros, share));
            let is_filter = line.variant != Variant::Without;
            table.row(vec![
                line.kb.to_string(),
                name(&line.variant),
                format!("{:.1}", line.processor()),
                format!("{low:.1} to {high:.1}"),
                if is_filter { format!("{added:.1}") } else { String::new() },
                cell(required),
                cell(goal),
                met(added, required, goal).to_owned(),
                if is_filter {
                    format!("{:.2}", line.processor() / self.without(line))
                } else {
                    String::new()
                },
                format!("{:.0}", quantile(&line.times, 0.5)),
                line.micros.len().to_string(),
                line.times.len().to_string(),
            ]);
        }
        format!(
            "\n## Processor time of Envoy\n\nAll on processor {}, one request at a time, slices of a second in random order; \
             medians of the slices. The agent's conversation ends with a tool result: nobody is asked.\n\n{}",
            self.processor,
            table.text()
        )
    }

    pub fn json(&self) -> Value {
        let lines = self.lines.iter().map(|line| {
            json!({
                "body_kb": line.kb, "variant": name(&line.variant), "envoy_micros_per_request": line.processor(),
                "added_micros": self.added(line), "ratio": line.processor() / self.without(line),
                "p50_micros": quantile(&line.times, 0.5), "slices": line.micros.len(), "requests": line.times.len(),
            })
        });
        json!({"processor": self.processor, "lines": lines.collect::<Vec<_>>()})
    }

    /// What the same Envoy without the filter needs for the same bodies.
    fn without(&self, line: &Line) -> f64 {
        let mut all = self.lines.iter();
        all.find(|other| other.kb == line.kb && other.variant == Variant::Without)
            .map_or(f64::NAN, Line::processor)
    }

    fn added(&self, line: &Line) -> f64 {
        line.processor() - self.without(line)
    }
}

fn name(variant: &Variant) -> String {
    match variant {
        Variant::Without => "without the filter".to_owned(),
        Variant::Inspected(build) => build.clone(),
        Variant::Passed(build) => format!("{build}, path not inspected"),
    }
}

/// What is required, and the goal where there is one.
fn limits(line: &Line) -> Option<(f64, Option<f64>)> {
    match line.variant {
        Variant::Without => None,
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
