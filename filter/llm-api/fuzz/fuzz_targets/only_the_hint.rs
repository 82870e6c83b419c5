//! For any bytes, either there is no change, or the result parses and differs from the input by the hint alone.
#![no_main]

#[path = "../../tests/support/only_the_hint.rs"]
mod only_the_hint;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    if let Err(problem) = only_the_hint::check(body) {
        panic!("{problem}");
    }
});
