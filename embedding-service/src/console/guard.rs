//! Who may see a page, and who may change something. The rules are those of the API, but a browser has a cookie and a token instead of the
//! key. The headers in which a browser names the origin of a request must fit, so that no other site can change anything here.

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse as _, Redirect, Response},
};
use sentinel_console::{
    asset::CONTENT_SECURITY_POLICY,
    page::{Viewer, login_path},
};

use super::{
    pages::problem,
    session::{COOKIE, Session, token_of_key},
};
use crate::control::{
    api::{Access, Reach, is_loopback},
    clock,
    options::ControlKey,
};

/// What a listener asks of its visitors.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    pub access: Access,
}

/// Who a request comes from.
#[derive(Clone, Debug, Default)]
pub struct Visitor {
    pub viewer: Viewer,
    /// The cookie's session, renewed.
    renewed: Option<String>,
}

/// Lets a request pass to its page, or says what it lacks.
pub async fn check(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    if let Err(refused) = guard.may_come(&request) {
        return refused;
    }
    let visitor = guard.visitor(request.headers());
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let may_read = guard.access.reach == Reach::Loopback;
    if visitor.viewer == Viewer::Reader && !(reads && may_read) {
        return not_logged_in(&request);
    }
    let renewed = visitor.renewed.clone();
    request.extensions_mut().insert(visitor);
    let mut response = next.run(request).await;
    if let Some(cookie) = renewed.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Lets every request pass whose `host` is an address of ours.
pub async fn check_host(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.may_come(&request) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused,
    }
}

/// What every answer of the console says.
pub async fn headers(request: Request, next: Next) -> Response {
    const ALWAYS: [(HeaderName, HeaderValue); 4] = [
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ];
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, value);
    }
    // One page has its own.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(CONTENT_SECURITY_POLICY));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn not_logged_in(request: &Request) -> Response {
    if request.method() == Method::GET && request.uri().path() != "/console/live" {
        let address = request.uri().path_and_query().map_or("/console", |address| address.as_str());
        return Redirect::to(&login_path(address)).into_response();
    }
    let what = "You are not logged in, or your session has ended. Log in, and do it again.";
    problem(StatusCode::UNAUTHORIZED, "Log in first", what)
}

impl Guard {
    #[expect(clippy::result_large_err, reason = "an answer")]
    fn may_come(&self, request: &Request) -> Result<(), Response> {
        let host = host(request.uri(), request.headers());
        if self.access.reach == Reach::Loopback && !is_loopback(host.unwrap_or_default()) {
            let what = "This page is for this machine alone. Ask for it by the address of this machine or by localhost.";
            return Err(problem(StatusCode::FORBIDDEN, "Another address", what));
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) && !is_from_here(host, request.headers())
        {
            let what = "The request comes from a page of another site. Nothing was changed.";
            return Err(problem(StatusCode::FORBIDDEN, "Another site", what));
        }
        Ok(())
    }

    fn visitor(&self, headers: &HeaderMap) -> Visitor {
        let Some(key) = &self.access.key else { return Visitor::default() };
        if gives_key(headers, key) {
            return Visitor { viewer: Viewer::Operator { token: token_of_key(key) }, renewed: None };
        }
        let now = clock::now_ms();
        let Some(session) = cookie(headers).and_then(|cookie| Session::read(cookie, key, now)) else {
            return Visitor::default();
        };
        let renewed = session.renewed(now).map(|session| set_cookie(&session.cookie(key), headers));
        Visitor { viewer: Viewer::Operator { token: session.token(key) }, renewed }
    }
}

/// The host that was asked. HTTP/2, as a gateway speaks it, says it in the address.
fn host<'a>(address: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    address.authority().map(Authority::as_str).or_else(|| text(headers, &header::HOST))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Whether whoever sends the request has the key itself: a gateway that adds it, or a program.
fn gives_key(headers: &HeaderMap, key: &ControlKey) -> bool {
    // Behind a gateway `authorization` may be for the gateway.
    let given = headers.get("x-sentinel-key").and_then(|value| value.to_str().ok());
    let bearer = || text(headers, &header::AUTHORIZATION)?.strip_prefix("Bearer ");
    let given = given.or_else(bearer);
    given.is_some_and(|given| key.is(given.trim()))
}

/// Whether a request that changes something comes from a page of ours, as far as the browser says. Today's browsers send `sec-fetch-site`,
/// and older ones at least `origin` with every form.
fn is_from_here(host: Option<&str>, headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let Some(origin) = text(headers, &header::ORIGIN) else {
        // No browser. The token is still asked for.
        return true;
    };
    let theirs = origin.parse::<Uri>().ok().and_then(|origin| Some(origin.authority()?.as_str().to_owned()));
    theirs.is_some_and(|theirs| host == Some(theirs.as_str()))
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|cookies| cookies.split(';'))
        .find_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// The header that sets the session's cookie; an empty value takes it away.
pub fn set_cookie(value: &str, headers: &HeaderMap) -> String {
    let is_https = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    let secure = if is_https { "; Secure" } else { "" };
    let age = if value.is_empty() { "; Max-Age=0" } else { "" };
    format!("{COOKIE}={value}; Path=/console; HttpOnly; SameSite=Strict{secure}{age}")
}

/// Who asks, within a page.
pub type Asking = Extension<Visitor>;

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_pages_of_ours_change_anything() {
        let ours = [
            &[("sec-fetch-site", "same-origin")][..],
            &[("origin", "http://127.0.0.1:9464"), ("host", "127.0.0.1:9464")],
            &[("origin", "https://sentinel.example"), ("host", "sentinel.example")],
            &[("host", "127.0.0.1:9464")],
        ];
        let is_from_here = |pairs| {
            let headers = headers(pairs);
            is_from_here(host(&Uri::from_static("/console"), &headers), &headers)
        };
        for pairs in ours {
            assert!(is_from_here(pairs), "{pairs:?}");
        }
        let others = [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "none"), ("host", "a")],
            &[("sec-fetch-site", "cross-site"), ("origin", "http://a"), ("host", "a")],
            &[("origin", "http://evil"), ("host", "127.0.0.1:9464")],
            &[("origin", "null"), ("host", "127.0.0.1:9464")],
            &[("origin", "http://127.0.0.1:9465"), ("host", "127.0.0.1:9464")],
        ];
        for pairs in others {
            assert!(!is_from_here(pairs), "{pairs:?}");
        }
    }

    #[test]
    fn the_key_of_a_gateway_does_not_hide_the_key_of_the_service() {
        let key = ControlKey::new("0123456789abcdef").unwrap();
        let ours = ("x-sentinel-key", "0123456789abcdef");
        assert!(gives_key(&headers(&[ours, ("authorization", "Bearer of-the-gateway")]), &key));
        assert!(gives_key(&headers(&[("authorization", "Bearer 0123456789abcdef")]), &key));
        assert!(!gives_key(
            &headers(&[("x-sentinel-key", "0"), ("authorization", "Bearer 0123456789abcdef")]),
            &key
        ));
        assert!(!gives_key(&HeaderMap::new(), &key));
    }

    #[test]
    fn a_gateway_says_the_host_in_the_address() {
        let address = Uri::from_static("https://sentinel.example/console");
        let from =
            |origin: &str| is_from_here(host(&address, &HeaderMap::new()), &headers(&[("origin", origin)]));
        assert!(from("https://sentinel.example") && !from("https://evil.example") && !from("null"));
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let found = |value: &str| cookie(&headers(&[("cookie", value)])).map(str::to_owned);
        assert_eq!(found("a=b; sentinel_session=x.y; c=d").as_deref(), Some("x.y"));
        assert_eq!(found("sentinel_sessions=1; xsentinel_session=2"), None);
        let set = set_cookie("v", &headers(&[("x-forwarded-proto", "https")]));
        assert_eq!(set, "sentinel_session=v; Path=/console; HttpOnly; SameSite=Strict; Secure");
        assert!(set_cookie("", &HeaderMap::new()).ends_with("Max-Age=0"));
    }
}
