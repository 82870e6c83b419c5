//! One behavioural suite for every store of control: in memory and in Redis, runs, stops and logs keep the same promise. Where two
//! `Control` share a store, they stand for two replicas, or for one before and after a restart.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use embedding_service::control::{
    Control,
    ingest::IngestCounts,
    names::Names,
    options::ControlOptions,
    run::RunStatus,
    runs::{RunQuery, Sort, Turns},
    stops::{MOST_STOPS, Stop, StopError, Target},
    store::{
        Append, Commit, Committed, ControlStore, Cursor, Document, DocumentKind, Key, Log, MemoryControl,
        Part, Put, RedisControl,
    },
};
use sentinel_proto::v1::{self, control_service_client::ControlServiceClient};

use crate::support::{
    Server, check,
    cluster::Cluster,
    eventually,
    http::Pages,
    redis::{Redis, redis_settings},
};

type Store = Arc<dyn ControlStore>;

/// Declares a test of each behaviour for each store.
macro_rules! suite {
    ($($behaviour:ident;)*) => {
        mod memory {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                super::$behaviour(Arc::new(MemoryControl::new(256 << 20))).await;
            })*
        }
        mod redis {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                let redis = Redis::start().await;
                super::$behaviour(Arc::new(in_redis(&redis).await)).await;
            })*
        }
        mod redis_cluster {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                let cluster = Cluster::start().await;
                let settings = redis_settings(&cluster.url(), &[("--redis-cluster", "true")]);
                super::$behaviour(Arc::new(RedisControl::open(&settings).await)).await;
            })*
        }
    };
}

suite! {
    what_was_written_is_read_and_what_was_not_is_not_there;
    a_commit_on_old_documents_changes_nothing;
    of_writers_at_once_none_undoes_another;
    changes_are_told_in_their_order_each_once;
    a_log_keeps_its_last_entries_in_order;
    what_expires_is_gone;
    turns_become_runs;
    each_turn_counts_once_whoever_takes_it;
    late_turns_and_numbers_that_do_not_rise_are_refused;
    a_clock_that_is_off_does_no_harm;
    turns_keep_their_order_however_long_their_reports_take;
    an_answer_under_way_is_seen_and_counts_when_it_has_ended;
    a_run_ends_as_its_last_turn_did;
    a_turn_that_is_told_late_is_not_the_last;
    texts_are_kept_and_told_where_they_come;
    lists_are_filtered_sorted_and_paged;
    what_belongs_to_no_run_counts_for_its_agent;
    workers_are_told_of_stops_and_of_lifted_ones;
    a_stop_ends_by_itself_when_its_time_is_over;
    of_all_stops_one_too_many_is_refused;
    names_of_any_kind_come_back_as_they_were;
}

async fn in_redis(redis: &Redis) -> RedisControl {
    RedisControl::open(&redis_settings(&redis.url(), &[])).await
}

fn put(id: &str, data: &str) -> Put {
    Put { key: Key::new(DocumentKind::Run, id), data: data.to_owned().into(), ttl: None }
}

async fn write(store: &Store, puts: Vec<Put>) -> u64 {
    match store.commit(&Commit { puts, ..Commit::default() }).await.unwrap() {
        Committed::Done(version) => version,
        Committed::Conflict => panic!("nothing was expected"),
    }
}

async fn what_was_written_is_read_and_what_was_not_is_not_there(store: Store) {
    let strange = "nul \0, quote \", brace {}, ä 語 🦀\r\n";
    let version = write(&store, vec![put("a", strange), put("b", "")]).await;
    let keys = ["b", "nobody", "a"].map(|id| Key::new(DocumentKind::Run, id));
    let [b, nobody, a] = store.read(&keys).await.unwrap().try_into().unwrap();
    assert_eq!(a, Document { version, data: strange.into() });
    assert_eq!((b.version, b.data.len()), (version, 0));
    assert_eq!(nobody, Document::default());
    let other_kind = store.read(&[Key::new(DocumentKind::Stop, "a")]).await.unwrap();
    assert_eq!(other_kind, [Document::default()]);
    assert!(write(&store, vec![put("a", "2")]).await > version);
}

async fn a_commit_on_old_documents_changes_nothing(store: Store) {
    let version = write(&store, vec![put("a", "1")]).await;
    let key = |id: &str| Key::new(DocumentKind::Run, id);
    let entry = Append { log: Log::Events, data: "e".into(), keep: 10, ttl: None };
    for expect in
        [vec![(key("a"), version + 1)], vec![(key("a"), 0)], vec![(key("a"), version), (key("b"), 1)]]
    {
        let commit =
            Commit { expect, puts: vec![put("a", "2"), put("b", "2")], appends: vec![entry.clone()] };
        assert_eq!(store.commit(&commit).await.unwrap(), Committed::Conflict);
    }
    assert_eq!(store.read(&[key("a"), key("b")]).await.unwrap()[1], Document::default());
    assert!(store.log(&Log::Events, Part::Before(None, 9)).await.unwrap().is_empty());
    let expect = vec![(key("a"), version), (key("b"), 0)];
    let commit = Commit { expect, puts: vec![put("a", "2")], appends: vec![entry] };
    assert!(matches!(store.commit(&commit).await.unwrap(), Committed::Done(new) if new > version));
    assert_eq!(store.log(&Log::Events, Part::Before(None, 9)).await.unwrap().len(), 1);
}

async fn of_writers_at_once_none_undoes_another(store: Store) {
    let key = Key::new(DocumentKind::Account, "count");
    let writers = (0..8).map(|_| {
        let (store, key) = (Arc::clone(&store), key.clone());
        tokio::spawn(async move {
            let mut done = 0;
            while done < 25 {
                let document = store.read(std::slice::from_ref(&key)).await.unwrap().remove(0);
                let count: u32 = std::str::from_utf8(&document.data).unwrap().parse().unwrap_or(0);
                let commit = Commit {
                    expect: vec![(key.clone(), document.version)],
                    puts: vec![Put { key: key.clone(), data: (count + 1).to_string().into(), ttl: None }],
                    appends: Vec::new(),
                };
                if store.commit(&commit).await.unwrap() != Committed::Conflict {
                    done += 1;
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(store.read(&[key]).await.unwrap()[0].data, "200");
}

async fn changes_are_told_in_their_order_each_once(store: Store) {
    let nothing = store.changes(DocumentKind::Run, 0).await.unwrap();
    assert!(nothing.documents.is_empty() && !nothing.more && nothing.epoch > 0);
    for n in 0..30 {
        let puts = (0..400).map(|i| put(&format!("{n}-{i}"), "x")).collect();
        write(&store, puts).await;
    }
    let newest = write(&store, vec![put("0-0", "again")]).await;
    let (mut seen, mut after) = (Vec::new(), 0);
    loop {
        let changes = store.changes(DocumentKind::Run, after).await.unwrap();
        assert_eq!(changes.epoch, nothing.epoch);
        assert!(changes.documents.is_sorted_by_key(|(_, document)| document.version));
        assert!(changes.documents.iter().all(|(_, document)| document.version > after));
        seen.extend(changes.documents.into_iter().map(|(id, _)| id));
        after = changes.upto;
        if !changes.more {
            break;
        }
    }
    assert_eq!(after, newest);
    assert_eq!((seen.len(), seen.last().map(String::as_str)), (12_000, Some("0-0")));
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 12_000);
    assert!(store.changes(DocumentKind::Run, newest).await.unwrap().documents.is_empty());
    assert!(store.changes(DocumentKind::Stop, 0).await.unwrap().documents.is_empty());
}

async fn a_log_keeps_its_last_entries_in_order(store: Store) {
    let log = Log::Turns("r".to_owned());
    let entry = |n: u32| Append { log: log.clone(), data: n.to_string().into(), keep: 500, ttl: None };
    for n in 0..20 {
        let appends = (n * 100..(n + 1) * 100).map(entry).collect();
        store.commit(&Commit { appends, ..Commit::default() }).await.unwrap();
    }
    let last = store.log(&log, Part::Before(None, 3)).await.unwrap();
    assert_eq!(last.iter().map(|entry| &entry.data[..]).collect::<Vec<_>>(), [b"1999", b"1998", b"1997"]);
    let before = store.log(&log, Part::Before(Some(last[2].cursor), 2)).await.unwrap();
    assert_eq!(before[0].data, "1996");
    let after = store.log(&log, Part::After(before[0].cursor, 2)).await.unwrap();
    assert_eq!(after, [last[2].clone(), last[1].clone()]);
    let all = store.log(&log, Part::After(Cursor::default(), 10_000)).await.unwrap();
    assert!((500..700).contains(&all.len()), "{}", all.len());
    assert!(all.is_sorted_by(|a, b| a.cursor < b.cursor));
}

async fn what_expires_is_gone(store: Store) {
    let short = Put { ttl: Some(Duration::from_millis(50)), ..put("short", "x") };
    let version = write(&store, vec![short]).await;
    write(&store, vec![put("long", "x")]).await;
    let key = Key::new(DocumentKind::Run, "short");
    eventually("it expires", async || {
        (store.read(std::slice::from_ref(&key)).await.unwrap()[0] == Document::default()).then_some(())
    })
    .await;
    let changes = store.changes(DocumentKind::Run, 0).await.unwrap();
    assert_eq!(changes.documents.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["long"]);
    assert!(changes.oldest > version);
    let commit = Commit { expect: vec![(key, 0)], puts: vec![put("short", "new")], appends: Vec::new() };
    assert_ne!(store.commit(&commit).await.unwrap(), Committed::Conflict);
}

pub fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

pub fn names(agent: &str, run: &str) -> v1::Names {
    v1::Names { tenant: "t".to_owned(), agent: agent.to_owned(), run: run.to_owned(), ..v1::Names::default() }
}

/// A turn that ended with calls a moment ago.
pub fn turn(number: u64, names: v1::Names) -> v1::Turn {
    v1::Turn {
        number,
        names: Some(names),
        at_ms: now_ms(),
        duration_ms: 100,
        dialect: "openai_chat".to_owned(),
        provider: "openai".to_owned(),
        model: "gpt-4o-mini".to_owned(),
        status: 200,
        input_tokens: 1_000,
        cached_tokens: 200,
        output_tokens: 100,
        end: v1::End::Calls.into(),
        steps: vec![v1::Step {
            tool: "read_file".to_owned(),
            kind: "content".to_owned(),
            outcome_digest: 9,
            ..v1::Step::default()
        }],
        ..v1::Turn::default()
    }
}

fn control(store: &Store) -> Control {
    Control::new(Arc::clone(store), &ControlOptions::default())
}

async fn count(control: &Control, worker: &str, turns: Vec<v1::Turn>) -> IngestCounts {
    control.ingest.count(worker, turns, now_ms()).await.unwrap()
}

fn id(names: v1::Names) -> String {
    Names::of(names).run_id()
}

async fn turns_become_runs(store: Store) {
    let control = control(&store);
    let run = || names("a", "r");
    // In the order in which they begin.
    let first = turn(1, run());
    let mut second = turn(2, run());
    second.steps.push(v1::Step { repeated: true, ..second.steps[0].clone() });
    second.more_steps = 3;
    second.verdict = Some(v1::Verdict {
        kind: v1::verdict::Kind::Hint.into(),
        signal: "repeated_step".to_owned(),
        count: 3,
        tool: "read_file".to_owned(),
        enforced: true,
    });
    let unknown = v1::Turn { model: "my-own".to_owned(), ..turn(4, run()) };
    let priced =
        v1::Turn { model: "mine".to_owned(), cost_nano_usd: Some(7), estimated: true, ..turn(5, run()) };
    let turns = vec![first, second, turn(3, names("a", "other")), unknown, priced];
    let counted = count(&control, "w", turns).await;
    assert_eq!(counted, IngestCounts { counted: 5, unpriced: 1, ..IngestCounts::default() });
    let shown = control.runs.get(&id(run())).await.unwrap().unwrap();
    assert_eq!(shown.status, RunStatus::Tools);
    let run_shown = &shown.run;
    assert_eq!((run_shown.turns, run_shown.steps, run_shown.repeated_steps), (4, 8, 1));
    assert_eq!((run_shown.hints, run_shown.kills, run_shown.unpriced_turns), (1, 0, 1));
    assert_eq!((run_shown.tokens.input_tokens, run_shown.tokens.output_tokens), (4_000, 400));
    // 800 input tokens at 0.15 USD a million, 200 cached at 0.075, 100 output at 0.60: two times, and 7 by the worker's own table.
    assert_eq!(run_shown.cost_nano_usd, 2 * (120_000 + 15_000 + 60_000) + 7);
    assert_eq!(run_shown.models, ["gpt-4o-mini", "my-own", "mine"]);
    assert_eq!(run_shown.signals, ["repeated_step"]);
    assert!(run_shown.estimated);
    let Turns { turns, next } = control.runs.turns(&id(run()), None, 2).await.unwrap();
    assert_eq!(turns.iter().map(|turn| turn.turn.model.as_str()).collect::<Vec<_>>(), ["mine", "my-own"]);
    let Turns { turns: older, next } = control.runs.turns(&id(run()), next, 9).await.unwrap();
    assert_eq!(next, None);
    assert_eq!((older.len(), older[0].turn.steps.len(), older[0].turn.more_steps), (2, 2, 3));
    assert_eq!(control.runs.get("nobody").await.unwrap(), None);
}

async fn each_turn_counts_once_whoever_takes_it(store: Store) {
    let (one, two) = (control(&store), control(&store));
    let turns = |range: std::ops::RangeInclusive<u64>| -> Vec<_> {
        range.map(|number| turn(number, names("a", &(number % 3).to_string()))).collect()
    };
    assert_eq!(count(&one, "w", turns(1..=300)).await.counted, 300);
    let again = count(&two, "w", turns(1..=310)).await;
    assert_eq!((again.counted, again.repeated), (10, 300));
    // The same report at both, and another worker's, at once.
    let (a, b, c) = tokio::join!(
        count(&one, "w", turns(311..=600)),
        count(&two, "w", turns(311..=600)),
        count(&two, "v", turns(1..=300)),
    );
    assert_eq!((a.counted + b.counted, c.counted), (290, 300));
    let page = two.runs.list(&RunQuery { limit: 10, ..RunQuery::default() }).await.unwrap();
    assert_eq!(page.runs.iter().map(|run| run.run.turns).sum::<u64>(), 900);
    let left_out = count(&one, "w", vec![turn(700, names("a", "0"))]).await;
    assert_eq!(left_out.counted, 1, "a gap is what was dropped");
}

async fn late_turns_and_numbers_that_do_not_rise_are_refused(store: Store) {
    let control = control(&store);
    let old = v1::Turn { at_ms: now_ms() - 3_700_000, ..turn(1, names("a", "r")) };
    let nameless = v1::Turn { names: None, ..turn(2, names("", "")) };
    let turns =
        vec![old, nameless, turn(2, names("a", "r")), turn(1, names("a", "r")), turn(0, names("a", "r"))];
    let counted = count(&control, "w", turns).await;
    assert_eq!((counted.counted, counted.refused), (1, 4));
}

async fn a_clock_that_is_off_does_no_harm(store: Store) {
    let control = control(&store);
    for (worker, off) in
        [("slow", -86_400_000_i64), ("fast", 86_400_000), ("1970", -(now_ms() as i64) + 5_000)]
    {
        let theirs = |ms: u64| ms.saturating_add_signed(off);
        let sent = theirs(now_ms());
        let one = v1::Turn { at_ms: sent - 3_000, ..turn(1, names("a", worker)) };
        // Later than it was sent.
        let two = v1::Turn { at_ms: sent + 3_600_000, ..turn(2, names("a", worker)) };
        let counted = control.ingest.count(worker, vec![one, two], sent).await.unwrap();
        assert_eq!(counted.counted, 2, "{worker}");
        let run = control.runs.get(&id(names("a", worker))).await.unwrap().unwrap().run;
        let (first, last) = (now_ms() - run.first_seen_ms, now_ms().abs_diff(run.last_seen_ms));
        assert!((3_000..60_000).contains(&first) && last < 60_000, "{worker}: {first} {last}");
    }
}

/// A report may take longer on its way than the next one.
async fn turns_keep_their_order_however_long_their_reports_take(store: Store) {
    let control = control(&store);
    let sent = now_ms() - 2_000;
    let at = |number: u64, ago: u64| v1::Turn { at_ms: sent - ago, ..turn(number, names("a", "r")) };
    control.ingest.count("w", vec![at(1, 900)], sent - 800).await.unwrap();
    let last = v1::Turn { end: v1::End::Text.into(), ..at(2, 500) };
    control.ingest.count("w", vec![last], sent + 1_900).await.unwrap();
    let run = control.runs.get(&id(names("a", "r"))).await.unwrap().unwrap();
    assert_eq!((run.status, run.run.first_seen_ms), (RunStatus::Done, sent - 900));
}

async fn an_answer_under_way_is_seen_and_counts_when_it_has_ended(store: Store) {
    let control = control(&store);
    let run = || names("a", "r");
    count(&control, "w", vec![v1::Turn { under_way: true, ..turn(1, run()) }]).await;
    let shown = control.runs.get(&id(run())).await.unwrap().unwrap();
    assert_eq!((shown.status, shown.run.turns), (RunStatus::Working, 0));
    // The same number of another worker is another answer.
    count(&control, "v", vec![v1::Turn { begun: 1, ..turn(2, run()) }]).await;
    let shown = control.runs.get(&id(run())).await.unwrap().unwrap();
    assert_eq!((shown.status, shown.run.turns), (RunStatus::Working, 1));
    let ended = v1::Turn { begun: 1, end: v1::End::Text.into(), ..turn(2, run()) };
    count(&control, "w", vec![ended]).await;
    let shown = control.runs.get(&id(run())).await.unwrap().unwrap();
    assert_eq!((shown.status, shown.run.turns), (RunStatus::Done, 2));
}

async fn a_run_ends_as_its_last_turn_did(store: Store) {
    let control = control(&store);
    let kill = |signal: &str, enforced| {
        let kind = v1::verdict::Kind::Kill.into();
        Some(v1::Verdict { kind, signal: signal.to_owned(), enforced, ..v1::Verdict::default() })
    };
    let base = || turn(1, names("a", "r"));
    for (n, (turn, status)) in [
        (base(), RunStatus::Tools),
        (v1::Turn { end: v1::End::Text.into(), ..base() }, RunStatus::Done),
        (v1::Turn { end: v1::End::Error.into(), status: 500, ..base() }, RunStatus::Failed),
        (v1::Turn { end: v1::End::ClientGone.into(), ..base() }, RunStatus::Failed),
        (v1::Turn { end: 0, status: 429, ..base() }, RunStatus::Failed),
        (v1::Turn { verdict: kill("repeated_step", true), status: 403, ..base() }, RunStatus::Killed),
        (v1::Turn { verdict: kill("repeated_step", false), ..base() }, RunStatus::Tools),
        (v1::Turn { verdict: kill("stopped", true), status: 403, ..base() }, RunStatus::Stopped),
        // An agent goes on whatever an MCP server says, unless nothing more is allowed to it.
        (v1::Turn { end: v1::End::Results.into(), status: 404, ..base() }, RunStatus::Tools),
        (
            v1::Turn { end: v1::End::Results.into(), verdict: kill("mcp_breaker", true), ..base() },
            RunStatus::Tools,
        ),
        (
            v1::Turn { end: v1::End::Results.into(), verdict: kill("budget", true), ..base() },
            RunStatus::Killed,
        ),
        (v1::Turn { end: v1::End::Calls.into(), ..base() }, RunStatus::Tools),
    ]
    .into_iter()
    .enumerate()
    {
        let number = n as u64 + 1;
        count(&control, "w", vec![v1::Turn { number, ..turn }]).await;
        let shown = control.runs.get(&id(names("a", "r"))).await.unwrap().unwrap();
        assert_eq!(shown.status, status, "{number}");
    }
    let options = ControlOptions { idle: Duration::ZERO, ..ControlOptions::default() };
    let impatient = Control::new(Arc::clone(&store), &options);
    let shown = impatient.runs.get(&id(names("a", "r"))).await.unwrap().unwrap();
    assert_eq!(shown.status, RunStatus::Idle);
    let events = store.log(&Log::Events, Part::After(Cursor::default(), 1_000)).await.unwrap();
    let kinds: Vec<String> = events
        .iter()
        .map(|entry| {
            serde_json::from_slice::<serde_json::Value>(&entry.data).unwrap()["kind"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .filter(|kind| kind.starts_with("run."))
        .collect();
    let wanted =
        ["started", "completed", "failed", "failed", "cancelled", "failed"].map(|end| format!("run.{end}"));
    assert_eq!(kinds, wanted);
}

/// Each worker reports by itself: a worker that had the first request may report it last.
async fn a_turn_that_is_told_late_is_not_the_last(store: Store) {
    let control = control(&store);
    let now = now_ms();
    let run = || names("a", "r");
    let at = |ago: u64, turn: v1::Turn| v1::Turn { at_ms: now - ago, ..turn };
    count(&control, "w", vec![at(200, v1::Turn { end: v1::End::Text.into(), ..turn(1, run()) })]).await;
    let hint = v1::Verdict { kind: v1::verdict::Kind::Hint.into(), ..v1::Verdict::default() };
    let late = v1::Turn { model: "earlier".to_owned(), status: 201, verdict: Some(hint), ..turn(1, run()) };
    count(&control, "v", vec![at(900, late)]).await;
    let shown = control.runs.get(&id(run())).await.unwrap().unwrap();
    assert_eq!((shown.status, shown.run.last_status, shown.run.turns), (RunStatus::Done, 200, 2));
    assert_eq!((shown.run.hints, shown.run.last_verdict), (1, None));
    let Turns { turns, .. } = control.runs.turns(&id(run()), None, 9).await.unwrap();
    assert_eq!(
        turns.iter().map(|turn| turn.turn.model.as_str()).collect::<Vec<_>>(),
        ["gpt-4o-mini", "earlier"]
    );
}

async fn texts_are_kept_and_told_where_they_come(store: Store) {
    let control = control(&store);
    let step = v1::Step {
        arguments: "{\"path\":\"a.txt\"}".to_owned(),
        outcome: "x".repeat(5_000),
        ..turn(0, v1::Names::default()).steps[0].clone()
    };
    let with = v1::Turn { prompt: "find it".to_owned(), steps: vec![step], ..turn(1, names("a", "r")) };
    count(&control, "w", vec![with, turn(2, names("a", "r"))]).await;
    let Turns { turns, .. } = control.runs.turns(&id(names("a", "r")), None, 10).await.unwrap();
    let (without, with) = (&turns[0].turn, &turns[1].turn);
    assert_eq!((with.prompt.as_str(), with.steps[0].arguments.as_str()), ("find it", r#"{"path":"a.txt"}"#));
    assert_eq!((with.steps[0].outcome.len(), without.prompt.as_str()), (2_048, ""));
    let events = store.log(&Log::Events, Part::After(Cursor::default(), 1_000)).await.unwrap();
    let data = |kind: &str| -> Vec<serde_json::Value> {
        let events =
            events.iter().map(|entry| serde_json::from_slice::<serde_json::Value>(&entry.data).unwrap());
        events.filter(|event| event["kind"] == kind).map(|event| event["data"].clone()).collect()
    };
    assert_eq!(data("turn")[0]["turn"]["prompt"], "find it");
    assert_eq!(data("tool.call")[0]["arguments"], r#"{"path":"a.txt"}"#);
    assert_eq!(data("tool.result")[0]["outcome"].as_str().map(str::len), Some(2_048));
    assert!(
        data("tool.call")[1].get("arguments").is_none() && data("tool.result")[1].get("outcome").is_none()
    );
}

async fn lists_are_filtered_sorted_and_paged(store: Store) {
    let control = control(&store);
    let mut turns = Vec::new();
    for n in 0..250_u64 {
        let names =
            v1::Names { client: format!("c{}", n % 2), ..names(&format!("a{}", n % 5), &n.to_string()) };
        let end = if n % 10 == 0 { v1::End::Text } else { v1::End::Calls };
        turns.push(v1::Turn {
            input_tokens: 1_000 + n,
            cached_tokens: 0,
            end: end.into(),
            ..turn(n + 1, names)
        });
    }
    count(&control, "w", turns).await;
    let list = async |query: RunQuery| control.runs.list(&query).await.unwrap();
    let base = || RunQuery { limit: 100, sort: Sort::Tokens, ..RunQuery::default() };
    let some = |name: &str| Some(name.to_owned());
    for (query, total) in [
        (base(), 250),
        (RunQuery { agent: some("a1"), ..base() }, 50),
        (RunQuery { agent: some("a1"), client: some("c0"), ..base() }, 25),
        (RunQuery { tenant: some("other"), ..base() }, 0),
        (RunQuery { status: vec![RunStatus::Done], ..base() }, 25),
        (RunQuery { status: vec![RunStatus::Done, RunStatus::Tools], ..base() }, 250),
        (RunQuery { model: some("gpt-4o-mini"), run: some("17"), ..base() }, 1),
        (RunQuery { signal: some("cycle"), ..base() }, 0),
        (RunQuery { from_ms: Some(now_ms() + 60_000), ..base() }, 0),
        (RunQuery { to_ms: Some(1), ..base() }, 0),
    ] {
        assert_eq!(list(query.clone()).await.total, total, "{query:?}");
    }
    for ascending in [false, true] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = list(RunQuery { after, ascending, ..base() }).await;
            seen.extend(page.runs.iter().map(|run| run.run.tokens.input_tokens));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let mut wanted: Vec<u64> = (1_000..1_250).collect();
        if !ascending {
            wanted.reverse();
        }
        assert_eq!(seen, wanted);
    }
    let (agents, total) = control.runs.agents(Some("t"), 3).await.unwrap();
    assert_eq!((agents.len(), total), (3, 10));
    // All of them were seen in one moment.
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = control.runs.agents_after(Some("t"), after.as_ref(), 3).await.unwrap();
        assert_eq!(page.total, 10);
        seen.extend(page.agents.into_iter().map(|agent| (agent.client, agent.agent)));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 10);
    assert_eq!(agents[0].runs, 25);
}

async fn what_belongs_to_no_run_counts_for_its_agent(store: Store) {
    let control = control(&store);
    let by_history = v1::Names { history: 7, ..names("a", "") };
    count(
        &control,
        "w",
        vec![turn(1, names("a", "")), turn(2, by_history.clone()), turn(3, by_history.clone())],
    )
    .await;
    let page = control.runs.list(&RunQuery { limit: 10, ..RunQuery::default() }).await.unwrap();
    assert_eq!((page.total, page.runs[0].run.turns), (1, 2));
    assert_eq!(page.runs[0].run.names.history, "0000000000000007");
    let (agents, _) = control.runs.agents(None, 10).await.unwrap();
    assert_eq!((agents[0].runs, agents[0].turns), (1, 3));
}

/// Ids of the stops and of the lifted ones, and whether they are all.
async fn news(control: &Control, known: (u64, u64)) -> (Vec<String>, Vec<String>, bool, (u64, u64)) {
    let told = control.stops.news(known.0, known.1).await.unwrap();
    let (mut stops, mut lifted) = (Vec::new(), Vec::new());
    for directive in told.directives {
        match directive.kind.unwrap() {
            v1::directive::Kind::Stop(stop) => stops.push(stop.id),
            v1::directive::Kind::Lift(id) => lifted.push(id),
            v1::directive::Kind::Settings(_) => panic!("no settings were changed"),
        }
    }
    (stops, lifted, told.all, (told.epoch, told.version))
}

fn agent(name: &str) -> Target {
    Target { agent: Some(name.to_owned()), ..Target::default() }
}

async fn workers_are_told_of_stops_and_of_lifted_ones(store: Store) {
    let (one, two) = (control(&store), control(&store));
    let (_, _, all, known) = news(&one, (0, 0)).await;
    assert!(all, "a worker that knows nothing gets all");
    let target = Target::run(&Names::of(v1::Names { history: 9, ..names("a", "") }));
    let stop = one.stops.set(target, "too dear".to_owned(), "eve".to_owned(), None).await.unwrap();
    let (stops, lifted, all, known) = eventually("it is told", async || {
        let told = news(&one, known).await;
        (!told.0.is_empty()).then_some(told)
    })
    .await;
    assert_eq!((stops, lifted.len(), all), (vec![stop.id.clone()], 0, false));
    let message = one.stops.news(0, 0).await.unwrap().directives.remove(0).kind.unwrap();
    let v1::directive::Kind::Stop(message) = message else { panic!("{message:?}") };
    assert_eq!((message.history, message.run, message.agent), (Some(9), None, Some("a".to_owned())));
    assert_eq!((message.reason.as_str(), message.remaining_ms), ("too dear", 0));
    let (nothing, _, _, known) = news(&one, known).await;
    assert!(nothing.is_empty(), "told once");
    // The other replica has begun later: it tells all.
    let (stops, _, all, _) = news(&two, (0, 0)).await;
    assert_eq!((stops.len(), all), (1, true));
    // One for the same names takes its place.
    let target = Target::run(&Names::of(v1::Names { history: 9, ..names("a", "") }));
    let same = two.stops.set(target, "again".to_owned(), String::new(), None).await.unwrap();
    assert_eq!(same.id, stop.id);
    assert!(two.stops.lift(&stop.id, "eve").await.unwrap().is_some());
    assert!(two.stops.lift(&stop.id, "eve").await.unwrap().is_none(), "it does not stand any more");
    assert!(two.stops.lift("nobody", "").await.unwrap().is_none());
    let lifted = eventually("the other replica's worker is told", async || {
        let (_, lifted, all, _) = news(&one, known).await;
        assert!(!all);
        (!lifted.is_empty()).then_some(lifted)
    })
    .await;
    assert_eq!(lifted, [stop.id]);
    let restarted = control(&store);
    restarted.stops.set(agent("b"), String::new(), String::new(), None).await.unwrap();
    let (stops, lifted, all, _) = news(&restarted, known).await;
    assert_eq!((stops.len(), lifted.len(), all), (1, 0, true), "it does not know what was before");
}

async fn a_stop_ends_by_itself_when_its_time_is_over(store: Store) {
    let control = control(&store);
    let time = Some(Duration::from_millis(300));
    control.stops.set(agent("a"), String::new(), String::new(), time).await.unwrap();
    let told = control.stops.news(0, 0).await.unwrap().directives.remove(0).kind.unwrap();
    assert!(matches!(told, v1::directive::Kind::Stop(stop) if (1..=300).contains(&stop.remaining_ms)));
    eventually("it ends", async || control.stops.standing().await.unwrap().is_empty().then_some(())).await;
    assert!(control.stops.news(0, 0).await.unwrap().directives.is_empty());
    let nobody = control.stops.set(Target::default(), String::new(), String::new(), None).await;
    assert!(matches!(nobody, Err(StopError::Nobody)));
    let empty = Target { tenant: Some(String::new()), ..Target::default() };
    assert!(matches!(
        control.stops.set(empty, String::new(), String::new(), None).await,
        Err(StopError::Nobody)
    ));
}

async fn of_all_stops_one_too_many_is_refused(store: Store) {
    let (one, two) = (control(&store), control(&store));
    let set = async |control: &Control, n: usize| {
        control.stops.set(agent(&n.to_string()), String::new(), String::new(), None).await
    };
    // One after the other would take minutes: each counts those that stand.
    set(&one, 0).await.unwrap();
    let first = one.stops.standing().await.unwrap().remove(0);
    let written: Vec<Put> = (1..MOST_STOPS - 5)
        .map(|n| {
            let target = agent(&n.to_string());
            let stop = Stop { id: target.id(), agent: target.agent, ..first.clone() };
            let data = serde_json::to_vec(&stop).unwrap().into();
            Put { key: Key::new(DocumentKind::Stop, stop.id), data, ttl: None }
        })
        .collect();
    for puts in written.chunks(500) {
        write(&store, puts.to_vec()).await;
    }
    for control in [&one, &two] {
        eventually("all stops are known", async || {
            control.stops.standing().await.ok().filter(|stops| stops.len() == MOST_STOPS - 5)
        })
        .await;
    }
    // At once, through both.
    let last = async |control: &Control, start: usize| {
        let mut refused = 0;
        for n in start..start + 5 {
            refused += usize::from(matches!(set(control, n).await, Err(StopError::TooMany)));
        }
        refused
    };
    let (a, b) = tokio::join!(last(&one, 20_000), last(&two, 30_000));
    assert_eq!(a + b, 5);
    assert_eq!(two.stops.standing().await.unwrap().len(), MOST_STOPS);
    set(&two, 1).await.unwrap();
    let error = set(&one, 99_999).await.unwrap_err().to_string();
    assert!(error.contains("10000"), "{error}");
    let first = one.stops.standing().await.unwrap().remove(0).id;
    one.stops.lift(&first, "").await.unwrap().unwrap();
    set(&two, 99_999).await.unwrap();
}

async fn names_of_any_kind_come_back_as_they_were(store: Store) {
    let control = control(&store);
    for (name, number) in
        ["new\nline", "quote\" ' \\", "\u{202e}right", "\0", "{brace}", "a:b*", "語"].iter().zip(1..)
    {
        count(&control, "w", vec![turn(number, names(name, name))]).await;
        let run = control.runs.get(&id(names(name, name))).await.unwrap().unwrap().run;
        assert_eq!((run.names.agent.as_str(), run.names.run.as_str()), (*name, *name));
    }
    let long = "x".repeat(10_000);
    count(&control, "w", vec![turn(100, names(&long, &long))]).await;
    let run = control.runs.get(&id(names(&long, &long))).await.unwrap().unwrap().run;
    assert!(run.names.agent.len() <= 512);
}

#[tokio::test]
async fn where_room_is_short_the_run_that_was_idle_longest_is_forgotten_and_stops_are_not() {
    let kept = Arc::new(MemoryControl::new(1 << 20));
    let store: Store = kept.clone();
    let control = control(&store);
    control.stops.set(agent("a"), String::new(), String::new(), None).await.unwrap();
    for n in 1..=2_000 {
        count(&control, "w", vec![turn(n, names("a", &n.to_string()))]).await;
        assert!(kept.bytes() <= 1 << 20);
    }
    let page =
        control.runs.list(&RunQuery { limit: 1_000, ascending: true, ..RunQuery::default() }).await.unwrap();
    assert!((100..1_900).contains(&page.total), "{}", page.total);
    assert!(control.runs.get(&id(names("a", "1"))).await.unwrap().is_none());
    assert!(control.runs.turns(&id(names("a", "1")), None, 9).await.unwrap().turns.is_empty());
    assert!(control.runs.get(&id(names("a", "2000"))).await.unwrap().is_some());
    assert_eq!(control.stops.standing().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_redis_that_lost_all_is_begun_anew() {
    let redis = Redis::start().await;
    let store: Store = Arc::new(in_redis(&redis).await);
    let control = control(&store);
    control.stops.set(agent("a"), String::new(), String::new(), None).await.unwrap();
    count(&control, "w", vec![turn(5, names("a", "r"))]).await;
    let (_, _, _, known) = news(&control, (0, 0)).await;
    redis.command(&["FLUSHALL"]).await;
    let (stops, _, all, now) = eventually("workers are told that nothing stands", async || {
        let told = news(&control, known).await;
        told.2.then_some(told)
    })
    .await;
    assert!(stops.is_empty() && all && now.0 != known.0);
    assert_eq!(count(&control, "w", vec![turn(6, names("a", "r"))]).await.counted, 1);
    let page = control.runs.list(&RunQuery { limit: 9, ..RunQuery::default() }).await.unwrap();
    assert_eq!((page.total, page.runs[0].run.turns), (1, 1));
}

#[tokio::test]
async fn a_redis_user_without_the_rights_of_control_keeps_the_service_from_nothing() {
    let redis = Redis::start().await;
    let user = "ACL SETUSER loop on >secret ~loop:* ~cache:* +@all";
    redis.command(&user.split(' ').collect::<Vec<_>>()).await;
    let url = format!("{}?user=loop&pass=secret", redis.url());
    let server = Server::start_without_model(&[("--redis-url", &url)]).await;
    check(&mut server.client().await, "r", "hello").await.unwrap();
    let mut pages = Pages::open(server.running.addresses().metrics).await;
    let mut runs = async || pages.send("GET", "/v1/runs", &[("host", "localhost")], "").await;
    let (status, answer) = runs().await;
    assert!(status == 503 && answer.contains("sentinel:"), "{answer}");
    let rights = [
        "+ping +eval +get +set +incr +exists +time +hget +hset +hmget +persist +pexpire +zadd +zrange +zrangebyscore",
        "+zrandmember +zrem +xadd +xrange +xrevrange",
    ]
    .join(" ");
    assert!(include_str!("../../../docs/redis.md").contains(&rights), "docs/redis.md names other rights");
    let more = format!("ACL SETUSER loop ~sentinel:* -@all {rights}");
    redis.command(&more.split(' ').collect::<Vec<_>>()).await;
    eventually("control is used as soon as it may be", async || (runs().await.0 == 200).then_some(())).await;
    let mut worker = ControlServiceClient::new(server.tcp().await);
    let report = v1::ReportRequest {
        worker: Some(v1::Worker { envoy: 1, number: 1 }),
        sent_at_ms: now_ms(),
        turns: vec![turn(1, names("a", "r"))],
        ..v1::ReportRequest::default()
    };
    assert_eq!(worker.report(report).await.unwrap().into_inner().counted, 1);
    let (_, answer) = pages.send("GET", "/v1/runs", &[("host", "localhost")], "").await;
    let list: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let id = list["runs"][0]["id"].as_str().unwrap();
    let (status, answer) = pages.send("GET", &format!("/v1/runs/{id}"), &[("host", "localhost")], "").await;
    assert_eq!(status, 200, "{answer}");
}
