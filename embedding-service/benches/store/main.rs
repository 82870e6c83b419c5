//! Reading a scope's prompts from Redis and comparing here (`direct`), against the search module's KNN over an index
//! (`search`), also one that keeps the vectors in a graph (`search_hnsw`): the service's own code, each with a Redis of
//! its own that holds the same prompts; blocks of questions go to each in turn. Prints a line of JSON for each way and
//! each number of prompts held.
//!
//! `make bench` (tools/src/bin/bench/store.rs) starts the Redis and makes a table of it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a bench says what is wrong by failing"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Parser;
use embedding_service::{
    embed::{Embedded, model_id::ModelId},
    history::{
        Moment, PromptHistory as _, Record, Retention, Scope,
        open::StoreOptions,
        redis::{INDEX, RedisHistory},
    },
    settings::{RawSettings, Settings},
    similarity,
};
use serde_json::json;
use tokio::{task::JoinSet, time::sleep};

#[derive(Parser)]
struct Arguments {
    /// Address of an empty Redis.
    #[arg(long)]
    direct: String,
    /// Address of an empty Redis with the search module.
    #[arg(long)]
    search: String,
    /// Address of another one.
    #[arg(long)]
    search_hnsw: String,
    /// How many prompts to hold, rising.
    #[arg(long, value_delimiter = ',')]
    prompts: Vec<usize>,
    /// Seconds that either may take to be filled up to each of these.
    #[arg(long)]
    seconds: u64,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

const SIDES: usize = 3;
/// As long as the vectors of the model that is shipped.
const DIMENSION: usize = 384;
const RETENTION: Retention = Retention { size: 5, ttl: Duration::from_secs(24 * 3600) };
/// Time for the questions of one kind at one size, all rivals together.
const SHARE: Duration = Duration::from_secs(4);
/// Questions of a block, one after the other or at once.
const BLOCK: usize = 48;
const AT_ONCE: usize = 16;
/// Rounds that are measured even when the time is up.
const MIN_ROUNDS: usize = 4;
/// Prompts on their way while it is filled: as many as the service writes at once.
const FILLING: usize = 16;
/// Before a question is asked again that Redis was too slow for.
const PAUSE: Duration = Duration::from_millis(5);

/// Milliseconds of each question, sorted.
#[derive(Default)]
pub struct Times(Vec<f64>);

impl Times {
    pub fn quantile(&self, share: f64) -> f64 {
        let at = (self.0.len() as f64 * share) as usize;
        self.0.get(at.min(self.0.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    }
}

struct Side {
    name: &'static str,
    history: Arc<RedisHistory>,
    client: redis::Client,
    /// Bytes that it needed before there was a prompt.
    empty: u64,
    stored: usize,
    dice: Dice,
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
}

#[tokio::main]
async fn main() {
    let arguments = Arguments::parse();
    let limit = Duration::from_secs(arguments.seconds);
    make_graph(&arguments.search_hnsw).await;
    let mut sides = [
        Side::start("direct", "direct", &arguments.direct).await,
        Side::start("search", "search", &arguments.search).await,
        Side::start("search_hnsw", "search", &arguments.search_hnsw).await,
    ];
    for &size in &arguments.prompts {
        let mut filled = Vec::new();
        for side in &mut sides {
            filled.push(side.fill(size, limit).await);
            eprintln!("      {}: has {} prompts of {size}", side.name, side.stored);
        }
        let read = times(&mut sides, Kind::Read).await;
        let reads = rates(&mut sides, Kind::Read).await;
        let write = times(&mut sides, Kind::Write).await;
        let writes = rates(&mut sides, Kind::Write).await;
        for (at, side) in sides.iter().enumerate() {
            let [read, write] =
                [&read, &write].map(|times| [0.5, 0.99].map(|share| times[at].quantile(share)));
            let line = json!({
                "lookup": side.name, "prompts": side.stored, "filled_per_second": filled[at],
                "bytes_per_prompt": (side.bytes().await - side.empty) / side.stored as u64,
                "read_p50_ms": read[0], "read_p99_ms": read[1], "write_p50_ms": write[0], "write_p99_ms": write[1],
                "reads_per_second": reads[at], "writes_per_second": writes[at],
            });
            println!("{line}");
        }
    }
}

/// One question at a time.
async fn times(sides: &mut [Side; SIDES], kind: Kind) -> [Times; SIDES] {
    let mut times: [Times; SIDES] = Default::default();
    let began = Instant::now();
    for round in 0.. {
        if round >= MIN_ROUNDS && began.elapsed() > SHARE {
            break;
        }
        for turn in 0..sides.len() {
            // Forwards and backwards: whatever else the machine does meets all alike.
            let at = if round % 2 == 0 { turn } else { sides.len() - 1 - turn };
            for _ in 0..BLOCK {
                let question = sides[at].question();
                let began = Instant::now();
                sides[at].ask(kind, question).await;
                times[at].0.push(began.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    for times in &mut times {
        times.0.sort_by(f64::total_cmp);
    }
    times
}

/// Questions a second, several at a time.
async fn rates(sides: &mut [Side; SIDES], kind: Kind) -> [f64; SIDES] {
    let mut spent = [Duration::ZERO; SIDES];
    let mut asked = [0; SIDES];
    let began = Instant::now();
    for round in 0.. {
        if round >= MIN_ROUNDS && began.elapsed() > SHARE {
            break;
        }
        for at in 0..sides.len() {
            let questions: Vec<_> = (0..BLOCK).map(|_| sides[at].question()).collect();
            let began = Instant::now();
            let mut tasks = JoinSet::new();
            for questions in questions.chunks(BLOCK / AT_ONCE) {
                let (history, questions) = (Arc::clone(&sides[at].history), questions.to_vec());
                tasks.spawn(async move {
                    for question in questions {
                        ask(&history, kind, question).await;
                    }
                });
            }
            tasks.join_all().await;
            spent[at] += began.elapsed();
            asked[at] += BLOCK;
        }
    }
    std::array::from_fn(|at| f64::from(asked[at] as u32) / spent[at].as_secs_f64())
}

/// Asks until there is an answer: an index that is busy with writes keeps Redis from answering in time.
async fn ask(history: &RedisHistory, kind: Kind, (scope, vector): (Scope, Vec<f32>)) {
    match kind {
        Kind::Read => loop {
            if let Ok(earlier) = history.recall(&scope, &vector).await {
                return assert_eq!(earlier.len(), RETENTION.size, "this is not what was to be measured");
            }
            sleep(PAUSE).await;
        },
        Kind::Write => store(history, &record(scope, vector)).await,
    }
}

async fn store(history: &RedisHistory, record: &Record) {
    while history.record(record).await.is_err() {
        sleep(PAUSE).await;
    }
}

fn record(scope: Scope, vector: Vec<f32>) -> Record {
    let head = "Could you look up why the nightly build fails on the second machine and tell me what to do?";
    let embedded = Embedded { vector: Arc::from(vector), head: head.to_owned(), unseen: None };
    Record { scope, moment: Moment::now(), embedded }
}

/// Makes the index with a graph, which the service then takes.
async fn make_graph(url: &str) {
    let mut connection =
        redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.expect("Redis answers");
    let mut create = redis::cmd("FT.CREATE");
    create
        .arg(INDEX)
        .arg(&["ON", "HASH", "PREFIX", "1", "loop:", "SCHEMA", "scope", "TAG", "CASESENSITIVE"])
        .arg(&["moment", "NUMERIC", "SORTABLE", "vec", "VECTOR", "HNSW", "6", "TYPE", "FLOAT32", "DIM"])
        .arg(DIMENSION)
        .arg(&["DISTANCE_METRIC", "COSINE"]);
    create.query_async::<()>(&mut connection).await.expect("the index can be made");
}

impl Side {
    async fn start(name: &'static str, lookup: &str, url: &str) -> Self {
        let flags = ["bench", "--model-path", "/none", "--store-timeout-ms", "10000"];
        let raw = flags.into_iter().chain(["--redis-url", url, "--redis-lookup", lookup]);
        let settings = Settings::try_from(RawSettings::try_parse_from(raw).unwrap()).unwrap();
        let StoreOptions::Redis(options) = settings.store else { panic!("the settings name no Redis") };
        let model = ModelId::named("bench");
        let history =
            RedisHistory::connect(&options, model, DIMENSION, RETENTION).await.expect("Redis can be used");
        let client = redis::Client::open(url).unwrap();
        let mut side = Self { name, history: Arc::new(history), client, empty: 0, stored: 0, dice: Dice(1) };
        side.empty = side.bytes().await;
        side
    }

    /// What Redis needs for all that it holds, by its own count.
    async fn bytes(&self) -> u64 {
        let mut connection = self.client.get_multiplexed_async_connection().await.expect("Redis answers");
        let info: String = redis::cmd("INFO").arg("memory").query_async(&mut connection).await.unwrap();
        let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).expect("used_memory");
        line.trim().parse().unwrap()
    }

    /// Stores prompts until there are `size` or the time is up. Returns the prompts stored in a second.
    async fn fill(&mut self, size: usize, limit: Duration) -> f64 {
        let (before, began) = (self.stored, Instant::now());
        let mut writes = JoinSet::new();
        while (self.stored < size && began.elapsed() < limit) || !self.stored.is_multiple_of(RETENTION.size) {
            let scope = scope(self.stored / RETENTION.size);
            let record = record(scope, self.dice.vector());
            let history = Arc::clone(&self.history);
            writes.spawn(async move { store(&history, &record).await });
            self.stored += 1;
            if writes.len() >= FILLING {
                writes.join_next().await;
            }
        }
        writes.join_all().await;
        (self.stored - before) as f64 / began.elapsed().as_secs_f64()
    }

    /// A scope that is there, and a vector.
    fn question(&mut self) -> (Scope, Vec<f32>) {
        let scope = scope(self.dice.below(self.stored / RETENTION.size));
        (scope, self.dice.vector())
    }

    async fn ask(&self, kind: Kind, question: (Scope, Vec<f32>)) {
        ask(&self.history, kind, question).await;
    }
}

fn scope(number: usize) -> Scope {
    Scope::new("bench", "agent", &number.to_string())
}

/// Small and repeatable: nothing here needs good randomness.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit
    }

    fn vector(&mut self) -> Vec<f32> {
        let mut vector: Vec<f32> =
            (0..DIMENSION).map(|_| (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect();
        similarity::normalise(&mut vector);
        vector
    }
}
