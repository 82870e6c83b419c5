//! One behavioural suite for every store of answers: memory and Redis, however it is asked, keep the same promise.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use embedding_service::{
    cache::{
        AnswerStore, Entry, EntryId, Erase, Near, Owner, Partition, StoredQuestion, learning::Observations,
        memory::MemoryAnswers, redis::RedisAnswers,
    },
    embed::truncation::UnseenText,
    similarity,
};

use crate::{
    history_suite::{DIMENSION, HOUR, vector},
    support::{
        bag_of_words,
        redis::{Redis, Search, redis_settings},
    },
};

/// Declares a test of each behaviour for each store.
macro_rules! suite {
    ($($behaviour:ident($ttl:expr);)*) => {
        mod memory {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                super::$behaviour(Arc::new(MemoryAnswers::new($ttl, 64 << 20))).await;
            })*
        }
        mod redis_direct {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                let redis = Redis::start().await;
                super::$behaviour(Arc::new(store(&redis, "direct", $ttl).await)).await;
            })*
        }
        mod redis_search {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                let redis = Redis::start_with(Search::Loaded).await;
                super::$behaviour(Arc::new(store(&redis, "search", $ttl).await)).await;
            })*
        }
    };
}

suite! {
    an_unknown_text_is_a_miss(HOUR);
    what_was_stored_comes_back_to_the_bit(HOUR);
    the_nearest_come_first_and_no_more_than_wanted(HOUR);
    partitions_are_never_mixed(HOUR);
    without_its_text_an_answer_is_found_by_the_same_text_only(HOUR);
    a_later_answer_takes_the_place_of_an_earlier_one(HOUR);
    what_was_erased_or_replaced_is_never_near(HOUR);
    of_writers_at_once_one_answer_stays_whole(HOUR);
    old_answers_are_forgotten(Duration::from_millis(400));
    an_answer_may_be_kept_for_a_shorter_time(HOUR);
    observations_are_kept_with_the_entry_they_are_of(HOUR);
    of_observers_at_once_none_undoes_another(HOUR);
    answers_are_erased_by_entry_agent_tenant_or_all(HOUR);
}

pub async fn store(redis: &Redis, lookup: &str, ttl: Duration) -> RedisAnswers {
    let settings = redis_settings(&redis.url(), &[("--redis-lookup", lookup)]);
    RedisAnswers::connect(&settings, bag_of_words(), DIMENSION, ttl).await.unwrap()
}

pub const PARTITION: Partition = Partition([1; 16]);
pub const OTHER: Partition = Partition([2; 16]);

pub fn entry(partition: Partition, text: &str, answer: &str, seed: u64) -> Entry {
    Entry {
        partition,
        id: EntryId::of(text),
        owner: Owner { tenant: "t1".to_owned(), agent: "a1".to_owned() },
        asked: Some(StoredQuestion { text: text.to_owned(), vector: Arc::from(vector(seed)), unseen: None }),
        answer: Bytes::copy_from_slice(answer.as_bytes()),
        stored_at: now(),
        observations: Observations::default(),
    }
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

fn answers(near: &[Near]) -> Vec<String> {
    near.iter().map(|near| String::from_utf8_lossy(&near.entry.answer).into_owned()).collect()
}

async fn an_unknown_text_is_a_miss(store: Arc<dyn AnswerStore>) {
    assert_eq!(store.exact(PARTITION, EntryId::of("x")).await, Ok(None));
    assert_eq!(store.nearest(PARTITION, &vector(1), 3).await, Ok(vec![]));
    assert_eq!(store.count().await, Ok(0));
}

async fn what_was_stored_comes_back_to_the_bit(store: Arc<dyn AnswerStore>) {
    let mut unseen = UnseenText::default();
    unseen.add("the rest");
    let strange = "tab\t, NUL \0, quote \" ' \\, brace } {, 語 🦀, -@|$*";
    let mut stored = entry(PARTITION, strange, "", 1);
    stored.owner = Owner { tenant: strange.to_owned(), agent: String::new() };
    stored.asked.as_mut().unwrap().unseen = unseen.digest();
    stored.answer = (0..=255).cycle().take(100_000).collect::<Vec<u8>>().into();
    store.store(&stored, HOUR).await.unwrap();
    assert_eq!(store.exact(PARTITION, stored.id).await.unwrap().as_ref(), Some(&stored));
    let near = store.nearest(PARTITION, &vector(1), 1).await.unwrap();
    assert_eq!((near[0].similarity, &near[0].entry), (1.0, &stored));
    assert_eq!(store.count().await, Ok(1));
}

async fn the_nearest_come_first_and_no_more_than_wanted(store: Arc<dyn AnswerStore>) {
    for seed in 0..40 {
        store.store(&entry(PARTITION, &seed.to_string(), &seed.to_string(), seed), HOUR).await.unwrap();
    }
    let asked = vector(99);
    let mut wanted: Vec<u64> = (0..40).collect();
    wanted.sort_by(|a, b| {
        let similarity = |seed: u64| similarity::of_vectors(&asked, &vector(seed));
        similarity(*b).total_cmp(&similarity(*a))
    });
    let wanted: Vec<String> = wanted.iter().take(5).map(u64::to_string).collect();
    assert_eq!(answers(&store.nearest(PARTITION, &asked, 5).await.unwrap()), wanted);
}

async fn partitions_are_never_mixed(store: Arc<dyn AnswerStore>) {
    store.store(&entry(PARTITION, "same text", "one", 1), HOUR).await.unwrap();
    assert_eq!(store.exact(OTHER, EntryId::of("same text")).await, Ok(None));
    assert_eq!(store.nearest(OTHER, &vector(1), 5).await, Ok(vec![]));
    store.store(&entry(OTHER, "same text", "two", 1), HOUR).await.unwrap();
    for (partition, answer) in [(PARTITION, "one"), (OTHER, "two")] {
        assert_eq!(answers(&store.nearest(partition, &vector(1), 5).await.unwrap()), [answer]);
        let exact = store.exact(partition, EntryId::of("same text")).await.unwrap().unwrap();
        assert_eq!(exact.answer, answer.as_bytes());
    }
}

async fn without_its_text_an_answer_is_found_by_the_same_text_only(store: Arc<dyn AnswerStore>) {
    // An earlier one with its text is gone with it.
    store.store(&entry(PARTITION, "x", "with", 1), HOUR).await.unwrap();
    let without = Entry { asked: None, ..entry(PARTITION, "x", "without", 1) };
    store.store(&without, HOUR).await.unwrap();
    assert_eq!(store.exact(PARTITION, without.id).await, Ok(Some(without)));
    assert_eq!(store.nearest(PARTITION, &vector(1), 5).await, Ok(vec![]));
}

async fn a_later_answer_takes_the_place_of_an_earlier_one(store: Arc<dyn AnswerStore>) {
    store.store(&entry(PARTITION, "x", "first", 1), HOUR).await.unwrap();
    store.store(&entry(PARTITION, "x", "second", 2), HOUR).await.unwrap();
    assert_eq!(answers(&store.nearest(PARTITION, &vector(1), 5).await.unwrap()), ["second"]);
    assert_eq!(store.count().await, Ok(1));
}

async fn what_was_erased_or_replaced_is_never_near(store: Arc<dyn AnswerStore>) {
    let text = |seed: u64| (seed % 100).to_string();
    for seed in 0..100 {
        store.store(&entry(PARTITION, &text(seed), &seed.to_string(), seed), HOUR).await.unwrap();
    }
    // The first, the last and some between them go; others get another answer to a text that reads otherwise.
    let gone = [0, 1, 50, 51, 52, 98, 99];
    for seed in gone {
        assert_eq!(store.erase(&Erase::Entry(PARTITION, EntryId::of(&text(seed)))).await, Ok(1));
    }
    for seed in 110..120 {
        store.store(&entry(PARTITION, &text(seed), &seed.to_string(), seed), HOUR).await.unwrap();
    }
    let kept: Vec<u64> = (2..120)
        .filter(|seed| !gone.contains(seed) && !(10..20).contains(seed) && !(100..110).contains(seed))
        .collect();
    for asked in 0..120 {
        let similarity = |seed: &u64| similarity::of_vectors(&vector(asked), &vector(*seed));
        let wanted = kept.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b))).unwrap();
        let near = store.nearest(PARTITION, &vector(asked), 1).await.unwrap();
        assert_eq!(answers(&near), [wanted.to_string()], "near {asked}");
    }
}

async fn of_writers_at_once_one_answer_stays_whole(store: Arc<dyn AnswerStore>) {
    let writers: Vec<_> = (0..20_u64)
        .map(|n| {
            let store = Arc::clone(&store);
            let entry = entry(PARTITION, "x", &format!("answer {n}").repeat(2000), n);
            tokio::spawn(async move {
                store.store(&entry, HOUR).await.unwrap();
                entry
            })
        })
        .collect();
    let mut written = Vec::new();
    for writer in writers {
        written.push(writer.await.unwrap());
    }
    let stored = store.exact(PARTITION, EntryId::of("x")).await.unwrap().unwrap();
    assert!(written.contains(&stored));
    assert_eq!(store.count().await, Ok(1));
}

async fn old_answers_are_forgotten(store: Arc<dyn AnswerStore>) {
    store.store(&entry(PARTITION, "x", "old", 1), HOUR).await.unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(store.exact(PARTITION, EntryId::of("x")).await, Ok(None));
    assert_eq!(store.nearest(PARTITION, &vector(1), 5).await, Ok(vec![]));
    assert_eq!(store.count().await, Ok(0));
}

async fn an_answer_may_be_kept_for_a_shorter_time(store: Arc<dyn AnswerStore>) {
    store.store(&entry(PARTITION, "long", "long", 1), HOUR * 1000).await.unwrap();
    store.store(&entry(PARTITION, "short", "short", 1), Duration::from_millis(300)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(store.exact(PARTITION, EntryId::of("short")).await, Ok(None));
    assert_eq!(answers(&store.nearest(PARTITION, &vector(1), 5).await.unwrap()), ["long"]);
    assert_eq!(store.count().await, Ok(1));
}

async fn observations_are_kept_with_the_entry_they_are_of(store: Arc<dyn AnswerStore>) {
    let stored = entry(PARTITION, "x", "answer", 1);
    let mut observations = Observations::default();
    observations.note(0.9, true);
    assert_eq!(store.observe(&stored, &observations).await, Ok(false), "it is not there");
    store.store(&stored, HOUR).await.unwrap();
    assert_eq!(store.observe(&stored, &observations).await, Ok(true));
    let seen = Entry { observations: observations.clone(), ..stored.clone() };
    assert_eq!(store.exact(PARTITION, stored.id).await, Ok(Some(seen.clone())));
    assert_eq!(store.nearest(PARTITION, &vector(1), 1).await.unwrap()[0].entry, seen);
    assert_eq!(
        store.observe(&stored, &Observations::default()).await,
        Ok(false),
        "others were noted meanwhile"
    );
    let later = Entry { stored_at: stored.stored_at + 1, ..stored.clone() };
    store.store(&later, HOUR).await.unwrap();
    assert_eq!(store.observe(&seen, &observations).await, Ok(false), "another answer took its place");
    assert_eq!(store.exact(PARTITION, stored.id).await, Ok(Some(later)));
}

async fn of_observers_at_once_none_undoes_another(store: Arc<dyn AnswerStore>) {
    store.store(&entry(PARTITION, "x", "answer", 1), HOUR).await.unwrap();
    let observers: Vec<_> = (0..10)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                loop {
                    let seen = store.exact(PARTITION, EntryId::of("x")).await.unwrap().unwrap();
                    let mut observations = seen.observations.clone();
                    observations.note(0.9, true);
                    if store.observe(&seen, &observations).await.unwrap() {
                        break;
                    }
                }
            })
        })
        .collect();
    for observer in observers {
        observer.await.unwrap();
    }
    let mut wanted = Observations::default();
    (0..10).for_each(|_| wanted.note(0.9, true));
    let seen = store.exact(PARTITION, EntryId::of("x")).await.unwrap().unwrap();
    assert_eq!(seen.observations, wanted);
}

async fn answers_are_erased_by_entry_agent_tenant_or_all(store: Arc<dyn AnswerStore>) {
    let owners = [("t1", "a1"), ("t1", "a2"), ("t1", "a2"), ("t2", "a1"), ("t2", "")];
    let owner = |(tenant, agent): (&str, &str)| Owner { tenant: tenant.to_owned(), agent: agent.to_owned() };
    for (n, of) in owners.into_iter().enumerate() {
        let text = n.to_string();
        store
            .store(&Entry { owner: owner(of), ..entry(PARTITION, &text, &text, n as u64) }, HOUR)
            .await
            .unwrap();
    }
    let gone = Erase::Entry(PARTITION, EntryId::of("0"));
    assert_eq!(store.erase(&gone).await, Ok(1));
    assert_eq!(store.erase(&gone).await, Ok(0));
    assert_eq!(store.erase(&Erase::Agent(owner(("t2", "a2")))).await, Ok(0));
    assert_eq!(store.erase(&Erase::Agent(owner(("t1", "a2")))).await, Ok(2));
    assert_eq!(store.count().await, Ok(2));
    store.store(&entry(OTHER, "x", "x", 9), HOUR).await.unwrap();
    assert_eq!(store.erase(&Erase::Tenant("t2".to_owned())).await, Ok(2));
    assert_eq!(store.nearest(PARTITION, &vector(3), 5).await, Ok(vec![]));
    assert_eq!(store.erase(&Erase::All).await, Ok(1));
    assert_eq!(store.exact(OTHER, EntryId::of("x")).await, Ok(None));
}
