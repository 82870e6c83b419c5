//! The turns of a worker that wait for their report, up to a limit. Each is reported when it ends, and once before if it takes long.

use std::{collections::VecDeque, mem};

use crate::turn::Turn;

/// Turns that may wait, and their bytes.
const MOST_TURNS: usize = 4_096;
const MOST_BYTES: usize = 1 << 20;
/// Most bytes of tool results for the second opinion that may wait, which is about as many a second. More are left out and counted.
const MOST_OF_RESULTS: usize = 64 << 10;

/// Turns that wait for their report.
#[derive(Debug, Default)]
pub(super) struct Reports {
    pub waiting: VecDeque<Turn>,
    pub bytes: usize,
    /// Of these bytes, those of tool results.
    pub results: usize,
    /// How many of the first turns were sent before. These do not change any more.
    pub fixed: usize,
    /// How many are in the report that is under way.
    pub under_way: Option<usize>,
    pub dropped: u64,
    /// How many dropped turns the report under way tells.
    pub told: u64,
    pub last: u64,
    /// When the next report leaves.
    pub due: u64,
    pub wants_configuration: bool,
    pub unknown: u64,
}

impl Reports {
    /// Adds a turn and returns its number; 0 if there is no room for it.
    pub fn add(&mut self, mut turn: Turn) -> u64 {
        let begun = turn.number;
        let waiting = self.waiting.binary_search_by_key(&begun, |turn| turn.number);
        if let Ok(at) = waiting.map(|at| at.max(self.fixed))
            && let Some(known) = self.waiting.get_mut(at).filter(|known| known.number == begun)
        {
            // It holds all results that were new.
            turn.results = mem::take(&mut known.results);
            turn.more_results = known.more_results;
            let before = known.size().saturating_add(turn.bytes_of_results());
            self.bytes = self.bytes.saturating_sub(before).saturating_add(turn.size());
            *known = turn;
            return begun;
        }
        if self.results.saturating_add(turn.bytes_of_results()) > MOST_OF_RESULTS {
            turn.leave_out_results();
        }
        let size = turn.size();
        if self.waiting.len() >= MOST_TURNS || self.bytes.saturating_add(size) > MOST_BYTES {
            self.dropped = self.dropped.saturating_add(1);
            return 0;
        }
        self.bytes = self.bytes.saturating_add(size);
        self.results = self.results.saturating_add(turn.bytes_of_results());
        self.last = self.last.saturating_add(1);
        (turn.number, turn.begun) = (self.last, begun);
        self.waiting.push_back(turn);
        self.last
    }

    /// The report under way has its reply.
    pub fn taken(&mut self) {
        let count = self.under_way.take().unwrap_or(0);
        let gone = self.waiting.drain(..count.min(self.waiting.len()));
        for turn in gone {
            self.bytes = self.bytes.saturating_sub(turn.size());
            self.results = self.results.saturating_sub(turn.bytes_of_results());
        }
        self.fixed = 0;
        self.dropped = self.dropped.saturating_sub(mem::take(&mut self.told));
        self.unknown = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: u64) -> Turn {
        Turn { number, ..Turn::default() }
    }

    fn numbers(reports: &Reports) -> Vec<(u64, u64, bool)> {
        reports.waiting.iter().map(|turn| (turn.number, turn.begun, turn.is_under_way)).collect()
    }

    #[test]
    fn a_turn_that_ends_before_its_report_leaves_comes_once_and_later_a_second_time() {
        let mut reports = Reports::default();
        let under_way = || Turn { is_under_way: true, ..turn(0) };
        assert_eq!((reports.add(under_way()), reports.add(under_way())), (1, 2));
        assert_eq!(reports.add(turn(1)), 1);
        assert_eq!(numbers(&reports), [(1, 0, false), (2, 0, true)]);
        (reports.fixed, reports.under_way) = (2, Some(2));
        // The second was sent as it was.
        assert_eq!(reports.add(turn(2)), 3);
        assert_eq!(numbers(&reports), [(1, 0, false), (2, 0, true), (3, 2, false)]);
        reports.taken();
        assert_eq!(numbers(&reports), [(3, 2, false)]);
    }

    #[test]
    fn no_more_turns_wait_than_there_is_room_for() {
        let mut reports = Reports::default();
        for _ in 0..MOST_TURNS {
            assert_ne!(reports.add(turn(0)), 0);
        }
        assert_eq!((reports.add(turn(0)), reports.dropped), (0, 1));
        let long = || Turn { model: "m".repeat(MOST_BYTES / 3), ..turn(0) };
        let mut reports = Reports::default();
        assert_eq!([(); 4].map(|()| reports.add(long())), [1, 2, 0, 0]);
        (reports.fixed, reports.under_way, reports.told) = (2, Some(2), 2);
        reports.taken();
        assert_eq!((reports.bytes, reports.dropped, reports.add(long())), (0, 0, 3));
    }

    #[test]
    fn no_more_tool_results_wait_than_there_is_room_for_and_none_is_told_twice() {
        let of = |bytes: usize| Turn { results: vec!["r".repeat(bytes)], is_under_way: true, ..turn(0) };
        let mut reports = Reports::default();
        assert_eq!([(); 3].map(|()| reports.add(of(MOST_OF_RESULTS / 2))), [1, 2, 3]);
        let told = |reports: &Reports| -> Vec<(usize, u32)> {
            reports.waiting.iter().map(|turn| (turn.bytes_of_results(), turn.more_results)).collect()
        };
        let half = MOST_OF_RESULTS / 2;
        assert_eq!(told(&reports), [(half, 0), (half, 0), (0, 1)]);
        // One ends before its report is sent, so it keeps what it began with.
        assert_eq!(reports.add(turn(1)), 1);
        assert_eq!(told(&reports), [(half, 0), (half, 0), (0, 1)]);
        let sizes = reports.waiting.iter().map(Turn::size).sum::<usize>();
        assert_eq!((reports.bytes, reports.results), (sizes, MOST_OF_RESULTS));
        (reports.fixed, reports.under_way) = (3, Some(3));
        reports.taken();
        assert_eq!((reports.bytes, reports.results), (0, 0));
        assert_eq!(reports.add(of(half)), 4);
        assert_eq!(told(&reports), [(half, 0)]);
    }
}
