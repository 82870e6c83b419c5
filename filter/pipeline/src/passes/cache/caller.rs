//! Who asks, for the cache: whose answers are kept apart from those of others, and whether the provider has just refused this
//! caller. Only a digest is stored.

use std::borrow::Cow;

use sentinel_config::Config;

use crate::{host::Facts, note::Note, shared_data};

/// Headers that say who asks, or with which rights. Callers with different headers are different clients, unless a filter before
/// this one says who they are.
pub fn credentials(host: &dyn Facts) -> Vec<(String, Vec<Vec<u8>>)> {
    // Sorted like other lists of names, so that the module has the code only once.
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

/// Whether a header of this name may say who asks. It is judged by its form, so that the keys of an unknown provider keep answers
/// apart too.
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
    // The name of the client's program does not say who asks.
    holds.iter().any(|part| name.contains(part)) && !name.ends_with("user-agent")
        || matches!(last, "key" | "token" | "auth" | "assertion")
}

/// Whether the request is signed (AWS Signature Version 4) and no other header says whose it is. A made-up signature may name the
/// same key, and only the provider can tell.
pub fn is_only_signed(config: &Config, host: &dyn Facts) -> bool {
    let is_signed = host
        .request_header_values("authorization")
        .iter()
        .any(|value| value.trim_ascii().starts_with(b"AWS4-"));
    is_signed && principal(config, host).is_none()
}

/// The header that says who asks, if a filter before this one has checked the key.
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

/// Whether the provider's last answer to this caller was a 401: the key may be revoked.
pub fn is_refused(caller: u64, host: &dyn Facts) -> bool {
    shared_data::is_refused(host, caller)
}

/// The provider has answered. A 401 says that the key is not valid, and a success says that it is valid again. A 403 is only
/// about this request.
pub fn answered(caller: u64, status: &[u8], host: &dyn Facts, notes: &mut Vec<Note>) {
    match status {
        b"401" => shared_data::change_refused(host, caller, notes, true),
        [b'2', _, _] if is_refused(caller, host) => shared_data::change_refused(host, caller, notes, false),
        _ => {}
    }
}
