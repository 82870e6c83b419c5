//! Starts the demo stack on the ports of envoy/demo.yaml and keeps it up until Ctrl-C. The environment variable PROVIDER
//! names a real provider by its URL; without it the stack has a mock.

use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::envoy::Envoy;
use sentinel_harness::provider::Provider;
use sentinel_harness::real_provider::{RealProvider, next_steps, roots};
use sentinel_harness::service::Service;
use sentinel_harness::{parts, said};

const SOCKET: &str = "/tmp/embedding-sidecar.sock";
const SERVICE_METRICS: &str = "127.0.0.1:9464";

#[tokio::main]
async fn main() -> ExitCode {
    said::plainly();
    let named = std::env::var("PROVIDER").ok().filter(|text| !text.trim().is_empty());
    let real = match named.as_deref().map(RealProvider::parse).transpose() {
        Ok(real) => real,
        Err(wrong) => {
            eprintln!("{wrong}");
            return ExitCode::FAILURE;
        }
    };
    let folder = tempfile::Builder::new().prefix("sentinel-up").tempdir().expect("a temporary folder");
    let mut bootstrap = Bootstrap::shipped("demo.yaml");
    bootstrap.module(&parts::filter());
    // So that the console has something to show.
    let enforce = r#""mode": "enforce","#;
    bootstrap.replace(enforce, &format!("{enforce} \"control\": {{\"enabled\": true}},"));
    let mock = match &real {
        Some(real) => {
            real.lead(&mut bootstrap, &roots());
            None
        }
        None => {
            println!("starting the mock provider on 127.0.0.1:18080 ...");
            Some(Provider::start_on(SocketAddr::from(([127, 0, 0, 1], 18080))))
        }
    };
    println!("starting the embedding service on {SOCKET} (loads and warms the model) ...");
    let key = new_key();
    let settings =
        [("METRICS_ADDR".to_owned(), SERVICE_METRICS.to_owned()), ("CONTROL_KEY".to_owned(), key.clone())];
    let mut service = Service::start(folder.path(), Path::new(SOCKET), &settings);
    println!("starting Envoy with envoy/demo.yaml ...");
    let mut envoy = Envoy::start(folder.path(), &bootstrap);
    let (agents, admin) = (envoy.address(), envoy.admin());
    let behind = real.as_ref().map_or_else(|| "the mock provider".to_owned(), RealProvider::url);
    println!("\nThe stack is up: agents -> http://{agents} -> {behind}. What to do next:");
    for (number, step) in next_steps(agents, admin, envoy.log_file(), real.as_ref()).iter().enumerate() {
        println!("  {}. {step}", number + 1);
    }
    println!(
        "\nThe console is at http://{SERVICE_METRICS}/console, and the API beside it at /v1. Whoever changes something there needs this key: {key}"
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
    match &mock {
        Some(mock) => println!("\nstopping ({} requests reached the provider)", mock.count()),
        None => println!("\nstopping"),
    }
    envoy.process().stop();
    service.process().stop();
    ExitCode::SUCCESS
}

/// A key for control, for as long as this stack is up.
fn new_key() -> String {
    let mut bytes = [0; 24];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes));
    read.expect("random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
