//! What control costs: processor time of Envoy for a request, and of the service at a steady rate, each with control off and on in the
//! same run; how many requests of a budget ask the service; and a page of very many runs.
//!
//! - `BENCH_CONTROL_SECONDS`: time of the measuring on Envoy in all (default 120)

mod report;
mod runs;
mod steady;

use std::path::Path;
use std::time::{Duration, Instant};

use sentinel_harness::operator::Operator;
use sentinel_harness::redis::Redis;
use sentinel_harness::service::Service;
use serde_json::{Value, json};

use crate::case;
use crate::conversation::Dice;
use crate::cpu::{Lane, Line, Variant, shuffled};
use crate::rival::Rival;
use crate::{pinned, seconds_of, upstream};

const SECONDS: f64 = 120.0;
/// Share of the time for Envoy's processor time; the rest is for the steady rate.
const PINNED: f64 = 0.6;
const WARM_UP: usize = 3;
const MIN_ROUNDS: usize = 3;
/// Bodies, in kB.
const SIZES: [usize; 2] = [1, 16];

pub struct Control {
    /// Envoy's processor time: without the filter, and with control off, on and with a budget, for each size.
    lines: Vec<Line>,
    /// Requests that had a budget, and calls of the service for them.
    budgeted: u64,
    asked: u64,
    steady: Vec<steady::Steady>,
    pages: Vec<runs::Pages>,
}

/// A service with a store, and what operates it.
struct Side {
    name: &'static str,
    service: Service,
    operator: Operator,
    // Dropped after the service that uses it.
    _redis: Option<Redis>,
}

impl Side {
    fn start(folder: &Path, name: &'static str) -> Self {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let operator = Operator::on_a_free_port();
        let mut settings: Vec<(String, String)> =
            operator.settings().map(|(name, value)| (name.to_owned(), value)).into();
        let redis = (name == "Redis").then(Redis::start);
        settings.extend(redis.iter().map(|redis| ("REDIS_URL".to_owned(), redis.url())));
        let service = Service::start(&folder, &folder.join("service.sock"), &settings);
        Self { name, service, operator, _redis: redis }
    }
}

const OFF: &str = "control off";
const ON: &str = "control on";
const BUDGET: &str = "control on, with a budget";

/// What is above the filter's configuration.
fn configuration(variant: &str) -> Value {
    match variant {
        OFF => json!({}),
        ON => json!({"control": {"enabled": true}}),
        _ => json!({"control": {"enabled": true}, "budgets": [
            {"name": "wide", "agent_prefix": "local-", "per": "agent", "window": "day", "limits": {"usd": 1_000_000}},
        ]}),
    }
}

fn rival(variant: &str, folder: &Path, provider: u16, side: &Side) -> Rival {
    let folder = folder.join(format!("envoy-{}", side.name));
    Rival::configured(variant, &folder, provider, side.service.socket(), &configuration(variant))
}

pub fn measure(folder: &Path) -> Control {
    let folder = folder.join("control");
    std::fs::create_dir(&folder).expect("a folder");
    let seconds = seconds_of("BENCH_CONTROL_SECONDS", SECONDS);
    let (lines, budgeted, asked) = {
        let side = Side::start(&folder, "memory");
        pinned::on_one_processor(|processor| envoys(processor, &folder, &side, seconds * PINNED))
    };
    println!("      a steady rate ...");
    // Each Envoy and each service has a folder of its own.
    let parts = ["steady", "pages"].map(|part| folder.join(part));
    let mut steady = Vec::new();
    for store in ["memory", "Redis"] {
        let side = Side::start(&parts[0], store);
        let time = Duration::from_secs_f64(seconds * (1.0 - PINNED) / 4.0);
        for variant in [OFF, ON] {
            let rival = rival(variant, &parts[0], upstream::start(), &side);
            steady.push(steady::measure(&rival, &side, variant, time));
        }
    }
    println!("      pages of {} runs ...", runs::RUNS);
    let pages = ["memory", "Redis"].map(|store| runs::measure(&Side::start(&parts[1], store)));
    Control { lines, budgeted, asked, steady, pages: pages.into() }
}

/// Slices of a second of all variants follow each other in random order, on one processor.
fn envoys(processor: usize, folder: &Path, side: &Side, seconds: f64) -> (Vec<Line>, u64, u64) {
    let provider = upstream::start();
    let without = Rival::without(folder, provider, side.service.socket());
    pinned::pin_process(without.id(), processor);
    let rivals = [OFF, ON, BUDGET].map(|variant| rival(variant, folder, provider, side));
    rivals.iter().for_each(|rival| pinned::pin_process(rival.id(), processor));
    let mut lanes: Vec<Lane> = Vec::new();
    for kb in SIZES {
        let [_, inspected] = case::processor(kb);
        let variant = |rival: &Rival| Variant::Inspected(rival.name.clone());
        lanes.push(Lane::open(
            &without,
            &case::Case { verdict: None, ..inspected.clone() },
            Variant::Without,
        ));
        lanes.extend(rivals.iter().map(|rival| Lane::open(rival, &inspected, variant(rival))));
    }
    for _ in 0..WARM_UP {
        lanes.iter_mut().for_each(|lane| drop(lane.slice()));
    }
    let mut dice = Dice::new(13);
    let began = Instant::now();
    for round in 0.. {
        if round >= MIN_ROUNDS && began.elapsed().as_secs_f64() > seconds {
            break;
        }
        for at in shuffled(lanes.len(), &mut dice) {
            lanes[at].note();
        }
    }
    let lines = lanes.into_iter().map(Lane::line).collect();
    let budgeted = rivals[2].metrics().sum("sentinel_reservations_total", &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let asked = runtime.block_on(side.operator.metrics());
    (lines, budgeted, asked.sum("embedding_service_control_reservations_total", &[]))
}
