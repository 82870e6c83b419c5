//! Runs agents through the real stack (Envoy with the filter, the embedding service with the real model, a mock
//! provider) and prints what each agent got. Fails when a result differs from what is expected.

mod control;
mod scenarios;
mod stage;
mod table;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use sentinel_harness::said;

use crate::stage::Stage;

/// Plays agents through Envoy with the filter and says what each met. Without options it starts everything by itself.
#[derive(Parser)]
struct Options {
    /// Play through this Envoy instead, HOST:PORT; it must lead to the mock provider of this program
    #[arg(long, requires_all = ["metrics", "provider"])]
    envoy: Option<String>,
    /// Where that Envoy answers /ready and /stats/prometheus, HOST:PORT
    #[arg(long, requires = "envoy")]
    metrics: Option<String>,
    /// Where the mock provider is to listen, ADDRESS:PORT
    #[arg(long)]
    provider: Option<String>,
    /// Only what happens while that Envoy's embedding service is stopped, which you have done
    #[arg(long, requires = "envoy")]
    without_service: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    said::plainly();
    let began = Instant::now();
    let mut stage = match (&options.envoy, &options.metrics, &options.provider) {
        (Some(envoy), Some(metrics), Some(provider)) => {
            println!("waiting for Envoy at {envoy} and the embedding service behind it ...");
            Stage::theirs(envoy, metrics, provider, options.without_service)
        }
        _ => {
            println!(
                "starting Envoy with the filter, the embedding service (loads and warms the model) and a mock provider ..."
            );
            Stage::own()
        }
    };
    println!("up after {:.1} s: agents talk to http://{}\n", began.elapsed().as_secs_f64(), stage.address());
    let mut met = Vec::new();
    if !options.without_service {
        met.push(scenarios::failing_tool(&stage).await);
        met.push(scenarios::batch(&stage).await);
        met.push(scenarios::chat(&stage).await);
        met.push(scenarios::rephraser(&stage).await);
        met.push(scenarios::repeater(&stage).await);
    }
    if options.envoy.is_none() {
        met.push(scenarios::cached(&stage).await);
        met.push(control::stopped_and_spent(&stage).await);
    }
    if options.envoy.is_none() || options.without_service {
        met.push(scenarios::service_stopped(&mut stage, options.without_service).await);
    }
    let failed = met.iter().filter(|met| !**met).count();
    println!(
        "{} of {} scenarios went as expected, in {:.1} s.",
        met.len() - failed,
        met.len(),
        began.elapsed().as_secs_f64()
    );
    println!(
        "Next: `make up` keeps the same parts running for an agent of your own; docs/get-started.md has the steps."
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
