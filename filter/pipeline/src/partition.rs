//! The partition of a request: a digest of everything that decides what the answer may be, except the last user text. Answers are
//! never shared between two partitions. It holds no secret, because all Envoys that share a store must compute the same value.

use sentinel_config::{CachePolicy, Config};
use sentinel_llm_api::{
    conversation::BodyField, dialect::DialectRef, path::without_stream, question::Question,
};

use crate::{host::Facts, passes::cache::caller, stored::Partition};

/// Raised with every change of what is digested or of how an answer is written.
const VERSION: &[u8] = b"sentinel answer 3";

/// Headers that change what providers answer, or for whom.
const HEADERS: [&str; 13] = [
    "anthropic-beta",
    "anthropic-version",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "api-revision",
    "x-goog-user-project",
    "x-vertex-ai-llm-request-type",
    "x-vertex-ai-llm-shared-request-type",
    "x-amzn-bedrock-guardrailidentifier",
    "x-amzn-bedrock-guardrailversion",
    "x-amzn-bedrock-performanceconfig-latency",
    "x-amzn-bedrock-service-tier",
];

/// Names in a body's metadata that only say which agent or run sends it.
pub fn names<'c>(config: &'c Config, policy: &CachePolicy) -> Vec<&'c str> {
    let of = |fields: &'c [BodyField]| {
        fields.iter().filter_map(|field| match field {
            BodyField::Metadata(name) => Some(name.as_str()),
            BodyField::User | BodyField::SafetyIdentifier => None,
        })
    };
    let tenant: Vec<&str> = of(&config.tenant.body).collect();
    let mut names: Vec<&str> = of(&config.agent.body).chain(of(&config.run.body)).collect();
    if policy.is_shared {
        names.extend(tenant);
    } else {
        names.retain(|name| !tenant.contains(name));
    }
    names
}

/// The partition of a request that is still held. `cleans`: its answer is cleaned before the agent gets it.
pub fn partition(
    config: &Config,
    policy: &CachePolicy,
    cleans: bool,
    dialect: DialectRef,
    question: &Question<'_>,
    host: &dyn Facts,
) -> Partition {
    let mut digest = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        digest.update(bytes);
    };
    field(VERSION, &mut add);
    field(dialect.label().as_bytes(), &mut add);
    field(&host.request_header(":authority").unwrap_or_default(), &mut add);
    let target = host.request_header(":path").unwrap_or_default();
    match std::str::from_utf8(&target) {
        Ok(target) => field(without_stream(dialect, target).as_bytes(), &mut add),
        Err(_) => field(&target, &mut add),
    }
    for name in HEADERS {
        header(name, host, &mut add);
    }
    for name in &policy.headers {
        field(name.as_bytes(), &mut add);
        header(name, host, &mut add);
    }
    // The stored answer is what the agent got, cleaned or not. Answers that may have calls are stored apart from those that may not.
    add(&[u8::from(cleans) | u8::from(policy.wanted.with_calls) << 1]);
    // Who asks counts, unless answers are shared.
    add(&[u8::from(policy.is_shared)]);
    if !policy.is_shared {
        config.tenant.headers.iter().for_each(|name| header(name, host, &mut add));
        match caller::principal(config, host) {
            Some(name) => header(name, host, &mut add),
            None => caller::credentials(host).iter().for_each(|(name, values)| {
                field(name.as_bytes(), &mut add);
                list(&values.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut add);
            }),
        }
    }
    question.write_rest(&mut add);
    digest.finalize().as_bytes().first_chunk().copied().unwrap_or_default()
}

fn field(bytes: &[u8], add: &mut impl FnMut(&[u8])) {
    add(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
    add(bytes);
}

fn list(values: &[&[u8]], add: &mut impl FnMut(&[u8])) {
    add(&u64::try_from(values.len()).unwrap_or(u64::MAX).to_le_bytes());
    values.iter().for_each(|value| field(value, add));
}

fn header(name: &str, host: &dyn Facts, add: &mut impl FnMut(&[u8])) {
    let values = host.request_header_values(name);
    list(&values.iter().map(Vec::as_slice).collect::<Vec<_>>(), add);
}
