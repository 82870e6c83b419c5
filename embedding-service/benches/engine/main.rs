//! The embedder alone, one thread, one text at a time: the model that is shipped, as this machine computes it fastest, against
//! its slower ways of computing it, against the same graph in float32, and against sentence-transformers and fastembed where
//! there is a Python that has them; in turns. Writes a line of JSON for each engine and length. `make bench` runs it.

// Lints for the server's own code: a bench says what is wrong by failing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use embedding_service::embed::Embedder;
use embedding_service::embed::model_files::ModelFiles;
use embedding_service::embed::onnx::{OnnxEmbedder, Runtime};
use sentinel_encoder::Processor;
use serde_json::json;

/// Lengths of the texts in tokens, the special ones included.
const LENGTHS: [usize; 3] = [16, 64, 128];
/// Time for each length, and rounds that are measured even when it is up.
const SHARE: Duration = Duration::from_secs(6);
const MIN_ROUNDS: usize = 5;
/// Calls of one engine after each other, as a service makes them.
const CALLS_IN_A_ROW: usize = 8;
/// Each of them is one token.
const WORDS: [&str; 8] = ["the", "agent", "reads", "a", "file", "and", "asks", "again"];

/// As engine.py calls them.
const OTHERS: [&str; 2] = ["sentence-transformers", "fastembed"];

#[derive(Parser)]
struct Options {
    /// The shared library of ONNX Runtime.
    #[arg(long)]
    library: PathBuf,
    /// The model that is shipped.
    #[arg(long)]
    model: PathBuf,
    /// The same in float32.
    #[arg(long)]
    float: PathBuf,
    /// Folder with the weights that both were built from.
    #[arg(long)]
    weights: PathBuf,
    /// A Python with sentence-transformers, fastembed or both.
    #[arg(long)]
    python: Option<PathBuf>,
    /// Cargo says this to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let options = Options::parse();
    let runtime = Runtime::load(&options.library).unwrap_or_else(|error| panic!("{error}"));
    let load = |path: &Path, processor| {
        ModelFiles::find(path)
            .and_then(|files| OnnxEmbedder::load_for(&runtime, &files, processor))
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let mut processors = Processor::accelerated().into_iter();
    let (mut shipped, mut float) = (load(&options.model, processors.next()), load(&options.float, None));
    // The slower ways to compute the model, which other machines use.
    let mut slower: Vec<_> = processors
        .map(Some)
        .chain([None])
        .map(|processor| (load(&options.model, processor), processor, Vec::new()))
        .collect();
    let mut others: Vec<Python> = match &options.python {
        Some(program) => {
            OTHERS.into_iter().filter_map(|engine| Python::start(program, engine, &options)).collect()
        }
        None => Vec::new(),
    };
    for tokens in LENGTHS {
        let text: Vec<&str> = WORDS.iter().copied().cycle().take(tokens - 2).collect();
        let text = text.join(" ");
        let tokeniser = shipped.tokeniser();
        let tokenised = tokeniser.tokenise(&text).expect("it is tokenised");
        assert_eq!(tokenised.token_ids.len(), tokens, "a word of WORDS is not one token");
        let (mut ours, mut tokenising, mut floats) = (vec![], vec![], vec![]);
        let until = Instant::now() + SHARE;
        while ours.len() < MIN_ROUNDS * CALLS_IN_A_ROW || Instant::now() < until {
            // The first call does not count: the processor's cache still holds the weights of another engine.
            let measure = |times: &mut Vec<f64>, call: &mut dyn FnMut()| {
                call();
                times.extend((0..CALLS_IN_A_ROW).map(|_| timed(call)));
            };
            measure(&mut tokenising, &mut || drop(tokeniser.tokenise(&text)));
            measure(&mut ours, &mut || drop(shipped.embed(&text)));
            measure(&mut floats, &mut || drop(float.embed(&text)));
            for (embedder, _, times) in &mut slower {
                measure(times, &mut || drop(embedder.embed(&text)));
            }
            others.iter_mut().for_each(|other| other.times(&text));
        }
        let own = undisturbed(ours);
        let tell = |engine: &str, whole: f64, tokenising: Option<f64>| {
            println!(
                "{}",
                json!({"tokens": tokens, "engine": engine, "p10_ms": whole, "tokenising_p10_ms": tokenising, "ratio": whole / own})
            );
        };
        tell("shipped", own, Some(undisturbed(tokenising)));
        for (_, processor, times) in &mut slower {
            let by = processor.map_or("ONNX Runtime".to_owned(), |processor| format!("{processor}"));
            tell(&format!("the same, by {by}"), undisturbed(std::mem::take(times)), None);
        }
        tell("the same graph, float32", undisturbed(floats), None);
        for other in &mut others {
            tell(other.engine, undisturbed(std::mem::take(&mut other.times)), None);
        }
    }
}

/// Milliseconds.
fn timed(work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

/// The 10th percentile: on a busy machine the median says more of its other work than of this.
fn undisturbed(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 10]
}

/// A running engine.py.
struct Python {
    engine: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Milliseconds, by its own clock.
    times: Vec<f64>,
}

impl Python {
    /// Nothing if this Python has no such engine.
    fn start(program: &Path, engine: &'static str, options: &Options) -> Option<Self> {
        let mut child = Command::new(program)
            .args(["-c", include_str!("engine.py"), engine])
            .args([&options.weights, &options.float])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("BENCH_PYTHON: {}: {error}", program.display()));
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut python = Self { engine, child, input, output: BufReader::new(output), times: Vec::new() };
        match python.line().as_str() {
            "ready" => Some(python),
            "missing" => None,
            _ => panic!("BENCH_PYTHON: {engine} did not start; its message is above"),
        }
    }

    fn line(&mut self) -> String {
        let mut answer = String::new();
        self.output
            .read_line(&mut answer)
            .unwrap_or_else(|error| panic!("BENCH_PYTHON: {}: {error}", self.engine));
        answer.trim().to_owned()
    }

    /// Calls in a row: the first call does not count.
    fn times(&mut self, text: &str) {
        for call in 0..=CALLS_IN_A_ROW {
            let asked = writeln!(self.input, "{}", serde_json::Value::from(text));
            let answer = self.line();
            let time: Option<f64> = asked.ok().and_then(|()| answer.parse().ok());
            let engine = self.engine;
            let time =
                time.unwrap_or_else(|| panic!("BENCH_PYTHON: {engine} gave no time; its message is above"));
            self.times.extend((call > 0).then_some(time));
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
