//! Which models an agent may ask.

use crate::{
    ConfigError,
    raw::{RawConfig, RawModelName},
};

/// The models that may be asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelPolicy {
    /// In lower case. Empty: all.
    allow: Vec<ModelName>,
}

#[derive(Clone, Debug, PartialEq)]
enum ModelName {
    Exact(String),
    Prefix(String),
}

impl ModelPolicy {
    /// Whether every model may be asked.
    pub fn is_open(&self) -> bool {
        self.allow.is_empty()
    }

    /// Whether the model of this name may be asked.
    pub fn may(&self, model: &str) -> bool {
        let may = |model: &str| {
            self.allow.iter().any(|allowed| match allowed {
                ModelName::Exact(name) => name == model,
                ModelName::Prefix(prefix) => model.starts_with(prefix),
            })
        };
        // Routers take several, one after another.
        let name = |model: &str| may(bare(model));
        self.is_open() || model.to_lowercase().split(',').all(name)
    }
}

/// Gemini's bodies and lists say `models/NAME`.
fn bare(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

pub fn models(raw: &RawConfig) -> Result<ModelPolicy, ConfigError> {
    let name = |(at, raw): (usize, &RawModelName)| match (&raw.name, &raw.prefix) {
        (Some(name), None) => Ok(ModelName::Exact(bare(&name.to_lowercase()).to_owned())),
        (None, Some(prefix)) => Ok(ModelName::Prefix(bare(&prefix.to_lowercase()).to_owned())),
        _ => Err(ConfigError::new(format!("models[{at}]"), "needs exactly one of `name` and `prefix`")),
    };
    Ok(ModelPolicy { allow: raw.models.iter().enumerate().map(name).collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_models_each_must_be_allowed() {
        let allow = vec![ModelName::Exact("small".to_owned()), ModelName::Prefix("mini-".to_owned())];
        let policy = ModelPolicy { allow };
        for model in ["small", "SMALL", "mini-1", "mini-1,small", "Mini-2,mini-1", "models/small"] {
            assert!(policy.may(model), "{model}");
        }
        for model in ["big", "mini-1,big", "big,mini-1", "mini-1, big", "small,", "", ",", "models/big"] {
            assert!(!policy.may(model), "{model}");
        }
        assert!(ModelPolicy::default().may("a,b"));
    }
}
