//! Judges texts as the input guard does, and says how many attacks it catches and how many healthy texts it flags:
//! `eval-guard texts.jsonl --out dir`. A line is `{"text", "place": "user" | "tool", "attack", "kind"}`.
//! Ends with 2 where the input is wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
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
}

/// One line of the input, and of what is written beside the report.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
    #[serde(default = "user")]
    place: String,
    attack: bool,
    #[serde(default)]
    kind: String,
    /// Only in what is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    patterns: Vec<String>,
}

fn user() -> String {
    Place::User.label().to_owned()
}

/// What became of texts.
#[derive(Default, Serialize)]
struct Count {
    attacks: usize,
    caught: usize,
    healthy: usize,
    flagged: usize,
    /// Texts in which each pattern was found.
    patterns: BTreeMap<&'static str, usize>,
}

impl Count {
    fn add(&mut self, is_attack: bool, patterns: &[Pattern]) {
        let is_found = !patterns.is_empty();
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

    /// Of the texts that were found, those that are attacks; of the attacks, those that were found.
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
    let (mut all, mut kinds) = (Count::default(), BTreeMap::<String, Count>::new());
    let (mut missed, mut flagged) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(texts.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut line: Line =
            serde_json::from_str(line).map_err(|error| format!("{name}, line {number}: {error}"))?;
        let place = [Place::User, Place::Tool].into_iter().find(|place| place.label() == line.place);
        let place =
            place.ok_or_else(|| format!("{name}, line {number}: `place` must be `user` or `tool`"))?;
        let patterns: Vec<Pattern> = scan(&line.text, place).iter().map(|(pattern, _)| pattern).collect();
        all.add(line.attack, &patterns);
        kinds.entry(line.kind.clone()).or_default().add(line.attack, &patterns);
        line.patterns = patterns.iter().map(|pattern| pattern.label().to_owned()).collect();
        match (line.attack, patterns.is_empty()) {
            (true, true) => missed.push(line),
            (false, false) => flagged.push(line),
            _ => {}
        }
    }
    if all.attacks + all.healthy == 0 {
        return Err(format!("{name}: no texts"));
    }
    println!("{:<28} {:>8} {:>7} {:>8} {:>8}", "kind", "attacks", "caught", "healthy", "flagged");
    for (kind, count) in kinds.iter().map(|(kind, count)| (kind.as_str(), count)).chain([("all", &all)]) {
        let Count { attacks, caught, healthy, flagged, .. } = count;
        println!("{kind:<28} {attacks:>8} {caught:>7} {healthy:>8} {flagged:>8}");
    }
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

fn write(out: &Path, report: &Value, missed: &[Line], flagged: &[Line]) -> std::io::Result<()> {
    fs::create_dir_all(out)?;
    fs::write(out.join("report.json"), format!("{report:#}\n"))?;
    for (name, lines) in [("missed.jsonl", missed), ("flagged.jsonl", flagged)] {
        let lines: Vec<String> = lines.iter().map(|line| json!(line).to_string() + "\n").collect();
        fs::write(out.join(name), lines.concat())?;
    }
    Ok(())
}
