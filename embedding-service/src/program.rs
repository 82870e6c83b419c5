//! The program's life: log, start, wait for a signal, stop. In the library, so that what it runs is compiled once.

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    log,
    server::{self, Running, ServerError},
    settings::Settings,
    trace::Exporter,
};

/// Runs the service until a signal or a failure ends it.
#[tokio::main]
pub async fn run(settings: &Settings) -> Result<(), Box<dyn std::error::Error>> {
    let exporter = settings.collector.as_ref().map(Exporter::start).transpose()?;
    log::start(settings.log, exporter.as_ref());
    hide_panic_messages();
    allow_many_connections();
    let result = serve(settings).await;
    if let Some(exporter) = exporter {
        exporter.flush().await;
    }
    result
}

async fn serve(settings: &Settings) -> Result<(), Box<dyn std::error::Error>> {
    // Before the start, so that a signal during it is not lost.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let started = tokio::select! {
        started = server::start(settings) => started,
        _ = terminate.recv() => return Ok(()),
        _ = interrupt.recv() => return Ok(()),
    };
    let mut running = started?;
    announce(&running);
    let failure: Option<ServerError> = tokio::select! {
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        failure = running.failed() => Some(failure),
    };
    tracing::info!("stopping");
    let lost = running.shutdown().await;
    tracing::info!(lost, "stopped");
    failure.map_or(Ok(()), |e| Err(e.into()))
}

/// One line with the addresses as they really are. `-` stands for an address that is not open.
fn announce(running: &Running) {
    let addresses = running.addresses();
    let uds = addresses.uds.as_ref();
    let uds = uds.map_or_else(|| "-".to_owned(), |path| path.display().to_string());
    let tcp = addresses.tcp;
    let tcp = tcp.map_or_else(|| "-".to_owned(), |tcp| tcp.to_string());
    tracing::info!(uds = %uds, tcp = %tcp, metrics = %addresses.metrics, "ready");
}

/// As many open files as the system lets us have: each connection is one.
fn allow_many_connections() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// A panic's own message can quote the text that it was about; where it happened cannot.
fn hide_panic_messages() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place = place.unwrap_or_default(), "a thread panicked");
    }));
}
