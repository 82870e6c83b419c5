//! The table of one scenario: a line for each request, then whether the result was as expected.

use std::time::Instant;

use sentinel_harness::Dialect;
use sentinel_harness::client::Response;
use sentinel_harness::said::short;

use crate::stage::Stage;

pub struct Table {
    requests: Vec<Row>,
}

pub struct Row {
    pub status: u16,
    pub verdict: String,
    pub untouched: bool,
    /// The result of the lookup in the response cache. Empty if the cache is off.
    pub cache: String,
}

impl Table {
    pub fn new(title: &str) -> Self {
        println!("{title}");
        println!(
            "  {:>4}  {:<58} {:<8} {:>10} {:>7}  reason",
            "step", "the agent says", "verdict", "similarity", "ms"
        );
        Self { requests: Vec::new() }
    }

    /// Asks, prints the line, and records the result.
    pub async fn ask(&mut self, stage: &Stage, agent: &str, text: &str) -> Response {
        self.send(stage, agent, text, Dialect::OpenaiChat.ask(text, false).to_string()).await
    }

    /// Sends this body, and prints it as `text`.
    pub async fn send(&mut self, stage: &Stage, agent: &str, text: &str, body: String) -> Response {
        let before = stage.provider().count();
        let began = Instant::now();
        let response = stage.send(agent, body.clone()).await;
        let milliseconds = began.elapsed().as_secs_f64() * 1e3;
        let untouched = stage.provider().count() == before + 1 && stage.provider().last().body == body;
        let cache = response.header("x-sentinel-cache").unwrap_or_default().to_owned();
        let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { short(text, 50) };
        println!(
            "  {:>4}  {:<58} {:<8} {:>10} {milliseconds:>7.1}  {}",
            self.requests.len() + 1,
            short(text, 58),
            or_dash(response.verdict()),
            or_dash(response.header("x-sentinel-similarity").unwrap_or_default()),
            if cache.is_empty() { or_dash(response.reason()) } else { format!("cache: {cache}") },
        );
        let (status, verdict) = (response.status, response.verdict().to_owned());
        self.requests.push(Row { status, verdict, untouched, cache });
        response
    }

    pub fn note(&self, text: &str) {
        println!("        {text}");
    }

    /// Prints what was expected and whether it came true.
    pub fn end(&self, expected: &str, met: impl Fn(&[Row]) -> bool) -> bool {
        let met = met(&self.requests);
        println!("  {}  expected: {expected}\n", if met { "ok  " } else { "FAIL" });
        met
    }
}

/// Whether every request was allowed and answered.
pub fn all_allowed(requests: &[Row]) -> bool {
    requests.iter().all(|request| request.status == 200 && request.verdict == "allow")
}

/// Whether every request was answered by the provider, and reached it unchanged.
pub fn all_untouched(requests: &[Row]) -> bool {
    requests.iter().all(|request| request.status == 200 && request.verdict == "allow" && request.untouched)
}
