//! An agent's HTTP client: by default one connection for each request, HTTP/1.1 or HTTP/2 with prior knowledge.
//! `raw.rs` sends bytes that no client would.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::{HeaderMap, Method, Request, Version};
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// An answer whose body is still coming.
pub struct Streaming {
    pub status: u16,
    pub headers: HeaderMap,
    body: Incoming,
}

impl Response {
    /// First value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {:?}", self.body))
    }

    /// `x-sentinel-verdict`, or an empty string.
    pub fn verdict(&self) -> &str {
        self.header("x-sentinel-verdict").unwrap_or_default()
    }

    /// `x-sentinel-reason`, or an empty string.
    pub fn reason(&self) -> &str {
        self.header("x-sentinel-reason").unwrap_or_default()
    }
}

impl Streaming {
    /// The next data frame. `None` at the end.
    pub async fn chunk(&mut self) -> Option<Bytes> {
        loop {
            match self.body.frame().await?.expect("the answer goes on").into_data() {
                Ok(data) if data.is_empty() => {}
                Ok(data) => return Some(data),
                Err(_) => return None,
            }
        }
    }
}

impl Streaming {
    /// Reads the rest. Returns whether the answer ended normally.
    pub async fn to_its_end(&mut self) -> bool {
        loop {
            match self.body.frame().await {
                None => return true,
                Some(Err(_)) => return false,
                Some(Ok(_)) => {}
            }
        }
    }
}

/// POSTs JSON; fails the test when no answer comes.
pub async fn post(to: SocketAddr, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Response {
    let request = request(to, Method::POST, path, headers, Full::new(body.into()));
    send(request).await.unwrap_or_else(|error| panic!("POST {path} is not answered: {error}"))
}

/// POSTs JSON, and returns as soon as the answer's headers have arrived.
pub async fn stream(
    to: SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Streaming {
    begin(request(to, Method::POST, path, headers, Full::new(body.into()))).await
}

/// Sends a request, and returns as soon as the answer's headers have arrived.
pub async fn begin(request: Request<Full<Bytes>>) -> Streaming {
    let client = legacy::Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http();
    let (parts, body) = client.request(request).await.expect("an answer").into_parts();
    Streaming { status: parts.status.as_u16(), headers: parts.headers, body }
}

/// The content type is JSON unless `headers` name another one.
pub fn request<B>(
    to: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: B,
) -> Request<B> {
    let mut request = Request::builder().method(method).uri(format!("http://{to}{path}"));
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body).expect("a request")
}

pub async fn send<B>(request: Request<B>) -> Result<Response, Error>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Error>,
{
    let http2 = request.version() == Version::HTTP_2;
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    let client = builder.pool_max_idle_per_host(0).http2_only(http2).build_http();
    let (parts, body) = client.request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(Response { status: parts.status.as_u16(), headers: parts.headers, body })
}
