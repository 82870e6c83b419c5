//! Prompt to tokens, a bounded number of them, and a digest of what the model is not given.

use std::path::Path;

use tokenizers::{Encoding, Tokenizer};

use super::{
    TokenisedPrompt, Tokeniser,
    error::{EmbedError, ModelError},
    truncation::{self, UnseenDigest, UnseenText},
};

/// A prompt of at most this many tokens, special ones included, is read as a whole. Rewordings are that short: of 999 public pairs, 99 in 100
/// stay below 98 tokens.
pub const MAX_TOKENS: usize = 128;
/// The tokens that are read of a longer prompt, special ones included. What follows must have the same digest anyway, so more inference
/// would tell nothing more.
pub const LONG_PROMPT_TOKENS: usize = 32;

/// The model's own tokeniser, with its padding and truncation switched off: both depend on other texts or come too late.
#[derive(Debug)]
pub struct ModelTokeniser {
    tokenizer: Tokenizer,
    unknown: Option<u32>,
    /// [`MAX_TOKENS`] and [`LONG_PROMPT_TOKENS`], or less where the model reads less.
    max_tokens: usize,
    long_prompt_tokens: usize,
}

impl ModelTokeniser {
    /// `limit`: tokens that the model reads, if that is known.
    ///
    /// # Errors
    /// When the file cannot be read or is no tokeniser.
    pub fn load(path: &Path, limit: Option<usize>) -> Result<Self, ModelError> {
        let failed = |cause: String| ModelError::Tokeniser { path: path.display().to_string(), cause };
        let mut tokenizer = Tokenizer::from_file(path).map_err(|e| failed(e.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| failed(e.to_string()))?;
        // BERT's name and that of the others.
        let unknown = tokenizer.token_to_id("[UNK]").or_else(|| tokenizer.token_to_id("<unk>"));
        let limit = limit.unwrap_or(MAX_TOKENS);
        let (max_tokens, long_prompt_tokens) = (MAX_TOKENS.min(limit), LONG_PROMPT_TOKENS.min(limit));
        Ok(Self { tokenizer, unknown, max_tokens, long_prompt_tokens })
    }

    /// The largest id that a token can have.
    #[must_use]
    pub fn largest_id(&self) -> i64 {
        self.tokenizer.get_vocab(true).into_values().max().map_or(0, i64::from)
    }

    /// As much of a long prompt's head as is sure to hold the [`LONG_PROMPT_TOKENS`] that are read.
    fn beginning<'a>(&self, head: &'a str) -> &'a str {
        let mut missing = self.long_prompt_tokens;
        let read = head.split_inclusive(' ').take_while(|part| {
            let goes_on = missing > 0;
            missing = missing.saturating_sub(usize::from(has_token(part)));
            goes_on
        });
        head.get(..read.map(str::len).sum()).unwrap_or(head)
    }

    fn sees_all(&self, encoding: &Encoding, head: &str) -> bool {
        let ids = encoding.get_ids();
        let only_special =
            !head.is_empty() && encoding.get_special_tokens_mask().iter().all(|special| *special == 1);
        ids.len() <= self.max_tokens
            && !only_special
            && !self.unknown.is_some_and(|unknown| ids.contains(&unknown))
    }

    /// What the model is not given: words that are unknown to it (it sees that there is one, not which), and all that
    /// follows the last of the `given` tokens.
    fn unseen(&self, encoding: &Encoding, given: usize, head: &str, rest: &str) -> Option<UnseenDigest> {
        let mut unseen = UnseenText::default();
        // Of a truncated prompt, the last token given is the closing special one.
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
        // The head ends inside the prompt: at a gap or inside a word, the rest tells by itself.
        unseen.add(rest);
        unseen.digest()
    }
}

impl Tokeniser for ModelTokeniser {
    /// At most [`MAX_TOKENS`]. Fails on no text known to us.
    fn tokenise(&self, prompt: &str) -> Result<TokenisedPrompt, EmbedError> {
        let failed = |_| EmbedError::Tokenise { bytes: prompt.len() };
        let (head, rest) = truncation::truncate(prompt);
        let is_long = !rest.is_empty() || words(&head).count() >= self.max_tokens;
        // Positions in the text, which cost a little more, are needed only where not all of it is read.
        let (encoding, sees_all) = if is_long {
            (self.tokenizer.encode(self.beginning(&head), true).map_err(failed)?, false)
        } else {
            let encoding = self.tokenizer.encode_fast(head.as_str(), true).map_err(failed)?;
            let sees_all = self.sees_all(&encoding, &head);
            let again = || self.tokenizer.encode(head.as_str(), true).map_err(failed);
            (if sees_all { encoding } else { again()? }, sees_all)
        };
        let is_short = !is_long && encoding.len() <= self.max_tokens;
        let limit = if is_short { self.max_tokens } else { self.long_prompt_tokens };
        let token_ids = truncated(encoding.get_ids(), limit);
        let unseen = (!sees_all).then(|| self.unseen(&encoding, token_ids.len(), &head, rest)).flatten();
        Ok(TokenisedPrompt { token_ids, head, unseen })
    }

    /// A token for each word, up to where a prompt may count as long.
    fn least_tokens(&self, prompt: &str) -> usize {
        words(prompt).take(self.long_prompt_tokens).count()
    }
}

/// Whether a word is one token at least.
fn has_token(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace().filter(|word| has_token(word))
}

/// The ids if they are no more than `limit`, else the first of them and the closing special one.
fn truncated(ids: &[u32], limit: usize) -> Vec<i64> {
    if ids.len() <= limit {
        return ids.iter().map(|id| i64::from(*id)).collect();
    }
    ids.iter().take(limit.saturating_sub(1)).chain(ids.last()).map(|id| i64::from(*id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncating_keeps_the_first_tokens_and_the_closing_one() {
        let ids: Vec<u32> = (0..1000).collect();
        let kept = truncated(&ids, 64);
        assert_eq!(kept.len(), 64);
        assert_eq!(kept[..63], (0..63).collect::<Vec<i64>>());
        assert_eq!(kept[63], 999);
        assert_eq!(truncated(&ids[..64], 64), (0..64).collect::<Vec<i64>>());
    }
}
