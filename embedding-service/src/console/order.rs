//! The fields of a form that was sent. They are taken only with the token of the session that the form was made for.

use std::{sync::Arc, time::Duration};

use axum::{
    Form,
    extract::{FromRequest, Request},
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};
use sentinel_console::page::Viewer;

use super::{Console, guard::Visitor, pages::problem, session::is_token};
use crate::control::{live::SettingsChange, stops::LONGEST_STOP};

/// Runs that are stopped at once.
const MOST: usize = 1_000;

/// The fields of a form: names and values, some of them several times.
pub struct Order {
    fields: Vec<(String, String)>,
}

impl FromRequest<Arc<Console>> for Order {
    type Rejection = Response;

    async fn from_request(request: Request, console: &Arc<Console>) -> Result<Self, Response> {
        let visitor = request.extensions().get::<Visitor>().cloned().unwrap_or_default();
        let form = Form::<Vec<(String, String)>>::from_request(request, console).await;
        let Form(fields) = form.map_err(|refused| refused.into_response())?;
        let order = Self { fields };
        let is_ours =
            matches!(&visitor.viewer, Viewer::Operator { token } if is_token(order.get("token"), token));
        let what =
            "The form is not of this session. Nothing was changed. Load the page again, and do it again.";
        is_ours.then_some(order).ok_or_else(|| problem(StatusCode::FORBIDDEN, "An old page", what))
    }
}

impl Order {
    #[cfg(test)]
    pub fn made_of(fields: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { fields: fields.iter().map(own).collect() }
    }

    pub fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    pub fn said(&self, name: &str) -> Option<String> {
        Some(self.get(name).to_owned()).filter(|value| !value.is_empty())
    }

    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.fields().filter(|(field, _)| *field == "run").map(|(_, value)| value).take(MOST)
    }

    /// For how long a stop is to stand.
    pub fn time(&self) -> Option<Duration> {
        let seconds = self.get("seconds").parse().ok().filter(|seconds| *seconds > 0)?;
        Some(Duration::from_secs(seconds).min(LONGEST_STOP))
    }

    /// Who changes settings, why, and what they had before them.
    pub fn change(&self) -> SettingsChange {
        let version = self.get("version").parse().unwrap_or_default();
        SettingsChange {
            author: self.get("author").to_owned(),
            reason: self.get("reason").to_owned(),
            version,
        }
    }

    pub fn back(&self) -> Response {
        Redirect::to(address(self.get("back"))).into_response()
    }
}

/// The given address if it is one of the console, otherwise that of its first page.
pub fn address(said: &str) -> &str {
    let is_ours =
        said.strip_prefix("/console").is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    if is_ours && said.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        said
    } else {
        "/console"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for ours in ["/console", "/console/runs?agent=a%26b", "/console?x=1"] {
            assert_eq!(address(ours), ours);
        }
        let others = [
            "",
            "/",
            "//evil.example",
            "https://evil.example",
            "/console.evil",
            "/consoleevil",
            "/console\\evil",
            "/console/\r\nx: y",
        ];
        for other in others {
            assert_eq!(address(other), "/console", "{other}");
        }
    }
}
