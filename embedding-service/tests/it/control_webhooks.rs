//! Events by webhook, at a receiver of the test's own; and the command-line client, as it is run.

use std::{
    collections::VecDeque,
    fs,
    process::Output,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use sentinel_proto::v1;
use serde_json::Value;
use tokio::{net::TcpListener, process::Command};

use crate::{
    control_api::{KEY, report, server, worker},
    control_suite::{names, turn},
    support::{eventually, http::sample, redis::Redis},
};

/// What came, and how the next ones are answered; 200 where nothing is said.
#[derive(Clone, Default)]
struct Receiver {
    came: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    answers: Arc<Mutex<VecDeque<u16>>>,
}

impl Receiver {
    async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/hook", post(Self::take)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/hook")
    }

    async fn take(State(this): State<Self>, headers: HeaderMap, body: Bytes) -> StatusCode {
        let status = this.answers.lock().unwrap().pop_front().unwrap_or(200);
        this.came.lock().unwrap().push((headers, serde_json::from_slice(&body).unwrap()));
        StatusCode::from_u16(status).unwrap()
    }

    fn kinds(&self) -> Vec<String> {
        let came = self.came.lock().unwrap();
        came.iter().map(|(_, event)| event["type"].as_str().unwrap().replace("agent-sentinel.", "")).collect()
    }
}

#[tokio::test]
async fn events_are_sent_signed_again_until_they_are_taken_and_not_too_often() {
    let redis = Redis::start().await;
    let receiver = Receiver::default();
    let url = receiver.start().await;
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "a secret of the receiver\n").unwrap();
    let settings = [
        ("--redis-url", redis.url()),
        ("--control-webhook-url", url),
        ("--control-webhook-secret-file", secret.display().to_string()),
        ("--control-webhook-events", "run.started,run.failed".to_owned()),
    ];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(flag, value)| (*flag, value.as_str())).collect();
    // Two replicas: one of them sends.
    let (one, two) = (server(&settings).await, server(&settings).await);
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    receiver.answers.lock().unwrap().extend([500, 302]);
    let mut worker = worker(&one).await;
    let failed =
        |number| v1::Turn { end: v1::End::Error.into(), status: 500, ..turn(number, names("a", "r")) };
    worker
        .report(report(vec![failed(1), turn(2, names("a", "r")), failed(3), turn(4, names("b", "s"))]))
        .await
        .unwrap();
    eventually("all are taken", async || (receiver.kinds().len() == 5).then_some(())).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    assert_eq!(receiver.kinds(), ["run.started", "run.started", "run.started", "run.failed", "run.started"]);
    let came = receiver.came.lock().unwrap().clone();
    let (headers, event) = &came[3];
    assert_eq!((&event["specversion"], &event["data"]["agent"]), (&"1.0".into(), &"a".into()));
    assert_eq!(event["subject"], event["data"]["run_id"]);
    assert_eq!(headers["webhook-id"].to_str().unwrap(), event["id"].as_str().unwrap());
    assert!(headers["webhook-signature"].to_str().unwrap().starts_with("v1,"));
    assert_eq!(came[0].1, came[2].1, "the same event again");
    let mut cooled = 0.0;
    for server in [&one, &two] {
        let name = "embedding_service_control_deliveries_total{outcome=\"cooling_down\"}";
        cooled += sample(server.running.addresses().metrics, name).await;
    }
    assert_eq!(cooled, 1.0, "the second failure of the run");
}

async fn client(address: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_embedding-service"));
    command.env_clear().args(arguments).args(["--address", address]).output().await.unwrap()
}

#[tokio::test]
async fn the_client_lists_stops_and_lifts() {
    let server = server(&[]).await;
    let address = server.running.addresses().metrics.to_string();
    let hint = v1::Verdict { kind: 1, signal: "cycle".to_owned(), ..v1::Verdict::default() };
    let turns =
        vec![v1::Turn { verdict: Some(hint), ..turn(1, names("a\u{1b}[2J", "r")) }, turn(2, names("b", "s"))];
    worker(&server).await.report(report(turns)).await.unwrap();
    let run = async |arguments: &[&str]| {
        let output = client(&address, arguments).await;
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.success(), text)
    };
    let (fine, list) = run(&["runs", "--status", "tools"]).await;
    assert!(fine && list.contains("2 of 2") && list.contains("cycle") && !list.contains('\u{1b}'), "{list}");
    let (_, json) = run(&["runs", "--agent", "b", "--json"]).await;
    let json: Value = serde_json::from_str(&json).unwrap();
    let id = json["runs"][0]["id"].as_str().unwrap();
    let (fine, shown) = run(&["run", id]).await;
    assert!(fine && shown.contains("read_file:content"), "{shown}");
    let (fine, refused) = run(&["stop", id, "--reason", "enough"]).await;
    assert!(!fine && refused.contains("wants its key"), "{refused}");
    let (fine, stopped) = run(&["stop", id, "--reason", "enough", "--key", KEY]).await;
    assert!(fine && stopped.starts_with("stopped: "), "{stopped}");
    assert!(run(&["run", id]).await.1.contains("enough"));
    assert!(run(&["lift", id, "--key", KEY]).await.0);
    let (fine, nothing) = run(&["lift", id, "--key", KEY]).await;
    assert!(!fine && nothing.contains("no stop of exactly this run stands"), "{nothing}");
    assert!(run(&["stop", "--agent", "a", "--tenant", "t", "--key", KEY, "--seconds", "5"]).await.0);
    assert!(run(&["budgets"]).await.0);
    assert!(!run(&["run", "nobody/../x"]).await.0);
    let away = client("127.0.0.1:1", &["runs"]).await;
    assert!(String::from_utf8(away.stderr).unwrap().contains("no service answers on"));
    let mut watch = Command::new(env!("CARGO_BIN_EXE_embedding-service"));
    watch
        .env_clear()
        .args(["watch", "--kind", "run.started", "--address", &address])
        .stdout(std::process::Stdio::piped());
    let mut watch = watch.kill_on_drop(true).spawn().unwrap();
    let mut lines =
        tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(watch.stdout.take().unwrap()));
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    worker(&server).await.report(report(vec![turn(3, names("c", "q"))])).await.unwrap();
    let line = lines.next_line().await.unwrap().unwrap();
    assert!(line.contains("run.started") && line.contains("t / c / q"), "{line}");
}
