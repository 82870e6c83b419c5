//! Self-attention over all rows, in floats. It has so few products that 8-bit integers would gain nothing.
//!
//! Sixteen queries are computed at a time. To compare with the keys, each query has a lane, so nothing is added across
//! lanes and no key needs a mask. To sum the values, each component has a lane, so the result has the order that the
//! next step wants.

use crate::{
    activation::exp,
    error::{OrBroken as _, ShapeError, ensure},
    processor::{LANES, Lanes},
};

/// Keys that are compared at once: eight independent sums hide the latency of each addition.
const KEYS_PER_STEP: usize = 8;
/// Queries whose values are summed at once, by two vectors of components.
const QUERIES_PER_STEP: usize = 8;
const VECTORS_PER_STEP: usize = 2;

/// Memory for one head.
#[derive(Debug, Default)]
pub(crate) struct Scratch<const HEAD: usize> {
    keys: Vec<[f32; HEAD]>,
    values: Vec<[f32; HEAD]>,
    /// For each key, the weights that sixteen queries give it.
    weights: Vec<[f32; LANES]>,
}

/// Keys and values of the rows that the other thread has. Each row holds `hidden` of each. `before`: rows before ours; `after`: those after.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerKeysValues<'a> {
    pub(crate) before: &'a [f32],
    pub(crate) after: &'a [f32],
}

/// Writes the result of all heads to `context`, in rows of `hidden` values. Each row of `qkv` holds `hidden` queries (already scaled), keys
/// and values; every head has `HEAD` of each.
#[inline(always)]
pub(crate) fn attend<L: Lanes, const HEAD: usize>(
    lanes: L,
    scratch: &mut Scratch<HEAD>,
    hidden: usize,
    qkv: &[f32],
    peer: PeerKeysValues<'_>,
    context: &mut [f32],
) -> Result<(), ShapeError> {
    const { assert!(HEAD.is_multiple_of(VECTORS_PER_STEP * LANES)) };
    ensure(hidden > 0 && hidden.is_multiple_of(HEAD), "a row is no whole heads")?;
    ensure(context.len().is_multiple_of(hidden), "what attention writes is no whole rows")?;
    ensure(qkv.len() == 3 * context.len(), "there are not queries, keys and values for each row")?;
    for first in (0..hidden).step_by(HEAD) {
        for (to, first) in [(&mut scratch.keys, first), (&mut scratch.values, hidden + first)] {
            to.clear();
            gather(to, peer.before, 2 * hidden, first)?;
            gather(to, qkv, 3 * hidden, hidden + first)?;
            gather(to, peer.after, 2 * hidden, first)?;
        }
        let sixteens = qkv.chunks(LANES * 3 * hidden).zip(context.chunks_mut(LANES * hidden));
        for (queries, context) in sixteens {
            let mut by_lane = [[0.0; LANES]; HEAD];
            for (vector, to) in by_lane.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                transpose(lanes, queries.chunks_exact(3 * hidden), first + vector * LANES, to)?;
            }
            let most = scores(lanes, &by_lane, &scratch.keys, &mut scratch.weights);
            let total = exponentials(lanes, most, &mut scratch.weights);
            let to = Destination { context, hidden, first };
            weighted_mean(lanes, total, &scratch.weights, &scratch.values, to)?;
        }
    }
    Ok(())
}

/// Appends, for each row of `width` values, the `HEAD` values from `first` on.
#[inline(always)]
fn gather<const HEAD: usize>(
    to: &mut Vec<[f32; HEAD]>,
    rows: &[f32],
    width: usize,
    first: usize,
) -> Result<(), ShapeError> {
    ensure(rows.len().is_multiple_of(width), "keys and values are no whole rows")?;
    for row in rows.chunks_exact(width) {
        let head = row.get(first..).and_then(<[f32]>::first_chunk);
        to.push(*head.or_broken("a row of keys and values ends inside a head")?);
    }
    Ok(())
}

/// Writes sixteen columns of up to sixteen `rows`, from `first` on, as rows.
// Indices are below LANES.
#[allow(clippy::indexing_slicing)]
#[inline(always)]
fn transpose<'a, L: Lanes>(
    lanes: L,
    rows: impl Iterator<Item = &'a [f32]>,
    first: usize,
    to: &mut [[f32; LANES]; LANES],
) -> Result<(), ShapeError> {
    let mut columns = [lanes.splat(0.0); LANES];
    for (column, row) in columns.iter_mut().zip(rows) {
        let row = row.get(first..).and_then(<[f32]>::first_chunk);
        *column = lanes.load(row.or_broken("a row of queries ends inside a head")?);
    }
    // Each round moves one bit of an element's row to its column.
    for _ in 0..LANES.ilog2() {
        let before = columns;
        for at in 0..LANES / 2 {
            let [low, high] = lanes.interleave(before[at], before[at + LANES / 2]);
            columns[2 * at] = low;
            columns[2 * at + 1] = high;
        }
    }
    for (column, to) in columns.into_iter().zip(to) {
        lanes.store(column, to);
    }
    Ok(())
}

/// Writes the dot products of each key with sixteen queries. Returns the largest for each query.
#[inline(always)]
fn scores<L: Lanes, const HEAD: usize>(
    lanes: L,
    queries: &[[f32; LANES]; HEAD],
    keys: &[[f32; HEAD]],
    scores: &mut Vec<[f32; LANES]>,
) -> L::Floats {
    scores.resize(keys.len(), [0.0; LANES]);
    let mut most = lanes.splat(f32::NEG_INFINITY);
    let (many, few) = keys.as_chunks::<KEYS_PER_STEP>();
    let (to_many, to_few) = scores.as_chunks_mut::<KEYS_PER_STEP>();
    for (keys, scores) in many.iter().zip(to_many) {
        most = lanes.max(most, scores_of(lanes, queries, keys, scores));
    }
    for (key, score) in few.iter().zip(to_few) {
        most = lanes.max(most, scores_of(lanes, queries, &[*key], std::array::from_mut(score)));
    }
    most
}

// Indices are below HEAD and KEYS, the lengths of the arrays.
#[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
#[inline(always)]
fn scores_of<L: Lanes, const HEAD: usize, const KEYS: usize>(
    lanes: L,
    queries: &[[f32; LANES]; HEAD],
    keys: &[[f32; HEAD]; KEYS],
    scores: &mut [[f32; LANES]; KEYS],
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
        lanes.store(sums[key], &mut scores[key]);
    }
    most
}

/// Replaces each score by e^(score − `most`). Returns their sum for each query.
#[inline(always)]
fn exponentials<L: Lanes>(lanes: L, most: L::Floats, scores: &mut [[f32; LANES]]) -> L::Floats {
    let mut total = lanes.splat(0.0);
    for score in scores {
        let weight = exp(lanes, lanes.sub(lanes.load(score), most));
        total = lanes.add(total, weight);
        lanes.store(weight, score);
    }
    total
}

/// Where the results of up to sixteen queries go: in each row of `hidden` values, those of a head from `first` on.
struct Destination<'a> {
    context: &'a mut [f32],
    hidden: usize,
    first: usize,
}

/// Writes the weighted mean of the values, for as many queries as the destination has rows.
// Indices are below QUERIES_PER_STEP and VECTORS_PER_STEP, the lengths of the arrays.
#[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
#[inline(always)]
fn weighted_mean<L: Lanes, const HEAD: usize>(
    lanes: L,
    total: L::Floats,
    weights: &[[f32; LANES]],
    values: &[[f32; HEAD]],
    to: Destination<'_>,
) -> Result<(), ShapeError> {
    ensure(weights.len() == values.len(), "there is not a weight for each value")?;
    let queries = to.context.len() / to.hidden;
    let mut inverse = [0.0; LANES];
    lanes.store(lanes.div(lanes.splat(1.0), total), &mut inverse);
    for (step, inverse) in inverse.as_chunks::<QUERIES_PER_STEP>().0.iter().enumerate() {
        let here = queries.saturating_sub(step * QUERIES_PER_STEP).min(QUERIES_PER_STEP);
        if here == 0 {
            break;
        }
        for part in 0..HEAD / (VECTORS_PER_STEP * LANES) {
            let mut sums = [[lanes.splat(0.0); VECTORS_PER_STEP]; QUERIES_PER_STEP];
            for (weights, value) in weights.iter().zip(values) {
                let weights = weights.as_chunks::<QUERIES_PER_STEP>().0.get(step);
                let weights = weights.or_broken("a value has fewer weights than there are queries")?;
                let value = value.as_chunks::<LANES>().0.as_chunks::<VECTORS_PER_STEP>().0.get(part);
                let value = value.or_broken("a value is shorter than a head")?;
                let value = [lanes.load(&value[0]), lanes.load(&value[1])];
                for query in 0..QUERIES_PER_STEP {
                    let weight = lanes.splat(weights[query]);
                    for vector in 0..VECTORS_PER_STEP {
                        sums[query][vector] = lanes.mul_add(weight, value[vector], sums[query][vector]);
                    }
                }
            }
            for query in 0..here {
                let row = (step * QUERIES_PER_STEP + query) * to.hidden;
                let start = row + to.first + part * VECTORS_PER_STEP * LANES;
                let place = to.context.get_mut(start..);
                let place = place.and_then(<[f32]>::first_chunk_mut::<{ VECTORS_PER_STEP * LANES }>);
                let place = place.or_broken("a row that attention writes ends inside a head")?;
                let inverse = lanes.splat(inverse[query]);
                for vector in 0..VECTORS_PER_STEP {
                    lanes.store(
                        lanes.mul(sums[query][vector], inverse),
                        &mut place.as_chunks_mut::<LANES>().0[vector],
                    );
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::{Computation, Processor};

    struct Attend<'a> {
        hidden: usize,
        qkv: usize,
        peer: usize,
        context: &'a mut [f32],
    }

    impl Computation for Attend<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError> {
            let (qkv, peer) = (vec![0.5; self.qkv], vec![0.5; self.peer]);
            let peer = PeerKeysValues { before: &peer, after: &[] };
            attend::<L, 32>(lanes, &mut Scratch::default(), self.hidden, &qkv, peer, self.context)
        }
    }

    #[test]
    fn queries_keys_and_values_that_do_not_fit_are_an_error() {
        let run = |hidden, qkv, peer, context| {
            let mut context = vec![0.0; context];
            Processor::portable().run(Attend { hidden, qkv, peer, context: &mut context }).map(|()| context)
        };
        assert_eq!(run(32, 96, 64, 32), Ok(vec![0.5; 32]));
        for (hidden, qkv, peer, context) in [
            (48, 144, 0, 48),
            (32, 96, 0, 64),
            (32, 192, 0, 32),
            (32, 96, 63, 32),
            (32, 120, 0, 40),
            (0, 0, 0, 0),
        ] {
            let broken = run(hidden, qkv, peer, context);
            assert!(matches!(broken, Err(ShapeError::Invariant(_))), "{hidden} {qkv} {peer} {context}");
        }
    }
}
