//! Compares the reader of JSON with serde_json, as WebAssembly in V8, where the filter runs. Both read a request body
//! into its messages, each with the members that its dialect asks for. serde_json is spared the other work of `read`:
//! the check of UTF-8, the other members, the roles. Run it from the root of the repository, with the Node.js of `make
//! setup`:
//!
//! ```sh
//! CARGO_PROFILE_BENCH_OPT_LEVEL=2 CARGO_TARGET_WASM32_WASIP1_RUNNER="$PWD/.parts/node/bin/node --no-warnings benches/wasi.mjs" \
//!   cargo bench -p sentinel-llm-api --bench reader --target wasm32-wasip1
//! ```

#![expect(clippy::expect_used, reason = "a bench says by failing that what it measures is not what it says")]

use std::{hint::black_box, time::Instant};

use sentinel_llm_api::{json::quoted, registry};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Bodies, in bytes.
const SIZES: [usize; 3] = [1_000, 16_000, 256_000];
/// Rounds, of which the fastest counts, because the machine may have other work.
const ROUNDS: usize = 40;

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    #[serde(borrow)]
    model: &'a RawValue,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    function_call: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

/// The run of an agent that reads files. Each result has 24 lines.
fn body(size: usize) -> String {
    let mut body = String::from(
        r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Mend the parser."}"#,
    );
    for n in 0.. {
        if body.len() >= size {
            break;
        }
        let arguments = quoted(&format!(r#"{{"command":"cat src/file_{n}.rs"}}"#));
        let lines: String =
            (0..24).map(|line| format!("{line:4} |     let value = parse(input, \"{n}\")?;\n")).collect();
        body.push_str(&format!(
            r#",{{"role":"assistant","content":"I look at file {n}.","tool_calls":[{{"id":"call_{n}","type":"function","function":{{"name":"bash","arguments":{arguments}}}}}]}},{{"role":"tool","tool_call_id":"call_{n}","content":{}}}"#,
            quoted(&lines)
        ));
    }
    body + "]}"
}

/// Microseconds of the fastest round.
fn micros(times: u32, mut measured: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        (0..times).for_each(|_| measured());
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(times));
    }
    best
}

fn main() {
    let chat = registry::by_label("openai_chat").expect("a dialect of the filter");
    for size in SIZES {
        let body = body(size);
        let times = u32::try_from(1_000_000_usize.checked_div(size).unwrap_or(1)).unwrap_or(1).max(4);
        let own = micros(times, || {
            let read = registry::read(chat, black_box(body.as_bytes())).expect("a readable body");
            black_box(read.history.len());
        });
        let serde = micros(times, || {
            let read: Body<'_> = serde_json::from_slice(black_box(body.as_bytes())).expect("a readable body");
            black_box(read.model);
            for Message { role, content, tool_calls, function_call, tool_call_id, name } in read.messages {
                black_box((role, content, tool_calls, function_call, tool_call_id, name));
            }
        });
        println!("{size:7} bytes: {own:7.1} µs, serde_json {serde:7.1} µs, {:.2} times as long", serde / own);
    }
}
