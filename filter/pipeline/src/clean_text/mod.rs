//! What models leave in their texts that is not meant for a reader: their thinking, tool calls written as text, echoed system
//! messages. It is removed only at the beginning and at the end, and only if it certainly is no part of the answer. Between words
//! everything stays, code always stays, and no text is emptied. A text is read once, in whatever pieces it comes, and the result
//! does not depend on the pieces.
//!
//! What must not live here: where a text stands in an answer, and what is done with it.

mod cleaner;
mod code;
mod skipped;
mod tags;

pub use cleaner::Cleaner;
use strum::{IntoStaticStr, VariantArray};

/// What was taken out of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Removal {
    /// Tool calls as XML.
    ToolXml,
    /// Tool calls and results in brackets.
    ToolText,
    Thinking,
    /// The tags `<final>`, without what is in them.
    Final,
    /// `[System Message]`.
    SystemMessage,
    /// Blank lines at the beginning.
    BlankLines,
}

impl Removal {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// The kinds of removals that were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts(u8);

impl Cuts {
    pub fn add(&mut self, step: Removal) {
        self.0 |= 1 << (step as u8);
    }

    pub fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub fn has(self, step: Removal) -> bool {
        self.0 & (1 << (step as u8)) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A whole text, cleaned.
#[derive(Debug, PartialEq, Eq)]
pub struct Cleaned {
    pub text: String,
    pub cuts: Cuts,
    /// Something in it was too long to be judged. From there on, the text is as it came.
    pub is_partial: bool,
}

/// A text that is whole.
pub fn clean(text: &str) -> Cleaned {
    let (mut cleaner, mut left) = (Cleaner::default(), String::with_capacity(text.len()));
    cleaner.push(text, &mut left);
    cleaner.finish(&mut left);
    let cuts = cleaner.cuts();
    // The white space at the end belonged to what was removed.
    let text = if cuts.is_empty() { left } else { left.trim_end().to_owned() };
    Cleaned { text, cuts, is_partial: cleaner.is_partial() }
}

/// The word that says that there is nothing to say.
const NO_REPLY: &str = "NO_REPLY";

/// Whether an answer says that there is nothing to say: it begins or ends with the word.
pub fn is_no_reply(text: &str) -> bool {
    let text = text.trim();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.strip_prefix(NO_REPLY).is_some_and(|rest| !rest.starts_with(is_word))
        || text.strip_suffix(NO_REPLY).is_some_and(|before| !before.ends_with(is_word))
}

#[cfg(test)]
mod tests;
