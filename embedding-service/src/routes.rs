//! What is served over gRPC: the service itself, control, health, reflection, and beside them the pages of the response cache and those
//! of control. It also
//! corrects one status: a message that cannot be decoded is the caller's fault and not an internal error.

use std::{sync::Arc, time::Duration};

use sentinel_proto::v1::{
    control_service_server::ControlServiceServer, embedding_service_server::EmbeddingServiceServer,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use tonic::{
    Code as GrpcCode, Status,
    body::Body,
    codegen::http::Response,
    service::Routes,
    transport::{Server, server::Connected},
};
use tonic_health::{ServingStatus, server::HealthReporter};
use tower::util::MapResponseLayer;

use crate::{
    cache_pages,
    control::service::ControlCalls,
    metrics::{Metrics, Unanswered},
    service::LoopService,
};

/// Calls at once on one connection; a caller with more waits by itself.
const MAX_STREAMS: u32 = 1024;
/// How often a silent connection is asked whether its other end still lives, and how long it has to say so.
const KEEP_ALIVE: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(20)];

/// Largest request, in bytes. A prompt of 1 MB is fine; one of 64 MB is a mistake.
pub const MAX_MESSAGE: usize = 4 << 20;

/// The name under which gRPC health says that the process answers, for a liveness probe. Whether callers should be sent here is said for the
/// whole server (`""`) and for the service.
pub const LIVENESS: &str = "liveness";

/// All that is served on every socket, and the handle that sets what health says.
///
/// # Errors
/// When the descriptors that were built in cannot be read.
pub async fn of(
    service: LoopService,
    control: ControlCalls,
    control_pages: Option<axum::Router>,
) -> Result<(HealthReporter, Routes), tonic_reflection::server::Error> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_service_status(LIVENESS, ServingStatus::Serving).await;
    let reflected = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(sentinel_proto::DESCRIPTORS)
            .register_encoded_file_descriptor_set(sentinel_proto::CONTROL_DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let cache_pages = cache_pages::router(service.cache.clone());
    let routes = Routes::new(EmbeddingServiceServer::new(service).max_decoding_message_size(MAX_MESSAGE))
        .add_service(ControlServiceServer::new(control).max_decoding_message_size(MAX_MESSAGE))
        .add_service(health)
        .add_service(reflected().build_v1()?)
        // Older clients know only this one.
        .add_service(reflected().build_v1alpha()?);
    let routes = routes.into_axum_router().merge(cache_pages).merge(control_pages.unwrap_or_default());
    Ok((reporter, Routes::from(routes).prepare()))
}

/// Serves the routes on one listener until told to stop, and then until the calls under way have ended. A call is given
/// up after `call_timeout`, also one whose message never comes whole.
///
/// # Errors
/// When accepting fails for good.
pub async fn serve<I, IO>(
    routes: Routes,
    incoming: I,
    metrics: Arc<Metrics>,
    call_timeout: Duration,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error>
where
    I: Stream<Item = std::io::Result<IO>>,
    IO: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    let mend = move |response| blame_undecodable(response, &metrics);
    let [keep_alive, answer] = KEEP_ALIVE;
    Server::builder()
        .timeout(call_timeout)
        .max_concurrent_streams(MAX_STREAMS)
        .http2_keepalive_interval(Some(keep_alive))
        .http2_keepalive_timeout(Some(answer))
        .layer(MapResponseLayer::new(mend))
        .add_routes(routes)
        .serve_with_incoming_shutdown(incoming, stop.cancelled_owned())
        .await
}

/// The transport answers INTERNAL to a message that is no protobuf or has text that is not UTF-8.
fn blame_undecodable(response: Response<Body>, metrics: &Metrics) -> Response<Body> {
    let undecodable = Status::from_header_map(response.headers()).is_some_and(|status| {
        status.code() == GrpcCode::Internal && status.message().starts_with("failed to decode Protobuf")
    });
    if !undecodable {
        return response;
    }
    metrics.checked(Some(Unanswered::InvalidRequest), Duration::ZERO);
    let message = "the request is no message of this service: not protobuf, or a text in it is not UTF-8";
    Status::invalid_argument(message).into_http()
}
