//! Limitador's limits and counters (the crate `limitador`, with its Redis storage) behind Envoy's rate limit protocol, in the
//! place of the public program `limitador-server`, which no package registry has. Its command line and its file of limits are
//! that program's. What it reads, counts and answers is the library's doing; ours are the protocol and the two listeners.

mod options;
mod protocol;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use limitador::limit::{Context, Limit, Namespace};
use limitador::storage::AsyncStorage;
use limitador::storage::redis::AsyncRedisStorage;
use limitador::{AsyncRateLimiter, AsyncRateLimiterBuilder};
use prost::Message;
use tokio::net::TcpListener;

use options::Options;
use protocol::{Header, OVER, RateLimitRequest, RateLimitResponse, WITHIN, framed, unframed};

struct Service {
    limiter: AsyncRateLimiter,
    headers: bool,
}

#[tokio::main]
async fn main() {
    if let Err(error) = run().await {
        eprintln!("limitador-server: {error}");
        std::process::exit(1);
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::of(std::env::args().skip(1))?;
    let text =
        std::fs::read_to_string(&options.limits).map_err(|error| format!("{}: {error}", options.limits))?;
    let limits: Vec<Limit> =
        serde_saphyr::from_str(&text).map_err(|error| format!("{}: {error}", options.limits))?;
    let storage = AsyncRedisStorage::new(&options.redis).await?;
    let limiter = AsyncRateLimiterBuilder::new(AsyncStorage::with_counter_storage(Box::new(storage))).build();
    limiter.configure_with(limits).await?;
    let (asked, status) = (TcpListener::bind(&options.rls).await?, TcpListener::bind(&options.http).await?);
    println!("limitador-server: Envoy asks at {}", asked.local_addr()?);
    tokio::spawn(say_that_it_is_up(status));
    serve(asked, Arc::new(Service { limiter, headers: options.headers })).await;
    Ok(())
}

async fn serve(listener: TcpListener, service: Arc<Service>) {
    while let Ok((stream, _)) = listener.accept().await {
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let answers = service_fn(|request| answer(request, Arc::clone(&service)));
            let _ = http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), answers)
                .await;
        });
    }
}

/// `/status`, as probes ask it.
async fn say_that_it_is_up(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| async move {
                let mut response = Response::new(Full::<Bytes>::default());
                *response.status_mut() =
                    if request.uri().path() == "/status" { 200 } else { 404 }.try_into().expect("a status");
                Ok::<_, Infallible>(response)
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

/// Codes of gRPC.
const INVALID: u16 = 3;
const UNKNOWN_METHOD: u16 = 12;
const UNAVAILABLE: u16 = 14;

async fn answer(
    request: Request<Incoming>,
    service: Arc<Service>,
) -> Result<Response<Channel<Bytes, Infallible>>, Infallible> {
    let right = request.uri().path() == "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let (mut sender, body_of_answer) = Channel::<Bytes, Infallible>::new(2);
    let said = if !right {
        Err(UNKNOWN_METHOD)
    } else if let Ok(asked) = RateLimitRequest::decode(unframed(&body)) {
        service.decide(asked).await
    } else {
        Err(INVALID)
    };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", said.as_ref().err().copied().unwrap_or(0).into());
    if let Ok(said) = said {
        let _ = sender.send_data(Bytes::from(framed(&said))).await;
    }
    let _ = sender.send_trailers(trailers).await;
    let mut response = Response::new(body_of_answer);
    response.headers_mut().insert("content-type", "application/grpc".parse().expect("a value"));
    Ok(response)
}

impl Service {
    async fn decide(&self, asked: RateLimitRequest) -> Result<RateLimitResponse, u16> {
        let descriptors: Vec<HashMap<String, String>> = asked
            .descriptors
            .into_iter()
            .map(|descriptor| descriptor.entries.into_iter().map(|entry| (entry.key, entry.value)).collect())
            .collect();
        let mut context = Context::default();
        context.list_binding("descriptors".to_owned(), descriptors);
        let namespace = Namespace::from(asked.domain);
        let hits = u64::from(asked.hits_addend.max(1));
        let mut found =
            self.limiter.check_rate_limited_and_update(&namespace, &context, hits).await.map_err(
                |error| {
                    eprintln!("limitador-server: {error}");
                    UNAVAILABLE
                },
            )?;
        let headers = if self.headers { found.response_header() } else { HashMap::new() };
        Ok(RateLimitResponse {
            overall_code: if found.limited { OVER } else { WITHIN },
            response_headers_to_add: headers.into_iter().map(|(key, value)| Header { key, value }).collect(),
        })
    }
}
