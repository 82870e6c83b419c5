//! Whether callers should be sent to this service, for `/readyz` and gRPC health: the store can be reached, prompts do
//! not wait too long, and the service is not stopping. A lost socket counts for `/readyz` only: a client that asks over
//! gRPC is connected, and still gets answers.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use strum::VariantArray as _;
use tokio::{sync::watch, time::MissedTickBehavior};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{
    embed::pool::Pool,
    metrics::{LabelValue as _, Metrics, NotReady},
};

/// How often the delay is measured.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How much of each measurement goes into the running mean: 1/8. Single measurements say little, because even a queue near its limit is
/// empty now and then.
const SMOOTHING: u32 = 8;

/// When prompts wait too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverloadLimits {
    /// Longest that a prompt should wait for a worker, on average.
    pub delay: Duration,
    /// The delay must stay above the limit for this long before the service says that it is not ready, and below half of the limit for as
    /// long before it says that it is ready again.
    pub sustained: Duration,
}

/// Tells a lasting overload from a moment's.
#[derive(Debug)]
pub struct Overload {
    limits: OverloadLimits,
    mean: Duration,
    overloaded: bool,
    /// Since when the mean has been on the other side of its limit.
    since: Option<Instant>,
}

impl Overload {
    #[must_use]
    pub fn new(limits: OverloadLimits) -> Self {
        Self { limits, mean: Duration::ZERO, overloaded: false, since: None }
    }

    /// Takes how long a prompt that comes now would wait; gives whether the service is overloaded.
    pub fn observe(&mut self, delay: Duration, now: Instant) -> bool {
        let part = |time: Duration| time.checked_div(SMOOTHING).unwrap_or_default();
        self.mean = self.mean.saturating_sub(part(self.mean)).saturating_add(part(delay));
        let changed = if self.overloaded {
            self.mean < self.limits.delay.checked_div(2).unwrap_or_default()
        } else {
            self.mean > self.limits.delay
        };
        if !changed {
            self.since = None;
        } else if now.saturating_duration_since(*self.since.get_or_insert(now)) >= self.limits.sustained {
            self.overloaded = !self.overloaded;
            self.since = None;
        }
        self.overloaded
    }
}

/// Reasons not to be ready; none means ready.
pub type Reasons = Vec<NotReady>;

/// Reports readiness: to gRPC health, to `/readyz`, to the metrics and the log.
pub struct Reporter {
    pub health: HealthReporter,
    pub reasons: watch::Sender<Reasons>,
    pub metrics: Arc<Metrics>,
}

impl Reporter {
    pub async fn report(&self, reasons: Reasons) {
        if *self.reasons.borrow() != reasons {
            let texts: Vec<_> = reasons.iter().map(|reason| reason.text()).collect();
            match texts.as_slice() {
                [] => tracing::info!("ready again"),
                _ => tracing::warn!(reasons = texts.join(" "), "not ready"),
            }
        }
        for reason in NotReady::VARIANTS {
            self.metrics.not_ready(*reason, reasons.contains(reason));
        }
        let answers = reasons.iter().all(|reason| *reason == NotReady::SocketLost);
        let status = if answers { ServingStatus::Serving } else { ServingStatus::NotServing };
        self.reasons.send_replace(reasons);
        self.health.set_service_status("", status).await;
        self.health.set_service_status(sentinel_proto::SERVICE, status).await;
    }
}

/// Watches the store, the queue and the socket, for as long as the server runs.
pub async fn watch(
    reporter: Arc<Reporter>,
    mut reachable: watch::Receiver<bool>,
    pool: Arc<Pool>,
    socket_lost: watch::Receiver<bool>,
    limits: OverloadLimits,
) {
    let mut overload = Overload::new(limits);
    let mut poll = tokio::time::interval(POLL_INTERVAL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut reported = None;
    loop {
        let up = *reachable.borrow_and_update();
        let overloaded = overload.observe(pool.delay(), Instant::now());
        let mut reasons = Reasons::new();
        reasons.extend((!up).then_some(NotReady::StoreDown));
        reasons.extend(overloaded.then_some(NotReady::Overloaded));
        reasons.extend(socket_lost.borrow().then_some(NotReady::SocketLost));
        if reported.as_ref() != Some(&reasons) {
            reporter.metrics.store_up(up);
            reporter.report(reasons.clone()).await;
            reported = Some(reasons);
        }
        tokio::select! {
            _ = poll.tick() => {}
            // A store that sends no more reports cannot change, so this branch is then never taken.
            Ok(()) = reachable.changed() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: OverloadLimits =
        OverloadLimits { delay: Duration::from_millis(20), sustained: Duration::from_secs(3) };

    /// Observes the same delay every 50 ms; gives after how many times the answer changed, if it did.
    fn observed(overload: &mut Overload, now: &mut Instant, delay: u64, count: u32) -> Option<u32> {
        let before = overload.overloaded;
        (0..count).find(|_| {
            *now = now.checked_add(POLL_INTERVAL).unwrap();
            overload.observe(Duration::from_millis(delay), *now) != before
        })
    }

    #[test]
    fn a_lasting_delay_is_an_overload_and_only_a_lasting_rest_ends_it() {
        let (mut overload, mut now) = (Overload::new(LIMITS), Instant::now());
        assert_eq!(observed(&mut overload, &mut now, 19, 1000), None);
        let over = observed(&mut overload, &mut now, 40, 1000).expect("overloaded");
        assert!(over >= 60, "three seconds at least: {over}");
        assert_eq!(observed(&mut overload, &mut now, 15, 1000), None, "less than the limit is not yet rest");
        let rest = observed(&mut overload, &mut now, 2, 1000).expect("ready again");
        assert!(rest >= 60, "{rest}");
    }

    #[test]
    fn a_burst_is_no_overload() {
        let (mut overload, mut now) = (Overload::new(LIMITS), Instant::now());
        for _ in 0..20 {
            assert_eq!(observed(&mut overload, &mut now, 45, 40), None);
            assert_eq!(observed(&mut overload, &mut now, 0, 40), None);
        }
    }

    #[test]
    fn a_queue_that_is_empty_now_and_then_is_still_overloaded() {
        let (mut overload, mut now) = (Overload::new(LIMITS), Instant::now());
        let mut over = false;
        for _ in 0..100 {
            over |= observed(&mut overload, &mut now, 40, 3).is_some();
            over |= observed(&mut overload, &mut now, 0, 1).is_some();
        }
        assert!(over);
    }

    #[test]
    fn the_clock_standing_still_changes_nothing() {
        let (mut overload, now) = (Overload::new(LIMITS), Instant::now());
        assert!((0..1000).all(|_| !overload.observe(Duration::from_secs(1), now)));
    }
}
