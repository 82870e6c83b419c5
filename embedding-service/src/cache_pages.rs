//! The administration of the response cache over HTTP: `GET /v1/cache/stats`, `GET /v1/cache/entries/ID` and `DELETE /v1/cache`. The paths
//! are served on the gRPC port, which the gateway reaches; it decides who may ask. They are also served on the operators' port. There
//! entries can be read and erased only from this machine, because whoever may read metrics is not always an administrator.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, RawQuery, State},
    http::StatusCode,
    routing::{delete, get},
};
use sentinel_text::{digest, digest_pair};
use serde_json::{Value, json};

use crate::cache::{EntryId, Erase, Owner, Partition, answer, response_cache::ResponseCache};

const HOW: &str = "give all=true, entry=ID, or tenant=NAME and/or client=NAME, with or without agent=NAME";

const NO_ENTRY: &str = "entry is no id of a stored answer; give it as the log has it, two times 32 hex digits with a colon between them";

type Cache = Option<Arc<ResponseCache>>;

/// All pages.
pub fn router(cache: Cache) -> Router {
    Router::new()
        .route("/v1/cache", delete(erase))
        .route("/v1/cache/entries/{entry}", get(entry))
        .with_state(cache.clone())
        .merge(stats_router(cache))
}

/// What changes nothing.
pub fn stats_router(cache: Cache) -> Router {
    Router::new().route("/v1/cache/stats", get(stats)).with_state(cache)
}

async fn stats(State(cache): State<Cache>) -> (StatusCode, Json<Value>) {
    let Some(cache) = cache else { return switched_off() };
    let counts = cache.look_ups();
    let bypasses: u64 = counts.bypasses.iter().map(|(_, number)| number).sum();
    let hits = counts.exact.saturating_add(counts.semantic);
    let requests = hits.saturating_add(counts.misses).saturating_add(bypasses);
    #[allow(clippy::cast_precision_loss)] // a share
    let hit_rate = if requests == 0 { 0.0 } else { hits as f64 / requests as f64 };
    let causes: serde_json::Map<String, Value> =
        counts.bypasses.iter().map(|(cause, number)| ((*cause).to_owned(), json!(number))).collect();
    // If the store does not answer, the other figures are shown all the same.
    let stored_items = cache.count().await.ok();
    let tokens = counts.saved_input_tokens.saturating_add(counts.saved_output_tokens);
    let page = json!({
        "total_requests": requests,
        "cache_hits": hits,
        "hits": {"exact": counts.exact, "semantic": counts.semantic},
        "cache_misses": counts.misses,
        "bypasses": bypasses,
        "bypasses_by_cause": causes,
        "cache_hit_rate": hit_rate,
        "stored_items": stored_items,
        "saved": {
            "tokens": tokens,
            "input_tokens": counts.saved_input_tokens,
            "output_tokens": counts.saved_output_tokens,
            "usd": counts.saved_usd,
        },
        "ttl_seconds": cache.options().ttl.as_secs(),
    });
    (StatusCode::OK, Json(page))
}

/// One stored answer with the question that it was stored for: why a request was given it.
async fn entry(State(cache): State<Cache>, Path(name): Path<String>) -> (StatusCode, Json<Value>) {
    let Some(Erase::Entry(partition, id)) = entry_named(&name) else {
        return refused(StatusCode::BAD_REQUEST, NO_ENTRY);
    };
    let Some(cache) = cache else { return switched_off() };
    let entry = match cache.entry(partition, id).await {
        Ok(Some(entry)) => entry,
        Ok(None) => return refused(StatusCode::NOT_FOUND, "no answer is stored under this id, or no more"),
        Err(error) => {
            return refused(StatusCode::SERVICE_UNAVAILABLE, &format!("the entry cannot be read: {error}"));
        }
    };
    let answer = answer::decode(&entry.answer);
    let page = json!({
        "entry": entry.name(),
        // Null where texts of prompts are not stored, or this one is too long.
        "question": entry.asked.as_ref().map(|asked| asked.text.as_str()),
        "answer": answer.as_ref().map(|answer| answer.text.as_str()),
        "calls": answer.as_ref().and_then(|answer| answer.called.as_ref()).map(|called| {
            called.calls.iter().map(|call| json!({"name": call.name, "arguments": call.arguments})).collect::<Vec<_>>()
        }),
        "model": answer.as_ref().map(|answer| answer.model.as_str()),
        "tenant": entry.owner.tenant,
        "agent": entry.owner.agent,
        "stored_at_ms": entry.stored_at,
    });
    (StatusCode::OK, Json(page))
}

async fn erase(State(cache): State<Cache>, RawQuery(query): RawQuery) -> (StatusCode, Json<Value>) {
    let what = match what_is_meant(query.as_deref().unwrap_or_default()) {
        Ok(what) => what,
        Err(problem) => return refused(StatusCode::BAD_REQUEST, &problem),
    };
    let Some(cache) = cache else { return switched_off() };
    match cache.erase(&what).await {
        Ok(erased) => (StatusCode::OK, Json(json!({"erased": erased}))),
        Err(error) => {
            refused(StatusCode::SERVICE_UNAVAILABLE, &format!("not all is erased: {error}. Ask again"))
        }
    }
}

fn switched_off() -> (StatusCode, Json<Value>) {
    refused(StatusCode::NOT_FOUND, "the response cache is switched off (LOOP_CACHE)")
}

fn refused(status: StatusCode, problem: &str) -> (StatusCode, Json<Value>) {
    (status, Json(json!({"error": problem})))
}

/// What a query names.
fn what_is_meant(query: &str) -> Result<Erase, String> {
    let mut fields: [(&str, Option<String>); 5] =
        [("all", None), ("entry", None), ("tenant", None), ("client", None), ("agent", None)];
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Some((_, field)) = fields.iter_mut().find(|(known, _)| *known == name) else {
            return Err(format!("the query has a field that is not known here; {HOW}"));
        };
        let value = decoded(value).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| format!("{} is empty or no text; {HOW}", name))?;
        if field.replace(value).is_some() {
            return Err(format!("{name} is there twice; {HOW}"));
        }
    }
    match fields.map(|(_, value)| value) {
        [Some(all), None, None, None, None] if all == "true" => Ok(Erase::All),
        [None, Some(entry), None, None, None] => entry_named(&entry).ok_or_else(|| NO_ENTRY.to_owned()),
        [None, None, None, None, Some(_)] => {
            Err("agent needs the tenant or the client that it belongs to; add tenant=NAME or client=NAME"
                .to_owned())
        }
        [None, None, tenant, client, agent] if tenant.is_some() || client.is_some() => {
            let tenant = tenant_as_stored(tenant.as_deref(), client.as_deref());
            Ok(match agent {
                Some(agent) => Erase::Agent(Owner { tenant, agent: agent_as_stored(&agent) }),
                None => Erase::Tenant(tenant),
            })
        }
        [None, None, None, None, None] => Err(format!("the query names nothing; {HOW}")),
        _ => Err(format!("the query names more than one thing; {HOW}")),
    }
}

fn entry_named(name: &str) -> Option<Erase> {
    let (partition, id) = name.split_once(':')?;
    Some(Erase::Entry(Partition::from_hex(partition)?, EntryId::from_hex(id)?))
}

/// The tenant as the filter sends it: one digest of the client that has shown a key (`identity.principal`) and of the tenant's header. It
/// never sends names. A digest from a log can be given as `tenant`.
fn tenant_as_stored(tenant: Option<&str>, client: Option<&str>) -> String {
    match (tenant, client) {
        (Some(digest), None) if is_digest(digest) => digest.to_owned(),
        (tenant, client) => {
            let of = |name: Option<&str>| name.map_or(0, |name| digest(name.as_bytes()));
            hex(digest_pair(of(client), of(tenant)))
        }
    }
}

fn agent_as_stored(agent: &str) -> String {
    if is_digest(agent) { agent.to_owned() } else { hex(digest(agent.as_bytes())) }
}

fn is_digest(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(digest: u64) -> String {
    format!("{digest:016x}")
}

/// Percent-encoding and `+` undone; `None` where that gives no text.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'%' => {
                let (digits, after) = rest.split_first_chunk::<2>()?;
                rest = after;
                bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            }
            b'+' => bytes.push(b' '),
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_digests_that_the_filter_sends() {
        let acme = hex(digest_pair(0, digest(b"acme corp")));
        assert_eq!(what_is_meant("tenant=acme%20corp"), Ok(Erase::Tenant(acme.clone())));
        assert_eq!(what_is_meant("tenant=acme+corp"), Ok(Erase::Tenant(acme.clone())));
        assert_eq!(what_is_meant(&format!("tenant={acme}")), Ok(Erase::Tenant(acme)), "a digest as it is");
        let alice = hex(digest_pair(digest(b"alice"), 0));
        let agent = hex(digest(b"planner"));
        assert_eq!(
            what_is_meant("client=alice&agent=planner"),
            Ok(Erase::Agent(Owner { tenant: alice, agent }))
        );
        let both = hex(digest_pair(digest(b"alice"), digest(b"acme")));
        assert_eq!(what_is_meant("tenant=acme&client=alice"), Ok(Erase::Tenant(both)));
    }

    #[test]
    fn all_and_single_entries_are_named_as_such() {
        assert_eq!(what_is_meant("all=true"), Ok(Erase::All));
        let (partition, id) = (Partition([7; 16]), EntryId::of("x"));
        let name = format!("entry={partition}:{id}");
        assert_eq!(what_is_meant(&name), Ok(Erase::Entry(partition, id)));
        assert_eq!(what_is_meant(&name.replace(':', "%3A")), Ok(Erase::Entry(partition, id)));
    }

    #[test]
    fn what_is_not_clear_is_refused_with_what_to_give() {
        for query in [
            "",
            "all=false",
            "all=1",
            "all",
            "all=true&tenant=x",
            "entry=x",
            "entry=1:2",
            "agent=x",
            "tenant=",
            "tenant=a&tenant=b",
            "entry=x&all=true",
            "everything=true",
            "tenant=%ff",
            "tenant=%4",
            "tenant=a&entry=b",
        ] {
            let problem = what_is_meant(query).unwrap_err();
            assert!(problem.contains("give") || problem.contains("add"), "{query}: {problem}");
        }
    }
}
