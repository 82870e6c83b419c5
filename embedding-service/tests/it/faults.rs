//! Faults around the service: its socket's file, its callers' connections, a signal under load, its
//! clock. Each: a clear message, no
//! crash, recovery by itself.

use std::{
    fs,
    io::Cursor,
    os::unix::net::UnixListener,
    path::Path,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use embedding_service::{
    cache::options::CacheOptions,
    embed::{
        Embedder,
        bag_of_words::BagOfWords,
        pool::{Pool, PoolOptions},
    },
    history::{Moment, PromptHistory, Record, Retention, Scope, memory::MemoryHistory, redis::RedisHistory},
    metrics::Metrics,
    recorder::Recorder,
    service::LoopService,
};
use rustix::process::Signal;
use sentinel_proto::v1::embedding_service_server::EmbeddingService;
use tokio::{net::UnixStream, process::Command};
use tonic::codegen::http::Request;

use crate::{
    program::{Program, command},
    redis_faults::serving,
    support::{
        Client, Server, bag_of_words, channel, check, eventually,
        http::{self, Pages},
        redis::{Redis, redis_settings},
        request,
    },
};

async fn answers(socket: &Path) -> bool {
    let Ok(endpoint) = tonic::transport::Endpoint::from_shared(format!("unix://{}", socket.display())) else {
        return false;
    };
    let Ok(channel) = endpoint.connect().await else { return false };
    check(&mut Client::new(channel), "r", "x").await.is_ok()
}

#[tokio::test]
async fn a_socket_whose_file_is_deleted_is_opened_again() {
    let server = Server::start_without_model(&[]).await;
    let socket = server.running.addresses().uds.clone().unwrap();
    let mut old = Client::new(server.unix().await);
    check(&mut old, "r", "x").await.unwrap();
    fs::remove_file(&socket).unwrap();
    eventually("it answers again", async || answers(&socket).await.then_some(())).await;
    assert!(check(&mut old, "r", "x").await.is_ok(), "the connection from before goes on");
    let reopened = "embedding_service_socket_reopened_total";
    assert_eq!(http::sample(server.running.addresses().metrics, reopened).await, 1.0);
    server.running.shutdown().await;
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_path_that_others_have_taken_is_left_to_them_and_taken_back_when_it_is_free() {
    let server = Server::start_without_model(&[]).await;
    let socket = server.running.addresses().uds.clone().unwrap();
    let mut client = server.client().await;

    fs::remove_file(&socket).unwrap();
    let other = UnixListener::bind(&socket).unwrap();
    other.set_nonblocking(true).unwrap();
    // It is asked whether it lives, which it does.
    eventually("the other one is asked", async || other.accept().ok().map(drop)).await;
    check(&mut client, "r", "x").await.unwrap();
    drop(other);
    eventually("it answers again", async || answers(&socket).await.then_some(())).await;

    fs::remove_file(&socket).unwrap();
    fs::write(&socket, "precious").unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(fs::read_to_string(&socket).unwrap(), "precious");
    fs::remove_file(&socket).unwrap();
    eventually("it answers again", async || answers(&socket).await.then_some(())).await;
}

#[tokio::test]
async fn a_folder_that_goes_and_comes_back_is_no_end() {
    let server = Server::start_without_model(&[]).await;
    let socket = server.running.addresses().uds.clone().unwrap();
    let folder = socket.parent().unwrap();
    let mut client = Client::new(server.unix().await);
    fs::remove_dir_all(folder).unwrap();
    let ready = async || http::get(server.running.addresses().metrics, "/readyz").await;
    eventually("it says what is lost", async || (ready().await.0 == 503).then_some(())).await;
    assert!(ready().await.1.ends_with("not ready: socket_lost\n"), "{:?}", ready().await);
    check(&mut client, "r", "x").await.unwrap();
    assert!(serving(&server).await, "whoever is connected is answered");
    fs::create_dir(folder).unwrap();
    eventually("it answers again", async || answers(&socket).await.then_some(())).await;
    eventually("it is ready again", async || (ready().await.0 == 200).then_some(())).await;
}

/// A call of which only the first bytes come.
async fn half_a_call(socket: &Path) -> (h2::client::ResponseFuture, h2::SendStream<Cursor<Vec<u8>>>) {
    let stream = UnixStream::connect(socket).await.unwrap();
    let (mut send, connection) =
        h2::client::Builder::new().handshake::<_, Cursor<Vec<u8>>>(stream).await.unwrap();
    tokio::spawn(connection);
    let call = Request::post("http://service/sentinel.v1.EmbeddingService/CheckLoop")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    let (answer, mut body) = send.send_request(call, false).unwrap();
    // A message of 100 bytes begins, of which 3 come.
    body.send_data(Cursor::new(vec![0, 0, 0, 0, 100, 10, 1, b't']), false).unwrap();
    (answer, body)
}

#[tokio::test]
async fn half_a_message_holds_nobody_up_and_is_given_up() {
    let server = Server::start_without_model(&[("--call-timeout", "1")]).await;
    let socket = server.running.addresses().uds.clone().unwrap();
    let mut halves = Vec::new();
    for _ in 0..20 {
        halves.push(half_a_call(&socket).await);
    }
    let mut client = Client::new(server.unix().await);
    for _ in 0..20 {
        check(&mut client, "r", "x").await.unwrap();
    }
    // Half of them go away, the others wait to be told.
    halves.truncate(10);
    for (answer, _body) in halves {
        let answer = answer.await.unwrap();
        let status = answer.headers().get("grpc-status").expect("a status");
        assert_ne!(status, "0");
    }
    // Not even a whole preface.
    let torn = UnixStream::connect(&socket).await.unwrap();
    torn.try_write(b"PRI * HT").unwrap();
    drop(torn);
    check(&mut client, "r", "x").await.unwrap();
    assert_eq!(server.running.metrics().in_flight_now(), 0);
}

#[tokio::test]
async fn ten_thousand_connections_are_held_and_callers_answered() {
    const MANY: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(&mut command(folder.path())).await;
    let socket = folder.path().join("s.sock");
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let mut client = program.client().await;
    let mut connections = Vec::with_capacity(MANY);
    while connections.len() < MANY {
        // More at once than wait to be accepted is refused for the moment.
        match UnixStream::connect(&socket).await {
            Ok(connection) => connections.push(connection),
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
    check(&mut client, "r", "x").await.unwrap();
    check(&mut program.client().await, "r", "a new connection").await.unwrap();
    drop(connections);
    check(&mut program.client().await, "r", "and afterwards").await.unwrap();
    program.signal(Signal::TERM);
    let (code, log) = program.end().await;
    assert_eq!(code, Some(0), "{log}");
}

#[tokio::test]
async fn without_file_handles_it_goes_on_and_takes_connections_again() {
    let folder = tempfile::tempdir().unwrap();
    let plain = command(folder.path());
    let plain = plain.as_std();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 64; exec \"$0\""]).arg(plain.get_program()).env_clear();
    limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let program = Program::start(&mut limited).await;
    let socket = folder.path().join("s.sock");
    let mut client = program.client().await;
    // Open before there are no handles left for it.
    let mut pages = Pages::open(program.metrics()).await;
    pages.get("/healthz").await;
    let mut connections = Vec::new();
    for _ in 0..200 {
        connections.push(UnixStream::connect(&socket).await.unwrap());
    }
    let refused = "embedding_service_connections_not_accepted_total";
    eventually("one is not accepted", async || (pages.sample(refused).await >= 1.0).then_some(())).await;
    check(&mut client, "r", "x").await.unwrap();
    drop(connections);
    eventually("it takes connections again", async || answers(&socket).await.then_some(())).await;
    program.signal(Signal::TERM);
    let (code, log) = program.end().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("a connection could not be accepted"), "{log}");
}

#[tokio::test]
async fn a_signal_under_load_loses_nothing_that_was_accepted() {
    let redis = Redis::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command.env("REDIS_URL", redis.url()).env("LOOP_STORE_TIMEOUT_MS", "10000");
    let program = Program::start(&mut command).await;
    let answered = Arc::new(AtomicUsize::new(0));
    let mut callers = Vec::new();
    for caller in 0..8 {
        let channel = channel(format!("unix://{}", folder.path().join("s.sock").display())).await;
        let (mut client, answered) = (Client::new(channel), Arc::clone(&answered));
        callers.push(tokio::spawn(async move {
            let mut number = 0;
            loop {
                // Each in a scope of its own, so that each answered one is a key of its own in the store.
                let (run, prompt) = (format!("{caller}/{number}"), format!("prompt {number} of {caller}"));
                if let Err(status) = check(&mut client, &run, &prompt).await {
                    return status;
                }
                answered.fetch_add(1, Ordering::Relaxed);
                number += 1;
            }
        }));
    }
    eventually("there is load", async || (answered.load(Ordering::Relaxed) > 100).then_some(())).await;
    program.signal(Signal::TERM);
    for caller in callers {
        let status = caller.await.unwrap();
        // Never "your call was taken and then failed": the connection has gone before the call was taken.
        assert!([tonic::Code::Unavailable, tonic::Code::Unknown].contains(&status.code()), "{status:?}");
        assert!(!status.message().contains("shutting down"), "{status:?}");
    }
    let (code, log) = program.end().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("stopped lost=0"), "{log}");
    assert_eq!(
        redis.prompts().await.len(),
        answered.load(Ordering::Relaxed),
        "all that was answered is stored"
    );
}

/// The clock was an hour ahead when the last prompts were stored, or is on another replica.
#[tokio::test]
async fn prompts_from_a_clock_ahead_do_not_push_out_the_new_ones() {
    let retention = Retention { size: 5, ttl: Duration::from_secs(3600) };
    after_a_clock_ahead(Arc::new(MemoryHistory::new(retention, 1 << 20)), retention).await;
    let redis = Redis::start().await;
    let settings = redis_settings(&redis.url(), &[]);
    let dimension = BagOfWords::default().dimension;
    let store = RedisHistory::connect(&settings, bag_of_words(), dimension, retention).await.unwrap();
    after_a_clock_ahead(Arc::new(store), retention).await;
}

async fn after_a_clock_ahead(store: Arc<dyn PromptHistory>, retention: Retention) {
    let ahead = Moment::now().0 + 3_600_000_000;
    for i in 0..5 {
        let embedded = BagOfWords::default().embed("something else entirely").unwrap().0;
        let scope = Scope::new("t", "", "r");
        store.record(&Record { scope, moment: Moment(ahead + i), embedded }).await.unwrap();
    }
    let metrics = Arc::new(Metrics::default());
    let size = PoolOptions { workers: 1, queue_length: 16, cache_bytes: 0 };
    let pool = Pool::start(size, Arc::clone(&metrics), || Ok(BagOfWords::default())).unwrap();
    let service = LoopService {
        pool: Arc::new(pool),
        recorder: Arc::new(Recorder::start(store, retention.size, Arc::clone(&metrics))),
        metrics,
        cache: None,
        cache_options: CacheOptions::default(),
        threshold: 0.95,
        store_prompt_text: true,
        return_similar_prompt: false,
    };
    for matches in 0..4 {
        let ask = tonic::Request::new(request("r", "why does the build fail"));
        let answer = service.check_loop(ask).await.unwrap().into_inner();
        assert_eq!((answer.compared, answer.matches), (5, matches));
    }
}
