//! Every setting of the service: as text from flags and environment ([`raw`]), and checked, as the options of each part. The
//! parts know nothing of settings.

mod cache;
mod parse;
mod raw;
mod redis;
mod traces;

use std::{net::SocketAddr, num::NonZero, path::PathBuf, time::Duration};

use self::parse::{address, boolean, invalid, non_empty, number, permissions, similarity};
use crate::{
    cache::options::CacheOptions,
    embed::pool::PoolOptions,
    history::{Retention, open::StoreOptions, redis::MAX_HISTORY},
    listen::UnixSocketOptions,
    log::{LogFormat, LogOptions},
    readiness::OverloadLimits,
    trace::CollectorOptions,
};

pub use self::{parse::SettingError, raw::RawSettings};

/// Settings that can be used as they are.
#[derive(Clone, Debug)]
pub struct Settings {
    pub unix_socket: Option<UnixSocketOptions>,
    pub listen: Option<SocketAddr>,
    pub metrics: SocketAddr,
    pub store: StoreOptions,
    pub retention: Retention,
    /// None: no response cache.
    pub cache: Option<CacheOptions>,
    /// 0..=1
    pub threshold: f64,
    pub model: PathBuf,
    pub library: PathBuf,
    pub pool: PoolOptions,
    pub overload: OverloadLimits,
    pub call_timeout: Duration,
    pub store_prompt_text: bool,
    pub return_similar_prompt: bool,
    pub shutdown_grace: Duration,
    /// Where spans go; none: none are made.
    pub collector: Option<CollectorOptions>,
    pub log: LogOptions,
}

impl TryFrom<RawSettings> for Settings {
    type Error = SettingError;

    fn try_from(raw: RawSettings) -> Result<Self, SettingError> {
        let listen = non_empty(&raw.listen_addr).map(|text| address("LISTEN_ADDR", text)).transpose()?;
        let unix_socket = unix_socket(&raw)?;
        if unix_socket.is_none() && listen.is_none() {
            let wanted = "give a path for the Unix socket, or an IP:port in LISTEN_ADDR";
            return Err(invalid("UDS_PATH", "", wanted));
        }
        let model = non_empty(&raw.model_path).ok_or_else(|| {
            let wanted =
                "give the model: an .onnx file with its tokenizer.json beside it, or the folder of both";
            invalid("LOOP_EMBEDDING_MODEL_PATH", "", wanted)
        })?;
        Ok(Self {
            unix_socket,
            listen,
            metrics: address("METRICS_ADDR", raw.metrics_addr.trim())?,
            store: store(&raw)?,
            retention: retention(&raw)?,
            cache: cache::options(&raw)?,
            threshold: similarity("LOOP_SIMILARITY_THRESHOLD", &raw.similarity_threshold)?,
            model: PathBuf::from(model),
            library: PathBuf::from(non_empty(&raw.ort_dylib_path).unwrap_or("libonnxruntime.so")),
            pool: pool(&raw)?,
            overload: overload(&raw)?,
            call_timeout: Duration::from_secs(number("LOOP_CALL_TIMEOUT", &raw.call_timeout, 1, 3600)?),
            store_prompt_text: boolean("LOOP_STORE_PROMPT_TEXT", &raw.store_prompt_text)?,
            return_similar_prompt: boolean("LOOP_RETURN_SIMILAR_PROMPT", &raw.return_similar_prompt)?,
            shutdown_grace: Duration::from_secs(number("SHUTDOWN_GRACE", &raw.shutdown_grace, 0, 3600)?),
            collector: traces::collector(&raw)?,
            log: log(&raw)?,
        })
    }
}

fn unix_socket(raw: &RawSettings) -> Result<Option<UnixSocketOptions>, SettingError> {
    let Some(path) = non_empty(&raw.uds_path) else { return Ok(None) };
    let mode = permissions("UDS_MODE", &raw.uds_mode)?;
    Ok(Some(UnixSocketOptions { path: PathBuf::from(path), mode }))
}

fn store(raw: &RawSettings) -> Result<StoreOptions, SettingError> {
    let max_bytes = number("LOOP_MEMORY_MAX_BYTES", &raw.memory_max_bytes, 1 << 20, 1 << 40)?;
    let redis = redis::options(raw)?;
    Ok(redis.map_or(StoreOptions::Memory { max_bytes }, StoreOptions::Redis))
}

fn retention(raw: &RawSettings) -> Result<Retention, SettingError> {
    let ttl = number("LOOP_EMBEDDING_TTL", &raw.embedding_ttl, 1, 31_536_000)?;
    Ok(Retention {
        size: number("LOOP_HISTORY_SIZE", &raw.history_size, 1, MAX_HISTORY)?,
        ttl: Duration::from_secs(ttl),
    })
}

fn pool(raw: &RawSettings) -> Result<PoolOptions, SettingError> {
    let workers = match non_empty(&raw.workers) {
        Some(text) => number("LOOP_WORKERS", text, 1, 1024)?,
        None => std::thread::available_parallelism().map_or(1, NonZero::get),
    };
    Ok(PoolOptions {
        workers,
        queue_length: number("LOOP_QUEUE_LENGTH", &raw.queue_length, 1, 1_000_000)?,
        cache_bytes: number("LOOP_RECENT_MAX_BYTES", &raw.recent_max_bytes, 0, 1 << 40)?,
    })
}

fn overload(raw: &RawSettings) -> Result<OverloadLimits, SettingError> {
    let delay = number("LOOP_READY_DELAY_MS", &raw.ready_delay_ms, 1, 60_000)?;
    let sustained = number("LOOP_READY_WINDOW_MS", &raw.ready_window_ms, 0, 3_600_000)?;
    Ok(OverloadLimits { delay: Duration::from_millis(delay), sustained: Duration::from_millis(sustained) })
}

fn log(raw: &RawSettings) -> Result<LogOptions, SettingError> {
    let format = match raw.log_format.trim() {
        "text" => LogFormat::Text,
        "json" => LogFormat::Json,
        other => return Err(invalid("LOG_FORMAT", other, "give text or json")),
    };
    let level = match raw.log_level.trim() {
        "error" => tracing::Level::ERROR,
        "warn" => tracing::Level::WARN,
        "info" => tracing::Level::INFO,
        "debug" => tracing::Level::DEBUG,
        other => return Err(invalid("LOG_LEVEL", other, "give error, warn, info or debug")),
    };
    Ok(LogOptions { format, level })
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
        let socket = settings.unix_socket.unwrap();
        assert_eq!(socket.path, PathBuf::from("/tmp/embedding-sidecar.sock"));
        assert_eq!(socket.mode, 0o660);
        assert_eq!(settings.listen, None);
        assert_eq!(settings.metrics, "127.0.0.1:9464".parse().unwrap());
        assert_eq!(settings.threshold, 0.95);
        assert_eq!(settings.retention.size, 5);
        assert_eq!(settings.retention.ttl, Duration::from_secs(3600));
        assert_eq!(settings.store, StoreOptions::Memory { max_bytes: 64 << 20 });
        assert_eq!(settings.cache, Some(CacheOptions::default()));
        assert!(settings.store_prompt_text);
        assert!(!settings.return_similar_prompt);
        assert!(settings.pool.workers >= 1);
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
            ("--cache", "on", "LOOP_CACHE"),
            ("--cache-ttl", "0", "LOOP_CACHE_TTL"),
            ("--cache-max-bytes", "64MB", "LOOP_CACHE_MAX_BYTES"),
            ("--cache-max-answer-bytes", "0", "LOOP_CACHE_MAX_ANSWER_BYTES"),
            ("--cache-similarity-threshold", "1.5", "LOOP_CACHE_SIMILARITY_THRESHOLD"),
            ("--workers", "0", "LOOP_WORKERS"),
            ("--queue-length", "0", "LOOP_QUEUE_LENGTH"),
            ("--recent-max-bytes", "16MB", "LOOP_RECENT_MAX_BYTES"),
            ("--ready-delay-ms", "0", "LOOP_READY_DELAY_MS"),
            ("--ready-window-ms", "3s", "LOOP_READY_WINDOW_MS"),
            ("--call-timeout", "0", "LOOP_CALL_TIMEOUT"),
            ("--store-prompt-text", "no", "LOOP_STORE_PROMPT_TEXT"),
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
    fn the_model_has_to_be_named() {
        let raw = RawSettings::try_parse_from(["embedding-service", "--model-path", ""]).unwrap();
        let e = Settings::try_from(raw).unwrap_err();
        assert_eq!(e.name, "LOOP_EMBEDDING_MODEL_PATH");
    }

    #[test]
    fn tcp_alone_is_enough() {
        let settings = settings(&["--uds-path", "", "--listen-addr", "127.0.0.1:0"]).unwrap();
        assert_eq!(settings.unix_socket, None);
        assert!(settings.listen.is_some());
    }

    #[test]
    fn nothing_chooses_an_embedder_without_a_model() {
        let help = RawSettings::command().render_long_help().to_string();
        assert!(!help.to_lowercase().contains("deterministic"));
        assert!(!help.to_lowercase().contains("bag"));
    }
}
