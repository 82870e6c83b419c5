//! Which prompt is next, and whether a prompt can be answered in time at all. Only arithmetic: the caller says what
//! time it is, and nothing here waits or measures.
//!
//! Prompts are ordered by the time at which they are *due*: [`OVERTAKING_LIMIT`] times their own length after they
//! came, or the latest start that still meets their deadline, if that is earlier. So a short prompt goes before a long
//! one, and a long one waits only for a bounded time.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Shorter prompts may overtake a prompt for this many times its own estimate.
const OVERTAKING_LIMIT: u32 = 2;
/// Longer estimates than this make nothing due later.
const LONGEST_ESTIMATE: Duration = Duration::from_secs(60);
/// A quarter is added to the estimated time until an answer, because estimates are means and more prompts may come.
const SAFETY_MARGIN: u32 = 4;

/// A prompt that waits for its inference.
#[derive(Clone, Debug)]
pub struct Item<T> {
    pub work: T,
    /// How long its inference should take.
    pub estimate: Duration,
    /// When the caller stops waiting.
    pub deadline: Option<Instant>,
}

impl<T> Item<T> {
    fn due(&self, now: Instant) -> Instant {
        let due = now
            .checked_add(self.estimate.min(LONGEST_ESTIMATE).saturating_mul(OVERTAKING_LIMIT))
            .unwrap_or(now);
        let latest =
            |deadline: Instant| deadline.checked_sub(with_margin(self.estimate)).unwrap_or(now).max(now);
        self.deadline.map(latest).map_or(due, |latest| latest.min(due))
    }
}

/// Why a prompt is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Full,
    TooLate,
}

struct Waiting<T> {
    item: Item<T>,
    since: Instant,
}

/// What waits, and what the workers do.
pub struct Queue<T> {
    /// By when they are due, then in the order in which they came.
    waiting: BTreeMap<(Instant, u64), Waiting<T>>,
    /// Prompts that have come so far.
    arrivals: u64,
    max_length: usize,
    /// What each worker does: since when, and how long it should take.
    current: Vec<Option<(Instant, Duration)>>,
}

impl<T> Queue<T> {
    #[must_use]
    pub fn new(workers: usize, max_length: usize) -> Self {
        Self { waiting: BTreeMap::new(), arrivals: 0, max_length, current: vec![None; workers.max(1)] }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a prompt with these estimates could be answered before its deadline if it came now. What is due
    /// first is counted; what may still come is not.
    ///
    /// # Errors
    /// When the queue is full, or the deadline cannot be met.
    pub fn check(&self, item: &Item<impl Sized>, now: Instant) -> Result<(), Refusal> {
        if self.waiting.len() >= self.max_length {
            return Err(Refusal::Full);
        }
        // If nothing waits and a worker is idle, every prompt is taken. So an estimate that is much too high gets corrected.
        let idle = self.waiting.is_empty() && self.has_idle_worker();
        let Some(left) = item.deadline.map(|deadline| deadline.saturating_duration_since(now)) else {
            return Ok(());
        };
        if idle {
            return Ok(());
        }
        let begun = self.begun(now);
        let due = item.due(now);
        let before = self.waiting.iter().take_while(|((other, _), _)| *other <= due);
        let before = before.filter(|(_, w)| w.item.deadline.is_none_or(|deadline| deadline > now));
        let ahead = before.fold(begun, |sum, (_, w)| sum.saturating_add(w.item.estimate));
        let needs = with_margin(self.per_worker(ahead).saturating_add(item.estimate));
        if needs > left { Err(Refusal::TooLate) } else { Ok(()) }
    }

    /// Puts a prompt in the queue, whatever its length: see [`Self::check`].
    pub fn push(&mut self, item: Item<T>, now: Instant) {
        self.arrivals = self.arrivals.saturating_add(1);
        self.waiting.insert((item.due(now), self.arrivals), Waiting { item, since: now });
    }

    /// The prompt that is due first, and how long it has waited.
    pub fn pop(&mut self, now: Instant) -> Option<(Item<T>, Duration)> {
        let (_, waiting) = self.waiting.pop_first()?;
        Some((waiting.item, now.saturating_duration_since(waiting.since)))
    }

    /// Takes out the prompts for which `why` returns something, with what it returns.
    pub fn take_if<W>(&mut self, why: impl Fn(&Item<T>) -> Option<W>) -> Vec<(Item<T>, W)> {
        let taken = self.waiting.iter().filter_map(|(place, waiting)| Some((*place, why(&waiting.item)?)));
        let taken: Vec<_> = taken.collect();
        taken.into_iter().filter_map(|(place, why)| Some((self.waiting.remove(&place)?.item, why))).collect()
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    #[must_use]
    pub fn has_idle_worker(&self) -> bool {
        self.current.iter().any(Option::is_none)
    }

    /// Worker `number` has begun something of that length, or nothing.
    pub fn set_current(&mut self, number: usize, work: Option<(Instant, Duration)>) {
        if let Some(current) = self.current.get_mut(number) {
            *current = work;
        }
    }

    /// How long a prompt without a deadline that came now would wait if all waiting prompts went first; or how long the first one in the queue
    /// has waited already, if that is longer.
    #[must_use]
    pub fn delay(&self, now: Instant) -> Duration {
        let all = self.waiting.values().map(|w| w.item.estimate);
        let all = all.fold(self.begun(now), Duration::saturating_add);
        let waited = self.waiting.values().next().map(|w| now.saturating_duration_since(w.since));
        self.per_worker(all).max(waited.unwrap_or_default())
    }

    /// What is left of what the workers have begun.
    fn begun(&self, now: Instant) -> Duration {
        let left = |(since, length): &(Instant, Duration)| {
            length.saturating_sub(now.saturating_duration_since(*since))
        };
        self.current.iter().flatten().map(left).fold(Duration::ZERO, Duration::saturating_add)
    }

    fn per_worker(&self, work: Duration) -> Duration {
        work.checked_div(u32::try_from(self.current.len()).unwrap_or(u32::MAX)).unwrap_or(work)
    }
}

fn with_margin(time: Duration) -> Duration {
    time.saturating_add(time.checked_div(SAFETY_MARGIN).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn item(work: &'static str, estimate: u64, deadline: Option<Instant>) -> Item<&'static str> {
        Item { work, estimate: ms(estimate), deadline }
    }

    fn order(queue: &mut Queue<&'static str>, now: Instant) -> Vec<&'static str> {
        std::iter::from_fn(|| Some(queue.pop(now)?.0.work)).collect()
    }

    #[test]
    fn the_short_ones_go_first_and_equals_in_the_order_in_which_they_came() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 9);
        for (name, length) in [("long", 20), ("a", 2), ("b", 2), ("middle", 6)] {
            queue.push(item(name, length, None), now);
        }
        assert_eq!(order(&mut queue, now), ["a", "b", "middle", "long"]);
    }

    #[test]
    fn a_long_one_is_overtaken_for_a_bounded_time_only() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 1000);
        queue.push(item("long", 20, None), now);
        // A short prompt comes every millisecond and takes a millisecond. Without the limit the long one would never get its turn.
        let mut before = 0;
        for i in 1..1000 {
            let now = now + ms(i);
            queue.push(item("short", 1, None), now);
            if queue.pop(now).unwrap().0.work == "long" {
                break;
            }
            before += 1;
        }
        assert_eq!(before, 37, "twice its own length, less that of a short one");
    }

    #[test]
    fn one_that_has_to_begin_now_goes_before_a_shorter_one_that_has_time() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 9);
        queue.push(item("short", 5, Some(now + ms(50))), now);
        queue.push(item("pressed", 20, Some(now + ms(25))), now);
        assert_eq!(order(&mut queue, now), ["pressed", "short"]);
    }

    #[test]
    fn what_cannot_be_done_in_time_is_refused_by_the_work_before_it() {
        let now = Instant::now();
        let mut queue = Queue::new(2, 9);
        queue.set_current(0, Some((now - ms(4), ms(14))));
        queue.set_current(1, Some((now, ms(10))));
        queue.push(item("a", 4, None), now);
        queue.push(item("b", 40, None), now);
        // Before it: 10 + 10 begun and the 4 of "a", shared by two; "b" is longer and lets it pass. 12, and its own 10,
        // and a quarter more.
        let ask = |left| queue.check(&item("new", 10, Some(now + ms(left))), now);
        assert_eq!(ask(28), Ok(()));
        assert_eq!(ask(27), Err(Refusal::TooLate));
        assert_eq!(queue.check(&item("patient", 10, None), now), Ok(()));
    }

    #[test]
    fn a_free_worker_takes_what_looks_hopeless() {
        let now = Instant::now();
        let mut queue = Queue::<&str>::new(1, 9);
        let hopeless = item("slow", 100, Some(now + ms(5)));
        assert_eq!(queue.check(&hopeless, now), Ok(()));
        queue.set_current(0, Some((now, ms(1))));
        assert_eq!(queue.check(&hopeless, now), Err(Refusal::TooLate));
        queue.set_current(0, None);
        assert_eq!(queue.check(&hopeless, now), Ok(()));
    }

    #[test]
    fn work_whose_deadline_has_passed_is_no_work() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 9);
        queue.set_current(0, Some((now, ms(1))));
        queue.push(item("dead", 30, Some(now + ms(5))), now);
        let now = now + ms(6);
        assert_eq!(queue.check(&item("new", 1, Some(now + ms(2))), now), Ok(()));
    }

    #[test]
    fn the_length_is_bounded() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 2);
        queue.push(item("a", 1, None), now);
        assert_eq!(queue.check(&item("b", 1, None), now), Ok(()));
        queue.push(item("b", 1, None), now);
        assert_eq!(queue.check(&item("c", 1, None), now), Err(Refusal::Full));
    }

    #[test]
    fn the_delay_is_the_work_that_waits_or_how_long_it_has_waited() {
        let now = Instant::now();
        let mut queue = Queue::new(2, 9);
        assert_eq!(queue.delay(now), Duration::ZERO);
        queue.set_current(0, Some((now, ms(10))));
        queue.push(item("a", 30, None), now);
        assert_eq!(queue.delay(now), ms(20));
        assert_eq!(queue.delay(now + ms(300)), ms(300), "a worker that hangs does not look idle");
    }

    #[test]
    fn lengths_and_deadlines_beyond_measure_break_nothing() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 9);
        let endless = Item { estimate: Duration::MAX, ..item("x", 0, Some(now)) };
        assert_eq!(queue.check(&endless, now), Ok(()));
        queue.push(endless.clone(), now);
        assert_eq!(queue.check(&endless, now), Err(Refusal::TooLate));
        assert!(queue.delay(now) > Duration::ZERO);
        assert_eq!(order(&mut queue, now), ["x"]);
    }
}
