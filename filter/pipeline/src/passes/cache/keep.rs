//! What of a provider's answer is kept: a whole text with status 200, in the form that was asked for, and calls where they are
//! wanted.

use sentinel_llm_api::{
    answer::Answer,
    answer_reader::AnswerReader,
    framing::Framing,
    repeatable::{Content, NotRepeatable, Wanted},
};

use super::{Cached, Found, Key};
use crate::{
    case::Case,
    config::{CachePolicy, Config},
    host::Host,
    identity::Scope,
    metric::{CacheBypass, Metric},
    stored::{StoreOrder, StoredAnswer},
};

/// An answer that is awaited, and may be kept.
#[derive(Debug)]
pub struct Awaited {
    key: Key,
    /// How the answer was asked for.
    framing: Framing,
    wanted: Wanted,
    ttl: u32,
}

/// Nothing where the answer to this request is not to be kept.
pub fn awaited(case: &mut Case) -> Option<Awaited> {
    let framing = case.framing;
    let CachePolicy { wanted, ttl, .. } = *case.policy.cache.as_ref()?;
    let Cached { key, found } = case.cache.take()?;
    // A hit that was not given is learned from.
    let is_wanted = !matches!(found, Found::Open);
    key.filter(|_| is_wanted).map(|key| Awaited { key, framing, wanted, ttl })
}

impl Awaited {
    /// The response's headers are there, and a reader where it can be read. Nothing where it is not to be kept.
    pub fn headers(
        self,
        reader: Option<AnswerReader>,
        host: &mut impl Host,
    ) -> (Option<Self>, Option<AnswerReader>) {
        let is_200 = host.response_header(":status").as_deref() == Some(b"200");
        let content_type = host.response_header("content-type").unwrap_or_default();
        // An array is told from one text by its first character.
        let wanted = if self.framing == Framing::JsonArray { Framing::Json } else { self.framing };
        let cause = match &reader {
            _ if !is_200 => CacheBypass::AnswerStatus,
            Some(_) if Framing::of(&content_type) == Some(wanted) => {
                let reader = reader.map(|reader| reader.keeping(self.wanted));
                return (Some(self), reader);
            }
            _ => CacheBypass::AnswerForm,
        };
        host.count(Metric::CacheBypasses(cause), 1);
        (None, reader)
    }

    /// The response is over.
    pub fn whole(
        self,
        config: &Config,
        model: &str,
        scope: &Scope,
        answer: Option<&mut Answer>,
        host: &mut impl Host,
    ) {
        let Some(answer) = answer else {
            host.count(Metric::CacheBypasses(CacheBypass::AnswerIncomplete), 1);
            return;
        };
        let Content { text, calls } = match answer.content.take() {
            Some(Ok(content)) => content,
            Some(Err(NotRepeatable::Other)) => return not_kept(CacheBypass::AnswerOther, host),
            Some(Err(NotRepeatable::TooLong)) => return not_kept(CacheBypass::AnswerLength, host),
            Some(Err(NotRepeatable::Incomplete)) | None => {
                return not_kept(CacheBypass::AnswerIncomplete, host);
            }
        };
        let id = if self.key.is_kept { answer.id.clone() } else { String::new() };
        // A result names its call to the provider, who would not know the ids that are given with calls.
        if self.key.is_kept && (id.is_empty() || !calls.is_empty()) {
            return not_kept(CacheBypass::Kept, host);
        }
        let [tenant, agent, run] = scope.names();
        let Key { partition, prompt, candidate, compare_only, .. } = self.key;
        let order = StoreOrder {
            tenant,
            agent,
            run,
            partition,
            prompt,
            answer: StoredAnswer {
                text,
                calls,
                model: answer.model.clone(),
                id,
                usage: answer.usage,
                cost: config.price(model).map_or(0, |price| price.of(&answer.usage)),
            },
            candidate,
            compare_only,
            ttl: self.ttl,
        };
        if host.store_answer(order).is_err() {
            not_kept(CacheBypass::Store, host);
        }
    }

    /// The response ended before its end.
    pub fn cut_off(self, host: &mut impl Host) {
        not_kept(CacheBypass::AnswerIncomplete, host);
    }
}

fn not_kept(cause: CacheBypass, host: &mut impl Host) {
    host.count(Metric::CacheBypasses(cause), 1);
}
