//! Finds the dialect of a path, by the operator's rules or by the providers' own paths.

use std::borrow::Cow;

use crate::{
    dialect::DialectRef,
    path::{PathFacts, RequestPath, named_beside},
    registry::ALL,
};

/// What a request's path says.
#[derive(Clone, Debug)]
pub struct Route {
    pub dialect: DialectRef,
    pub facts: PathFacts,
}

/// The operator's rules for paths. A rule without a dialect says that requests on the path are not read.
pub trait PathRules {
    /// The first rule that matches.
    fn dialect_on(&self, path: &str) -> Option<Option<DialectRef>>;
}

impl Route {
    /// Applies the operator's rules first, then the providers' own paths. Returns `None` when no dialect is spoken on
    /// `target`.
    pub fn of(target: &RequestPath<'_>, rules: &impl PathRules) -> Option<Self> {
        let RequestPath { path, query } = target;
        let dialect = match rules.dialect_on(path) {
            Some(dialect) => dialect?,
            None => by_provider(path)?,
        };
        let facts = PathFacts { others: named_beside(path, query), ..dialect.facts_of_path(path, query) };
        Some(Self { dialect, facts })
    }
}

/// Some servers ignore the case of a path.
fn by_provider(path: &str) -> Option<DialectRef> {
    let has_capitals = path.bytes().any(|byte| byte.is_ascii_uppercase());
    let path = if has_capitals { Cow::Owned(path.to_ascii_lowercase()) } else { Cow::Borrowed(path) };
    ALL.into_iter().find(|dialect| dialect.is_served_on(&path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::Framing;

    struct Rules(&'static [(&'static str, Option<&'static str>)]);

    impl PathRules for Rules {
        fn dialect_on(&self, path: &str) -> Option<Option<DialectRef>> {
            let rule = self.0.iter().find(|(part, _)| path.contains(part))?;
            Some(rule.1.and_then(crate::registry::by_label))
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
            ("/responses", "openai_responses", None),
            ("/openai/responses?api-version=2025-03-01-preview", "openai_responses", None),
            ("/backend-api/codex/responses", "openai_responses", None),
            ("/api/v3/responses", "openai_responses", None),
            ("/v1/messages?beta=true", "anthropic", None),
            ("/anthropic/messages", "anthropic", None),
            ("/gateway/v2/messages", "anthropic", None),
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
            "/v1/./chat/completions",
            "/x/../v1/chat/completions/.",
            "/v1/embeddings/%2e%2e/chat/completions",
            "/v1\\chat\\completions",
            "/v1/chat/completions%20",
            "/v1/%09chat/completions%00",
            "/v1/chat/completions#x",
            "/v1/chat/completions%23x",
            "/v1/%63hat/completions;a=%ff",
            "/%ff/../v1/%63hat/completions",
            "/v1/%63hat/completions#%ff",
            "/v1/chat/%ff/%2e%2e/completions",
            "/v1/chat%2fcompletions?x=%ff",
        ] {
            assert_eq!(route(path).map(|route| route.dialect.label()), Some("openai_chat"), "{path}");
        }
        assert_eq!(route("/models/m%3AgenerateContent").unwrap().dialect.label(), "gemini");
        for (path, framing) in [
            ("/Models/m:GENERATECONTENT", Framing::Json),
            ("/models/m:STREAMGENERATECONTENT", Framing::JsonArray),
            ("/MODEL/m/CONVERSE-STREAM", Framing::AwsEventStream),
            ("/v1/Publishers/Anthropic/Models/m:STREAMRAWPREDICT", Framing::Sse),
        ] {
            let facts = route(path).unwrap_or_else(|| panic!("{path}")).facts;
            assert_eq!((facts.framing, facts.model.as_deref()), (Some(framing), Some("m")), "{path}");
        }
    }

    /// Each of these paths is the plain path for one kind of server: `..` removes what that server counts as a segment.
    #[test]
    fn a_sign_that_some_take_for_an_end_hides_no_path() {
        for target in [
            "/v1/%3F/../chat/completions",
            "/v1/%23x/%2e%2e/chat/completions",
            "/v1%2F%3F%2F..%2Fchat%2Fcompletions",
            "/v1/%253f/../chat/completions",
            "/v1/..%3F/../chat/completions",
            "/v1/chat/..%3F/../completions",
            "/v1/chat/..;a/../completions",
            "/v1/chat/..%20/../completions",
            "/v1/chat//../completions",
            "/v1/chat/a%2Fb/../completions",
            "/v1/chat/a\\b/../completions",
            "/v1/chat/a%5Cb%2F../completions",
            "/v1/chat/a\\../completions",
            "/v1/chat/x//../%3F/../completions",
            "/a%3Fb/v1/chat/completions",
            "/v1/chat/completions%3F/x",
            "/v1/chat/completions%3F/../../x",
            "/v1/chat/completions#/../../x",
            "/v1/chat/completions?/../../x",
        ] {
            let readings = RequestPath::readings(target);
            let label = readings
                .iter()
                .find_map(|path| Route::of(path, &Rules(&[])))
                .map(|route| route.dialect.label());
            assert_eq!(label, Some("openai_chat"), "{target}");
        }
        for target in [
            "/x?/../v1/chat/completions",
            "/x#/../v1/chat/completions",
            "/v1/chat/completions/%3F",
            "/%3F/..",
            "/%3F/x",
        ] {
            let readings = RequestPath::readings(target);
            let has_route = readings.iter().any(|path| Route::of(path, &Rules(&[])).is_some());
            assert_eq!(has_route, target.ends_with("completions/%3F"), "{target}");
        }
        for (target, readings) in
            [("/v1/x", 1), ("/model/a%3Ab%2Fc/converse", 1), ("//a/./b%20c;d/", 1), ("/a%3F/../b", 2)]
        {
            assert_eq!(RequestPath::readings(target).len(), readings, "{target}");
        }
    }

    #[test]
    fn models_beside_the_body() {
        for (path, models) in [
            ("/openai/deployments/big/chat/completions?api-version=1", &["big"][..]),
            ("/Engines/big/chat/completions", &["big"]),
            ("/deployments/a/b/x/deployments/c/Engines/d/responses", &["a/b/x/deployments/c/Engines/d", "d"]),
            ("/deployments/a/models/b/v1/messages", &["a/models/b"]),
            ("/deployments/v1/chat/completions", &["v1"]),
            ("/upstream/a/b/v1/Chat/Completions", &["a/b"]),
            ("/models/chat/completions", &[]),
            ("/x/models/v1/messages", &[]),
            ("/engines/v1/responses", &[]),
            ("/engines/llama.cpp/v1/responses", &[]),
            ("/engines/a/b/v1/responses", &["a/b"]),
            ("/v1/endpoints/openapi/chat/completions", &[]),
            ("/v1/endpoints/7/chat/completions", &["7"]),
            ("/v1/models/m:generateContent", &[]),
            ("/deployments/a/models/m:generateContent", &["a"]),
            ("/v1/chat/completions?model=a%2Fb&x=1&mod%65l=c+d", &["a/b", "c d"]),
            ("/v1/chat/completions?models=a&Model=b", &[]),
        ] {
            assert_eq!(route(path).unwrap().facts.others, models, "{path}");
        }
    }

    #[test]
    fn other_paths_are_nobodys() {
        for path in [
            "/",
            "/v1/embeddings",
            "/v1/threads/t/messages",
            "/messages",
            "/api/messages",
            "/versions/messages",
            "/v1/responses/compact",
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
