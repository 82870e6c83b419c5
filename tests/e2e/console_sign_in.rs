//! The console for people who sign in at an identity provider: envoy/console.yaml as it is shipped, with the real service and a mock
//! identity provider behind real TLS.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Method;
use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::client::{self, Response};
use sentinel_harness::envoy::Envoy;
use sentinel_harness::identity::{IdentityProvider, SECRET, fields};
use sentinel_harness::parts;
use sentinel_harness::process::eventually;
use sentinel_harness::service::Service;
use sentinel_harness::tls::{Certificate, Relay};
use serde_json::{Value, json};

const KEY: &str = "a-key-for-the-tests";
/// What the browser calls the gateway.
const HOST: &str = "sentinel.example";
const HOSTILE: &str =
    "</title><script>document.title='broken'</script>\"'><img src=x onerror=alert(1)>\u{202e}gnp";

/// Dropped in this order: Envoy first.
struct Stage {
    envoy: Envoy,
    identity: IdentityProvider,
    _relay: Relay,
    _service: Service,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s.sock");
        let service = Service::start(folder.path(), &socket, &[("CONTROL_KEY".to_owned(), KEY.to_owned())]);
        let identity = IdentityProvider::start();
        let certificate = Certificate::of(&["login.example"]);
        let relay = Relay::start(identity.port(), &certificate);
        let roots = folder.path().join("roots.pem");
        fs::write(&roots, &certificate.pem).unwrap();
        let secrets = folder.path().join("console");
        fs::create_dir(&secrets).unwrap();
        for (name, secret) in [("client", SECRET), ("cookies", "0123456789abcdef"), ("service", KEY)] {
            let shipped = parts::root().join(format!("envoy/console/{name}.yaml"));
            let text = fs::read_to_string(shipped).unwrap();
            assert_eq!(text.matches("replace-me").count(), 1, "{name}");
            fs::write(secrets.join(format!("{name}.yaml")), text.replace("replace-me", secret)).unwrap();
        }
        let mut bootstrap = Bootstrap::shipped("console.yaml");
        for (what, to, times) in [
            (": envoy/console", format!(": {}", secrets.display()), 6),
            ("/etc/ssl/certs/ca-certificates.crt", roots.display().to_string(), 1),
            ("address: 127.0.0.1, port_value: 10001", "address: 127.0.0.1, port_value: 0".to_owned(), 1),
            ("address: 127.0.0.1, port_value: 9902", "address: 127.0.0.1, port_value: 0".to_owned(), 1),
            (
                "address: login.example, port_value: 443",
                format!("address: 127.0.0.1, port_value: {}", relay.port()),
                1,
            ),
            // A page that takes longer ends; the stream that keeps pages up to date does not.
            ("timeout: 15s", "timeout: 2s".to_owned(), 1),
        ] {
            bootstrap.replace_each(what, &to, times);
        }
        bootstrap.service(&socket);
        let envoy = Envoy::start(folder.path(), &bootstrap);
        Self { envoy, identity, _relay: relay, _service: service, _folder: folder }
    }

    fn browser(&self) -> Browser<'_> {
        Browser { stage: self, cookies: BTreeMap::new() }
    }
}

/// A browser, as far as it is needed here: it keeps cookies, and says where a request comes from.
struct Browser<'a> {
    stage: &'a Stage,
    cookies: BTreeMap<String, String>,
}

/// The address bar; a page of ours that fetches; another site.
const OPENED: [(&str, &str); 2] = [("sec-fetch-mode", "navigate"), ("sec-fetch-site", "none")];
const FETCHED: [(&str, &str); 2] = [("sec-fetch-mode", "cors"), ("sec-fetch-site", "same-origin")];
const FORM: [(&str, &str); 3] = [
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-site", "same-origin"),
    ("content-type", "application/x-www-form-urlencoded"),
];
const FROM_ELSEWHERE: [(&str, &str); 3] = [
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-site", "cross-site"),
    ("content-type", "application/x-www-form-urlencoded"),
];

impl Browser<'_> {
    fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> hyper::Request<Full<Bytes>> {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut all = vec![("host", HOST)];
        if !cookies.is_empty() {
            all.push(("cookie", cookies.as_str()));
        }
        all.extend_from_slice(headers);
        let body = Full::new(Bytes::from(body.to_owned()));
        client::request(self.stage.envoy.address(), method, path, &all, body)
    }

    async fn send(&mut self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let answer = client::send(self.request(method, path, headers, body)).await.unwrap();
        for cookie in answer.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().unwrap();
            let (name, rest) = cookie.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value == "deleted" {
                self.cookies.remove(name);
            } else {
                for word in ["secure", "HttpOnly", "SameSite=Lax", "path=/"] {
                    assert!(rest.contains(word), "no {word} in {cookie}");
                }
                assert!(name.starts_with("__Host-console-"), "{cookie}");
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    async fn open(&mut self, path: &str) -> Response {
        self.send(Method::GET, path, &OPENED, "").await
    }

    /// Opens a page, signs in where it is sent to, and comes back. Gives the answer to the way back.
    async fn sign_in(&mut self, path: &str, claims: &Value) -> Response {
        let sent = self.open(path).await;
        assert_eq!(sent.status, 302, "{:?}", sent.body);
        let address = sent.header("location").unwrap().to_owned();
        let query = address.strip_prefix("https://login.example/authorize?").expect("the sign-in there");
        let back = self.stage.identity.sign_in(query, claims);
        self.send(Method::GET, &format!("/console/signed-in?{back}"), &FROM_ELSEWHERE[..2], "").await
    }
}

fn administrator() -> Value {
    json!({"sub": "1", "email": "anna@sentinel.example", "groups": ["staff", "sentinel-admins"]})
}

fn text(answer: &Response) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// The token that forms of the page send.
fn token(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"token\" value=\"").expect("a form");
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_person_is_sent_to_sign_in_and_comes_back_to_the_page() {
    let stage = Stage::start();
    let mut browser = stage.browser();
    let sent = browser.open("/console/runs?agent=billing-bot-7").await;
    assert_eq!(sent.status, 302);
    let address = sent.header("location").unwrap().to_owned();
    let asked = fields(address.split_once('?').unwrap().1);
    assert!(asked["state"].len() > 20, "{address}");
    assert_eq!(asked["redirect_uri"], "https://sentinel.example/console/signed-in");
    assert_eq!(asked["scope"], "openid email groups");

    let mut browser = stage.browser();
    let back = browser.sign_in("/console/runs?agent=billing-bot-7", &administrator()).await;
    let page = "http://sentinel.example/console/runs?agent=billing-bot-7";
    assert_eq!((back.status, back.header("location")), (302, Some(page)), "{:?}", back.body);
    let page = browser.open("/console/runs?agent=billing-bot-7").await;
    assert_eq!(page.status, 200, "{:?}", page.body);
    let shown = text(&page);
    assert!(shown.contains("Log out") && !shown.contains(KEY), "{shown}");
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert!(page.headers.get("set-cookie").is_none(), "the service has no session of its own here");
    let style = shown.split_once("href=\"/console/assets/").unwrap().1.split('"').next().unwrap().to_owned();
    assert_eq!(browser.open(&format!("/console/assets/{style}")).await.status, 200);
}

#[tokio::test]
async fn nobody_else_gets_in() {
    let stage = Stage::start();
    let mut intern = stage.browser();
    let back = intern.sign_in("/console", &json!({"sub": "2", "groups": ["staff"]})).await;
    assert_eq!(back.status, 302);
    let refused = intern.open("/console").await;
    assert_eq!(refused.status, 403);
    assert!(text(&refused).contains("not as an administrator"), "{:?}", refused.body);
    let mut without_groups = stage.browser();
    without_groups.sign_in("/console", &json!({"sub": "3"})).await;
    assert_eq!(without_groups.open("/console").await.status, 403);
    // A token of the identity provider for another of its clients, and one that has ended.
    for claims in [json!({"aud": "another"}), json!({"exp": 1})] {
        let mut claims = claims;
        claims["groups"] = json!(["sentinel-admins"]);
        let mut other = stage.browser();
        other.sign_in("/console", &claims).await;
        assert_ne!(other.open("/console").await.status, 200, "{claims}");
    }

    let mut stranger = stage.browser();
    let keys = [
        ("x-sentinel-key", KEY),
        ("authorization", "Bearer a-key-for-the-tests"),
        ("x-sentinel-id-token", "a.b.c"),
        OPENED[0],
    ];
    assert_eq!(
        stranger.send(Method::GET, "/console", &keys, "").await.status,
        302,
        "the key alone does not do here"
    );
    // What pages fetch is refused, not sent elsewhere: the page says that it is signed out.
    assert_eq!(stranger.send(Method::GET, "/console/runs", &FETCHED, "").await.status, 401);
    assert_eq!(stranger.send(Method::GET, "/console/live", &FETCHED, "").await.status, 401);
    assert_eq!(stranger.send(Method::POST, "/console/stops/agent", &FORM, "agent=a").await.status, 401);
    // A way back that did not begin here.
    let mut victim = stage.browser();
    let sent = victim.open("/console").await;
    let query = sent.header("location").unwrap().split_once('?').unwrap().1.to_owned();
    let back = stage.identity.sign_in(&query, &administrator());
    let back = format!("/console/signed-in?{back}");
    assert_eq!(stage.browser().send(Method::GET, &back, &FROM_ELSEWHERE[..2], "").await.status, 401);

    let mut admin = stage.browser();
    admin.sign_in("/console", &administrator()).await;
    for path in ["/v1/runs", "/metrics", "/consoles", "/console/../v1/runs", "/console/..%2fv1/runs"] {
        let status = admin.open(path).await.status;
        assert!([400, 404].contains(&status), "{path}: {status}");
    }
    let log = stage.envoy.log();
    for secret in [KEY, SECRET, "code=", "state="] {
        assert!(!log.contains(secret), "{secret} stands in the log");
    }
}

#[tokio::test]
async fn only_pages_of_the_console_change_anything_and_names_stay_names() {
    let stage = Stage::start();
    let mut admin = stage.browser();
    admin.sign_in("/console", &administrator()).await;
    let token = token(&text(&admin.open("/console").await));
    let hostile: String = HOSTILE.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let form = format!("token={token}&agent={hostile}&author={hostile}&reason={hostile}&back=/console/stops");
    let stop = "/console/stops/agent";
    let by_origin = |origin| [("origin", origin), FORM[2]];
    for headers in [&FROM_ELSEWHERE[..], &by_origin("https://evil.example"), &by_origin("null")] {
        assert_eq!(admin.send(Method::POST, stop, headers, &form).await.status, 403, "{headers:?}");
    }
    let without_token = form.replace(&token, "0");
    assert_eq!(admin.send(Method::POST, stop, &FORM, &without_token).await.status, 403);
    assert!(!text(&admin.open("/console/stops").await).contains("img src"));

    // As a browser does that says only where a form comes from.
    let done = admin.send(Method::POST, stop, &by_origin("https://sentinel.example"), &form).await;
    assert_eq!((done.status, done.header("location")), (303, Some("/console/stops")), "{:?}", done.body);
    let page = text(&admin.open("/console/stops").await);
    assert!(page.contains("&lt;img src=x") && !page.contains("<img") && !page.contains("<script>"), "{page}");
    assert!(!page.contains('\u{202e}'));
}

#[tokio::test]
async fn a_page_is_told_of_changes_for_as_long_as_it_is_open() {
    let stage = Stage::start();
    let mut admin = stage.browser();
    admin.sign_in("/console", &administrator()).await;
    let token = token(&text(&admin.open("/console").await));
    let mut live = client::begin(admin.request(Method::GET, "/console/live", &FETCHED, "")).await;
    assert_eq!(live.status, 200);
    // Longer than a page may take.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut told = tokio::spawn(async move {
        let mut said = String::new();
        while !said.contains("event: changed") {
            said.push_str(&String::from_utf8_lossy(&live.chunk().await.expect("the stream goes on")));
        }
    });
    let form = format!("token={token}&agent=a&author=anna&reason=r&back=/console");
    assert_eq!(admin.send(Method::POST, "/console/stops/agent", &FORM, &form).await.status, 303);
    eventually("the page is told", async || {
        tokio::time::timeout(Duration::from_millis(100), &mut told).await.is_ok_and(|told| told.is_ok())
    })
    .await;
}

#[tokio::test]
async fn the_button_of_the_page_signs_out_and_no_other_site_does() {
    let stage = Stage::start();
    let mut admin = stage.browser();
    admin.sign_in("/console", &administrator()).await;
    let form = format!("token={}", token(&text(&admin.open("/console").await)));
    for (method, headers) in [(Method::GET, &OPENED[..]), (Method::POST, &FROM_ELSEWHERE[..])] {
        let refused = admin.send(method, "/console/logout", headers, &form).await;
        assert_eq!(refused.status, 403);
        assert!(text(&refused).contains("still signed in"), "{:?}", refused.body);
    }
    assert_eq!(admin.open("/console").await.status, 200);
    let out = admin.send(Method::POST, "/console/logout", &FORM, &form).await;
    assert_eq!((out.status, out.header("location")), (302, Some("http://sentinel.example/")));
    assert!(admin.cookies.is_empty(), "{:?}", admin.cookies);
    let page = admin.open("/").await;
    assert_eq!(page.status, 200);
    assert!(text(&page).contains("href=/console"), "{:?}", page.body);
    assert_eq!(admin.open("/console").await.status, 302);
}
