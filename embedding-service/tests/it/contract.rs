//! The contract of CheckLoop over both sockets, on the real model; health, reflection, the operators' pages; bad input.

use embedding_service::routes::{LIVENESS, MAX_MESSAGE};
use sentinel_proto::v1::CheckLoopRequest;
use tonic::{Code, codegen::http::uri::PathAndQuery};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};

use crate::support::{Client, Server, check, http, redis::Redis, request};

const ASK: &str = "Why does the build fail on the second machine?";
const AGAIN: &str = "On the second machine the build fails, why is that?";

/// The same conversation, whatever the socket and the store.
async fn a_prompt_that_comes_again_is_noticed(mut client: Client) {
    let first = check(&mut client, "r", ASK).await.unwrap();
    assert_eq!((first.compared, first.loop_detected, first.max_similarity), (0, false, 0.0));

    let repeat = check(&mut client, "r", ASK).await.unwrap();
    assert_eq!((repeat.compared, repeat.matches, repeat.related), (1, 1, 1));
    assert_eq!(repeat.max_similarity, 1.0);
    assert!(repeat.loop_detected);
    assert_eq!(repeat.similar_prompt, "", "not unless configured");

    let other = check(&mut client, "r", "Write a poem about the sea.").await.unwrap();
    assert_eq!((other.compared, other.matches, other.loop_detected), (2, 0, false));
    assert_eq!(other.related, 0);
    assert!(other.max_similarity < 0.7);

    let mut reworded = request("r", AGAIN);
    reworded.similarity_threshold = Some(0.85);
    reworded.repeats = 2;
    let reworded = client.check_loop(reworded).await.unwrap().into_inner();
    assert_eq!((reworded.compared, reworded.matches), (3, 2));
    assert_eq!(reworded.related, 2);
    assert!(reworded.loop_detected && reworded.max_similarity < 1.0);

    let elsewhere = check(&mut client, "another run", ASK).await.unwrap();
    assert_eq!(elsewhere.compared, 0);
}

#[tokio::test]
async fn over_unix_socket_with_memory() {
    let server = Server::start(&[]).await;
    a_prompt_that_comes_again_is_noticed(Client::new(server.unix().await)).await;
}

#[tokio::test]
async fn over_tcp_with_redis() {
    let redis = Redis::start().await;
    let server = Server::start(&[("--redis-url", &redis.url())]).await;
    a_prompt_that_comes_again_is_noticed(server.client().await).await;
}

#[tokio::test]
async fn a_client_always_sees_its_own_last_prompt() {
    let redis = Redis::start().await;
    let server = Server::start(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    for i in 0..40_u32 {
        let answer = check(&mut client, "r", ASK).await.unwrap();
        assert_eq!((answer.compared, answer.matches), (i.min(5), i.min(5)), "call {i}");
    }
}

#[tokio::test]
async fn a_batch_with_one_template_is_no_loop() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    let mut seen = 0;
    for i in 17..25 {
        let answer = check(&mut client, "r", &format!("Process order {i} of today's list.")).await.unwrap();
        assert_eq!((answer.matches, answer.related, answer.loop_detected), (0, 0, false));
        seen = answer.template_matches;
    }
    assert!(seen > 0, "the vectors do look alike");
}

#[tokio::test]
async fn one_function_word_or_inflection_exchanged_is_a_rewording() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    let asked = [
        ASK,
        "Why is the build failing on the second machine?",
        "Why did the build fail on a second machine?",
    ];
    for (i, prompt) in asked.into_iter().enumerate() {
        let answer = check(&mut client, "r", prompt).await.unwrap();
        let earlier = u32::try_from(i).unwrap();
        assert_eq!(
            (answer.matches, answer.related, answer.template_matches),
            (earlier, earlier, 0),
            "{prompt}"
        );
    }
    let other = check(&mut client, "r", "Why does the build fail on the second printer?").await.unwrap();
    assert_eq!((other.matches, other.related), (0, 0));
}

#[tokio::test]
async fn what_is_not_to_be_recorded_is_not() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    for _ in 0..3 {
        let ask = CheckLoopRequest { record: Some(false), ..request("r", ASK) };
        assert_eq!(client.check_loop(ask).await.unwrap().into_inner().compared, 0);
    }
}

#[tokio::test]
async fn the_similar_prompt_is_returned_where_configured() {
    let server = Server::start(&[("--return-similar-prompt", "true")]).await;
    let mut client = server.client().await;
    check(&mut client, "r", "Write a poem about the sea.").await.unwrap();
    check(&mut client, "r", ASK).await.unwrap();
    let answer = check(&mut client, "r", AGAIN).await.unwrap();
    assert_eq!(answer.similar_prompt, ASK);
}

#[tokio::test]
async fn the_servers_own_threshold_holds_where_the_request_has_none() {
    let server = Server::start(&[("--similarity-threshold", "0.85"), ("--history-size", "2")]).await;
    let mut client = server.client().await;
    for _ in 0..4 {
        check(&mut client, "r", ASK).await.unwrap();
    }
    let answer = check(&mut client, "r", AGAIN).await.unwrap();
    assert_eq!((answer.compared, answer.matches), (2, 2));
}

#[tokio::test]
async fn impossible_requests_are_refused_by_name() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    let cases = [
        (CheckLoopRequest { tenant_id: String::new(), ..request("r", ASK) }, "tenant_id"),
        (CheckLoopRequest { tenant_id: " \n".to_owned(), ..request("r", ASK) }, "tenant_id"),
        (request("r", ""), "prompt"),
        (request("r", "\t \u{2003}"), "prompt"),
        (CheckLoopRequest { similarity_threshold: Some(1.01), ..request("r", ASK) }, "similarity_threshold"),
        (
            CheckLoopRequest { similarity_threshold: Some(f64::NAN), ..request("r", ASK) },
            "similarity_threshold",
        ),
        (request(&"r".repeat(513), ASK), "run_id"),
    ];
    for (ask, field) in cases {
        let status = client.check_loop(ask).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains(field), "{status:?}");
        assert!(!status.message().contains("build"), "no prompt text in errors: {status:?}");
    }
    // None of them was remembered, and the server goes on.
    assert_eq!(check(&mut client, "r", ASK).await.unwrap().compared, 0);
}

#[tokio::test]
async fn odd_texts_get_a_right_answer() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    let megabyte = "all work and no play ".repeat(50_000);
    let texts =
        ["\u{0}", "\u{0}a\u{0}", "🦀", ".", "語", "\u{202e}reversed", "a\u{301}\u{301}\u{301}", &megabyte];
    for (i, text) in texts.iter().enumerate() {
        let run = i.to_string();
        assert_eq!(check(&mut client, &run, text).await.unwrap().compared, 0);
        let again = check(&mut client, &run, text).await.unwrap();
        assert_eq!((again.matches, again.max_similarity), (1, 1.0), "{i}");
    }
}

#[tokio::test]
async fn a_message_beyond_the_limit_is_refused() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    let status = check(&mut client, "r", &"x".repeat(MAX_MESSAGE)).await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange);
    assert!(check(&mut client, "r", ASK).await.is_ok());
}

/// A message of bytes as they are, for what no generated client would send.
#[derive(Clone, PartialEq, prost::Message)]
struct Tenant {
    #[prost(bytes = "vec", tag = "1")]
    tenant_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    prompt: Vec<u8>,
    #[prost(string, tag = "99")]
    unknown: String,
}

async fn send_raw(server: &Server, message: Tenant) -> Result<(), tonic::Status> {
    let mut grpc = tonic::client::Grpc::new(server.tcp().await);
    grpc.ready().await.unwrap();
    let path = PathAndQuery::from_static("/sentinel.v1.EmbeddingService/CheckLoop");
    let codec = tonic_prost::ProstCodec::<Tenant, Tenant>::default();
    grpc.unary(tonic::Request::new(message), path, codec).await.map(|_| ())
}

#[tokio::test]
async fn text_that_is_not_utf8_is_the_callers_fault() {
    let server = Server::start(&[]).await;
    for (tenant_id, prompt) in [(b"t".to_vec(), b"\xff\xfe".to_vec()), (b"\xc3\x28".to_vec(), b"p".to_vec())]
    {
        let message = Tenant { tenant_id, prompt, unknown: String::new() };
        let status = send_raw(&server, message).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("not UTF-8"), "{status:?}");
    }
    let metrics = server.running.addresses().metrics;
    let refused = r#"embedding_service_checks_total{code="invalid_argument"}"#;
    assert_eq!(http::sample(metrics, refused).await, 2.0);
}

#[tokio::test]
async fn unknown_fields_are_passed_over() {
    let server = Server::start(&[]).await;
    let message =
        Tenant { tenant_id: b"t".to_vec(), prompt: b"hello there".to_vec(), unknown: "new".to_owned() };
    send_raw(&server, message).await.unwrap();
}

#[tokio::test]
async fn an_unknown_method_is_unimplemented() {
    let server = Server::start(&[]).await;
    let mut grpc = tonic::client::Grpc::new(server.tcp().await);
    grpc.ready().await.unwrap();
    let path = PathAndQuery::from_static("/sentinel.v1.EmbeddingService/Nothing");
    let codec = tonic_prost::ProstCodec::<Tenant, Tenant>::default();
    let status = grpc.unary(tonic::Request::new(Tenant::default()), path, codec).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
}

#[tokio::test]
async fn health_and_reflection_answer_on_both_sockets() {
    let server = Server::start(&[]).await;
    for channel in [server.tcp().await, server.unix().await] {
        let mut health = HealthClient::new(channel.clone());
        for service in ["", sentinel_proto::SERVICE, LIVENESS] {
            let ask = HealthCheckRequest { service: service.to_owned() };
            let answer = health.check(ask).await.unwrap().into_inner();
            assert_eq!(answer.status(), ServingStatus::Serving, "{service}");
        }
        let ask = HealthCheckRequest { service: "nobody".to_owned() };
        assert_eq!(health.check(ask).await.unwrap_err().code(), Code::NotFound);
        let mut reflection = ServerReflectionClient::new(channel);
        let ask = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::ListServices(String::new())),
        };
        let mut answers =
            reflection.server_reflection_info(tokio_stream::once(ask)).await.unwrap().into_inner();
        let answer = answers.message().await.unwrap().unwrap().message_response.unwrap();
        let MessageResponse::ListServicesResponse(list) = answer else { panic!("{answer:?}") };
        let names: Vec<_> = list.service.iter().map(|s| s.name.as_str()).collect();
        assert!(names.contains(&sentinel_proto::SERVICE), "{names:?}");
        assert!(names.contains(&"grpc.health.v1.Health"), "{names:?}");
    }
}

#[tokio::test]
async fn the_operators_pages_tell_what_happened() {
    let server = Server::start(&[]).await;
    let metrics = server.running.addresses().metrics;
    assert_eq!(http::get(metrics, "/healthz").await.0, 200);
    assert_eq!(http::get(metrics, "/readyz").await.0, 200);
    assert_eq!(http::get(metrics, "/else").await.0, 404);
    let mut client = server.client().await;
    for _ in 0..3 {
        check(&mut client, "r", ASK).await.unwrap();
    }
    check(&mut client, "r", "").await.unwrap_err();
    for (sample, wanted) in [
        (r#"embedding_service_checks_total{code="ok"}"#, 3.0),
        (r#"embedding_service_checks_total{code="invalid_argument"}"#, 1.0),
        ("embedding_service_loops_total", 2.0),
        ("embedding_service_max_similarity_count", 2.0),
        ("embedding_service_inference_seconds_count", 1.0),
        ("embedding_service_tokenise_seconds_count", 1.0),
        (r#"embedding_service_store_seconds_count{op="recall"}"#, 3.0),
        (r#"embedding_service_recent_embeddings_total{outcome="hit"}"#, 2.0),
        (r#"embedding_service_recent_embeddings_total{outcome="miss"}"#, 1.0),
        (r#"embedding_service_unanswered_total{reason="invalid_request"}"#, 1.0),
        ("embedding_service_queue_length", 0.0),
        ("embedding_service_checks_in_flight", 0.0),
        ("embedding_service_store_up", 1.0),
    ] {
        assert_eq!(http::sample(metrics, sample).await, wanted, "{sample}");
    }
    let page = http::get(metrics, "/metrics").await.1;
    assert!(page.ends_with("# EOF\n"));
    assert!(!page.contains("build") && !page.contains("run_id"), "nothing of a request is shown");
}
