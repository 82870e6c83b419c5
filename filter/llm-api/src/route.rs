//! Which dialect is spoken on a path, and what the path says of the answer and the model.

use std::borrow::Cow;

use crate::{
    dialect::{ALL, DialectRef},
    framing::Framing,
};

/// What is known of a request from its path.
#[derive(Clone, Debug)]
pub struct Route {
    pub dialect: DialectRef,
    pub facts: PathFacts,
}

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

/// A dialect and a path that the operator put together; `None` leaves the path alone.
pub trait PathRules {
    /// The first rule that fits.
    fn dialect_on(&self, path: &str) -> Option<Option<DialectRef>>;
}

impl Route {
    /// The dialect that is spoken on `target`, by the operator's rules, else by what the providers use.
    pub fn of(target: &RequestPath<'_>, rules: &impl PathRules) -> Option<Self> {
        let RequestPath { path, query } = target;
        let dialect = match rules.dialect_on(path) {
            Some(dialect) => dialect?,
            None => by_provider(path)?,
        };
        Some(Self { dialect, facts: dialect.facts_of_path(path, query) })
    }
}

fn by_provider(path: &str) -> Option<DialectRef> {
    let known = |path: &str| ALL.into_iter().find(|dialect| dialect.is_served_on(path));
    known(path).or_else(|| {
        // Some servers do not mind the case; `generateContent` is written with a capital.
        let lower = path.to_ascii_lowercase();
        known(&lower.replace("generatecontent", "generateContent").replace("rawpredict", "rawPredict"))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Rules(&'static [(&'static str, Option<&'static str>)]);

    impl PathRules for Rules {
        fn dialect_on(&self, path: &str) -> Option<Option<DialectRef>> {
            let rule = self.0.iter().find(|(part, _)| path.contains(part))?;
            Some(rule.1.and_then(crate::dialect::by_label))
        }
    }

    fn route(target: &str) -> Option<Route> {
        Route::of(&RequestPath::of(target), &Rules(&[]))
    }

    #[test]
    fn paths_of_providers() {
        let anthropic_on_vertex = "/v1/projects/p/locations/l/publishers/anthropic/models/m";
        for (path, label, framing) in [
            ("/v1/chat/completions", "openai_chat", None),
            ("/openai/v1/chat/completions?x=1", "openai_chat", None),
            ("/v1/responses", "openai_responses", None),
            ("/v1/messages?beta=true", "anthropic", None),
            ("/v1beta/models/gemini-2.5-pro:generateContent", "gemini", Some(Framing::Json)),
            ("/v1beta/models/m:streamGenerateContent", "gemini", Some(Framing::JsonArray)),
            ("/v1beta/models/m:streamGenerateContent?key=k&alt=sse", "gemini", Some(Framing::Sse)),
            ("/model/a.b-v1%3A0/converse", "bedrock", Some(Framing::Json)),
            ("/model/a.b-v1%3A0/converse-stream", "bedrock", Some(Framing::AwsEventStream)),
            (&format!("{anthropic_on_vertex}:rawPredict"), "vertex_anthropic", Some(Framing::Json)),
            (&format!("{anthropic_on_vertex}:streamRawPredict"), "vertex_anthropic", Some(Framing::Sse)),
        ] {
            let route = route(path).unwrap_or_else(|| panic!("{path}"));
            assert_eq!((route.dialect.label(), route.facts.framing), (label, framing), "{path}");
        }
        for (path, model) in [
            ("/models/m:generateContent", "m"),
            ("/model/anthropic.claude%3A0/converse", "anthropic.claude:0"),
            (&format!("{anthropic_on_vertex}@1:rawPredict"), "m@1"),
        ] {
            assert_eq!(route(path).unwrap().facts.model.as_deref(), Some(model), "{path}");
        }
    }

    #[test]
    fn paths_that_only_look_different_are_the_same() {
        for path in [
            "/v1/chat/completions/",
            "//v1//chat/completions",
            "/V1/Chat/Completions",
            "/v1/chat/completions;a=1",
            "/v1;b/chat/completions;a=1/?x",
            "/v1/chat%2Fcompletions",
            "/v1/ch%61t/completions",
        ] {
            assert_eq!(route(path).map(|route| route.dialect.label()), Some("openai_chat"), "{path}");
        }
        assert_eq!(route("/models/m%3AgenerateContent").unwrap().dialect.label(), "gemini");
        assert_eq!(route("/Models/m:GENERATECONTENT").unwrap().dialect.label(), "gemini");
    }

    #[test]
    fn other_paths_are_nobodys() {
        for path in [
            "/",
            "/v1/embeddings",
            "/v1/threads/t/messages",
            "/v1/messages/count_tokens",
            "/v1/responses/r_1",
            "",
            "/%ff%zz%+1",
            "/model/m/invoke",
        ] {
            assert!(route(path).is_none(), "{path}");
        }
    }

    #[test]
    fn rules_win_over_the_paths_of_providers() {
        let rules = Rules(&[("/raw/", None), ("/talk", Some("anthropic"))]);
        let label = |path| Route::of(&RequestPath::of(path), &rules).map(|route| route.dialect.label());
        assert_eq!(label("/raw/v1/chat/completions"), None);
        assert_eq!(label("/my/talk"), Some("anthropic"));
        assert_eq!(label("/v1/messages"), Some("anthropic"));
    }
}
