//! The pages of the console, as a browser asks for them, without the network.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use embedding_service::{
    console::{Console, router},
    control::{
        Control,
        api::{Access, Reach},
        options::ControlKey,
        runs::RunQuery,
    },
    readiness::Reasons,
};
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::{PAGES, print};

const KEY: &str = "a-key-for-the-bench";
/// Settings that change something for every agent: each of the last runs is judged again.
const NEW: &str =
    r#"{"agents": [{"prefix": "agent-", "settings": {"steps": {"repeated_step": {"hint": 4}}}}]}"#;

async fn ask(router: &Router, request: Request<Body>) -> String {
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let page = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    assert_eq!(status, StatusCode::OK);
    String::from_utf8(page.to_vec()).unwrap()
}

fn get(address: &str) -> Request<Body> {
    let request = Request::get(address).header(header::HOST, "localhost").header("x-sentinel-key", KEY);
    request.body(Body::empty()).unwrap()
}

fn post(address: &str, form: &str) -> Request<Body> {
    let request = Request::post(address).header(header::HOST, "localhost").header("x-sentinel-key", KEY);
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    request.body(Body::from(form.to_owned())).unwrap()
}

pub async fn measure(store: &str, control: Arc<Control>) {
    let runs = control.runs.list(&RunQuery { limit: 1, ..RunQuery::default() }).await.unwrap();
    let run = format!("/console/runs/{}", runs.runs.first().unwrap().id);
    let (_ready, not_ready) = watch::channel(Reasons::new());
    let console = Console::new(control, not_ready, "the bench", None);
    let access = Access { reach: Reach::Loopback, key: ControlKey::new(KEY) };
    let router = router(console, access);
    let pages = [
        ("console, Now", "/console"),
        ("console, Runs", "/console/runs"),
        ("console, Runs of an agent by cost", "/console/runs?agent=agent-7&sort=cost"),
        ("console, Run", run.as_str()),
        ("console, Agents", "/console/agents"),
        ("console, Budgets", "/console/budgets"),
        ("console, Settings", "/console/settings"),
        ("console, Settings of an agent", "/console/settings/agent?agent=agent-7"),
    ];
    for (what, address) in pages {
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..PAGES {
            let start = Instant::now();
            let page = ask(&router, get(address)).await;
            times.push(start.elapsed());
            assert!(page.ends_with("</html>"), "{what}");
        }
        print(store, what, times);
    }
    let settings = ask(&router, get("/console/settings")).await;
    let token = settings.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let form: String = NEW.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let form = format!("token={token}&version=0&settings={form}");
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..PAGES {
        let start = Instant::now();
        let page = ask(&router, post("/console/settings/ask", &form)).await;
        times.push(start.elapsed());
        assert!(page.contains("would not have been told"), "{page}");
    }
    print(store, "console, new settings tried on the last 1,000 runs", times);
}
