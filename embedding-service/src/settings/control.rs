//! The settings of control, and what must hold of them together.

use std::fs;

use super::{SettingError, raw::RawSettings};
use tonic::codegen::http::Uri;

use crate::{
    console::TRACE_ID,
    control::{
        events::EventKind,
        options::{ControlKey, ControlOptions},
        webhooks::WebhookOptions,
    },
    store::redis::options::Secret,
};

/// `None` where it is switched off.
pub(super) fn options(raw: &RawSettings) -> Result<Option<ControlOptions>, SettingError> {
    let refused = |name, wanted| Err(SettingError { name, wanted });
    if !raw.control {
        return Ok(None);
    }
    let (name, text) = match &raw.control_key_file {
        None => ("CONTROL_KEY", raw.control_key.reveal().to_owned()),
        Some(file) => {
            let Ok(text) = fs::read_to_string(file) else {
                return refused("CONTROL_KEY_FILE", "the file cannot be read: give one with the key in it");
            };
            ("CONTROL_KEY_FILE", text)
        }
    };
    let key = match text.trim() {
        "" if raw.control_key_file.is_none() => None,
        text => match ControlKey::new(text) {
            Some(key) => Some(key),
            None => {
                return refused(
                    name,
                    "give a key of at least 16 characters, as `openssl rand -hex 32` makes one",
                );
            }
        },
    };
    if key.is_none() && !raw.metrics_addr.ip().is_loopback() {
        let wanted = "METRICS_ADDR can be reached from other machines, so control needs a key: give a file with one, or CONTROL=false";
        return refused("CONTROL_KEY_FILE", wanted);
    }
    Ok(Some(ControlOptions {
        run_ttl: raw.control_run_ttl,
        idle: raw.control_idle,
        turns: raw.control_turns,
        events: raw.control_events,
        max_bytes: raw.control_max_bytes,
        key,
        webhook: webhook(raw)?,
        trace_url: trace_url(raw)?,
    }))
}

fn trace_url(raw: &RawSettings) -> Result<Option<String>, SettingError> {
    let Some(url) = raw.control_trace_url.clone() else { return Ok(None) };
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    let has_host = url.replace(TRACE_ID, "0").parse::<Uri>().is_ok_and(|uri| uri.host().is_some());
    if is_web && has_host && url.contains(TRACE_ID) {
        return Ok(Some(url));
    }
    let wanted = "give an address that begins with http:// or https:// and has {trace_id} where the id of a trace belongs";
    Err(SettingError { name: "CONTROL_TRACE_URL", wanted })
}

fn webhook(raw: &RawSettings) -> Result<Option<WebhookOptions>, SettingError> {
    let refused = |name, wanted| Err(SettingError { name, wanted });
    let url = raw.control_webhook_url.reveal();
    if url.is_empty() {
        return Ok(None);
    }
    if !(url.starts_with("http://") || url.starts_with("https://")) || url.parse::<Uri>().is_err() {
        return refused("CONTROL_WEBHOOK_URL", "give an address that begins with http:// or https://");
    }
    let secret = raw.control_webhook_secret_file.as_ref().and_then(|file| fs::read_to_string(file).ok());
    let Some(secret) =
        secret.map(|text| text.trim().to_owned()).filter(|text| text.len() >= ControlKey::SHORTEST)
    else {
        let wanted =
            "give a file with a secret of at least 16 characters: the receiver checks with it who sends";
        return refused("CONTROL_WEBHOOK_SECRET_FILE", wanted);
    };
    let kinds = raw.control_webhook_events.split(',').map(str::trim).filter(|kind| !kind.is_empty());
    match kinds.map(str::parse).collect::<Result<Vec<EventKind>, _>>() {
        Ok(kinds) if !kinds.is_empty() => Ok(Some(WebhookOptions {
            url: raw.control_webhook_url.clone(),
            secret: Secret::new(secret),
            kinds,
            cooldown: raw.control_webhook_cooldown,
        })),
        _ => refused("CONTROL_WEBHOOK_EVENTS", "give kinds of events, such as run.failed,budget.spent"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn control(arguments: &[&str]) -> Result<Option<ControlOptions>, SettingError> {
        options(&RawSettings::try_parse_from(["embedding-service"].iter().chain(arguments)).unwrap())
    }

    #[test]
    fn a_link_to_traces_is_an_address_with_a_place_for_the_id() {
        let link =
            |url: &str| control(&["--control-trace-url", url]).map(|options| options.unwrap().trace_url);
        for url in ["https://tempo.example/trace/{trace_id}", "http://127.0.0.1:16686/trace/{trace_id}?a=b"] {
            assert_eq!(link(url), Ok(Some(url.to_owned())));
        }
        assert_eq!(link(""), Ok(None));
        for url in
            ["https://tempo.example/trace/", "javascript:{trace_id}", "{trace_id}", "https://{trace_id}{"]
        {
            assert_eq!(link(url).unwrap_err().name, "CONTROL_TRACE_URL", "{url}");
        }
    }

    #[test]
    fn without_a_key_it_is_for_this_machine_alone() {
        assert_eq!(control(&[]), Ok(Some(ControlOptions::default())));
        assert_eq!(control(&["--control", "false", "--metrics-addr", "0.0.0.0:1"]), Ok(None));
        let open = control(&["--metrics-addr", "[::]:1"]).unwrap_err();
        assert_eq!(open.name, "CONTROL_KEY_FILE");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        fs::write(&file, "0123456789abcdef\n").unwrap();
        let with_key = control(&["--metrics-addr", "[::]:1", "--control-key-file", file.to_str().unwrap()]);
        let key = with_key.unwrap().unwrap().key.unwrap();
        assert!(key.is("0123456789abcdef") && !key.is("0123456789abcdef\n"));
        fs::write(&file, "").unwrap();
        let empty = control(&["--control-key-file", file.to_str().unwrap()]);
        assert_eq!(empty.unwrap_err().name, "CONTROL_KEY_FILE", "an empty file is a mistake");
    }
}
