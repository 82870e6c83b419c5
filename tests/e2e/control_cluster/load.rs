//! Agents at work on one Envoy, who count what they ask.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use sentinel_harness::process::eventually;
use tokio::task::JoinHandle;

use super::ask;

/// Rounds of an Envoy's agents between one event and the next.
const ROUNDS: usize = 15;
const PAUSE: Duration = Duration::from_millis(5);

/// Agents that ask one Envoy until it is killed or they are told to end: one in a run of its own, and `spender`, whose budget all share. Once
/// `is_stopped` is set, also a stopped agent, which must be refused.
pub struct Load {
    /// The first one.
    agent: String,
    asked: Arc<AtomicU32>,
    answered: Arc<AtomicU32>,
    rounds: Arc<AtomicUsize>,
    pub is_stopped: Arc<AtomicBool>,
    end: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Load {
    pub fn start(address: SocketAddr, agent: &str) -> Self {
        let (asked, answered, rounds) = <(Arc<AtomicU32>, Arc<AtomicU32>, Arc<AtomicUsize>)>::default();
        let (is_stopped, end) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        let (name, counts) =
            (agent.to_owned(), (Arc::clone(&asked), Arc::clone(&answered), Arc::clone(&rounds)));
        let flags = (Arc::clone(&is_stopped), Arc::clone(&end));
        let task = tokio::spawn(async move {
            let ((asked, answered, rounds), (is_stopped, end)) = (counts, flags);
            while !end.load(Ordering::Relaxed) {
                let number = asked.fetch_add(1, Ordering::Relaxed);
                // None: its Envoy was killed.
                let Ok(answer) = ask(address, &name, &format!("{name} {number}")).await else { return };
                assert_eq!((answer.status, answer.verdict()), (200, "allow"), "request {number} of {name}");
                answered.fetch_add(1, Ordering::Relaxed);
                let Ok(answer) = ask(address, "spender", &format!("{name} {number}")).await else { return };
                assert!(answer.verdict() != "kill" || answer.reason().starts_with("budget"), "{answer:?}");
                if is_stopped.load(Ordering::Relaxed) {
                    let Ok(answer) = ask(address, "stopped-0", "stopped").await else { return };
                    assert_eq!((answer.verdict(), answer.reason()), ("kill", "stopped"), "of {name}");
                }
                rounds.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self { agent: agent.to_owned(), asked, answered, rounds, is_stopped, end, task }
    }

    pub async fn some_more(&self) {
        let before = self.rounds.load(Ordering::Relaxed);
        eventually("more rounds", async || {
            assert!(!self.task.is_finished(), "the agents of {} have ended", self.agent);
            self.rounds.load(Ordering::Relaxed) > before + ROUNDS
        })
        .await;
    }

    /// Returns its agent, the requests that it has sent, and those that were answered.
    pub async fn end(self) -> (String, u64, u64) {
        self.end.store(true, Ordering::Relaxed);
        self.task.await.expect("every request was answered as it must be");
        (self.agent, self.asked.load(Ordering::Relaxed).into(), self.answered.load(Ordering::Relaxed).into())
    }
}
