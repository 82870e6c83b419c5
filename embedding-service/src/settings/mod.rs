//! Every setting of the service: as text from flags and environment, and checked. Nothing but [`Settings`] goes further in.

mod raw;
mod redis;

use std::{fmt, net::SocketAddr, num::NonZero, path::PathBuf, str::FromStr, time::Duration};

use tonic::codegen::http::Uri;

use crate::{
    history::{Retention, redis::MAX_HISTORY},
    readiness::Patience,
};

pub use self::{
    raw::RawSettings,
    redis::{ClientCertificate, Lookup, RedisSettings},
};

/// Settings that can be used as they are.
#[derive(Clone, Debug)]
pub struct Settings {
    pub uds: Option<Uds>,
    pub listen: Option<SocketAddr>,
    pub metrics: SocketAddr,
    pub store: Store,
    pub retention: Retention,
    /// 0..=1
    pub threshold: f32,
    pub model: PathBuf,
    pub library: PathBuf,
    pub workers: usize,
    pub queue_length: usize,
    /// 0: no recent embeddings are kept.
    pub recent_bytes: usize,
    pub patience: Patience,
    pub call_timeout: Duration,
    pub return_similar_prompt: bool,
    pub shutdown_grace: Duration,
    /// Where spans go; none: none are made.
    pub collector: Option<Collector>,
    pub log_format: LogFormat,
    pub log_level: tracing::Level,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uds {
    pub path: PathBuf,
    pub mode: u32,
}

/// Where prompts are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    Memory { max_bytes: usize },
    Redis(RedisSettings),
}

/// An OpenTelemetry collector that takes OTLP/gRPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// `http://host:port`
    pub endpoint: String,
    /// What this process is called there.
    pub service_name: String,
}

impl Collector {
    fn of(raw: &RawSettings) -> Result<Option<Self>, SettingError> {
        let Some(endpoint) = optional(&raw.otlp_endpoint) else { return Ok(None) };
        let uri = endpoint.parse::<Uri>().ok();
        if uri.is_none_or(|uri| uri.scheme_str() != Some("http") || uri.port().is_none()) {
            let wanted = "give http://host:port of a collector that takes OTLP/gRPC, usually port 4317. One beside this \
                          service can go on over TLS";
            return Err(wrong("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint, wanted));
        }
        if raw.otlp_protocol.trim() != "grpc" {
            let wanted = "give grpc, and in OTEL_EXPORTER_OTLP_ENDPOINT the collector's port for it";
            return Err(wrong("OTEL_EXPORTER_OTLP_PROTOCOL", &raw.otlp_protocol, wanted));
        }
        let service_name = optional(&raw.otel_service_name).unwrap_or("embedding-service").to_owned();
        Ok(Some(Self { endpoint: endpoint.to_owned(), service_name }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// A setting with an impossible value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is \"{value}\": {wanted}")]
pub struct SettingError {
    /// The environment name.
    pub name: &'static str,
    pub value: String,
    /// What to give instead.
    pub wanted: String,
}

impl TryFrom<RawSettings> for Settings {
    type Error = SettingError;

    fn try_from(raw: RawSettings) -> Result<Self, SettingError> {
        let listen = optional(&raw.listen_addr).map(|text| address("LISTEN_ADDR", text)).transpose()?;
        let uds = match optional(&raw.uds_path) {
            Some(path) => Some(Uds { path: PathBuf::from(path), mode: mode(&raw.uds_mode)? }),
            None if listen.is_none() => {
                return Err(wrong(
                    "UDS_PATH",
                    "",
                    "give a path for the Unix socket, or an IP:port in LISTEN_ADDR",
                ));
            }
            None => None,
        };
        let max_bytes = number("LOOP_MEMORY_MAX_BYTES", &raw.memory_max_bytes, 1 << 20, 1 << 40)?;
        let store = match RedisSettings::of(&raw)? {
            Some(redis) => Store::Redis(redis),
            None => Store::Memory { max_bytes },
        };
        let retention = Retention {
            size: number("LOOP_HISTORY_SIZE", &raw.history_size, 1, MAX_HISTORY)?,
            ttl: Duration::from_secs(number("LOOP_EMBEDDING_TTL", &raw.embedding_ttl, 1, 31_536_000)?),
        };
        let model = optional(&raw.model_path).ok_or_else(|| {
            wrong(
                "LOOP_EMBEDDING_MODEL_PATH",
                "",
                "give the model: an .onnx file with its tokenizer.json beside it, or the folder of both",
            )
        })?;
        let library = optional(&raw.ort_dylib_path).unwrap_or("libonnxruntime.so");
        let workers = match optional(&raw.workers) {
            Some(text) => number("LOOP_WORKERS", text, 1, 1024)?,
            None => std::thread::available_parallelism().map_or(1, NonZero::get),
        };
        Ok(Self {
            uds,
            listen,
            metrics: address("METRICS_ADDR", raw.metrics_addr.trim())?,
            store,
            retention,
            threshold: threshold(&raw.similarity_threshold)?,
            model: PathBuf::from(model),
            library: PathBuf::from(library),
            workers,
            queue_length: number("LOOP_QUEUE_LENGTH", &raw.queue_length, 1, 1_000_000)?,
            recent_bytes: number("LOOP_RECENT_MAX_BYTES", &raw.recent_max_bytes, 0, 1 << 40)?,
            patience: Patience {
                delay: Duration::from_millis(number("LOOP_READY_DELAY_MS", &raw.ready_delay_ms, 1, 60_000)?),
                window: Duration::from_millis(number(
                    "LOOP_READY_WINDOW_MS",
                    &raw.ready_window_ms,
                    0,
                    3_600_000,
                )?),
            },
            call_timeout: Duration::from_secs(number("LOOP_CALL_TIMEOUT", &raw.call_timeout, 1, 3600)?),
            return_similar_prompt: truth("LOOP_RETURN_SIMILAR_PROMPT", &raw.return_similar_prompt)?,
            shutdown_grace: Duration::from_secs(number("SHUTDOWN_GRACE", &raw.shutdown_grace, 0, 3600)?),
            collector: Collector::of(&raw)?,
            log_format: match raw.log_format.trim() {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                other => return Err(wrong("LOG_FORMAT", other, "give text or json")),
            },
            log_level: match raw.log_level.trim() {
                "error" => tracing::Level::ERROR,
                "warn" => tracing::Level::WARN,
                "info" => tracing::Level::INFO,
                "debug" => tracing::Level::DEBUG,
                other => return Err(wrong("LOG_LEVEL", other, "give error, warn, info or debug")),
            },
        })
    }
}

fn wrong(name: &'static str, value: &str, wanted: impl Into<String>) -> SettingError {
    SettingError { name, value: value.to_owned(), wanted: wanted.into() }
}

fn optional(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty()).then_some(text)
}

fn address(name: &'static str, text: &str) -> Result<SocketAddr, SettingError> {
    text.parse().map_err(|_| wrong(name, text, "give an IP address and a port, like 127.0.0.1:9464"))
}

fn number<T>(name: &'static str, text: &str, least: T, most: T) -> Result<T, SettingError>
where
    T: FromStr + PartialOrd + fmt::Display,
{
    match text.trim().parse() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => Err(wrong(name, text, format!("give a whole number from {least} to {most}"))),
    }
}

fn mode(text: &str) -> Result<u32, SettingError> {
    let digits = text.trim().trim_start_matches("0o");
    match u32::from_str_radix(digits, 8) {
        // Without read and write for its owner not even we could serve it.
        Ok(mode) if mode <= 0o777 && mode & 0o600 == 0o600 => Ok(mode),
        _ => Err(wrong(
            "UDS_MODE",
            text,
            "give octal permissions from 0600 to 0777 that let the owner read and write, like 0660",
        )),
    }
}

fn threshold(text: &str) -> Result<f32, SettingError> {
    match text.trim().parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err(wrong(
            "LOOP_SIMILARITY_THRESHOLD",
            text,
            "give a similarity from 0 to 1; 0.95 is cosine 0.90",
        )),
    }
}

fn truth(name: &'static str, text: &str) -> Result<bool, SettingError> {
    match text.trim() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(wrong(name, other, "give true or false")),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    fn raw(arguments: &[&str]) -> RawSettings {
        let base = ["embedding-service", "--model-path", "/m"];
        RawSettings::try_parse_from(base.iter().chain(arguments)).unwrap()
    }

    fn settings(arguments: &[&str]) -> Result<Settings, SettingError> {
        Settings::try_from(raw(arguments))
    }

    #[test]
    fn the_defaults_are_those_of_the_contract() {
        let settings = settings(&[]).unwrap();
        let uds = settings.uds.unwrap();
        assert_eq!(uds.path, PathBuf::from("/tmp/embedding-sidecar.sock"));
        assert_eq!(uds.mode, 0o660);
        assert_eq!(settings.listen, None);
        assert_eq!(settings.metrics, "127.0.0.1:9464".parse().unwrap());
        assert_eq!(settings.threshold, 0.95);
        assert_eq!(settings.retention.size, 5);
        assert_eq!(settings.retention.ttl, Duration::from_secs(3600));
        assert_eq!(settings.store, Store::Memory { max_bytes: 64 << 20 });
        assert!(!settings.return_similar_prompt);
        assert!(settings.workers >= 1);
    }

    #[test]
    fn impossible_values_are_named_with_what_to_do() {
        for (flag, value, name) in [
            ("--uds-mode", "rw", "UDS_MODE"),
            ("--uds-mode", "0888", "UDS_MODE"),
            ("--uds-mode", "0060", "UDS_MODE"),
            ("--listen-addr", "localhost:1", "LISTEN_ADDR"),
            ("--metrics-addr", "9464", "METRICS_ADDR"),
            ("--metrics-addr", "", "METRICS_ADDR"),
            ("--store-timeout-ms", "0", "LOOP_STORE_TIMEOUT_MS"),
            ("--memory-max-bytes", "64MB", "LOOP_MEMORY_MAX_BYTES"),
            ("--similarity-threshold", "1.5", "LOOP_SIMILARITY_THRESHOLD"),
            ("--similarity-threshold", "NaN", "LOOP_SIMILARITY_THRESHOLD"),
            ("--similarity-threshold", "95%", "LOOP_SIMILARITY_THRESHOLD"),
            ("--history-size", "0", "LOOP_HISTORY_SIZE"),
            ("--history-size", "101", "LOOP_HISTORY_SIZE"),
            ("--history-size", "5.0", "LOOP_HISTORY_SIZE"),
            ("--embedding-ttl", "0", "LOOP_EMBEDDING_TTL"),
            ("--embedding-ttl", "1h", "LOOP_EMBEDDING_TTL"),
            ("--workers", "0", "LOOP_WORKERS"),
            ("--queue-length", "0", "LOOP_QUEUE_LENGTH"),
            ("--recent-max-bytes", "16MB", "LOOP_RECENT_MAX_BYTES"),
            ("--ready-delay-ms", "0", "LOOP_READY_DELAY_MS"),
            ("--ready-window-ms", "3s", "LOOP_READY_WINDOW_MS"),
            ("--call-timeout", "0", "LOOP_CALL_TIMEOUT"),
            ("--return-similar-prompt", "yes", "LOOP_RETURN_SIMILAR_PROMPT"),
            ("--shutdown-grace", "soon", "SHUTDOWN_GRACE"),
            ("--otlp-endpoint", "collector:4317", "OTEL_EXPORTER_OTLP_ENDPOINT"),
            ("--otlp-endpoint", "http://collector", "OTEL_EXPORTER_OTLP_ENDPOINT"),
            ("--otlp-endpoint", "https://collector:4317", "OTEL_EXPORTER_OTLP_ENDPOINT"),
            ("--log-format", "xml", "LOG_FORMAT"),
            ("--log-level", "trace", "LOG_LEVEL"),
            ("--uds-path", " ", "UDS_PATH"),
        ] {
            let e = settings(&[flag, value]).expect_err(&format!("{flag} {value}"));
            assert_eq!(e.name, name, "{flag} {value}");
            assert!(e.wanted.contains("give"), "{e}");
        }
    }

    #[test]
    fn a_collector_is_named_by_the_standard_variables() {
        assert_eq!(settings(&[]).unwrap().collector, None);
        let there = ["--otlp-endpoint", "http://10.0.0.1:4317"];
        let collector = settings(&there).unwrap().collector.unwrap();
        assert_eq!(collector.endpoint, "http://10.0.0.1:4317");
        assert_eq!(collector.service_name, "embedding-service");
        let http = settings(&[there.as_slice(), &["--otlp-protocol", "http/protobuf"]].concat());
        assert_eq!(http.unwrap_err().name, "OTEL_EXPORTER_OTLP_PROTOCOL");
    }

    #[test]
    fn the_model_has_to_be_named() {
        let raw = RawSettings::try_parse_from(["embedding-service", "--model-path", ""]).unwrap();
        let e = Settings::try_from(raw).unwrap_err();
        assert_eq!(e.name, "LOOP_EMBEDDING_MODEL_PATH");
    }

    #[test]
    fn tcp_alone_is_enough() {
        let settings = settings(&["--uds-path", "", "--listen-addr", "127.0.0.1:0"]).unwrap();
        assert_eq!(settings.uds, None);
        assert!(settings.listen.is_some());
    }

    #[test]
    fn nothing_chooses_an_embedder_without_a_model() {
        let help = RawSettings::command().render_long_help().to_string();
        assert!(!help.to_lowercase().contains("deterministic"));
        assert!(!help.to_lowercase().contains("bag"));
    }
}
