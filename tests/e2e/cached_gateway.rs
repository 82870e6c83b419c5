//! envoy/production.yaml with the response cache switched on by the command that docs/response-cache.md gives, with the real service:
//! a client's question is answered once by the provider, what was stored for one client is given to no other, and the log says of each
//! look-up why it found what it found.

use std::fs;

use sentinel_harness::gateway::{ADMIN, ALICE, BOB, Client, Gateway};
use sentinel_harness::process::eventually;
use sentinel_harness::service::Service;
use sentinel_harness::{Dialect, parts};
use serde_json::Value;
use tempfile::TempDir;

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

fn start(folder: &TempDir) -> (Gateway, Service) {
    let socket = folder.path().join("s.sock");
    let service = Service::start(folder.path(), &socket, &[]);
    let (old, new) = documented();
    (Gateway::builder().edit(&old, &new).service(&socket).start(), service)
}

/// The filter's lines about look-ups with this outcome.
fn lines(gateway: &Gateway, event: &str) -> Vec<Value> {
    let name = format!(r#""event":"{event}""#);
    let log = gateway.envoy.log();
    let lines = log.lines().filter(|line| line.contains(&name));
    lines
        .map(|line| serde_json::from_str(&line[line.find('{').unwrap()..]).expect("a line of JSON"))
        .collect()
}

async fn cache_of(gateway: &Gateway, client: Client, agent: &str) -> String {
    cache_of_text(gateway, client, agent, ASK).await
}

/// Each agent asks once: nobody repeats itself.
async fn cache_of_text(gateway: &Gateway, client: Client, agent: &str, text: &str) -> String {
    let response = gateway.ask(Dialect::OpenaiChat, client, &[("x-agent-id", agent)], text).await;
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    response.header("x-sentinel-cache").unwrap_or("none").to_owned()
}

#[tokio::test]
async fn the_documented_command_switches_the_cache_on() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, _service) = start(&folder);
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

/// Who administers sees which question an answer was stored for, and that a request found none.
#[tokio::test]
async fn a_hit_leads_to_its_question_and_a_miss_is_on_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, _service) = start(&folder);
    let [stored, reworded, other] =
        ["How do I reset my password?", "How can I reset my password?", "How do I not reset my password?"];
    assert_eq!(cache_of_text(&gateway, ALICE, "first", stored).await, "miss");
    let mut asked = 1;
    eventually("an answer to the same text", async || {
        asked += 1;
        cache_of_text(&gateway, ALICE, &format!("again-{asked}"), stored).await == "exact"
    })
    .await;
    assert_eq!(cache_of_text(&gateway, ALICE, "reworded", reworded).await, "semantic");
    assert_eq!(cache_of_text(&gateway, ALICE, "other", other).await, "miss");

    eventually("the lines", async || {
        lines(&gateway, "cache_hit").len() == 2 && lines(&gateway, "cache_miss").len() == asked
    })
    .await;
    let hit = lines(&gateway, "cache_hit").pop().expect("a line");
    assert_eq!((&hit["type"], &hit["enforced"]), (&"semantic".into(), &true.into()), "{hit}");
    let entry = hit["entry"].as_str().expect("the entry that was given");
    let key = format!("Bearer {}", ADMIN.key);
    let page = gateway.get(&format!("/v1/cache/entries/{entry}"), &[("authorization", &key)]).await;
    assert_eq!((page.status, &page.json()["question"]), (200, &stored.into()), "{hit}");

    let miss = lines(&gateway, "cache_miss").pop().expect("a line");
    let partition = miss["partition"].as_str().expect("a partition");
    assert_eq!(entry.split(':').next(), Some(partition), "the two could have shared an answer: {miss}");
    let similarity = miss["similarity"].as_f64().expect("how near the nearest was");
    assert!((0.8..1.0).contains(&similarity), "{miss}");
    assert!(!gateway.envoy.log().contains("password"), "the text is nobody's business");
}
