//! What can be wrong with shapes: of weights, of an input, or, by a fault of this crate, between two steps.

/// Weights that do not fit together or that this crate cannot compute with, an input that does not fit them, or a broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    #[error("{name} has {got} values, not {expected}")]
    Length { name: &'static str, got: usize, expected: usize },
    #[error("{name} has a value that is not finite")]
    NotFinite { name: &'static str },
    #[error(
        "{name} is {inputs} by {outputs}; inputs must be a multiple of 16 up to 65000, outputs a multiple of 48"
    )]
    Size { name: &'static str, inputs: usize, outputs: usize },
    #[error("{hidden} values in {heads} heads; a head must have 32 or 64 of them")]
    Heads { hidden: usize, heads: usize },
    #[error("{got} values are no rows of {hidden}")]
    Rows { got: usize, hidden: usize },
    #[error("an encoder has at least one layer")]
    NoLayer,
    #[error("a layer has rows of {got} values, another of {hidden}")]
    Layers { got: usize, hidden: usize },
    #[error("{got} tokens; there must be 1 to {most}")]
    TokenCount { got: usize, most: usize },
    #[error("{got} is no token id; there are {tokens}")]
    TokenId { got: i64, tokens: usize },
    #[error("the mean has {hidden} values, not {got}")]
    Mean { got: usize, hidden: usize },
    /// A fault of this crate: what one step has left does not have the shape that the next one needs.
    #[error(
        "the encoder broke an invariant of its own: {0}. This is a fault of sentinel-encoder; please report it"
    )]
    Invariant(&'static str),
}

/// Ends a computation whose shapes do not fit.
pub(crate) fn ensure(holds: bool, invariant: &'static str) -> Result<(), ShapeError> {
    if holds { Ok(()) } else { Err(ShapeError::Invariant(invariant)) }
}

/// Like [`ensure`], for a value that is missing if the invariant is broken.
pub(crate) trait OrBroken<T> {
    fn or_broken(self, invariant: &'static str) -> Result<T, ShapeError>;
}

impl<T> OrBroken<T> for Option<T> {
    #[inline(always)]
    fn or_broken(self, invariant: &'static str) -> Result<T, ShapeError> {
        self.ok_or(ShapeError::Invariant(invariant))
    }
}
