//! What is evidence of a loop: the steps that a history holds (`history`, `step`), the prompts that a window remembers
//! (`prompts`, `window`), the calls of MCP clients (`call_rate`), and the signals that read them (`signal`). Pure
//! functions of a conversation and a window: no host, no clock, no configuration file.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod arguments;
pub mod call_rate;
pub mod context;
pub mod growing;
pub mod history;
pub mod injection;
mod joined;
pub mod kept_history;
pub mod prompts;
pub mod signal;
pub mod step;
mod thresholds;
pub mod verdict;
pub mod window;

/// Whether `part` stands somewhere in `text`. Texts are long and searched often: many bytes at a time.
fn holds(text: &str, part: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some()
}
