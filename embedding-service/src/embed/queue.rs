//! Which prompt is next, and whether one can be answered in time at all. Plain arithmetic: every call is told what time it
//! is, nothing waits, nothing is measured here.
//!
//! What waits is ordered by its *turn*, the moment at which it is due: [`PATIENCE`] times its own length after it came, or
//! when it has to begin to meet its deadline, if that is earlier. So a short one goes before a long one, which waits for a
//! bounded time only.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// A prompt may be overtaken by shorter ones for so many times its own length.
const PATIENCE: u32 = 2;
/// Longer estimates than this make no turn later.
const LONGEST: Duration = Duration::from_secs(60);
/// Estimates are means, and more may come: of what a prompt needs until its deadline, this part is added: 1/4.
const SPARE: u32 = 4;

/// A prompt that waits for its inference.
#[derive(Clone, Debug)]
pub struct Item<T> {
    pub work: T,
    /// Estimate of how long its inference takes.
    pub takes: Duration,
    /// When the caller stops waiting.
    pub deadline: Option<Instant>,
}

impl<T> Item<T> {
    fn turn(&self, now: Instant) -> Instant {
        let due = now.checked_add(self.takes.min(LONGEST).saturating_mul(PATIENCE)).unwrap_or(now);
        let latest = |deadline: Instant| deadline.checked_sub(with_spare(self.takes)).unwrap_or(now).max(now);
        self.deadline.map(latest).map_or(due, |latest| latest.min(due))
    }
}

/// Why a prompt is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Full,
    TooLate,
}

struct Waiting<T> {
    item: Item<T>,
    since: Instant,
}

/// What waits, and what is in the workers' hands.
pub struct Queue<T> {
    /// By turn, then in the order in which they came.
    waiting: BTreeMap<(Instant, u64), Waiting<T>>,
    came: u64,
    length: usize,
    /// What each worker does: since when, and how long it should take.
    hands: Vec<Option<(Instant, Duration)>>,
}

impl<T> Queue<T> {
    #[must_use]
    pub fn new(workers: usize, length: usize) -> Self {
        Self { waiting: BTreeMap::new(), came: 0, length, hands: vec![None; workers.max(1)] }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a prompt with these estimates could be answered before its deadline if it came now. What would have its
    /// turn first is counted; what may still come is not.
    ///
    /// # Errors
    /// When the queue is full, or the deadline cannot be met.
    pub fn could_take(&self, item: &Item<impl Sized>, now: Instant) -> Result<(), Refused> {
        if self.waiting.len() >= self.length {
            return Err(Refused::Full);
        }
        // Where nothing is in the way it is always taken, so that an estimate gone astray mends itself.
        let free = self.waiting.is_empty() && self.has_free_hands();
        let Some(left) = item.deadline.map(|deadline| deadline.saturating_duration_since(now)) else {
            return Ok(());
        };
        if free {
            return Ok(());
        }
        let in_hand = self.in_hand(now);
        let turn = item.turn(now);
        let before = self.waiting.iter().take_while(|((other, _), _)| *other <= turn);
        let before = before.filter(|(_, w)| w.item.deadline.is_none_or(|deadline| deadline > now));
        let ahead = before.fold(in_hand, |sum, (_, w)| sum.saturating_add(w.item.takes));
        let needs = with_spare(self.shared(ahead).saturating_add(item.takes));
        if needs > left { Err(Refused::TooLate) } else { Ok(()) }
    }

    /// Puts a prompt in the queue, whatever its length: see [`Self::could_take`].
    pub fn push(&mut self, item: Item<T>, now: Instant) {
        self.came = self.came.saturating_add(1);
        self.waiting.insert((item.turn(now), self.came), Waiting { item, since: now });
    }

    /// The prompt whose turn it is, and how long it has waited.
    pub fn pop(&mut self, now: Instant) -> Option<(Item<T>, Duration)> {
        let (_, waiting) = self.waiting.pop_first()?;
        Some((waiting.item, now.saturating_duration_since(waiting.since)))
    }

    /// Takes out those that `why` says something of, with what it says.
    pub fn take_if<W>(&mut self, why: impl Fn(&Item<T>) -> Option<W>) -> Vec<(Item<T>, W)> {
        let taken = self.waiting.iter().filter_map(|(turn, waiting)| Some((*turn, why(&waiting.item)?)));
        let taken: Vec<_> = taken.collect();
        taken.into_iter().filter_map(|(turn, why)| Some((self.waiting.remove(&turn)?.item, why))).collect()
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    #[must_use]
    pub fn has_free_hands(&self) -> bool {
        self.hands.iter().any(Option::is_none)
    }

    /// Worker `number` has begun something of that length, or nothing.
    pub fn in_hands_of(&mut self, number: usize, what: Option<(Instant, Duration)>) {
        if let Some(hand) = self.hands.get_mut(number) {
            *hand = what;
        }
    }

    /// How long a prompt without a deadline that came now would wait if all that waits went first; where that is longer,
    /// how long the first in the queue has waited already.
    #[must_use]
    pub fn delay(&self, now: Instant) -> Duration {
        let all = self.waiting.values().map(|w| w.item.takes);
        let all = all.fold(self.in_hand(now), Duration::saturating_add);
        let waited = self.waiting.values().next().map(|w| now.saturating_duration_since(w.since));
        self.shared(all).max(waited.unwrap_or_default())
    }

    /// What is left of the work in hand.
    fn in_hand(&self, now: Instant) -> Duration {
        let left = |(since, length): &(Instant, Duration)| {
            length.saturating_sub(now.saturating_duration_since(*since))
        };
        self.hands.iter().flatten().map(left).fold(Duration::ZERO, Duration::saturating_add)
    }

    fn shared(&self, work: Duration) -> Duration {
        work.checked_div(u32::try_from(self.hands.len()).unwrap_or(u32::MAX)).unwrap_or(work)
    }
}

fn with_spare(time: Duration) -> Duration {
    time.saturating_add(time.checked_div(SPARE).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn item(work: &'static str, takes: u64, deadline: Option<Instant>) -> Item<&'static str> {
        Item { work, takes: ms(takes), deadline }
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
        // A short one every millisecond, each of which takes as long: without an end to its patience it would never go.
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
        queue.in_hands_of(0, Some((now - ms(4), ms(14))));
        queue.in_hands_of(1, Some((now, ms(10))));
        queue.push(item("a", 4, None), now);
        queue.push(item("b", 40, None), now);
        // Before it: 10 + 10 in hand and the 4 of "a", shared by two; "b" is longer and lets it pass. 12, and its own 10,
        // and a quarter more.
        let ask = |left| queue.could_take(&item("new", 10, Some(now + ms(left))), now);
        assert_eq!(ask(28), Ok(()));
        assert_eq!(ask(27), Err(Refused::TooLate));
        assert_eq!(queue.could_take(&item("patient", 10, None), now), Ok(()));
    }

    #[test]
    fn a_free_worker_takes_what_looks_hopeless() {
        let now = Instant::now();
        let mut queue = Queue::<&str>::new(1, 9);
        let hopeless = item("slow", 100, Some(now + ms(5)));
        assert_eq!(queue.could_take(&hopeless, now), Ok(()));
        queue.in_hands_of(0, Some((now, ms(1))));
        assert_eq!(queue.could_take(&hopeless, now), Err(Refused::TooLate));
        queue.in_hands_of(0, None);
        assert_eq!(queue.could_take(&hopeless, now), Ok(()));
    }

    #[test]
    fn work_whose_deadline_has_passed_is_no_work() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 9);
        queue.in_hands_of(0, Some((now, ms(1))));
        queue.push(item("dead", 30, Some(now + ms(5))), now);
        let now = now + ms(6);
        assert_eq!(queue.could_take(&item("new", 1, Some(now + ms(2))), now), Ok(()));
    }

    #[test]
    fn the_length_is_bounded() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 2);
        queue.push(item("a", 1, None), now);
        assert_eq!(queue.could_take(&item("b", 1, None), now), Ok(()));
        queue.push(item("b", 1, None), now);
        assert_eq!(queue.could_take(&item("c", 1, None), now), Err(Refused::Full));
    }

    #[test]
    fn the_delay_is_the_work_that_waits_or_how_long_it_has_waited() {
        let now = Instant::now();
        let mut queue = Queue::new(2, 9);
        assert_eq!(queue.delay(now), Duration::ZERO);
        queue.in_hands_of(0, Some((now, ms(10))));
        queue.push(item("a", 30, None), now);
        assert_eq!(queue.delay(now), ms(20));
        assert_eq!(queue.delay(now + ms(300)), ms(300), "a worker that hangs does not look idle");
    }

    #[test]
    fn lengths_and_deadlines_beyond_measure_break_nothing() {
        let now = Instant::now();
        let mut queue = Queue::new(1, 9);
        let endless = Item { takes: Duration::MAX, ..item("x", 0, Some(now)) };
        assert_eq!(queue.could_take(&endless, now), Ok(()));
        queue.push(endless.clone(), now);
        assert_eq!(queue.could_take(&endless, now), Err(Refused::TooLate));
        assert!(queue.delay(now) > Duration::ZERO);
        assert_eq!(order(&mut queue, now), ["x"]);
    }
}
