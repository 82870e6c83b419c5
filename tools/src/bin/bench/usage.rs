//! What a process uses of the machine, by its id.

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

/// Ticks of each processor since the machine started: all of them, and the busy ones.
pub fn ticks() -> Vec<(u64, u64)> {
    let text = fs::read_to_string("/proc/stat").expect("the kernel counts");
    let lines =
        text.lines().filter_map(|line| line.strip_prefix("cpu").filter(|rest| !rest.starts_with(' ')));
    let numbers =
        lines.map(|line| line.split(' ').skip(1).take(8).filter_map(|number| number.parse::<u64>().ok()));
    numbers
        .map(|numbers| numbers.collect::<Vec<_>>())
        .map(|all| {
            let idle: u64 = all.iter().skip(3).take(2).sum();
            let all: u64 = all.iter().sum();
            (all, all - idle)
        })
        .collect()
}

/// Resident memory, in kB.
pub fn resident(id: u32) -> u64 {
    status(id, "VmRSS:")
}

/// Peak resident memory, in kB.
pub fn highest(id: u32) -> u64 {
    status(id, "VmHWM:")
}

/// Memory of the process and its children, in kB. Shared memory counts once, as in a container's limit.
pub fn with_children(id: u32) -> u64 {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|id| id.parse().ok());
    std::iter::once(id).chain(children).filter_map(share).sum()
}

/// `None` if the process has ended.
fn share(id: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn status(id: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
