//! Flags, environment names, defaults and help. Each value is read and checked by itself here, by the parsers in [`super::parse`];
//! what several of them say together is checked in [`super`]. A message about a value names the flag and the environment variable.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{ArgAction, Parser};
use tracing::Level;

use super::parse::{
    address, boolean, choice, collector, level, milliseconds, number, optional, path, permissions, seconds,
    secret, share, similarity, text,
};
use crate::{
    history::redis::MAX_HISTORY,
    log::LogFormat,
    store::redis::options::{LookupMethod, Secret},
};

/// A value whose text may be empty. By this name clap does not take it for a flag that may be left out.
type OrEmpty<T> = Option<T>;

/// Compares each prompt with the last ones of its scope, and remembers it. Every flag can be given as the environment
/// variable named beside it.
#[derive(Parser, Clone)]
#[command(
    name = "embedding-service",
    version,
    about,
    after_help = "Client of a running service: embedding-service runs | run ID | stop | lift | budgets | watch; each has --help."
)]
pub struct RawSettings {
    /// Path of the Unix socket for gRPC; empty means none.
    #[arg(long, env = "UDS_PATH", value_name = "UDS_PATH", default_value = "/tmp/embedding-sidecar.sock", value_parser = optional(path))]
    pub uds_path: OrEmpty<PathBuf>,
    /// Permissions of the Unix socket, as an octal number. Range: 0600 to 0777.
    #[arg(long, env = "UDS_MODE", value_name = "UDS_MODE", default_value = "0660", value_parser = permissions)]
    pub uds_mode: u32,
    /// IP:port for gRPC over TCP; empty means none.
    #[arg(long, env = "LISTEN_ADDR", value_name = "LISTEN_ADDR", default_value = "", value_parser = optional(address))]
    pub listen_addr: OrEmpty<SocketAddr>,
    /// IP:port for /metrics, /healthz, /readyz and the paths of control; port 0 takes a free one.
    #[arg(long, env = "METRICS_ADDR", value_name = "METRICS_ADDR", default_value = "127.0.0.1:9464", value_parser = address)]
    pub metrics_addr: SocketAddr,
    /// Address of Redis: redis://[user[:password]@]host:port[/db], rediss:// for TLS, or unix:///path. For a cluster, some nodes, separated by commas. Empty means that prompts are stored in memory.
    #[arg(long, env = "REDIS_URL", value_name = "REDIS_URL", default_value = "", hide_env_values = true, value_parser = secret)]
    pub redis_url: Secret,
    /// File with the password for Redis. It is read again for each connection.
    #[arg(long, env = "REDIS_PASSWORD_FILE", value_name = "REDIS_PASSWORD_FILE", default_value = "", value_parser = optional(path))]
    pub redis_password_file: OrEmpty<PathBuf>,
    /// Whether Redis is a cluster: true or false.
    #[arg(long, env = "REDIS_CLUSTER", value_name = "REDIS_CLUSTER", default_value = "false", value_parser = boolean, action = ArgAction::Set)]
    pub redis_cluster: bool,
    /// PEM file of the authorities that may sign Redis's certificate; empty means those that the system trusts.
    #[arg(long, env = "REDIS_CA_FILE", value_name = "REDIS_CA_FILE", default_value = "", value_parser = optional(path))]
    pub redis_ca_file: OrEmpty<PathBuf>,
    /// PEM file of the certificate that the service shows to Redis; empty means none.
    #[arg(long, env = "REDIS_CERT_FILE", value_name = "REDIS_CERT_FILE", default_value = "", value_parser = optional(path))]
    pub redis_cert_file: OrEmpty<PathBuf>,
    /// PEM file of the key of this certificate.
    #[arg(long, env = "REDIS_KEY_FILE", value_name = "REDIS_KEY_FILE", default_value = "", value_parser = optional(path))]
    pub redis_key_file: OrEmpty<PathBuf>,
    /// How earlier prompts are looked up in Redis: direct, or search (by the search module, with an index).
    #[arg(long, env = "REDIS_LOOKUP", value_name = "REDIS_LOOKUP", default_value = "direct", value_parser = choice(["direct", "search"], [LookupMethod::Direct, LookupMethod::Search]))]
    pub redis_lookup: LookupMethod,
    /// Milliseconds that the service waits for Redis. Range: 1 to 60000.
    #[arg(long, env = "LOOP_STORE_TIMEOUT_MS", value_name = "LOOP_STORE_TIMEOUT_MS", default_value = "20", value_parser = milliseconds(1, 60_000))]
    pub store_timeout_ms: Duration,
    /// Bytes that prompts stored in memory may take. Beyond that the scope without a prompt for the longest time is forgotten. Range: 1048576 to 1099511627776.
    #[arg(long, env = "LOOP_MEMORY_MAX_BYTES", value_name = "LOOP_MEMORY_MAX_BYTES", default_value = "67108864", value_parser = number::<usize>(1 << 20, 1 << 40))]
    pub memory_max_bytes: usize,
    /// A prompt matches above this similarity (1 - cosine distance / 2); 0.95 is a cosine of 0.90. Range: 0 to 1.
    #[arg(long, env = "LOOP_SIMILARITY_THRESHOLD", value_name = "LOOP_SIMILARITY_THRESHOLD", default_value = "0.95", value_parser = similarity)]
    pub similarity_threshold: f64,
    /// How many prompts of each scope are stored and compared. Range: 1 to 100.
    #[arg(long, env = "LOOP_HISTORY_SIZE", value_name = "LOOP_HISTORY_SIZE", default_value = "5", value_parser = number::<usize>(1, MAX_HISTORY))]
    pub history_size: usize,
    /// Seconds that a prompt is stored. Range: 1 to 31536000.
    #[arg(long, env = "LOOP_EMBEDDING_TTL", value_name = "LOOP_EMBEDDING_TTL", default_value = "3600", value_parser = seconds(1, 31_536_000))]
    pub embedding_ttl: Duration,
    /// Whether answers may be stored for the response cache: true or false. Nothing is stored before a client asks for it.
    #[arg(long, env = "LOOP_CACHE", value_name = "LOOP_CACHE", default_value = "true", value_parser = boolean, action = ArgAction::Set)]
    pub cache: bool,
    /// Seconds that an answer is stored for the response cache at most. Range: 1 to 31536000.
    #[arg(long, env = "LOOP_CACHE_TTL", value_name = "LOOP_CACHE_TTL", default_value = "3600", value_parser = seconds(1, 31_536_000))]
    pub cache_ttl: Duration,
    /// Bytes that answers stored in memory may take. Beyond that the one that was stored longest ago is forgotten. Redis has its own maxmemory. Range: 1048576 to 1099511627776.
    #[arg(long, env = "LOOP_CACHE_MAX_BYTES", value_name = "LOOP_CACHE_MAX_BYTES", default_value = "67108864", value_parser = number::<usize>(1 << 20, 1 << 40))]
    pub cache_max_bytes: usize,
    /// Longer answers than this many bytes are not stored. Range: 1 to 2097152.
    #[arg(long, env = "LOOP_CACHE_MAX_ANSWER_BYTES", value_name = "LOOP_CACHE_MAX_ANSWER_BYTES", default_value = "131072", value_parser = number::<usize>(1, 2 << 20))]
    pub cache_max_answer_bytes: usize,
    /// A stored answer may be given from this similarity of the prompts on (1 - cosine distance / 2) where the request names none; 0.875 is a cosine of 0.75. Range: 0 to 1.
    #[arg(long, env = "LOOP_CACHE_SIMILARITY_THRESHOLD", value_name = "LOOP_CACHE_SIMILARITY_THRESHOLD", default_value = "0.875", value_parser = similarity)]
    pub cache_similarity_threshold: f64,
    /// The model: an .onnx file, or a folder with model.onnx. Its tokenizer.json lies beside it.
    #[arg(long, env = "LOOP_EMBEDDING_MODEL_PATH", value_name = "LOOP_EMBEDDING_MODEL_PATH", default_value = "", value_parser = optional(path))]
    pub model_path: OrEmpty<PathBuf>,
    /// The shared library of ONNX Runtime, 1.24 or later.
    #[arg(long, env = "ORT_DYLIB_PATH", value_name = "ORT_DYLIB_PATH", default_value = "libonnxruntime.so", value_parser = optional(path))]
    pub ort_dylib_path: OrEmpty<PathBuf>,
    /// Number of worker threads, each with a session of the model; empty means one per core. Range: 1 to 1024.
    #[arg(long, env = "LOOP_WORKERS", value_name = "LOOP_WORKERS", default_value = "", value_parser = optional(number::<usize>(1, 1024)))]
    pub workers: OrEmpty<usize>,
    /// How many prompts may wait to be embedded. A prompt that cannot be done before its deadline is refused at once, also when fewer wait. Range: 1 to 1000000.
    #[arg(long, env = "LOOP_QUEUE_LENGTH", value_name = "LOOP_QUEUE_LENGTH", default_value = "256", value_parser = number::<usize>(1, 1_000_000))]
    pub queue_length: usize,
    /// Bytes that recent embeddings may take. A prompt that is sent again needs no inference then. 0 keeps none. Range: 0 to 1099511627776.
    #[arg(long, env = "LOOP_RECENT_MAX_BYTES", value_name = "LOOP_RECENT_MAX_BYTES", default_value = "16777216", value_parser = number::<usize>(0, 1 << 40))]
    pub recent_max_bytes: usize,
    /// /readyz says no when prompts wait longer than this many milliseconds on average, for LOOP_READY_WINDOW_MS. Range: 1 to 60000.
    #[arg(long, env = "LOOP_READY_DELAY_MS", value_name = "LOOP_READY_DELAY_MS", default_value = "20", value_parser = milliseconds(1, 60_000))]
    pub ready_delay_ms: Duration,
    /// How many milliseconds this must go on before /readyz says no. /readyz says yes again when the wait was below half of LOOP_READY_DELAY_MS for as long. Range: 0 to 3600000.
    #[arg(long, env = "LOOP_READY_WINDOW_MS", value_name = "LOOP_READY_WINDOW_MS", default_value = "3000", value_parser = milliseconds(0, 3_600_000))]
    pub ready_window_ms: Duration,
    /// Seconds after which the service gives up a call, whatever the call's own deadline. This also ends a call whose message never arrives completely. Range: 1 to 3600.
    #[arg(long, env = "LOOP_CALL_TIMEOUT", value_name = "LOOP_CALL_TIMEOUT", default_value = "30", value_parser = seconds(1, 3600))]
    pub call_timeout: Duration,
    /// Whether the text of prompts is stored beside their vectors, in clear text: true or false. That is the first 1,024 bytes of each prompt and, for the response cache, each question of up to 16 KiB. Without the text, rewordings do not match any more; only the same prompt does. Answers of the response cache are stored all the same
    #[arg(long, env = "LOOP_STORE_PROMPT_TEXT", value_name = "LOOP_STORE_PROMPT_TEXT", default_value = "true", value_parser = boolean, action = ArgAction::Set)]
    pub store_prompt_text: bool,
    /// Whether an answer holds the text of the most similar earlier prompt: true or false.
    #[arg(long, env = "LOOP_RETURN_SIMILAR_PROMPT", value_name = "LOOP_RETURN_SIMILAR_PROMPT", default_value = "false", value_parser = boolean, action = ArgAction::Set)]
    pub return_similar_prompt: bool,
    /// At shutdown, calls under way have this many seconds to finish, and background writes as many after them. Range: 0 to 3600.
    #[arg(long, env = "SHUTDOWN_GRACE", value_name = "SHUTDOWN_GRACE", default_value = "10", value_parser = seconds(0, 3600))]
    pub shutdown_grace: Duration,
    /// Whether the service stores runs and stops, and serves /v1 on METRICS_ADDR: true or false. On an address that other machines reach it needs CONTROL_KEY_FILE or CONTROL_KEY.
    #[arg(long, env = "CONTROL", value_name = "CONTROL", default_value = "true", value_parser = boolean, action = ArgAction::Set)]
    pub control: bool,
    /// File with the key of operators, at least 16 characters. Without a key nothing can be changed over HTTP. With one, /v1 is served on the gRPC port too, and needs the key there.
    #[arg(long, env = "CONTROL_KEY_FILE", value_name = "CONTROL_KEY_FILE", default_value = "", value_parser = optional(path))]
    pub control_key_file: OrEmpty<PathBuf>,
    /// The key itself, where there is no file.
    #[arg(long, env = "CONTROL_KEY", value_name = "CONTROL_KEY", default_value = "", hide_env_values = true, value_parser = secret)]
    pub control_key: Secret,
    /// Seconds after which a run without a request is forgotten. Range: 60 to 31536000.
    #[arg(long, env = "CONTROL_RUN_TTL", value_name = "CONTROL_RUN_TTL", default_value = "86400", value_parser = seconds(60, 31_536_000))]
    pub control_run_ttl: Duration,
    /// Seconds after which a run without a request is idle. Range: 1 to 31536000.
    #[arg(long, env = "CONTROL_IDLE", value_name = "CONTROL_IDLE", default_value = "300", value_parser = seconds(1, 31_536_000))]
    pub control_idle: Duration,
    /// About how many of a run's last turns are stored. Range: 1 to 100000.
    #[arg(long, env = "CONTROL_TURNS", value_name = "CONTROL_TURNS", default_value = "200", value_parser = number::<usize>(1, 100_000))]
    pub control_turns: usize,
    /// About how many events are stored. Range: 100 to 10000000.
    #[arg(long, env = "CONTROL_EVENTS", value_name = "CONTROL_EVENTS", default_value = "20000", value_parser = number::<usize>(100, 10_000_000))]
    pub control_events: usize,
    /// Bytes that control may take in memory, without Redis. Beyond that the run that was idle longest is forgotten. Range: 1048576 to 1099511627776.
    #[arg(long, env = "CONTROL_MAX_BYTES", value_name = "CONTROL_MAX_BYTES", default_value = "268435456", value_parser = number::<usize>(1 << 20, 1 << 40))]
    pub control_max_bytes: usize,
    /// Address to which events are sent, http:// or https://; empty means none.
    #[arg(long, env = "CONTROL_WEBHOOK_URL", value_name = "CONTROL_WEBHOOK_URL", default_value = "", hide_env_values = true, value_parser = secret)]
    pub control_webhook_url: Secret,
    /// File with the secret that signs these events (HMAC-SHA256, as Standard Webhooks has it).
    #[arg(long, env = "CONTROL_WEBHOOK_SECRET_FILE", value_name = "CONTROL_WEBHOOK_SECRET_FILE", default_value = "", value_parser = optional(path))]
    pub control_webhook_secret_file: OrEmpty<PathBuf>,
    /// The kinds of events that are sent, separated by commas.
    #[arg(long, env = "CONTROL_WEBHOOK_EVENTS", value_name = "CONTROL_WEBHOOK_EVENTS", default_value = "run.failed,run.cancelled,budget.warned,budget.spent,settings.changed,security.injection_detected", value_parser = text)]
    pub control_webhook_events: String,
    /// Seconds in which at most one event of a kind is sent for a run. Range: 0 to 86400.
    #[arg(long, env = "CONTROL_WEBHOOK_COOLDOWN", value_name = "CONTROL_WEBHOOK_COOLDOWN", default_value = "300", value_parser = seconds(0, 86_400))]
    pub control_webhook_cooldown: Duration,
    /// Address at which the console's link shows the trace of a run, http:// or https://, with {trace_id} for its id; empty means no link. The filter sends these traces (traces.cluster).
    #[arg(long, env = "CONTROL_TRACE_URL", value_name = "CONTROL_TRACE_URL", default_value = "", value_parser = optional(text))]
    pub control_trace_url: OrEmpty<String>,
    /// The model for the second opinion on tool results (guard.second_opinion in the filter): an .onnx file, or a folder with model.onnx, with its tokenizer.json beside it. Empty means that tool results are not read. Needs CONTROL.
    #[arg(long, env = "GUARD_MODEL_PATH", value_name = "GUARD_MODEL_PATH", default_value = "", value_parser = optional(path))]
    pub guard_model_path: OrEmpty<PathBuf>,
    /// A tool result is reported as an injection above this score of the model. Range: 0 to 1.
    #[arg(long, env = "GUARD_MODEL_THRESHOLD", value_name = "GUARD_MODEL_THRESHOLD", default_value = "0.975", value_parser = share)]
    pub guard_model_threshold: f64,
    /// Address of the collector of traces, http://host:port, for OTLP/gRPC; empty means no spans.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "OTEL_EXPORTER_OTLP_ENDPOINT", default_value = "", value_parser = optional(collector))]
    pub otlp_endpoint: OrEmpty<String>,
    /// Protocol of the collector; only grpc is possible.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_PROTOCOL", value_name = "OTEL_EXPORTER_OTLP_PROTOCOL", default_value = "grpc", value_parser = text)]
    pub otlp_protocol: String,
    /// Name of this service in traces.
    #[arg(long, env = "OTEL_SERVICE_NAME", value_name = "OTEL_SERVICE_NAME", default_value = "embedding-service", value_parser = optional(text))]
    pub otel_service_name: OrEmpty<String>,
    /// Format of the log on stderr: text or json.
    #[arg(long, env = "LOG_FORMAT", value_name = "LOG_FORMAT", default_value = "text", value_parser = choice(["text", "json"], [LogFormat::Text, LogFormat::Json]))]
    pub log_format: LogFormat,
    /// Least severe lines in the log: error, warn, info or debug.
    #[arg(long, env = "LOG_LEVEL", value_name = "LOG_LEVEL", default_value = "info", value_parser = level)]
    pub log_level: Level,
}
