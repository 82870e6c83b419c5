//! What all workers of a host share before the first request comes: the secret, and slots that two workers might store at the same time.

use sentinel_pipeline::{
    fail_open,
    host::{Process, Secret},
};

/// The key of the secret.
pub const SECRET: &str = "sentinel/secret";

/// Stores what must be there, unless it is stored already. Each worker does this, and does it again when the configuration changes.
pub fn prepare(process: &dyn Process) {
    let secret = [process.random().to_le_bytes(), process.random().to_le_bytes()].as_flattened().to_vec();
    for (key, bytes) in fail_open::slots().chain([(SECRET.to_owned(), secret)]) {
        if process.load(&key).bytes.is_none() {
            process.store(&key, &bytes, None);
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
    use std::{
        cell::{Cell, RefCell},
        collections::HashMap,
    };

    use sentinel_pipeline::host::Stored;

    use super::*;

    /// Two of its random numbers are never the same.
    #[derive(Default)]
    struct InMemory {
        stored: RefCell<HashMap<String, Vec<u8>>>,
        numbers: Cell<u64>,
    }

    impl Process for InMemory {
        fn now(&self) -> u64 {
            0
        }

        fn random(&self) -> u64 {
            self.numbers.set(self.numbers.get() + 1);
            self.numbers.get()
        }

        fn load(&self, key: &str) -> Stored {
            Stored { bytes: self.stored.borrow().get(key).cloned(), version: None }
        }

        fn store(&self, key: &str, bytes: &[u8], _: Option<u32>) -> bool {
            self.stored.borrow_mut().insert(key.to_owned(), bytes.to_vec());
            true
        }
    }

    #[test]
    fn what_is_there_stays_and_the_secret_reads_back() {
        let process = InMemory::default();
        for _worker in 0..2 {
            prepare(&process);
        }
        let stored = process.stored.into_inner();
        assert_eq!(secret(stored.get(SECRET).map(Vec::as_slice)), Some([1, 2]));
        assert!(stored.keys().any(|key| key.starts_with("sentinel/told/")));
        assert_eq!((secret(None), secret(Some(b"short"))), (None, None));
    }
}
