//! Self-attention over all rows, in floats: few enough products that bytes would gain nothing.
//!
//! Sixteen queries at a time. Keys are compared with a lane for each query, so that nothing is added across lanes and no key
//! needs a mask; values are mixed with a lane for each of their parts, so that the result stands as it is wanted.

use crate::{LANES, curves::exp, processor::Lanes};

/// Keys that are compared at once: as many sums hide each other's latency.
const TOGETHER: usize = 8;

/// Memory for one head.
#[derive(Debug, Default)]
pub(crate) struct Scratch<const HEAD: usize> {
    keys: Vec<[f32; HEAD]>,
    values: Vec<[f32; HEAD]>,
    /// For each key, the weights that sixteen queries give it.
    shares: Vec<[f32; LANES]>,
}

/// Keys and values, of `hidden` each in a row, of rows that another thread has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Others<'a> {
    pub(crate) before: &'a [f32],
    pub(crate) after: &'a [f32],
}

/// Writes to `mixed`, rows of `hidden`, what each row's heads gather. `qkv` holds queries (scaled already), keys and values
/// of `hidden` each in a row; every head has `HEAD` of them.
#[inline(always)]
pub(crate) fn attend<L: Lanes, const HEAD: usize>(
    lanes: L,
    scratch: &mut Scratch<HEAD>,
    hidden: usize,
    qkv: &[f32],
    others: Others<'_>,
    mixed: &mut [f32],
) {
    for first in (0..hidden).step_by(HEAD) {
        for (to, first) in [(&mut scratch.keys, first), (&mut scratch.values, hidden + first)] {
            to.clear();
            gather(to, others.before, 2 * hidden, first);
            gather(to, qkv, 3 * hidden, hidden + first);
            gather(to, others.after, 2 * hidden, first);
        }
        let sixteens = qkv.chunks(LANES * 3 * hidden).zip(mixed.chunks_mut(LANES * hidden));
        for (queries, mixed) in sixteens {
            let mut by_lane = [[0.0; LANES]; HEAD];
            for (part, to) in by_lane.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                turn(lanes, queries.chunks_exact(3 * hidden), first + part * LANES, to);
            }
            let most = compare(lanes, &by_lane, &scratch.keys, &mut scratch.shares);
            let total = exponentials(lanes, most, &mut scratch.shares);
            mix(lanes, total, &scratch.shares, &scratch.values, Place { mixed, hidden, first });
        }
    }
}

/// Adds what stands from `first` on in each of the rows, which are `width` wide.
#[inline(always)]
fn gather<const HEAD: usize>(to: &mut Vec<[f32; HEAD]>, rows: &[f32], width: usize, first: usize) {
    to.extend(rows.chunks_exact(width).filter_map(|row| row.get(first..)?.first_chunk::<HEAD>()));
}

/// Writes sixteen columns of up to sixteen `rows`, from `first` on, as rows.
// Indices are below LANES.
#[allow(clippy::indexing_slicing)]
#[inline(always)]
fn turn<'a, L: Lanes>(
    lanes: L,
    rows: impl Iterator<Item = &'a [f32]>,
    first: usize,
    to: &mut [[f32; LANES]; LANES],
) {
    let mut turned = [lanes.splat(0.0); LANES];
    for (turned, row) in turned.iter_mut().zip(rows) {
        if let Some(row) = row.get(first..).and_then(<[f32]>::first_chunk) {
            *turned = lanes.load(row);
        }
    }
    // Each round moves one bit of an element's row to its column.
    for _ in 0..LANES.ilog2() {
        let before = turned;
        for at in 0..LANES / 2 {
            let [low, high] = lanes.in_turns(before[at], before[at + LANES / 2]);
            turned[2 * at] = low;
            turned[2 * at + 1] = high;
        }
    }
    for (turned, to) in turned.into_iter().zip(to) {
        lanes.store(turned, to);
    }
}

/// Writes the products of each key with sixteen queries; returns the largest for each query.
#[inline(always)]
fn compare<L: Lanes, const HEAD: usize>(
    lanes: L,
    queries: &[[f32; LANES]; HEAD],
    keys: &[[f32; HEAD]],
    products: &mut Vec<[f32; LANES]>,
) -> L::Floats {
    products.resize(keys.len(), [0.0; LANES]);
    let mut most = lanes.splat(f32::NEG_INFINITY);
    let (many, few) = keys.as_chunks::<TOGETHER>();
    let (to_many, to_few) = products.as_chunks_mut::<TOGETHER>();
    for (keys, products) in many.iter().zip(to_many) {
        most = lanes.max(most, compare_some(lanes, queries, keys, products));
    }
    for (key, product) in few.iter().zip(to_few) {
        most = lanes.max(most, compare_some(lanes, queries, &[*key], std::array::from_mut(product)));
    }
    most
}

// Indices are below HEAD and KEYS, the lengths of the arrays.
#[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
#[inline(always)]
fn compare_some<L: Lanes, const HEAD: usize, const KEYS: usize>(
    lanes: L,
    queries: &[[f32; LANES]; HEAD],
    keys: &[[f32; HEAD]; KEYS],
    products: &mut [[f32; LANES]; KEYS],
) -> L::Floats {
    let mut sums = [lanes.splat(0.0); KEYS];
    for at in 0..HEAD {
        let query = lanes.load(&queries[at]);
        for key in 0..KEYS {
            sums[key] = lanes.mul_add(query, lanes.splat(keys[key][at]), sums[key]);
        }
    }
    let mut most = lanes.splat(f32::NEG_INFINITY);
    for key in 0..KEYS {
        most = lanes.max(most, sums[key]);
        lanes.store(sums[key], &mut products[key]);
    }
    most
}

/// Puts exponentials in the place of products; returns their sum.
#[inline(always)]
fn exponentials<L: Lanes>(lanes: L, most: L::Floats, products: &mut [[f32; LANES]]) -> L::Floats {
    let mut total = lanes.splat(0.0);
    for product in products {
        let share = exp(lanes, lanes.sub(lanes.load(product), most));
        total = lanes.add(total, share);
        lanes.store(share, product);
    }
    total
}

/// Where the results of up to sixteen queries go: in each row of `hidden` values, those of a head from `first` on.
struct Place<'a> {
    mixed: &'a mut [f32],
    hidden: usize,
    first: usize,
}

/// Writes the values' mean by shares.
// Indices are below QUERIES and SIDE, the lengths of the arrays.
#[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
#[inline(always)]
fn mix<L: Lanes, const HEAD: usize>(
    lanes: L,
    total: L::Floats,
    shares: &[[f32; LANES]],
    values: &[[f32; HEAD]],
    to: Place<'_>,
) {
    const QUERIES: usize = 8;
    const SIDE: usize = 2;
    let mut inverse = [0.0; LANES];
    lanes.store(lanes.div(lanes.splat(1.0), total), &mut inverse);
    for (half, inverse) in inverse.as_chunks::<QUERIES>().0.iter().enumerate() {
        if to.mixed.len() <= half * QUERIES * to.hidden {
            return;
        }
        for part in 0..HEAD / (SIDE * LANES) {
            let mut sums = [[lanes.splat(0.0); SIDE]; QUERIES];
            for (shares, value) in shares.iter().zip(values) {
                let Some(shares) = shares.as_chunks::<QUERIES>().0.get(half) else { return };
                let Some(value) = value.as_chunks::<LANES>().0.as_chunks::<SIDE>().0.get(part) else {
                    return;
                };
                let value = [lanes.load(&value[0]), lanes.load(&value[1])];
                for query in 0..QUERIES {
                    let share = lanes.splat(shares[query]);
                    for side in 0..SIDE {
                        sums[query][side] = lanes.mul_add(share, value[side], sums[query][side]);
                    }
                }
            }
            for query in 0..QUERIES {
                let start = (half * QUERIES + query) * to.hidden + to.first + part * SIDE * LANES;
                let Some(row) =
                    to.mixed.get_mut(start..).and_then(<[f32]>::first_chunk_mut::<{ SIDE * LANES }>)
                else {
                    break;
                };
                let inverse = lanes.splat(inverse[query]);
                for side in 0..SIDE {
                    lanes.store(
                        lanes.mul(sums[query][side], inverse),
                        &mut row.as_chunks_mut::<LANES>().0[side],
                    );
                }
            }
        }
    }
}
