//! Control in numbers: pages of 100,000 runs, in the API and in the console, and what a turn costs the service. In memory, and in the Redis
//! that `--redis` names, which is to be empty. Prints a line of JSON for each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    reason = "a bench says what is wrong by failing"
)]

mod console;

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use clap::Parser;
use embedding_service::{
    control::{
        Control,
        options::ControlOptions,
        run::RunStatus,
        runs::{RunQuery, Sort},
        store::{ControlStore, MemoryControl, RedisControl},
    },
    history::open::StoreOptions,
    settings::{RawSettings, Settings},
};
use sentinel_proto::v1;
use serde_json::json;

#[derive(Parser)]
struct Arguments {
    /// Address of an empty Redis.
    #[arg(long)]
    redis: Option<String>,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

const RUNS: u64 = 100_000;
/// Turns of one report.
const REPORT: u64 = 1_000;
const PAGES: usize = 50;

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// A turn of one of `runs` runs.
fn turn(number: u64, runs: u64) -> v1::Turn {
    let run = number % runs;
    v1::Turn {
        number,
        names: Some(v1::Names {
            tenant: format!("tenant-{}", run % 20),
            agent: format!("agent-{}", run % 500),
            run: format!("task-{run}"),
            ..v1::Names::default()
        }),
        at_ms: now_ms(),
        duration_ms: 900,
        dialect: "openai_chat".to_owned(),
        provider: "openai".to_owned(),
        model: "gpt-4o-mini".to_owned(),
        status: 200,
        input_tokens: 2_000 + run,
        output_tokens: 100,
        end: v1::End::Calls.into(),
        // Every other run got one hint.
        verdict: run.is_multiple_of(2).then(|| v1::Verdict {
            kind: v1::verdict::Kind::Hint.into(),
            signal: "repeated_step".to_owned(),
            count: 3,
            tool: "read_file".to_owned(),
            enforced: true,
        }),
        steps: vec![v1::Step {
            tool: "read_file".to_owned(),
            kind: "content".to_owned(),
            ..v1::Step::default()
        }],
        ..v1::Turn::default()
    }
}

async fn count(control: &Control, from: u64, runs: u64) {
    let turns = (from..from + REPORT).map(|number| turn(number, runs)).collect();
    let counted = control.ingest.count("bench", turns, now_ms()).await.unwrap();
    assert_eq!(u64::from(counted.counted), REPORT);
}

/// Milliseconds of processor time that this process has used.
fn processor_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

async fn measure(name: &str, store: Arc<dyn ControlStore>) {
    let options = ControlOptions { idle: Duration::from_secs(86_400), ..ControlOptions::default() };
    let control = Arc::new(Control::new(store, &options));
    let mut number = 1;
    while number <= RUNS {
        count(&control, number, RUNS).await;
        number += REPORT;
    }
    // What the service does at 1,000 requests a second: it counts the turns, and brings the list of runs up to date every five seconds.
    let start = processor_ms();
    for _ in 0..10 {
        for _ in 0..5 {
            count(&control, number, RUNS).await;
            number += REPORT;
        }
        control.runs.refresh(Duration::ZERO).await.unwrap();
    }
    let microseconds = (processor_ms() - start) * 1e3 / 50_000.0;
    println!(
        "{}",
        json!({"store": name, "processor_us_a_turn": microseconds, "percent_of_a_core_at_1000_a_second": microseconds / 10.0})
    );

    for (what, query) in [
        ("first", RunQuery::default()),
        ("dearest", RunQuery { sort: Sort::Cost, ..RunQuery::default() }),
        ("of one agent", RunQuery { agent: Some("agent-7".to_owned()), ..RunQuery::default() }),
        (
            "with calls to do",
            RunQuery { status: vec![RunStatus::Tools], sort: Sort::Tokens, ..RunQuery::default() },
        ),
    ] {
        let query = RunQuery { limit: 100, ..query };
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..PAGES {
            let start = Instant::now();
            let page = control.runs.list(&query).await.unwrap();
            times.push(start.elapsed());
            assert_eq!(page.runs.len(), 100, "{what}");
        }
        print(name, what, times);
    }
    console::measure(name, control).await;
}

fn print(store: &str, page: &str, mut times: Vec<Duration>) {
    times.sort();
    let ms = |at: usize| times.get(at).unwrap().as_secs_f64() * 1e3;
    println!(
        "{}",
        json!({"store": store, "page": page, "runs": RUNS, "median_ms": ms(PAGES / 2), "slowest_ms": ms(PAGES - 1)})
    );
}

#[tokio::main]
async fn main() {
    let arguments = Arguments::parse();
    measure("memory", Arc::new(MemoryControl::new(2 << 30))).await;
    let Some(url) = arguments.redis else { return };
    let flags = ["embedding-service", "--model-path", "/nowhere", "--redis-url", &url];
    let settings = Settings::try_from(RawSettings::try_parse_from(flags).unwrap()).unwrap();
    let StoreOptions::Redis(redis) = settings.store else { panic!("no address of Redis") };
    measure("redis", Arc::new(RedisControl::open(&redis).await)).await;
}
