//! Writes an entry as the fields of a Redis hash, and reads it back. A hash of another version, with a missing field or with changed bytes
//! is rejected: its version or its digest does not match.

use std::{collections::HashMap, sync::Arc};

use super::super::{Entry, EntryId, Owner, Partition, StoredQuestion, learning::Observations};
use super::command::vector_bytes;
use crate::embed::truncation::UnseenDigest;

/// Raised with every change of the fields or of their meaning.
const VERSION: &str = "2";

/// In the order in which the digest takes them.
const NAMES: [&str; 10] =
    ["v", "tenant", "agent", "stored_at", "has_text", "text", "unseen", "answer", "observed", "vec"];

pub fn fields(entry: &Entry) -> Vec<(&'static str, Vec<u8>)> {
    let asked = entry.asked.as_ref();
    let values = [
        VERSION.into(),
        entry.owner.tenant.clone().into_bytes(),
        entry.owner.agent.clone().into_bytes(),
        entry.stored_at.to_string().into_bytes(),
        u8::from(asked.is_some()).to_string().into_bytes(),
        asked.map(|asked| asked.text.clone().into_bytes()).unwrap_or_default(),
        asked.and_then(|asked| asked.unseen).map(|unseen| unseen.to_hex().into_bytes()).unwrap_or_default(),
        entry.answer.to_vec(),
        entry.observations.to_bytes(),
        asked.map(|asked| vector_bytes(&asked.vector)).unwrap_or_default(),
    ];
    let digest = digest(entry.partition, entry.id, values.iter().map(Vec::as_slice));
    NAMES.into_iter().zip(values).chain([("digest", digest.into_bytes())]).collect()
}

/// `None` unless the fields are, to the bit, what was stored under this partition and id.
pub fn entry(partition: Partition, id: EntryId, mut fields: HashMap<String, Vec<u8>>) -> Option<Entry> {
    // An entry without a text has no vector either.
    fields.entry("vec".to_owned()).or_default();
    let values: Vec<&[u8]> =
        NAMES.iter().map(|name| fields.get(*name).map(Vec::as_slice)).collect::<Option<_>>()?;
    if *fields.get("digest")? != digest(partition, id, values.into_iter()).into_bytes() {
        return None;
    }
    let mut text = |name: &str| String::from_utf8(fields.remove(name)?).ok();
    if text("v")? != VERSION {
        return None;
    }
    let owner = Owner { tenant: text("tenant")?, agent: text("agent")? };
    let stored_at = text("stored_at")?.parse().ok()?;
    let has_text = text("has_text")? == "1";
    let (asked, unseen) = (text("text")?, text("unseen")?);
    let vector: Arc<[f32]> =
        fields.get("vec")?.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let asked =
        has_text.then(|| StoredQuestion { text: asked, vector, unseen: UnseenDigest::from_hex(&unseen) });
    let observations = Observations::from_bytes(fields.get("observed")?)?;
    let answer = fields.remove("answer")?.into();
    Some(Entry { partition, id, owner, asked, answer, stored_at, observations })
}

/// The digest covers partition and id too, so that an entry that was copied to another key is rejected.
fn digest<'a>(partition: Partition, id: EntryId, values: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{partition}/{id}").as_bytes());
    for value in values {
        // The length before each value makes the boundaries between the values part of the digest.
        hasher.update(&value.len().to_le_bytes());
        hasher.update(value);
    }
    hasher.finalize().to_hex().to_string()
}
