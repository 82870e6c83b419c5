//! The prompts of the load: words, in a mix of lengths as chats and agents have them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::conversation::Dice;

/// Words in a prompt (each about one token), and how many of 100 prompts have that length.
pub const MIX: [(usize, u64); 6] = [(8, 30), (16, 25), (32, 20), (64, 12), (128, 8), (256, 5)];
/// Bytes of a word and the space after it, on average.
const WORD: usize = 7;

/// Counts over all loads of this run, so that no text repeats unless it is meant to.
static NEXT: AtomicU64 = AtomicU64::new(1);

pub struct Prompts {
    /// If it is empty, each prompt is new.
    repeated: Vec<String>,
}

impl Prompts {
    pub fn distinct() -> Self {
        Self { repeated: Vec::new() }
    }

    pub fn repeated(count: usize) -> Self {
        Self { repeated: (0..count).map(|_| text(NEXT.fetch_add(1, Ordering::Relaxed))).collect() }
    }

    /// `number` differs for each call. The text does too, unless it is one of the repeated ones.
    pub fn next(&self) -> (u64, String) {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let repeated =
            (number as usize).checked_rem(self.repeated.len()).and_then(|at| self.repeated.get(at));
        (number, repeated.cloned().unwrap_or_else(|| text(number)))
    }
}

fn text(number: u64) -> String {
    let mut place = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 100;
    let mut words = 8;
    for (length, share) in MIX {
        words = length;
        if place < share {
            break;
        }
        place -= share;
    }
    format!("{number} {}", Dice::new(number).text(words * WORD))
}
