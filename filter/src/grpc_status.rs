//! The message of a gRPC status, read as bytes. The SDK's own function panics where a peer sends one that is not UTF-8,
//! which ends the VM and with it every request that it holds.

#![expect(unsafe_code, reason = "the ABI hands over memory by pointer and length")]

use std::ptr::null_mut;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_get_status(code: *mut u32, message: *mut *mut u8, length: *mut usize) -> u32;
}

/// The message of the status of the call whose reply is being handled; empty where there is none. What is not UTF-8 is
/// replaced.
pub fn message() -> String {
    let (mut code, mut message, mut length) = (0, null_mut(), 0);
    // SAFETY: the host writes to the three places, and nothing keeps them.
    let status = unsafe { proxy_get_status(&raw mut code, &raw mut message, &raw mut length) };
    if status != 0 || message.is_null() {
        return String::new();
    }
    // SAFETY: the host has taken this memory from our allocator (`proxy_on_memory_allocate`) with just this length, and
    // leaves it to us.
    let bytes = unsafe { Vec::from_raw_parts(message, length, length) };
    String::from_utf8_lossy(&bytes).into_owned()
}
