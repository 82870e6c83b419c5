//! Sends requests through the pipeline alone, in a host of its own.

use sentinel_config::Config;
use sentinel_pipeline::in_memory::{ClientRequest, InMemory, ProviderResponse};
use sentinel_wire::Dialect;

use crate::chance::Chance;
use crate::replay::{JudgedRequest, Way};

/// The pipeline. If its host has no service, prompts are not judged by their meaning.
pub struct Alone {
    pub host: InMemory,
    path: &'static str,
    chance: Chance,
}

impl Alone {
    pub fn new(config: Config, dialect: Dialect) -> Self {
        Self { host: InMemory::new(config), path: dialect.path(false), chance: Chance::new(0, "time") }
    }
}

impl Way for Alone {
    fn send(&mut self, run: &str, body: String, answer: String) -> JudgedRequest {
        // Agents take their time: up to half a minute a turn.
        self.host.now += 200 + self.chance.below(30_000) as u64;
        let request = ClientRequest::post(self.path, body).with("x-agent-id", run).with("x-run-id", run);
        let outcome = self.host.exchange(&request, &ProviderResponse::json(answer));
        JudgedRequest::new(outcome.verdict(), outcome.header("x-sentinel-reason"))
    }
}
