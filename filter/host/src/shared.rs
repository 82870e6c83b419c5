//! What all workers of one host share before the first request comes: the secret, and the slots that two of them could store at
//! once.

use sentinel_pipeline::{fail_open, host::Secret};

/// Where the secret lies.
pub const SECRET: &str = "sentinel/secret";

/// Stores what has to be there, each where nothing is stored yet. Each worker does it, and again when the configuration changes.
/// `random`: another number each time.
pub fn prepare(
    random: impl Fn() -> u64,
    is_there: impl Fn(&str) -> bool,
    mut store: impl FnMut(&str, &[u8]),
) {
    let secret = [random().to_le_bytes(), random().to_le_bytes()].as_flattened().to_vec();
    for (key, bytes) in fail_open::slots().chain([(SECRET.to_owned(), secret)]) {
        if !is_there(&key) {
            store(&key, &bytes);
        }
    }
}

/// The secret, from what is stored under `SECRET`. It is read when the first request comes: by then all workers have prepared.
pub fn secret(stored: Option<&[u8]>) -> Option<Secret> {
    let (first, second) = stored?.split_first_chunk::<8>()?;
    Some([u64::from_le_bytes(*first), u64::from_le_bytes(*second.first_chunk()?)])
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::HashMap};

    use super::*;

    #[test]
    fn what_is_there_stays_and_the_secret_reads_back() {
        let stored = RefCell::new(HashMap::new());
        let numbers = RefCell::new(0_u64);
        let next = || {
            *numbers.borrow_mut() += 1;
            *numbers.borrow()
        };
        for _worker in 0..2 {
            prepare(
                next,
                |key| stored.borrow().contains_key(key),
                |key, bytes| {
                    stored.borrow_mut().insert(key.to_owned(), bytes.to_vec());
                },
            );
        }
        let stored = stored.into_inner();
        assert_eq!(secret(stored.get(SECRET).map(Vec::as_slice)), Some([1, 2]));
        assert!(stored.keys().any(|key| key.starts_with("sentinel/told/")));
        assert_eq!((secret(None), secret(Some(b"short"))), (None, None));
    }
}
