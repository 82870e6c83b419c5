//! Where windows and call rates lie in shared data: a fixed number of buckets of a few scopes each, so memory is bounded
//! whatever the number of agents. A scope's bucket follows from its id; where there is no room, the scope that was silent
//! longest goes. Read, changed and written by compare-and-swap.

use sentinel_detect::{call_rate::CallRates, window::Window};
use serde::{Deserialize, Serialize};

use crate::{
    codec,
    config::Config,
    host::{Host, Stored},
    identity::Scope,
    metric::Bypass,
};

/// Scopes in one bucket.
const WAYS: usize = 4;
/// Others change a bucket for microseconds each time: not to get through so often is a fault, not bad luck.
const MAX_TRIES: u8 = 8;

/// The scopes of one bucket. Their windows stay encoded: one of them is of interest.
#[derive(Default, Deserialize, Serialize)]
struct Bucket<'a> {
    #[serde(borrow)]
    ways: Vec<Way<'a>>,
}

#[derive(Deserialize, Serialize)]
struct Way<'a> {
    scope: u64,
    /// When the scope was last heard of (milliseconds since 1970).
    touched: u64,
    window: &'a [u8],
}

/// Changes the window of `scope`. The change is made again where others were faster, and its last result counts. Where it
/// could not be written, that is counted, and the result stands.
pub fn change_window<T>(
    host: &mut impl Host,
    config: &Config,
    scope: &Scope,
    now: u64,
    mut change: impl FnMut(&mut Window) -> T,
) -> T {
    let id = scope.id();
    let key = format!("sentinel/window/{}", bucket(id, config.buckets));
    swap(host, &key, |bytes| {
        let mut stored: Bucket<'_> = codec::decode(bytes);
        stored.ways.retain(|way| now.saturating_sub(way.touched) <= config.state_ttl);
        let known = stored.ways.iter().position(|way| way.scope == id).map(|at| stored.ways.swap_remove(at));
        let mut window: Window = known.map(|way| codec::decode(way.window)).unwrap_or_default();
        let result = change(&mut window);
        if stored.ways.len() >= WAYS
            && let Some((oldest, _)) = (0_usize..).zip(&stored.ways).min_by_key(|(_, way)| way.touched)
        {
            stored.ways.swap_remove(oldest);
        }
        let window_bytes = codec::encode(&window);
        stored.ways.push(Way { scope: id, touched: window.touched, window: &window_bytes });
        (result, codec::encode(&stored))
    })
}

/// Changes how often the clients of an MCP server made their calls.
pub fn change_call_rates<T>(
    host: &mut impl Host,
    config: &Config,
    scope: &Scope,
    mut change: impl FnMut(&mut CallRates) -> T,
) -> T {
    let key = format!("sentinel/mcp/{}", bucket(scope.id(), config.buckets));
    swap(host, &key, |bytes| {
        let mut rates: CallRates = codec::decode(bytes);
        let result = change(&mut rates);
        (result, codec::encode(&rates))
    })
}

fn bucket(scope: u64, buckets: u32) -> u64 {
    scope.checked_rem(u64::from(buckets)).unwrap_or(0)
}

fn swap<T>(host: &mut impl Host, key: &str, mut change: impl FnMut(&[u8]) -> (T, Vec<u8>)) -> T {
    let mut tries: u8 = 0;
    loop {
        let Stored { bytes, version } = host.load(key);
        let (result, changed) = change(&bytes.unwrap_or_default());
        if host.store(key, &changed, version) {
            return result;
        }
        tries = tries.saturating_add(1);
        if tries >= MAX_TRIES {
            host.count(Bypass::Contention.into(), 1);
            return result;
        }
    }
}
