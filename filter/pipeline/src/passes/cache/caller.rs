//! Who asks, as far as the cache is concerned: what separates its answers from those of others, and whether the provider has
//! just refused him. What is stored is a digest.

use std::borrow::Cow;

use sentinel_config::Config;

use crate::{host::Facts, note::Note, shared_data};

/// Headers that say who asks, or with what right. Who has another is another client, unless a filter before this one says who it is.
pub fn credentials(host: &dyn Facts) -> Vec<(String, Vec<Vec<u8>>)> {
    // Sorted as other lists of names are, so that the module has the code once.
    let mut names: Vec<Cow<'_, str>> = host.request_header_names().into_iter().map(Cow::Owned).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter(|name| is_credential(name))
        .map(|name| {
            let values = host.request_header_values(&name);
            (name.into_owned(), values)
        })
        .collect()
}

/// Whether a header of this name may say who asks: by its shape, so that the keys of an unknown provider separate answers too.
fn is_credential(name: &str) -> bool {
    let holds = [
        "authorization",
        "cookie",
        "credential",
        "secret",
        "password",
        "signature",
        "session",
        "api-key",
        "apikey",
        "user",
        "email",
        "principal",
        "identity",
        "consumer",
        "cert",
        "jwt",
    ];
    let last = name.rsplit(['-', '_']).next().unwrap_or(name);
    // What the client's program is called is not who asks.
    holds.iter().any(|part| name.contains(part)) && !name.ends_with("user-agent")
        || matches!(last, "key" | "token" | "auth" | "assertion")
}

/// Whether the request is signed (AWS Signature Version 4) and nobody says whose it is: a signature that was made up has the same
/// key, and only the provider can tell.
pub fn is_only_signed(config: &Config, host: &dyn Facts) -> bool {
    let is_signed = host
        .request_header_values("authorization")
        .iter()
        .any(|value| value.trim_ascii().starts_with(b"AWS4-"));
    is_signed && principal(config, host).is_none()
}

/// The header that says who asks, where a filter before this one has seen the key.
pub fn principal<'c>(config: &'c Config, host: &dyn Facts) -> Option<&'c str> {
    config.principal.as_deref().filter(|name| host.request_header(name).is_some_and(|name| !name.is_empty()))
}

/// Who asks, as a number: by host, and by the principal or the keys.
pub fn caller(config: &Config, host: &dyn Facts) -> u64 {
    let mut digest = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        digest.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
        digest.update(bytes);
    };
    add(&host.request_header(":authority").unwrap_or_default());
    match principal(config, host) {
        Some(name) => host.request_header_values(name).iter().for_each(|value| add(value)),
        None => credentials(host).iter().for_each(|(name, values)| {
            add(name.as_bytes());
            values.iter().for_each(|value| add(value));
        }),
    }
    u64::from_le_bytes(digest.finalize().as_bytes().first_chunk().copied().unwrap_or_default())
}

/// Whether the provider refused this caller when it was last asked, with 401: his key may be revoked.
pub fn is_refused(caller: u64, host: &dyn Facts) -> bool {
    shared_data::is_refused(host, caller)
}

/// The provider has answered. A 401 says that the key is not one; a success says that it is again. A 403 concerns the request alone.
pub fn answered(caller: u64, status: &[u8], host: &dyn Facts, notes: &mut Vec<Note>) {
    match status {
        b"401" => shared_data::change_refused(host, caller, notes, true),
        [b'2', _, _] if is_refused(caller, host) => shared_data::change_refused(host, caller, notes, false),
        _ => {}
    }
}
