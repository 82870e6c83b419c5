//! What is stored of a provider's answer: a whole text with status 200, in the form that was asked for, and calls if they are wanted.

use sentinel_llm_api::{
    answer_reader::AnswerReader,
    framing::Framing,
    repeatable::{Content, NotRepeatable, RepeatableLimits},
};

use super::{Cached, Key, LookUp, directives::Directives};
use crate::{
    case::{AnswerCase, Case},
    host::Facts,
    metric::{CacheBypass, Metric},
    note::Note,
    passes::Surroundings,
    stored::{StoreOrder, StoredAnswer},
};
use sentinel_config::CachePolicy;

/// An answer that is awaited, and may be stored.
#[derive(Debug)]
pub struct Awaited {
    key: Key,
    /// The framing that was asked for.
    framing: Framing,
    wanted: RepeatableLimits,
    ttl: u32,
    /// Whether the provider's `cache-control` is obeyed.
    obeys_provider: bool,
}

/// `None` if the answer to this request is not to be stored.
pub fn awaited(case: &mut Case) -> Option<Awaited> {
    let framing = case.framing;
    let CachePolicy { wanted, ttl, obeys_provider, .. } = *case.policy.cache.as_ref()?;
    let Cached { key, found } = case.cache.take()?;
    // A stored answer that was not given is compared with the new one, so the cache learns from it.
    let is_wanted = !matches!(found, LookUp::Open);
    key.filter(|_| is_wanted).map(|key| Awaited { key, framing, wanted, ttl, obeys_provider })
}

/// Whether the provider forbids storing its answer, for others or at all.
fn is_private(host: &dyn Facts) -> bool {
    let said = Directives::of(&host.response_header_values("cache-control"));
    said.no_store || said.private
}

impl Awaited {
    /// The response's headers have come. `reader` is present if the answer can be read. Returns `None` for an answer that is not to be
    /// stored.
    pub fn headers(
        self,
        reader: Option<AnswerReader>,
        host: &dyn Facts,
        notes: &mut Vec<Note>,
    ) -> (Option<Self>, Option<AnswerReader>) {
        let is_200 = host.response_header(":status").as_deref() == Some(b"200");
        let content_type = host.response_header("content-type").unwrap_or_default();
        // An array is told from a single text later, by its first character.
        let wanted = if self.framing == Framing::JsonArray { Framing::Json } else { self.framing };
        let cause = match &reader {
            _ if !is_200 => CacheBypass::AnswerStatus,
            _ if self.obeys_provider && is_private(host) => CacheBypass::AnswerPrivate,
            Some(_) if Framing::of(&content_type) == Some(wanted) => {
                let reader = reader.map(|reader| reader.collecting(self.wanted));
                return (Some(self), reader);
            }
            _ => CacheBypass::AnswerForm,
        };
        notes.push(not_stored(cause));
        (None, reader)
    }

    /// What is to be done, now that the answer is over.
    fn whole(self, around: &Surroundings<'_>, case: &mut AnswerCase) -> Result<StoreOrder, CacheBypass> {
        // A client that gets the answer from the cache gets no header that marks it as silent.
        let answer = case.answer.as_mut().filter(|_| !case.is_silent).ok_or(CacheBypass::AnswerIncomplete)?;
        let Content { text, calls } = match answer.content.take() {
            Some(Ok(content)) => content,
            Some(Err(NotRepeatable::Other)) => return Err(CacheBypass::AnswerOther),
            Some(Err(NotRepeatable::TooLong)) => return Err(CacheBypass::AnswerLength),
            Some(Err(NotRepeatable::Incomplete)) | None => return Err(CacheBypass::AnswerIncomplete),
        };
        let id = if self.key.is_kept { answer.id.clone() } else { String::new() };
        // A result names its call to the provider. The provider would not know the ids that the cache gives to calls.
        if self.key.is_kept && (id.is_empty() || !calls.is_empty()) {
            return Err(CacheBypass::Kept);
        }
        let [tenant, agent, run] = case.scope.names();
        let Key { partition, prompt, candidate, compare_only, .. } = self.key;
        Ok(StoreOrder {
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
                cost: around.config.price(&case.model).map_or(0, |price| price.of(&answer.usage)),
            },
            candidate,
            compare_only,
            ttl: self.ttl,
        })
    }
}

/// Orders the answer to be stored, or notes why not.
pub fn run(around: &Surroundings<'_>, case: &mut AnswerCase) {
    let Some(awaited) = case.awaited.take() else { return };
    let note = match awaited.whole(around, case) {
        Ok(order) => Note::Store(Box::new(order)),
        Err(cause) => not_stored(cause),
    };
    case.notes.push(note);
}

/// The answer was cut off before its end. Returns whether it was to be stored.
pub fn cut_off(case: &mut AnswerCase) -> bool {
    let was_awaited = case.awaited.take().is_some();
    if was_awaited {
        case.notes.push(not_stored(CacheBypass::AnswerIncomplete));
    }
    was_awaited
}

fn not_stored(cause: CacheBypass) -> Note {
    Note::Count(Metric::CacheBypasses(cause), 1)
}
