//! What the request headers say: whether the request can be read, and who sends it.

use std::sync::Arc;

use sentinel_config::Config;
use sentinel_llm_api::{path::RequestPath, route::Route};

use crate::{
    bypass::Bypass,
    content_coding::Coding,
    host::{Facts, Host, number},
    identity::Claims,
    metric::{MCP, Metric, RequestStatus},
};

/// A request whose body is awaited.
#[derive(Debug)]
pub struct RequestHead {
    pub target: Target,
    pub claims: Claims,
    /// The request has a content-length, and it can still be changed.
    pub has_length: bool,
    /// The client library says that it sends this request again.
    pub is_retry: bool,
    /// How the body is compressed.
    pub coding: Option<Coding>,
    /// When the headers came (milliseconds since 1970). From then on, the request waits for the filter.
    pub arrived: u64,
}

/// What is spoken on the request's path.
#[derive(Debug)]
pub enum Target {
    Model(Route),
    Mcp,
}

impl Target {
    #[inline(never)]
    fn of(config: &Config, path: &RequestPath<'_>) -> Option<Self> {
        let is_mcp = config.mcp.is_spoken_on(path);
        if is_mcp { Some(Self::Mcp) } else { Route::of(path, &config.paths).map(Self::Model) }
    }
}

/// The labels under which a request is counted, once its end is known.
#[derive(Clone, Debug)]
pub struct RequestLabels {
    client: Arc<str>,
    dialect: &'static str,
}

impl RequestLabels {
    pub fn count(self, status: RequestStatus, host: &mut impl Host) {
        host.count(Metric::Requests(self.client, status, self.dialect), 1);
    }
}

/// What is to be done with a request on an inspected path.
#[derive(Debug)]
pub struct Opened {
    pub counted: RequestLabels,
    pub head: RequestHead,
    /// Why its body is not awaited: it cannot be read.
    pub unfit: Option<Bypass>,
}

/// Reads the headers and holds the request. Returns `None` when it is not one that the filter inspects.
pub fn open(config: &Config, host: &mut impl Host, end_of_stream: bool) -> Option<Opened> {
    if end_of_stream {
        return None;
    }
    let path = host.request_header(":path").unwrap_or_default();
    // A server may ignore bytes that are not UTF-8.
    let path = String::from_utf8_lossy(&path);
    let readings = RequestPath::readings(&path);
    let (mut target, mut is_ambiguous) = (None, false);
    for path in &readings {
        let found = Target::of(config, path);
        is_ambiguous |= match (&target, &found) {
            (Some(Target::Mcp), Some(Target::Mcp)) => false,
            (known, found) => known.is_some() && found.is_some(),
        };
        target = target.or(found);
    }
    let target = target?;
    let claims = Claims::from_headers(config, host.secret(), |name| host.request_header(name));
    let policy = config.policy(claims.sender());
    let is_post = host.request_header(":method").as_deref() == Some(b"POST");
    // Providers read a body only of a POST. If something is forbidden, other methods are read too, because a server that accepts
    // them must not be a way around it.
    if !policy.enabled || !is_post && !policy.refuses_unreadable() {
        return None;
    }
    let label = match &target {
        Target::Model(route) => route.dialect.label(),
        Target::Mcp => MCP,
    };
    let client = config.principal.as_deref().and_then(|name| host.request_header(name));
    let counted = RequestLabels { client: config.clients.label(client.as_deref()), dialect: label };
    let length = host.request_header("content-length");
    let coding = coding(config, host);
    let unfit = match coding {
        Err(cause) => Some(cause),
        Ok(_) if policy.refuses_unreadable() && becomes_another_protocol(host) => Some(Bypass::Upgrade),
        // It is not known which of these readings the server uses.
        Ok(_) if policy.refuses_unreadable() && is_ambiguous => Some(Bypass::Shape),
        Ok(_) => unfit(config, policy.refuses_unreadable(), host, length.as_deref()),
    };
    let is_retry = match &target {
        Target::Model(route) => route.dialect.is_retry(&|name| host.request_header(name)),
        Target::Mcp => false,
    };
    let has_length = length.is_some() && config.hold_headers;
    let coding = coding.unwrap_or_default();
    let head = RequestHead { target, claims, has_length, is_retry, coding, arrived: host.now() };
    if unfit.is_some() {
        return Some(Opened { counted, head, unfit });
    }
    let target = &head.target;
    if config.plain_answers && matches!(target, Target::Model(_)) {
        ask_for_a_plain_answer(host);
    }
    if config.hold_headers {
        host.hold();
    } else {
        // Headers that go on at once must not tell a length, because a hint would change it.
        host.remove_request_header("content-length");
    }
    Some(Opened { counted, head, unfit })
}

/// An answer is read as it passes and never decompressed: that would change it, and a hostile answer could make it cost a lot. A
/// client that accepts no compression gets none anyway.
fn ask_for_a_plain_answer(host: &mut impl Host) {
    let Some(accepted) = host.request_header("accept-encoding") else { return };
    if accepted.eq_ignore_ascii_case(b"identity") || is_signed(host, "accept-encoding") {
        return;
    }
    host.set_request_header("accept-encoding", "identity");
}

/// Whether the client's own signature (AWS Signature Version 4) covers a header. Then the provider would refuse a changed
/// request, unless it is signed anew. Without a hint, nobody signs it anew.
fn is_signed(host: &impl Facts, name: &str) -> bool {
    let signature = host.request_header("authorization").unwrap_or_default();
    let is_one = signature.starts_with(b"AWS4-");
    is_one && signature.windows(name.len()).any(|part| part.eq_ignore_ascii_case(name.as_bytes()))
}

/// How the body is compressed. Returns an error if it cannot be decoded, or if a decoded body could not be sent: headers that are
/// not held still name the coding.
fn coding(config: &Config, host: &impl Facts) -> Result<Option<Coding>, Bypass> {
    match Coding::of(&host.request_header_values("content-encoding"))? {
        Some(_) if !config.hold_headers => Err(Bypass::Encoded),
        coding => Ok(coding),
    }
}

/// Whether the connection changes to a protocol other than HTTP, as for a WebSocket. Servers ignore a wish for HTTP/2 or TLS.
fn becomes_another_protocol(host: &impl Facts) -> bool {
    let is_passed_over = |value: &[u8]| {
        let value = value.trim_ascii();
        value.eq_ignore_ascii_case(b"h2c")
            || value.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"tls/"))
    };
    let wishes = host.request_header_values("upgrade");
    !wishes.iter().flat_map(|value| value.split(|byte| *byte == b',')).all(is_passed_over)
        || host.request_header(":method").as_deref() == Some(b"CONNECT")
}

/// Why the body cannot be read, as far as the headers say. `is_barred`: something is forbidden to the agent. Then a body of any
/// type is read, because a provider may read a text as JSON. Only its charset must be one that is read here.
fn unfit(config: &Config, is_barred: bool, host: &impl Facts, length: Option<&[u8]>) -> Option<Bypass> {
    let types = host.request_header_values("content-type");
    let is_fit = match is_barred {
        true => types.iter().all(|value| is_utf8(value)),
        false => types.first().is_none_or(|value| is_json(value)),
    };
    if !is_fit {
        return Some(Bypass::ContentType);
    }
    let length: Option<usize> = length.and_then(number);
    length.filter(|length| *length > config.max_body).map(|_| Bypass::TooLarge)
}

fn is_json(content_type: &[u8]) -> bool {
    let media = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    media.eq_ignore_ascii_case(b"application/json") || media.to_ascii_lowercase().ends_with(b"+json")
}

/// Whether the header names no charset other than UTF-8 and its subset ASCII.
fn is_utf8(content_type: &[u8]) -> bool {
    const CHARSETS: [&[u8]; 4] = [b"utf-8", b"utf8", b"us-ascii", b"ascii"];
    let content_type = content_type.to_ascii_lowercase();
    content_type.split(|byte| matches!(byte, b';' | b',')).all(|parameter| {
        let mut parts = parameter.splitn(2, |byte| *byte == b'=').map(<[u8]>::trim_ascii);
        let is_charset = parts.next().is_some_and(|name| name.starts_with(b"charset"));
        let value = parts.next().unwrap_or_default();
        let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
        !is_charset || CHARSETS.contains(&value)
    })
}
