//! The results as tables and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cache::Cache;
use crate::cache_lookups;
use crate::case::{Case, LOCAL, STEPS};
use crate::control::Control;
use crate::core::Core;
use crate::cpu::Cpu;
use crate::engine;
use crate::hostile::Hostile;
use crate::load::{self, Load};
use crate::measure::Figures;
use crate::resources::Resources;
use crate::rival::Rival;
use crate::store;
use crate::table::Table;

/// Target for the time that the local path adds at 16 kB (median, milliseconds).
const GOAL_LOCAL: f64 = 0.1;
/// Target for the time of a request on the service path (p99, milliseconds).
const GOAL_SERVICE: f64 = 30.0;

/// One case: the figures of each rival, starting with the Envoy without the filter.
pub struct Measured {
    pub case: Case,
    pub figures: Vec<Figures>,
}

pub struct Report {
    pub rivals: Vec<Rival>,
    pub measured: Vec<Measured>,
    pub core: Core,
    pub engine: Vec<engine::Line>,
    pub store: Vec<store::Line>,
    pub load: Option<Load>,
    pub resources: Option<Resources>,
    pub cpu: Option<Cpu>,
    pub control: Option<Control>,
    pub hostile: Option<Hostile>,
    pub cache: Option<Cache>,
    pub lookups: Vec<cache_lookups::Line>,
    /// Facts about the machine and its other work.
    pub machine: Vec<(&'static str, String)>,
}

impl Report {
    pub fn markdown(&self) -> String {
        let mut text = String::from("# What the filter costs\n\n");
        for (name, fact) in &self.machine {
            let _ = writeln!(text, "- {name}: {fact}");
        }
        text.push_str(
            "\nAll times are in milliseconds and compare within this run only. Blocks of requests go to each Envoy in turn; \
             \"quartiles\" are those of the difference of medians, round by round. \"Envoy \u{b5}s\" is Envoy's own processor time for one request, in microseconds: other work on the machine is not in it. \"Proof\" is what the filter counted: whether all requests went the way that was meant.\n",
        );
        if !self.measured.is_empty() {
            let _ = write!(text, "\n## Goals\n\n{}", self.goals().text());
            let _ = write!(
                text,
                "\n## Latency, one request at a time\n\n{}",
                self.latency(|case| !is_step(case)).text()
            );
            let steps = self.latency(|case| is_step(case) || (case.way == LOCAL && case.kb > 1));
            let _ = write!(
                text,
                "\n## Where the local path's time goes: each line does more than the one before\n\n{}",
                steps.text()
            );
            let _ = write!(text, "\n## Throughput, requests a second\n\n{}", self.throughput().text());
            let _ = write!(text, "\n## Proof\n\n{}", self.proofs().text());
        }
        if let Some(cpu) = &self.cpu {
            text.push_str(&cpu.markdown());
        }
        if let Some(control) = &self.control {
            text.push_str(&control.markdown());
        }
        if let Some(hostile) = &self.hostile {
            text.push_str(&hostile.markdown());
        }
        if let Some(cache) = &self.cache {
            text.push_str(&cache.markdown());
        }
        if !self.lookups.is_empty() {
            let _ = write!(
                text,
                "\n## Look-ups of the response cache among many answers\n\nRecall: of the questions that have a text at the threshold or nearer, for how many the nearest was found.\n\n{}",
                cache_lookups::table(&self.lookups).text()
            );
        }
        if !self.core.lines.is_empty() {
            let _ = write!(
                text,
                "\n## The core alone: microseconds a call, native (not WebAssembly), median\n\n{}",
                self.core.table().text()
            );
            let _ = write!(
                text,
                "\n## A request of a run by steps since the last user message: the core alone, native, median\n\n{}",
                self.core.runs_table().text()
            );
        }
        if !self.core.passes.is_empty() {
            let _ = write!(
                text,
                "\n## Each pass: microseconds of a request of a run, or of an answer in parts of 4 kB, from its first byte to its last; native, host in memory, median\n\n{}",
                self.core.passes_table().text()
            );
        }
        if let Some(load) = &self.load {
            text.push_str(&load::report::markdown(load));
        }
        if let Some(resources) = &self.resources {
            text.push_str(&resources.markdown());
        }
        if !self.engine.is_empty() {
            let _ = write!(
                text,
                "\n## The embedder alone: milliseconds from a text to its vector, one thread, 10th percentile\n\n{}",
                engine::table(&self.engine).text()
            );
        }
        if !self.store.is_empty() {
            let _ = write!(
                text,
                "\n## Redis as the prompt history: read directly, or by the search module\n\n{}",
                store::table(&self.store).text()
            );
        }
        text
    }

    /// Each case with each build of the filter.
    fn pairs(&self) -> impl Iterator<Item = (&Case, &Figures, &Rival, &Figures)> {
        self.measured
            .iter()
            .filter_map(|Measured { case, figures }| Some((case, figures.split_first()?)))
            .flat_map(|(case, (without, with))| {
                let rivals = self.rivals.iter().skip(1);
                rivals.zip(with).map(move |(rival, with)| (case, without, rival, with))
            })
    }

    fn goals(&self) -> Table {
        let mut table = Table::new(&["goal", "build", "measured", "met"]);
        for (case, without, rival, with) in self.pairs().filter(|(case, ..)| case.connections == 1) {
            let (goal, value, limit) = if case.way == LOCAL && case.kb == 16 {
                let goal = format!("local path, 16 kB: adds at most {GOAL_LOCAL} ms (p50)");
                (goal, with.quantile(0.5) - without.quantile(0.5), GOAL_LOCAL)
            } else if case.asks_service {
                let goal = format!("{}: under {GOAL_SERVICE} ms in all (p99)", case.name());
                (goal, with.quantile(0.99), GOAL_SERVICE)
            } else {
                continue;
            };
            let met = if value > limit {
                "no"
            } else if holds(case, with) {
                "yes"
            } else {
                "not measured: see the proof"
            };
            table.row(vec![goal, rival.name.clone(), ms(value), met.to_owned()]);
        }
        table
    }

    fn latency(&self, wanted: impl Fn(&Case) -> bool) -> Table {
        let mut table = Table::new(&[
            "way",
            "kB",
            "build",
            "p50 without",
            "p50 with",
            "added",
            "quartiles",
            "ratio",
            "p99 without",
            "p99 with",
            "added",
            "Envoy \u{b5}s without",
            "with",
            "requests",
            "proof",
        ]);
        let mut pairs: Vec<_> =
            self.pairs().filter(|(case, ..)| case.connections == 1 && wanted(case)).collect();
        // The last step of a path is the whole path.
        if pairs.iter().any(|(case, ..)| is_step(case)) {
            pairs.sort_by_key(|(case, ..)| (case.kb, !is_step(case)));
        }
        for (case, without, rival, with) in pairs {
            let [before, after] = [0.5, 0.99].map(|share| (without.quantile(share), with.quantile(share)));
            let [low, high] = with.added(without);
            table.row(vec![
                case.way.to_owned(),
                case.kb.to_string(),
                rival.name.clone(),
                ms(before.0),
                ms(before.1),
                ms(before.1 - before.0),
                format!("{} to {}", ms(low), ms(high)),
                format!("{:.2}", before.1 / before.0),
                ms(after.0),
                ms(after.1),
                ms(after.1 - after.0),
                format!("{:.0}", without.processor),
                format!("{:.0}", with.processor),
                with.requests().to_string(),
                proof(case, with),
            ]);
        }
        table
    }

    fn throughput(&self) -> Table {
        let mut table =
            Table::new(&["way", "kB", "connections", "build", "without", "with", "ratio", "proof"]);
        for (case, without, rival, with) in self.pairs().filter(|(case, ..)| !is_step(case)) {
            table.row(vec![
                case.way.to_owned(),
                case.kb.to_string(),
                case.connections.to_string(),
                rival.name.clone(),
                format!("{:.0}", without.rate),
                format!("{:.0}", with.rate),
                format!("{:.2}", with.rate / without.rate),
                proof(case, with),
            ]);
        }
        table
    }

    fn proofs(&self) -> Table {
        let mut table = Table::new(&["case", "build", "all as meant"]);
        for (case, _, rival, with) in self.pairs() {
            if let Some(proof) = with.proof {
                table.row(vec![case.name(), rival.name.clone(), proof.text(case, with.requests())]);
            }
        }
        table
    }

    pub fn json(&self) -> Value {
        let figures = |figures: &Figures| {
            json!({
                "p50_ms": figures.quantile(0.5), "p90_ms": figures.quantile(0.9), "p99_ms": figures.quantile(0.99),
                "requests": figures.requests(), "envoy_processor_micros_per_request": figures.processor, "requests_per_second": figures.rate,
            })
        };
        let cases: Vec<Value> = self
            .pairs()
            .map(|(case, without, rival, with)| {
                json!({
                    "way": case.way, "body_kb": case.kb, "connections": case.connections, "build": rival.name,
                    "without": figures(without), "with": figures(with),
                    "added_p50_quartiles_ms": with.added(without),
                    "proof_holds": holds(case, with), "counted": with.proof.map(|proof| proof.json()),
                })
            })
            .collect();
        let builds: Vec<Value> = self
            .rivals
            .iter()
            .filter_map(|rival| Some(json!({"build": rival.name, "bytes": rival.module?})))
            .collect();
        let core: Vec<Value> = self
            .core
            .lines
            .iter()
            .map(|line| json!({"step": line.step, "what": line.what, "native_micros": line.micros}))
            .collect();
        let machine: Vec<Value> = self.machine.iter().map(|(name, fact)| json!({*name: fact})).collect();
        let runs: Vec<Value> = self
            .core
            .runs
            .iter()
            .map(|(steps, micros)| json!({"steps": steps, "native_micros": micros}))
            .collect();
        let passes: Vec<Value> = self
            .core
            .passes
            .iter()
            .map(|(pass, [small, large])| json!({"pass": pass, "native_micros_16_kb": small, "native_micros_256_kb": large}))
            .collect();
        let load = self.load.as_ref().map(load::report::json);
        let resources = self.resources.as_ref().map(Resources::json);
        let cpu = self.cpu.as_ref().map(Cpu::json);
        let control = self.control.as_ref().map(Control::json);
        let hostile = self.hostile.as_ref().map(Hostile::json);
        json!({"machine": machine, "builds": builds, "cases": cases, "core": core, "runs": runs, "passes": passes, "engine": self.engine, "store": self.store, "load": load, "resources": resources, "cpu": cpu, "control": control, "hostile": hostile, "cache": self.cache.as_ref().map(Cache::json), "cache_lookups": self.lookups})
    }
}

fn is_step(case: &Case) -> bool {
    STEPS.contains(&case.way)
}

fn holds(case: &Case, with: &Figures) -> bool {
    with.proof.is_some_and(|proof| proof.holds(case, with.requests()))
}

fn proof(case: &Case, with: &Figures) -> String {
    if holds(case, with) { "yes" } else { "see below" }.to_owned()
}

fn ms(value: f64) -> String {
    format!("{value:.3}")
}
