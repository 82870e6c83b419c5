//! Paths, and the dialect on each.

use sentinel_llm_api::{dialect::DialectRef, registry, route::PathRules};

use super::all_used;
use crate::{ConfigError, raw::RawPath};

#[derive(Clone, Debug)]
pub struct PathRule {
    pub path: PathMatch,
    /// None: leave the path alone.
    pub dialect: Option<DialectRef>,
}

/// The operator's rules; the first that fits counts.
#[derive(Clone, Debug)]
pub struct PathRuleList(pub Vec<PathRule>);

impl PathRules for PathRuleList {
    fn dialect_on(&self, path: &str) -> Option<Option<DialectRef>> {
        self.0.iter().find(|rule| rule.path.fits(path)).map(|rule| rule.dialect)
    }
}

#[derive(Clone, Debug)]
pub enum PathMatch {
    Exact(String),
    Prefix(String),
    Suffix(String),
}

impl PathMatch {
    /// Some servers ignore the case of a path. `path` ends with no slash; what the operator wrote may.
    #[inline(never)]
    pub fn fits(&self, path: &str) -> bool {
        let (Self::Exact(known) | Self::Prefix(known) | Self::Suffix(known)) = self;
        let bare = known.strip_suffix('/').unwrap_or(known);
        let (known, part) = match self {
            Self::Exact(_) => (bare, Some(path)),
            Self::Prefix(_) if path.len() == bare.len() => (bare, Some(path)),
            Self::Prefix(known) => (known.as_str(), path.get(..known.len())),
            Self::Suffix(_) => (bare, path.len().checked_sub(bare.len()).and_then(|start| path.get(start..))),
        };
        part.is_some_and(|part| part.eq_ignore_ascii_case(known))
    }

    /// Whether it fits every path that `other` fits.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Exact(path)) | (Self::Suffix(_), Self::Suffix(path)) => {
                self.fits(path.strip_suffix('/').unwrap_or(path))
            }
            // `/a/` does not fit `/ab`, which `/a` does.
            (Self::Prefix(known), Self::Prefix(path)) => {
                path.get(..known.len()).is_some_and(|part| part.eq_ignore_ascii_case(known))
            }
            _ => false,
        }
    }
}

/// The operator's rules for paths.
pub fn path_rules(raw: Vec<RawPath>) -> Result<PathRuleList, ConfigError> {
    let rules: Vec<_> = raw.into_iter().enumerate().map(path_rule).collect::<Result<_, _>>()?;
    all_used("paths", &rules, |before, rule| before.path.covers(&rule.path))?;
    Ok(PathRuleList(rules))
}

pub fn path_match(
    path: &str,
    one_of: (Option<String>, Option<String>, Option<String>),
) -> Result<PathMatch, ConfigError> {
    match one_of {
        (Some(path), None, None) => Ok(PathMatch::Exact(path)),
        (None, Some(path), None) => Ok(PathMatch::Prefix(path)),
        (None, None, Some(path)) => Ok(PathMatch::Suffix(path)),
        _ => Err(ConfigError::new(path, "needs exactly one of `exact`, `prefix` and `suffix`")),
    }
}

fn path_rule((index, raw): (usize, RawPath)) -> Result<PathRule, ConfigError> {
    let path = path_match(&format!("paths[{index}]"), (raw.exact, raw.prefix, raw.suffix))?;
    let refuse = |problem: String| ConfigError::new(format!("paths[{index}].dialect"), problem);
    let dialect = match raw.dialect.as_deref() {
        Some("none") => None,
        Some(label) => Some(registry::by_label(label).ok_or_else(|| refuse(one_of_the_dialects()))?),
        None => return Err(refuse(one_of_the_dialects())),
    };
    Ok(PathRule { path, dialect })
}

fn one_of_the_dialects() -> String {
    let labels: Vec<&str> = registry::ALL.iter().map(|dialect| dialect.label()).collect();
    format!("must say what is spoken there: one of {}, none", labels.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_is_never_used_is_refused() {
        let refused = |paths: serde_json::Value| {
            let json = serde_json::json!({"paths": paths}).to_string();
            crate::Config::from_json(json.as_bytes()).err().map(|error| error.path)
        };
        let rule = |how: &str, path: &str| serde_json::json!({how: path, "dialect": "none"});
        for (before, after, is_refused) in [
            (rule("prefix", "/a"), rule("prefix", "/A/b"), true),
            (rule("prefix", "/a/b"), rule("prefix", "/a"), false),
            (rule("prefix", "/a/"), rule("exact", "/a"), true),
            (rule("exact", "/a"), rule("exact", "/a/"), true),
            (rule("exact", "/a"), rule("prefix", "/a"), false),
            (rule("suffix", "/chat"), rule("suffix", "/v1/chat"), true),
            (rule("suffix", "/chat"), rule("exact", "/v1/chat"), true),
            (rule("suffix", "/v1/chat"), rule("suffix", "/chat"), false),
            (rule("suffix", "/chat/"), rule("suffix", "/v1/chat"), true),
            (rule("prefix", "/a/"), rule("prefix", "/a"), false),
            (rule("prefix", "/v1"), rule("suffix", "/chat"), false),
        ] {
            let path = is_refused.then(|| "paths[1]".to_owned());
            assert_eq!(refused(serde_json::json!([before, after])), path, "{before} {after}");
        }
    }

    #[test]
    fn the_case_of_a_path_says_nothing() {
        let [exact, prefix, suffix] =
            [PathMatch::Exact, PathMatch::Prefix, PathMatch::Suffix].map(|of| of("/Talk".to_owned()));
        for (path, fits) in [
            ("/Talk", [true, true, true]),
            ("/talk", [true, true, true]),
            ("/TALK/x", [false, true, false]),
            ("/x/tALK", [false, false, true]),
            ("/tal", [false, false, false]),
            ("/\u{e4}\u{e4}", [false, false, false]),
            ("", [false, false, false]),
        ] {
            assert_eq!([&exact, &prefix, &suffix].map(|known| known.fits(path)), fits, "{path}");
        }
        let [exact, prefix, suffix] =
            [PathMatch::Exact, PathMatch::Prefix, PathMatch::Suffix].map(|of| of("/talk/".to_owned()));
        for (path, fits) in [
            ("/talk", [true, true, true]),
            ("/Talk", [true, true, true]),
            ("/talk/x", [false, true, false]),
            ("/x/talk", [false, false, true]),
            ("/talks", [false, false, false]),
            ("", [false, false, false]),
        ] {
            assert_eq!([&exact, &prefix, &suffix].map(|known| known.fits(path)), fits, "{path}");
        }
    }
}
