//! Which entry lies in which partition. The partitions that are asked come first: 100 of 10, nine of 1,000, one of 100,000. What fills
//! the store further, by tens of thousands in turn, lies in others of these sizes.

use std::ops::Range;

use embedding_service::cache::Partition;

/// The partitions that are asked, by their size: which entries lie in partitions of it.
pub const ASKED: [(usize, Range<usize>); 3] =
    [(10, 0..1_000), (1_000, 1_000..10_000), (100_000, 10_000..110_000)];
const BLOCK: usize = 10_000;
/// Numbers of the partitions that are not asked begin here.
const FURTHER: usize = 1_000_000;

/// The sizes whose partitions have entries once `stored` entries are stored, each with these entries.
pub fn asked(stored: usize) -> Vec<(usize, Range<usize>)> {
    let there = ASKED.into_iter().filter(|(_, entries)| entries.start < stored);
    there.map(|(size, entries)| (size, entries.start..entries.end.min(stored))).collect()
}

pub fn partition(number: usize) -> Partition {
    let asked = ASKED.into_iter().find(|(_, entries)| entries.contains(&number));
    let (size, which) = match asked {
        Some((size, entries)) => (size, (number - entries.start) / size),
        None => {
            let after = number - ASKED[2].1.end;
            let (size, _) = ASKED[after / BLOCK % ASKED.len()];
            // Ten blocks make a partition of 100,000, and between each of them lie two of the other sizes.
            let which = if size > BLOCK { after / (BLOCK * 30) } else { number / size };
            (size, FURTHER + which)
        }
    };
    let mut name = [0; 16];
    name[..8].copy_from_slice(&(size as u64).to_le_bytes());
    name[8..].copy_from_slice(&(which as u64).to_le_bytes());
    Partition(name)
}
