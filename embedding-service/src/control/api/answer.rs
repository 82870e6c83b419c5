//! Answers as JSON, and what went wrong as one sentence. Names are data that agents have chosen: characters that change how a text is shown
//! are escaped.

use std::io;

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::ser::{CompactFormatter, Formatter};
use utoipa::ToSchema;

use crate::{control::stops::StopError, store::StoreError};

pub type ApiResult<T> = Result<JsonAnswer<T>, ApiError>;

/// An answer as JSON.
pub struct JsonAnswer<T>(pub T);

impl<T: Serialize> IntoResponse for JsonAnswer<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match to_json(value) {
        Ok(body) => (status, [(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// JSON in which no character changes how others are shown.
pub fn to_json(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(256);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Escaping))?;
    Ok(out)
}

struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((at, odd)) = rest.char_indices().find(|(_, c)| is_odd(*c)) {
            let (plain, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            writer.write_all(plain.as_bytes())?;
            for unit in odd.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = tail.get(odd.len_utf8()..).unwrap_or_default();
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

/// Whether a character is not shown, or changes how others are: controls, marks of direction, joiners, separators of lines, tags.
#[must_use]
pub fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    pub error: String,
}

/// Why a request was not answered as it wished.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("{0}")]
    Bad(String),
    #[error("{0}")]
    NotFound(&'static str),
    #[error("{0}")]
    Conflict(String),
    #[error("give the key: authorization: Bearer KEY")]
    KeyMissing,
    #[error("this is not the key")]
    WrongKey,
    #[error("nothing can be changed here, because the service has no key: give it one in CONTROL_KEY_FILE")]
    NoKey,
    #[error("ask by the address of this machine or by localhost: the request's host is another one")]
    WrongHost,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("too many follow the events already; close one of these")]
    Busy,
    #[error("the path does not take this method")]
    WrongMethod,
}

impl From<StopError> for ApiError {
    fn from(error: StopError) -> Self {
        match error {
            StopError::Nobody => Self::Bad(error.to_string()),
            StopError::TooMany => Self::Conflict(error.to_string()),
            StopError::Store(error) => Self::Store(error),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::KeyMissing | Self::WrongKey => StatusCode::UNAUTHORIZED,
            Self::NoKey | Self::WrongHost => StatusCode::FORBIDDEN,
            Self::Store(_) | Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
        };
        let mut response = json(status, &Problem { error: self.to_string() });
        if status == StatusCode::UNAUTHORIZED {
            let bearer = header::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

pub async fn wrong_method() -> ApiError {
    ApiError::WrongMethod
}

/// The body as JSON; nothing at all is the default.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes =
            Bytes::from_request(request, state).await.map_err(|error| ApiError::Bad(error.body_text()))?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        let read = serde_json::from_slice(&bytes);
        read.map(Self)
            .map_err(|error| ApiError::Bad(format!("the body is not what this path takes: {error}")))
    }
}

/// The query.
pub struct CheckedQuery<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for CheckedQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        let problem = |error: axum::extract::rejection::QueryRejection| ApiError::Bad(error.body_text());
        read.map(|Query(query)| Self(query)).map_err(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_the_view_of_a_text_is_escaped_and_means_the_same() {
        let name = "new\nline \"quoted\" \u{202e}evil\u{2066} \u{200b}\u{7f}\u{85}\u{e0041} ä 語 🦀 <script>";
        let json = String::from_utf8(to_json(&name).unwrap()).unwrap();
        assert!(json.chars().all(|c| !is_odd(c)), "{json}");
        assert!(json.contains("\\u202eevil\\u2066") && json.contains("ä 語 🦀"), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), name);
    }
}
