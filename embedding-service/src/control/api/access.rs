//! Who may ask, and who may change. On this machine's own address everybody may read, and who has the key may change: an agent on the same
//! machine must not lift its own stop. Anywhere else everything needs the key.

use std::{net::IpAddr, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::answer::ApiError;
use crate::control::options::ControlKey;

/// How long whoever gives a wrong key waits for the answer.
const WRONG_KEY_PAUSE: Duration = Duration::from_millis(300);

/// From where a listener can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// From this machine alone.
    Loopback,
    Anywhere,
}

/// What a listener asks for.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub reach: Reach,
    pub key: Option<ControlKey>,
}

/// Lets a request pass, or says what it lacks.
pub async fn check(State(access): State<Access>, request: Request, next: Next) -> Response {
    match access.allows(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => {
            if matches!(error, ApiError::WrongKey) {
                tokio::time::sleep(WRONG_KEY_PAUSE).await;
            }
            error.into_response()
        }
    }
}

impl Access {
    fn allows(&self, method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        if self.reach == Reach::Loopback {
            // A page of another site may have had its name lead here (DNS rebinding); its browser still says the name.
            if !is_loopback(headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default())
            {
                return Err(ApiError::WrongHost);
            }
            if reads {
                return Ok(());
            }
        }
        let Some(key) = &self.key else { return Err(ApiError::NoKey) };
        // Behind a gateway `authorization` may be for the gateway.
        let given = headers.get("x-sentinel-key").and_then(|value| value.to_str().ok());
        let bearer = || headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ");
        match given.or_else(bearer).map(str::trim) {
            None => Err(ApiError::KeyMissing),
            Some(given) if key.is(given) => Ok(()),
            Some(_) => Err(ApiError::WrongKey),
        }
    }
}

/// Whether a host with or without a port is this machine's own address.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(address, _)| address),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_own_names_are_loopback() {
        for host in ["localhost", "LOCALHOST:9464", "127.0.0.1:9464", "127.1.2.3", "[::1]:9464", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:9464",
            "10.0.0.1",
            "[::2]:1",
            "127.0.0.1.nip.io",
            ":80",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn reading_here_is_free_and_all_else_needs_the_key() {
        let key = ControlKey::new("0123456789abcdef");
        let headers = |pairs: &[(&'static str, &str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
        };
        let here = Access { reach: Reach::Loopback, key };
        let anywhere = Access { reach: Reach::Anywhere, key };
        let local = ("host", "127.0.0.1:1");
        let (get, post) = (Method::GET, Method::POST);
        assert!(here.allows(&get, &headers(&[local])).is_ok());
        assert!(matches!(here.allows(&get, &headers(&[("host", "evil")])), Err(ApiError::WrongHost)));
        assert!(matches!(here.allows(&post, &headers(&[local])), Err(ApiError::KeyMissing)));
        assert!(matches!(anywhere.allows(&get, &headers(&[local])), Err(ApiError::KeyMissing)));
        let good = headers(&[local, ("authorization", "Bearer 0123456789abcdef")]);
        assert!(here.allows(&post, &good).is_ok() && anywhere.allows(&get, &good).is_ok());
        assert!(anywhere.allows(&post, &headers(&[("x-sentinel-key", "0123456789abcdef")])).is_ok());
        let both = [("x-sentinel-key", "0123456789abcdef"), ("authorization", "Bearer for the gateway")];
        assert!(anywhere.allows(&post, &headers(&both)).is_ok());
        for wrong in ["Bearer 0123456789abcdeF", "Bearer ", "Basic 0123456789abcdef"] {
            assert!(anywhere.allows(&get, &headers(&[("authorization", wrong)])).is_err(), "{wrong}");
        }
        let rebound = headers(&[("host", "evil"), ("authorization", "Bearer 0123456789abcdef")]);
        assert!(here.allows(&post, &rebound).is_err());
        let no_key = Access { reach: Reach::Loopback, key: None };
        assert!(matches!(no_key.allows(&post, &good), Err(ApiError::NoKey)));
    }
}
