//! Counts how often MCP clients made each call lately, for a few scopes and a few calls of each. If there is no room, the entry
//! whose last call is the oldest is forgotten. Where the counts are stored is not known here.

use serde::{Deserialize, Serialize};

const SCOPES: usize = 4;
const CALLS: usize = 16;

/// How often the clients of a few scopes made their calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CallRates {
    scopes: Vec<Account>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Account {
    scope: u64,
    touched: u64,
    calls: Vec<Rate>,
}

/// Calls in the current stretch of time and in the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Rate {
    call: u64,
    /// When it was made last (milliseconds since 1970).
    touched: u64,
    /// When the current stretch began (milliseconds since 1970).
    started: u64,
    current: u32,
    previous: u32,
}

impl CallRates {
    /// Notes a call and returns how often it was made in the last `window` milliseconds, this time included. Calls of the current
    /// stretch are counted exactly. Those of the stretch before count by the share of it that still lies in the window.
    pub fn count(&mut self, scope: u64, call: u64, now: u64, window: u64) -> u32 {
        let known = self.scopes.iter().position(|account| account.scope == scope);
        let mut account = match known {
            Some(at) => self.scopes.swap_remove(at),
            None => Account { scope, touched: now, calls: Vec::new() },
        };
        let known = account.calls.iter().position(|rate| rate.call == call);
        let mut rate = match known {
            Some(at) => account.calls.swap_remove(at),
            None => Rate { call, touched: now, started: now, current: 0, previous: 0 },
        };
        let count = rate.count(now, window);
        rate.touched = now;
        account.touched = now;
        push(&mut account.calls, rate, CALLS, |rate| rate.touched);
        push(&mut self.scopes, account, SCOPES, |account| account.touched);
        count
    }
}

/// Adds an element to a list that has room for `room` elements. If the list is full, the element replaces the oldest one.
fn push<T>(list: &mut Vec<T>, element: T, room: usize, age: impl Fn(&T) -> u64) {
    if list.len() >= room
        && let Some((oldest, _)) = (0_usize..).zip(list.iter()).min_by_key(|(_, element)| age(element))
    {
        list.swap_remove(oldest);
    }
    list.push(element);
}

impl Rate {
    fn count(&mut self, now: u64, window: u64) -> u32 {
        let window = window.max(1);
        let stretches = now.saturating_sub(self.started).checked_div(window).unwrap_or(0);
        if stretches > 0 {
            self.previous = if stretches == 1 { self.current } else { 0 };
            self.current = 0;
            self.started = self.started.saturating_add(stretches.saturating_mul(window));
        }
        self.current = self.current.saturating_add(1);
        let left = window.saturating_sub(now.saturating_sub(self.started));
        let of_previous = u64::from(self.previous).saturating_mul(left).checked_div(window).unwrap_or(0);
        self.current.saturating_add(u32::try_from(of_previous).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    #[test]
    fn calls_are_counted_apart_and_forgotten_after_a_while() {
        let mut rates = CallRates::default();
        let counts: Vec<_> = (0..5).map(|n| rates.count(1, 7, n, MINUTE)).collect();
        assert_eq!(counts, [1, 2, 3, 4, 5]);
        assert_eq!(rates.count(1, 8, 5, MINUTE), 1);
        assert_eq!(rates.count(2, 7, 5, MINUTE), 1);
        assert_eq!(rates.count(1, 7, 3 * MINUTE, MINUTE), 1);
    }

    #[test]
    fn a_loop_is_kept_while_other_calls_come_and_go() {
        let mut rates = CallRates::default();
        let counts: Vec<_> = (0..100)
            .map(|n| {
                rates.count(1, 1_000 + n, n, MINUTE);
                rates.count(1, 7, n, MINUTE)
            })
            .collect();
        assert_eq!(counts, (1..=100).collect::<Vec<_>>());
    }

    #[test]
    fn the_window_slides() {
        let mut rates = CallRates::default();
        (0..20).for_each(|_| {
            rates.count(1, 7, 0, MINUTE);
        });
        assert_eq!(rates.count(1, 7, MINUTE, MINUTE), 21);
        assert_eq!(rates.count(1, 7, MINUTE + MINUTE / 2, MINUTE), 12);
    }
}
