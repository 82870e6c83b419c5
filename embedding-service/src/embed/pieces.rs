//! Prompt to word pieces, never more than the model's window, and a digest of what fell outside.

use std::path::Path;

use tokenizers::{Encoding, Tokenizer};

use super::{
    Cut, Cutter, EmbedError, ModelError,
    window::{self, Digest, Unseen},
};

/// Word pieces that the model reads, its two special ones included (all-MiniLM-L6-v2 was trained with 256).
pub const WINDOW: usize = 256;

/// A prompt ready for the model.
#[derive(Debug)]
pub struct Pieces {
    /// Piece ids with the special ones; 2 to [`WINDOW`] of them.
    pub ids: Vec<i64>,
    pub head: String,
    pub unseen: Option<Digest>,
}

/// The model's own tokeniser, with its padding and truncation switched off: both depend on other texts or come too late.
#[derive(Debug)]
pub struct PieceMaker {
    tokeniser: Tokenizer,
    unknown: Option<u32>,
}

impl PieceMaker {
    /// # Errors
    /// When the file cannot be read or is no tokeniser.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let failed = |cause: String| ModelError::Tokeniser { path: path.display().to_string(), cause };
        let mut tokeniser = Tokenizer::from_file(path).map_err(|e| failed(e.to_string()))?;
        tokeniser.with_padding(None);
        tokeniser.with_truncation(None).map_err(|e| failed(e.to_string()))?;
        let unknown = tokeniser.token_to_id("[UNK]");
        Ok(Self { tokeniser, unknown })
    }

    /// # Errors
    /// When the tokeniser fails, which it does on no text known to us.
    pub fn pieces(&self, prompt: &str) -> Result<Pieces, EmbedError> {
        let failed = |_| EmbedError::Tokenise { bytes: prompt.len() };
        let (head, rest) = window::cut(prompt);
        let mut encoding = self.tokeniser.encode_fast(head.as_str(), true).map_err(failed)?;
        let whole = rest.is_empty() && self.reads_all(&encoding, &head);
        if !whole {
            // Only here are the positions in the text needed, which cost a little more.
            encoding = self.tokeniser.encode(head.as_str(), true).map_err(failed)?;
        }
        let unseen = (!whole).then(|| self.unseen(&encoding, &head, rest)).flatten();
        Ok(Pieces { ids: within_window(encoding.get_ids()), head, unseen })
    }

    fn reads_all(&self, encoding: &Encoding, head: &str) -> bool {
        let ids = encoding.get_ids();
        let only_special = ids.len() <= 2 && !head.is_empty();
        ids.len() <= WINDOW && !only_special && !self.unknown.is_some_and(|unknown| ids.contains(&unknown))
    }

    /// What the model does not see: words that are unknown to it (it sees that there is one, not which), and all that
    /// follows the last piece in the window.
    fn unseen(&self, encoding: &Encoding, head: &str, rest: &str) -> Option<Digest> {
        let mut unseen = Unseen::default();
        let cut = encoding.len() > WINDOW;
        // The last place in the window belongs to the closing special piece.
        let read = if cut { WINDOW.saturating_sub(1) } else { encoding.len() };
        let mut end = 0;
        for (id, (from, to)) in encoding.get_ids().iter().zip(encoding.get_offsets()).take(read) {
            end = end.max(*to);
            if Some(*id) == self.unknown {
                unseen.separate();
                unseen.add(head.get(*from..*to).unwrap_or_default());
            }
        }
        unseen.separate();
        unseen.add(head.get(end..).unwrap_or_default());
        // The head was cut inside the text: at a gap or inside a word, the rest tells by itself.
        unseen.add(rest);
        unseen.digest()
    }
}

impl Cutter for PieceMaker {
    fn cut(&self, prompt: &str) -> Result<Cut, EmbedError> {
        let Pieces { ids, head, unseen } = self.pieces(prompt)?;
        Ok(Cut { chunks: vec![ids], head, unseen })
    }
}

/// The ids that fit: all of them, or the first and the closing special piece.
fn within_window(ids: &[u32]) -> Vec<i64> {
    if ids.len() <= WINDOW {
        return ids.iter().map(|id| i64::from(*id)).collect();
    }
    ids.iter().take(WINDOW.saturating_sub(1)).chain(ids.last()).map(|id| i64::from(*id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_keeps_the_first_pieces_and_the_closing_one() {
        let ids: Vec<u32> = (0..1000).collect();
        let kept = within_window(&ids);
        assert_eq!(kept.len(), WINDOW);
        assert_eq!(kept[..255], (0..255).collect::<Vec<i64>>());
        assert_eq!(kept[255], 999);
        assert_eq!(within_window(&ids[..256]).len(), 256);
        assert_eq!(within_window(&ids[..256])[255], 255);
    }
}
