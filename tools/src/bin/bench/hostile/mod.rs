//! The cost of bodies that are built to be costly: Envoy's processor time for such a body, relative to a plain
//! conversation of the same size and dialect. What Envoy needs for a body of that size without the filter is subtracted
//! from both.
//!
//! - `BENCH_HOSTILE_SECONDS`: time for each body (default 0.5), after as much again that does not count; each is sent twice
//!   at least
//! - `BENCH_MODULE_B`, `BENCH_PROCESSOR`: as in `cpu/mod.rs`

mod bodies;

use std::path::Path;
use std::time::{Duration, Instant};

use sentinel_harness::Dialect;
use serde_json::{Value, json};

use crate::client::Client;
use crate::rival::Rival;
use crate::table::Table;
use crate::{case, cpu, pinned, seconds_of};

/// Just under the filter's limit, `max_body_bytes`.
const BYTES: usize = 1_048_576 - 1_024;
const SECONDS: f64 = 0.5;
/// How many times the cost of a plain body a body may cost.
const LIMIT: f64 = 8.0;
const PLAIN: &str = "a plain conversation";

/// One body and each build of the filter.
pub struct Hostile(Vec<Line>);

struct Line {
    dialect: Dialect,
    shape: &'static str,
    build: String,
    /// The processor time that the filter added to a request, in milliseconds.
    added: f64,
    /// Relative to a plain conversation.
    ratio: f64,
    /// Requests that the filter let pass without inspecting them.
    passed: u64,
    requests: u64,
}

pub fn measure(folder: &Path) -> Hostile {
    pinned::on_one_processor(|processor| measure_on(processor, folder))
}

fn measure_on(processor: usize, folder: &Path) -> Hostile {
    let folder = folder.join("hostile");
    std::fs::create_dir(&folder).expect("a folder");
    let rivals = cpu::rivals(&folder, processor);
    let (without, builds) = rivals.split_first().expect("an Envoy without the filter");
    let time = Duration::from_secs_f64(seconds_of("BENCH_HOSTILE_SECONDS", SECONDS));
    let mut lines = Vec::new();
    for dialect in Dialect::ALL {
        println!("  {} ...", dialect.label());
        let plain = bodies::of(bodies::plain, dialect, BYTES);
        let bare = ask(without, dialect, &plain, None, time).millis;
        let shapes = bodies::SHAPES.map(|(shape, made)| (shape, bodies::of(made, dialect, BYTES)));
        // What follows are the same builds again.
        for build in builds.iter().take(2) {
            ask(build, dialect, &plain, Some(bodies::RESULT), time * 2);
            let normal = ask(build, dialect, &plain, Some(bodies::RESULT), time * 2);
            let mut note = |shape, asked: Asked| {
                let added = asked.millis - bare;
                lines.push(Line {
                    dialect,
                    shape,
                    build: build.name.clone(),
                    added,
                    ratio: added / (normal.millis - bare),
                    passed: asked.passed,
                    requests: asked.requests,
                });
            };
            note(PLAIN, normal);
            for (shape, body) in &shapes {
                note(shape, ask(build, dialect, body, None, time));
            }
        }
    }
    Hostile(lines)
}

#[derive(Clone, Copy)]
struct Asked {
    /// Envoy's processor time for a request.
    millis: f64,
    passed: u64,
    requests: u64,
}

/// Sends the body until the time is up, each time from another agent. With `new_results`, a mark in the body, each
/// request has new results behind the mark, as in a run that the filter has not seen. Requests in the warm-up, which is
/// as long, do not count: V8 optimises the code that this body runs, in threads of Envoy.
fn ask(rival: &Rival, dialect: Dialect, body: &str, new_results: Option<&str>, time: Duration) -> Asked {
    let mut client = Client::with_body(rival.address(), &case::hostile(dialect.path(false)), body);
    if let Some(mark) = new_results {
        client = client.with_new_results(mark);
    }
    let warm_up = Instant::now();
    client.send();
    while warm_up.elapsed() < time {
        client.send();
    }
    let passed = || rival.metrics().sum("sentinel_bypasses_total", &[]);
    let passed_before = passed();
    let (before, began, mut requests) = (rival.busy(), Instant::now(), 0);
    while requests == 0 || began.elapsed() < time {
        client.send();
        requests += 1;
    }
    let busy = rival.busy().saturating_sub(before);
    Asked { millis: busy.as_secs_f64() * 1e3 / requests as f64, passed: passed() - passed_before, requests }
}

impl Hostile {
    pub fn markdown(&self) -> String {
        let mut table = Table::new(&[
            "dialect",
            "body",
            "build",
            "added, ms",
            "ratio",
            "met",
            "requests",
            "of these not read",
        ]);
        for line in &self.0 {
            table.row(vec![
                line.dialect.label().to_owned(),
                line.shape.to_owned(),
                line.build.clone(),
                format!("{:.2}", line.added),
                format!("{:.2}", line.ratio),
                if line.ratio > LIMIT { "**no**" } else { "yes" }.to_owned(),
                line.requests.to_string(),
                line.passed.to_string(),
            ]);
        }
        format!(
            "\n## Bodies built to be costly\n\n{BYTES} bytes at most. Processor time of Envoy that the filter adds to a request, and how \
             many times as much that is as for {PLAIN} of that size; required is at most {LIMIT:.0}.\n\n{}",
            table.text()
        )
    }

    pub fn json(&self) -> Value {
        let lines = self.0.iter().map(|line| {
            json!({
                "dialect": line.dialect.label(), "body": line.shape, "build": line.build, "added_ms": line.added,
                "ratio": line.ratio, "requests": line.requests, "requests_not_read": line.passed,
            })
        });
        json!({"bytes": BYTES, "limit": LIMIT, "lines": lines.collect::<Vec<_>>()})
    }
}
