//! The figures of the core: runs its criterion bench (filter/pipeline/benches) for a short time and reads its results.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use sentinel_harness::parts;
use serde_json::Value;

use crate::table::Table;

/// The steps of a request in order, by their names in the bench, and their input.
const STEPS: [(&str, &str); 6] = [
    ("parse", "read a body"),
    ("digest", "digest a body"),
    ("normalise", "normal form of a text of that size"),
    ("fingerprint", "fingerprint of a prompt of that size"),
    ("splice", "find the place and put the hint in"),
    ("request", "all of it: a new prompt and its answer, host in memory"),
];
/// Lengths of a run, in steps.
const RUNS: [u32; 4] = [10, 100, 1_000, 5_000];

/// The measured passes: the name in the table, the name in the bench, and the line that each is compared with.
const PASSES: [(&str, &str, usize); 15] = [
    ("request, no pass", "passes/off", 0),
    ("tools", "passes/tools", 0),
    ("guard", "passes/guard", 0),
    ("spotlight", "passes/spotlight", 0),
    ("truncation", "passes/truncation", 0),
    ("truncation that cuts", "passes/truncation_cuts", 0),
    ("repair", "passes/repair", 0),
    ("history", "passes/history", 0),
    ("pruning", "passes/pruning", 0),
    ("memory_flush", "passes/memory_flush", 0),
    ("all of these", "passes/all", 0),
    ("whole answer, as it came", "clean/whole_off", 11),
    ("clean", "clean/whole_on", 11),
    ("stream, as it came", "clean/stream_off", 13),
    ("clean", "clean/stream_on", 13),
];

/// The core's figures.
#[derive(Default)]
pub struct Core {
    pub lines: Vec<Line>,
    /// Each pass, and its median at 16 and 256 kB in microseconds.
    pub passes: Vec<(&'static str, [f64; 2])>,
    /// Steps of a run, and the median time of its last request in microseconds.
    pub runs: Vec<(u32, f64)>,
}

/// One line of the table: medians in microseconds at 1, 16 and 256 kB.
pub struct Line {
    pub step: String,
    pub what: &'static str,
    pub micros: Vec<f64>,
}

/// Builds and runs the bench, or only its part about the passes. Its files go below `folder`.
pub fn measure(folder: &Path, has_all: bool) -> Core {
    let home = folder.join("criterion");
    // Results of an earlier run must not be read.
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).expect("a folder for criterion");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let log = folder.join("criterion.log");
    let output = fs::File::create(&log).expect("criterion's log");
    let status = Command::new(cargo)
        .args(["bench", "--quiet", "--package", "sentinel-pipeline", "--bench", "core", "--"])
        .args(["--warm-up-time", "0.2", "--measurement-time", "1.5", "--sample-size", "50"])
        .args(if has_all { None } else { Some("^(passes|clean)/") })
        .env("CRITERION_HOME", &home)
        // With the settings of the module and not of the service.
        .env("CARGO_PROFILE_BENCH_OPT_LEVEL", "2")
        .current_dir(parts::root())
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("a second handle"))
        .stderr(output)
        .status()
        .expect("cargo starts");
    if !status.success() {
        let said = fs::read_to_string(&log).unwrap_or_default();
        panic!("the core's bench failed; it said:\n{said}");
    }
    let median = |below: &str| {
        let file = home.join(below).join("new/estimates.json");
        let text = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let estimates: Value = serde_json::from_slice(&text).expect("criterion writes JSON");
        estimates.pointer("/median/point_estimate").and_then(Value::as_f64).expect("a median") / 1e3
    };
    let passes =
        PASSES.map(|(name, path, _)| (name, ["16", "256"].map(|kb| median(&format!("{path}/{kb}")))));
    if !has_all {
        return Core { passes: passes.to_vec(), ..Core::default() };
    }
    let lines = STEPS.map(|(step, what)| Line {
        step: step.to_owned(),
        what,
        micros: ["1", "16", "256"].map(|kb| median(&format!("{step}/{kb}"))).to_vec(),
    });
    let runs = RUNS.map(|steps| (steps, median(&format!("steps/{steps}"))));
    Core { lines: lines.into(), passes: passes.to_vec(), runs: runs.to_vec() }
}

impl Core {
    pub fn table(&self) -> Table {
        let mut table = Table::new(&["step", "1 kB", "16 kB", "256 kB", "what"]);
        for Line { step, what, micros } in &self.lines {
            let cell =
                |at: usize| micros.get(at).map_or_else(|| "same".to_owned(), |micros| format!("{micros:.2}"));
            table.row(vec![step.clone(), cell(0), cell(1), cell(2), (*what).to_owned()]);
        }
        table
    }

    pub fn passes_table(&self) -> Table {
        let mut table = Table::new(&["pass", "16 kB, \u{b5}s", "of none", "256 kB, \u{b5}s", "of none"]);
        for ((name, micros), (_, _, none)) in self.passes.iter().zip(PASSES) {
            let share = |at: usize| format!("{:.2}", micros[at] / self.passes[none].1[at]);
            let cells = [0, 1].map(|at| [format!("{:.1}", micros[at]), share(at)]);
            table.row([vec![(*name).to_owned()], cells.concat()].concat());
        }
        table
    }

    pub fn runs_table(&self) -> Table {
        let mut table = Table::new(&["steps", "\u{b5}s", "\u{b5}s a step"]);
        for (steps, micros) in &self.runs {
            table.row(vec![
                steps.to_string(),
                format!("{micros:.1}"),
                format!("{:.3}", micros / f64::from(*steps)),
            ]);
        }
        table
    }
}
