//! A million scopes in the memory store: in a process of its own, so that what it really takes can be seen.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test may fail")]

use std::{fs, sync::Arc, time::Duration};

use embedding_service::{
    embed::Embedded,
    history::{Moment, PromptHistory, Record, Retention, Scope, memory::MemoryHistory},
};

const BOUND: usize = 64 << 20;
const SCOPES: u64 = 1_000_000;

fn resident_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[tokio::test]
async fn a_million_scopes_stay_within_the_bytes_that_are_configured() {
    let history = MemoryHistory::new(Retention { size: 5, ttl: Duration::from_secs(3600) }, BOUND);
    let scope = |number: u64| Scope::new("tenant", "agent", &number.to_string());
    let vector: Arc<[f32]> = Arc::from([0.05; 384]);
    let before = resident_bytes();
    for number in 0..SCOPES {
        // A copy of its own, as an inference gives it.
        let vector = Arc::from(vector.to_vec());
        let head = format!("why does the build fail on machine {number}, and what is to be done about it?");
        let embedded = Embedded { vector, head, unseen: None };
        history.record(&Record { scope: scope(number), moment: Moment::now(), embedded }).await.unwrap();
        if number % 1000 == 0 {
            assert!(history.size().1 <= BOUND);
        }
    }
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < BOUND + BOUND / 2, "{grown} bytes more for {BOUND}");
    let (scopes, bytes) = history.size();
    assert!(bytes > BOUND / 2 && scopes > 10_000, "{scopes} scopes, {bytes} bytes");
    let last = history.recall(&scope(SCOPES - 1), &vector).await.unwrap();
    assert_eq!(last.len(), 1);
    assert_eq!(history.recall(&scope(0), &vector).await.unwrap(), []);
}
