//! The response cache's administration through the gateway: figures and erasing, for the client `admin` and for nobody else. On
//! envoy/production.yaml as it is shipped, with the real service.

use hyper::Method;
use sentinel_harness::client::{self, Response};
use sentinel_harness::gateway::{ADMIN, ALICE, Gateway};
use sentinel_harness::process::eventually;
use sentinel_harness::service::Service;
use sentinel_proto::v1::{
    CacheLookup, CacheResult, CachedAnswer, CheckLoopRequest, StoreAnswerRequest, cache_result::Kind,
    embedding_service_client::EmbeddingServiceClient,
};
use tonic::transport::{Channel, Endpoint};

struct Cached {
    gateway: Gateway,
    _service: Service,
    grpc: EmbeddingServiceClient<Channel>,
}

impl Cached {
    async fn start(folder: &tempfile::TempDir) -> Self {
        let socket = folder.path().join("s.sock");
        let service = Service::start(folder.path(), &socket, &[]);
        let uri = format!("unix://{}", socket.display());
        let channel = Endpoint::from_shared(uri).unwrap().connect().await.unwrap();
        let gateway = Gateway::builder().service(&socket).start();
        Self { gateway, _service: service, grpc: EmbeddingServiceClient::new(channel) }
    }

    async fn ask(&self, method: Method, path: &str, key: &str) -> Response {
        let value = format!("Bearer {key}");
        let body = http_body_util::Empty::<bytes::Bytes>::new();
        let headers = [("authorization", value.as_str())];
        client::send(client::request(self.gateway.address(), method, path, &headers, body)).await.unwrap()
    }

    /// Stores an answer as the filter does for the tenant "acme", of which it sends a digest.
    async fn store(&mut self, prompt: &str) {
        let tenant_id = format!("{:016x}", sentinel_text::digest_pair(0, sentinel_text::digest(b"acme")));
        let request = StoreAnswerRequest {
            tenant_id,
            partition: vec![1; 16],
            prompt: prompt.to_owned(),
            answer: Some(CachedAnswer { text: "An answer.".to_owned(), ..CachedAnswer::default() }),
            ..StoreAnswerRequest::default()
        };
        assert!(self.grpc.store_answer(request).await.unwrap().into_inner().stored);
    }

    async fn kind_of(&mut self, prompt: &str) -> Kind {
        self.look_up(prompt).await.kind()
    }

    async fn look_up(&mut self, prompt: &str) -> CacheResult {
        let request = CheckLoopRequest {
            tenant_id: "t".to_owned(),
            prompt: prompt.to_owned(),
            cache: Some(CacheLookup { partition: vec![1; 16], exact_only: true, ..CacheLookup::default() }),
            cache_only: true,
            ..CheckLoopRequest::default()
        };
        self.grpc.check_loop(request).await.unwrap().into_inner().cache.unwrap()
    }

    async fn stored_items(&self) -> Option<u64> {
        self.ask(Method::GET, "/v1/cache/stats", ADMIN.key).await.json()["stored_items"].as_u64()
    }
}

#[tokio::test]
async fn only_an_administrator_sees_its_figures_and_erases() {
    let folder = tempfile::tempdir().unwrap();
    let mut cached = Cached::start(&folder).await;
    let entry = format!("/v1/cache/entries/{}:{}", "01".repeat(16), "00".repeat(16));
    for (method, path) in [
        (Method::GET, "/v1/cache/stats"),
        (Method::GET, entry.as_str()),
        (Method::DELETE, "/v1/cache?all=true"),
    ] {
        for (key, status, code) in
            [(ALICE.key, 403, "not_an_administrator"), ("never-given-out", 401, "invalid_api_key")]
        {
            let refused = cached.ask(method.clone(), path, key).await;
            assert_eq!(refused.status, status, "{path}");
            assert_eq!(refused.json()["error"]["code"], code, "{path}");
        }
    }
    for prompt in ["one", "two"] {
        cached.store(prompt).await;
        assert_eq!(cached.kind_of(prompt).await, Kind::Exact);
    }
    eventually("both are stored", async || cached.stored_items().await == Some(2)).await;
    assert_eq!(cached.kind_of("three").await, Kind::Miss);
    let stats = cached.ask(Method::GET, "/v1/cache/stats?a=b", ADMIN.key).await;
    assert_eq!((stats.status, stats.header("content-type")), (200, Some("application/json")));
    let stats = stats.json();
    assert_eq!((&stats["cache_hits"], &stats["cache_misses"]), (&2.into(), &1.into()), "{stats}");
    // Why a request was given an answer: the question that it was stored for.
    let stored = cached.look_up("one").await.entry;
    let stored = cached.ask(Method::GET, &format!("/v1/cache/entries/{stored}"), ADMIN.key).await;
    let page = stored.json();
    assert_eq!((&page["question"], &page["answer"]), (&"one".into(), &"An answer.".into()), "{page}");
    assert_eq!(cached.ask(Method::GET, &entry, ADMIN.key).await.status, 404, "nothing is stored there");
    assert_eq!(cached.ask(Method::GET, "/v1/cache/entries/x", ADMIN.key).await.status, 400);
    let page = cached.ask(Method::GET, "/v1/metrics", ADMIN.key).await.json();
    assert_eq!(page["stored_items"], 2);
    assert_eq!((&page["total_requests"], page["cache_hit_rate"].as_f64()), (&0.into(), Some(0.0)));

    let erase = async |query: &str| {
        let erased = cached.ask(Method::DELETE, &format!("/v1/cache{query}"), ADMIN.key).await;
        (erased.status, erased.json())
    };
    let (status, problem) = erase("").await;
    assert!(status == 400 && problem["error"].as_str().unwrap().contains("names nothing"), "{problem}");
    assert_eq!(erase("?tenant=somebody").await, (200, serde_json::json!({"erased": 0})));
    assert_eq!(erase("?tenant=acme").await, (200, serde_json::json!({"erased": 2})));
    assert_eq!(cached.kind_of("one").await, Kind::Miss);
    for (method, path) in
        [(Method::POST, "/v1/cache"), (Method::GET, "/v1/cache"), (Method::DELETE, "/v1/cache/stats")]
    {
        assert_eq!(cached.ask(method, path, ADMIN.key).await.status, 404, "{path}");
    }
    assert_eq!(cached.gateway.provider.count(), 0, "none of it goes to a provider");
}

#[tokio::test]
async fn without_the_service_the_statistics_are_shown_all_the_same() {
    let gateway = Gateway::builder().start();
    let key = format!("Bearer {}", ADMIN.key);
    let page = gateway.get("/v1/metrics", &[("authorization", &key)]).await.json();
    assert!(page["stored_items"].is_null() && page["total_requests"] == 0, "{page}");
}
