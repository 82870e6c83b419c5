//! The HTTP port for operators: `/metrics`, `/healthz`, `/readyz`, the pages of the response cache, and those of control. Nothing of
//! it is for agents.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use tokio::sync::watch;

use crate::{
    cache::response_cache::ResponseCache,
    cache_pages,
    metrics::{LabelValue as _, Metrics},
    readiness::Reasons,
};

#[derive(Clone)]
struct PagesState {
    metrics: Arc<Metrics>,
    not_ready: watch::Receiver<Reasons>,
}

/// All pages. `not_ready` is read, not waited for. `is_local`: only this machine reaches them.
pub fn router(
    metrics: Arc<Metrics>,
    not_ready: watch::Receiver<Reasons>,
    cache: Option<Arc<ResponseCache>>,
    is_local: bool,
    control: Option<Router>,
) -> Router {
    let cache_pages = if is_local { cache_pages::router(cache) } else { cache_pages::stats_router(cache) };
    Router::new()
        .route("/metrics", get(metrics_page))
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(ready_page))
        .with_state(PagesState { metrics, not_ready })
        .merge(cache_pages)
        .merge(control.unwrap_or_default())
}

async fn metrics_page(State(state): State<PagesState>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], state.metrics.exposition())
}

async fn ready_page(State(state): State<PagesState>) -> impl IntoResponse {
    let reasons = state.not_ready.borrow();
    if reasons.is_empty() {
        return (StatusCode::OK, "ready\n".to_owned());
    }
    let texts: Vec<_> = reasons.iter().map(|reason| reason.text()).collect();
    (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {}\n", texts.join(" ")))
}
