//! The place of an account in the list of all: first those that have spent the largest part of a limit; of equal ones, those that asked last.

use std::{cmp::Reverse, fmt, str::FromStr};

use super::AccountView;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPlace {
    /// The bits of the share. Bits of floats that are not negative have the same order as the numbers.
    share: Reverse<u64>,
    last_asked_ms: Reverse<u64>,
    /// Of the account.
    id: String,
}

impl ListPlace {
    pub fn of(view: &AccountView, id: &str) -> Self {
        Self {
            share: Reverse(view.share.max(0.0).to_bits()),
            last_asked_ms: Reverse(view.last_asked_ms),
            id: id.to_owned(),
        }
    }
}

/// As a cursor.
impl fmt::Display for ListPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { share: Reverse(share), last_asked_ms: Reverse(asked), id } = self;
        write!(f, "{share:x}-{asked}-{id}")
    }
}

impl FromStr for ListPlace {
    type Err = ();

    fn from_str(cursor: &str) -> Result<Self, ()> {
        let mut parts = cursor.splitn(3, '-');
        let mut part = || parts.next().ok_or(());
        let share = u64::from_str_radix(part()?, 16).map_err(|_| ())?;
        let asked = part()?.parse().map_err(|_| ())?;
        Ok(Self { share: Reverse(share), last_asked_ms: Reverse(asked), id: part()?.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_garbage_is_none() {
        let view = |share, last_asked_ms| {
            let json = serde_json::json!({
                "budget": "b", "per": "run", "tenant": "", "client": "", "agent": "", "run": "", "history": "",
                "limits": {}, "spent": super::super::Amounts::default(), "spent_usd": 0.0,
                "held": super::super::Amounts::default(), "share": share, "state": "fine", "started_ms": 0,
                "last_asked_ms": last_asked_ms, "renews_ms": null
            });
            serde_json::from_value::<AccountView>(json).unwrap()
        };
        let places = [(2.5, 1), (1.0, 9), (1.0, 8), (0.0, 9)]
            .map(|(share, at)| ListPlace::of(&view(share, at), "a-1"));
        assert!(places.is_sorted(), "{places:?}");
        for place in places {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for garbage in ["", "-", "1-2", "x-1-a", "1-x-a", "-1-1-a", "99999999999999999-1-a"] {
            assert_eq!(garbage.parse::<ListPlace>(), Err(()), "{garbage}");
        }
    }
}
