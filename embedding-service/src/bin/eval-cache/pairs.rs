//! Reads the pairs. Judges none.

use std::{fs, path::Path};

use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    pub a: String,
    pub b: String,
    /// Whether one answer serves both.
    pub same_answer: bool,
    pub category: String,
}

/// # Errors
/// When the file cannot be read, a line is no pair, or there is none.
pub fn read(path: &Path) -> Result<Vec<Pair>, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let pairs: Vec<Pair> = text
        .lines()
        .zip(1_usize..)
        .filter(|(line, _)| !line.trim().is_empty())
        .map(|(line, number)| {
            serde_json::from_str(line).map_err(|error| {
                format!(
                    "{}, line {number}: {error}. Give {{\"a\": text, \"b\": text, \"same_answer\": true or false, \"category\": text}}",
                    path.display()
                )
            })
        })
        .collect::<Result<_, _>>()?;
    if pairs.is_empty() { Err(format!("{} holds no pair", path.display())) } else { Ok(pairs) }
}
