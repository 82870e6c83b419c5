//! The secret of this Envoy, by which slots of shared data are chosen. All workers use the same.

use std::{
    cell::Cell,
    hash::{BuildHasher, RandomState},
};

use proxy_wasm::hostcalls;
use sentinel_pipeline::host::Secret;

const KEY: &str = "sentinel/secret";

#[derive(Default)]
pub struct SharedSecret(Cell<Option<Secret>>);

impl SharedSecret {
    /// Draws the secret unless another worker has. It is read when the first request comes: by then all have drawn.
    pub fn draw() {
        if stored().is_none() {
            // The host's own random numbers are behind it.
            let drawn =
                [RandomState::new(), RandomState::new()].map(|keys| keys.hash_one(0_u8).to_le_bytes());
            let _ = hostcalls::set_shared_data(KEY, Some(drawn.as_flattened()), None);
        }
    }

    pub fn get(&self) -> Secret {
        if let Some(secret) = self.0.get() {
            return secret;
        }
        let secret = stored().unwrap_or_default();
        self.0.set(Some(secret));
        secret
    }
}

fn stored() -> Option<Secret> {
    let (bytes, _) = hostcalls::get_shared_data(KEY).ok()?;
    let bytes = bytes?;
    let (first, second) = bytes.split_first_chunk::<8>()?;
    Some([u64::from_le_bytes(*first), u64::from_le_bytes(*second.first_chunk()?)])
}
