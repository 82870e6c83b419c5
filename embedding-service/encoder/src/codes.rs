//! Which of many vectors may be the nearest, by the signs of their components: a bit each, 48 bytes instead of 1,536. The more signs
//! two vectors have in common, the smaller their angle is likely to be. So the few with the most are compared exactly, and not all.
//!
//! The service's memory of answers uses it. It is here because this crate is built at the highest level, and these loops run over
//! every entry of a partition. Nothing here knows what the vectors are of.

/// Bits of a word of a code.
const BITS: usize = 64;
/// Words of a code of the model that is shipped (384 components): a loop of its own, which the compiler unrolls.
const SHIPPED: usize = 6;

/// The number of words in the code of a vector with `components` components.
#[must_use]
pub const fn words(components: usize) -> usize {
    components.div_ceil(BITS)
}

/// The signs of the components, the first in the lowest bit. NaN counts as positive.
#[must_use]
pub fn code(vector: &[f32]) -> Vec<u64> {
    let word = |components: &[f32]| {
        components.iter().rev().fold(0, |word, component| word << 1 | u64::from(*component < 0.0))
    };
    vector.chunks(BITS).map(word).collect()
}

/// Appends to `distances`, for each code in `codes`, the number of bits in which it differs from `asked`.
pub fn add_distances(codes: &[u64], asked: &[u64], distances: &mut Vec<u32>) {
    if let Ok(asked) = <&[u64; SHIPPED]>::try_from(asked) {
        distances.extend(codes.as_chunks::<SHIPPED>().0.iter().map(|code| differing(code, asked)));
    } else if !asked.is_empty() {
        distances.extend(codes.chunks_exact(asked.len()).map(|code| differing(code, asked)));
    }
}

fn differing(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// The indices of the `count` smallest distances, rising. Of equal distances the last ones are taken.
#[must_use]
pub fn smallest(distances: &[u32], count: usize) -> Vec<usize> {
    if distances.len() <= count {
        return (0..distances.len()).collect();
    }
    let most = distances.iter().max().map_or(0, |most| *most as usize);
    let mut how_many = vec![0_usize; most + 1];
    for distance in distances {
        if let Some(number) = how_many.get_mut(*distance as usize) {
            *number += 1;
        }
    }
    // All distances below the limit are taken, and as many of those equal to the limit as there is room for.
    let (mut limit, mut below) = (0, 0);
    for (distance, number) in (0..).zip(&how_many) {
        if below + number > count {
            limit = distance;
            break;
        }
        below += number;
    }
    let mut room = count - below;
    let mut found: Vec<usize> = (0..distances.len())
        .zip(distances)
        .rev()
        .filter(|(_, distance)| {
            let is_at_limit = **distance == limit && room > 0;
            room -= usize::from(is_at_limit);
            **distance < limit || is_at_limit
        })
        .map(|(at, _)| at)
        .collect();
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_holds_the_signs_in_order() {
        let mut vector = vec![1.0; 130];
        for negative in [0, 3, 64, 129] {
            vector[negative] = -0.5;
        }
        assert_eq!(code(&vector), [0b1001, 1, 0b10]);
        assert_eq!((code(&[]), words(0), words(64), words(65)), (vec![], 0, 1, 2));
        assert_eq!(code(&[f32::NAN, 0.0, -0.0, f32::NEG_INFINITY]), [0b1000]);
    }

    #[test]
    fn distances_count_the_bits_that_differ_for_codes_of_any_length() {
        for words in 1..9 {
            let codes: Vec<u64> =
                (0..words as u64 * 5).map(|n| (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let asked = &codes[words..words * 2];
            let mut distances = vec![7];
            add_distances(&codes, asked, &mut distances);
            let by_hand = codes.chunks(words).map(|code| {
                (0..words * 64)
                    .filter(|bit| (code[bit / 64] ^ asked[bit / 64]) >> (bit % 64) & 1 == 1)
                    .count() as u32
            });
            assert_eq!(distances, std::iter::once(7).chain(by_hand).collect::<Vec<_>>(), "{words} words");
            assert_eq!(distances[2], 0);
        }
        let mut none = Vec::new();
        add_distances(&[1, 2], &[], &mut none);
        assert_eq!(none, [], "without components there is nothing to compare");
    }

    #[test]
    fn the_smallest_are_found_and_no_more_than_wanted() {
        let distances = [5, 0, 9, 5, 5, 1, 200];
        assert_eq!(smallest(&distances, 0), []);
        assert_eq!(smallest(&distances, 2), [1, 5]);
        assert_eq!(smallest(&distances, 4), [1, 3, 4, 5], "of equal ones the last");
        assert_eq!(smallest(&distances, 6), [0, 1, 2, 3, 4, 5]);
        for count in [7, 8] {
            assert_eq!(smallest(&distances, count), [0, 1, 2, 3, 4, 5, 6]);
        }
        assert_eq!(smallest(&[], 3), []);
        assert_eq!(smallest(&[3; 10], 2), [8, 9]);
    }
}
