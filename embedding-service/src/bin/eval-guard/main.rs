//! Judges texts as the input guard does, and, where a model is named, as the second opinion does. Says how many attacks each catches and
//! how many healthy texts it flags: `eval-guard texts.jsonl --out dir`. A line is `{"text", "place": "user" | "tool", "attack", "kind"}`.
//! Ends with 2 where the input is wrong.

// The lints are those of the service. This is a program for a user's own file, and counts what it holds.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use embedding_service::{embed::onnx::Runtime, second_opinion::model::Classifier};
use sentinel_guard::{Pattern, Place, scan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Parser)]
#[command(about = "Judges texts as the input guard does")]
struct Args {
    /// JSON lines of `text`, `place` (`user` or `tool`), `attack` and `kind`.
    texts: PathBuf,
    /// Folder for report.json, missed.jsonl and flagged.jsonl.
    #[arg(long)]
    out: Option<PathBuf>,
    /// The model of the second opinion, or its folder; without it the rules alone judge.
    #[arg(long, env = "GUARD_MODEL_PATH")]
    model: Option<PathBuf>,
    /// A text is a finding of the model above this score.
    #[arg(long, env = "GUARD_MODEL_THRESHOLD", default_value_t = 0.975)]
    threshold: f64,
    /// The shared library of ONNX Runtime.
    #[arg(long, env = "ORT_DYLIB_PATH", default_value = "libonnxruntime.so")]
    library: PathBuf,
}

/// What judges.
struct Judges {
    model: Option<Classifier>,
    threshold: f64,
}

/// What they say of a text.
struct Judgement {
    patterns: Vec<Pattern>,
    /// Of the model.
    score: Option<f64>,
    is_finding: bool,
}

impl Judges {
    fn of(args: &Args) -> Result<Self, String> {
        let load = |path: &PathBuf| {
            Runtime::load(&args.library).and_then(|runtime| Classifier::load(&runtime, path))
        };
        let model = args.model.as_ref().filter(|path| !path.as_os_str().is_empty());
        let model = model.map(load).transpose().map_err(|error| error.to_string())?;
        Ok(Self { model, threshold: args.threshold })
    }

    /// The model is given what the filter would send of the text: of a long one the beginning and the end.
    fn judge(&mut self, text: &str, place: Place) -> Result<Judgement, String> {
        const HALF: usize = 2_048;
        let patterns = scan(text, place).iter().map(|(pattern, _)| pattern).collect();
        let ends = [
            &text[..text.floor_char_boundary(HALF)],
            &text[text.ceil_char_boundary(text.len().saturating_sub(HALF))..],
        ];
        let sent = if text.len() <= 2 * HALF { text.to_owned() } else { ends.join("\n") };
        let score = self.model.as_mut().map(|model| model.score(&sent)).transpose();
        let score = score.map_err(|error| error.to_string())?;
        Ok(Judgement { patterns, score, is_finding: score.is_some_and(|score| score > self.threshold) })
    }
}

/// One line of the input, and of what is written beside the report.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TextLine {
    text: String,
    #[serde(default = "user")]
    place: String,
    attack: bool,
    #[serde(default)]
    kind: String,
    /// Only in what is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    patterns: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

fn user() -> String {
    Place::User.label().to_owned()
}

/// How many texts there are, and in how many of them something was found.
#[derive(Default, Serialize)]
struct Count {
    attacks: usize,
    caught: usize,
    healthy: usize,
    flagged: usize,
    /// What the model found. `either`: what the rules or the model found.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Found>,
    #[serde(skip_serializing_if = "Option::is_none")]
    either: Option<Found>,
    /// Texts in which each pattern was found.
    patterns: BTreeMap<&'static str, usize>,
}

/// Attacks and healthy texts that were found.
#[derive(Clone, Copy, Default, Serialize)]
struct Found {
    caught: usize,
    flagged: usize,
}

impl Found {
    fn add(&mut self, is_attack: bool, is_found: bool) {
        let count = if is_attack { &mut self.caught } else { &mut self.flagged };
        *count += usize::from(is_found);
    }
}

impl Count {
    fn add(&mut self, is_attack: bool, judged: &Judgement) {
        let patterns = &judged.patterns;
        let is_found = !patterns.is_empty();
        if judged.score.is_some() {
            self.model.get_or_insert_default().add(is_attack, judged.is_finding);
            self.either.get_or_insert_default().add(is_attack, is_found || judged.is_finding);
        }
        if is_attack {
            self.attacks += 1;
            self.caught += usize::from(is_found);
        } else {
            self.healthy += 1;
            self.flagged += usize::from(is_found);
        }
        for pattern in patterns {
            *self.patterns.entry(pattern.label()).or_default() += 1;
        }
    }

    /// Precision: the share of attacks among the texts that the rules found. Recall: the share of the attacks that they found.
    fn precision_and_recall(&self) -> [Option<f64>; 2] {
        let part = |of: usize, all: usize| (all > 0).then(|| of as f64 / all as f64);
        [part(self.caught, self.caught + self.flagged), part(self.caught, self.attacks)]
    }
}

fn main() -> ExitCode {
    match evaluate(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn evaluate(args: &Args) -> Result<(), String> {
    let name = args.texts.display();
    let texts = fs::read_to_string(&args.texts).map_err(|error| format!("{name}: {error}"))?;
    let mut judges = Judges::of(args)?;
    let (mut all, mut kinds) = (Count::default(), BTreeMap::<String, Count>::new());
    let (mut missed, mut flagged) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(texts.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut line: TextLine =
            serde_json::from_str(line).map_err(|error| format!("{name}, line {number}: {error}"))?;
        let place = [Place::User, Place::Tool].into_iter().find(|place| place.label() == line.place);
        let place =
            place.ok_or_else(|| format!("{name}, line {number}: `place` must be `user` or `tool`"))?;
        let judged =
            judges.judge(&line.text, place).map_err(|error| format!("{name}, line {number}: {error}"))?;
        all.add(line.attack, &judged);
        kinds.entry(line.kind.clone()).or_default().add(line.attack, &judged);
        line.patterns = judged.patterns.iter().map(|pattern| pattern.label().to_owned()).collect();
        line.score = judged.score;
        match (line.attack, judged.patterns.is_empty() && !judged.is_finding) {
            (true, true) => missed.push(line),
            (false, false) => flagged.push(line),
            _ => {}
        }
    }
    if all.attacks + all.healthy == 0 {
        return Err(format!("{name}: no texts"));
    }
    print!("{}", table(&kinds, &all));
    let [precision, recall] = all.precision_and_recall();
    let shown = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.3}"));
    println!("precision {}, recall {}", shown(precision), shown(recall));
    if let Some(out) = &args.out {
        let mut report = json!(all);
        report["precision"] = json!(precision);
        report["recall"] = json!(recall);
        report["kinds"] = json!(kinds);
        write(out, &report, &missed, &flagged).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    Ok(())
}

/// A line for each kind; where a model judged, with what it finds and what rules and model find together.
fn table(kinds: &BTreeMap<String, Count>, all: &Count) -> String {
    let has_model = all.model.is_some();
    let more = [" by model  either", " by model  either"].map(|columns| if has_model { columns } else { "" });
    let mut table = format!(
        "{:<34} {:>7} {:>7}{} {:>7} {:>7}{}\n",
        "kind", "attacks", "caught", more[0], "healthy", "flagged", more[1]
    );
    for (kind, count) in kinds.iter().map(|(kind, count)| (kind.as_str(), count)).chain([("all", all)]) {
        let Count { attacks, caught, healthy, flagged, .. } = count;
        let shown = |number: fn(&Found) -> usize| {
            let found = [&count.model, &count.either].map(|found| found.as_ref().map_or(0, number));
            if has_model { format!(" {:>8} {:>7}", found[0], found[1]) } else { String::new() }
        };
        let (attacks_found, healthy_found) = (shown(|found| found.caught), shown(|found| found.flagged));
        table += &format!(
            "{kind:<34} {attacks:>7} {caught:>7}{attacks_found} {healthy:>7} {flagged:>7}{healthy_found}\n"
        );
    }
    table
}

fn write(out: &Path, report: &Value, missed: &[TextLine], flagged: &[TextLine]) -> std::io::Result<()> {
    fs::create_dir_all(out)?;
    fs::write(out.join("report.json"), format!("{report:#}\n"))?;
    for (name, lines) in [("missed.jsonl", missed), ("flagged.jsonl", flagged)] {
        let lines: Vec<String> = lines.iter().map(|line| json!(line).to_string() + "\n").collect();
        fs::write(out.join(name), lines.concat())?;
    }
    Ok(())
}
