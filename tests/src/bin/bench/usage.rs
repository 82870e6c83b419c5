//! What a process takes of the machine, by its id. What else runs is not in it.

use std::fs;
use std::time::Duration;

/// Processor time of all its threads so far.
pub fn busy(id: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{id}/task")).expect("the process runs");
    let nanos = threads.flatten().filter_map(|thread| {
        let stat = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

/// Resident memory, in kB.
pub fn resident(id: u32) -> u64 {
    status(id, "VmRSS:")
}

/// The most that was resident since it started, in kB.
pub fn highest(id: u32) -> u64 {
    status(id, "VmHWM:")
}

fn status(id: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
