//! A line of a file of runs, judged.

use std::{cell::RefCell, mem, rc::Rc, sync::Arc};

use sentinel_config::{Config, Policy, Sender};
use sentinel_pipeline::{control::ReportReply, turn::Turn};
use sentinel_replay_core::{
    alone::Alone,
    history::RecordedRun,
    line,
    replay::{JudgedRequest, Replayed, RequestVerdict, Way, replay},
    settings,
};
use sentinel_wire::Dialect;
use serde_json::{Value, json};

use crate::draw;

/// What runs are judged by.
pub struct Thresholds {
    config: Config,
    policy: Arc<Policy>,
}

/// A run, and what became of it.
pub struct JudgedRun {
    pub run: RecordedRun,
    pub replayed: Replayed,
    /// What the filter reports of each request that was sent.
    pub turns: Vec<Option<Turn>>,
}

/// What an error calls the configuration; the page needs no name for it.
const NAME: &str = "the configuration";

impl Thresholds {
    /// From the filter's configuration, in JSON. The turns are reported with their texts, as `control.content` has it.
    pub fn of(source: &[u8]) -> Result<Self, String> {
        let mut given: Value =
            serde_json::from_slice(source).map_err(|error| format!("This is not JSON: {error}"))?;
        if let Some(given) = given.as_object_mut() {
            given.insert("control".to_owned(), json!({"enabled": true, "content": true}));
        }
        let problem = |error: String| error.trim_start_matches(NAME).trim_start_matches(": ").to_owned();
        settings::with(given, NAME, false).map(|settings| Self::new(settings.config)).map_err(problem)
    }

    fn new(config: Config) -> Self {
        let policy = Arc::clone(config.policy(Sender::default()));
        Self { config, policy }
    }

    #[cfg(test)]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }
}

/// What runs are judged by, or why there is nothing.
type JudgedBy<'a> = Result<&'a Thresholds, &'a String>;

/// A line as a row of the list, in JSON.
pub fn judged(line: &[u8], place: u32, thresholds: JudgedBy<'_>) -> String {
    answer(line, thresholds, |told, _| draw::row(told, place).draw().into_string())
}

/// A line as a story, in JSON.
pub fn story(line: &[u8], thresholds: JudgedBy<'_>) -> String {
    answer(line, thresholds, |told, policy| draw::story(told, policy).into_string())
}

fn answer(line: &[u8], thresholds: JudgedBy<'_>, drawn: impl Fn(&JudgedRun, &Policy) -> String) -> String {
    let told = thresholds.map_err(Clone::clone).and_then(|known| Ok((tell(line, known)?, &known.policy)));
    let answer = match told {
        Ok((told, policy)) => json!({"verdict": verdict(&told.replayed), "html": drawn(&told, policy)}),
        Err(problem) => json!({"problem": problem}),
    };
    answer.to_string()
}

/// `allow`, `hint` or `kill`.
fn verdict(replayed: &Replayed) -> &'static str {
    match replayed.sent.iter().map(|sent| sent.judged.verdict).max() {
        Some(RequestVerdict::Kill) => "kill",
        Some(RequestVerdict::Hint) => "hint",
        _ => "allow",
    }
}

fn tell(line: &[u8], thresholds: &Thresholds) -> Result<JudgedRun, String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("not UTF-8 ({error})."))?;
    let (run, _) = line::run(text.trim())?;
    let mut way = Watched::new(thresholds.config.clone());
    let replayed = replay(&run, "run", Dialect::OpenaiChat, &mut way);
    Ok(JudgedRun { run, replayed, turns: way.turns })
}

/// The pipeline without Envoy. It also keeps the turns that the pipeline reports.
struct Watched {
    alone: Alone,
    reported: Rc<RefCell<Vec<Turn>>>,
    turns: Vec<Option<Turn>>,
    ticks: u64,
}

/// Milliseconds between two reports: longer than a worker waits before it reports.
const PAUSE: u64 = 10_000;

impl Watched {
    fn new(config: Config) -> Self {
        let mut alone = Alone::new(config, Dialect::OpenaiChat);
        let reported = Rc::new(RefCell::new(Vec::new()));
        let taken = Rc::clone(&reported);
        alone.host.control = Box::new(move |report| {
            taken.borrow_mut().extend(report.turns.iter().cloned());
            Ok(ReportReply::default())
        });
        Self { alone, reported, turns: Vec::new(), ticks: 0 }
    }
}

impl Way for Watched {
    fn send(&mut self, run: &str, body: String, answer: String) -> JudgedRequest {
        let judged = self.alone.send(run, body, answer);
        // For the report the clock is moved on and then set back. The run itself sees no time pass, so its verdicts are those of `make eval`.
        let now = self.alone.host.now;
        self.ticks = self.ticks.saturating_add(1);
        self.alone.host.now = now.saturating_add(self.ticks.saturating_mul(PAUSE.saturating_mul(10)));
        self.alone.host.tick();
        self.alone.host.now = now;
        self.turns.push(mem::take(&mut *self.reported.borrow_mut()).pop());
        judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file that the test of the console drops into a browser.
    const FILE: &str = include_str!("../../../../tests/console/runs.jsonl");

    fn answers(thresholds: &str, of: impl Fn(&[u8], JudgedBy<'_>) -> String) -> Vec<Value> {
        let thresholds = Thresholds::of(thresholds.as_bytes());
        let answer = |line: &str| serde_json::from_str(&of(line.as_bytes(), thresholds.as_ref())).unwrap();
        FILE.lines().map(answer).collect()
    }

    fn verdicts(thresholds: &str) -> Vec<String> {
        let answers = answers(thresholds, |line, thresholds| judged(line, 0, thresholds));
        answers.iter().map(|answer| answer["verdict"].as_str().unwrap_or("-").to_owned()).collect()
    }

    #[test]
    fn each_run_is_judged_and_each_bad_line_refused() {
        assert_eq!(verdicts("{}"), ["allow", "kill", "-", "hint", "hint", "allow", "-"]);
        let stricter = verdicts(r#"{"steps": {"repeated_step": {"hint": 3, "kill": 4}}}"#);
        assert_eq!(stricter[4], "kill");
        let milder = verdicts(
            r#"{"steps": {"repeated_step": {"hint": 9, "kill": 0}, "stagnation": {"hint": 0, "kill": 0}, "similar_failures": {"hint": 0}, "same_outcome": {"hint": 0}}}"#,
        );
        assert_eq!(milder[4], "allow");
    }

    /// What the filter reports changes no verdict.
    #[test]
    fn verdicts_are_those_of_the_replay_on_the_command_line() {
        let known = Thresholds::of(b"{}").unwrap();
        let plain = settings::with(json!({}), "the defaults", false).unwrap();
        let mut seen = 0;
        for line in FILE.lines() {
            let Ok((run, _)) = line::run(line) else { continue };
            let mut alone = Alone::new(plain.config.clone(), Dialect::OpenaiChat);
            let wanted = replay(&run, "run", Dialect::OpenaiChat, &mut alone);
            assert_eq!(tell(line.as_bytes(), &known).unwrap().replayed, wanted);
            seen += 1;
        }
        assert_eq!(seen, 5);
    }

    #[test]
    fn each_request_has_its_turn_with_its_texts() {
        let told = tell(FILE.lines().nth(1).unwrap().as_bytes(), &Thresholds::of(b"{}").unwrap()).unwrap();
        // One more: the user message that the replay adds at the end.
        assert_eq!(told.turns.len(), told.replayed.sent.len() + 1);
        assert!(told.turns.iter().all(Option::is_some));
        let steps: Vec<usize> = told.turns.iter().flatten().map(|turn| turn.steps.len()).collect();
        assert_eq!(steps, [0, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_story_has_its_steps_and_no_markup_of_the_file() {
        let stories = answers("{}", story);
        let html = |at: usize| stories[at]["html"].as_str().unwrap();
        for wanted in [
            "5 of 5",
            "Here Sentinel ended it.",
            "ENOENT",
            "goes on for 3 turns",
            "What each signal had counted",
        ] {
            assert!(html(1).contains(wanted), "{wanted}: {}", html(1));
        }
        assert!(html(0).contains("Why was it let pass?"), "{}", html(0));
        assert!(!html(5).contains("<script") && !html(5).contains("<img"), "{}", html(5));
        assert!(!html(1).contains("class=\"bars\""), "a recording has no times: {}", html(1));
    }
}
