//! The response cache on a workload of 2,000 requests. For each request it is known whether it repeats an earlier
//! question, asks it in other words, or only looks similar. Requests are sent one at a time, through Envoy and the real
//! service, by unrelated people.
//!
//! The questions are the pairs of `embedding-service/tests/pairs`. Of a pair that asks the same, the first text is sent
//! once, then twice verbatim, then the second. Of a pair that does not, the first is sent once, then once verbatim,
//! then the second. Repeats of earlier questions fill up to 2,000.

use std::fs;
use std::time::{Duration, Instant};

use sentinel_harness::provider::reply::text_for;
use sentinel_harness::raw::RawConnection;
use sentinel_harness::{Dialect, Stack, parts};
use serde_json::{Value, json};

use crate::measure::quantile;
use crate::table::Table;

const REQUESTS: usize = 2_000;
const DIALECT: Dialect = Dialect::OpenaiChat;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    New,
    Repeat,
    Rewording,
    Trap,
}

const KINDS: [(Kind, &str); 4] = [
    (Kind::New, "asked for the first time"),
    (Kind::Repeat, "the same words"),
    (Kind::Rewording, "other words, the same question"),
    (Kind::Trap, "like words, another question"),
];

struct Asked {
    kind: Kind,
    /// `x-sentinel-cache`.
    cache: String,
    milliseconds: f64,
    /// Whether the answer belongs to this text or to one that asks the same, by one pair or a chain of pairs.
    is_right: bool,
}

/// The result of the workload.
pub struct Cache {
    asked: Vec<Asked>,
    saved_tokens: u64,
    used_tokens: u64,
}

struct Question {
    kind: Kind,
    text: String,
}

pub fn measure() -> Cache {
    let stack = Stack::builder().config(&json!({"cache": {"enabled": true}})).service().own_envoy().start();
    let mut connection = RawConnection::open(stack.address());
    let mut asked = Vec::new();
    let (questions, alike) = workload();
    for question in questions {
        asked.push(ask(&mut connection, &question, &alike));
        // An answer is stored in the background. No real client asks again within a millisecond.
        if asked.last().is_some_and(|asked: &Asked| asked.cache == "miss") {
            std::thread::sleep(Duration::from_millis(15));
        }
    }
    let (saved_tokens, used_tokens) =
        (stack.count("sentinel_saved_tokens_total", &[]), stack.count("sentinel_tokens_used_total", &[]));
    Cache { asked, saved_tokens, used_tokens }
}

fn ask(connection: &mut RawConnection, question: &Question, alike: &Alike) -> Asked {
    let body = DIALECT.ask(&question.text, false).to_string();
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        DIALECT.path(false),
        body.len()
    );
    let began = Instant::now();
    connection.write(&[head.as_bytes(), body.as_bytes()].concat());
    let response = connection.response().expect("an answer");
    let milliseconds = began.elapsed().as_secs_f64() * 1e3;
    assert_eq!(response.status, 200, "{}", response.head);
    let header = response.head.lines().find_map(|line| line.strip_prefix("x-sentinel-cache: "));
    let said = DIALECT.answer_text(&response.body);
    let is_right = alike.to(&question.text).iter().any(|text| said == text_for(text));
    Asked { kind: question.kind, cache: header.unwrap_or("none").to_owned(), milliseconds, is_right }
}

/// Groups of texts that ask the same.
#[derive(Default)]
struct Alike(Vec<Vec<String>>);

impl Alike {
    /// `a` and `b` ask the same, and so do all texts that ask the same as one of them.
    fn join(&mut self, a: &str, b: &str) {
        let (joined, others) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|group| group.iter().any(|text| text == a || text == b));
        self.0 = others;
        let joined: Vec<Vec<String>> = joined;
        let new = [a.to_owned(), b.to_owned()];
        self.0.push(joined.into_iter().flatten().chain(new).collect());
    }

    fn to(&self, text: &str) -> Vec<String> {
        let group = self.0.iter().find(|group| group.iter().any(|one| one == text));
        group.cloned().unwrap_or_else(|| vec![text.to_owned()])
    }
}

/// Equal in every run.
fn workload() -> (Vec<Question>, Alike) {
    let mut rows: Vec<Vec<Question>> = Vec::new();
    let mut alike = Alike::default();
    for name in ["own.jsonl", "held_out.jsonl"] {
        let path = parts::root().join("embedding-service/tests/pairs").join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let pair: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            let text = |key: &str| pair[key].as_str().expect("a text").to_owned();
            let of = |kind, text| Question { kind, text };
            let (a, b) = (text("a"), text("b"));
            let mut row = vec![of(Kind::New, a.clone()), of(Kind::Repeat, a.clone())];
            if pair["same_answer"] == true {
                alike.join(&a, &b);
                row.push(of(Kind::Repeat, a));
                row.push(of(Kind::Rewording, b));
            } else {
                row.push(of(Kind::Trap, b));
            }
            rows.push(row);
        }
    }
    let mut state = 1_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut count: usize = rows.iter().map(Vec::len).sum();
    while count < REQUESTS {
        let at = draw(rows.len());
        let text = rows[at][0].text.clone();
        rows[at].push(Question { kind: Kind::Repeat, text });
        count += 1;
    }
    // Rows are shuffled, but each keeps its own order. Texts of several pairs are repeats from their second use on.
    let mut open: Vec<std::vec::IntoIter<Question>> = rows.into_iter().map(Vec::into_iter).collect();
    let (mut all, mut seen) = (Vec::with_capacity(count), std::collections::HashSet::new());
    while !open.is_empty() {
        let at = draw(open.len());
        match open[at].next() {
            Some(mut question) => {
                if !seen.insert(question.text.clone()) {
                    question.kind = Kind::Repeat;
                }
                all.push(question);
            }
            None => drop(open.swap_remove(at)),
        }
    }
    all.truncate(REQUESTS);
    (all, alike)
}

impl Cache {
    fn hits(&self) -> usize {
        self.asked.iter().filter(|asked| matches!(asked.cache.as_str(), "exact" | "semantic")).count()
    }

    fn wrong(&self) -> usize {
        self.asked.iter().filter(|asked| !asked.is_right).count()
    }

    /// Milliseconds, sorted.
    fn times(&self, cache: &str) -> Vec<f64> {
        let of = self.asked.iter().filter(|asked| asked.cache == cache);
        let mut times: Vec<f64> = of.map(|asked| asked.milliseconds).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    fn share(part: u64, whole: u64) -> f64 {
        100.0 * part as f64 / whole.max(1) as f64
    }

    pub fn markdown(&self) -> String {
        let mut by_kind = Table::new(&["requests", "number", "exact", "semantic", "miss", "wrong answers"]);
        for (kind, name) in KINDS {
            let of: Vec<&Asked> = self.asked.iter().filter(|asked| asked.kind == kind).collect();
            let count = |cache: &str| of.iter().filter(|asked| asked.cache == cache).count().to_string();
            let wrong = of.iter().filter(|asked| !asked.is_right).count().to_string();
            let cells = vec![of.len().to_string(), count("exact"), count("semantic"), count("miss"), wrong];
            by_kind.row([vec![name.to_owned()], cells].concat());
        }
        let mut times = Table::new(&["answered", "p50", "p99"]);
        for cache in ["exact", "semantic", "miss"] {
            let of = self.times(cache);
            let cell = |share| format!("{:.2} ms", quantile(&of, share));
            times.row(vec![cache.to_owned(), cell(0.5), cell(0.99)]);
        }
        let all = self.saved_tokens + self.used_tokens;
        format!(
            "\n## The response cache\n\n{}\n{}\nHit rate {:.1} %, tokens spared {:.1} %, wrong answers {}.\n",
            by_kind.text(),
            times.text(),
            Self::share(self.hits() as u64, self.asked.len() as u64),
            Self::share(self.saved_tokens, all),
            self.wrong()
        )
    }

    pub fn json(&self) -> Value {
        let times = |cache: &str| {
            let of = self.times(cache);
            json!({"requests": of.len(), "p50_ms": quantile(&of, 0.5), "p99_ms": quantile(&of, 0.99)})
        };
        json!({"requests": self.asked.len(), "hits": self.hits(), "wrong": self.wrong(), "saved_tokens": self.saved_tokens,
            "used_tokens": self.used_tokens, "exact": times("exact"), "semantic": times("semantic"), "miss": times("miss")})
    }
}
