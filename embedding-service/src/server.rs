//! The whole server: what is started in which order, and stopped in which. Sockets open last, when a call can be answered.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    cache::{self, response_cache::ResponseCache},
    console::{self, Console},
    control::{
        Control,
        api::{self, Access, Reach},
        options::ControlOptions,
        service::ControlCalls,
    },
    embed::{
        Embedder,
        error::ModelError,
        model_files::ModelFiles,
        model_id::ModelId,
        onnx::{OnnxEmbedder, Runtime},
        pool::Pool,
    },
    history::{self, open::StoreOptions},
    http,
    listen::{self, ListenError},
    metrics::{Metrics, NotReady},
    readiness::{self, Reasons, Reporter},
    recorder::Recorder,
    routes,
    second_opinion::reader::{Findings, Reader},
    service::LoopService,
    settings::Settings,
    store::StoreError,
};

/// After this long without a call under way, connections that are merely open (a health watch) are not waited for.
const QUIET: Duration = Duration::from_millis(300);

/// Why the server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("cannot use the prompt history: {0}")]
    History(#[from] StoreError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error("cannot build the reflection service: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
    #[error("a listener failed: {0}")]
    Serve(String),
}

/// Where the server really listens.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub uds: Option<PathBuf>,
    pub tcp: Option<SocketAddr>,
    pub metrics: SocketAddr,
}

/// A server that answers. Stop it with [`Running::shutdown`].
pub struct Running {
    addresses: Addresses,
    metrics: Arc<Metrics>,
    pool: Arc<Pool>,
    recorder: Arc<Recorder>,
    cache: Option<Arc<ResponseCache>>,
    reporter: Arc<Reporter>,
    watcher: JoinHandle<()>,
    /// What control does by itself.
    background: Vec<JoinHandle<()>>,
    stop_grpc: CancellationToken,
    stop_http: CancellationToken,
    grpc: JoinSet<Result<(), tonic::transport::Error>>,
    http: JoinHandle<()>,
    accepting: JoinSet<()>,
    grace: Duration,
}

/// Starts the server with the model that the settings name.
///
/// # Errors
/// When a part of it cannot be had; nothing listens then.
pub async fn start(settings: &Settings) -> Result<Running, ServerError> {
    let runtime = Runtime::load(&settings.library)?;
    let files = ModelFiles::find(&settings.model)?;
    let model = ModelId::of(&files)?;
    start_with(settings, model, move || OnnxEmbedder::load(&runtime, &files)).await
}

/// Starts the server with embedders of `model` that `make` makes, one for each worker.
///
/// # Errors
/// As [`start`].
pub async fn start_with<E, F>(settings: &Settings, model: ModelId, make: F) -> Result<Running, ServerError>
where
    E: Embedder + 'static,
    F: Fn() -> Result<E, ModelError> + Send + Sync + 'static,
{
    let metrics = Arc::new(Metrics::default());
    let options = settings.pool;
    let pool = tokio::task::spawn_blocking({
        let metrics = Arc::clone(&metrics);
        move || Pool::start(options, metrics, make)
    });
    let pool = Arc::new(pool.await.map_err(|_| ModelError::WorkerGone)??);
    tracing::info!(workers = options.workers, %model, dimension = pool.dimension(), "the model is warm");

    let store = history::open::open(&settings.store, model, pool.dimension(), settings.retention).await?;
    let reachable = store.reachable();
    let recorder = Arc::new(Recorder::start(store, settings.retention.size, Arc::clone(&metrics)));

    let cache = match &settings.cache {
        Some(options) => {
            let answers = cache::open::open(&settings.store, options, model, pool.dimension()).await;
            let (pool, metrics) = (Arc::clone(&pool), Arc::clone(&metrics));
            let is_counted = matches!(settings.store, StoreOptions::Memory { .. });
            Some(Arc::new(ResponseCache::start(answers, pool, metrics, *options, is_counted)))
        }
        None => None,
    };

    let service = LoopService {
        pool: Arc::clone(&pool),
        recorder: Arc::clone(&recorder),
        metrics: Arc::clone(&metrics),
        cache: cache.clone(),
        cache_options: settings.cache.unwrap_or_default(),
        threshold: settings.threshold,
        store_prompt_text: settings.store_prompt_text,
        return_similar_prompt: settings.return_similar_prompt,
    };
    let control = match &settings.control {
        Some(options) => Some(Control::open(&settings.store, options).await),
        None => None,
    };
    let key = settings.control.as_ref().and_then(|options| options.key);
    let reasons = watch::Sender::new(Reasons::new());
    let kept_in = match &settings.store {
        StoreOptions::Memory { .. } => "the memory of this process",
        StoreOptions::Redis(_) => "Redis",
    };
    let traces = settings.control.as_ref().and_then(|options| options.trace_url.clone());
    let console = control.clone().map(|control| Console::new(control, reasons.subscribe(), kept_in, traces));
    let pages_for = |access| {
        let api = api::router(control.clone()?, access);
        Some(api.merge(console::router(console.clone()?, access)))
    };
    // Not only the gateway may reach this port, so the pages want the key here.
    let for_gateway = key.and_then(|_| pages_for(Access { reach: Reach::Anywhere, key }));
    let reader = match (&settings.second_opinion, &control, &settings.control) {
        (Some(options), Some(control), Some(ControlOptions { events, .. })) => {
            let store = Arc::clone(&control.store);
            let findings = Findings { store, keep: *events, metrics: Arc::clone(&metrics) };
            let reader = Reader::start(&Runtime::load(&settings.library)?, options, findings)?;
            tracing::info!(threshold = options.threshold, "new tool results are read for a second opinion");
            Some(Arc::new(reader))
        }
        _ => None,
    };
    let calls = ControlCalls { control: control.clone(), metrics: Arc::clone(&metrics), reader };
    let (health, routes) = routes::of(service, calls, for_gateway).await?;

    let tcp = match settings.listen {
        Some(address) => Some(listen::tcp("LISTEN_ADDR", address).await?),
        None => None,
    };
    let operators = listen::tcp("METRICS_ADDR", settings.metrics).await?;
    // Last: once the file of the socket exists, everything else is open.
    let unix = match &settings.unix_socket {
        Some(socket) => Some(listen::unix(&socket.path, socket.mode).await?),
        None => None,
    };
    let addresses = Addresses {
        uds: settings.unix_socket.as_ref().map(|socket| socket.path.clone()),
        tcp: tcp.as_ref().and_then(|tcp| tcp.local_addr().ok()),
        metrics: operators.local_addr().unwrap_or(settings.metrics),
    };

    let stop_grpc = CancellationToken::new();
    let (mut grpc, mut accepting) = (JoinSet::new(), JoinSet::new());
    let call_timeout = settings.call_timeout;
    let (lost, socket_lost) = watch::channel(false);
    if let Some(unix) = unix {
        let incoming = listen::unix_connections(unix, Arc::clone(&metrics), lost, &mut accepting);
        let (routes, metrics, stop) = (routes.clone(), Arc::clone(&metrics), stop_grpc.clone());
        grpc.spawn(routes::serve(routes, incoming, metrics, call_timeout, stop));
    }
    if let Some(tcp) = tcp {
        let incoming = listen::tcp_connections(tcp, Arc::clone(&metrics), &mut accepting);
        grpc.spawn(routes::serve(routes, incoming, Arc::clone(&metrics), call_timeout, stop_grpc.clone()));
    }
    let reporter = Arc::new(Reporter { health, reasons, metrics: Arc::clone(&metrics) });
    let stop_http = CancellationToken::new();
    let is_local = addresses.metrics.ip().is_loopback();
    let reach = if is_local { Reach::Loopback } else { Reach::Anywhere };
    let control_pages = pages_for(Access { reach, key });
    let pages = http::router(
        Arc::clone(&metrics),
        reporter.reasons.subscribe(),
        cache.clone(),
        is_local,
        control_pages,
    );
    let http = tokio::spawn(serve_http(pages, operators, stop_http.clone()));
    let watcher =
        readiness::watch(Arc::clone(&reporter), reachable, Arc::clone(&pool), socket_lost, settings.overload);
    let watcher = tokio::spawn(watcher);
    let mut background: Vec<JoinHandle<()>> = control.iter().map(Control::keep_fresh).collect();
    if let (Some(control), Some(options)) = (&control, &settings.control) {
        background.extend(control.send_events(options, Arc::clone(&metrics)));
    }

    Ok(Running {
        addresses,
        metrics,
        pool,
        recorder,
        cache,
        reporter,
        watcher,
        background,
        stop_grpc,
        stop_http,
        grpc,
        http,
        accepting,
        grace: settings.shutdown_grace,
    })
}

impl Running {
    #[must_use]
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns only if a listener ends by itself, which is a fault.
    pub async fn failed(&mut self) -> ServerError {
        match self.grpc.join_next().await {
            Some(Ok(Err(e))) => ServerError::Serve(e.to_string()),
            Some(Err(e)) => ServerError::Serve(e.to_string()),
            Some(Ok(Ok(()))) | None => ServerError::Serve("it stopped listening".to_owned()),
        }
    }

    /// Says that it is not ready, stops accepting, lets calls under way finish, and stores what is to be remembered.
    /// Returns how many prompts were lost because the store did not take them in time.
    pub async fn shutdown(mut self) -> usize {
        self.watcher.abort();
        // Wait for the watcher: it may just be reporting another state, and it holds the pool.
        let _ = self.watcher.await;
        self.reporter.report(vec![NotReady::Stopping]).await;
        self.stop_grpc.cancel();

        let metrics = Arc::clone(&self.metrics);
        let all_ended = async { while self.grpc.join_next().await.is_some() {} };
        let quiet = async {
            loop {
                sleep(QUIET).await;
                if metrics.in_flight_now() == 0 {
                    break;
                }
            }
        };
        let ended = timeout(self.grace, async {
            tokio::select! {
                () = all_ended => {}
                () = quiet => {}
            }
        });
        if ended.await.is_err() {
            tracing::warn!("calls were still under way when the grace time was over");
        }
        self.grpc.shutdown().await;
        // The sockets close, and the file of the Unix socket goes.
        self.accepting.shutdown().await;

        if let Some(cache) = &self.cache {
            let lost = cache.drain(self.grace).await;
            if lost > 0 {
                tracing::warn!(lost, "answers were not stored before the grace time was over");
            }
        }
        let lost = self.recorder.drain(self.grace).await;
        if lost > 0 {
            tracing::warn!(lost, "prompts were not stored before the grace time was over");
        }
        self.background.iter().for_each(JoinHandle::abort);
        self.stop_http.cancel();
        let _ = timeout(QUIET, self.http).await;
        // Joins the worker threads, which blocks.
        drop(self.cache);
        let pool = self.pool;
        let _ = tokio::task::spawn_blocking(move || drop(pool)).await;
        lost
    }
}

async fn serve_http(pages: axum::Router, listener: TcpListener, stop: CancellationToken) {
    let served = axum::serve(listener, pages).with_graceful_shutdown(stop.cancelled_owned());
    if let Err(error) = served.await {
        tracing::error!(%error, "the metrics port failed");
    }
}
