//! The whole encoder: the embeddings of word pieces, a norm, layers one after the other, and the mean of what comes out.

use crate::{
    Affine, Layer, Scratch, ShapeError, Weights,
    norm::Norm,
    processor::{Lanes, Processor, Work},
};

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

    /// Writes to `mean` the mean of the rows that word `pieces` become.
    ///
    /// # Errors
    /// When there are no pieces, more than positions, or one that is no word; or when `mean` has another size.
    pub fn run(
        &self,
        processor: Processor,
        scratch: &mut Scratch,
        tables: &Tables<'_>,
        pieces: &[i64],
        mean: &mut [f32],
    ) -> Result<(), ShapeError> {
        let hidden = self.hidden;
        if mean.len() != hidden {
            return Err(ShapeError::Mean { got: mean.len(), hidden });
        }
        let positions =
            tables.positions.get(..pieces.len() * hidden).filter(|positions| !positions.is_empty());
        let most = tables.positions.len() / hidden;
        let positions = positions.ok_or(ShapeError::Pieces { got: pieces.len(), most })?;
        // Taken out, since the layers work in the rest of it.
        let mut rows = std::mem::take(&mut scratch.between_layers);
        rows.clear();
        for piece in pieces {
            let first = usize::try_from(*piece).ok().and_then(|piece| piece.checked_mul(hidden));
            let word = first.and_then(|first| tables.words.get(first..)?.get(..hidden));
            let unknown = || ShapeError::Piece { got: *piece, words: tables.words.len() / hidden };
            rows.extend_from_slice(word.ok_or_else(unknown)?);
        }
        processor.run(First { norm: &self.first, words: &mut rows, positions });
        for layer in &self.layers {
            layer.run(processor, scratch, &mut rows)?;
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
