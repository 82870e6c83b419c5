//! From the text of one setting to a checked value, or to a sentence that says what to give instead: parsers for clap.

use std::{convert::Infallible, fmt, net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use tonic::codegen::http::Uri;
use tracing::Level;

use crate::store::redis::options::Secret;

/// What to give instead.
type Expected = String;

/// `None` for an empty text.
pub(super) fn optional<T>(
    parse: impl Fn(&str) -> Result<T, Expected> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<Option<T>, Expected> + Clone + Send + Sync + 'static {
    move |text| match text.trim() {
        "" => Ok(None),
        text => parse(text).map(Some),
    }
}

pub(super) fn text(text: &str) -> Result<String, Expected> {
    Ok(text.trim().to_owned())
}

pub(super) fn path(text: &str) -> Result<PathBuf, Expected> {
    Ok(PathBuf::from(text))
}

/// Never refused here: clap would show it.
pub(super) fn secret(text: &str) -> Result<Secret, Infallible> {
    Ok(Secret::new(text.trim().to_owned()))
}

pub(super) fn address(text: &str) -> Result<SocketAddr, Expected> {
    let wanted = |_| "give an IP address and a port, like 127.0.0.1:9464".to_owned();
    text.trim().parse().map_err(wanted)
}

/// A whole number from `least` to `most`.
pub(super) fn number<T>(
    least: T,
    most: T,
) -> impl Fn(&str) -> Result<T, Expected> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + fmt::Display + Copy + Send + Sync + 'static,
{
    move |text| match text.trim().parse() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => Err(format!("give a whole number from {least} to {most}")),
    }
}

pub(super) fn seconds(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<Duration, Expected> + Clone + Send + Sync + 'static {
    move |text| number(least, most)(text).map(Duration::from_secs)
}

pub(super) fn milliseconds(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<Duration, Expected> + Clone + Send + Sync + 'static {
    move |text| number(least, most)(text).map(Duration::from_millis)
}

pub(super) fn permissions(text: &str) -> Result<u32, Expected> {
    let digits = text.trim().trim_start_matches("0o");
    match u32::from_str_radix(digits, 8) {
        // Without read and write for its owner not even we could serve it.
        Ok(mode) if mode <= 0o777 && mode & 0o600 == 0o600 => Ok(mode),
        _ => Err("give octal permissions from 0600 to 0777 that let the owner read and write, like 0660"
            .to_owned()),
    }
}

pub(super) fn similarity(text: &str) -> Result<f64, Expected> {
    match text.trim().parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("give a similarity from 0 to 1; 0.95 is cosine 0.90".to_owned()),
    }
}

pub(super) fn share(text: &str) -> Result<f64, Expected> {
    match text.trim().parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("give a number from 0 to 1".to_owned()),
    }
}

pub(super) fn boolean(text: &str) -> Result<bool, Expected> {
    match text.trim() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("give true or false".to_owned()),
    }
}

/// One of two words, each with what it stands for.
pub(super) fn choice<T: Copy + Send + Sync + 'static>(
    words: [&'static str; 2],
    values: [T; 2],
) -> impl Fn(&str) -> Result<T, Expected> + Clone + Send + Sync + 'static {
    move |text| {
        let found = words.iter().zip(values).find(|(word, _)| **word == text.trim());
        found.map(|(_, value)| value).ok_or_else(|| format!("give {}", words.join(" or ")))
    }
}

pub(super) fn level(text: &str) -> Result<Level, Expected> {
    match text.trim() {
        "error" => Ok(Level::ERROR),
        "warn" => Ok(Level::WARN),
        "info" => Ok(Level::INFO),
        "debug" => Ok(Level::DEBUG),
        _ => Err("give error, warn, info or debug".to_owned()),
    }
}

/// The address of a collector of traces.
pub(super) fn collector(text: &str) -> Result<String, Expected> {
    let uri = text.parse::<Uri>().ok();
    if uri.is_some_and(|uri| uri.scheme_str() == Some("http") && uri.port().is_some()) {
        return Ok(text.to_owned());
    }
    Err("give http://host:port of a collector that takes OTLP/gRPC, usually port 4317. One beside this service can go on over \
         TLS"
    .to_owned())
}
