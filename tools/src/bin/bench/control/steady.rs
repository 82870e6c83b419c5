//! The service's share of a processor core while Envoy serves a steady number of requests a second.

use std::thread;
use std::time::{Duration, Instant};

use super::Side;
use crate::case;
use crate::measure::clients;
use crate::rival::Rival;
use crate::usage;

/// Requests a second, over all connections.
const RATE: u32 = 1_000;
const CONNECTIONS: u32 = 8;
const WARM_UP: Duration = Duration::from_secs(2);

pub struct Steady {
    pub store: &'static str,
    pub variant: &'static str,
    /// Requests a second that were really made.
    pub rate: f64,
    /// Cores: 1 is all of one.
    pub service: f64,
    pub envoy: f64,
}

pub(super) fn measure(rival: &Rival, side: &Side, variant: &'static str, time: Duration) -> Steady {
    send(rival, WARM_UP);
    let before = (usage::busy(side.service.id()), rival.busy());
    let began = Instant::now();
    let requests = send(rival, time);
    let took = began.elapsed().as_secs_f64();
    let share = |now: Duration, before: Duration| now.saturating_sub(before).as_secs_f64() / took;
    Steady {
        store: side.name,
        variant,
        rate: f64::from(requests) / took,
        service: share(usage::busy(side.service.id()), before.0),
        envoy: share(rival.busy(), before.1),
    }
}

/// Each connection sends when its next request is due, and never makes up for what came late.
fn send(rival: &Rival, time: Duration) -> u32 {
    let [_, inspected] = case::processor(1);
    let pause = Duration::from_secs(1) * CONNECTIONS / RATE;
    thread::scope(|scope| {
        let senders: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let case = inspected.clone();
                scope.spawn(move || {
                    let mut client = clients(rival, &case, case.verdict).remove(0);
                    let began = Instant::now();
                    let (mut sent, mut due) = (0, began);
                    while began.elapsed() < time {
                        thread::sleep(due.saturating_duration_since(Instant::now()));
                        due = (due + pause).max(Instant::now() - pause);
                        client.exchange(case.verdict);
                        sent += 1;
                    }
                    sent
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().expect("no agent failed")).sum()
    })
}
