//! How everything in shared data is encoded: a version, then postcard. What cannot be read or has another version is forgotten.
//! It is never an error, and never misread.

use serde::{Deserialize, Serialize};

/// Raise it with every change of what is stored.
const VERSION: u8 = 12;

/// Room that most of what is stored fits in (bytes).
const ROOM: usize = 512;

pub fn encode(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ROOM);
    bytes.push(VERSION);
    // Everything that is stored can be encoded. If something could not, nothing would be remembered.
    postcard::to_extend(value, bytes).unwrap_or_default()
}

pub fn decode<'a, T: Deserialize<'a> + Default>(bytes: &'a [u8]) -> T {
    match bytes.split_first() {
        Some((&VERSION, encoded)) => postcard::from_bytes(encoded).unwrap_or_default(),
        _ => T::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_cut_off_or_old_is_forgotten() {
        let value = vec![(7_u64, "seven".to_owned()), (300, String::new())];
        let bytes = encode(&value);
        assert_eq!(decode::<Vec<(u64, String)>>(&bytes), value);
        for len in 0..bytes.len() {
            assert_eq!(decode::<Vec<(u64, String)>>(&bytes[..len]), [], "{len}");
        }
        let old = [&[VERSION - 1], &bytes[1..]].concat();
        assert_eq!(decode::<Vec<(u64, String)>>(&old), []);
        let beyond: Vec<u64> = decode(&[VERSION, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert!(beyond.is_empty(), "a length beyond the bytes");
    }
}
