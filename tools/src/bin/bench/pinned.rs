//! Pins everything that takes part in a measurement to one processor. With Envoy and the load on two processors, the
//! figures depend on where the kernel puts them.

use std::fs;
use std::thread;

use crate::setting;

/// The processor: `BENCH_PROCESSOR`, or the last one that this program may use.
fn processor() -> usize {
    let allowed = allowed();
    match setting("BENCH_PROCESSOR") {
        None => *allowed.last().expect("this program runs on a processor"),
        Some(given) => given.parse().ok().filter(|number| allowed.contains(number)).unwrap_or_else(|| {
            panic!("BENCH_PROCESSOR is {given:?}: give the number of one that may be used, of {allowed:?}")
        }),
    }
}

/// Runs `measure` in a thread that is pinned to one processor, whose number it gets. Other measurements are not pinned.
pub fn on_one_processor<T: Send>(measure: impl FnOnce(usize) -> T + Send) -> T {
    let pinned = || {
        let processor = processor();
        pin_this_thread(processor);
        measure(processor)
    };
    thread::scope(|scope| scope.spawn(pinned).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Pins the calling thread, and everything that it starts from now on.
fn pin_this_thread(processor: usize) {
    pin(0, processor);
}

/// Pins a process: its threads, and those that they will start.
pub fn pin_process(id: u32, processor: usize) {
    let threads = fs::read_dir(format!("/proc/{id}/task")).expect("the process runs");
    for thread in threads.flatten() {
        let id = thread.file_name().to_str().and_then(|id| id.parse().ok());
        pin(id.expect("a thread has a number"), processor);
    }
}

fn pin(thread: libc::pid_t, processor: usize) {
    // SAFETY: a set of processors is plain bits, and all zeros is the empty one; the call reads it and no more.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(thread, size_of_val(&set), &raw const set)
    };
    assert_eq!(done, 0, "processor {processor}: {}", std::io::Error::last_os_error());
}

fn allowed() -> Vec<usize> {
    // SAFETY: the call fills the set, which is large enough for the size that it is told.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let done = libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        assert_eq!(done, 0, "which processors may be used: {}", std::io::Error::last_os_error());
        let count = usize::try_from(libc::CPU_SETSIZE).expect("a number of processors");
        (0..count).filter(|number| libc::CPU_ISSET(*number, &set)).collect()
    }
}
