//! The log on standard error. Lines of other crates below warnings are left out: the transport's debug lines show headers.

use tracing_subscriber::{
    Layer as _,
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::trace::{self, Exporter};

/// How the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    pub format: LogFormat,
    pub level: tracing::Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// Starts the log of this process, and with an exporter the making of spans. To be called once.
pub fn start(options: LogOptions, exporter: Option<&Exporter>) {
    let filter = Targets::new()
        .with_target("embedding_service", options.level)
        .with_target(trace::TARGET, LevelFilter::OFF)
        .with_default(tracing::Level::WARN.min(options.level));
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let layer = match options.format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    let spans = exporter.map(Exporter::layer);
    tracing_subscriber::registry().with(layer.with_filter(filter)).with(spans).init();
}
