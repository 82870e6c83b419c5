//! A matrix of 8-bit weights, laid out for the product of rows with it.

use std::array::from_fn;

use crate::{
    error::{OrBroken as _, ShapeError, ensure},
    processor::{Block, LANES, Lanes, vectors_mut},
    quantise::{Group, QuantisedRows, ROWS_PER_TILE},
    weights::{Linear, checked_finite},
};

/// Blocks side by side in a panel. With eight rows that makes 24 sums, the most that fit into registers beside the factors.
const PANEL_BLOCKS: usize = 3;
const PANEL_COLUMNS: usize = PANEL_BLOCKS * LANES;
/// Rows that are multiplied by a part of a block at once, on processors with few registers.
const ROWS_PER_PASS: usize = 4;
/// With more, a sum of bytes' products (at most 255 · 128 each) might not fit in 32 bits.
const MAX_INPUTS: usize = 65_000;

/// Weights `[inputs, outputs]`, with what turns the integer sums into floats.
#[derive(Debug, PartialEq)]
pub(crate) struct PackedMatrix {
    outputs: usize,
    /// Blocks of four inputs in a panel.
    quads: usize,
    /// Panels of [`PANEL_COLUMNS`]; in a panel, the blocks of four inputs each from the first to the last.
    blocks: Vec<[Block; PANEL_BLOCKS]>,
    columns: Vec<[Column; PANEL_BLOCKS]>,
}

/// What belongs to sixteen columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Column {
    scale: [f32; LANES],
    /// The sum of the column's weights.
    weights: [i32; LANES],
    /// What a row's offset is multiplied by: that sum times the column's scale.
    sum: [f32; LANES],
    bias: [f32; LANES],
}

impl PackedMatrix {
    /// # Errors
    /// When the slices are not of `inputs` and `outputs`, or these not of sizes that the product can work with.
    pub(crate) fn pack(
        name: &'static str,
        from: &Linear<'_>,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ShapeError> {
        let sizes =
            [(from.weight.len(), inputs * outputs), (from.scale.len(), outputs), (from.bias.len(), outputs)];
        if let Some((got, expected)) = sizes.into_iter().find(|(got, expected)| got != expected) {
            return Err(ShapeError::Length { name, got, expected });
        }
        if inputs == 0
            || !inputs.is_multiple_of(LANES)
            || inputs > MAX_INPUTS
            || outputs == 0
            || !outputs.is_multiple_of(PANEL_COLUMNS)
        {
            return Err(ShapeError::Size { name, inputs, outputs });
        }
        checked_finite(name, from.scale)?;
        checked_finite(name, from.bias)?;
        Ok(Self {
            outputs,
            quads: inputs / 4,
            blocks: blocks(from.weight, inputs, outputs)?,
            columns: columns(from, outputs)?,
        })
    }

    /// Writes rows · weights + bias to `out`, which has a row of `outputs` for each of `rows`.
    #[inline(always)]
    pub(crate) fn multiply<L: Lanes>(
        &self,
        lanes: L,
        rows: &QuantisedRows,
        out: &mut [f32],
    ) -> Result<(), ShapeError> {
        ensure(rows.quads_per_row() == self.quads, "rows have not as many values as a matrix has inputs")?;
        ensure(out.len() == rows.count() * self.outputs, "a product has not a place for each row")?;
        let panels = self.blocks.chunks_exact(self.quads).zip(&self.columns);
        let mut next = self.blocks.chunks_exact(self.quads).skip(1);
        for (at, (blocks, columns)) in panels.enumerate() {
            // The last panel has no next one to fetch.
            let next = next.next().unwrap_or(blocks);
            let first = at * PANEL_COLUMNS;
            let mut panel = Panel { blocks, next, columns, first, outputs: self.outputs };
            for (group, out) in rows.groups::<L>().zip(out.chunks_mut(ROWS_PER_TILE * self.outputs)) {
                match group.scales.len() {
                    8 => panel.tile::<L, 8>(lanes, &group, out),
                    7 => panel.tile::<L, 7>(lanes, &group, out),
                    6 => panel.tile::<L, 6>(lanes, &group, out),
                    5 => panel.tile::<L, 5>(lanes, &group, out),
                    4 => panel.tile::<L, 4>(lanes, &group, out),
                    3 => panel.tile::<L, 3>(lanes, &group, out),
                    2 => panel.tile::<L, 2>(lanes, &group, out),
                    1 => panel.tile::<L, 1>(lanes, &group, out),
                    _ => Err(ShapeError::Invariant("a group has no rows, or more than a tile")),
                }?;
                // The next panel has been prefetched once. From now on `next` is this panel, which is in the cache already.
                panel.next = blocks;
            }
        }
        Ok(())
    }
}

const OUTSIDE: &str = "a weight lies outside its matrix";

/// The weights in the order in which products read them: panel by panel, four inputs at a time, block by block, and in a
/// block the four weights of each column together.
fn blocks(weight: &[i8], inputs: usize, outputs: usize) -> Result<Vec<[Block; PANEL_BLOCKS]>, ShapeError> {
    let mut packed = Vec::with_capacity(outputs / PANEL_COLUMNS * (inputs / 4));
    for first_column in (0..outputs).step_by(PANEL_COLUMNS) {
        for first_input in (0..inputs).step_by(4) {
            let mut side_by_side = [Block([0; 4 * LANES]); PANEL_BLOCKS];
            let columns = side_by_side.iter_mut().flat_map(|block| block.0.as_chunks_mut::<4>().0);
            for (column, of_column) in columns.enumerate() {
                for (input, to) in of_column.iter_mut().enumerate() {
                    let at = (first_input + input) * outputs + first_column + column;
                    *to = *weight.get(at).or_broken(OUTSIDE)?;
                }
            }
            packed.push(side_by_side);
        }
    }
    Ok(packed)
}

fn columns(from: &Linear<'_>, outputs: usize) -> Result<Vec<[Column; PANEL_BLOCKS]>, ShapeError> {
    let mut sums = vec![0_i32; outputs];
    for row in from.weight.chunks_exact(outputs) {
        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += i32::from(*weight));
    }
    let mut columns = vec![[Column::default(); PANEL_BLOCKS]; outputs / PANEL_COLUMNS];
    let places = columns.as_flattened_mut().iter_mut().flat_map(|column| {
        let Column { scale, weights, sum, bias } = column;
        scale.iter_mut().zip(weights).zip(sum).zip(bias)
    });
    let values = from.scale.iter().zip(&sums).zip(from.bias);
    ensure(values.len() == outputs, "a column has no scale or no bias")?;
    for ((((to_scale, to_weights), to_sum), to_bias), ((scale, sum), bias)) in places.zip(values) {
        *to_scale = *scale;
        *to_weights = *sum;
        #[allow(clippy::cast_precision_loss)]
        let sum = *sum as f32 * *scale;
        *to_sum = sum;
        *to_bias = *bias;
    }
    Ok(columns)
}

/// The [`PANEL_COLUMNS`] columns from number `first` on, of `outputs` in all.
struct Panel<'a> {
    blocks: &'a [[Block; PANEL_BLOCKS]],
    /// The blocks of the next panel, which are prefetched meanwhile.
    next: &'a [[Block; PANEL_BLOCKS]],
    columns: &'a [Column; PANEL_BLOCKS],
    first: usize,
    outputs: usize,
}

impl Panel<'_> {
    /// The product of `R` rows.
    // Indices are below R and PANEL_BLOCKS, the lengths of the arrays; an iterator over them costs a third of the time.
    #[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
    #[inline(always)]
    fn tile<L: Lanes, const R: usize>(
        &self,
        lanes: L,
        group: &Group<'_, L::Quad>,
        out: &mut [f32],
    ) -> Result<(), ShapeError> {
        let inputs = group.inputs::<R>(self.blocks.len());
        let inputs = inputs.or_broken("a group of rows has fewer inputs than the matrix")?;
        let sums =
            if L::FEW_REGISTERS { self.sums_by_part(lanes, inputs) } else { self.sums(lanes, inputs, 0) };
        let rows = group.scales.first_chunk::<R>().or_broken("a group has fewer rows than its tile")?;
        for row in 0..R {
            let start = row * self.outputs + self.first;
            let out = out.get_mut(start..).and_then(<[f32]>::first_chunk_mut::<PANEL_COLUMNS>);
            let out = out.and_then(|out| vectors_mut(out)?.first_chunk_mut::<PANEL_BLOCKS>());
            let out = out.or_broken("a product has no place for a panel")?;
            let (scale, offset) = (lanes.splat(rows[row].scale), lanes.splat(rows[row].offset));
            for side in 0..PANEL_BLOCKS {
                let column = &self.columns[side];
                let constant = lanes.mul_add(offset, lanes.load(&column.sum), lanes.load(&column.bias));
                let scale = lanes.mul(scale, lanes.load(&column.scale));
                let sums = lanes.sums_to_floats(sums[row][side]);
                lanes.store(lanes.mul_add(sums, scale, constant), &mut out[side]);
            }
        }
        Ok(())
    }

    /// The sums of `R` rows' products with a panel, [`ROWS_PER_PASS`] rows and a block at a time.
    // Indices are below R and PANEL_BLOCKS.
    #[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
    #[inline(always)]
    fn sums_by_part<L: Lanes, const R: usize>(
        &self,
        lanes: L,
        inputs: [&[L::Quad]; R],
    ) -> [[L::Sums; PANEL_BLOCKS]; R] {
        let mut sums = [self.columns.each_ref().map(|column| lanes.zero_sums(&column.weights)); R];
        let (few, rest) = inputs.as_chunks::<ROWS_PER_PASS>();
        for side in 0..PANEL_BLOCKS {
            let (few_sums, rest_sums) = sums.as_chunks_mut::<ROWS_PER_PASS>();
            for (inputs, sums) in few.iter().zip(few_sums) {
                let found = self.sums::<L, ROWS_PER_PASS, 1>(lanes, *inputs, side);
                for row in 0..ROWS_PER_PASS {
                    [sums[row][side]] = found[row];
                }
            }
            for (inputs, sums) in rest.iter().zip(rest_sums) {
                [[sums[side]]] = self.sums(lanes, [inputs], side);
            }
        }
        sums
    }

    /// The sums of `R` rows' products with `S` blocks side by side, from the one numbered `first` on.
    // Indices are below R, S and PANEL_BLOCKS, and those of quads below the number of blocks, which every row of `inputs` has.
    #[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
    #[inline(always)]
    fn sums<L: Lanes, const R: usize, const S: usize>(
        &self,
        lanes: L,
        inputs: [&[L::Quad]; R],
        first: usize,
    ) -> [[L::Sums; S]; R] {
        let mut sums = [from_fn(|side| lanes.zero_sums(&self.columns[first + side].weights)); R];
        for part in 0..L::PARTS {
            for (quad, (blocks, next)) in self.blocks.iter().zip(self.next).enumerate() {
                for side in 0..S {
                    lanes.prefetch(&next[first + side]);
                }
                for row in 0..R {
                    for side in 0..S {
                        lanes.dot(&mut sums[row][side], part, inputs[row][quad], &blocks[first + side]);
                    }
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        processor::{Computation, Processor},
        quantise::Identity,
    };

    struct Multiply<'a> {
        matrix: &'a PackedMatrix,
        rows: &'a [f32],
        width: usize,
        out: &'a mut [f32],
    }

    impl Computation for Multiply<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError> {
            let mut rows = QuantisedRows::default();
            rows.quantise(lanes, self.rows, self.width, &Identity)?;
            self.matrix.multiply(lanes, &rows, self.out)
        }
    }

    #[test]
    fn rows_or_places_that_do_not_fit_are_an_error() {
        let (weight, ones) = (vec![1_i8; 16 * 48], vec![1.0; 48]);
        let linear = Linear { weight: &weight, scale: &ones, bias: &ones };
        let matrix = PackedMatrix::pack("a matrix", &linear, 16, 48).unwrap();
        let run = |rows: usize, width: usize, out: usize| {
            let mut out = vec![0.0; out];
            let rows = vec![2.0; rows];
            let work = Multiply { matrix: &matrix, rows: &rows, width, out: &mut out };
            Processor::portable().run(work).map(|()| out)
        };
        assert_eq!(run(32, 16, 96), Ok(vec![33.0; 96]));
        assert_eq!(run(0, 16, 0), Ok(vec![]));
        for (rows, width, out) in [(32, 32, 48), (32, 16, 95), (32, 16, 144), (16, 16, 0), (0, 16, 48)] {
            assert!(matches!(run(rows, width, out), Err(ShapeError::Invariant(_))), "{rows} {width} {out}");
        }
    }

    #[test]
    fn a_scale_that_is_no_number_is_refused() {
        let (weight, ones, mut odd) = (vec![1_i8; 16 * 48], vec![1.0; 48], vec![1.0; 48]);
        odd[7] = f32::NAN;
        let linear = Linear { weight: &weight, scale: &odd, bias: &ones };
        let refused = PackedMatrix::pack("a matrix", &linear, 16, 48).unwrap_err();
        assert_eq!(refused, ShapeError::NotFinite { name: "a matrix" });
    }
}
