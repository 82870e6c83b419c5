//! envoy/production.yaml with the response cache switched on by the command that docs/response-cache.md gives, with the real service:
//! a client's question is answered once by the provider, and what was stored for one client is given to no other.

use std::fs;

use sentinel_harness::gateway::{ADMIN, ALICE, BOB, Client, Gateway};
use sentinel_harness::process::eventually;
use sentinel_harness::service::Service;
use sentinel_harness::{Dialect, parts};

const ASK: &str = "Which of our contracts ends first?";

/// What the documented `sed` finds, and what it puts in its place.
fn documented() -> (String, String) {
    let page = parts::root().join("docs/response-cache.md");
    let page = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let (_, command) = page.split_once("sed -i 's/").expect("the page has a command of sed");
    let (script, rest) = command.split_once("/' ").expect("the end of its script");
    assert!(rest.starts_with("envoy/production.yaml\n"), "{rest}");
    let (old, new) = script.split_once('/').expect("two parts");
    (old.to_owned(), new.to_owned())
}

/// Each agent asks once: nobody repeats itself.
async fn cache_of(gateway: &Gateway, client: Client, agent: &str) -> String {
    let response = gateway.ask(Dialect::OpenaiChat, client, &[("x-agent-id", agent)], ASK).await;
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    response.header("x-sentinel-cache").unwrap_or("none").to_owned()
}

#[tokio::test]
async fn the_documented_command_switches_the_cache_on() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    let _service = Service::start(folder.path(), &socket, &[]);
    let (old, new) = documented();
    let gateway = Gateway::builder().edit(&old, &new).service(&socket).start();

    assert_eq!(cache_of(&gateway, ALICE, "first").await, "miss");
    let mut asked = 1;
    // An answer is stored behind the response.
    eventually("a stored answer", async || {
        asked += 1;
        cache_of(&gateway, ALICE, &format!("again-{asked}")).await == "exact"
    })
    .await;
    assert_eq!(gateway.provider.count(), asked - 1, "the last was not asked of the provider");
    assert_eq!(cache_of(&gateway, BOB, "first").await, "miss", "another client");

    let key = format!("Bearer {}", ADMIN.key);
    let stats = gateway.get("/v1/cache/stats", &[("authorization", key.as_str())]).await.json();
    assert_eq!(stats["hits"]["exact"], 1, "{stats}");
}
