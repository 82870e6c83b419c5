//! Deadlines, overload, callers that go away, and shutdown with calls under way. The embedder here takes a known time.

use std::{sync::Arc, time::Duration};

use embedding_service::{
    embed::{deterministic::BagOfWords, pool::Pool},
    history::{Retention, memory::MemoryHistory},
    metrics::Metrics,
    recorder::Recorder,
    service::LoopService,
};
use sentinel_proto::v1::{CheckLoopRequest, embedding_service_server::EmbeddingService};
use tonic::Code;

use crate::support::{Server, channel, check, eventually, http, redis::Redis, request};

const SLOW: Duration = Duration::from_millis(150);
const DROPPED: &str = "embedding_service_dropped_total";

/// Fills the one worker and the queue with `count` calls whose answers nobody minds.
async fn occupy(server: &Server, count: usize) -> Vec<tokio::task::JoinHandle<Option<Code>>> {
    let mut calls = Vec::new();
    for i in 0..count {
        let mut client = server.client().await;
        let call = async move { check(&mut client, &format!("busy {i}"), "x").await.err().map(|e| e.code()) };
        calls.push(tokio::spawn(call));
    }
    let metrics = server.running.addresses().metrics;
    let wanted = (count - 1) as f64;
    eventually("the queue is filled", async || {
        (http::sample(metrics, "embedding_service_queue_length").await >= wanted).then_some(())
    })
    .await;
    calls
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_and_goes_on() {
    let server = Server::start_without_model(SLOW, &[("--queue-length", "2")]).await;
    let calls = occupy(&server, 3).await;
    let mut client = server.client().await;
    let status = check(&mut client, "r", "one too many").await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("LOOP_QUEUE_LENGTH"), "{status:?}");
    for call in calls {
        assert_eq!(call.await.unwrap(), None);
    }
    assert!(check(&mut client, "r", "room again").await.is_ok());
}

/// The service without a transport: tonic's client keeps the deadline too, and would often be first.
async fn service(delay: Duration) -> (LoopService, Arc<Metrics>) {
    let metrics = Arc::new(Metrics::default());
    let make = move || Ok(BagOfWords { delay, ..BagOfWords::default() });
    let pool = Pool::start(1, 16, Arc::clone(&metrics), make).unwrap();
    let retention = Retention { size: 5, ttl: Duration::from_secs(3600) };
    let store = Arc::new(MemoryHistory::new(retention, 1 << 20));
    let service = LoopService {
        pool: Arc::new(pool),
        recorder: Arc::new(Recorder::start(store, retention.size, Arc::clone(&metrics))),
        metrics: Arc::clone(&metrics),
        threshold: 0.95,
        return_similar_prompt: false,
    };
    (service, metrics)
}

fn in_a_hurry(run: &str) -> tonic::Request<CheckLoopRequest> {
    let mut ask = tonic::Request::new(request(run, "x"));
    ask.metadata_mut().insert("grpc-timeout", "20m".parse().unwrap());
    ask
}

#[tokio::test]
async fn a_deadline_during_inference_is_answered_with_its_code() {
    let (service, metrics) = service(SLOW).await;
    let status = service.check_loop(in_a_hurry("r")).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    let counted = r#"checks_total{code="DEADLINE_EXCEEDED"} 1"#;
    assert!(metrics.exposition().contains(counted));
    let answer = service.check_loop(tonic::Request::new(request("r", "x"))).await.unwrap();
    assert_eq!(answer.into_inner().compared, 0, "no answer, nothing remembered");
}

#[tokio::test]
async fn a_deadline_that_passes_in_the_queue_costs_no_inference() {
    let (service, metrics) = service(SLOW).await;
    let slow = service.check_loop(tonic::Request::new(request("busy", "x")));
    let hurried = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        service.check_loop(in_a_hurry("r")).await.unwrap_err()
    };
    let (slow, status) = tokio::join!(slow, hurried);
    slow.unwrap();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    // Behind it in the queue: when this one is answered, the hurried one's turn has been.
    service.check_loop(tonic::Request::new(request("r", "x"))).await.unwrap();
    let page = metrics.exposition();
    assert!(page.contains("inference_seconds_count 2"), "{page}");
}

#[tokio::test]
async fn a_deadline_that_cannot_be_met_is_refused_at_once() {
    let (service, _) = service(SLOW).await;
    // The running mean of a job's time has to be known.
    for _ in 0..3 {
        service.check_loop(tonic::Request::new(request("r", "x"))).await.unwrap();
    }
    let service = Arc::new(service);
    let mut busy = Vec::new();
    for i in 0..6 {
        let service = Arc::clone(&service);
        let call = async move { service.check_loop(tonic::Request::new(request(&i.to_string(), "x"))).await };
        busy.push(tokio::spawn(call));
    }
    eventually("the queue fills", async || {
        service.metrics.exposition().contains("queue_length 5").then_some(())
    })
    .await;
    let status = service.check_loop(in_a_hurry("r")).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(status.message().contains("after its deadline"), "{status:?}");
    for call in busy {
        assert!(call.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_costs_no_inference() {
    let server = Server::start_without_model(SLOW, &[]).await;
    let metrics = server.running.addresses().metrics;
    let calls = occupy(&server, 3).await;
    calls[2].abort();
    calls[1].abort();
    calls[0].abort();
    eventually("the calls are counted as cancelled", async || {
        let cancelled = r#"embedding_service_checks_total{code="CANCELLED"}"#;
        (http::sample(metrics, cancelled).await == 3.0).then_some(())
    })
    .await;
    eventually("the waiting ones are thrown out", async || {
        let gone = format!("{DROPPED}{{reason=\"CallerGone\"}}");
        (http::sample(metrics, &gone).await == 2.0).then_some(())
    })
    .await;
    let mut client = server.client().await;
    assert!(check(&mut client, "r", "x").await.is_ok());
}

#[tokio::test]
async fn shutdown_lets_a_call_under_way_finish_and_then_refuses() {
    let server = Server::start_without_model(SLOW, &[]).await;
    let address = server.running.addresses().tcp.unwrap();
    let socket = server.running.addresses().uds.clone().unwrap();
    let mut client = server.client().await;
    let call = tokio::spawn(async move { check(&mut client, "r", "under way").await });
    eventually("the call is under way", async || {
        (server.running.metrics().in_flight_now() == 1).then_some(())
    })
    .await;
    let Server { running, folder } = server;
    assert_eq!(running.shutdown().await, 0);
    assert!(call.await.unwrap().is_ok());
    assert!(!socket.exists());
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    drop(folder);
}

#[tokio::test]
async fn an_open_health_watch_does_not_hold_shutdown_up_for_the_whole_grace_time() {
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    let server = Server::start_without_model(Duration::ZERO, &[("--shutdown-grace", "3600")]).await;
    let mut health = HealthClient::new(server.tcp().await);
    let mut watch = health.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(watch.message().await.unwrap().unwrap().status, 1, "serving");
    assert_eq!(server.running.shutdown().await, 0);
    assert_eq!(watch.message().await.unwrap().unwrap().status, 2, "not serving, said before the end");
}

#[tokio::test]
async fn a_clean_shutdown_loses_no_prompt() {
    let redis = Redis::start().await;
    let url = redis.url();
    let server = Server::start_without_model(Duration::ZERO, &[("--redis-url", &url)]).await;
    let mut client = server.client().await;
    for i in 0..200 {
        check(&mut client, &i.to_string(), "remember me").await.unwrap();
    }
    let Server { running, folder } = server;
    assert_eq!(running.shutdown().await, 0);
    drop(folder);
    assert_eq!(redis.keys().await.len(), 200);
}

#[tokio::test]
async fn many_callers_at_once_are_all_answered() {
    let server = Server::start(&[("--workers", "2")]).await;
    let address = server.running.addresses().tcp.unwrap();
    let mut calls = Vec::new();
    for caller in 0..8 {
        let mut client = sentinel_proto::v1::embedding_service_client::EmbeddingServiceClient::new(
            channel(format!("http://{address}")).await,
        );
        calls.push(tokio::spawn(async move {
            for i in 0..20_u32 {
                let answer = check(&mut client, &caller.to_string(), "the same thing again").await.unwrap();
                assert_eq!((answer.compared, answer.matches), (i.min(5), i.min(5)));
            }
        }));
    }
    for call in calls {
        call.await.unwrap();
    }
}
