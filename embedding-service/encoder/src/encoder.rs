//! The whole encoder: the embeddings of word pieces, a norm, layers one after the other, and the mean of what comes out.

use std::sync::Arc;

use crate::{
    Affine, Helper, Layer, Scratch, ShapeError, Weights,
    halves::{Caller, Gone, helper},
    norm::Norm,
    processor::{Lanes, Processor, Work},
    rows::TOGETHER,
};

/// Texts of fewer pieces are not worth a second thread: a half would have fewer rows than a product takes at once.
const WORTH_HELP: usize = 2 * TOGETHER;

/// May be shared by threads.
#[derive(Debug, PartialEq)]
pub struct Encoder {
    first: Norm,
    layers: Vec<Layer>,
    hidden: usize,
}

impl Encoder {
    /// `first`: what embeddings are normalised by before the first of `layers`.
    ///
    /// # Errors
    /// When there are no layers, or weights do not fit together.
    pub fn new(first: &Affine<'_>, layers: &[Weights<'_>]) -> Result<Self, ShapeError> {
        let weights = layers.first().ok_or(ShapeError::NoLayer)?;
        let hidden = weights.hidden;
        if let Some(other) = layers.iter().find(|other| other.hidden != hidden) {
            return Err(ShapeError::Layers { got: other.hidden, hidden });
        }
        let first = weights.norm("the first norm", first)?;
        let layers = layers.iter().map(Layer::new).collect::<Result<_, _>>()?;
        Ok(Self { first, layers, hidden })
    }

    /// Values of an embedding, and of the mean.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Writes to `mean` the mean of the rows that word `pieces` become. `ask` gives a helper to a thread that is free and
    /// may work at once; false if there is none. With help or without, the mean has the same bits.
    ///
    /// # Errors
    /// When there are no pieces, more than positions, or one that is no word; or when `mean` has another size.
    pub fn run(
        self: &Arc<Self>,
        processor: Processor,
        scratch: &mut Scratch,
        tables: &Tables<'_>,
        pieces: &[i64],
        mean: &mut [f32],
        ask: &mut dyn FnMut(Helper) -> bool,
    ) -> Result<(), ShapeError> {
        let hidden = self.hidden;
        if mean.len() != hidden {
            return Err(ShapeError::Mean { got: mean.len(), hidden });
        }
        // Taken out, since the layers work in the rest of it.
        let mut rows = std::mem::take(&mut scratch.between_layers);
        self.embed(processor, tables, pieces, &mut rows)?;
        if let Err(Gone) = self.pass(processor, scratch, &mut rows, ask) {
            self.embed(processor, tables, pieces, &mut rows)?;
            self.layers.iter().for_each(|layer| layer.pass(processor, scratch, &mut rows));
        }
        mean.fill(0.0);
        for row in rows.chunks_exact(hidden) {
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        #[allow(clippy::cast_precision_loss)]
        let count = pieces.len() as f32;
        mean.iter_mut().for_each(|sum| *sum /= count);
        scratch.between_layers = rows;
        Ok(())
    }

    /// Puts in `rows` the normalised embeddings of `pieces`.
    fn embed(
        &self,
        processor: Processor,
        tables: &Tables<'_>,
        pieces: &[i64],
        rows: &mut Vec<f32>,
    ) -> Result<(), ShapeError> {
        let hidden = self.hidden;
        let positions =
            tables.positions.get(..pieces.len() * hidden).filter(|positions| !positions.is_empty());
        let most = tables.positions.len() / hidden;
        let positions = positions.ok_or(ShapeError::Pieces { got: pieces.len(), most })?;
        rows.clear();
        for piece in pieces {
            let first = usize::try_from(*piece).ok().and_then(|piece| piece.checked_mul(hidden));
            let word = first.and_then(|first| tables.words.get(first..)?.get(..hidden));
            let unknown = || ShapeError::Piece { got: *piece, words: tables.words.len() / hidden };
            rows.extend_from_slice(word.ok_or_else(unknown)?);
        }
        processor.run(First { norm: &self.first, words: rows, positions });
        Ok(())
    }

    /// Takes `rows` through the layers, with a helper from the first layer on before which one is there.
    fn pass(
        self: &Arc<Self>,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &mut Vec<f32>,
        ask: &mut dyn FnMut(Helper) -> bool,
    ) -> Result<(), Gone> {
        let worth = rows.len() >= WORTH_HELP * self.hidden;
        let (mut asked, mut other) = (None, None);
        for (number, layer) in self.layers.iter().enumerate() {
            if other.is_none() {
                if asked.as_ref().is_some_and(Caller::is_answered) {
                    other =
                        asked.take().map(|caller| caller.divide(number, rows, self.hidden)).transpose()?;
                } else if asked.is_none() && worth && number + 1 < self.layers.len() {
                    let (helper, caller) = helper(self, processor);
                    asked = ask(helper).then_some(caller);
                }
            }
            match &mut other {
                Some(other) => other.share(layer, processor, scratch, rows)?,
                None => layer.pass(processor, scratch, rows),
            }
        }
        other.map_or(Ok(()), |other| other.unite(rows))
    }
}

/// Rows of [`Encoder::hidden`] values each, of which an embedding is the sum of one and one.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// One for each word piece.
    pub words: &'a [f32],
    /// One for each place in a text.
    pub positions: &'a [f32],
}

struct First<'a> {
    norm: &'a Norm,
    words: &'a mut [f32],
    positions: &'a [f32],
}

impl Work for First<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        self.norm.add_and_normalise(lanes, self.words, self.positions);
    }
}
