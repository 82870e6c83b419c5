//! Deadlines, overload, callers that go away, and shutdown with calls under way.

use std::{sync::Arc, time::Duration};

use embedding_service::{
    cache::options::CacheOptions,
    embed::pool::{Pool, PoolOptions},
    history::{Retention, memory::MemoryHistory},
    metrics::Metrics,
    recorder::Recorder,
    routes::LIVENESS,
    service::LoopService,
};
use sentinel_proto::v1::{CheckLoopRequest, embedding_service_server::EmbeddingService};
use tokio::task::JoinHandle;
use tonic::{Code, Request, Status};

use crate::support::{
    Server, check, eventually,
    gate::{Gate, Gated},
    redis::Redis,
    request,
};

/// Sends `count` calls, of which one is in the worker's hands at the end and the others are in the queue.
async fn occupy(server: &Server, gate: &Gate, count: usize) -> Vec<JoinHandle<Result<(), Status>>> {
    let mut calls = Vec::new();
    for i in 0..count {
        let mut client = server.client().await;
        let run = format!("busy {i}");
        calls.push(tokio::spawn(async move { check(&mut client, &run, "x").await.map(|_| ()) }));
        waiting(server.running.metrics(), gate, i).await;
    }
    calls
}

async fn waiting(metrics: &Metrics, gate: &Gate, count: usize) {
    let queue = format!("queue_length {count}\n");
    eventually("one is in hand and the others wait", async || {
        (gate.waiting() == 1 && metrics.exposition().contains(&queue)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_and_goes_on() {
    let gate = Gate::default();
    let server = Server::start_gated(&gate, &[("--queue-length", "2")]).await;
    let shut = gate.shut();
    let calls = occupy(&server, &gate, 3).await;
    let mut client = server.client().await;
    let status = check(&mut client, "r", "one too many").await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("LOOP_QUEUE_LENGTH"), "{status:?}");
    drop(shut);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert!(check(&mut client, "r", "room again").await.is_ok());
}

#[tokio::test]
async fn a_full_queue_makes_room_by_throwing_out_the_jobs_of_callers_that_left() {
    let gate = Gate::default();
    let server = Server::start_gated(&gate, &[("--queue-length", "2")]).await;
    let shut = gate.shut();
    let calls = occupy(&server, &gate, 3).await;
    for call in &calls {
        call.abort();
    }
    let gone = r#"checks_total{code="cancelled"} 3"#;
    eventually("the calls are counted as cancelled", async || {
        server.running.metrics().exposition().contains(gone).then_some(())
    })
    .await;
    let mut client = server.client().await;
    let call = tokio::spawn(async move { check(&mut client, "r", "x").await });
    let thrown_out = r#"dropped_total{reason="caller_gone"} 2"#;
    eventually("the jobs that nobody waits for are thrown out", async || {
        server.running.metrics().exposition().contains(thrown_out).then_some(())
    })
    .await;
    drop(shut);
    assert!(call.await.unwrap().is_ok());
}

/// The service without a transport: tonic's client also enforces the deadline, and would often end the call before the service does.
async fn service(gate: &Gate, work: Duration) -> Arc<LoopService> {
    let metrics = Arc::new(Metrics::default());
    let embedder = Gated { gate: gate.clone(), work, ..Gated::default() };
    let size = PoolOptions { workers: 1, queue_length: 16, cache_bytes: 0 };
    let pool = Pool::start(size, Arc::clone(&metrics), move || Ok(embedder.clone())).unwrap();
    let retention = Retention { size: 5, ttl: Duration::from_secs(3600) };
    let store = Arc::new(MemoryHistory::new(retention, 1 << 20));
    Arc::new(LoopService {
        pool: Arc::new(pool),
        recorder: Arc::new(Recorder::start(store, retention.size, Arc::clone(&metrics))),
        metrics,
        cache: None,
        cache_options: CacheOptions::default(),
        threshold: 0.95,
        store_prompt_text: true,
        return_similar_prompt: false,
    })
}

fn in_a_hurry(run: &str) -> Request<CheckLoopRequest> {
    let mut ask = Request::new(request(run, "x"));
    ask.metadata_mut().insert("grpc-timeout", "20m".parse().unwrap());
    ask
}

fn call(service: &Arc<LoopService>, run: &str) -> JoinHandle<Result<u32, Status>> {
    let (service, ask) = (Arc::clone(service), Request::new(request(run, "x")));
    tokio::spawn(async move { Ok(service.check_loop(ask).await?.into_inner().compared) })
}

#[tokio::test]
async fn a_deadline_during_inference_is_answered_with_its_code() {
    let gate = Gate::default();
    let service = service(&gate, Duration::ZERO).await;
    let shut = gate.shut();
    let status = service.check_loop(in_a_hurry("r")).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    drop(shut);
    let counted = r#"checks_total{code="deadline_exceeded"} 1"#;
    assert!(service.metrics.exposition().contains(counted));
    assert_eq!(call(&service, "r").await.unwrap().unwrap(), 0, "no answer, nothing remembered");
}

#[tokio::test]
async fn a_deadline_that_passes_in_the_queue_costs_no_inference() {
    let gate = Gate::default();
    let service = service(&gate, Duration::ZERO).await;
    let shut = gate.shut();
    let busy = call(&service, "busy");
    waiting(&service.metrics, &gate, 0).await;
    let status = service.check_loop(in_a_hurry("r")).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    // This call is after it in the queue: when this call is answered, the call in a hurry has had its turn.
    let last = call(&service, "r");
    drop(shut);
    busy.await.unwrap().unwrap();
    last.await.unwrap().unwrap();
    let page = service.metrics.exposition();
    assert!(page.contains("inference_seconds_count 2"), "{page}");
}

#[tokio::test]
async fn a_deadline_that_cannot_be_met_is_refused_at_once() {
    let gate = Gate::default();
    let service = service(&gate, Duration::from_millis(50)).await;
    let shut = gate.shut();
    let busy: Vec<_> = (0..6).map(|i| call(&service, &i.to_string())).collect();
    waiting(&service.metrics, &gate, 5).await;
    let status = service.check_loop(in_a_hurry("r")).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(status.message().contains("before its deadline"), "{status:?}");
    drop(shut);
    for call in busy {
        assert!(call.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn shutdown_lets_a_call_under_way_finish_and_then_refuses() {
    let gate = Gate::default();
    let server = Server::start_gated(&gate, &[("--shutdown-grace", "3600")]).await;
    let address = server.running.addresses().tcp.unwrap();
    let socket = server.running.addresses().uds.clone().unwrap();
    let shut = gate.shut();
    let calls = occupy(&server, &gate, 2).await;
    let Server { running, folder } = server;
    let shutdown = tokio::spawn(running.shutdown());
    eventually("it takes no new connection", async || {
        tokio::net::TcpStream::connect(address).await.is_err().then_some(())
    })
    .await;
    assert!(!shutdown.is_finished());
    drop(shut);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(shutdown.await.unwrap(), 0);
    assert!(!socket.exists());
    drop(folder);
}

#[tokio::test]
async fn an_open_health_watch_does_not_hold_shutdown_up_for_the_whole_grace_time() {
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    let server = Server::start_without_model(&[("--shutdown-grace", "3600")]).await;
    let mut health = HealthClient::new(server.tcp().await);
    let mut watches = Vec::new();
    for service in ["", LIVENESS] {
        let ask = HealthCheckRequest { service: service.to_owned() };
        let mut watch = health.watch(ask).await.unwrap().into_inner();
        assert_eq!(watch.message().await.unwrap().unwrap().status, 1, "serving");
        watches.push(watch);
    }
    assert_eq!(server.running.shutdown().await, 0);
    let [ready, alive] = &mut watches[..] else { panic!("two watches") };
    assert_eq!(ready.message().await.unwrap().unwrap().status, 2, "not serving, said before the end");
    tokio::select! {
        biased;
        said = alive.message() => assert!(!matches!(said, Ok(Some(_))), "it lives until it has ended: {said:?}"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn a_clean_shutdown_loses_no_prompt() {
    let redis = Redis::start().await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    for i in 0..200 {
        check(&mut client, &i.to_string(), "remember me").await.unwrap();
    }
    let Server { running, folder } = server;
    assert_eq!(running.shutdown().await, 0);
    drop(folder);
    assert_eq!(redis.prompts().await.len(), 200);
}

#[tokio::test]
async fn many_callers_at_once_are_all_answered() {
    let server = Server::start(&[("--workers", "2")]).await;
    let mut calls = Vec::new();
    for caller in 0..8 {
        let mut client = server.client().await;
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
