//! How often each call was made lately, laid out in shared data like the windows: a fixed number of slots, a few
//! scopes in each, a few calls of each scope; where there is no room, what was silent longest goes.

use crate::bytes::Cursor;

/// Layout of the bytes; raise it with every change.
const VERSION: u8 = 2;
const SCOPES: usize = 4;
const CALLS: usize = 16;

/// The scopes of one slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    scopes: Vec<Account>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Account {
    scope: u64,
    touched: u64,
    calls: Vec<Rate>,
}

/// Calls in the current stretch of time and in the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rate {
    call: u64,
    /// When it was made last (milliseconds since 1970).
    touched: u64,
    /// When the current stretch began (milliseconds since 1970).
    started: u64,
    current: u32,
    previous: u32,
}

impl Ledger {
    /// Name of the slot that holds `scope`.
    pub fn key(scope: u64, buckets: u32) -> String {
        format!("sentinel/mcp/{}", scope.checked_rem(u64::from(buckets)).unwrap_or(0))
    }

    /// Notes a call and says how often it was made in the last `window` milliseconds, this time included: exact within
    /// a stretch, and beyond it estimated from the share of the stretch before that still lies in the window.
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

    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION, u8::try_from(self.scopes.len()).unwrap_or(0)];
        for Account { scope, touched, calls } in &self.scopes {
            out.extend_from_slice(&scope.to_le_bytes());
            out.extend_from_slice(&touched.to_le_bytes());
            out.push(u8::try_from(calls.len()).unwrap_or(0));
            for Rate { call, touched, started, current, previous } in calls {
                out.extend_from_slice(&call.to_le_bytes());
                out.extend_from_slice(&touched.to_le_bytes());
                out.extend_from_slice(&started.to_le_bytes());
                out.extend_from_slice(&current.to_le_bytes());
                out.extend_from_slice(&previous.to_le_bytes());
            }
        }
        out
    }

    /// The accounts in `bytes`; none where they are of another version or damaged.
    pub fn decode(bytes: &[u8]) -> Self {
        decode(&mut Cursor(bytes)).unwrap_or_default()
    }
}

/// Puts an element into a list that has room for `room`, in the place of the oldest where it is full.
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

fn decode(cursor: &mut Cursor<'_>) -> Option<Ledger> {
    if cursor.u8()? != VERSION {
        return None;
    }
    let scopes = usize::from(cursor.u8()?).min(SCOPES);
    let scopes = (0..scopes).map(|_| decode_account(cursor)).collect::<Option<_>>()?;
    Some(Ledger { scopes })
}

fn decode_account(cursor: &mut Cursor<'_>) -> Option<Account> {
    let (scope, touched) = (cursor.u64()?, cursor.u64()?);
    let calls = usize::from(cursor.u8()?).min(CALLS);
    let rate = |_| {
        Some(Rate {
            call: cursor.u64()?,
            touched: cursor.u64()?,
            started: cursor.u64()?,
            current: cursor.u32()?,
            previous: cursor.u32()?,
        })
    };
    let calls = (0..calls).map(rate).collect::<Option<_>>()?;
    Some(Account { scope, touched, calls })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    #[test]
    fn calls_are_counted_apart_and_forgotten_after_a_while() {
        let mut ledger = Ledger::default();
        let counts: Vec<_> = (0..5).map(|n| ledger.count(1, 7, n, MINUTE)).collect();
        assert_eq!(counts, [1, 2, 3, 4, 5]);
        assert_eq!(ledger.count(1, 8, 5, MINUTE), 1);
        assert_eq!(ledger.count(2, 7, 5, MINUTE), 1);
        assert_eq!(ledger.count(1, 7, 3 * MINUTE, MINUTE), 1);
    }

    #[test]
    fn a_loop_is_kept_while_other_calls_come_and_go() {
        let mut ledger = Ledger::default();
        let counts: Vec<_> = (0..100)
            .map(|n| {
                ledger.count(1, 1_000 + n, n, MINUTE);
                ledger.count(1, 7, n, MINUTE)
            })
            .collect();
        assert_eq!(counts, (1..=100).collect::<Vec<_>>());
    }

    #[test]
    fn the_window_slides() {
        let mut ledger = Ledger::default();
        (0..20).for_each(|_| {
            ledger.count(1, 7, 0, MINUTE);
        });
        assert_eq!(ledger.count(1, 7, MINUTE, MINUTE), 21);
        assert_eq!(ledger.count(1, 7, MINUTE + MINUTE / 2, MINUTE), 12);
    }

    #[test]
    fn what_is_written_reads_back_and_stays_small() {
        let mut ledger = Ledger::default();
        for n in 0..1_000 {
            ledger.count(n % 9, n % 31, n, MINUTE);
        }
        let bytes = ledger.encode();
        assert!(bytes.len() < 2_048);
        assert_eq!(Ledger::decode(&bytes), ledger);
        for len in 0..bytes.len() {
            assert_eq!(Ledger::decode(&bytes[..len]), Ledger::default());
        }
    }
}
