//! Which entry lies in which partition. The first entries fill the partitions that are asked: 100 partitions of 10 entries, nine of 1,000,
//! one of 100,000. All later entries only fill the store. They lie in further partitions of the same three sizes, 10,000 entries of each
//! size in turn.

use std::ops::Range;

use embedding_service::cache::Partition;

/// For each partition size, the entries that lie in the partitions that are asked.
pub const ASKED: [(usize, Range<usize>); 3] =
    [(10, 0..1_000), (1_000, 1_000..10_000), (100_000, 10_000..110_000)];
const BLOCK: usize = 10_000;
/// Numbers of the partitions that are not asked begin here.
const FURTHER: usize = 1_000_000;

/// What of [`ASKED`] is in the store once the first `stored` entries are: each size that has entries, with these entries.
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
            // Ten blocks fill a partition of 100,000. Between two of these blocks lie two blocks of the other sizes.
            let which = if size > BLOCK { after / (BLOCK * 30) } else { number / size };
            (size, FURTHER + which)
        }
    };
    let mut name = [0; 16];
    name[..8].copy_from_slice(&(size as u64).to_le_bytes());
    name[8..].copy_from_slice(&(which as u64).to_le_bytes());
    Partition(name)
}
