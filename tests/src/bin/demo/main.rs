//! Plays the main job through the real stack (Envoy with the filter, the embedding service with the real model, a mock
//! provider) and prints what each agent met. Ends with an error when anything went otherwise than expected.

mod scenarios;
mod table;

use std::process::ExitCode;
use std::time::Instant;

use sentinel_tests::{Stack, said};

#[tokio::main]
async fn main() -> ExitCode {
    said::plainly();
    let began = Instant::now();
    println!(
        "starting Envoy with the filter, the embedding service (loads and warms the model) and a mock provider ..."
    );
    let mut stack = Stack::builder().service().in_a_hurry().start();
    println!("up after {:.1} s: agents talk to http://{}\n", began.elapsed().as_secs_f64(), stack.address());
    let mut met = Vec::new();
    met.push(scenarios::batch(&stack).await);
    met.push(scenarios::chat(&stack).await);
    met.push(scenarios::rephraser(&stack).await);
    met.push(scenarios::repeater(&stack).await);
    met.push(scenarios::service_stopped(&mut stack).await);
    let failed = met.iter().filter(|met| !**met).count();
    println!(
        "{} of {} scenarios went as expected, in {:.1} s.",
        met.len() - failed,
        met.len(),
        began.elapsed().as_secs_f64()
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
