//! Texts joined with line ends between them.

use std::borrow::Cow;

/// A single text is not copied.
#[derive(Default)]
pub(crate) struct Joined<'a>(pub Cow<'a, str>);

impl<'a> Joined<'a> {
    pub fn push(&mut self, text: Cow<'a, str>) {
        if self.0.is_empty() {
            self.0 = text;
        } else {
            let joined = self.0.to_mut();
            joined.push('\n');
            joined.push_str(&text);
        }
    }
}
