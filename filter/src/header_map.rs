//! All headers of a message in one call: each call of Envoy for a header that is there costs most of a microsecond. Read
//! as bytes, for the SDK's own function panics where a name is not UTF-8.

#![expect(unsafe_code, reason = "the ABI hands over memory by pointer and length")]

use std::ptr::null_mut;

use proxy_wasm::types::MapType;
use sentinel_host::pairs::Pairs;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_get_header_map_pairs(map: u32, pairs: *mut *mut u8, length: *mut usize) -> u32;
}

/// The headers as they are now; none where Envoy has none.
pub fn headers(map: MapType) -> Pairs {
    let (mut pairs, mut length) = (null_mut(), 0);
    // SAFETY: the host writes to the two places, and nothing keeps them.
    let status = unsafe { proxy_get_header_map_pairs(map as u32, &raw mut pairs, &raw mut length) };
    if status != 0 || pairs.is_null() {
        return Pairs::default();
    }
    // SAFETY: the host has taken this memory from our allocator (`proxy_on_memory_allocate`) with just this length, and
    // leaves it to us.
    Pairs(unsafe { Vec::from_raw_parts(pairs, length, length) })
}
