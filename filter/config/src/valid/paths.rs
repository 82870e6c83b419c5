//! Paths, and the dialect on each.

use sentinel_llm_api::{dialect::DialectRef, registry, route::PathRules};

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
    pub fn fits(&self, path: &str) -> bool {
        match self {
            Self::Exact(exact) => path == exact,
            Self::Prefix(prefix) => path.starts_with(prefix),
            Self::Suffix(suffix) => path.ends_with(suffix),
        }
    }
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

pub fn path_rule((index, raw): (usize, RawPath)) -> Result<PathRule, ConfigError> {
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
