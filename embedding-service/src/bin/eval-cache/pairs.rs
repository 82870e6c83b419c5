//! Reads the pairs. Judges none. They may be the project's own (`a`, `b`, `same_answer`), those of GPTCache's benchmark (`origin`,
//! `similar`: always one answer), or of Quora (`question1`, `question2`, `is_duplicate`); JSON lines or one JSON list.

use std::{fs, path::Path};

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    #[serde(alias = "origin", alias = "question1")]
    pub a: String,
    #[serde(alias = "similar", alias = "question2")]
    pub b: String,
    /// Whether one answer serves both.
    #[serde(alias = "is_duplicate", default = "yes", deserialize_with = "yes_or_no")]
    pub same_answer: bool,
    #[serde(default = "given")]
    pub category: String,
}

fn yes() -> bool {
    true
}

fn given() -> String {
    "given".to_owned()
}

/// `true`, `1` or `"1"`, and what stands against them.
fn yes_or_no<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Bool(value) => Ok(value),
        Value::Number(number) if number.as_u64() == Some(1) => Ok(true),
        Value::Number(number) if number.as_u64() == Some(0) => Ok(false),
        Value::String(text) if text == "1" => Ok(true),
        Value::String(text) if text == "0" => Ok(false),
        _ => Err(D::Error::custom("`same_answer` must be true or false")),
    }
}

/// # Errors
/// When the file cannot be read, a line is no pair, or the file holds no pair.
pub fn read(path: &Path) -> Result<Vec<Pair>, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let is_list = text.trim_start().starts_with('[');
    let pairs: Vec<Pair> = if is_list { list(&text, path)? } else { lines(&text, path)? };
    if pairs.is_empty() { Err(format!("{} holds no pair", path.display())) } else { Ok(pairs) }
}

fn list(text: &str, path: &Path) -> Result<Vec<Pair>, String> {
    serde_json::from_str(text).map_err(|error| format!("{}: {error}", path.display()))
}

fn lines(text: &str, path: &Path) -> Result<Vec<Pair>, String> {
    text
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
        .collect()
}
