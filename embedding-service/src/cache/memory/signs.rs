//! The vectors of one partition, by their signs, and which of them may be the nearest. Knows entries by their numbers only.
//!
//! The vectors lie in segments, which a look-up shares with the store. So it can search them without the store's lock. A change in the
//! meantime copies only the segment that it changes.

use std::sync::Arc;

use sentinel_encoder::codes::{add_distances, code, smallest, words};

/// Vectors of a segment: what a change copies at most.
const SEGMENT: usize = 4096;
/// At most this many segments of a partition are searched, the newest: a million vectors, in a few milliseconds.
const MAX_SEGMENTS: usize = 256;

/// The vectors of a partition, each at a place that says where it is found.
#[derive(Clone, Default)]
pub struct Signs(Vec<Arc<Segment>>);

#[derive(Clone)]
struct Segment {
    /// Words of a code: that of the first vector sets it.
    words: usize,
    numbers: Vec<u64>,
    codes: Vec<u64>,
}

/// Bytes that a vector takes here.
pub fn bytes_of(vector: &[f32]) -> usize {
    words(vector.len()).saturating_add(1).saturating_mul(size_of::<u64>())
}

impl Signs {
    /// Gives the place.
    pub fn add(&mut self, number: u64, vector: &[f32]) -> usize {
        let words = self.0.first().map_or(words(vector.len()), |segment| segment.words);
        let place = self.len();
        if place.is_multiple_of(SEGMENT) {
            self.0.push(Arc::new(Segment { words, numbers: Vec::new(), codes: Vec::new() }));
        }
        if let Some(last) = self.0.last_mut() {
            Arc::make_mut(last).push(number, &fitting(vector, words));
        }
        place
    }

    /// Removes the vector at this place. The last vector moves into the gap. Returns the number of the moved one, or `None` if the last
    /// one itself was removed.
    pub fn remove(&mut self, place: usize) -> Option<u64> {
        let (number, code) = self.pop()?;
        let segment = self.0.get_mut(place.checked_div(SEGMENT)?)?;
        Arc::make_mut(segment).replace(place.checked_rem(SEGMENT)?, number, &code)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Numbers of the `count` vectors whose signs agree with the most of `vector`'s.
    pub fn closest(&self, vector: &[f32], count: usize) -> Vec<u64> {
        let segments = self.0.get(self.0.len().saturating_sub(MAX_SEGMENTS)..).unwrap_or_default();
        let mut distances = Vec::with_capacity(segments.len().saturating_mul(SEGMENT));
        for segment in segments {
            add_distances(&segment.codes, &fitting(vector, segment.words), &mut distances);
        }
        let found = smallest(&distances, count).into_iter();
        let number = |at: usize| {
            let segment = segments.get(at.checked_div(SEGMENT)?)?;
            segment.numbers.get(at.checked_rem(SEGMENT)?).copied()
        };
        found.filter_map(number).collect()
    }

    fn len(&self) -> usize {
        let before = self.0.len().saturating_sub(1).saturating_mul(SEGMENT);
        before.saturating_add(self.0.last().map_or(0, |last| last.numbers.len()))
    }

    /// Takes away the last.
    fn pop(&mut self) -> Option<(u64, Vec<u64>)> {
        let last = Arc::make_mut(self.0.last_mut()?);
        let popped = last.pop();
        if last.numbers.is_empty() {
            self.0.pop();
        }
        popped
    }
}

impl Segment {
    fn push(&mut self, number: u64, code: &[u64]) {
        self.numbers.push(number);
        self.codes.extend_from_slice(code);
    }

    fn pop(&mut self) -> Option<(u64, Vec<u64>)> {
        let number = self.numbers.pop()?;
        let code = self.codes.split_off(self.numbers.len().saturating_mul(self.words));
        // After many removals the memory is given back.
        if self.numbers.capacity() > self.numbers.len().saturating_mul(4) {
            self.numbers.shrink_to(self.numbers.len().saturating_mul(2));
            self.codes.shrink_to(self.codes.len().saturating_mul(2));
        }
        Some((number, code))
    }

    /// Gives the number, if there is such a place.
    fn replace(&mut self, at: usize, number: u64, code: &[u64]) -> Option<u64> {
        *self.numbers.get_mut(at)? = number;
        let begin = at.saturating_mul(self.words);
        self.codes.get_mut(begin..begin.saturating_add(self.words))?.copy_from_slice(code);
        Some(number)
    }
}

/// The code of a vector, cut or filled up to `words` words. A vector of another length than the first never matches, but its code must not
/// shift the codes behind it.
fn fitting(vector: &[f32], words: usize) -> Vec<u64> {
    let mut code = code(vector);
    code.resize(words, 0);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whose signs are the bits of the number.
    fn vector(number: u64) -> Vec<f32> {
        (0..64).map(|bit| if number >> bit & 1 == 1 { -1.0 } else { 1.0 }).collect()
    }

    fn numbers(signs: &Signs) -> Vec<u64> {
        let mut numbers = signs.closest(&vector(0), usize::MAX);
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn whatever_is_added_and_removed_the_rest_is_found_at_its_place() {
        let mut signs = Signs::default();
        let mut places: Vec<u64> = Vec::new();
        let mut dice = 1_u64;
        for number in 0..30_000_u64 {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // More come than go, then more go than come.
            let goes = (dice >> 33) % 10 < if number < 15_000 { 3 } else { 8 };
            if goes && !places.is_empty() {
                let place = usize::try_from(dice >> 40).unwrap() % places.len();
                let last = places.len() - 1;
                let moved = signs.remove(place);
                assert_eq!(moved, (place != last).then(|| places[last]));
                places.swap_remove(place);
            } else {
                assert_eq!(signs.add(number, &vector(number)), places.len());
                places.push(number);
            }
            if number % 1_000 == 0 {
                let mut wanted = places.clone();
                wanted.sort_unstable();
                assert_eq!(numbers(&signs), wanted);
                for number in places.iter().step_by(97) {
                    assert_eq!(signs.closest(&vector(*number), 1), [*number]);
                }
            }
        }
        while !places.is_empty() {
            signs.remove(0);
            places.swap_remove(0);
        }
        assert!(signs.is_empty() && signs.remove(0).is_none());
    }

    #[test]
    fn a_look_up_goes_on_with_what_it_began_with() {
        let mut signs = Signs::default();
        for number in 0..10 {
            signs.add(number, &vector(number));
        }
        let shared = signs.clone();
        signs.remove(3);
        signs.add(99, &vector(99));
        assert_eq!(numbers(&shared), (0..10).collect::<Vec<_>>());
        assert_eq!(numbers(&signs), [0, 1, 2, 4, 5, 6, 7, 8, 9, 99]);
    }

    #[test]
    fn a_vector_of_another_length_hides_no_other() {
        let mut signs = Signs::default();
        signs.add(1, &vector(1));
        signs.add(2, &[-1.0; 200]);
        signs.add(3, &[]);
        signs.add(4, &vector(4));
        assert_eq!(signs.closest(&vector(4), 1), [4]);
        assert_eq!(numbers(&signs), [1, 2, 3, 4]);
        assert_eq!(signs.closest(&[], 9), [1, 2, 3, 4]);
    }

    #[test]
    fn what_many_took_is_given_back() {
        let mut signs = Signs::default();
        for number in 0..4_000 {
            signs.add(number, &vector(number));
        }
        for _ in 0..3_990 {
            signs.remove(0);
        }
        let segment = signs.0.first().unwrap();
        assert!(segment.numbers.capacity() < 100 && segment.codes.capacity() < 100);
    }
}
