//! An operator of the embedding service: the client of its control API.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Full;
pub use hyper::Method;
use serde_json::Value;

use crate::client::{self, Response};
use crate::metrics::Metrics;
use crate::port;
use crate::process::eventually;

const KEY: &str = "a-key-for-the-tests";

pub struct Operator(pub SocketAddr);

impl Operator {
    pub fn on_a_free_port() -> Self {
        Self(port::free())
    }

    /// Of the service that this one operates.
    pub fn settings(&self) -> [(&'static str, String); 2] {
        [("METRICS_ADDR", self.0.to_string()), ("CONTROL_KEY", KEY.to_owned())]
    }

    /// The service's metrics.
    pub async fn metrics(&self) -> Metrics {
        Metrics::parse(&self.metrics_text().await)
    }

    pub async fn metrics_text(&self) -> String {
        let request = client::request(self.0, Method::GET, "/metrics", &[], Full::new(Bytes::new()));
        let answer = client::send(request).await.expect("the service answers");
        String::from_utf8_lossy(&answer.body).into_owned()
    }

    pub async fn ask(&self, method: Method, path: &str, body: &Value) -> Value {
        let answer = self.send(method, path, body).await.expect("the service answers");
        assert!(answer.status < 300, "{path}: {} {:?}", answer.status, answer.body);
        answer.json()
    }

    /// What the service acknowledges. `None`: it is away, something that it needs is, or another change came before.
    pub async fn try_ask(&self, method: Method, path: &str, body: &Value) -> Option<Value> {
        let answer = self.send(method, path, body).await.ok()?;
        assert!(
            answer.status < 300 || answer.status == 409 || answer.status >= 500,
            "{path}: {} {:?}",
            answer.status,
            answer.body
        );
        (answer.status < 300).then(|| answer.json())
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Response, client::Error> {
        let key = format!("Bearer {KEY}");
        let body = Full::new(Bytes::from(body.to_string()));
        client::send(client::request(self.0, method, path, &[("authorization", &key)], body)).await
    }
}

/// What `found` gives at last.
pub async fn until<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    let mut last = None;
    eventually(what, async || {
        last = found().await;
        last.is_some()
    })
    .await;
    last.expect("it is there")
}
