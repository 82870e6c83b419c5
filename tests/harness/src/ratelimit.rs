//! A rate limit service in place of envoyproxy/ratelimit, which no package registry has. It speaks the same protocol
//! (`envoy.service.ratelimit.v3.RateLimitService`) and counts in a real Redis. It has one limit for each client.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::channel::Channel;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tokio::net::TcpListener;

use crate::redis::Counters;
use crate::threads::Threads;

/// `envoy.service.ratelimit.v3.RateLimitRequest`, as far as it is used.
#[derive(Clone, PartialEq, Message)]
pub struct Asked {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(message, repeated, tag = "2")]
    pub descriptors: Vec<Descriptor>,
    #[prost(uint32, tag = "3")]
    pub hits_addend: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Descriptor {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse`. Codes: 1 within the limit, 2 over it.
#[derive(Clone, PartialEq, Message)]
struct Said {
    #[prost(int32, tag = "1")]
    overall_code: i32,
    #[prost(message, repeated, tag = "2")]
    statuses: Vec<Status>,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(message, optional, tag = "2")]
    current_limit: Option<Limit>,
    #[prost(uint32, tag = "3")]
    limit_remaining: u32,
    #[prost(message, optional, tag = "4")]
    duration_until_reset: Option<Seconds>,
}

#[derive(Clone, PartialEq, Message)]
struct Limit {
    #[prost(uint32, tag = "1")]
    requests_per_unit: u32,
    /// 3: hour.
    #[prost(int32, tag = "2")]
    unit: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Seconds {
    #[prost(int64, tag = "1")]
    seconds: i64,
}

const WITHIN: i32 = 1;
const OVER: i32 = 2;
const HOUR: i32 = 3;

pub struct RateLimitService {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    _threads: Threads,
}

impl RateLimitService {
    /// Each descriptor may be asked for `limit` times an hour.
    pub fn start(limit: u32, counters: Counters) -> Self {
        let threads = Threads::start();
        let (listener, address) = threads.listen();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::new(Shared { limit, counters, asked: Arc::clone(&asked) });
        threads.spawn(run(listener, shared));
        Self { address, asked, _threads: threads }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no one panics with it").clone()
    }
}

struct Shared {
    limit: u32,
    counters: Counters,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Shared {
    fn decide(&self, asked: &Asked) -> Said {
        let statuses: Vec<Status> =
            asked.descriptors.iter().map(|descriptor| self.count(&asked.domain, descriptor)).collect();
        let over = statuses.iter().any(|status| status.code == OVER);
        Said { overall_code: if over { OVER } else { WITHIN }, statuses }
    }

    fn count(&self, domain: &str, descriptor: &Descriptor) -> Status {
        let entries: Vec<String> =
            descriptor.entries.iter().map(|entry| format!("{}_{}", entry.key, entry.value)).collect();
        let (hits, seconds) = self.counters.hit(&format!("{domain}_{}", entries.join("_")), 3600);
        Status {
            code: if hits > u64::from(self.limit) { OVER } else { WITHIN },
            current_limit: Some(Limit { requests_per_unit: self.limit, unit: HOUR }),
            limit_remaining: u32::try_from(u64::from(self.limit).saturating_sub(hits))
                .expect("below the limit"),
            duration_until_reset: Some(Seconds { seconds }),
        }
    }
}

async fn run(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, Arc::clone(&shared)));
            let _ = http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

type Body = Channel<Bytes, Infallible>;

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Body>, Infallible> {
    let right = request.uri().path() == "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
    let framed = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(2);
    let mut status = 12;
    // Behind the length prefix.
    if right && let Ok(asked) = Asked::decode(framed.get(5..).unwrap_or_default()) {
        let said = shared.decide(&asked).encode_to_vec();
        shared.asked.lock().expect("no one panics with it").push(asked);
        let mut framed = vec![0];
        framed.extend_from_slice(&u32::try_from(said.len()).expect("a short message").to_be_bytes());
        framed.extend_from_slice(&said);
        let _ = sender.send_data(Bytes::from(framed)).await;
        status = 0;
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", status.into());
    let _ = sender.send_trailers(trailers).await;
    let mut response = Response::new(body);
    response.headers_mut().insert("content-type", "application/grpc".parse().expect("a value"));
    Ok(response)
}
