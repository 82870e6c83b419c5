//! The HTTP port for operators: `/metrics`, `/healthz`, `/readyz`. Nothing of it is for agents.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use tokio::sync::watch;

use crate::metrics::Metrics;

#[derive(Clone)]
struct Shared {
    metrics: Arc<Metrics>,
    ready: watch::Receiver<bool>,
}

/// The three pages. `ready` is looked at, not waited for.
pub fn router(metrics: Arc<Metrics>, ready: watch::Receiver<bool>) -> Router {
    Router::new()
        .route("/metrics", get(metrics_page))
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(ready_page))
        .with_state(Shared { metrics, ready })
}

async fn metrics_page(State(shared): State<Shared>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], shared.metrics.exposition())
}

async fn ready_page(State(shared): State<Shared>) -> impl IntoResponse {
    if *shared.ready.borrow() {
        (StatusCode::OK, "ready\n")
    } else {
        let why = "not ready: the prompt history is not reachable, or the service is stopping\n";
        (StatusCode::SERVICE_UNAVAILABLE, why)
    }
}
