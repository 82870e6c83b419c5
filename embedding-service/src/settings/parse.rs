//! From the text of one setting to a checked value, or to an error that says what to give instead.

use std::{fmt, net::SocketAddr, str::FromStr};

/// A setting with an impossible value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is \"{value}\": {wanted}")]
pub struct SettingError {
    /// The environment name.
    pub name: &'static str,
    pub value: String,
    /// What to give instead.
    pub wanted: String,
}

pub(super) fn invalid(name: &'static str, value: &str, wanted: impl Into<String>) -> SettingError {
    SettingError { name, value: value.to_owned(), wanted: wanted.into() }
}

pub(super) fn non_empty(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty()).then_some(text)
}

pub(super) fn address(name: &'static str, text: &str) -> Result<SocketAddr, SettingError> {
    text.parse().map_err(|_| invalid(name, text, "give an IP address and a port, like 127.0.0.1:9464"))
}

pub(super) fn number<T>(name: &'static str, text: &str, least: T, most: T) -> Result<T, SettingError>
where
    T: FromStr + PartialOrd + fmt::Display,
{
    match text.trim().parse() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => Err(invalid(name, text, format!("give a whole number from {least} to {most}"))),
    }
}

pub(super) fn permissions(name: &'static str, text: &str) -> Result<u32, SettingError> {
    let digits = text.trim().trim_start_matches("0o");
    match u32::from_str_radix(digits, 8) {
        // Without read and write for its owner not even we could serve it.
        Ok(mode) if mode <= 0o777 && mode & 0o600 == 0o600 => Ok(mode),
        _ => Err(invalid(
            name,
            text,
            "give octal permissions from 0600 to 0777 that let the owner read and write, like 0660",
        )),
    }
}

pub(super) fn similarity(name: &'static str, text: &str) -> Result<f64, SettingError> {
    match text.trim().parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err(invalid(name, text, "give a similarity from 0 to 1; 0.95 is cosine 0.90")),
    }
}

pub(super) fn boolean(name: &'static str, text: &str) -> Result<bool, SettingError> {
    match text.trim() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(invalid(name, other, "give true or false")),
    }
}
