//! Measures what the filter adds to a request: the same Envoy with and without it side by side, requests in turns, and
//! the figures of the core. Prints tables and writes them to `target/bench/`. It does not fail because of slow figures,
//! only if it could not measure.
//!
//! - `BENCH_SECONDS`: time for the measuring on Envoy in all (default 150)
//! - `BENCH_ONLY`: only cases whose name contains one of these texts, separated by semicolons; `core` is the core's, `passes`
//!   its part about the passes, `store` Redis's, `load` the embedding service's under load, `engine` the embedder's alone,
//!   `resources` memory and processor, `cpu` Envoy's processor time for a request, `hostile` that for bodies built to be costly,
//!   `control` what control costs Envoy and the service, `cache` the response cache on a workload and what follows, `cache-lookups` its look-ups among many answers; most of these
//!   have settings of their own (`store.rs`, `cache_lookups.rs`, `load/mod.rs`, `engine.rs`, `resources.rs`, `cpu/mod.rs`,
//!   `control/mod.rs`, `hostile/mod.rs`)
//! - `BENCH_BUILDS`: other builds of the filter to compare, `name=path.wasm`, separated by commas; all in the same turns

mod cache;
mod cache_lookups;
mod case;
mod client;
mod control;
#[path = "../../../../filter/pipeline/benches/core/conversation.rs"]
mod conversation;
mod core;
mod cpu;
mod engine;
mod full_redis;
mod hostile;
mod load;
mod measure;
mod pinned;
mod proof;
mod report;
mod resources;
mod rival;
mod store;
mod table;
mod upstream;
mod usage;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use report::{Measured, Report};
use rival::Rival;
use sentinel_harness::service::Service;
use sentinel_harness::{parts, said};

const SECONDS: f64 = 150.0;
/// Share of it for warming up the Envoys.
const WARM_UP: f64 = 0.12;

fn main() {
    said::plainly();
    let began = Instant::now();
    let seconds = seconds_of("BENCH_SECONDS", SECONDS);
    let only: Option<Vec<String>> =
        setting("BENCH_ONLY").map(|only| only.split(';').map(str::to_owned).collect());
    let wanted =
        |name: &str| only.as_ref().is_none_or(|only| only.iter().any(|text| name.contains(text.as_str())));

    let out = target().join("bench");
    fs::create_dir_all(&out).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
    let mut machine =
        vec![("processor", processor()), ("load at the start (1, 5, 15 minutes)", load_average())];
    let core = if wanted("core") || wanted("passes") {
        println!("the core alone (builds and runs its bench) ...");
        core::measure(&out, wanted("core"))
    } else {
        core::Core::default()
    };

    let engine = if wanted("engine") {
        println!("the embedder alone (builds and runs its bench) ...");
        engine::measure()
    } else {
        Vec::new()
    };
    let store = if wanted("store") {
        println!("Redis as the prompt history ...");
        store::measure()
    } else {
        Vec::new()
    };

    let folder = tempfile::Builder::new().prefix("sentinel-bench").tempdir().expect("a temporary folder");
    let load = wanted("load").then(|| {
        println!("the embedding service under load ...");
        load::measure(folder.path())
    });

    let resources = wanted("resources").then(|| {
        println!("memory and processor ...");
        resources::measure(folder.path())
    });

    let cpu = wanted("cpu").then(|| {
        println!("processor time of a request ...");
        cpu::measure(folder.path())
    });

    let control = wanted("control").then(|| {
        println!("what control costs ...");
        control::measure(folder.path())
    });

    let hostile = wanted("hostile").then(|| {
        println!("bodies that are built to be costly ...");
        hostile::measure(folder.path())
    });

    let cache = wanted("cache").then(|| {
        println!("the response cache on a workload ...");
        cache::measure()
    });

    let lookups = if wanted("cache-lookups") {
        println!("look-ups of the response cache among many answers (builds and runs its bench) ...");
        cache_lookups::measure()
    } else {
        Vec::new()
    };

    let cases: Vec<_> = case::all().into_iter().filter(|case| wanted(&case.name())).collect();
    let (mut rivals, mut measured, mut service) = (Vec::new(), Vec::new(), None);
    if !cases.is_empty() {
        println!("starting the embedding service (loads and warms the model) and the Envoys ...");
        let socket = folder.path().join("embedding.sock");
        service = Some(Service::start(folder.path(), &socket, &[]));
        rivals = start(folder.path(), &socket);
        println!("warming them for {:.0} s ...", seconds * WARM_UP);
        let sent = measure::warm(&case::warm_up(), &rivals, Duration::from_secs_f64(seconds * WARM_UP));
        machine.push(("requests to each Envoy before the measuring", sent.to_string()));
        let share = Duration::from_secs_f64(seconds * (1.0 - WARM_UP) / cases.len() as f64);
        let count = cases.len();
        for (number, case) in (1..).zip(cases) {
            println!(
                "[{number:>2}/{count}] {:<55} about {:>3.0} s left",
                case.name(),
                share.as_secs_f64() * f64::from(count as u32 - number + 1)
            );
            let figures = measure::measure(&case, &rivals, share);
            measured.push(Measured { case, figures });
        }
    }
    machine.push(("load at the end", load_average()));
    machine.push(("measured in", format!("{:.0} s", began.elapsed().as_secs_f64())));
    for rival in &rivals {
        machine.extend(rival.module.map(|bytes| ("filter", format!("{}, {bytes} bytes", rival.name))));
    }
    let report = Report {
        rivals,
        measured,
        core,
        engine,
        store,
        load,
        resources,
        cpu,
        control,
        hostile,
        cache,
        lookups,
        machine,
    };
    let text = report.markdown();
    println!("\n{text}");
    for (name, content) in [("bench.md", text), ("bench.json", format!("{:#}\n", report.json()))] {
        let file = out.join(name);
        fs::write(&file, content).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        println!("written: {}", file.display());
    }
    // Envoy is stopped before the service and the folder that both use.
    drop(report);
    drop(service);
}

/// The Envoy without the filter, then one with each build of it.
fn start(folder: &Path, socket: &Path) -> Vec<Rival> {
    let provider = upstream::start();
    let mut rivals = vec![
        Rival::without(folder, provider, socket),
        Rival::with("filter", folder, provider, socket, parts::filter()),
    ];
    for build in setting("BENCH_BUILDS").iter().flat_map(|builds| builds.split(',')) {
        let (name, path) = build.split_once('=').unwrap_or_else(|| {
            panic!("BENCH_BUILDS has {build:?}: give name=path.wasm, separated by commas")
        });
        let path = parts::root().join(path);
        assert!(path.is_file(), "BENCH_BUILDS: there is no module {}", path.display());
        rivals.push(Rival::with(name, folder, provider, socket, path));
    }
    rivals
}

/// A time in seconds, from the environment.
fn seconds_of(name: &str, default: f64) -> f64 {
    setting(name).map_or(default, |given| {
        let seconds = given.parse().ok().filter(|seconds| (1.0..=3600.0).contains(seconds));
        seconds.unwrap_or_else(|| panic!("{name} is {given:?}: give a number of seconds from 1 to 3600"))
    })
}

fn setting(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Cargo's target folder.
fn target() -> PathBuf {
    parts::root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let count = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{} x {}", count, name.map_or("unknown", |(_, name)| name.trim()))
}

fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
