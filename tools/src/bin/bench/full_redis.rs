//! The memory that Redis uses with the configuration of k8s/components/redis: while it fills up and evicts the oldest
//! prompts, and while a fork rewrites its log under full write load. Memory that both processes share counts once, as
//! in a container.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sentinel_harness::parts;
use sentinel_harness::process::Process;

use crate::usage;

/// The script with which the service stores a prompt.
const RECORD: &str = include_str!("../../../../embedding-service/src/history/redis/record.lua");
/// Prompts in a scope and numbers in a vector, as in the service.
const HISTORY: u64 = 5;
const DIMENSION: usize = 384;
/// Prompts in flight.
const BATCH: u64 = 64;
/// The most time to fill it, and to rewrite the log.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct FullRedis {
    process: Process,
    folder: PathBuf,
}

/// Memory in kB.
pub struct Full {
    pub prompts: u64,
    pub full: u64,
    pub highest: u64,
    pub writes_per_second: f64,
}

impl FullRedis {
    /// As in a pod, but on a Unix socket and without users.
    pub fn start(folder: &Path) -> Self {
        let shipped = parts::root().join("k8s/components/redis/redis.conf");
        let text =
            fs::read_to_string(&shipped).unwrap_or_else(|error| panic!("{}: {error}", shipped.display()));
        let elsewhere = ["aclfile ", "port ", "bind ", "dir ", "loadmodule "];
        let text: Vec<&str> =
            text.lines().filter(|line| !elsewhere.iter().any(|word| line.starts_with(word))).collect();
        fs::write(folder.join("redis.conf"), text.join("\n")).expect("the configuration is written");
        let mut command = Command::new(parts::redis_server());
        command.arg(folder.join("redis.conf")).args(["--port", "0", "--dir"]).arg(folder);
        command
            .arg("--unixsocket")
            .arg(folder.join("redis.sock"))
            .arg("--loadmodule")
            .arg(parts::redisearch());
        let mut process = Process::start("redis", folder, command);
        process.wait_for("an open socket", |_| UnixStream::connect(folder.join("redis.sock")).ok());
        Self { process, folder: folder.to_path_buf() }
    }

    pub fn url(&self) -> String {
        format!("unix://{}", self.folder.join("redis.sock").display())
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Fills it.
    pub fn fill(&self) -> Full {
        let (stop, highest) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    highest.fetch_max(usage::with_children(self.id()), Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(50));
                }
            });
            let _stop = Stop(&stop);
            let mut talk = self.talk();
            let mut number = 0;
            let began = Instant::now();
            while talk.info("stats", "evicted_keys") == 0 {
                talk.store(&mut number);
                assert!(began.elapsed() < PATIENCE, "Redis was not full within {PATIENCE:?}");
            }
            let prompts = number;
            let full = usage::with_children(self.id());
            // A rewrite that Redis started by itself ends first.
            while talk.rewrites() {
                talk.store(&mut number);
            }
            let (began, before) = (Instant::now(), number);
            talk.say(&[b"BGREWRITEAOF"]);
            assert!(talk.line().starts_with('+'), "Redis does not rewrite its log");
            loop {
                talk.store(&mut number);
                if !talk.rewrites() {
                    break;
                }
                assert!(began.elapsed() < PATIENCE, "the log was not rewritten within {PATIENCE:?}");
            }
            let writes_per_second = (number - before) as f64 / began.elapsed().as_secs_f64();
            Full { prompts, full, highest: highest.load(Ordering::Relaxed), writes_per_second }
        })
    }

    fn talk(&self) -> Talk {
        let stream = UnixStream::connect(self.folder.join("redis.sock")).expect("Redis takes connections");
        Talk { answers: BufReader::new(stream.try_clone().expect("a second handle")), stream }
    }
}

/// Sets the flag when it is dropped, also in a panic.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection in Redis's protocol.
struct Talk {
    stream: UnixStream,
    answers: BufReader<UnixStream>,
}

impl Talk {
    fn say(&mut self, words: &[&[u8]]) {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            bytes.extend(format!("${}\r\n", word.len()).bytes());
            bytes.extend(*word);
            bytes.extend(b"\r\n");
        }
        self.stream.write_all(&bytes).expect("Redis reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("Redis answers");
        line
    }

    /// A number in INFO.
    fn info(&mut self, section: &str, name: &str) -> u64 {
        self.say(&[b"INFO", section.as_bytes()]);
        let length: usize = self.line().trim_start_matches('$').trim().parse().expect("a text");
        let mut text = vec![0; length + 2];
        self.answers.read_exact(&mut text).expect("Redis answers");
        let text = String::from_utf8_lossy(&text);
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("INFO has no {name}"))
    }

    fn rewrites(&mut self) -> bool {
        let info = ["aof_rewrite_in_progress", "aof_rewrite_scheduled"];
        info.iter().any(|name| self.info("persistence", name) == 1)
    }

    /// Stores the next prompts, as the service would.
    fn store(&mut self, number: &mut u64) {
        for at in *number..*number + BATCH {
            let scope = format!("{:032x}", at / HISTORY);
            let tag = format!("bench/{scope}/0123456789abcdef");
            let (key, recent) = (format!("loop:{{{tag}}}:{at}-01234567"), format!("loop:{{{tag}}}:recent"));
            let moment = at.to_string();
            let prompt =
                format!("{at}: {}", "Which of the rivers in this region carries the most water? ".repeat(5));
            // Random numbers, which cannot be compressed.
            let vector: Vec<u8> = (0..DIMENSION as u64)
                .flat_map(|i| {
                    ((at * 384 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).to_le_bytes()[..4].to_vec()
                })
                .collect();
            let words: [&[u8]; 19] = [
                b"EVAL",
                RECORD.as_bytes(),
                b"2",
                key.as_bytes(),
                recent.as_bytes(),
                moment.as_bytes(),
                b"3600000",
                b"5",
                b"tenant_id",
                b"bench",
                b"scope",
                scope.as_bytes(),
                b"moment",
                moment.as_bytes(),
                b"prompt",
                prompt.as_bytes(),
                b"unseen",
                b"",
                b"vec",
            ];
            let mut words = words.to_vec();
            words.push(&vector);
            self.say(&words);
        }
        for _ in 0..BATCH {
            let answer = self.line();
            assert!(!answer.starts_with('-'), "Redis does not store: {answer}");
        }
        *number += BATCH;
    }
}
