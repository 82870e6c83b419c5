//! What the response cache would serve of given pairs of prompts: embeds both with the real model, asks
//! whether they are the same question, and writes report.json and report.html. Ends with 1 where too many traps are served, with 2 where the input is
//! wrong. What must not live here: anything that decides what is served.

mod figures;
mod page;
mod pairs;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use embedding_service::{
    cache::equality::asks_the_same,
    embed::{
        Embedder as _,
        model_files::ModelFiles,
        onnx::{OnnxEmbedder, Runtime},
    },
    similarity,
};

use figures::{CacheReport, JudgedPair};
use pairs::Pair;

/// Which answers the response cache would serve to which prompts.
#[derive(Parser)]
struct Args {
    /// JSON lines of `a`, `b`, `same_answer`, `category`.
    pairs: PathBuf,
    /// Folder for report.json and report.html.
    #[arg(long, default_value = "target/eval-cache")]
    out: PathBuf,
    /// Served from this similarity on.
    #[arg(long, default_value_t = 0.875)]
    threshold: f64,
    /// The shared library of ONNX Runtime.
    #[arg(long, env = "ORT_DYLIB_PATH")]
    library: PathBuf,
    /// The model, or its folder.
    #[arg(long, env = "LOOP_EMBEDDING_MODEL_PATH")]
    model: PathBuf,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match evaluate(&args) {
        Ok(report) => {
            println!("{}", report.table());
            println!("written: {}", args.out.join("report.html").display());
            if report.serves_too_many_traps() {
                eprintln!("FAIL: more than 1 % of the traps are served; see `served_traps` in report.json");
                return ExitCode::from(1);
            }
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn evaluate(args: &Args) -> Result<CacheReport, String> {
    let pairs = pairs::read(&args.pairs)?;
    let report = CacheReport { threshold: args.threshold, judged: judged(args, pairs)? };
    fs::create_dir_all(&args.out).map_err(|error| format!("cannot make {}: {error}", args.out.display()))?;
    write(&args.out.join("report.json"), &format!("{:#}\n", report.json()))?;
    write(&args.out.join("report.html"), &page::page(&report))?;
    Ok(report)
}

fn judged(args: &Args, pairs: Vec<Pair>) -> Result<Vec<JudgedPair>, String> {
    let runtime = Runtime::load(&args.library).map_err(|error| error.to_string())?;
    let files = ModelFiles::find(&args.model).map_err(|error| error.to_string())?;
    let mut model = OnnxEmbedder::load(&runtime, &files).map_err(|error| error.to_string())?;
    pairs
        .into_iter()
        .map(|pair| {
            let mut embed = |text: &str| model.embed(text).map_err(|error| error.to_string());
            let ((a, _), (b, _)) = (embed(&pair.a)?, embed(&pair.b)?);
            // What the model did not see has to be the same, as for any comparison of prompts.
            let similarity =
                if a.unseen == b.unseen { similarity::of_vectors(&a.vector, &b.vector) } else { 0.0 };
            let is_same = asks_the_same(&pair.a, &pair.b);
            Ok(JudgedPair { pair, similarity, is_same })
        })
        .collect()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
