//! Where the filter reads tenant, agent and run of a request.

use sentinel_llm_api::conversation::BodyField;

use crate::{ConfigError, raw::RawSource};

#[derive(Clone, Debug)]
pub struct IdentitySource {
    /// Lower-case header names.
    pub headers: Vec<String>,
    pub body: Vec<BodyField>,
}

pub fn header_name(path: &str, name: &str) -> Result<String, ConfigError> {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(ConfigError::new(path, format!("`{name}` is no header name")));
    }
    Ok(name.to_ascii_lowercase())
}

pub fn source(path: &str, raw: RawSource) -> Result<IdentitySource, ConfigError> {
    let headers =
        raw.headers.iter().zip(0..).map(|(name, i)| header_name(&format!("{path}.headers[{i}]"), name));
    let body = raw.body.iter().zip(0..).map(|(name, i)| match name.as_str() {
        "user" => Ok(BodyField::User),
        "safety_identifier" => Ok(BodyField::SafetyIdentifier),
        other => match other.strip_prefix("metadata.") {
            Some(key) if !key.is_empty() => Ok(BodyField::Metadata(key.to_owned())),
            _ => Err(ConfigError::new(
                format!("{path}.body[{i}]"),
                format!("`{other}` is not one of user, safety_identifier, metadata.NAME"),
            )),
        },
    });
    Ok(IdentitySource { headers: headers.collect::<Result<_, _>>()?, body: body.collect::<Result<_, _>>()? })
}
