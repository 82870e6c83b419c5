//! Which dialect is spoken on a path, and in which form the answer is expected.

use super::Dialect;
use crate::config::PathRule;

/// What is known of a request from its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub dialect: Dialect,
    /// Where the path says it (Gemini); elsewhere the body does.
    pub form: Option<Form>,
    /// Where the path says it (Gemini).
    pub model: Option<String>,
}

/// Form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Json,
    /// `text/event-stream`.
    Sse,
    /// A JSON array of chunks: Gemini's stream without `alt=sse`.
    JsonArray,
}

impl Route {
    /// The dialect spoken on `path` (with its query), by the first of `rules` that fits, else by what the providers use.
    pub fn of(path: &str, rules: &[PathRule]) -> Option<Self> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let dialect = match rules.iter().find(|rule| rule.path.fits(path)) {
            Some(rule) => rule.dialect?,
            None => by_suffix(path)?,
        };
        if dialect != Dialect::Gemini {
            return Some(Self { dialect, form: None, model: None });
        }
        let (before, method) = path.rsplit_once(':').unwrap_or((path, ""));
        let form = match method {
            "streamGenerateContent" if query.split('&').any(|pair| pair == "alt=sse") => Form::Sse,
            "streamGenerateContent" => Form::JsonArray,
            _ => Form::Json,
        };
        let model = before.rsplit_once('/').map(|(_, model)| model.to_owned());
        Some(Self { dialect, form: Some(form), model })
    }
}

fn by_suffix(path: &str) -> Option<Dialect> {
    const KNOWN: [(&str, Dialect); 5] = [
        ("/chat/completions", Dialect::OpenAiChat),
        ("/v1/responses", Dialect::OpenAiResponses),
        ("/v1/messages", Dialect::Anthropic),
        (":generateContent", Dialect::Gemini),
        (":streamGenerateContent", Dialect::Gemini),
    ];
    KNOWN.iter().find(|(suffix, _)| path.ends_with(suffix)).map(|(_, dialect)| *dialect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PathMatch;

    #[test]
    fn providers_paths() {
        for (path, dialect, form) in [
            ("/v1/chat/completions", Dialect::OpenAiChat, None),
            ("/openai/v1/chat/completions?x=1", Dialect::OpenAiChat, None),
            ("/v1/responses", Dialect::OpenAiResponses, None),
            ("/v1/messages?beta=true", Dialect::Anthropic, None),
            ("/v1beta/models/gemini-2.5-pro:generateContent", Dialect::Gemini, Some(Form::Json)),
            ("/v1beta/models/m:streamGenerateContent", Dialect::Gemini, Some(Form::JsonArray)),
            ("/v1beta/models/m:streamGenerateContent?key=k&alt=sse", Dialect::Gemini, Some(Form::Sse)),
        ] {
            let route = Route::of(path, &[]).unwrap();
            assert_eq!((route.dialect, route.form), (dialect, form), "{path}");
        }
        assert_eq!(Route::of("/models/m:generateContent", &[]).unwrap().model.as_deref(), Some("m"));
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
        ] {
            assert_eq!(Route::of(path, &[]), None, "{path}");
        }
    }

    #[test]
    fn rules_win_over_the_built_in_paths() {
        let rules = [
            PathRule { path: PathMatch::Prefix("/raw/".into()), dialect: None },
            PathRule { path: PathMatch::Suffix("/talk".into()), dialect: Some(Dialect::Anthropic) },
        ];
        assert_eq!(Route::of("/raw/v1/chat/completions", &rules), None);
        assert_eq!(Route::of("/my/talk", &rules).unwrap().dialect, Dialect::Anthropic);
        assert_eq!(Route::of("/v1/messages", &rules).unwrap().dialect, Dialect::Anthropic);
    }
}
