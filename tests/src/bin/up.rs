//! Starts the demo stack on the ports of envoy/demo.yaml and keeps it up until Ctrl-C.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use sentinel_tests::bootstrap::Bootstrap;
use sentinel_tests::envoy::Envoy;
use sentinel_tests::provider::Provider;
use sentinel_tests::service::Service;
use sentinel_tests::{parts, said};

const SOCKET: &str = "/tmp/embedding-sidecar.sock";
const SERVICE_METRICS: &str = "127.0.0.1:9464";

#[tokio::main]
async fn main() -> ExitCode {
    said::plainly();
    let folder = tempfile::Builder::new().prefix("sentinel-up").tempdir().expect("a temporary folder");
    println!("starting the mock provider on 127.0.0.1:18080 ...");
    let provider = Provider::start_on(SocketAddr::from(([127, 0, 0, 1], 18080)));
    println!("starting the embedding service on {SOCKET} (loads and warms the model) ...");
    let settings = [("METRICS_ADDR".to_owned(), SERVICE_METRICS.to_owned())];
    let mut service = Service::start(folder.path(), Path::new(SOCKET), &settings);
    println!("starting Envoy with envoy/demo.yaml ...");
    let mut bootstrap = Bootstrap::shipped("demo.yaml");
    bootstrap.module(&parts::filter());
    let mut envoy = Envoy::start(folder.path(), &bootstrap);
    let (agents, admin) = (envoy.address(), envoy.admin());
    println!(
        "\nThe stack is up.\n\
         \n  agents talk to      http://{agents}          (OPENAI_BASE_URL=http://{agents}/v1, ANTHROPIC_BASE_URL=http://{agents})\
         \n  Envoy's metrics     http://{admin}/stats/prometheus\
         \n  service's metrics   http://{SERVICE_METRICS}/metrics\
         \n  logs                {}\n\
         \nSend this some times: the third time it is hinted, the fifth time it is stopped.\n\
         \n  curl -i http://{agents}/v1/chat/completions -H 'content-type: application/json' -H 'x-agent-id: me' -H 'x-run-id: first-try' \\\
         \n    -d '{{\"model\": \"m\", \"messages\": [{{\"role\": \"user\", \"content\": \"How do I reset my password?\"}}]}}'\n\
         \nCtrl-C ends it.",
        folder.path().display()
    );
    let mut terminate =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).expect("a signal handler");
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => break,
            _ = terminate.recv() => break,
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
        }
        for (name, process) in [("Envoy", envoy.process()), ("The embedding service", service.process())] {
            if !process.is_running() {
                eprintln!("{name} has ended by itself. Its log:\n{}", process.log());
                return ExitCode::FAILURE;
            }
        }
    }
    println!("\nstopping ({} requests reached the provider)", provider.count());
    envoy.process().stop();
    service.process().stop();
    ExitCode::SUCCESS
}
