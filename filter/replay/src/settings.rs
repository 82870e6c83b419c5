//! The user's configuration of the filter, from its file.

use std::fs;
use std::path::Path;

use sentinel_replay_core::settings::{Settings, with};
use serde_json::json;

/// `with_service`: the embedding service is there.
pub fn read(path: Option<&Path>, with_service: bool) -> Result<Settings, String> {
    let Some(path) = path else { return with(json!({}), "the default configuration", with_service) };
    let name = path.display().to_string();
    let text = fs::read(path)
        .map_err(|error| format!("{name}: {error}. Give the path of the filter's configuration, in JSON."))?;
    let given = serde_json::from_slice(&text).map_err(|error| format!("{name}: not JSON ({error})."))?;
    with(given, &name, with_service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let said = read(Some(Path::new("/nowhere/at/all")), false).err().expect("refused");
        assert!(said.contains("/nowhere/at/all"));
    }
}
