//! Two replicas of the embedding service behind one Envoy: they find a loop together, and one of them may go at any time.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::redis::Redis;
use sentinel_harness::service::Service;
use sentinel_harness::stack::Builder;
use sentinel_harness::{Dialect, Stack, client, raw};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::support::{CHAT, QUESTION};

/// Agents that ask all the time.
const AGENTS: usize = 4;
/// Questions between one event and the next.
const QUESTIONS: usize = 60;

/// A stack whose service has a second replica, on a socket in a folder of its own.
struct Pair {
    stack: Stack,
    second: Option<Service>,
    folder: TempDir,
    settings: Vec<(String, String)>,
}

impl Pair {
    /// As `builder` says.
    fn start(redis: &Redis, builder: Builder) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = vec![("REDIS_URL".to_owned(), redis.url())];
        let second = Service::start(folder.path(), &socket(folder.path()), &settings);
        let endpoint = "          - lb_endpoints:\n              - endpoint: {address: {pipe: {path: ";
        let both = format!(
            "{endpoint}{}}}}}}}\n              - endpoint: {{address: {{pipe: {{path: ",
            socket(folder.path()).display()
        );
        let stack = builder.service_with(&[("REDIS_URL", &redis.url())]).edit(endpoint, &both).start();
        Self { stack, second: Some(second), folder, settings }
    }

    fn restart_second(&mut self) {
        self.second = Some(Service::start(self.folder.path(), &socket(self.folder.path()), &self.settings));
    }

    /// Calls that each replica has answered, by Envoy's count.
    fn answered(&self) -> Vec<u64> {
        let page = raw::get(self.stack.envoy.admin(), "/clusters").expect("Envoy's clusters");
        let text = String::from_utf8_lossy(&page.body).into_owned();
        let of = |line: &str| {
            line.starts_with("embedding_service::")
                .then(|| line.split_once("::rq_success::")?.1.parse().ok())?
        };
        text.lines().filter_map(of).collect()
    }
}

fn socket(folder: &Path) -> std::path::PathBuf {
    folder.join("second.sock")
}

#[tokio::test]
async fn a_loop_whose_prompts_went_to_both_is_found() {
    let redis = Redis::start();
    let mut pair = Pair::start(&redis, Stack::builder());
    let mut verdicts = Vec::new();
    for turn in 0..4 {
        let response = pair.stack.ask(Dialect::OpenaiChat, "roams", QUESTION).await;
        verdicts.push(response.verdict().to_owned());
        // It is stored after the answer has gone.
        eventually("the prompt is stored", async || redis.prompts() > turn.min(2)).await;
    }
    assert_eq!(verdicts, ["allow", "allow", "hint", "hint"]);
    let answered = pair.answered();
    assert!(
        answered.len() == 2 && answered.iter().all(|calls| *calls > 0),
        "not both were asked: {answered:?}"
    );
    pair.stack.assert_sound();
}

/// Agents that ask all the time. Each of their requests is answered as if all were well.
pub struct Load {
    stop: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    agents: Vec<JoinHandle<()>>,
}

impl Load {
    pub fn start(address: SocketAddr) -> Self {
        let (stop, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let agents = (0..AGENTS)
            .map(|agent| tokio::spawn(keep_asking(agent, address, Arc::clone(&stop), Arc::clone(&asked))))
            .collect();
        Self { stop, asked, agents }
    }

    /// Waits for more questions.
    pub async fn some_more(&self) {
        let before = self.asked.load(Ordering::Relaxed);
        eventually("more questions", async || self.asked.load(Ordering::Relaxed) > before + QUESTIONS).await;
    }

    pub async fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for agent in self.agents {
            agent.await.expect("every request was answered");
        }
    }
}

async fn keep_asking(agent: usize, address: SocketAddr, stop: Arc<AtomicBool>, asked: Arc<AtomicUsize>) {
    while !stop.load(Ordering::Relaxed) {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let name = format!("agent-{agent}-{number}");
        let body = CHAT.ask(&text_for(&name), false).to_string();
        let response = client::post(address, CHAT.path(false), &[("x-agent-id", &name)], body).await;
        assert_eq!((response.status, response.verdict()), (200, "allow"), "request {number}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_while_one_is_killed_or_both_are_restarted() {
    let redis = Redis::start();
    let mut pair = Pair::start(&redis, Stack::builder().in_a_hurry());
    let load = Load::start(pair.stack.address());
    load.some_more().await;
    pair.second.as_mut().expect("a second replica").process().kill();
    load.some_more().await;
    pair.restart_second();
    load.some_more().await;
    // A rolling restart: the one ends in good order, and is back before the other goes.
    pair.second.take().expect("a second replica").process().stop();
    load.some_more().await;
    pair.restart_second();
    load.some_more().await;
    pair.stack.service.as_mut().expect("a first replica").process().stop();
    load.some_more().await;
    load.stop().await;
    let ok = pair.stack.count("sentinel_service_calls_total", &[("outcome", "ok")]);
    assert!(ok > 0, "the service was never of help");
    pair.stack.assert_sound();
}
