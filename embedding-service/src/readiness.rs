//! Whether callers should be sent here, for `/readyz` and gRPC health alike: the store is reachable, prompts do not wait
//! too long, and the service is not stopping. That nobody new can connect is for `/readyz` only: who asks over gRPC is
//! connected, and gets answers.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::watch, time::MissedTickBehavior};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{
    embed::pool::Pool,
    metrics::{Metrics, NotReady},
};

/// How often the delay is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How much of each look goes in the running mean: 1/8. The mean, since a queue near its limit is empty now and then.
const SMOOTHING: u32 = 8;

/// When prompts wait too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Longest that a prompt should wait for its turn, on average.
    pub delay: Duration,
    /// How long it has to be longer, before the service says that it is not ready; and how long it has to be less than
    /// half of it, before the service says that it is again.
    pub window: Duration,
}

/// Tells a lasting overload from a moment's.
#[derive(Debug)]
pub struct Overload {
    patience: Patience,
    mean: Duration,
    overloaded: bool,
    /// Since when things have been other than said.
    since: Option<Instant>,
}

impl Overload {
    #[must_use]
    pub fn new(patience: Patience) -> Self {
        Self { patience, mean: Duration::ZERO, overloaded: false, since: None }
    }

    /// Notes how long a prompt that comes now would wait; gives whether the service is overloaded.
    pub fn note(&mut self, delay: Duration, now: Instant) -> bool {
        let part = |time: Duration| time.checked_div(SMOOTHING).unwrap_or_default();
        self.mean = self.mean.saturating_sub(part(self.mean)).saturating_add(part(delay));
        let changed = if self.overloaded {
            self.mean < self.patience.delay.checked_div(2).unwrap_or_default()
        } else {
            self.mean > self.patience.delay
        };
        if !changed {
            self.since = None;
        } else if now.saturating_duration_since(*self.since.get_or_insert(now)) >= self.patience.window {
            self.overloaded = !self.overloaded;
            self.since = None;
        }
        self.overloaded
    }
}

/// Reasons not to be ready; none means ready.
pub type Reasons = Vec<NotReady>;

/// Says how things stand, to whoever asks and to whoever watches.
pub struct Teller {
    pub health: HealthReporter,
    pub reasons: watch::Sender<Reasons>,
    pub metrics: Arc<Metrics>,
}

impl Teller {
    pub async fn tell(&self, reasons: Reasons) {
        if *self.reasons.borrow() != reasons {
            let texts: Vec<_> = reasons.iter().map(|reason| reason.text()).collect();
            match texts.as_slice() {
                [] => tracing::info!("ready again"),
                _ => tracing::warn!(reasons = texts.join(" "), "not ready"),
            }
        }
        for reason in NotReady::ALL {
            self.metrics.not_ready(*reason, reasons.contains(reason));
        }
        let answers = reasons.iter().all(|reason| *reason == NotReady::SocketLost);
        let status = if answers { ServingStatus::Serving } else { ServingStatus::NotServing };
        self.reasons.send_replace(reasons);
        self.health.set_service_status("", status).await;
        self.health.set_service_status(sentinel_proto::SERVICE, status).await;
    }
}

/// Follows the store, the queue and the socket, for as long as the server runs.
pub async fn follow(
    teller: Arc<Teller>,
    mut reachable: watch::Receiver<bool>,
    pool: Arc<Pool>,
    socket_lost: watch::Receiver<bool>,
    patience: Patience,
) {
    let mut overload = Overload::new(patience);
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = None;
    loop {
        let up = *reachable.borrow_and_update();
        let overloaded = overload.note(pool.delay(), Instant::now());
        let mut reasons = Reasons::new();
        reasons.extend((!up).then_some(NotReady::StoreDown));
        reasons.extend(overloaded.then_some(NotReady::Overloaded));
        reasons.extend(socket_lost.borrow().then_some(NotReady::SocketLost));
        if told.as_ref() != Some(&reasons) {
            teller.metrics.store_up(up);
            teller.tell(reasons.clone()).await;
            told = Some(reasons);
        }
        tokio::select! {
            _ = look.tick() => {}
            // A store that ends its reports is one that cannot change.
            Ok(()) = reachable.changed() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { delay: Duration::from_millis(20), window: Duration::from_secs(3) };

    /// Notes the same delay every 50 ms; gives the number of notes after which the answer changed, if it did.
    fn notes(overload: &mut Overload, now: &mut Instant, delay: u64, count: u32) -> Option<u32> {
        let before = overload.overloaded;
        (0..count).find(|_| {
            *now = now.checked_add(LOOK).unwrap();
            overload.note(Duration::from_millis(delay), *now) != before
        })
    }

    #[test]
    fn a_lasting_delay_is_an_overload_and_only_a_lasting_rest_ends_it() {
        let (mut overload, mut now) = (Overload::new(PATIENCE), Instant::now());
        assert_eq!(notes(&mut overload, &mut now, 19, 1000), None);
        let over = notes(&mut overload, &mut now, 40, 1000).expect("overloaded");
        assert!(over >= 60, "three seconds at least: {over}");
        assert_eq!(notes(&mut overload, &mut now, 15, 1000), None, "less than the limit is not yet rest");
        let rest = notes(&mut overload, &mut now, 2, 1000).expect("ready again");
        assert!(rest >= 60, "{rest}");
    }

    #[test]
    fn a_burst_is_no_overload() {
        let (mut overload, mut now) = (Overload::new(PATIENCE), Instant::now());
        for _ in 0..20 {
            assert_eq!(notes(&mut overload, &mut now, 45, 40), None);
            assert_eq!(notes(&mut overload, &mut now, 0, 40), None);
        }
    }

    #[test]
    fn a_queue_that_is_empty_now_and_then_is_still_overloaded() {
        let (mut overload, mut now) = (Overload::new(PATIENCE), Instant::now());
        let mut over = false;
        for _ in 0..100 {
            over |= notes(&mut overload, &mut now, 40, 3).is_some();
            over |= notes(&mut overload, &mut now, 0, 1).is_some();
        }
        assert!(over);
    }

    #[test]
    fn the_clock_standing_still_changes_nothing() {
        let (mut overload, now) = (Overload::new(PATIENCE), Instant::now());
        assert!((0..1000).all(|_| !overload.note(Duration::from_secs(1), now)));
    }
}
