//! All headers of a message in one call: each call of Envoy for a header that is there costs most of a microsecond. Read
//! as bytes, for the SDK's own function panics where a name is not UTF-8.

#![expect(unsafe_code, reason = "the ABI hands over memory by pointer and length")]

use std::ptr::null_mut;

use proxy_wasm::types::MapType;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_get_header_map_pairs(map: u32, pairs: *mut *mut u8, length: *mut usize) -> u32;
}

/// Headers as the ABI lays them out: their number, the lengths of each name and value, then each name and value with a
/// zero byte behind.
#[derive(Default)]
pub struct HeaderMap(Vec<u8>);

impl HeaderMap {
    /// The headers as they are now; none where Envoy has none.
    pub fn of(map: MapType) -> Self {
        let (mut pairs, mut length) = (null_mut(), 0);
        // SAFETY: the host writes to the two places, and nothing keeps them.
        let status = unsafe { proxy_get_header_map_pairs(map as u32, &raw mut pairs, &raw mut length) };
        if status != 0 || pairs.is_null() {
            return Self::default();
        }
        // SAFETY: the host has taken this memory from our allocator (`proxy_on_memory_allocate`) with just this length, and
        // leaves it to us.
        Self(unsafe { Vec::from_raw_parts(pairs, length, length) })
    }

    /// The first value of a header. `name` is in lower case, as Envoy's names are.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.find(name, Some)
    }

    /// All values of a header.
    pub fn all(&self, name: &str) -> Vec<Vec<u8>> {
        let mut values = Vec::new();
        self.find(name, |value| {
            values.push(value.to_vec());
            None::<()>
        });
        values
    }

    /// Gives the values of a header until one is taken.
    fn find<'h, T>(&'h self, name: &str, mut take: impl FnMut(&'h [u8]) -> Option<T>) -> Option<T> {
        let (count, rest) = self.0.split_first_chunk::<4>()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (lengths, mut texts) = rest.split_at_checked(count.checked_mul(8)?)?;
        for lengths in lengths.as_chunks::<8>().0 {
            let (name_length, value_length) = lengths.split_first_chunk::<4>()?;
            let length = |bytes: &[u8; 4]| usize::try_from(u32::from_le_bytes(*bytes)).ok();
            let (name_length, value_length) =
                (length(name_length)?, length(value_length.first_chunk::<4>()?)?);
            let (known, rest) = texts.split_at_checked(name_length)?;
            let (value, rest) = rest.get(1..)?.split_at_checked(value_length)?;
            if known == name.as_bytes()
                && let Some(taken) = take(value)
            {
                return Some(taken);
            }
            texts = rest.get(1..)?;
        }
        None
    }
}
