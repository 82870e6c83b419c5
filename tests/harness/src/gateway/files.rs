//! The files of envoy/production, as a gateway has them: copies with keys, which can be replaced while Envoy runs.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};

use super::{ADMIN, ALICE, BOB, Client, provider_key};
use crate::parts;

/// A file of envoy/production.
pub fn shipped(name: &str) -> String {
    let path = parts::root().join("envoy/production").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Copies the files of envoy/production into this folder, with the keys of [`ALICE`], [`BOB`], [`ADMIN`] and
/// [`provider_key`].
pub fn fill_in(folder: &Path) {
    fs::create_dir(folder.join("keys")).expect("a folder");
    for name in ["openai", "openai_backup", "anthropic", "gemini", "groq"] {
        let key = shipped(&format!("keys/{name}.yaml")).replace("replace-me", &provider_key(name));
        replace(folder, &format!("keys/{name}.yaml"), &key);
    }
    replace(folder, "clients.yaml", &with_clients(&shipped("clients.yaml"), &[ALICE, BOB, ADMIN]));
    replace(folder, "paths.yaml", &shipped("paths.yaml"));
    replace(folder, "limits.yaml", &shipped("limits.yaml"));
}

pub(super) fn with_clients(text: &str, clients: &[Client]) -> String {
    let lines: Vec<String> =
        clients.iter().map(|Client { name, key }| format!("{{client: {name}, key: {key}}}")).collect();
    assert_eq!(text.matches("credentials: []").count(), 1, "clients.yaml is not empty");
    text.replace("credentials: []", &format!("credentials: [{}]", lines.join(", ")))
}

pub(super) fn replace(folder: &Path, name: &str, text: &str) {
    let (file, new) = (folder.join(name), folder.join("new"));
    fs::write(&new, text).expect("the file is written");
    fs::rename(new, file).expect("the file is put in its place");
}

/// A loopback address and port that no other test uses: the address depends on this process, and the port is counted
/// up.
pub(super) fn own_address() -> String {
    static PORT: AtomicU16 = AtomicU16::new(20_000);
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    let port = PORT.fetch_add(1, Ordering::Relaxed);
    format!("address: 127.{}.{middle}.{low}, port_value: {port}", 64 + high % 64)
}
