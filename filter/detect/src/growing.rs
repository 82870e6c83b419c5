//! User texts that grow: some frameworks write a whole run into one message and add to it with each request. The part
//! that was added is what the agent says now. Reading steps from such a text is not done here.

use sentinel_text::digest;
use serde::{Deserialize, Serialize};

/// A shorter text may be the beginning of another one by chance (bytes).
const LEAST: usize = 24;
/// How many of the latest prompts are tried as the beginning of a text.
const LOOK_BACK: usize = 3;

/// The length of a text, and its digest. Holds no word of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Extent {
    /// Bytes, without white space at the end.
    length: u32,
    digest: u64,
}

impl Extent {
    pub fn of(text: &str) -> Self {
        let text = text.trim_end();
        u32::try_from(text.len())
            .map(|length| Self { length, digest: digest(text.as_bytes()) })
            .unwrap_or_default()
    }

    /// The lines that `text` adds to this one. Returns `None` when `text` does not begin with it, or adds no new line.
    fn addition(self, text: &str) -> Option<&str> {
        let length = usize::try_from(self.length).ok().filter(|length| *length >= LEAST)?;
        let (before, added) = text.split_at_checked(length)?;
        let is_new_line = added.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let added = added.trim();
        (is_new_line && !added.is_empty() && digest(before.as_bytes()) == self.digest).then_some(added)
    }
}

/// What `text` adds to the newest of the earlier texts that it begins with.
pub fn addition(earlier: impl Iterator<Item = Extent>, text: &str) -> Option<&str> {
    earlier.take(LOOK_BACK).find_map(|extent| extent.addition(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added<'t>(before: &[&str], text: &'t str) -> Option<&'t str> {
        addition(before.iter().rev().map(|before| Extent::of(before)), text)
    }

    #[test]
    fn what_new_lines_add_to_an_earlier_text() {
        let task = "New task:\nRead the twenty pages of the report.";
        let once = format!("{task}\nError:\nthe disk is full\n");
        let twice = format!("{once}\nError:\nthe disk is full\n");
        assert_eq!(added(&[task], &once), Some("Error:\nthe disk is full"));
        assert_eq!(added(&[task, &once], &twice), Some("Error:\nthe disk is full"));
        assert_eq!(added(&[task, "Something else was said here."], &once), Some("Error:\nthe disk is full"));
    }

    #[test]
    fn other_texts_are_none() {
        let task = "New task:\nRead the twenty pages of the report.";
        for (before, text) in [
            (task, task.to_owned()),
            (task, format!("{task} \n")),
            (task, format!("{task} And be quick.")),
            (task, format!("A {task}\nmore")),
            ("Hello.", "Hello.\nHow are you?".to_owned()),
            ("", "Hello, how are you on this fine day?".to_owned()),
            ("ääääääääääääää", format!("aäääääääääääää{}", "ä\n".repeat(9))),
        ] {
            assert_eq!(added(&[before], &text), None, "{text}");
        }
    }
}
