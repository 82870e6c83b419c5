//! The whole server: what is started in which order, and stopped in which. Sockets open last, when a call can be answered.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::TcpIncoming;
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{
    embed::{
        Embedder, ModelError,
        model_files::ModelFiles,
        onnx::{OnnxEmbedder, Runtime},
        pool::Pool,
    },
    history::{HistoryError, PromptHistory, memory::MemoryHistory, redis::RedisHistory},
    http,
    listen::{self, ListenError, SocketFile},
    metrics::Metrics,
    recorder::Recorder,
    routes,
    service::LoopService,
    settings::{Settings, Store},
};

/// After this long without a call under way, connections that are merely open (a health watch) are not waited for.
const QUIET: Duration = Duration::from_millis(300);

/// Why the server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("cannot use the prompt history: {0}")]
    History(#[from] HistoryError),
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
    health: HealthReporter,
    ready: Arc<watch::Sender<bool>>,
    watcher: JoinHandle<()>,
    stop_grpc: CancellationToken,
    stop_http: CancellationToken,
    grpc: JoinSet<Result<(), tonic::transport::Error>>,
    http: JoinHandle<()>,
    socket: Option<SocketFile>,
    grace: Duration,
}

/// Starts the server with the model that the settings name.
///
/// # Errors
/// When a part of it cannot be had; nothing listens then.
pub async fn start(settings: &Settings) -> Result<Running, ServerError> {
    let runtime = Runtime::load(&settings.library)?;
    let files = ModelFiles::find(&settings.model)?;
    start_with(settings, move || OnnxEmbedder::load(&runtime, &files)).await
}

/// Starts the server with embedders that `make` makes, one for each worker.
///
/// # Errors
/// As [`start`].
pub async fn start_with<E, F>(settings: &Settings, make: F) -> Result<Running, ServerError>
where
    E: Embedder + 'static,
    F: Fn() -> Result<E, ModelError> + Send + Sync + 'static,
{
    let metrics = Arc::new(Metrics::default());
    let (workers, queue) = (settings.workers, settings.queue_length);
    let pool = tokio::task::spawn_blocking({
        let metrics = Arc::clone(&metrics);
        move || Pool::start(workers, queue, metrics, make)
    });
    let pool = Arc::new(pool.await.map_err(|_| ModelError::WorkerGone)??);
    tracing::info!(workers, dimension = pool.dimension(), "the model is warm");

    let store = open_store(settings, pool.dimension()).await?;
    let reachable = store.reachable();
    let recorder = Arc::new(Recorder::start(store, settings.retention.size, Arc::clone(&metrics)));

    let service = LoopService {
        pool: Arc::clone(&pool),
        recorder: Arc::clone(&recorder),
        metrics: Arc::clone(&metrics),
        threshold: settings.threshold,
        return_similar_prompt: settings.return_similar_prompt,
    };
    let (health, routes) = routes::of(service)?;

    let (unix, socket) = match &settings.uds {
        Some(uds) => {
            let (listener, file) = listen::unix(&uds.path, uds.mode)?;
            (Some(listener), Some(file))
        }
        None => (None, None),
    };
    let tcp = match settings.listen {
        Some(address) => Some(listen::tcp("LISTEN_ADDR", address).await?),
        None => None,
    };
    let operators = listen::tcp("METRICS_ADDR", settings.metrics).await?;
    let addresses = Addresses {
        uds: settings.uds.as_ref().map(|uds| uds.path.clone()),
        tcp: tcp.as_ref().and_then(|tcp| tcp.local_addr().ok()),
        metrics: operators.local_addr().unwrap_or(settings.metrics),
    };

    let stop_grpc = CancellationToken::new();
    let mut grpc = JoinSet::new();
    if let Some(unix) = unix {
        let incoming = UnixListenerStream::new(unix);
        grpc.spawn(routes::serve(routes.clone(), incoming, Arc::clone(&metrics), stop_grpc.clone()));
    }
    if let Some(tcp) = tcp {
        let incoming = TcpIncoming::from(tcp).with_nodelay(Some(true));
        grpc.spawn(routes::serve(routes, incoming, Arc::clone(&metrics), stop_grpc.clone()));
    }
    let ready = Arc::new(watch::Sender::new(true));
    let stop_http = CancellationToken::new();
    let pages = http::router(Arc::clone(&metrics), ready.subscribe());
    let http = tokio::spawn(serve_http(pages, operators, stop_http.clone()));
    let watcher = tokio::spawn(follow(reachable, Arc::clone(&ready), health.clone(), Arc::clone(&metrics)));

    Ok(Running {
        addresses,
        metrics,
        pool,
        recorder,
        health,
        ready,
        watcher,
        stop_grpc,
        stop_http,
        grpc,
        http,
        socket,
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
        self.ready.send_replace(false);
        say(&self.health, ServingStatus::NotServing).await;
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
        drop(self.socket.take());

        let lost = self.recorder.drain(self.grace).await;
        if lost > 0 {
            tracing::warn!(lost, "prompts were not stored before the grace time was over");
        }
        self.stop_http.cancel();
        let _ = timeout(QUIET, self.http).await;
        // Joins the worker threads, which blocks.
        let pool = self.pool;
        let _ = tokio::task::spawn_blocking(move || drop(pool)).await;
        lost
    }
}

async fn open_store(settings: &Settings, dimension: usize) -> Result<Arc<dyn PromptHistory>, HistoryError> {
    Ok(match &settings.store {
        Store::Memory { max_bytes } => {
            tracing::info!("prompts are kept in memory: one replica only, lost at exit");
            Arc::new(MemoryHistory::new(settings.retention, *max_bytes))
        }
        Store::Redis(redis) => {
            let redis = RedisHistory::connect(redis, dimension, settings.retention).await?;
            tracing::info!("prompts are kept in Redis");
            Arc::new(redis)
        }
    })
}

async fn serve_http(pages: axum::Router, listener: TcpListener, stop: CancellationToken) {
    let served = axum::serve(listener, pages).with_graceful_shutdown(stop.cancelled_owned());
    if let Err(error) = served.await {
        tracing::error!(%error, "the metrics port failed");
    }
}

/// Lets readiness and gRPC health follow the store.
async fn follow(
    mut reachable: watch::Receiver<bool>,
    ready: Arc<watch::Sender<bool>>,
    health: HealthReporter,
    metrics: Arc<Metrics>,
) {
    loop {
        let up = *reachable.borrow_and_update();
        metrics.store_up(up);
        ready.send_replace(up);
        let status = if up { ServingStatus::Serving } else { ServingStatus::NotServing };
        say(&health, status).await;
        if reachable.changed().await.is_err() {
            // A store that ends its reports is one that cannot change.
            return;
        }
    }
}

async fn say(health: &HealthReporter, status: ServingStatus) {
    health.set_service_status("", status).await;
    health.set_service_status(sentinel_proto::SERVICE, status).await;
}
