//! Every setting of the service: value by value from flags and environment ([`raw`]), and checked together, as the options of each
//! part. The parts know nothing of settings.

mod cache;
mod control;
mod parse;
mod raw;
mod redis;
mod traces;

use std::{net::SocketAddr, num::NonZero, path::PathBuf, time::Duration};

use crate::{
    cache::options::CacheOptions,
    control::options::ControlOptions,
    embed::pool::PoolOptions,
    history::{Retention, open::StoreOptions},
    listen::UnixSocketOptions,
    log::LogOptions,
    readiness::OverloadLimits,
    second_opinion::SecondOpinionOptions,
    trace::CollectorOptions,
};

pub use self::raw::RawSettings;

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
    /// None: no control.
    pub control: Option<ControlOptions>,
    /// None: nobody reads tool results.
    pub second_opinion: Option<SecondOpinionOptions>,
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

/// Settings that cannot be used as they are.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {wanted}")]
pub struct SettingError {
    /// The environment variable.
    pub name: &'static str,
    /// What to give instead.
    pub wanted: &'static str,
}

impl TryFrom<RawSettings> for Settings {
    type Error = SettingError;

    fn try_from(raw: RawSettings) -> Result<Self, SettingError> {
        let (store, cache, collector) = (store(&raw)?, cache::options(&raw), traces::collector(&raw)?);
        let control = control::options(&raw)?;
        if raw.uds_path.is_none() && raw.listen_addr.is_none() {
            let wanted = "give a path for the Unix socket, or an IP:port in LISTEN_ADDR";
            return Err(SettingError { name: "UDS_PATH", wanted });
        }
        let second_opinion = raw
            .guard_model_path
            .map(|model| SecondOpinionOptions { model, threshold: raw.guard_model_threshold });
        if second_opinion.is_some() && control.is_none() {
            let wanted = "leave it out, or give CONTROL=true: tool results come with the reports of control";
            return Err(SettingError { name: "GUARD_MODEL_PATH", wanted });
        }
        let model = raw.model_path.ok_or(SettingError {
            name: "LOOP_EMBEDDING_MODEL_PATH",
            wanted: "give the model: an .onnx file with its tokenizer.json beside it, or the folder of both",
        })?;
        let all_cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        Ok(Self {
            unix_socket: raw.uds_path.map(|path| UnixSocketOptions { path, mode: raw.uds_mode }),
            listen: raw.listen_addr,
            metrics: raw.metrics_addr,
            store,
            retention: Retention { size: raw.history_size, ttl: raw.embedding_ttl },
            cache,
            control,
            second_opinion,
            threshold: raw.similarity_threshold,
            model,
            library: raw.ort_dylib_path.unwrap_or_else(|| PathBuf::from("libonnxruntime.so")),
            pool: PoolOptions {
                workers: raw.workers.unwrap_or_else(all_cores),
                queue_length: raw.queue_length,
                cache_bytes: raw.recent_max_bytes,
            },
            overload: OverloadLimits { delay: raw.ready_delay_ms, sustained: raw.ready_window_ms },
            call_timeout: raw.call_timeout,
            store_prompt_text: raw.store_prompt_text,
            return_similar_prompt: raw.return_similar_prompt,
            shutdown_grace: raw.shutdown_grace,
            collector,
            log: LogOptions { format: raw.log_format, level: raw.log_level },
        })
    }
}

fn store(raw: &RawSettings) -> Result<StoreOptions, SettingError> {
    let memory = StoreOptions::Memory { max_bytes: raw.memory_max_bytes };
    Ok(redis::options(raw)?.map_or(memory, StoreOptions::Redis))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::{CommandFactory, Parser};

    use super::*;

    /// What the program would be given, or would say.
    fn settings(arguments: &[&str]) -> Result<Settings, String> {
        let base = ["embedding-service", "--model-path", "/m"];
        let raw = RawSettings::try_parse_from(base.iter().chain(arguments)).map_err(|e| e.to_string())?;
        Settings::try_from(raw).map_err(|e| e.to_string())
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
            ("--redis-lookup", "fast", "REDIS_LOOKUP"),
            ("--redis-cluster", "maybe", "REDIS_CLUSTER"),
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
            ("--control", "on", "CONTROL"),
            ("--control-key", "short", "CONTROL_KEY"),
            ("--control-key-file", "/nowhere/key", "CONTROL_KEY_FILE"),
            ("--control-webhook-url", "hook.example", "CONTROL_WEBHOOK_URL"),
            ("--control-webhook-url", "https://hook.example", "CONTROL_WEBHOOK_SECRET_FILE"),
            ("--control-run-ttl", "1", "CONTROL_RUN_TTL"),
            ("--control-max-bytes", "64MB", "CONTROL_MAX_BYTES"),
            ("--metrics-addr", "0.0.0.0:9464", "CONTROL_KEY_FILE"),
            ("--guard-model-threshold", "97%", "GUARD_MODEL_THRESHOLD"),
            ("--guard-model-threshold", "NaN", "GUARD_MODEL_THRESHOLD"),
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
            assert!(e.contains(name) && e.contains("give"), "{flag} {value}: {e}");
        }
    }

    /// The number beside this one.
    fn beside(text: &str, step: i32, is_share: bool) -> String {
        let is_octal = text.len() > 1 && text.starts_with('0');
        match i64::from(step) {
            _ if is_share => (text.parse::<f64>().unwrap() + f64::from(step) / 1000.0).to_string(),
            step if is_octal => format!("0{:o}", i64::from_str_radix(text, 8).unwrap().saturating_add(step)),
            step => text.parse::<i64>().unwrap().saturating_add(step).to_string(),
        }
    }

    #[test]
    fn the_range_that_a_setting_says_is_the_one_that_is_checked() {
        let mut ranges = 0;
        for argument in RawSettings::command().get_arguments().filter(|argument| argument.get_env().is_some())
        {
            let name = argument.get_env().and_then(|name| name.to_str()).unwrap();
            let help = argument.get_help().unwrap().to_string();
            let default = argument.get_default_values().join(" ".as_ref());
            let Some((_, range)) = help.split_once("Range: ") else {
                assert!(default.to_str().unwrap().parse::<f64>().is_err(), "{name} says no range");
                continue;
            };
            let (least, most) = range.split_once(" to ").unwrap();
            let is_share = default.to_str().unwrap().contains('.');
            let takes = |value: &str| {
                let flag = format!("--{}={value}", argument.get_long().unwrap());
                RawSettings::try_parse_from(["embedding-service", &flag]).is_ok()
            };
            assert!(takes(least) && takes(most), "{name}: {range}");
            for beyond in [beside(least, -1, is_share), beside(most, 1, is_share)] {
                assert!(!takes(&beyond), "{name} takes {beyond}, and says {range}");
            }
            ranges += 1;
        }
        assert!(ranges > 20, "{ranges}");
    }

    #[test]
    fn the_model_has_to_be_named() {
        let raw = RawSettings::try_parse_from(["embedding-service", "--model-path", ""]).unwrap();
        let e = Settings::try_from(raw).unwrap_err();
        assert_eq!(e.name, "LOOP_EMBEDDING_MODEL_PATH");
    }

    #[test]
    fn tool_results_are_read_where_a_model_is_named_and_reports_come() {
        assert_eq!(settings(&[]).unwrap().second_opinion, None);
        let read = settings(&["--guard-model-path", "/g"]).unwrap().second_opinion.unwrap();
        assert_eq!(read.model, PathBuf::from("/g"));
        let e = settings(&["--guard-model-path", "/g", "--control", "false"]).unwrap_err();
        assert!(e.contains("GUARD_MODEL_PATH") && e.contains("CONTROL"), "{e}");
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
