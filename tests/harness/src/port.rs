//! Ports for programs that must be told one: that cannot say which they took, or that start again on the same one.

use std::net::{SocketAddr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ports that Linux gives to outgoing connections (32768 and above), of which the tests open thousands: a connection may take
/// such a port between the look at it and its use.
const PORTS: std::ops::Range<u32> = 10_000..32_000;

static LAST: AtomicU32 = AtomicU32::new(0);

/// Free now, and given once by this program. Programs beside each other begin at different places.
pub fn free() -> SocketAddr {
    let begin = process::id().wrapping_mul(97);
    PORTS
        .map(|_| begin.wrapping_add(LAST.fetch_add(1, Ordering::Relaxed)) % (PORTS.end - PORTS.start))
        .filter_map(|place| u16::try_from(PORTS.start + place).ok())
        .map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
        .find(|address| TcpListener::bind(address).is_ok())
        .expect("a free port")
}
