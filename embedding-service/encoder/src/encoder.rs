//! The whole encoder: the embeddings of tokens, a norm, layers one after the other, and the mean of what comes out.

use std::sync::Arc;

use crate::{
    error::{ShapeError, ensure},
    layer::{Layer, Scratch},
    norm::Norm,
    processor::{Computation, Lanes, Processor},
    quantise::ROWS_PER_TILE,
    two_threads::{Failure, Helper, PendingHelper},
    weights::{NormWeights, Weights},
};

/// Texts of fewer tokens are not worth a second thread: each would have fewer rows than a product takes at once.
const LEAST_FOR_TWO: usize = 2 * ROWS_PER_TILE;

/// May be shared by threads.
#[derive(Debug, PartialEq)]
pub struct Encoder {
    embedding_norm: Norm,
    layers: Arc<[Layer]>,
    hidden: usize,
}

impl Encoder {
    /// `embedding_norm`: the norm of the embeddings before the first layer.
    ///
    /// # Errors
    /// When there are no layers, or weights do not fit together.
    pub fn new(embedding_norm: &NormWeights<'_>, layers: &[Weights<'_>]) -> Result<Self, ShapeError> {
        let weights = layers.first().ok_or(ShapeError::NoLayer)?;
        let hidden = weights.hidden;
        if let Some(other) = layers.iter().find(|other| other.hidden != hidden) {
            return Err(ShapeError::Layers { got: other.hidden, hidden });
        }
        let embedding_norm = Norm::new("the first norm", embedding_norm, hidden, weights.epsilon)?;
        let layers = layers.iter().map(Layer::new).collect::<Result<_, _>>()?;
        Ok(Self { embedding_norm, layers, hidden })
    }

    /// The number of values in an embedding, and in the mean.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Writes to `mean` the mean of the rows that the tokens become. `ask` gives a helper to a thread that is free and may
    /// work at once. It returns false if no thread is free. With help or without, the mean has the same bits.
    ///
    /// # Errors
    /// When there are no tokens, more than positions, or an id that is not in the table; or when `mean` has another size.
    pub fn run(
        &self,
        processor: Processor,
        scratch: &mut Scratch,
        tables: &Tables<'_>,
        token_ids: &[i64],
        mean: &mut [f32],
        ask: &mut dyn FnMut(Helper) -> bool,
    ) -> Result<(), ShapeError> {
        let hidden = self.hidden;
        if mean.len() != hidden {
            return Err(ShapeError::Mean { got: mean.len(), hidden });
        }
        // Taken out, since the layers work in the rest of it.
        let mut rows = std::mem::take(&mut scratch.between_layers);
        self.embed(processor, tables, token_ids, &mut rows)?;
        match self.forward(processor, scratch, &mut rows, ask) {
            Ok(()) => {}
            Err(Failure::Shape(error)) => return Err(error),
            Err(Failure::PeerGone) => {
                self.embed(processor, tables, token_ids, &mut rows)?;
                for layer in &*self.layers {
                    layer.forward(processor, scratch, &mut rows)?;
                }
            }
        }
        ensure(rows.len() == token_ids.len() * hidden, "a token has lost its row")?;
        mean.fill(0.0);
        for row in rows.chunks_exact(hidden) {
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        #[allow(clippy::cast_precision_loss)]
        let count = token_ids.len() as f32;
        mean.iter_mut().for_each(|sum| *sum /= count);
        scratch.between_layers = rows;
        Ok(())
    }

    /// Puts in `rows` the normalised embeddings of the tokens.
    fn embed(
        &self,
        processor: Processor,
        tables: &Tables<'_>,
        token_ids: &[i64],
        rows: &mut Vec<f32>,
    ) -> Result<(), ShapeError> {
        let hidden = self.hidden;
        let positions =
            tables.positions.get(..token_ids.len() * hidden).filter(|positions| !positions.is_empty());
        let most = tables.positions.len() / hidden;
        let positions = positions.ok_or(ShapeError::TokenCount { got: token_ids.len(), most })?;
        rows.clear();
        for id in token_ids {
            let first = usize::try_from(*id).ok().and_then(|id| id.checked_mul(hidden));
            let embedding = first.and_then(|first| tables.words.get(first..)?.get(..hidden));
            let unknown = || ShapeError::TokenId { got: *id, tokens: tables.words.len() / hidden };
            rows.extend_from_slice(embedding.ok_or_else(unknown)?);
        }
        processor.run(AddPositions { norm: &self.embedding_norm, rows, positions })
    }

    /// Takes `rows` through the layers. As soon as a helper is ready before a layer, it takes half of the rows from that layer on.
    fn forward(
        &self,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &mut Vec<f32>,
        ask: &mut dyn FnMut(Helper) -> bool,
    ) -> Result<(), Failure> {
        let worth = rows.len() >= LEAST_FOR_TWO * self.hidden;
        let (mut pending, mut peer) = (None, None);
        for (number, layer) in self.layers.iter().enumerate() {
            if peer.is_none() {
                if pending.as_ref().is_some_and(PendingHelper::is_ready) {
                    let helper = pending.take();
                    peer = helper.map(|helper| helper.give_rows(number, rows, self.hidden)).transpose()?;
                } else if pending.is_none() && worth && number + 1 < self.layers.len() {
                    let (helper, its_owner) = PendingHelper::new(&self.layers, processor);
                    pending = ask(helper).then_some(its_owner);
                }
            }
            match &mut peer {
                Some(peer) => peer.forward(layer, processor, scratch, rows)?,
                None => layer.forward(processor, scratch, rows)?,
            }
        }
        peer.map_or(Ok(()), |peer| peer.take_rows_back(rows))
    }
}

/// Two tables of rows of [`Encoder::hidden`] values each. An embedding is the sum of one row of each.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// One for each token id.
    pub words: &'a [f32],
    /// One for each place in a text.
    pub positions: &'a [f32],
}

struct AddPositions<'a> {
    norm: &'a Norm,
    rows: &'a mut [f32],
    positions: &'a [f32],
}

impl Computation for AddPositions<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError> {
        self.norm.add_and_normalise(lanes, self.rows, self.positions)
    }
}
