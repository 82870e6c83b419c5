//! A request's path: the form in which paths are compared, and what a path says of the answer and the model.

use std::borrow::Cow;

use crate::framing::Framing;

/// What a path says beside the dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathFacts {
    /// How the answer will be framed; none where the body says it.
    pub framing: Option<Framing>,
    /// None where the body says it.
    pub model: Option<String>,
}

/// A request's path in the form in which paths are compared: without query, percent-decoded, without `;parameters`,
/// repeated and closing slashes. Servers take all of these for the plain path, so the filter must too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath<'a> {
    pub path: Cow<'a, str>,
    pub query: &'a str,
}

impl<'a> RequestPath<'a> {
    pub fn of(target: &'a str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let is_plain = !path.contains(['%', ';']) && !path.contains("//") && !path.ends_with('/');
        Self { path: if is_plain { Cow::Borrowed(path) } else { Cow::Owned(plain(path)) }, query }
    }
}

fn plain(path: &str) -> String {
    let decoded = percent_decoded(path);
    let segments = decoded.split('/').map(|segment| segment.split(';').next().unwrap_or(segment));
    segments.filter(|segment| !segment.is_empty()).fold(String::new(), |path, segment| path + "/" + segment)
}

/// What is no escape, or would not be UTF-8, stays as it is.
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
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Model and method of a path that ends with `/models/MODEL:METHOD`.
pub(crate) fn model_before_method(path: &str) -> (Option<String>, &str) {
    let (before, method) = path.rsplit_once(':').unwrap_or((path, ""));
    (before.rsplit_once('/').map(|(_, model)| model.to_owned()), method)
}

/// Whether a header counts retries, and this is one.
pub(crate) fn retry_count(header: &dyn Fn(&str) -> Option<Vec<u8>>, name: &str) -> bool {
    header(name).is_some_and(|count| count != b"0")
}

/// `target` with `method` at the end of its path in the place of `streaming`, and without the query's wish for a stream of
/// events. What is written in another way stays.
pub(crate) fn other_method<'a>(target: &'a str, streaming: &str, method: &str) -> Cow<'a, str> {
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
