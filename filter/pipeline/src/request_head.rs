//! What the request headers say: whether the request is one that can be read, and whose it is.

use sentinel_llm_api::{path::RequestPath, route::Route};

use crate::{
    config::Config,
    host::Host,
    identity::Claims,
    metric::{Bypass, MCP, Metric},
};

/// A request whose body is awaited.
#[derive(Debug)]
pub struct RequestHead {
    pub target: Target,
    pub claims: Claims,
    /// The request tells its length, and it can still be changed.
    pub has_length: bool,
    /// The client library says that it sends this request again.
    pub is_retry: bool,
    /// When the headers came (milliseconds since 1970): from then on the request waits for us.
    pub arrived: u64,
}

/// What is spoken on the request's path.
#[derive(Debug)]
pub enum Target {
    Model(Route),
    Mcp,
}

/// Reads the headers and holds the request; nothing where it is to go on uninspected.
pub fn open(config: &Config, host: &mut impl Host, end_of_stream: bool) -> Option<RequestHead> {
    if end_of_stream {
        return None;
    }
    let path = host.request_header(":path").unwrap_or_default();
    let path = RequestPath::of(std::str::from_utf8(&path).ok()?);
    let target = if config.mcp.is_spoken_on(&path) {
        Target::Mcp
    } else {
        Target::Model(Route::of(&path, &config.paths)?)
    };
    if host.request_header(":method").as_deref() != Some(b"POST") {
        return None;
    }
    let claims = Claims::from_headers(config, host.secret(), |name| host.request_header(name));
    if !config.policy(claims.agent()).enabled {
        return None;
    }
    let label = match &target {
        Target::Model(route) => route.dialect.label(),
        Target::Mcp => MCP,
    };
    host.count(Metric::Requests(label), 1);
    let length = host.request_header("content-length");
    if let Some(cause) = unfit(config, host, length.as_deref()) {
        host.count(cause.into(), 1);
        return None;
    }
    let is_retry = match &target {
        Target::Model(route) => route.dialect.is_retry(&|name| host.request_header(name)),
        Target::Mcp => false,
    };
    if config.hold_headers {
        host.hold();
    } else {
        // Headers that go on at once must not tell a length that a hint changes.
        host.remove_request_header("content-length");
    }
    let has_length = length.is_some() && config.hold_headers;
    Some(RequestHead { target, claims, has_length, is_retry, arrived: host.now() })
}

/// Why the body cannot be read, as far as the headers say.
fn unfit(config: &Config, host: &impl Host, length: Option<&[u8]>) -> Option<Bypass> {
    if !host.request_header("content-type").is_none_or(|value| is_json(&value)) {
        return Some(Bypass::ContentType);
    }
    if host.request_header("content-encoding").is_some_and(|value| !value.eq_ignore_ascii_case(b"identity")) {
        return Some(Bypass::Encoded);
    }
    let length: Option<usize> = length.and_then(|length| std::str::from_utf8(length).ok()?.parse().ok());
    length.filter(|length| *length > config.max_body).map(|_| Bypass::TooLarge)
}

fn is_json(content_type: &[u8]) -> bool {
    let media = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    media.eq_ignore_ascii_case(b"application/json") || media.to_ascii_lowercase().ends_with(b"+json")
}
