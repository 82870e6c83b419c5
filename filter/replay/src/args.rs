//! What the user asks for on the command line.

use std::path::PathBuf;

use clap::Parser;
use sentinel_harness::Dialect;

use crate::inject::{At, Loop};

/// Replays recorded agent runs through the filter and says which it would have hinted and killed.
///
/// Input: JSON lines {"id", "source", "label", "messages"}, `messages` a whole run in OpenAI chat form. Each request that
/// the agent must have sent (the history up to each assistant turn) is judged by the filter's core, without Envoy and,
/// unless --with-service is given, without the embedding service. Output: a table, and report.json and report.html below --out.
#[derive(Debug, Parser)]
#[command(name = "eval")]
pub struct Args {
    /// File of runs, plain or packed with gzip.
    pub traces: PathBuf,

    /// Folder for report.json and report.html [default: eval below Cargo's target folder].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// The filter's configuration (JSON), instead of the defaults. `mode` is always `enforce`, and `semantic` is off
    /// without --with-service.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Turns the runs into this dialect first: openai_chat, openai_responses, anthropic, gemini, gemini_interactions, bedrock or
    /// vertex_anthropic.
    #[arg(long, value_parser = dialect, default_value = "openai_chat")]
    pub dialect: Dialect,

    /// Only the runs with this label.
    #[arg(long)]
    pub label: Option<String>,

    /// Replays this many runs through the real Envoy too (needs `make build`); ends with 1 where the verdicts differ.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub through_envoy: usize,

    /// Judges prompts by their meaning too, with the real embedding service (needs `make build`).
    #[arg(long)]
    pub with_service: bool,

    /// Writes a loop into each healthy run and replays those alone.
    #[arg(long, value_name = "LOOP")]
    pub inject: Option<Loop>,

    /// Replays loops of six rewordings and batches in like words in the place of the runs, whose healthy prompts are the other work in
    /// them. FILE: a list in JSON of `{"origin", "similar"}`, `{"same": [..]}` or `{"batch": [..]}`; `own`: the set of the program.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inject", "label"])]
    pub rewordings: Option<PathBuf>,

    /// Replays once more for each condition of a kill with that condition off, and prints whom it saves and what it costs.
    #[arg(long)]
    pub conditions: bool,

    /// Where the loop begins: `random`, or with the step of this number.
    #[arg(long, default_value = "random")]
    pub at: At,

    /// Seed of everything that is drawn for the loops.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

fn dialect(label: &str) -> Result<Dialect, String> {
    Dialect::ALL.into_iter().find(|dialect| dialect.label() == label).ok_or_else(|| {
        let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.label()).collect();
        format!("give one of {}", known.join(", "))
    })
}
