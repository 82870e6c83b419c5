//! What a result says, out of what dialects and frameworks wrap it in.

use std::borrow::Cow;

use sentinel_llm_api::json;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Results are taken out of what they are wrapped in up to this size (bytes).
const MAX_WRAPPED: usize = 65_536;

/// What a result says: a string, a list of texts, or an object with one member that is called `output` or `result`.
/// Anything else stands for itself.
pub(crate) fn read(result: Option<&RawValue>) -> Cow<'_, str> {
    result.map_or(Cow::Borrowed(""), said)
}

fn said(result: &RawValue) -> Cow<'_, str> {
    let raw = result.get();
    let unwrapped = match raw.bytes().next() {
        Some(b'"') => json::text(result),
        Some(b'[') if raw.len() <= MAX_WRAPPED => texts(result).map(Cow::Owned),
        Some(b'{') if raw.len() <= MAX_WRAPPED => only_member(result),
        _ => None,
    };
    unwrapped.unwrap_or(Cow::Borrowed(raw))
}

/// The texts of a list of blocks that all have a text, or JSON. The first block that has neither ends the look.
fn texts(result: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow, alias = "json")]
        text: &'a RawValue,
    }
    let blocks: Vec<Block> = serde_json::from_str(result.get()).ok()?;
    let said =
        |block: &Block<'_>| json::string(block.text).unwrap_or(Cow::Borrowed(block.text.get())).into_owned();
    (!blocks.is_empty()).then(|| blocks.iter().map(said).collect::<Vec<_>>().join("\n"))
}

/// The only member of an object, where it is a wrapper's. Any other key ends the look.
fn only_member(result: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped<'a> {
        #[serde(borrow, alias = "result")]
        output: &'a RawValue,
    }
    let Wrapped { output } = serde_json::from_str(result.get()).ok()?;
    if output.get().starts_with('"') { json::string(output) } else { Some(Cow::Borrowed(output.get())) }
}
