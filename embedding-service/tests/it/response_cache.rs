//! The response cache through the real server, on the real model, in memory and in Redis: what is given, what is not, what is
//! learned, and what happens when a part of it fails.

use std::time::Duration;

use embedding_service::cache::EntryId;
use sentinel_proto::v1::{
    CacheLookup, CacheResult, CachedAnswer, Called, CheckLoopRequest, CheckLoopResponse, FunctionCall,
    StoreAnswerRequest, cache_result::Kind,
};
use tonic::Code;

use crate::support::{
    Client, Server, eventually,
    gate::Gate,
    http,
    redis::{Redis, Search},
    request,
};

const ASK: &str = "How do I reset my password?";
const REWORDED: &str = "How can I reset my password?";
const TRAP: &str = "How do I not reset my password?";
const ANSWER: &str = "Open the settings and choose Reset password.";

fn lookup() -> CacheLookup {
    CacheLookup { partition: vec![1; 16], ..CacheLookup::default() }
}

/// A look-up alone.
fn ask(prompt: &str) -> CheckLoopRequest {
    CheckLoopRequest { cache: Some(lookup()), cache_only: true, ..request("r", prompt) }
}

fn answer(text: &str) -> CachedAnswer {
    CachedAnswer {
        text: text.to_owned(),
        model: "m-1".to_owned(),
        input_tokens: 20,
        cached_tokens: 5,
        output_tokens: 10,
        cost_nano_usd: 3_000_000,
        id: "resp_1".to_owned(),
        called: None,
    }
}

fn to_store(prompt: &str, text: &str) -> StoreAnswerRequest {
    StoreAnswerRequest {
        tenant_id: "t".to_owned(),
        agent_id: "a".to_owned(),
        partition: vec![1; 16],
        prompt: prompt.to_owned(),
        answer: Some(answer(text)),
        ..StoreAnswerRequest::default()
    }
}

async fn call(client: &mut Client, ask: CheckLoopRequest) -> CheckLoopResponse {
    client.check_loop(ask).await.unwrap().into_inner()
}

async fn look_up(client: &mut Client, prompt: &str) -> CacheResult {
    call(client, ask(prompt)).await.cache.unwrap()
}

async fn store(client: &mut Client, request: StoreAnswerRequest) {
    assert!(client.store_answer(request).await.unwrap().into_inner().stored);
}

/// Stores it and waits until it is found by a rewording too.
async fn store_whole(client: &mut Client, server: &Server, prompt: &str, text: &str) {
    store_and_wait(client, server, to_store(prompt, text)).await;
}

async fn store_and_wait(client: &mut Client, server: &Server, request: StoreAnswerRequest) {
    let stored = r#"embedding_service_cache_answers_total{outcome="stored"}"#;
    let metrics = server.running.addresses().metrics;
    let before = http::sample(metrics, stored).await;
    store(client, request).await;
    eventually("the answer is stored", async || (http::sample(metrics, stored).await > before).then_some(()))
        .await;
}

/// Waits until what the provider's answers say is noted.
async fn learned(server: &Server, verdict: &str, times: f64) {
    let name = format!("embedding_service_cache_learned_total{{verdict=\"{verdict}\"}}");
    let metrics = server.running.addresses().metrics;
    eventually(verdict, async || (http::sample(metrics, &name).await >= times).then_some(())).await;
}

async fn with_each_store(test: impl AsyncFn(Server)) {
    test(Server::start(&[]).await).await;
    for lookup in ["direct", "search"] {
        let redis = Redis::start_with(Search::Loaded).await;
        test(Server::start(&[("--redis-url", &redis.url()), ("--redis-lookup", lookup)]).await).await;
    }
}

#[tokio::test]
async fn the_same_text_and_a_rewording_are_answered_and_a_trap_is_not() {
    with_each_store(async |server| {
        let mut client = server.client().await;
        let miss = look_up(&mut client, ASK).await;
        assert_eq!((miss.kind(), miss.answer, miss.candidate.len()), (Kind::Miss, None, 0));
        store_whole(&mut client, &server, ASK, ANSWER).await;

        let exact = look_up(&mut client, ASK).await;
        assert_eq!((exact.kind(), exact.similarity), (Kind::Exact, 1.0));
        assert_eq!(exact.answer, Some(answer(ANSWER)));
        assert!(exact.age_ms < 600_000 && exact.cause.is_empty());

        let semantic = look_up(&mut client, REWORDED).await;
        assert_eq!(semantic.kind(), Kind::Semantic, "{semantic:?}");
        assert_eq!(semantic.answer, Some(answer(ANSWER)));
        assert!((0.875..1.0).contains(&semantic.similarity) && semantic.entry == exact.entry);

        let trap = look_up(&mut client, TRAP).await;
        assert_eq!((trap.kind(), trap.answer), (Kind::Miss, None));
        assert!(trap.similarity > 0.875, "it does lie near: {}", trap.similarity);
        assert!(trap.candidate.is_empty(), "what contradicts teaches nothing");

        let mut elsewhere = ask(ASK);
        elsewhere.cache.as_mut().unwrap().partition = vec![2; 16];
        assert_eq!(call(&mut client, elsewhere).await.cache.unwrap().kind(), Kind::Miss);
        let mut to_the_letter = ask(REWORDED);
        to_the_letter.cache.as_mut().unwrap().exact_only = true;
        assert_eq!(call(&mut client, to_the_letter).await.cache.unwrap().kind(), Kind::Miss);
        let mut strict = ask(REWORDED);
        strict.cache.as_mut().unwrap().similarity_threshold = Some(1.0);
        let strict = call(&mut client, strict).await.cache.unwrap();
        assert_eq!((strict.kind(), strict.candidate.is_empty()), (Kind::Miss, false));
        server.running.shutdown().await;
    })
    .await;
}

/// The verdict comes before the cache: an agent that repeats itself does not get a stored answer forever, neither by an exact nor by a semantic hit.
#[tokio::test]
async fn a_loop_gets_no_answer_and_an_answer_enters_the_history() {
    for (prompt, again) in [(ASK, ASK), (ASK, REWORDED)] {
        let server = Server::start(&[]).await;
        let mut client = server.client().await;
        store_whole(&mut client, &server, prompt, ANSWER).await;
        let both = |prompt: &str| CheckLoopRequest {
            cache: Some(lookup()),
            repeats: 2,
            similarity_threshold: Some(0.9),
            ..request("run", prompt)
        };
        for compared in 0..2 {
            let checked = call(&mut client, both(again)).await;
            assert_eq!((checked.compared, checked.loop_detected), (compared, false));
            let kind = checked.cache.unwrap().kind();
            assert!(matches!(kind, Kind::Exact | Kind::Semantic), "{again}: {kind:?}");
        }
        let third = call(&mut client, both(again)).await;
        assert!(third.loop_detected);
        let cache = third.cache.unwrap();
        assert_eq!((cache.kind(), cache.cause.as_str(), cache.answer), (Kind::Bypass, "loop", None));
        assert_eq!(look_up(&mut client, prompt).await.kind(), Kind::Exact, "others get it");
    }
}

#[tokio::test]
async fn an_exact_hit_costs_no_embedding_and_is_compared_all_the_same() {
    let gate = Gate::default();
    let server = Server::start_gated(&gate, &[("--recent-max-bytes", "0")]).await;
    let mut client = server.client().await;
    store_whole(&mut client, &server, ASK, ANSWER).await;
    let inferences = "embedding_service_inference_seconds_count";
    let metrics = server.running.addresses().metrics;
    let before = http::sample(metrics, inferences).await;
    let shut = gate.shut();
    for compared in 0..3 {
        let both = CheckLoopRequest { cache: Some(lookup()), repeats: 9, ..request("run", ASK) };
        let checked = call(&mut client, both).await;
        assert_eq!((checked.compared, checked.matches), (compared, compared));
        assert_eq!(checked.cache.unwrap().kind(), Kind::Exact);
    }
    assert_eq!(http::sample(metrics, inferences).await, before);
    drop(shut);
}

/// Embedding is overloaded: exact hits, which need no vector, are answered. Other look-ups are a bypass.
#[tokio::test]
async fn without_embeddings_the_same_text_is_still_answered() {
    let gate = Gate::default();
    let server = Server::start_gated(&gate, &[("--queue-length", "1")]).await;
    let mut client = server.client().await;
    store_whole(&mut client, &server, ASK, ANSWER).await;
    let shut = gate.shut();
    let metrics = server.running.addresses().metrics;
    let mut waiting = tokio::task::JoinSet::new();
    for (queued, prompt) in [(0.0, "the worker has this one"), (1.0, "and this one waits")] {
        let mut client = client.clone();
        waiting.spawn(async move { call(&mut client, request("other", prompt)).await });
        eventually("it waits", async || {
            let length = http::sample(metrics, "embedding_service_queue_length").await;
            (gate.waiting() == 1 && length == queued).then_some(())
        })
        .await;
    }
    assert_eq!(look_up(&mut client, ASK).await.kind(), Kind::Exact);
    let other = look_up(&mut client, REWORDED).await;
    assert_eq!((other.kind(), other.cause.as_str()), (Kind::Bypass, "embedding_unavailable"));
    let both = CheckLoopRequest { cache_only: false, ..ask("another question") };
    let status = client.check_loop(both).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "the comparison itself could not be done");
    drop(shut);
    waiting.join_all().await;
}

#[tokio::test]
async fn where_prompts_are_not_stored_only_the_same_text_is_answered() {
    let redis = Redis::start().await;
    let flags = [("--redis-url", redis.url()), ("--store-prompt-text", "false".to_owned())];
    let server = Server::start(&flags.each_ref().map(|(flag, value)| (*flag, value.as_str()))).await;
    let mut client = server.client().await;
    store(&mut client, to_store(ASK, ANSWER)).await;
    eventually("it is stored", async || (redis.prompts().await.len() == 1).then_some(())).await;
    let key = redis.prompts().await.remove(0);
    let stored = format!("{:?}", redis.command(&["HGETALL", &key]).await);
    assert!(!stored.contains("password?"), "{stored}");
    assert_eq!(look_up(&mut client, REWORDED).await.kind(), Kind::Miss);
    // The first call finds no vector. It is made after the response, and later calls compare the prompts.
    let both = || CheckLoopRequest { cache: Some(lookup()), repeats: 9, ..request("run", ASK) };
    let first = call(&mut client, both()).await;
    assert_eq!((first.cache.unwrap().kind(), first.compared), (Kind::Exact, 0));
    eventually("it is compared", async || {
        let next = call(&mut client, both()).await;
        assert_eq!(next.cache.unwrap().kind(), Kind::Exact);
        (next.matches > 0).then_some(())
    })
    .await;
}

/// Near, but not certain: the provider's answer says whether it would have been right.
#[tokio::test]
async fn the_providers_answer_moves_the_threshold_of_an_entry() {
    with_each_store(async |server| {
        let mut client = server.client().await;
        store_whole(&mut client, &server, ASK, ANSWER).await;
        let strict = |prompt: &str| {
            let mut ask = ask(prompt);
            ask.cache.as_mut().unwrap().similarity_threshold = Some(0.999);
            ask
        };
        // The provider gives the same answer each time, so in the end the stored answer is served for this prompt.
        for time in 1..=12 {
            let near = call(&mut client, strict(REWORDED)).await.cache.unwrap();
            if near.kind() == Kind::Semantic {
                break;
            }
            assert!(!near.candidate.is_empty() && time < 12, "{time}: {near:?}");
            let candidate = near.candidate;
            // Of another partition nothing would be learned. The answer is stored for the prompt `x`, so that `REWORDED` stays a near miss.
            store(&mut client, StoreAnswerRequest { candidate, ..to_store("x", ANSWER) }).await;
            learned(&server, "right", f64::from(time)).await;
        }
        // Once the provider gives another answer, the stored one is not served for this prompt any more.
        let sampled = look_up(&mut client, REWORDED).await;
        assert_eq!(sampled.kind(), Kind::Semantic);
        let other = StoreAnswerRequest {
            candidate: sampled.candidate,
            compare_only: true,
            ..to_store("x", "Ask the administrator to do it for 30 minutes.")
        };
        store(&mut client, other).await;
        learned(&server, "served_wrong", 1.0).await;
        let wrong = look_up(&mut client, REWORDED).await;
        assert_eq!((wrong.kind(), wrong.candidate.is_empty()), (Kind::Miss, false), "{wrong:?}");
        assert_eq!(look_up(&mut client, ASK).await.kind(), Kind::Exact, "the same text is another matter");
        server.running.shutdown().await;
    })
    .await;
}

/// The arguments of calls come from the words of one text. So another text does not get the answer, however similar it is.
#[tokio::test]
async fn an_answer_with_calls_is_for_the_same_text_and_teaches_nothing() {
    with_each_store(async |server| {
        let mut client = server.client().await;
        let call = |city: &str| FunctionCall {
            name: "get_weather".to_owned(),
            arguments: format!(r#"{{"city": "{city}"}}"#),
        };
        let called = Called { text: "I look.".to_owned(), calls: vec![call("Rome"), call("Paris")] };
        let answer = CachedAnswer { called: Some(called), ..answer("") };
        let calling =
            |prompt: &str| StoreAnswerRequest { answer: Some(answer.clone()), ..to_store(prompt, "") };
        store_and_wait(&mut client, &server, calling(ASK)).await;
        let exact = look_up(&mut client, ASK).await;
        assert_eq!((exact.kind(), exact.answer), (Kind::Exact, Some(answer.clone())));
        let other = look_up(&mut client, REWORDED).await;
        assert_eq!((other.kind(), other.candidate.len()), (Kind::Miss, 0), "{other:?}");
        // Prompts are compared all the same.
        let both = || CheckLoopRequest { cache: Some(lookup()), repeats: 9, ..request("run", ASK) };
        call_twice_and_compare(&mut client, both).await;

        // The provider was asked as well and answered with the same calls. That does not show that they were right, so nothing is learned.
        let sampled = StoreAnswerRequest { candidate: exact.candidate, compare_only: true, ..calling(ASK) };
        store(&mut client, sampled).await;
        learned(&server, "nothing", 1.0).await;

        // A text came near, and the provider calls something.
        store_whole(&mut client, &server, ASK, ANSWER).await;
        let near = look_up(&mut client, REWORDED).await;
        assert_eq!(near.kind(), Kind::Semantic);
        store(&mut client, StoreAnswerRequest { candidate: near.candidate, ..calling("x") }).await;
        learned(&server, "nothing", 2.0).await;
        assert_eq!(look_up(&mut client, REWORDED).await.kind(), Kind::Semantic);
        server.running.shutdown().await;
    })
    .await;
}

async fn call_twice_and_compare(client: &mut Client, both: impl Fn() -> CheckLoopRequest) {
    for compared in 0..2 {
        let checked = call(client, both()).await;
        assert_eq!((checked.cache.unwrap().kind(), checked.matches), (Kind::Exact, compared));
    }
}

#[tokio::test]
async fn a_candidate_of_another_partition_or_one_that_has_gone_teaches_nothing() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    store_whole(&mut client, &server, ASK, ANSWER).await;
    let candidate = look_up(&mut client, REWORDED).await.candidate;
    let elsewhere = StoreAnswerRequest {
        partition: vec![2; 16],
        candidate: candidate.clone(),
        ..to_store("x", "Another answer altogether.")
    };
    store(&mut client, elsewhere).await;
    learned(&server, "nothing", 1.0).await;
    // Another answer to the same text has taken its place.
    tokio::time::sleep(Duration::from_millis(5)).await;
    store_whole(&mut client, &server, ASK, "Use the link in the mail.").await;
    store(&mut client, StoreAnswerRequest { candidate, ..to_store("y", "Another answer altogether.") }).await;
    learned(&server, "nothing", 2.0).await;
    assert_eq!(look_up(&mut client, REWORDED).await.kind(), Kind::Semantic);
}

#[tokio::test]
async fn identical_requests_wait_for_the_first() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    let waiting = |prompt: &str, wait_ms: u32| {
        let mut ask = ask(prompt);
        ask.cache.as_mut().unwrap().wait_ms = wait_ms;
        ask
    };
    assert_eq!(call(&mut client, waiting(ASK, 60_000)).await.cache.unwrap().kind(), Kind::Miss);
    let followers: Vec<_> = (0..5)
        .map(|_| {
            let (mut client, ask) = (client.clone(), waiting(ASK, 60_000));
            tokio::spawn(async move { call(&mut client, ask).await.cache.unwrap() })
        })
        .collect();
    // Whoever does not wait is answered at once.
    assert_eq!(look_up(&mut client, ASK).await.kind(), Kind::Miss);
    store(&mut client, to_store(ASK, ANSWER)).await;
    for follower in followers {
        assert_eq!(follower.await.unwrap().kind(), Kind::Exact);
    }
    // Nobody's answer comes: the second goes on when its time is over.
    assert_eq!(call(&mut client, waiting("y", 200)).await.cache.unwrap().kind(), Kind::Miss);
    assert_eq!(call(&mut client, waiting("y", 200)).await.cache.unwrap().kind(), Kind::Miss);
}

#[tokio::test]
async fn what_cannot_be_read_is_a_bypass_and_makes_room() {
    let redis = Redis::start().await;
    let server = Server::start(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    for [field, value] in [["answer", "\u{1}\u{2}"], ["v", "1"], ["digest", "0"]] {
        store_whole(&mut client, &server, ASK, ANSWER).await;
        let key = redis.prompts().await.remove(0);
        redis.command(&["HSET", &key, field, value]).await;
        let broken = look_up(&mut client, ASK).await;
        assert_eq!((broken.kind(), broken.cause.as_str()), (Kind::Bypass, "corrupted"), "{field}");
        assert_eq!((broken.answer, broken.candidate.len()), (None, 0));
        eventually("it is erased", async || {
            (look_up(&mut client, ASK).await.kind() == Kind::Miss).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_redis_that_is_full_or_away_is_a_bypass_and_never_an_error() {
    let mut redis = Redis::start().await;
    let server = Server::start(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    let metrics = server.running.addresses().metrics;
    store_whole(&mut client, &server, ASK, ANSWER).await;
    redis.command(&["CONFIG", "SET", "maxmemory", "1"]).await;
    store(&mut client, to_store("another", ANSWER)).await;
    let full = r#"embedding_service_cache_answers_total{outcome="store_full"}"#;
    eventually("it is full", async || (http::sample(metrics, full).await >= 1.0).then_some(())).await;
    assert_eq!(look_up(&mut client, ASK).await.kind(), Kind::Exact, "what it has can be read");

    redis.kill();
    let down = look_up(&mut client, ASK).await;
    assert_eq!((down.kind(), down.cause.as_str()), (Kind::Bypass, "store_unavailable"));
    store(&mut client, to_store("another", ANSWER)).await;
    let bypasses = r#"embedding_service_cache_bypasses_total{cause="store_unavailable"}"#;
    assert!(http::sample(metrics, bypasses).await >= 1.0);
    redis.run(Search::Absent).await;
    eventually("it goes on", async || (look_up(&mut client, ASK).await.kind() == Kind::Miss).then_some(()))
        .await;
}

#[tokio::test]
async fn two_replicas_share_answers_and_may_write_one_at_once() {
    let redis = Redis::start().await;
    let flags = [("--redis-url", redis.url())];
    let flags = flags.each_ref().map(|(flag, value)| (*flag, value.as_str()));
    let (one, two) = (Server::start(&flags).await, Server::start(&flags).await);
    let (mut first, mut second) = (one.client().await, two.client().await);
    let texts: Vec<String> = (0..10).map(|n| format!("Answer {n}. ").repeat(500)).collect();
    for text in &texts {
        let (a, b) = (to_store(ASK, text), to_store(ASK, text));
        let (a, b) = tokio::join!(first.store_answer(a), second.store_answer(b));
        assert!(a.unwrap().into_inner().stored && b.unwrap().into_inner().stored);
    }
    let stored = r#"embedding_service_cache_answers_total{outcome="stored"}"#;
    for server in [&one, &two] {
        let metrics = server.running.addresses().metrics;
        eventually("all are stored", async || (http::sample(metrics, stored).await == 10.0).then_some(()))
            .await;
    }
    let found = [look_up(&mut first, ASK).await, look_up(&mut second, REWORDED).await];
    assert_eq!([found[0].kind(), found[1].kind()], [Kind::Exact, Kind::Semantic]);
    assert!(found.iter().all(|found| texts.contains(&found.answer.as_ref().unwrap().text)));
    assert_eq!(redis.prompts().await.len(), 1);
}

#[tokio::test]
async fn impossible_requests_are_refused_by_name() {
    let server = Server::start_without_model(&[("--cache-max-answer-bytes", "1000")]).await;
    let mut client = server.client().await;
    let mut short = ask(ASK);
    short.cache.as_mut().unwrap().partition = vec![1; 15];
    let alone = CheckLoopRequest { cache_only: true, ..request("r", ASK) };
    for (ask, field) in [(short, "partition"), (alone, "cache_only")] {
        let status = client.check_loop(ask).await.unwrap_err();
        assert!(status.code() == Code::InvalidArgument && status.message().contains(field), "{status:?}");
    }
    for (request, field) in [
        (StoreAnswerRequest { answer: None, ..to_store(ASK, ANSWER) }, "answer.text"),
        (to_store(ASK, &"x".repeat(1001)), "answer has 1001 bytes"),
        (StoreAnswerRequest { partition: vec![], ..to_store(ASK, ANSWER) }, "partition"),
        (
            StoreAnswerRequest {
                answer: Some(CachedAnswer { called: Some(Called::default()), ..CachedAnswer::default() }),
                ..to_store(ASK, ANSWER)
            },
            "answer.called",
        ),
    ] {
        let status = client.store_answer(request).await.unwrap_err();
        assert!(status.code() == Code::InvalidArgument && status.message().contains(field), "{status:?}");
        assert!(!status.message().contains("password"), "no text of a prompt: {status:?}");
    }
}

#[tokio::test]
async fn switched_off_it_is_a_bypass_and_stores_nothing() {
    let server = Server::start_without_model(&[("--cache", "false")]).await;
    let mut client = server.client().await;
    let off = look_up(&mut client, ASK).await;
    assert_eq!((off.kind(), off.cause.as_str()), (Kind::Bypass, "disabled"));
    assert!(!client.store_answer(to_store(ASK, ANSWER)).await.unwrap().into_inner().stored);
    let (status, body) = http::get(server.running.addresses().metrics, "/v1/cache/stats").await;
    assert!(status == 404 && body.contains("LOOP_CACHE"), "{body}");
}

#[tokio::test]
async fn a_redis_user_without_the_keys_of_the_cache_keeps_the_service_from_nothing() {
    let redis = Redis::start().await;
    let user = "ACL SETUSER loop on >secret ~loop:* +ping +eval +hset +hmget +pexpire +zadd +zrange +zrevrange +zrem +del";
    redis.command(&user.split(' ').collect::<Vec<_>>()).await;
    let url = format!("{}?user=loop&pass=secret", redis.url());
    let server = Server::start_without_model(&[("--redis-url", &url)]).await;
    let mut client = server.client().await;
    let ask = CheckLoopRequest { cache_only: false, ..ask(ASK) };
    let cache = call(&mut client, ask.clone()).await.cache.unwrap();
    assert_eq!((cache.kind(), cache.cause.as_str()), (Kind::Bypass, "store_unavailable"));
    assert_eq!(call(&mut client, ask).await.compared, 1, "loops are noticed");
    // As docs/redis.md has them.
    let more = "ACL SETUSER loop ~cache:* +hget +hgetall +hdel +zremrangebyscore +zremrangebyrank +scan";
    redis.command(&more.split(' ').collect::<Vec<_>>()).await;
    eventually("the cache is used as soon as it may be", async || {
        (look_up(&mut client, ASK).await.kind() == Kind::Miss).then_some(())
    })
    .await;
    store_whole(&mut client, &server, ASK, ANSWER).await;
    let candidate = look_up(&mut client, ASK).await.candidate;
    store(&mut client, StoreAnswerRequest { candidate, ..to_store("x", ANSWER) }).await;
    learned(&server, "right", 1.0).await;
    let pages = server.running.addresses().metrics;
    for page in ["tenant=0000000000000000", "all=true"] {
        assert_eq!(http::delete(pages, &format!("/v1/cache?{page}")).await.0, 200, "{page}");
    }
}

/// The gateway reaches the service by its gRPC socket. Whoever reads metrics from another machine may not erase.
#[tokio::test]
async fn the_administration_is_where_the_gateway_is_and_erasing_on_this_machine_only() {
    let server =
        Server::start_without_model(&[("--metrics-addr", "0.0.0.0:0"), ("--control", "false")]).await;
    let pages = server.running.addresses().metrics;
    let pages = std::net::SocketAddr::from(([127, 0, 0, 1], pages.port()));
    assert_eq!(http::get(pages, "/v1/cache/stats").await.0, 200);
    assert_eq!(http::delete(pages, "/v1/cache?all=true").await.0, 404);

    let grpc = tokio::net::TcpStream::connect(server.running.addresses().tcp.unwrap()).await.unwrap();
    let (mut http2, connection) = h2::client::handshake(grpc).await.unwrap();
    tokio::spawn(connection);
    for (method, path, status, contains) in [
        ("GET", "/v1/cache/stats", 200, "stored_items"),
        ("DELETE", "/v1/cache?all=true", 200, r#"{"erased":0}"#),
        ("DELETE", "/v1/cache?agent=a", 400, "agent needs the tenant"),
    ] {
        let uri = format!("http://service{path}");
        let ask = tonic::codegen::http::Request::builder().method(method).uri(uri).body(()).unwrap();
        let (response, _) = http2.send_request(ask, true).unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.status(), status, "{method} {path}");
        let mut body = response.into_body();
        let mut page = Vec::new();
        while let Some(part) = body.data().await {
            page.extend(part.unwrap());
        }
        assert!(String::from_utf8_lossy(&page).contains(contains), "{method} {path}");
    }
}

#[tokio::test]
async fn the_administration_shows_figures_and_erases() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    let pages = server.running.addresses().metrics;
    look_up(&mut client, ASK).await;
    store_whole(&mut client, &server, ASK, ANSWER).await;
    look_up(&mut client, ASK).await;
    look_up(&mut client, REWORDED).await;
    let (status, body) = http::get(pages, "/v1/cache/stats").await;
    let stats: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(status, 200);
    assert_eq!(stats["total_requests"], 3);
    assert_eq!(stats["cache_hits"], 2);
    assert_eq!(stats["hits"], serde_json::json!({"exact": 1, "semantic": 1}));
    assert_eq!((&stats["cache_misses"], &stats["bypasses"]), (&1.into(), &0.into()));
    assert_eq!(stats["stored_items"], 1);
    assert_eq!(stats["saved"]["tokens"], 60);
    let [rate, usd] =
        [&stats["cache_hit_rate"], &stats["saved"]["usd"]].map(|figure| figure.as_f64().unwrap());
    assert!((rate - 2.0 / 3.0).abs() < 1e-9 && (usd - 0.006).abs() < 1e-9, "{stats}");

    for (query, status, contains) in [
        ("", 400, "names nothing"),
        ("?agent=a", 400, "agent needs the tenant"),
        ("?all=yes", 400, "give all=true"),
        ("?entry=17", 400, "entry is no id"),
    ] {
        let (found, body) = http::delete(pages, &format!("/v1/cache{query}")).await;
        assert!(found == status && body.contains(contains), "{query}: {found} {body}");
    }
    assert_eq!(http::get(pages, "/v1/cache").await.0, 405, "nothing is erased by looking");
    let entry = look_up(&mut client, ASK).await.entry;
    assert!(entry.ends_with(&EntryId::of(ASK).to_string()));
    let erased = http::delete(pages, &format!("/v1/cache?entry={entry}")).await;
    assert_eq!(erased, (200, r#"{"erased":1}"#.to_owned()));
    assert_eq!(look_up(&mut client, ASK).await.kind(), Kind::Miss);
    store_whole(&mut client, &server, ASK, ANSWER).await;
    assert_eq!(http::delete(pages, "/v1/cache?all=true").await, (200, r#"{"erased":1}"#.to_owned()));
    assert_eq!(http::sample(pages, "embedding_service_cache_entries").await, 0.0);
}
