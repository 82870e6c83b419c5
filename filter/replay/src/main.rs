//! Replays recorded agent runs through the filter: which would have been hinted, which killed, when and why. Prints a table and
//! writes report.json and report.html. Ends with 1 if a check fails, and with 2 if the input is wrong.
//! What must not live here: anything that judges a run.

mod args;
mod asking;
mod case;
mod conditions;
mod escape;
mod evidence;
mod figure;
mod group;
mod inject;
mod native;
mod page;
mod report;
mod rewordings;
mod settings;
mod through;
mod traces;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use sentinel_harness::service::Service;
use sentinel_harness::{Dialect, parts, said};
use sentinel_replay_core::history::RecordedRun;
use sentinel_replay_core::replay::Replayed;
use sentinel_replay_core::settings::Settings;
use serde_json::{Value, json};
use tempfile::TempDir;

use args::Args;
use case::Case;
use report::EvalReport;

fn main() -> ExitCode {
    said::plainly();
    match evaluate(&Args::parse()) {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            for problem in problems {
                eprintln!("FAIL: {problem}");
            }
            ExitCode::from(1)
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

/// Does everything. Returns the checks that failed, as sentences.
fn evaluate(args: &Args) -> Result<Vec<String>, String> {
    let settings = settings::read(args.config.as_deref(), args.with_service)?;
    let traces = traces::read(&args.traces)?;
    if traces.other_parts > 0 && args.dialect != Dialect::OpenaiChat {
        eprintln!("note: {} parts that are no text do not come along into this dialect", traces.other_parts);
    }
    let (cases, not_injected) = cases(traces.runs, args)?;
    let service = args.with_service.then(Beside::start);
    eprintln!("replaying {} runs as {} ...", cases.len(), args.dialect.label());
    let began = Instant::now();
    let socket = service.as_ref().map(|service| service.0.socket());
    let replayed = native::replay_all(&cases, &settings.config, args.dialect, socket);
    let took = began.elapsed();
    let mut problems = Vec::new();
    let through_envoy = (args.through_envoy > 0).then(|| {
        let (runs, differences) = through(args, &settings, &cases, &replayed);
        if !differences.is_empty() {
            problems.push(format!(
                "{} of {runs} runs get other verdicts through Envoy than natively: see `through_envoy` in report.json",
                differences.len()
            ));
        }
        (runs, differences)
    });
    let groups = group::groups(&cases, &replayed);
    let flagged_after_user: usize = groups.iter().map(|group| group.flagged_after_user).sum();
    if flagged_after_user > 0 {
        problems.push(format!(
            "in {flagged_after_user} flagged runs a new user message does not get through untouched: see `flagged_runs` in report.json"
        ));
    }
    let config = config(args, &settings, cases.len());
    let report =
        EvalReport { config, cases: &cases, replayed: &replayed, groups, not_injected, took, through_envoy };
    println!("{}", report.table());
    notes(&report);
    write(&report, args.out.as_deref())?;
    if args.conditions {
        println!("{}", conditions::table(&cases, &settings.config, args.dialect, &replayed));
    }
    Ok(problems)
}

/// The embedding service, and the folder of its socket and log.
struct Beside(Service, #[expect(dead_code, reason = "it goes when the service has gone")] TempDir);

impl Beside {
    fn start() -> Self {
        eprintln!("starting the embedding service (loads and warms the model) ...");
        let folder = tempfile::Builder::new().prefix("sentinel-eval").tempdir().expect("a temporary folder");
        Self(Service::start(folder.path(), &folder.path().join("embedding.sock"), &[]), folder)
    }
}

/// The runs that are replayed, and how many could not take the loop.
fn cases(runs: Vec<RecordedRun>, args: &Args) -> Result<(Vec<Case>, usize), String> {
    if let Some(file) = &args.rewordings {
        let made = rewordings::runs(file, &runs, args.seed)?;
        return Ok((made.into_iter().map(|run| Case { run, injected: None }).collect(), 0));
    }
    let wanted = |run: &RecordedRun| args.label.as_ref().is_none_or(|label| run.label == *label);
    let runs: Vec<RecordedRun> = runs.into_iter().filter(wanted).collect();
    let Some(kind) = args.inject else {
        if runs.is_empty() {
            return Err(format!(
                "{}: no run has the label {:?}.",
                args.traces.display(),
                args.label.as_deref().unwrap_or_default()
            ));
        }
        return Ok((runs.into_iter().map(|run| Case { run, injected: None }).collect(), 0));
    };
    let healthy: Vec<RecordedRun> = runs.into_iter().filter(|run| run.label == "healthy").collect();
    let all = healthy.len();
    let cases: Vec<Case> = healthy
        .iter()
        .filter_map(|run| {
            let (run, injected) = inject::inject(run, kind, args.at, args.seed)?;
            Some(Case { run, injected: Some(injected) })
        })
        .collect();
    if cases.is_empty() {
        return Err(format!(
            "{}: a loop is written into runs with the label \"healthy\"; of {all} such runs none has a place for this one.",
            args.traces.display()
        ));
    }
    let not_injected = all - cases.len();
    Ok((cases, not_injected))
}

fn through(args: &Args, settings: &Settings, cases: &[Case], replayed: &[Replayed]) -> (usize, Vec<Value>) {
    let chosen = through::choose(replayed, args.through_envoy);
    eprintln!("replaying {} of them through Envoy ...", chosen.len());
    let differences =
        through::compare(cases, replayed, &chosen, &settings.json, args.dialect, args.with_service);
    let told = differences.iter().map(|difference| {
        json!({
            "id": cases[difference.case].run.id,
            "native": verdicts(&replayed[difference.case]),
            "through_envoy": verdicts(&difference.through_envoy),
        })
    });
    (chosen.len(), told.collect())
}

/// Every verdict of a run, in words.
fn verdicts(replayed: &Replayed) -> Vec<String> {
    let sent = replayed.sent.iter().map(|sent| &sent.judged).chain(&replayed.after_user);
    sent.map(|judged| format!("{:?} {}", judged.verdict, judged.reason).trim_end().to_lowercase()).collect()
}

fn config(args: &Args, settings: &Settings, runs: usize) -> Value {
    json!({
        "traces": args.traces.file_name().map(|name| name.to_string_lossy()),
        "runs": runs,
        "dialect": args.dialect.label(),
        "label": args.label,
        "inject": args.inject.map(|kind| json!({"loop": kind.label(), "at": format!("{:?}", args.at).to_lowercase(), "seed": args.seed})),
        "rewordings": args.rewordings.as_ref().and_then(|file| file.file_name()).map(|name| name.to_string_lossy()),
        "through_envoy": args.through_envoy,
        "with_service": args.with_service,
        "filter": settings.report(),
    })
}

fn notes(report: &EvalReport<'_>) {
    if report.groups.iter().any(|group| group.injected == Some("paraphrase"))
        && report.config["with_service"] == false
    {
        println!("other words are found by their meaning alone: add --with-service");
    }
    println!("{} requests, {:.0} a second", report.requests(), report.requests_per_second());
    let sum = |of: fn(&group::Group) -> usize| report.groups.iter().map(of).sum::<usize>();
    let checked = sum(|group| group.checked_after_user);
    if checked > 0 {
        let untouched = checked - sum(|group| group.flagged_after_user);
        println!(
            "a new user message after the last hint or kill: untouched in {untouched} of {checked} flagged runs"
        );
    }
    for (count, says) in [
        (
            sum(|group| group.bypassed),
            "requests passed without being looked at (see `requests_not_inspected`)",
        ),
        (sum(|group| group.killed_without_hint), "runs were killed without a hint before"),
        (sum(|group| group.found.early), "runs were flagged before the loop began"),
        (report.not_injected, "healthy runs have no place for this loop and were left out"),
    ] {
        if count > 0 {
            println!("{count} {says}");
        }
    }
    if let Some((runs, differences)) = &report.through_envoy {
        println!("through Envoy: {runs} runs, {} with other verdicts", differences.len());
        for difference in differences {
            println!("  {}", difference["id"]);
        }
    }
}

fn write(report: &EvalReport<'_>, out: Option<&Path>) -> Result<(), String> {
    let out = out.map_or_else(default_out, Path::to_path_buf);
    let failed =
        |path: &Path, error: std::io::Error| format!("{}: {error}. Give another folder.", path.display());
    fs::create_dir_all(&out).map_err(|error| failed(&out, error))?;
    for (name, content) in
        [("report.json", format!("{:#}\n", report.json())), ("report.html", page::page(report))]
    {
        let file = out.join(name);
        fs::write(&file, content).map_err(|error| failed(&file, error))?;
        println!("written: {}", file.display());
    }
    Ok(())
}

fn default_out() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").filter(|given| !given.is_empty());
    parts::root().join(target.unwrap_or_else(|| "target".into())).join("eval")
}
