//! The command `hash`: what logs, events and spans call an agent, a run or a tenant of this name.

use clap::Args;

/// Print the digests of names, as they stand in the events and in the log
#[derive(Args, Debug)]
pub struct Hash {
    /// Names of agents (`x-agent-id`) or runs (`x-run-id`)
    #[arg(required = true)]
    names: Vec<String>,
}

impl Hash {
    /// A line for each name: its digest, and the name.
    #[must_use]
    pub fn lines(&self) -> String {
        let line = |name: &String| format!("{:016x}  {name}\n", sentinel_text::digest(name.as_bytes()));
        self.names.iter().map(line).collect()
    }
}
