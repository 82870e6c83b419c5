//! Two functions of the ABI that are read as bytes. Those of the SDK panic if a peer sends something that is not UTF-8, and that
//! ends the VM with all requests that it holds. All headers come in one call, because each call for a header that is present
//! takes most of a microsecond.

#![expect(unsafe_code, reason = "the ABI hands over memory by pointer and length")]

use std::ptr::null_mut;

use proxy_wasm::types::MapType;
use sentinel_host::pairs::Pairs;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_get_status(code: *mut u32, message: *mut *mut u8, length: *mut usize) -> u32;
    fn proxy_get_header_map_pairs(map: u32, pairs: *mut *mut u8, length: *mut usize) -> u32;
}

/// All headers of a message as they are now. Empty if Envoy has no such message.
pub fn headers(map: MapType) -> Pairs {
    // SAFETY: the host writes to the two places, and nothing keeps them.
    Pairs(handed_over(|pairs, length| unsafe { proxy_get_header_map_pairs(map as u32, pairs, length) }))
}

/// The status message of the call whose reply is being handled. Empty if there is none. What is not UTF-8 is replaced.
pub fn status_message() -> String {
    let mut code = 0;
    // SAFETY: the host writes to the three places, and nothing keeps them.
    let message = handed_over(|message, length| unsafe { proxy_get_status(&raw mut code, message, length) });
    String::from_utf8_lossy(&message).into_owned()
}

/// What a call of the host hands over. Empty if it has nothing.
fn handed_over(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> Vec<u8> {
    let (mut bytes, mut length) = (null_mut(), 0);
    if call(&raw mut bytes, &raw mut length) != 0 || bytes.is_null() {
        return Vec::new();
    }
    // SAFETY: the host has taken this memory from our allocator (`proxy_on_memory_allocate`) with just this length, and
    // leaves it to us.
    unsafe { Vec::from_raw_parts(bytes, length, length) }
}
