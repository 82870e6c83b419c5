//! Answers in a Redis where something went wrong: what cannot be read is never given, and nothing else is touched.

use embedding_service::{
    cache::{AnswerStore as _, EntryId, Erase, redis::RedisAnswers},
    store::StoreError,
};

use crate::{
    answer_suite::{OTHER, PARTITION, entry, store},
    history_suite::{HOUR, vector},
    support::{
        eventually,
        redis::{Redis, Search},
    },
};

async fn is_unreadable(store: &RedisAnswers) -> bool {
    matches!(store.exact(PARTITION, EntryId::of("x")).await, Err(StoreError::Unreadable(_)))
}

#[tokio::test]
async fn changed_bytes_and_other_versions_are_never_given() {
    let redis = Redis::start_with(Search::Loaded).await;
    for lookup in ["direct", "search"] {
        let store = store(&redis, lookup, HOUR).await;
        for damage in [
            ["answer", "another answer"],
            ["text", "another text"],
            ["v", "1"],
            ["v", "3"],
            ["observed", "\u{1}"],
            ["stored_at", "soon"],
            ["digest", ""],
            ["vec", "short"],
            ["text", "\u{fffd}"],
        ] {
            store.store(&entry(PARTITION, "x", "answer", 1), HOUR).await.unwrap();
            let keys = redis.prompts().await;
            let [key] = keys.as_slice() else { panic!("one entry, not {keys:?}") };
            redis.command(&["HSET", key, damage[0], damage[1]]).await;
            assert!(is_unreadable(&store).await, "{damage:?}");
            assert_eq!(store.nearest(PARTITION, &vector(1), 5).await, Ok(vec![]), "{damage:?}");
            redis.command(&["HDEL", key, damage[0]]).await;
            assert!(is_unreadable(&store).await, "without {}", damage[0]);
        }
        // Stored again, it is there again.
        store.store(&entry(PARTITION, "x", "answer", 1), HOUR).await.unwrap();
        assert!(store.exact(PARTITION, EntryId::of("x")).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn an_entry_under_another_key_is_none() {
    let redis = Redis::start_with(Search::Loaded).await;
    for lookup in ["direct", "search"] {
        let store = store(&redis, lookup, HOUR).await;
        store.store(&entry(PARTITION, "x", "answer", 1), HOUR).await.unwrap();
        let keys = redis.prompts().await;
        let [key] = keys.as_slice() else { panic!("one entry, not {keys:?}") };
        let (_, model) = key.split_once('/').unwrap();
        let (model, _) = model.split_once('}').unwrap();
        let [id, other_id] = ["x", "y"].map(EntryId::of);
        let of_another_text = key.replace(&id.to_string(), &other_id.to_string());
        let of_another_partition = key.replace(&PARTITION.to_string(), &OTHER.to_string());
        for (copy, partition, id) in
            [(of_another_text, PARTITION, other_id), (of_another_partition, OTHER, id)]
        {
            assert_ne!(copy, *key);
            redis.command(&["COPY", key, &copy]).await;
            // What the index goes by.
            let tag = format!("p{partition}m{model}");
            redis.command(&["HSET", &copy, "partition", &tag]).await;
            assert!(matches!(store.exact(partition, id).await, Err(StoreError::Unreadable(_))), "{copy}");
            let near = store.nearest(partition, &vector(1), 5).await.unwrap();
            assert!(near.iter().all(|near| near.entry.id != other_id), "{near:?}");
            assert!(partition == PARTITION || near.is_empty(), "{near:?}");
            redis.command(&["DEL", &copy]).await;
        }
    }
}

#[tokio::test]
async fn other_keys_are_left_alone() {
    let redis = Redis::start().await;
    let store = store(&redis, "direct", HOUR).await;
    redis.command(&["HSET", "loop:x", "prompt", "p"]).await;
    store.store(&entry(PARTITION, "x", "answer", 1), HOUR).await.unwrap();
    assert_eq!(store.erase(&Erase::All).await, Ok(1));
    assert_eq!(redis.prompts().await, ["loop:x"]);
}

#[tokio::test]
async fn a_redis_that_is_full_or_away_is_an_error_and_comes_back() {
    let mut redis = Redis::start().await;
    let store = store(&redis, "direct", HOUR).await;
    store.store(&entry(PARTITION, "x", "answer", 1), HOUR).await.unwrap();
    redis.command(&["CONFIG", "SET", "maxmemory", "1"]).await;
    assert_eq!(store.store(&entry(PARTITION, "y", "answer", 2), HOUR).await, Err(StoreError::Full));
    assert!(store.exact(PARTITION, EntryId::of("x")).await.unwrap().is_some(), "what it has can be read");
    redis.kill();
    assert!(store.exact(PARTITION, EntryId::of("x")).await.is_err());
    redis.run(Search::Absent).await;
    eventually("the store is connected again", async || {
        store.exact(PARTITION, EntryId::of("x")).await.is_ok().then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_index_that_was_lost_is_made_again() {
    let redis = Redis::start_with(Search::Loaded).await;
    let store = store(&redis, "search", HOUR).await;
    redis.command(&["FLUSHALL"]).await;
    eventually("a look-up finds what was stored", async || {
        store.store(&entry(PARTITION, "x", "answer", 1), HOUR).await.unwrap();
        let near = store.nearest(PARTITION, &vector(1), 5).await.ok()?;
        (near.len() == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_index_with_a_graph_is_taken_and_can_be_dropped_for_another_without_losing_answers() {
    const INDEX: &str = "cache:answers";
    let redis = Redis::start_with(Search::Loaded).await;
    let schema = "ON HASH PREFIX 1 cache: SCHEMA partition TAG CASESENSITIVE \
                  vec VECTOR HNSW 6 TYPE FLOAT32 DIM 16 DISTANCE_METRIC COSINE";
    let create: Vec<&str> = ["FT.CREATE", INDEX].into_iter().chain(schema.split_whitespace()).collect();
    redis.command(&create).await;
    let store = store(&redis, "search", HOUR).await;
    store.store(&entry(PARTITION, "x", "answer", 1), HOUR).await.unwrap();
    let found = async || {
        let near = store.nearest(PARTITION, &vector(1), 5).await.ok()?;
        (near.len() == 1).then_some(())
    };
    eventually("the answer is found with the graph", found).await;
    redis.command(&["FT.DROPINDEX", INDEX]).await;
    eventually("the answer is found again", found).await;
    let info = format!("{:?}", redis.command(&["FT.INFO", INDEX]).await);
    assert!(info.contains("FLAT") && !info.contains("HNSW"), "{info}");
}
