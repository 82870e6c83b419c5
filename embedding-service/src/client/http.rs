//! Questions to the service over HTTP.

use std::{
    io::{self, BufRead as _, BufReader},
    path::PathBuf,
    time::Duration,
};

use serde_json::Value;
use ureq::Agent;

use crate::{control::api::to_json, outgoing};

const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of an answer.
const LONGEST: u64 = 64 << 20;

/// Why the client has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("{0}")]
    Refused(String),
    #[error(
        "the service wants its key for this: name the file that holds it with --key-file, or in CONTROL_KEY_FILE"
    )]
    KeyWanted,
    #[error("no service answers on {0}. Give --address, the METRICS_ADDR of the service")]
    Unreachable(String),
    #[error("{0} gives an answer that is not one of this service")]
    Unreadable(String),
    #[error("the file {} cannot be read", .0.display())]
    Key(PathBuf),
    #[error("cannot write: {0}")]
    Output(io::Error),
}

/// A service that is asked.
pub struct Http {
    agent: Agent,
    address: String,
    key: Option<String>,
}

/// A value as JSON for people: with line breaks, and without characters that change how others are shown.
pub fn shown(value: &Value) -> String {
    to_json(value).ok().and_then(|json| String::from_utf8(json).ok()).unwrap_or_default()
}

/// A text as part of a path or of a query.
pub fn escaped(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn query(pairs: &[(&'static str, Option<String>)]) -> String {
    let given = pairs.iter().filter_map(|(name, value)| Some(format!("{name}={}", escaped(value.as_ref()?))));
    let given: Vec<String> = given.collect();
    if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
}

impl Http {
    pub fn new(address: &str, key: Option<String>) -> Self {
        let address = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let config = outgoing::config(address.starts_with("https:")).timeout_connect(Some(TIMEOUT)).build();
        Self { agent: config.into(), address: address.trim_end_matches('/').to_owned(), key }
    }

    pub fn get(&self, path: &str, pairs: &[(&'static str, Option<String>)]) -> Result<Value, ClientError> {
        let request = self.agent.get(format!("{}{path}{}", self.address, query(pairs)));
        let request = request.config().timeout_global(Some(TIMEOUT)).build();
        let request =
            self.key.iter().fold(request, |request, key| request.header("authorization", bearer(key)));
        self.answer(request.call())
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        let request = self.agent.post(format!("{}{path}", self.address));
        let request = request.config().timeout_global(Some(TIMEOUT)).build();
        let request =
            self.key.iter().fold(request, |request, key| request.header("authorization", bearer(key)));
        self.answer(request.header("content-type", "application/json").send(body.to_string()))
    }

    fn unreadable(&self) -> ClientError {
        ClientError::Unreadable(self.address.clone())
    }

    fn answer(
        &self,
        answered: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, ClientError> {
        let mut answer = answered.map_err(|_| ClientError::Unreachable(self.address.clone()))?;
        let body = answer.body_mut().with_config().limit(LONGEST).read_to_vec();
        let value: Value =
            body.ok().and_then(|body| serde_json::from_slice(&body).ok()).ok_or_else(|| self.unreadable())?;
        if answer.status().is_success() {
            return Ok(value);
        }
        if answer.status().as_u16() == 401 && self.key.is_none() {
            return Err(ClientError::KeyWanted);
        }
        match value.get("error").and_then(Value::as_str) {
            Some(error) => Err(ClientError::Refused(error.to_owned())),
            None => Err(self.unreadable()),
        }
    }

    /// Tells each event with its id, until the service ends the answer.
    pub fn events(
        &self,
        pairs: &[(&'static str, Option<String>)],
        cursor: Option<&str>,
        mut tell: impl FnMut(&str, &Value) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let mut request = self.agent.get(format!("{}/v1/events{}", self.address, query(pairs)));
        if let Some(cursor) = cursor {
            request = request.header("last-event-id", cursor);
        }
        let request =
            self.key.iter().fold(request, |request, key| request.header("authorization", bearer(key)));
        let answered = request.call();
        let is_stream = answered.as_ref().is_ok_and(|answer| answer.status().is_success());
        if !is_stream {
            return self.answer(answered).map(drop);
        }
        let answer = answered.map_err(|_| ClientError::Unreachable(self.address.clone()))?;
        let (mut id, mut data) = (String::new(), String::new());
        for line in BufReader::new(answer.into_body().into_reader()).lines() {
            let Ok(line) = line else { return Ok(()) };
            if let Some(text) = line.strip_prefix("id:") {
                text.trim_start().clone_into(&mut id);
            } else if let Some(text) = line.strip_prefix("data:") {
                text.trim_start().clone_into(&mut data);
            } else if line.is_empty() && !data.is_empty() {
                if let Ok(event) = serde_json::from_str(&data) {
                    tell(&id, &event)?;
                }
                data.clear();
            }
        }
        Ok(())
    }
}

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}
