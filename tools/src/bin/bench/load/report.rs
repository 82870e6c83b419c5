//! The results of the load, as tables and as JSON.

use serde_json::{Value, json};

use super::caller::CallEnd;
use super::prompts::MIX;
use super::{IN_TIME, Line, Load};
use crate::table::Table;

/// Milliseconds that a call may take at half of the capacity: p50 and p99 with prompts in memory, p99 with Redis.
const GOALS: [(&str, f64, f64); 3] = [("memory", 0.5, 3.0), ("memory", 0.99, 10.0), ("Redis", 0.99, 30.0)];

pub fn markdown(load: &Load) -> String {
    let mix = MIX.map(|(words, share)| format!("{share} % of {words}")).join(", ");
    let mut text = format!(
        "\n## The embedding service under load\n\nPrompts by their number of words: {mix}; each text is new unless it says otherwise. \
         Milliseconds of answered calls. \"Good\": answers within {} ms, a second. The callers run on the same processors, and take \
         theirs from the service.\n\n### Callers at once\n\n{}",
        IN_TIME.as_millis(),
        table(&load.closed).text()
    );
    text.push_str(&format!(
        "\n### Calls at a given rate, each with {} ms to live: it must stay flat past the capacity\n\n{}",
        IN_TIME.as_millis(),
        table(&load.open).text()
    ));
    text.push_str(&format!("\n### Goals, at half of the capacity\n\n{}", goals(load).text()));
    if let Some(soak) = &load.soak {
        text.push_str(&format!(
            "\n### Memory\n\n{} s of mixed load, {} answers: {} kB resident after a third of the time, at most {} kB in the last third \
             ({:.3} times as much).\n",
            soak.seconds,
            soak.answers,
            soak.warm,
            soak.end,
            soak.end as f64 / soak.warm.max(1) as f64
        ));
    }
    text
}

fn table(lines: &[Line]) -> Table {
    let mut table = Table::new(&[
        "store",
        "load",
        "p50",
        "p99",
        "p99.9",
        "good",
        "answered",
        "refused",
        "late",
        "failed",
        "service \u{b5}s an answer",
    ]);
    for line in lines {
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|share| format!("{:.2}", line.tally.quantile(share)));
        let [answered, refused, late, failed] =
            [CallEnd::Answered, CallEnd::Refused, CallEnd::Late, CallEnd::Failed]
                .map(|outcome| line.tally.count(outcome).to_string());
        let good = format!("{:.0}", line.good);
        let processor = format!("{:.0}", line.processor);
        let cells = [p50, p99, p999, good, answered, refused, late, failed, processor];
        table.row([line.store.to_owned(), line.load.clone()].into_iter().chain(cells).collect());
    }
    table
}

fn goals(load: &Load) -> Table {
    let mut table = Table::new(&["goal", "measured", "met"]);
    for (store, share, limit) in GOALS {
        // The first one of each store is at half of the capacity.
        let Some(line) = load.open.iter().find(|line| line.store == store) else { continue };
        let value = line.tally.quantile(share);
        let met = if value < limit { "yes" } else { "no" };
        let goal = format!("{store}: p{:.0} under {limit} ms", share * 100.0);
        table.row(vec![goal, format!("{value:.2}"), met.to_owned()]);
    }
    for store in ["memory", "Redis"] {
        let good: Vec<f64> =
            load.open.iter().filter(|line| line.store == store).map(|line| line.good).collect();
        let [_, full, twice, five] = good[..] else { continue };
        let least = twice.min(five) / full;
        let met = if least > 0.9 { "yes" } else { "no" };
        let measured = format!("{:.2} and {:.2} of it", twice / full, five / full);
        let goal = format!("{store}: as much good at 2 and 5 times the capacity as at 1 (0.9 at least)");
        table.row(vec![goal, measured, met.to_owned()]);
    }
    table
}

pub fn json(load: &Load) -> Value {
    let line = |line: &Line| {
        json!({
            "store": line.store, "load": line.load, "calls": line.tally.calls(),
            "p50_ms": line.tally.quantile(0.5), "p99_ms": line.tally.quantile(0.99), "p999_ms": line.tally.quantile(0.999),
            "good_per_second": line.good, "service_processor_micros_per_answer": line.processor,
            "answered": line.tally.count(CallEnd::Answered), "refused": line.tally.count(CallEnd::Refused),
            "late": line.tally.count(CallEnd::Late), "failed": line.tally.count(CallEnd::Failed),
        })
    };
    let soak = load.soak.as_ref().map(|soak| {
        json!({"seconds": soak.seconds, "answers": soak.answers, "resident_kb_warm": soak.warm, "resident_kb_end": soak.end})
    });
    json!({
        "closed": load.closed.iter().map(line).collect::<Vec<_>>(),
        "open": load.open.iter().map(line).collect::<Vec<_>>(),
        "soak": soak,
    })
}
