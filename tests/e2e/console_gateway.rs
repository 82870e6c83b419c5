//! The console through the gateway for agents: for the client `admin` with the service's key, and for nobody else. On
//! envoy/production.yaml as it is shipped, with the real service.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Method;
use sentinel_harness::client::{self, Response};
use sentinel_harness::gateway::{ADMIN, ALICE, Client, Gateway};
use sentinel_harness::service::Service;

const KEY: &str = "a-key-for-the-tests";

struct Stage {
    gateway: Gateway,
    _service: Service,
}

impl Stage {
    fn start(folder: &tempfile::TempDir) -> Self {
        let socket = folder.path().join("s.sock");
        let service = Service::start(folder.path(), &socket, &[("CONTROL_KEY".to_owned(), KEY.to_owned())]);
        Self { gateway: Gateway::builder().service(&socket).three_requests().start(), _service: service }
    }

    async fn ask(&self, method: Method, path: &str, client: Client, headers: &[(&str, &str)]) -> Response {
        let bearer = format!("Bearer {}", client.key);
        let mut all = vec![("authorization", bearer.as_str())];
        all.extend_from_slice(headers);
        let body = Full::new(Bytes::new());
        client::send(client::request(self.gateway.address(), method, path, &all, body)).await.unwrap()
    }
}

#[tokio::test]
async fn only_an_administrator_gets_the_console() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::start(&folder);
    let key = ("x-sentinel-key", KEY);
    for path in ["/console", "/console/runs", "/console/live", "/console/login"] {
        assert_eq!(stage.ask(Method::GET, path, ALICE, &[key]).await.status, 403, "{path}");
        let nobody = Client { name: "nobody", key: "never-given-out" };
        assert_eq!(stage.ask(Method::GET, path, nobody, &[key]).await.status, 401, "{path}");
    }
    // More often than the limit of a client: a page asks again whenever something has changed.
    for path in ["/console", "/console/runs", "/console/agents", "/console/budgets", "/console/stops"] {
        let page = stage.ask(Method::GET, path, ADMIN, &[key]).await;
        assert_eq!(page.status, 200, "{path}: {:?}", page.body);
        assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"), "{path}");
        assert!(!String::from_utf8_lossy(&page.body).contains(KEY), "{path}");
    }
    // The client's key alone does not do. A browser is led to the login.
    let led = stage.ask(Method::GET, "/console/runs", ADMIN, &[]).await;
    assert_eq!((led.status, led.header("location")), (303, Some("/console/login?next=%2Fconsole%2Fruns")));
    assert_eq!(stage.ask(Method::POST, "/console/stops/agent", ADMIN, &[]).await.status, 401);
    // Nothing else of the service is there.
    for path in ["/metrics", "/consoles", "/ready"] {
        assert_eq!(stage.ask(Method::GET, path, ADMIN, &[key]).await.status, 404, "{path}");
    }
}
