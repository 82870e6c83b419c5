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
        let model = model.to_lowercase();
        self.is_open()
            || self.allow.iter().any(|allowed| match allowed {
                ModelName::Exact(name) => *name == model,
                ModelName::Prefix(prefix) => model.starts_with(prefix),
            })
    }
}

pub fn models(raw: &RawConfig) -> Result<ModelPolicy, ConfigError> {
    let name = |(at, raw): (usize, &RawModelName)| match (&raw.name, &raw.prefix) {
        (Some(name), None) => Ok(ModelName::Exact(name.to_lowercase())),
        (None, Some(prefix)) => Ok(ModelName::Prefix(prefix.to_lowercase())),
        _ => Err(ConfigError::new(format!("models[{at}]"), "needs exactly one of `name` and `prefix`")),
    };
    Ok(ModelPolicy { allow: raw.models.iter().enumerate().map(name).collect::<Result<_, _>>()? })
}
