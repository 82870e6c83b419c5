//! Look-ups of the response cache in a store that holds many answers: the store's own code, as a call for a loop check asks it. The
//! same text (`exact`), and the five nearest texts (`nearest`). The first of the five is checked against a comparison with every entry of
//! the partition. Prints a line of JSON for each number of entries and each size of a partition.
//!
//! `make bench` (tools/src/bin/bench/cache_lookups.rs) starts the Redis and makes a table of it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a bench says what is wrong by failing"
)]

mod layout;
mod vectors;

use std::{
    fs,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use clap::{Parser, ValueEnum};
use embedding_service::{
    cache::{
        AnswerStore, Entry, EntryId, Owner, StoredQuestion, learning::Observations, memory::MemoryAnswers,
        redis::RedisAnswers,
    },
    embed::model_id::ModelId,
    history::open::StoreOptions,
    settings::{RawSettings, Settings},
    similarity,
};
use serde_json::json;
use tokio::{task::JoinSet, time::sleep};

use vectors::{DIMENSION, Dice, Vectors};

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    way: Way,
    /// Address of an empty Redis; with the search module for the ways that search.
    #[arg(long)]
    redis: Option<String>,
    /// How many entries to hold, rising.
    #[arg(long, value_delimiter = ',')]
    entries: Vec<usize>,
    /// Seconds that it may take to be filled up to each of these.
    #[arg(long)]
    seconds: u64,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Way {
    Memory,
    /// Redis without the search module.
    Direct,
    /// Redis with the search module and the service's index.
    Search,
}

const TTL: Duration = Duration::from_secs(24 * 3600);
/// Larger than a million entries need, so that nothing is evicted.
const MEMORY_BOUND: usize = 8 << 30;
/// Writes in flight while the store is filled.
const FILLING: usize = 32;
/// Questions for each size of a partition, and how many in a hundred of them are about something else.
const QUESTIONS: usize = 200;
const UNRELATED: usize = 20;
/// As many as the service looks at.
const NEAREST: usize = 5;
/// The service's default: what is less similar is no hit.
const THRESHOLD: f64 = 0.875;
/// Allows for rounding: the store and the bench add up in a different order.
const ROUNDING: f64 = 1e-6;
/// Pause before each question. On a busy machine the scheduler delays a program that never sleeps, which would falsify the times.
const BETWEEN: Duration = Duration::from_millis(2);
/// Pause before a failed write is tried again.
const PAUSE: Duration = Duration::from_millis(5);

#[tokio::main]
async fn main() {
    let arguments = Arguments::parse();
    let vectors = Vectors::new();
    let mut held = Held::open(&arguments).await;
    for &wanted in &arguments.entries {
        let filled = held.fill(wanted, Duration::from_secs(arguments.seconds), &vectors).await;
        eprintln!("      {}: has {} entries of {wanted}", held.name, held.entries);
        let bytes = held.bytes().await.saturating_sub(held.empty) / held.entries as u64;
        for (size, entries) in layout::asked(held.entries) {
            let size = size.min(entries.len());
            let found = measure(held.store.as_ref(), size, entries, &vectors).await;
            let [exact, nearest] =
                [&found.exact, &found.nearest].map(|times| [quantile(times, 0.5), quantile(times, 0.95)]);
            let line = json!({
                "store": held.name, "entries": held.entries, "partition": size,
                "filled_per_second": filled, "bytes_per_entry": bytes,
                "exact_p50_ms": exact[0], "exact_p95_ms": exact[1],
                "nearest_p50_ms": nearest[0], "nearest_p95_ms": nearest[1],
                "brute_force_p50_ms": quantile(&found.brute_force, 0.5),
                "questions": found.near, "found": found.found,
            });
            println!("{line}");
        }
    }
}

/// What the look-ups in partitions of one size came to. Times in milliseconds, sorted.
#[derive(Default)]
struct Found {
    exact: Vec<f64>,
    nearest: Vec<f64>,
    /// Time of the comparison with the whole partition, in this process.
    brute_force: Vec<f64>,
    /// Questions for which the partition has a text within the threshold; `found`: for how many of them the store found the nearest.
    near: usize,
    found: usize,
}

async fn measure(store: &dyn AnswerStore, size: usize, entries: Range<usize>, vectors: &Vectors) -> Found {
    let all: Vec<Vec<f32>> = entries.clone().map(|number| vectors.entry(number)).collect();
    let mut dice = Dice::new(size as u64);
    let (mut found, mut asked) = (Found::default(), Vec::new());
    for question in 0..QUESTIONS {
        let near = dice.below(all.len());
        let number = entries.start + near;
        let (partition, id) = (layout::partition(number), EntryId::of(&text(number)));
        let cosine = if question % 100 < UNRELATED { 0.0 } else { 0.8 + dice.below(190) as f32 / 1_000.0 };
        let vector = vectors.question(question, number, cosine);
        sleep(BETWEEN).await;
        let began = Instant::now();
        let exact = store.exact(partition, id).await.expect("the store answers");
        found.exact.push(milliseconds(began));
        assert_eq!(exact.expect("it was stored").partition, partition);
        let began = Instant::now();
        let nearest = store.nearest(partition, &vector, NEAREST).await.expect("the store answers");
        found.nearest.push(milliseconds(began));
        let begin = near - near % size;
        asked.push((
            begin..all.len().min(begin + size),
            vector,
            nearest.first().map(|first| first.similarity),
        ));
    }
    // Only now, because it would push everything else out of the processor's caches.
    for (of_partition, vector, first) in asked {
        let began = Instant::now();
        let similarities = all[of_partition].iter().map(|stored| similarity::of_vectors(&vector, stored));
        let best = similarities.fold(0.0, f64::max);
        found.brute_force.push(milliseconds(began));
        if best >= THRESHOLD {
            found.near += 1;
            found.found += usize::from(first.is_some_and(|first| first > best - ROUNDING));
        }
    }
    for times in [&mut found.exact, &mut found.nearest, &mut found.brute_force] {
        times.sort_by(f64::total_cmp);
    }
    found
}

fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

fn text(number: usize) -> String {
    format!("Could you look up why the nightly build fails on machine {number}, and what is to be done?")
}

fn entry(number: usize, vectors: &Vectors) -> Entry {
    let text = text(number);
    let stored_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Entry {
        partition: layout::partition(number),
        id: EntryId::of(&text),
        owner: Owner { tenant: "bench".to_owned(), agent: "agent".to_owned() },
        asked: Some(StoredQuestion { text, vector: Arc::from(vectors.entry(number)), unseen: None }),
        answer: "The disk of that machine is full; remove what lies in its folder of old builds. "
            .repeat(5)
            .into(),
        stored_at: stored_at.as_millis() as u64,
        observations: Observations::default(),
    }
}

/// A store, and what is in it: the entries from 0 up to `entries`.
struct Held {
    name: String,
    store: Arc<dyn AnswerStore>,
    redis: Option<redis::Client>,
    entries: usize,
    /// Bytes in use before the first entry.
    empty: u64,
}

impl Held {
    async fn open(arguments: &Arguments) -> Self {
        let name = arguments.way.to_possible_value().expect("it has a name").get_name().to_owned();
        let (store, redis): (Arc<dyn AnswerStore>, _) = match (arguments.way, &arguments.redis) {
            (Way::Memory, _) => (Arc::new(MemoryAnswers::new(TTL, MEMORY_BOUND)), None),
            (_, None) => panic!("--redis: {name} needs the address of an empty Redis"),
            (way, Some(url)) => {
                let client = redis::Client::open(url.as_str()).unwrap();
                (Arc::new(redis_answers(url, way).await), Some(client))
            }
        };
        let mut held = Self { name, store, redis, entries: 0, empty: 0 };
        held.empty = held.bytes().await;
        held
    }

    /// Bytes in use: `used_memory` of Redis, or the resident memory of this process.
    async fn bytes(&self) -> u64 {
        let Some(client) = &self.redis else {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
            return line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10;
        };
        let mut connection = client.get_multiplexed_async_connection().await.expect("Redis answers");
        let info: String = redis::cmd("INFO").arg("memory").query_async(&mut connection).await.unwrap();
        let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).expect("used_memory");
        line.trim().parse().unwrap()
    }

    /// Stores entries until there are `wanted` or the time is up. Returns the entries stored in a second.
    async fn fill(&mut self, wanted: usize, limit: Duration, vectors: &Vectors) -> f64 {
        let (before, began) = (self.entries, Instant::now());
        let mut writes = JoinSet::new();
        while self.entries < wanted && began.elapsed() < limit {
            let (store, entry) = (Arc::clone(&self.store), entry(self.entries, vectors));
            writes.spawn(async move {
                while store.store(&entry, TTL).await.is_err() {
                    sleep(PAUSE).await;
                }
            });
            self.entries += 1;
            if writes.len() >= FILLING {
                writes.join_next().await;
            }
        }
        writes.join_all().await;
        (self.entries - before) as f64 / began.elapsed().as_secs_f64()
    }
}

async fn redis_answers(url: &str, way: Way) -> RedisAnswers {
    let lookup = if way == Way::Direct { "direct" } else { "search" };
    let flags = ["bench", "--model-path", "/none", "--store-timeout-ms", "10000"];
    let raw = flags.into_iter().chain(["--redis-url", url, "--redis-lookup", lookup]);
    let settings = Settings::try_from(RawSettings::try_parse_from(raw).unwrap()).unwrap();
    let StoreOptions::Redis(options) = settings.store else { panic!("the settings name no Redis") };
    RedisAnswers::connect(&options, ModelId::named("bench"), DIMENSION, TTL).await.expect("Redis can be used")
}
