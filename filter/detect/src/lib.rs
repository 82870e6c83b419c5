//! What is evidence of a loop: the steps that a history holds (`history`, `step`), the prompts that a window remembers
//! (`prompts`, `window`), the calls of MCP clients (`call_rate`), and the signals that read them (`signal`). Pure
//! functions of a conversation and a window: no host, no clock, no configuration file.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod arguments;
pub mod call_rate;
pub mod context;
pub mod growing;
pub mod history;
mod joined;
pub mod kept_history;
pub mod prompts;
mod reverse_search;
pub mod signal;
pub mod step;
mod thresholds;
pub mod verdict;
pub mod window;
mod word_set;
mod words;

pub use word_set::WordSet;

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// A string that texts are searched for. Texts are long and searched often, so the search looks at many bytes at a time, and is
/// prepared only once.
struct Sought(LazyLock<Finder<'static>>);

impl Sought {
    /// `finder`: makes the search for this string.
    const fn new(finder: fn() -> Finder<'static>) -> Self {
        Self(LazyLock::new(finder))
    }

    /// Whether it stands somewhere in `text`.
    fn is_in(&self, text: &str) -> bool {
        self.0.find(text.as_bytes()).is_some()
    }

    /// Where it stands in `text`.
    fn places<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        self.0.find_iter(text.as_bytes())
    }
}
