//! One scenario's table: a line a step, then whether it went as expected.

use std::time::Instant;

use sentinel_tests::Dialect;
use sentinel_tests::client::Response;
use sentinel_tests::said::short;

use crate::stage::Stage;

pub struct Table {
    steps: Vec<Step>,
}

pub struct Step {
    pub status: u16,
    pub verdict: String,
    pub untouched: bool,
    /// What came of the look-up in the response cache; empty where that is off.
    pub cache: String,
}

impl Table {
    pub fn new(title: &str) -> Self {
        println!("{title}");
        println!(
            "  {:>4}  {:<58} {:<8} {:>10} {:>7}  reason",
            "step", "the agent says", "verdict", "similarity", "ms"
        );
        Self { steps: Vec::new() }
    }

    /// Asks, prints the line, and keeps what came of it.
    pub async fn ask(&mut self, stage: &Stage, agent: &str, text: &str) -> Response {
        let dialect = Dialect::OpenaiChat;
        let before = stage.provider().count();
        let began = Instant::now();
        let response = stage.ask(dialect, agent, text).await;
        let milliseconds = began.elapsed().as_secs_f64() * 1e3;
        let untouched = stage.provider().count() == before + 1
            && stage.provider().last().body == dialect.ask(text, false).to_string();
        let cache = response.header("x-sentinel-cache").unwrap_or_default().to_owned();
        let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { short(text, 50) };
        println!(
            "  {:>4}  {:<58} {:<8} {:>10} {milliseconds:>7.1}  {}",
            self.steps.len() + 1,
            short(text, 58),
            or_dash(response.verdict()),
            or_dash(response.header("x-sentinel-similarity").unwrap_or_default()),
            if cache.is_empty() { or_dash(response.reason()) } else { format!("cache: {cache}") },
        );
        let (status, verdict) = (response.status, response.verdict().to_owned());
        self.steps.push(Step { status, verdict, untouched, cache });
        response
    }

    pub fn note(&self, text: &str) {
        println!("        {text}");
    }

    /// Prints what was expected and whether it came so.
    pub fn end(&self, expected: &str, met: impl Fn(&[Step]) -> bool) -> bool {
        let met = met(&self.steps);
        println!("  {}  expected: {expected}\n", if met { "ok  " } else { "FAIL" });
        met
    }
}

/// Every step was answered, by whomever.
pub fn all_allowed(steps: &[Step]) -> bool {
    steps.iter().all(|step| step.status == 200 && step.verdict == "allow")
}

/// Every step was answered by the provider, which got the bytes that the agent sent.
pub fn all_untouched(steps: &[Step]) -> bool {
    steps.iter().all(|step| step.status == 200 && step.verdict == "allow" && step.untouched)
}
