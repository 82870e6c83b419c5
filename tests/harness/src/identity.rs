//! A mock identity provider (OpenID Connect): its token endpoint, which takes a code once, and its keys. Its page where people sign in is
//! the test itself, which reads what Envoy sends there and comes back with a code.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::threads::Threads;

/// What it knows itself as.
pub const ISSUER: &str = "https://login.example";
/// The client that it knows, and its secret.
pub const CLIENT: &str = "agent-sentinel";
pub const SECRET: &str = "the-secret-of-the-client";
const KEY_ID: &str = "first";

pub struct IdentityProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    _threads: Threads,
}

struct Shared {
    key: KeyPair,
    /// What was given out for a sign-in: whose it is, and the challenge that its verifier must answer.
    codes: Mutex<BTreeMap<String, Code>>,
}

struct Code {
    claims: Value,
    challenge: String,
    redirect_uri: String,
}

impl IdentityProvider {
    pub fn start() -> Self {
        let threads = Threads::start();
        let (listener, address) = threads.listen();
        let key = KeyPair::generate().expect("a key for ES256");
        let shared = Arc::new(Shared { key, codes: Mutex::default() });
        let served = Arc::clone(&shared);
        threads.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&served);
                tokio::spawn(async move {
                    let service = service_fn(|request| answer(request, Arc::clone(&shared)));
                    let builder = auto::Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, shared, _threads: threads }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Somebody signs in on the page that Envoy has sent a browser to, with this query. Gives the query of the way back. `claims` stand
    /// in the ID token above who issued it, for whom and until when.
    pub fn sign_in(&self, query: &str, claims: &Value) -> String {
        let asked = fields(query);
        let said = |name: &str| asked.get(name).cloned().unwrap_or_else(|| panic!("no {name} in {query}"));
        assert_eq!((said("client_id").as_str(), said("response_type").as_str()), (CLIENT, "code"), "{query}");
        assert_eq!(said("code_challenge_method"), "S256");
        let code = hex(&Sha256::digest(format!("{query}{claims}")));
        let kept = Code {
            claims: claims.clone(),
            challenge: said("code_challenge"),
            redirect_uri: said("redirect_uri"),
        };
        self.shared.codes.lock().expect("no one panics with it").insert(code.clone(), kept);
        format!("code={code}&state={}", said("state"))
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    let body = String::from_utf8_lossy(&body.unwrap_or_default()).into_owned();
    let (status, answer) = match path.as_str() {
        "/token" => shared.token(&fields(&body)),
        "/keys" => (200, shared.keys()),
        _ => (404, json!({"error": "not_found"})),
    };
    let response = Response::builder().status(status).header("content-type", "application/json");
    Ok(response.body(Full::new(answer.to_string().into())).expect("an answer"))
}

impl Shared {
    /// A code is good once, for the client that proves that it began the sign-in.
    fn token(&self, asked: &BTreeMap<String, String>) -> (u16, Value) {
        let said = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
        if (said("client_id"), said("client_secret")) != (CLIENT, SECRET) {
            return (401, json!({"error": "invalid_client"}));
        }
        let code = self.codes.lock().expect("no one panics with it").remove(said("code"));
        let answers = |code: &Code| {
            let challenge = base64url(&Sha256::digest(said("code_verifier")));
            code.challenge == challenge && code.redirect_uri == said("redirect_uri")
        };
        let Some(code) = code.filter(|code| said("grant_type") == "authorization_code" && answers(code))
        else {
            return (400, json!({"error": "invalid_grant"}));
        };
        let id_token = self.signed(&code.claims);
        (
            200,
            json!({"access_token": "opaque", "token_type": "Bearer", "expires_in": 300, "id_token": id_token}),
        )
    }

    fn signed(&self, claims: &Value) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let mut all = json!({"iss": ISSUER, "aud": CLIENT, "iat": now, "exp": now + 300});
        for (name, value) in claims.as_object().expect("claims") {
            all[name] = value.clone();
        }
        let header = json!({"alg": "ES256", "typ": "JWT", "kid": KEY_ID});
        let part = |value: &Value| base64url(value.to_string().as_bytes());
        let said = format!("{}.{}", part(&header), part(&all));
        let signature = self.key.sign(said.as_bytes()).expect("a signature");
        format!("{said}.{}", base64url(&fixed(&signature)))
    }

    fn keys(&self) -> Value {
        // 4, x, y: an uncompressed point.
        let (x, y) = self.key.der_bytes()[1..].split_at(32);
        json!({"keys": [{
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": KEY_ID, "x": base64url(x), "y": base64url(y),
        }]})
    }
}

/// An ECDSA signature as JSON Web Tokens have it: two numbers of 32 bytes, in the place of ASN.1.
fn fixed(der: &[u8]) -> Vec<u8> {
    let mut rest = &der[2..];
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let (number, after) = rest[2..].split_at(usize::from(rest[1]));
        let number = &number[number.len().saturating_sub(32)..];
        numbers.extend(std::iter::repeat_n(0, 32 - number.len()));
        numbers.extend_from_slice(number);
        rest = after;
    }
    numbers
}

/// The fields of a query or a form.
pub fn fields(form: &str) -> BTreeMap<String, String> {
    let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect()
}

fn decoded(value: &str) -> String {
    let (mut bytes, mut text) = (value.bytes(), Vec::new());
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next(), bytes.next()].map(|digit| char::from(digit.expect("two digits")));
                u8::from_str_radix(&digits.iter().collect::<String>(), 16).expect("two digits")
            }
            byte => byte,
        });
    }
    String::from_utf8(text).expect("UTF-8")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |all, at| all << 8 | part.get(at).copied().map_or(0, usize::from));
        for letter in 0..=part.len() {
            text.push(char::from(LETTERS[number >> (18 - 6 * letter) & 63]));
        }
    }
    text
}
