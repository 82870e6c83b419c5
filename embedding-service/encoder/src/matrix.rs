//! A matrix of 8-bit weights, and the product of rows with it.

use crate::{
    LANES, Linear, ShapeError,
    processor::{Block, Lanes},
    rows::{Group, Rows, TOGETHER},
};

/// Blocks side by side: with eight rows they keep 24 sums, as many as fit in registers beside what is multiplied.
const SIDE: usize = 3;
const PANEL: usize = SIDE * LANES;
/// Rows that are multiplied by a part of a block at once, where registers are few: eight sums, and what is multiplied.
const FEW: usize = 4;
/// With more, a sum of bytes' products (at most 255 · 128 each) might not fit in 32 bits.
pub(crate) const MAX_INPUTS: usize = 65_000;

/// Weights `[inputs, outputs]` with what makes floats of the sums.
#[derive(Debug, PartialEq)]
pub(crate) struct Matrix {
    outputs: usize,
    /// Of a panel.
    quads: usize,
    /// Panels of [`PANEL`] columns; in a panel, the blocks of four inputs each from the first to the last.
    blocks: Vec<[Block; SIDE]>,
    columns: Vec<[Column; SIDE]>,
}

/// What belongs to sixteen columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Column {
    scale: [f32; LANES],
    /// What a row's offset is multiplied by: the sum of the column's weights times its scale.
    sum: [f32; LANES],
    bias: [f32; LANES],
}

impl Matrix {
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
            || !outputs.is_multiple_of(PANEL)
        {
            return Err(ShapeError::Size { name, inputs, outputs });
        }
        let rows: Vec<&[i8]> = from.weight.chunks_exact(outputs).collect();
        let weight =
            |row: usize, column: usize| rows.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0);
        let quads = inputs / 4;
        let mut blocks = Vec::with_capacity(outputs / PANEL * quads);
        for first in (0..outputs).step_by(PANEL) {
            for input in (0..inputs).step_by(4) {
                blocks.push(std::array::from_fn(|side| {
                    Block(std::array::from_fn(|at| weight(input + at % 4, first + side * LANES + at / 4)))
                }));
            }
        }
        let mut columns = vec![[Column::default(); SIDE]; outputs / PANEL];
        for (column, lanes) in columns.as_flattened_mut().iter_mut().enumerate() {
            for lane in 0..LANES {
                let at = column * LANES + lane;
                let sum: i32 = (0..inputs).map(|row| i32::from(weight(row, at))).sum();
                let [scale, bias] = [from.scale, from.bias].map(|of| of.get(at).copied().unwrap_or(0.0));
                let put = |to: &mut [f32; LANES], value| {
                    to.iter_mut().skip(lane).take(1).for_each(|to| *to = value)
                };
                #[allow(clippy::cast_precision_loss)]
                put(&mut lanes.sum, sum as f32 * scale);
                put(&mut lanes.scale, scale);
                put(&mut lanes.bias, bias);
            }
        }
        Ok(Self { outputs, quads, blocks, columns })
    }

    /// Writes rows · weights + bias to `out`, which has a row of `outputs` for each of `rows`.
    #[inline(always)]
    pub(crate) fn multiply<L: Lanes>(&self, lanes: L, rows: &Rows, out: &mut [f32]) {
        let panels = self.blocks.chunks_exact(self.quads).zip(&self.columns);
        let mut following = self.blocks.chunks_exact(self.quads).skip(1);
        for (at, (blocks, columns)) in panels.enumerate() {
            let following = following.next().unwrap_or(blocks);
            let mut panel = Panel { blocks, following, columns, first: at * PANEL, outputs: self.outputs };
            for (group, out) in rows.groups::<L>().zip(out.chunks_mut(TOGETHER * self.outputs)) {
                match group.rows.len() {
                    8 => panel.tile::<L, 8>(lanes, &group, out),
                    7 => panel.tile::<L, 7>(lanes, &group, out),
                    6 => panel.tile::<L, 6>(lanes, &group, out),
                    5 => panel.tile::<L, 5>(lanes, &group, out),
                    4 => panel.tile::<L, 4>(lanes, &group, out),
                    3 => panel.tile::<L, 3>(lanes, &group, out),
                    2 => panel.tile::<L, 2>(lanes, &group, out),
                    _ => panel.tile::<L, 1>(lanes, &group, out),
                }
                // Once is enough; what is near already costs nothing to ask for.
                panel.following = blocks;
            }
        }
    }
}

/// [`PANEL`] columns from the one numbered `first` on, of `outputs`.
struct Panel<'a> {
    blocks: &'a [[Block; SIDE]],
    /// As many blocks, fetched while these are worked on: those of the next panel.
    following: &'a [[Block; SIDE]],
    columns: &'a [Column; SIDE],
    first: usize,
    outputs: usize,
}

impl Panel<'_> {
    /// The product of `R` rows.
    // Indices are below R and SIDE, the lengths of the arrays; an iterator over them costs a third of the time.
    #[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
    #[inline(always)]
    fn tile<L: Lanes, const R: usize>(&self, lanes: L, group: &Group<'_, L::Quad>, out: &mut [f32]) {
        let Some(inputs) = group.inputs::<R>(self.blocks.len()) else { return };
        let sums = if L::PARTS == 1 { self.sums(lanes, inputs, 0) } else { self.sums_by_few(lanes, inputs) };
        let Some(rows) = group.rows.first_chunk::<R>() else { return };
        for row in 0..R {
            let start = row * self.outputs + self.first;
            let Some(out) = out.get_mut(start..).and_then(<[f32]>::first_chunk_mut::<PANEL>) else { return };
            let (scale, offset) = (lanes.splat(rows[row].scale), lanes.splat(rows[row].offset));
            let Some(out) = out.as_chunks_mut::<LANES>().0.first_chunk_mut::<SIDE>() else { return };
            for side in 0..SIDE {
                let column = &self.columns[side];
                let still = lanes.mul_add(offset, lanes.load(&column.sum), lanes.load(&column.bias));
                let scale = lanes.mul(scale, lanes.load(&column.scale));
                lanes.store(lanes.mul_add(lanes.float(sums[row][side]), scale, still), &mut out[side]);
            }
        }
    }

    /// The sums of `R` rows' products with a panel, [`FEW`] rows and a block at a time.
    // Indices are below R and SIDE.
    #[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
    #[inline(always)]
    fn sums_by_few<L: Lanes, const R: usize>(
        &self,
        lanes: L,
        inputs: [&[L::Quad]; R],
    ) -> [[L::Sums; SIDE]; R] {
        let mut sums = [[lanes.nothing(); SIDE]; R];
        let (few, rest) = inputs.as_chunks::<FEW>();
        for side in 0..SIDE {
            let (few_sums, rest_sums) = sums.as_chunks_mut::<FEW>();
            for (inputs, sums) in few.iter().zip(few_sums) {
                let found = self.sums::<L, FEW, 1>(lanes, *inputs, side);
                for row in 0..FEW {
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
    // Indices are below R, S and SIDE, and those of quads below the number of blocks, which every row of `inputs` has.
    #[allow(clippy::indexing_slicing, clippy::needless_range_loop)]
    #[inline(always)]
    fn sums<L: Lanes, const R: usize, const S: usize>(
        &self,
        lanes: L,
        inputs: [&[L::Quad]; R],
        first: usize,
    ) -> [[L::Sums; S]; R] {
        let mut sums = [[lanes.nothing(); S]; R];
        for part in 0..L::PARTS {
            for (quad, (blocks, following)) in self.blocks.iter().zip(self.following).enumerate() {
                for side in 0..S {
                    lanes.soon(&following[first + side]);
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
