//! Pages of very many runs, as an operator asks for them.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use sentinel_harness::operator::Method;
use sentinel_proto::v1::control_service_client::ControlServiceClient;
use sentinel_proto::v1::{End, Names, ReportRequest, Turn, Worker};
use serde_json::Value;
use tonic::Code;
use tonic::transport::Endpoint;

use super::Side;

pub const RUNS: u64 = 100_000;
/// Runs of one agent.
const OF_AN_AGENT: u64 = 100;
/// Turns of one report.
const REPORT: u64 = 4_000;
const TIMES: usize = 50;
/// How often a report is sent that the store did not take in time.
const TRIES: usize = 20;

/// What is asked for, and how people call it.
const QUESTIONS: [(&str, &str); 5] = [
    ("the newest", "/v1/runs?limit=100"),
    ("the dearest", "/v1/runs?limit=100&sort=cost"),
    ("those of an agent", "/v1/runs?limit=100&agent=agent-7"),
    ("those that have calls to do", "/v1/runs?limit=100&status=tools,working"),
    ("the last page", ""),
];

pub struct Pages {
    pub store: &'static str,
    pub runs: u64,
    /// Seconds that it took to report them all.
    pub reported: f64,
    pub pages: Vec<Page>,
}

pub struct Page {
    pub name: &'static str,
    /// Milliseconds of each, sorted.
    pub times: Vec<f64>,
    /// Runs on it.
    pub runs: usize,
}

pub(super) fn measure(side: &Side) -> Pages {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(side))
}

async fn run(side: &Side) -> Pages {
    let began = Instant::now();
    report(side).await;
    let reported = began.elapsed().as_secs_f64();
    let first = side.operator.ask(Method::GET, "/v1/runs?limit=1", &Value::Null).await;
    let runs = first["total"].as_u64().unwrap_or(0);
    let last = last_page(side).await;
    let mut pages = Vec::new();
    for (name, path) in QUESTIONS {
        let path = if path.is_empty() { last.as_str() } else { path };
        let (mut times, mut runs) = (Vec::new(), 0);
        for _ in 0..TIMES {
            let began = Instant::now();
            let answer = side.operator.ask(Method::GET, path, &Value::Null).await;
            times.push(began.elapsed().as_secs_f64() * 1e3);
            runs = answer["runs"].as_array().map_or(0, Vec::len);
        }
        times.sort_by(f64::total_cmp);
        pages.push(Page { name, times, runs });
    }
    Pages { store: side.name, runs, reported, pages }
}

/// Follows the cursor to a page that is far from the first.
async fn last_page(side: &Side) -> String {
    let mut path = "/v1/runs?limit=500".to_owned();
    loop {
        let answer = side.operator.ask(Method::GET, &path, &Value::Null).await;
        match answer["next"].as_str() {
            Some(next) => path = format!("/v1/runs?limit=500&cursor={next}"),
            None => return path,
        }
    }
}

/// One turn of each run, as a worker of Envoy would tell it.
async fn report(side: &Side) {
    let socket = format!("unix://{}", side.service.socket().display());
    let channel = Endpoint::from_shared(socket).expect("a path is an address").connect().await;
    let mut client = ControlServiceClient::new(channel.expect("the service listens"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_millis() as u64;
    for first in (0..RUNS).step_by(REPORT as usize) {
        let turns = (first..(first + REPORT).min(RUNS)).map(|number| turn(number, now)).collect();
        let request = ReportRequest {
            worker: Some(Worker { envoy: 7, number: 1 }),
            sent_at_ms: now,
            turns,
            ..ReportRequest::default()
        };
        // As a worker does where the store did not answer in time: each turn counts once.
        let mut tries = 0;
        let reply = loop {
            match client.report(request.clone()).await {
                Ok(reply) => break reply.into_inner(),
                Err(error) => assert!(error.code() == Code::Unavailable && tries < TRIES, "{error}"),
            }
            tries += 1;
        };
        assert_eq!(reply.refused, 0, "the service refuses turns");
    }
}

fn turn(number: u64, now: u64) -> Turn {
    let names = Names {
        tenant: "acme".to_owned(),
        agent: format!("agent-{}", number / OF_AN_AGENT),
        run: format!("run-{number}"),
        ..Names::default()
    };
    Turn {
        number: number + 1,
        names: Some(names),
        at_ms: now - number % 1_000,
        duration_ms: 800,
        dialect: "openai_chat".to_owned(),
        provider: "openai".to_owned(),
        model: "gpt-4o-mini".to_owned(),
        status: 200,
        input_tokens: 1_000 + number % 977,
        output_tokens: 100 + number % 89,
        end: if number.is_multiple_of(10) { End::Calls.into() } else { End::Text.into() },
        ..Turn::default()
    }
}
