//! Single flight in this process: requests under way, for whose answers other requests with the same text wait. Holds only times and keys.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{EntryId, Partition};

/// At most this many answers are waited for at once. Requests beyond them do not wait.
const MOST: usize = 10_000;

type Key = (Partition, EntryId);

/// What is under way.
#[derive(Default)]
pub struct Flights(Mutex<HashMap<Key, Flight>>);

struct Flight {
    /// Nobody waits beyond this time. A request that comes later asks the provider itself, and others then wait for it.
    until: Instant,
    /// Dropped when there is nothing to wait for any more.
    landing: watch::Sender<()>,
    number: Weak<()>,
}

/// What a request that found no answer has to do.
pub enum Joined {
    /// Ask the provider; others may wait for it.
    Leader(Lead),
    /// Wait for another request's answer.
    Follower(Wait),
}

/// The first request with its text. If it is dropped without [`Lead::goes_on`], those that wait for it are released.
pub struct Lead {
    flights: Arc<Flights>,
    key: Key,
    number: Option<Arc<()>>,
}

/// Ends when there is nothing to wait for any more.
pub struct Wait {
    landing: watch::Receiver<()>,
    until: Instant,
}

impl Flights {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first request with its text becomes the leader. The others wait for it, at most for `wait`.
    #[must_use]
    pub fn join(self: &Arc<Self>, key: Key, wait: Duration) -> Joined {
        let now = Instant::now();
        let until = now.checked_add(wait).unwrap_or(now);
        let mut flights = self.lock();
        if let Some(flight) = flights.get(&key).filter(|flight| flight.until > now) {
            return Joined::Follower(Wait {
                landing: flight.landing.subscribe(),
                until: until.min(flight.until),
            });
        }
        if flights.len() >= MOST {
            flights.retain(|_, flight| flight.until > now);
        }
        let number = Arc::new(());
        if flights.len() < MOST {
            let landing = watch::Sender::new(());
            flights.insert(key, Flight { until, landing, number: Arc::downgrade(&number) });
        }
        Joined::Leader(Lead { flights: Arc::clone(self), key, number: Some(number) })
    }

    /// There is nothing to wait for any more: the answer is stored, or will not be.
    pub fn land(&self, key: Key) {
        self.lock().remove(&key);
    }
}

impl Lead {
    /// The request goes on to the provider: its answer is to be waited for.
    pub fn goes_on(mut self) {
        self.number = None;
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let Some(number) = &self.number else { return };
        let mut flights = self.flights.lock();
        // By now another request may be the leader of this key.
        let is_ours = |flight: &Flight| std::ptr::eq(flight.number.as_ptr(), Arc::as_ptr(number));
        if flights.get(&self.key).is_some_and(is_ours) {
            flights.remove(&self.key);
        }
    }
}

impl Wait {
    /// Waits, never beyond `deadline`.
    pub async fn landed(mut self, deadline: Option<Instant>) {
        let until = deadline.map_or(self.until, |deadline| deadline.min(self.until));
        // Nothing is ever sent. `changed` returns an error once the sender is dropped.
        let _ = tokio::time::timeout_at(until.into(), self.landing.changed()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn key(text: &str) -> Key {
        (Partition([0; 16]), EntryId::of(text))
    }

    fn lead(flights: &Arc<Flights>, text: &str, wait: Duration) -> Lead {
        match flights.join(key(text), wait) {
            Joined::Leader(lead) => lead,
            Joined::Follower(_) => panic!("somebody leads already"),
        }
    }

    fn follow(flights: &Arc<Flights>, text: &str) -> Wait {
        match flights.join(key(text), LONG) {
            Joined::Follower(wait) => wait,
            Joined::Leader(_) => panic!("nobody leads"),
        }
    }

    #[tokio::test]
    async fn followers_wait_until_the_answer_is_stored() {
        let flights = Arc::new(Flights::default());
        lead(&flights, "x", LONG).goes_on();
        let (one, two) = (follow(&flights, "x"), follow(&flights, "x"));
        let _other = lead(&flights, "y", LONG);
        let waiting = tokio::spawn(async move { tokio::join!(one.landed(None), two.landed(None)) });
        flights.land(key("x"));
        waiting.await.unwrap();
        lead(&flights, "x", LONG).goes_on();
    }

    #[tokio::test]
    async fn a_leader_that_does_not_go_on_is_not_waited_for() {
        let flights = Arc::new(Flights::default());
        let first = lead(&flights, "x", LONG);
        let wait = follow(&flights, "x");
        drop(first);
        wait.landed(None).await;
        assert!(flights.lock().is_empty());
    }

    #[tokio::test]
    async fn nobody_waits_beyond_the_time_and_the_next_one_leads() {
        let flights = Arc::new(Flights::default());
        let late = lead(&flights, "x", Duration::ZERO);
        let second = lead(&flights, "x", LONG);
        drop(late);
        let wait = follow(&flights, "x");
        wait.landed(Some(Instant::now())).await;
        drop(second);
        assert!(flights.lock().is_empty());
    }

    #[test]
    fn their_number_is_bounded() {
        let flights = Arc::new(Flights::default());
        for i in 0..MOST + 5 {
            lead(&flights, &i.to_string(), LONG).goes_on();
        }
        assert_eq!(flights.lock().len(), MOST);
        for i in 0..MOST {
            flights.land(key(&i.to_string()));
        }
        assert!(flights.lock().is_empty());
    }
}
