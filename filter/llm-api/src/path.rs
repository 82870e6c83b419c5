//! A request's path: the normal form in which paths are compared, and what a path says about the answer and the model.

use std::borrow::Cow;

use crate::{
    dialect::{DialectRef, Header},
    framing::Framing,
};

/// What a path says about a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathFacts {
    /// The framing of the answer. `None` if the body decides it.
    pub framing: Option<Framing>,
    /// `None` if the body names the model.
    pub model: Option<String>,
    /// Models that the path or its query also names. Servers that read them use them, whatever model the body names.
    pub others: Vec<String>,
    /// If the path decides whether the answer is a stream: the end of the path for a stream, and for a whole answer.
    pub methods: Option<[&'static str; 2]>,
}

/// A request's path in its normal form. Removed are the query, percent-encoding, `;parameters`, a fragment, repeated or closing
/// slashes, `.` and `..`, and white space and control characters around a segment. Some servers treat all these forms as the
/// plain path, so the filter must too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath<'a> {
    pub path: Cow<'a, str>,
    pub query: &'a str,
}

impl<'a> RequestPath<'a> {
    pub fn of(target: &'a str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self::readings(target).into_iter().next().unwrap_or(Self { path: Cow::Borrowed(path), query })
    }

    /// The paths that servers may read in a target. What `..` removes depends on whether a server first decodes and cuts off
    /// parameters and the like, or does so afterwards. To most servers, an escaped `?` or `#` is part of a segment. A server that
    /// decodes twice takes it for the end of the path.
    #[inline(never)]
    pub fn readings(target: &'a str) -> Vec<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = before(path, &['#']);
        if is_plain(path) {
            return vec![Self { path: Cow::Borrowed(path), query }];
        }
        let whole = decoded(path);
        let in_url = decoded(&resolved(path, SEPARATORS, true, |name| name));
        let mut paths = vec![
            // As in a URL, in nginx, and in Tomcat.
            plain(&resolved(&in_url, &['/'], false, |name| name)),
            plain(&resolved(&whole, &['/'], false, |name| name)),
            plain(before(&whole, &['#', '?'])),
        ];
        paths.dedup();
        paths.into_iter().map(|path| Self { path: Cow::Owned(path), query }).collect()
    }
}

/// Whether a path is in its normal form already: no segment is empty or begins with a dot, and no character may be read in another way.
fn is_plain(path: &str) -> bool {
    let mut last = b' ';
    let are_plain = path.bytes().all(|byte| {
        let begins = std::mem::replace(&mut last, byte) == b'/';
        let is_special = matches!(byte, b'%' | b';' | b'\\') || !byte.is_ascii_graphic();
        !(is_special || begins && matches!(byte, b'/' | b'.'))
    });
    are_plain && last != b'/'
}

const SEPARATORS: &[char] = &['/', '\\'];

/// Decodes several times, because a proxy and a server behind it may each decode.
#[inline(never)]
fn decoded(path: &str) -> String {
    let mut decoded = percent_decoded(path);
    for _ in 0..3 {
        if decoded.contains('%') {
            decoded = percent_decoded(&decoded);
        }
    }
    decoded
}

#[inline(never)]
fn plain(decoded: &str) -> String {
    resolved(decoded, SEPARATORS, false, |segment| trimmed(before(segment, &[';', '#', '?'])))
}

/// What stands before the first of these signs.
#[inline(never)]
fn before<'a>(text: &'a str, signs: &[char]) -> &'a str {
    text.split(signs).next().unwrap_or_default()
}

/// Removes `.` and `..`. `name`: the part of a segment that counts. `is_raw`: empty segments count too, so `..` may remove one.
#[inline(never)]
fn resolved(path: &str, separators: &[char], is_raw: bool, name: fn(&str) -> &str) -> String {
    let (mut plain, mut begins) = (String::new(), Vec::new());
    for segment in path.split(separators) {
        let segment = if is_raw { percent_decoded(segment) } else { segment.to_owned() };
        match name(&segment) {
            "" if !is_raw => {}
            "." => {}
            ".." => plain.truncate(begins.pop().unwrap_or(0)),
            name => {
                begins.push(plain.len());
                plain.push('/');
                plain.push_str(name);
            }
        }
    }
    plain
}

/// Without white space and control characters around it, which some servers pass over.
#[inline(never)]
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|letter: char| letter.is_whitespace() || letter.is_control())
}

/// Broken escapes stay as they are.
#[inline(never)]
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = after.split_first_chunk::<2>().filter(|_| *first == b'%');
        let decoded = escape.and_then(|(digits, after)| {
            let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
            Some((u8::from_str_radix(digits, 16).ok()?, after))
        });
        let (byte, after) = decoded.unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a path ends with a version: `/v1`, `/v1beta`.
#[inline(never)]
pub(crate) fn ends_with_version(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    matches!(last.as_bytes(), [b'v', b'0'..=b'9', ..])
}

/// The model and the method of a path that ends with `/models/MODEL:METHOD`.
pub(crate) fn model_before_method(path: &str) -> (Option<String>, &str) {
    let (before, method) = path.rsplit_once(':').unwrap_or((path, ""));
    (before.rsplit_once('/').map(|(_, model)| model.to_owned()), method)
}

/// Segments in front of a model. The first two count even if another one came before.
const BEFORE_MODELS: [&str; 5] = ["deployments", "engines", "models", "endpoints", "upstream"];
const ENGINES: usize = 1;

/// The models that a path names as a deployment, an engine and the like (Azure: `/openai/deployments/NAME/chat/completions`), and
/// those that a query names as `model` (LiteLLM). A name may have slashes. If there are several places, the first and the last
/// one count.
pub(crate) fn named_beside(path: &str, query: &str) -> Vec<String> {
    let (mut places, mut at) = (Vec::new(), 0_usize);
    for segment in path.split('/') {
        at = at.saturating_add(segment.len()).saturating_add(1);
        let before = BEFORE_MODELS.iter().position(|known| segment.eq_ignore_ascii_case(known));
        if let Some(kind) = before.filter(|kind| *kind <= ENGINES || places.is_empty()) {
            places.truncate(1);
            places.push((kind, path.get(at..).unwrap_or_default()));
        }
    }
    let models = places.into_iter().filter_map(|(kind, rest)| model_before_end(kind, rest));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let asked = pairs
        .filter(|(name, _)| percent_decoded(name) == "model")
        .map(|(_, model)| percent_decoded(&model.replace('+', " ")));
    models.map(str::to_owned).chain(asked).collect()
}

/// The model at the beginning of `rest`, up to a version or an endpoint. `kind`: the segment in front of it.
#[inline(never)]
fn model_before_end(kind: usize, rest: &str) -> Option<&str> {
    let (before, asked) = last_segment(rest);
    let (model, chat) = last_segment(before);
    let model = match asked.to_ascii_lowercase().as_str() {
        "completions" if chat.eq_ignore_ascii_case("chat") => model,
        "responses" | "messages" => before,
        // A path that the operator chose.
        _ if kind <= ENGINES => rest.split('/').next()?,
        _ => return None,
    };
    let (first, last) = last_segment(model);
    let model = match ends_with_version(last) {
        // The name of a server's software, and no model (Docker).
        true if kind == ENGINES && !first.contains('/') => return None,
        // A deployment may have the name of a version.
        true if kind > 0 || !first.is_empty() => first,
        _ => model,
    };
    (!model.is_empty() && !model.eq_ignore_ascii_case("openapi")).then_some(model)
}

fn last_segment(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether this header, which counts retries, is above 0.
pub(crate) fn retry_count(header: Header<'_>, name: &str) -> bool {
    header(name).is_some_and(|count| *count != *b"0")
}

/// The target for a whole answer in place of a stream. `target` is a path with its query, as it was sent. It stays the
/// same if the body decides between the two.
pub fn without_stream(dialect: DialectRef, target: &str) -> Cow<'_, str> {
    let RequestPath { path, query } = RequestPath::of(target);
    match dialect.facts_of_path(&path, query).methods {
        Some([streaming, method]) => other_method(target, streaming, method),
        None => Cow::Borrowed(target),
    }
}

/// Replaces `streaming` at the end of the path with `method`, and removes `alt=sse` from the query. Other forms stay as
/// they are.
fn other_method<'a>(target: &'a str, streaming: &str, method: &str) -> Cow<'a, str> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|pair| *pair != "alt=sse" && !pair.is_empty());
    let query = pairs.collect::<Vec<_>>().join("&");
    let before = path.len().checked_sub(streaming.len()).and_then(|at| path.split_at_checked(at));
    let is_stream =
        |(before, end): &(&str, &str)| end.eq_ignore_ascii_case(streaming) && before.ends_with([':', '/']);
    match before.filter(is_stream) {
        Some((before, _)) => Cow::Owned(format!("{before}{method}?{query}")),
        None => Cow::Owned(format!("{path}?{query}")),
    }
}
