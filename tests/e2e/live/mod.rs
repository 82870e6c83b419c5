//! What live agents do, request by request, in every dialect, as JSON and as streams: work that must go on, and loops that
//! must be noticed.
//! What must not live here: single rules, which are tested natively beside their code.

mod loops;
mod material;
mod work;

use sentinel_harness::client::{self, Response};
use sentinel_harness::{Dialect, Stack};

/// Number of requests of healthy work.
const REQUESTS: usize = 24;

/// One way in which an agent speaks: a dialect, as JSON or as a stream.
#[derive(Clone, Copy, Debug)]
struct Way {
    dialect: Dialect,
    stream: bool,
}

impl Way {
    fn all() -> impl Iterator<Item = Self> {
        Dialect::ALL.into_iter().flat_map(|dialect| [false, true].map(|stream| Self { dialect, stream }))
    }

    /// A name that no other way has.
    fn agent(self, what: &str) -> String {
        format!("{what} {} {}", self.dialect.label(), if self.stream { "stream" } else { "json" })
    }

    async fn send(self, stack: &Stack, headers: &[(&str, &str)], body: impl Into<bytes::Bytes>) -> Response {
        client::post(stack.address(), self.dialect.path(self.stream), headers, body).await
    }
}

/// The verdicts of the requests that `body` writes, one after the other.
async fn verdicts(
    stack: &Stack,
    way: Way,
    headers: &[(&str, &str)],
    requests: usize,
    body: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut seen = Vec::new();
    for number in 0..requests {
        seen.push(way.send(stack, headers, body(number)).await.verdict().to_owned());
    }
    seen
}
