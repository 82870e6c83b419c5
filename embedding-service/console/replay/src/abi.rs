//! How a page calls this. It asks for room, writes its input there, calls, and reads the output. All of it is memory of this module; the page
//! sees it as one array of bytes, so addresses are all that is handed over.
#![expect(
    unsafe_code,
    reason = "a name that is exported as it is written counts as unsafe; nothing else here does"
)]

use std::cell::RefCell;

use crate::judge::{Thresholds, judged, story};

/// Longest line that is taken.
const LONGEST: usize = 64 << 20;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static THRESHOLDS: RefCell<Result<Thresholds, String>> = RefCell::new(Thresholds::of(b"{}"));
}

/// Makes room for `length` bytes of input. Returns its address, or 0 if the input is too long.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    if length > LONGEST {
        return std::ptr::null_mut();
    }
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Where the output of the last call is.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// Takes the input as the filter's configuration, in JSON. Returns the length of the output. The output is empty, or says what is wrong; then
/// the configuration before stays.
#[unsafe(no_mangle)]
pub extern "C" fn configure() -> usize {
    give(|input| match Thresholds::of(input) {
        Ok(thresholds) => {
            THRESHOLDS.set(Ok(thresholds));
            String::new()
        }
        Err(problem) => problem,
    })
}

/// Judges the input, one line of a file: `place` is its run's place in the list. The output is JSON.
#[unsafe(no_mangle)]
pub extern "C" fn judge(place: u32) -> usize {
    give(|line| THRESHOLDS.with_borrow(|thresholds| judged(line, place, thresholds.as_ref())))
}

/// The same, with the whole story.
#[unsafe(no_mangle)]
pub extern "C" fn tell() -> usize {
    give(|line| THRESHOLDS.with_borrow(|thresholds| story(line, thresholds.as_ref())))
}

/// Stores what `of` makes of the input as the output. Returns its length.
fn give(of: impl Fn(&[u8]) -> String) -> usize {
    let given = INPUT.with_borrow(|input| of(input)).into_bytes();
    let length = given.len();
    OUTPUT.set(given);
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(bytes: &[u8], of: impl Fn() -> usize) -> String {
        assert!(!input(bytes.len()).is_null());
        INPUT.with_borrow_mut(|input| input.copy_from_slice(bytes));
        let length = of();
        assert!(!output().is_null());
        let given = OUTPUT.with_borrow(Clone::clone);
        assert_eq!(given.len(), length);
        String::from_utf8(given).unwrap()
    }

    #[test]
    fn a_configuration_that_is_refused_changes_nothing() {
        assert_eq!(call(b"{\"steps\":{\"cycle\":{\"hint\":4}}}", || configure()), "");
        let refused = call(b"{\"steps\":{\"cycle\":{\"hint\":9,\"kill\":3}}}", || configure());
        assert!(refused.starts_with("configuration field `steps.cycle`"), "{refused}");
        let hint =
            THRESHOLDS.with_borrow(|thresholds| thresholds.as_ref().unwrap().policy().steps.cycle.hint);
        assert_eq!(hint, 4);
        assert!(call(b"[]", || judge(0)).contains("problem"));
        assert!(call(b"\xff", || tell()).contains("problem"));
        assert!(input(usize::MAX).is_null());
    }
}
