//! The settings as they come: flags, environment names, defaults and help. All text; nothing is checked here.

use clap::Parser;

/// Compares each prompt with the last ones of its scope, and remembers it. Every flag can be given as the environment
/// variable named beside it.
#[derive(Parser, Clone)]
#[command(name = "embedding-service", version, about)]
pub struct RawSettings {
    /// Path of the Unix socket for gRPC; empty means none.
    #[arg(long, env = "UDS_PATH", default_value = "/tmp/embedding-sidecar.sock")]
    pub uds_path: String,
    /// Permissions of the Unix socket, as an octal number.
    #[arg(long, env = "UDS_MODE", default_value = "0660")]
    pub uds_mode: String,
    /// IP:port for gRPC over TCP; empty means none.
    #[arg(long, env = "LISTEN_ADDR", default_value = "")]
    pub listen_addr: String,
    /// IP:port for /metrics, /healthz and /readyz; port 0 takes a free one.
    #[arg(long, env = "METRICS_ADDR", default_value = "127.0.0.1:9464")]
    pub metrics_addr: String,
    /// Address of Redis: redis://[user[:password]@]host:port[/db], rediss:// for TLS, or unix:///path. For a cluster, some nodes, separated by commas. Empty means that prompts are kept in memory.
    #[arg(long, env = "REDIS_URL", default_value = "", hide_env_values = true)]
    pub redis_url: String,
    /// File with the password for Redis. It is read again for each connection.
    #[arg(long, env = "REDIS_PASSWORD_FILE", default_value = "")]
    pub redis_password_file: String,
    /// Whether Redis is a cluster: true or false.
    #[arg(long, env = "REDIS_CLUSTER", default_value = "false")]
    pub redis_cluster: String,
    /// PEM file of the authorities that may sign Redis's certificate; empty means those that the system trusts.
    #[arg(long, env = "REDIS_CA_FILE", default_value = "")]
    pub redis_ca_file: String,
    /// PEM file of the certificate that the service shows to Redis; empty means none.
    #[arg(long, env = "REDIS_CERT_FILE", default_value = "")]
    pub redis_cert_file: String,
    /// PEM file of the key of this certificate.
    #[arg(long, env = "REDIS_KEY_FILE", default_value = "")]
    pub redis_key_file: String,
    /// How earlier prompts are looked up in Redis: direct, or search (by the search module, with an index).
    #[arg(long, env = "REDIS_LOOKUP", default_value = "direct")]
    pub redis_lookup: String,
    /// Milliseconds that the service waits for Redis.
    #[arg(long, env = "LOOP_STORE_TIMEOUT_MS", default_value = "20")]
    pub store_timeout_ms: String,
    /// Bytes that prompts kept in memory may take. Beyond that the scope without a prompt for the longest time is forgotten.
    #[arg(long, env = "LOOP_MEMORY_MAX_BYTES", default_value = "67108864")]
    pub memory_max_bytes: String,
    /// A prompt matches above this similarity (1 - cosine distance / 2); 0.95 is a cosine of 0.90.
    #[arg(long, env = "LOOP_SIMILARITY_THRESHOLD", default_value = "0.95")]
    pub similarity_threshold: String,
    /// How many prompts of each scope are kept and compared.
    #[arg(long, env = "LOOP_HISTORY_SIZE", default_value = "5")]
    pub history_size: String,
    /// Seconds that a prompt is kept.
    #[arg(long, env = "LOOP_EMBEDDING_TTL", default_value = "3600")]
    pub embedding_ttl: String,
    /// Whether answers may be stored for the response cache: true or false. Nothing is stored before a client asks for it.
    #[arg(long, env = "LOOP_CACHE", default_value = "true")]
    pub cache: String,
    /// Seconds that an answer is kept for the response cache at most.
    #[arg(long, env = "LOOP_CACHE_TTL", default_value = "3600")]
    pub cache_ttl: String,
    /// Bytes that answers kept in memory may take. Beyond that the one that was stored longest ago is forgotten. Redis has its own maxmemory.
    #[arg(long, env = "LOOP_CACHE_MAX_BYTES", default_value = "67108864")]
    pub cache_max_bytes: String,
    /// Longer answers than this many bytes are not kept.
    #[arg(long, env = "LOOP_CACHE_MAX_ANSWER_BYTES", default_value = "131072")]
    pub cache_max_answer_bytes: String,
    /// A stored answer may be given from this similarity of the prompts on (1 - cosine distance / 2) where the request names none; 0.875 is a cosine of 0.75.
    #[arg(long, env = "LOOP_CACHE_SIMILARITY_THRESHOLD", default_value = "0.875")]
    pub cache_similarity_threshold: String,
    /// The model: an .onnx file, or a folder with model.onnx. Its tokenizer.json lies beside it.
    #[arg(long, env = "LOOP_EMBEDDING_MODEL_PATH", default_value = "")]
    pub model_path: String,
    /// The shared library of ONNX Runtime, 1.24 or later.
    #[arg(long, env = "ORT_DYLIB_PATH", default_value = "libonnxruntime.so")]
    pub ort_dylib_path: String,
    /// Number of worker threads, each with a session of the model; empty means one per core.
    #[arg(long, env = "LOOP_WORKERS", default_value = "")]
    pub workers: String,
    /// How many prompts may wait to be embedded. A prompt that cannot be done before its deadline is refused at once, also when fewer wait.
    #[arg(long, env = "LOOP_QUEUE_LENGTH", default_value = "256")]
    pub queue_length: String,
    /// Bytes that recent embeddings may take. A prompt that is sent again needs no inference then. 0 keeps none.
    #[arg(long, env = "LOOP_RECENT_MAX_BYTES", default_value = "16777216")]
    pub recent_max_bytes: String,
    /// /readyz says no when prompts wait longer than this many milliseconds on average, for LOOP_READY_WINDOW_MS.
    #[arg(long, env = "LOOP_READY_DELAY_MS", default_value = "20")]
    pub ready_delay_ms: String,
    /// How many milliseconds this must go on before /readyz says no. /readyz says yes again when the wait was below half of LOOP_READY_DELAY_MS for as long.
    #[arg(long, env = "LOOP_READY_WINDOW_MS", default_value = "3000")]
    pub ready_window_ms: String,
    /// Seconds after which the service gives up a call, whatever the call's own deadline. This also ends a call whose message never arrives completely.
    #[arg(long, env = "LOOP_CALL_TIMEOUT", default_value = "30")]
    pub call_timeout: String,
    /// Whether the beginning of a prompt's text (at most 1,024 bytes) is stored beside its vector: true or false. Without the text, rewordings do not match any more; only the same prompt does.
    #[arg(long, env = "LOOP_STORE_PROMPT_TEXT", default_value = "true")]
    pub store_prompt_text: String,
    /// Whether an answer holds the text of the most similar earlier prompt: true or false.
    #[arg(long, env = "LOOP_RETURN_SIMILAR_PROMPT", default_value = "false")]
    pub return_similar_prompt: String,
    /// At shutdown, calls under way have this many seconds to finish, and background writes as many after them.
    #[arg(long, env = "SHUTDOWN_GRACE", default_value = "10")]
    pub shutdown_grace: String,
    /// Address of the collector of traces, http://host:port, for OTLP/gRPC; empty means no spans.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", default_value = "")]
    pub otlp_endpoint: String,
    /// Protocol of the collector; only grpc is possible.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_PROTOCOL", default_value = "grpc")]
    pub otlp_protocol: String,
    /// Name of this service in traces.
    #[arg(long, env = "OTEL_SERVICE_NAME", default_value = "embedding-service")]
    pub otel_service_name: String,
    /// Format of the log on stderr: text or json.
    #[arg(long, env = "LOG_FORMAT", default_value = "text")]
    pub log_format: String,
    /// Least severe lines in the log: error, warn, info or debug.
    #[arg(long, env = "LOG_LEVEL", default_value = "info")]
    pub log_level: String,
}
