//! What of a prompt's text is stored: at most 1,024 bytes, or nothing at all. On the real model and Redis.

use redis::{Value, cmd};

use crate::support::{
    Server, check, eventually,
    redis::{Redis, Search},
    request,
};

const ASK: &str = "Why does the nightly build fail on the second machine?";
const REWORDED: &str = "On the second machine the nightly build fails, why is that?";

/// Every byte that Redis holds, of keys and of fields.
async fn everything(redis: &Redis) -> Vec<u8> {
    let mut connection = redis.connection().await;
    let mut all = Vec::new();
    for key in redis.prompts().await {
        let fields: Vec<Vec<u8>> = cmd("HGETALL").arg(&key).query_async(&mut connection).await.unwrap();
        all.extend([key.into_bytes(), fields.concat()].concat());
    }
    all
}

fn holds(all: &[u8], text: &str) -> bool {
    all.windows(text.len()).any(|part| part == text.as_bytes())
}

async fn stored(redis: &Redis, prompts: usize) {
    eventually("the prompts are stored", async || (redis.prompts().await.len() == prompts).then_some(()))
        .await;
}

#[tokio::test]
async fn at_most_1024_bytes_of_a_prompt_are_stored() {
    let redis = Redis::start().await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url())]).await;
    let long = format!("{ASK} {} the-last-word", "and so on ".repeat(1_000));
    check(&mut server.client().await, "r", &long).await.unwrap();
    stored(&redis, 1).await;
    let key = &redis.prompts().await[0];
    let Value::BulkString(text) = redis.command(&["HGET", key, "prompt"]).await else { panic!("no text") };
    assert!((1_000..=1_024).contains(&text.len()), "{} bytes", text.len());
    assert!(text.starts_with(ASK.as_bytes()) && !holds(&everything(&redis).await, "the-last-word"));
}

/// The same prompt is still noticed. A rewording is not, since without the text nobody could tell it from a batch.
#[tokio::test]
async fn without_their_text_only_the_same_prompts_match() {
    for lookup in ["direct", "search"] {
        let redis = Redis::start_with(Search::Loaded).await;
        let flags = [
            ("--redis-url", redis.url()),
            ("--redis-lookup", lookup.to_owned()),
            ("--store-prompt-text", "false".to_owned()),
            ("--return-similar-prompt", "true".to_owned()),
        ];
        let flags = flags.each_ref().map(|(flag, value)| (*flag, value.as_str()));
        let server = Server::start(&flags).await;
        let mut client = server.client().await;

        check(&mut client, "r", ASK).await.unwrap();
        let again = check(&mut client, "r", ASK).await.unwrap();
        assert_eq!((again.compared, again.matches, again.max_similarity), (1, 1, 1.0), "{lookup}");
        assert_eq!(again.similar_prompt, "", "{lookup}: there is no text to show");
        stored(&redis, 2).await;
        // Read back from Redis, and by another replica.
        let other = Server::start(&flags).await;
        for client in [&mut client, &mut other.client().await] {
            let mut ask = request("r", ASK);
            (ask.repeats, ask.record) = (2, Some(false));
            let answer = client.check_loop(ask).await.unwrap().into_inner();
            assert!(answer.loop_detected, "{lookup}: {answer:?}");
            let mut ask = request("r", REWORDED);
            (ask.similarity_threshold, ask.record) = (Some(0.85), Some(false));
            let reworded = client.check_loop(ask).await.unwrap().into_inner();
            assert!(reworded.max_similarity > 0.85, "{lookup}: {reworded:?}");
            assert_eq!((reworded.matches, reworded.template_matches), (0, 2), "{lookup}");
            assert!(!reworded.loop_detected, "{lookup}");
        }

        for number in 17..20 {
            let answer =
                check(&mut client, "batch", &format!("Please process the order {number} now")).await.unwrap();
            assert!(!answer.loop_detected && answer.related == 0, "{lookup}: {answer:?}");
        }
        stored(&redis, 5).await;
        let all = everything(&redis).await;
        for word in ["nightly", "machine", "order", "Please"] {
            assert!(!holds(&all, word), "{lookup}: {word} stands in Redis");
        }
    }
}

/// The same text in memory, where it is never longer either.
#[tokio::test]
async fn in_memory_the_setting_holds_too() {
    let server =
        Server::start(&[("--store-prompt-text", "false"), ("--return-similar-prompt", "true")]).await;
    let mut client = server.client().await;
    check(&mut client, "r", ASK).await.unwrap();
    let again = check(&mut client, "r", ASK).await.unwrap();
    assert_eq!((again.matches, again.similar_prompt.as_str()), (1, ""));
}
