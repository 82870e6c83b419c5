//! Where windows and call rates are stored in Envoy's shared data. There is a fixed number of buckets for a few scopes each, so
//! memory is bounded whatever the number of agents. The bucket of a scope depends on a secret, so nobody outside can choose it.
//! If a bucket is full, the scope whose last request is the oldest is forgotten. A suspect scope is forgotten only if all others
//! are suspect too. Buckets are changed by compare-and-swap.

use sentinel_config::Config;
use sentinel_detect::{call_rate::CallRates, window::Window};
use serde::{Deserialize, Serialize};

use crate::{
    bypass::Bypass,
    codec,
    host::{Facts, Stored},
    identity::Scope,
    metric::Metric,
    note::Note,
};

/// Scopes in one bucket.
const WAYS: usize = 4;
/// Others change a bucket only for microseconds. Failing this often is a fault, and not bad luck.
const MAX_TRIES: u8 = 8;

/// The scopes of one bucket. Their windows stay encoded, because only one of them is needed.
#[derive(Default, Deserialize, Serialize)]
struct Bucket<'a> {
    #[serde(borrow)]
    ways: Vec<Way<'a>>,
}

#[derive(Deserialize, Serialize)]
struct Way<'a> {
    slot: u64,
    /// The scope is stopped or was suspected.
    is_suspect: bool,
    /// When the scope was last heard of (milliseconds since 1970).
    touched: u64,
    window: &'a [u8],
}

/// Changes the window of `scope`. If another worker was faster, the change is made again, and the last result counts. If it could
/// not be written, that is counted, and the result is still returned.
pub fn change_window<T: Default>(
    host: &dyn Facts,
    config: &Config,
    scope: &Scope,
    now: u64,
    notes: &mut Vec<Note>,
    mut change: impl FnMut(&mut Window) -> T,
) -> T {
    let mut result = T::default();
    in_its_bucket(host, config, scope, now, notes, &mut |window| result = change(window));
    result
}

/// The same for every kind of change, so that the code exists only once.
fn in_its_bucket(
    host: &dyn Facts,
    config: &Config,
    scope: &Scope,
    now: u64,
    notes: &mut Vec<Note>,
    change: &mut dyn FnMut(&mut Window),
) {
    let slot = scope.slot();
    let key = format!("sentinel/window/{}", bucket(slot, config.buckets));
    let evicts = swap(host, &key, notes, |bytes| {
        let mut stored: Bucket<'_> = codec::decode(bytes);
        stored.ways.retain(|way| now.saturating_sub(way.touched) <= config.state_ttl);
        let known = stored.ways.iter().position(|way| way.slot == slot).map(|at| stored.ways.swap_remove(at));
        let mut window: Window = known.map(|way| codec::decode(way.window)).unwrap_or_default();
        change(&mut window);
        let evicts = stored.ways.len() >= WAYS;
        let first_to_go = |(_, way): &(usize, &Way<'_>)| (way.is_suspect, way.touched);
        if evicts && let Some((at, _)) = (0_usize..).zip(&stored.ways).min_by_key(first_to_go) {
            stored.ways.swap_remove(at);
        }
        let encoded = codec::encode(&window);
        let is_suspect = window.is_suspect();
        stored.ways.push(Way { slot, is_suspect, touched: window.touched, window: &encoded });
        (evicts, codec::encode(&stored))
    });
    if evicts {
        notes.push(Note::Count(Metric::Evictions, 1));
    }
}

/// Changes the counts of the calls that the clients of an MCP server made.
pub fn change_call_rates<T>(
    host: &dyn Facts,
    config: &Config,
    scope: &Scope,
    notes: &mut Vec<Note>,
    mut change: impl FnMut(&mut CallRates) -> T,
) -> T {
    let key = format!("sentinel/mcp/{}", bucket(scope.slot(), config.buckets));
    swap(host, &key, notes, |bytes| {
        let mut rates: CallRates = codec::decode(bytes);
        let result = change(&mut rates);
        (result, codec::encode(&rates))
    })
}

/// Most callers in one bucket whose key the provider refused.
const REFUSED: usize = 64;
const REFUSED_BUCKETS: u32 = 64;

fn refused_key(caller: u64) -> String {
    format!("sentinel/refused/{}", bucket(caller, REFUSED_BUCKETS))
}

/// Whether the provider refused this caller's key when it was last asked.
pub fn is_refused(host: &dyn Facts, caller: u64) -> bool {
    let callers: Vec<u64> =
        host.load(&refused_key(caller)).bytes.map(|bytes| codec::decode(&bytes)).unwrap_or_default();
    callers.contains(&caller)
}

/// Remembers that the provider refused this caller's key, or that it accepts it again. If there are too many, the oldest is forgotten.
pub fn change_refused(host: &dyn Facts, caller: u64, notes: &mut Vec<Note>, is_refused: bool) {
    swap(host, &refused_key(caller), notes, |bytes| {
        let mut callers: Vec<u64> = codec::decode(bytes);
        callers.retain(|known| *known != caller);
        if is_refused {
            push_bounded(&mut callers, caller, REFUSED);
        }
        ((), codec::encode(&callers))
    });
}

/// Most hints about budgets that are remembered in one bucket.
const WARNED: usize = 64;
const WARNED_BUCKETS: u32 = 64;

fn warned_key(warning: u64) -> String {
    format!("sentinel/warned/{}", bucket(warning, WARNED_BUCKETS))
}

/// Whether this hint about a budget was given.
pub fn is_warned(host: &dyn Facts, warning: u64) -> bool {
    let known: Vec<u64> =
        host.load(&warned_key(warning)).bytes.map(|bytes| codec::decode(&bytes)).unwrap_or_default();
    known.contains(&warning)
}

/// Remembers that the hint was given. If there are too many, the oldest is forgotten.
pub fn warned(host: &dyn Facts, warning: u64, notes: &mut Vec<Note>) {
    swap(host, &warned_key(warning), notes, |bytes| {
        let mut known: Vec<u64> = codec::decode(bytes);
        push_bounded(&mut known, warning, WARNED);
        ((), codec::encode(&known))
    });
}

/// Puts `last` at the end of the list, which keeps its last `most` entries.
fn push_bounded(list: &mut Vec<u64>, last: u64, most: usize) {
    list.retain(|known| *known != last);
    let surplus = list.len().saturating_sub(most.saturating_sub(1));
    list.drain(..surplus);
    list.push(last);
}

fn bucket(slot: u64, buckets: u32) -> u64 {
    slot.checked_rem(u64::from(buckets)).unwrap_or(0)
}

fn swap<T>(
    host: &dyn Facts,
    key: &str,
    notes: &mut Vec<Note>,
    mut change: impl FnMut(&[u8]) -> (T, Vec<u8>),
) -> T {
    let mut tries: u8 = 0;
    loop {
        let Stored { bytes, version } = host.load(key);
        let (result, changed) = change(&bytes.unwrap_or_default());
        if host.store(key, &changed, version) {
            return result;
        }
        tries = tries.saturating_add(1);
        if tries >= MAX_TRIES {
            notes.push(Note::Bypassed(Bypass::Contention));
            return result;
        }
    }
}
