//! Prompt to word pieces, a bounded number of them, and a digest of what the model is not given.

use std::path::Path;

use tokenizers::{Encoding, Tokenizer};

use super::{
    Cut, Cutter, EmbedError, ModelError,
    window::{self, Digest, Unseen},
};

/// A text of at most so many word pieces, the special ones included, is read as a whole. Rewordings are that short: of 999
/// public pairs, 99 in 100 stay below 98 pieces.
pub const WHOLE: usize = 128;
/// So many are read of a longer text, the special ones included. What follows must agree by its digest anyway, so more
/// inference would tell nothing more.
pub const HEAD: usize = 32;

/// The model's own tokeniser, with its padding and truncation switched off: both depend on other texts or come too late.
#[derive(Debug)]
pub struct PieceMaker {
    tokeniser: Tokenizer,
    unknown: Option<u32>,
    /// [`WHOLE`] and [`HEAD`], or less where the model reads less.
    whole: usize,
    head: usize,
}

impl PieceMaker {
    /// `longest`: word pieces that the model reads, if that is known.
    ///
    /// # Errors
    /// When the file cannot be read or is no tokeniser.
    pub fn load(path: &Path, longest: Option<usize>) -> Result<Self, ModelError> {
        let failed = |cause: String| ModelError::Tokeniser { path: path.display().to_string(), cause };
        let mut tokeniser = Tokenizer::from_file(path).map_err(|e| failed(e.to_string()))?;
        tokeniser.with_padding(None);
        tokeniser.with_truncation(None).map_err(|e| failed(e.to_string()))?;
        // BERT's name and that of the others.
        let unknown = tokeniser.token_to_id("[UNK]").or_else(|| tokeniser.token_to_id("<unk>"));
        let longest = longest.unwrap_or(WHOLE);
        Ok(Self { tokeniser, unknown, whole: WHOLE.min(longest), head: HEAD.min(longest) })
    }

    /// The largest id that a piece can have.
    #[must_use]
    pub fn largest_id(&self) -> i64 {
        self.tokeniser.get_vocab(true).into_values().max().map_or(0, i64::from)
    }

    /// As much of a long text's head as is sure to hold the [`HEAD`] pieces that are read.
    fn opening<'a>(&self, head: &'a str) -> &'a str {
        let mut missing = self.head;
        let read = head.split_inclusive(' ').take_while(|part| {
            let goes_on = missing > 0;
            missing = missing.saturating_sub(usize::from(is_piece(part)));
            goes_on
        });
        head.get(..read.map(str::len).sum()).unwrap_or(head)
    }

    fn reads_all(&self, encoding: &Encoding, head: &str) -> bool {
        let ids = encoding.get_ids();
        let only_special =
            !head.is_empty() && encoding.get_special_tokens_mask().iter().all(|special| *special == 1);
        ids.len() <= self.whole
            && !only_special
            && !self.unknown.is_some_and(|unknown| ids.contains(&unknown))
    }

    /// What the model is not given: words that are unknown to it (it sees that there is one, not which), and all that
    /// follows the last of the `given` pieces.
    fn unseen(&self, encoding: &Encoding, given: usize, head: &str, rest: &str) -> Option<Digest> {
        let mut unseen = Unseen::default();
        // Of a text that was cut, the last piece given is the closing special one.
        let read = if given < encoding.len() { given.saturating_sub(1) } else { given };
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
    /// At most [`WHOLE`] pieces. Fails on no text known to us.
    fn cut(&self, prompt: &str) -> Result<Cut, EmbedError> {
        let failed = |_| EmbedError::Tokenise { bytes: prompt.len() };
        let (head, rest) = window::cut(prompt);
        let is_long = !rest.is_empty() || words(&head).count() >= self.whole;
        // Positions in the text, which cost a little more, are needed only where not all of it is read.
        let (encoding, whole) = if is_long {
            (self.tokeniser.encode(self.opening(&head), true).map_err(failed)?, false)
        } else {
            let encoding = self.tokeniser.encode_fast(head.as_str(), true).map_err(failed)?;
            let whole = self.reads_all(&encoding, &head);
            let again = || self.tokeniser.encode(head.as_str(), true).map_err(failed);
            (if whole { encoding } else { again()? }, whole)
        };
        let is_short = !is_long && encoding.len() <= self.whole;
        let pieces = first(encoding.get_ids(), if is_short { self.whole } else { self.head });
        let unseen = (!whole).then(|| self.unseen(&encoding, pieces.len(), &head, rest)).flatten();
        Ok(Cut { pieces, head, unseen })
    }

    /// A piece for each word, up to where a text may count as long.
    fn at_least(&self, prompt: &str) -> usize {
        words(prompt).take(self.head).count()
    }
}

/// Whether a word is a piece at least.
fn is_piece(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace().filter(|word| is_piece(word))
}

/// The ids if they are no more than `limit`, else the first of them and the closing special one.
fn first(ids: &[u32], limit: usize) -> Vec<i64> {
    if ids.len() <= limit {
        return ids.iter().map(|id| i64::from(*id)).collect();
    }
    ids.iter().take(limit.saturating_sub(1)).chain(ids.last()).map(|id| i64::from(*id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_the_first_pieces_and_the_closing_one() {
        let ids: Vec<u32> = (0..1000).collect();
        let kept = first(&ids, 64);
        assert_eq!(kept.len(), 64);
        assert_eq!(kept[..63], (0..63).collect::<Vec<i64>>());
        assert_eq!(kept[63], 999);
        assert_eq!(first(&ids[..64], 64), (0..64).collect::<Vec<i64>>());
    }
}
