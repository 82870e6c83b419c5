use sentinel_harness::Dialect;
use sentinel_harness::service::Service;
use sentinel_replay_core::replay::{Replayed, RequestVerdict};

use super::*;
use crate::case::Case;
use crate::{native, settings};

/// Healthy runs with prompts of their own.
fn recorded() -> Vec<RecordedRun> {
    const SUBJECTS: &str = "rivers bridges violins harbours glaciers orchards lanterns deserts kettles falcons engines carpets \
                            museums islands tunnels candles mirrors gardens pianos sailors";
    let subjects: Vec<&str> = SUBJECTS.split_whitespace().collect();
    let asks = [
        "Tell me where the oldest {} of the country are",
        "Write a poem of four lines about {} at night",
        "Who has made the first {} and in which century",
        "Compare the price of {} with that of last year",
    ];
    let messages = subjects.iter().flat_map(|subject| asks.map(|ask| ask.replace("{}", subject)));
    let messages = messages.flat_map(|text| {
        [
            MessageContent::User(text),
            MessageContent::Assistant { text: "Here it is.".to_owned(), calls: Vec::new() },
        ]
    });
    let messages = messages.map(RecordedMessage::new).collect();
    vec![RecordedRun { id: "a".to_owned(), source: "made".to_owned(), label: "healthy".to_owned(), messages }]
}

#[test]
fn the_same_seed_makes_the_same_runs() {
    let said = |seed| {
        let runs = runs(Path::new(OWN_NAME), &recorded(), seed).expect("runs");
        runs.into_iter()
            .map(|run| (run.id, run.messages.into_iter().map(|message| message.said).collect::<Vec<_>>()))
            .collect::<Vec<_>>()
    };
    assert_eq!(said(1), said(1));
    assert_ne!(said(1), said(2));
}

#[test]
fn pairs_and_sets_are_read_and_anything_else_is_not() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let pair = |n: usize| {
        format!(r#"{{"origin":"the harbour number {n} is open","similar":"open is harbour {n}"}}"#)
    };
    let pairs: Vec<String> = (0..7).map(pair).collect();
    fs::write(file.path(), format!("[{}]", pairs.join(","))).expect("it is written");
    let made = runs(file.path(), &recorded(), 1).expect("runs");
    let of = |label: &str| {
        made.iter().filter(|run| run.source == "rewordings: pairs" && run.label == label).count()
    };
    assert_eq!((of("stuck"), of("healthy")), (7, 1));
    fs::write(file.path(), r#"[{"a":1}]"#).expect("it is written");
    assert!(runs(file.path(), &recorded(), 1).is_err());
    assert!(runs(Path::new(OWN_NAME), &[], 1).expect_err("no other work").contains("too few"));
}

/// Some of the runs of the program's own set.
fn cases() -> Vec<Case> {
    let made = runs(Path::new(OWN_NAME), &recorded(), 1).expect("runs");
    let is_wanted = |run: &RecordedRun| {
        let number = run.id.rsplit('-').next().and_then(|number| number.parse::<usize>().ok());
        run.source.ends_with("wordings") || run.source.ends_with("long prompts") && number < Some(6)
    };
    made.into_iter().filter(is_wanted).map(|run| Case { run, injected: None }).collect()
}

/// Ids of the runs that were hinted, and of the others.
fn hinted(cases: &[Case], service: Option<&Path>, dialect: Dialect) -> (Vec<String>, Vec<String>) {
    let settings = settings::read(None, service.is_some()).expect("the defaults");
    let replayed = native::replay_all(cases, &settings.config, dialect, service);
    let all = cases.iter().zip(&replayed);
    let killed = all.clone().filter(|(_, replayed)| replayed.first(RequestVerdict::Kill).is_some());
    assert_eq!(killed.map(|(case, _)| &case.run.id).collect::<Vec<_>>(), [""; 0], "{dialect:?}");
    let (hinted, other): (Vec<_>, Vec<_>) =
        all.partition(|(_, replayed)| replayed.first(RequestVerdict::Hint).is_some());
    let ids = |of: Vec<(&Case, &Replayed)>| of.iter().map(|(case, _)| case.run.id.clone()).collect();
    (ids(hinted), ids(other))
}

/// Without the service only long prompts are compared: nearly equal ones are found. A template with another middle is not nearly equal.
#[test]
fn long_prompts_with_one_other_word_are_found_without_the_service() {
    let cases = cases();
    for dialect in [Dialect::OpenaiChat, Dialect::Gemini] {
        let (hinted, other) = hinted(&cases, None, dialect);
        assert!(hinted.iter().all(|id| id.starts_with("long prompts-loop")), "{dialect:?}: {hinted:?}");
        assert!(!other.iter().any(|id| id.starts_with("long prompts-loop")), "{dialect:?}: {other:?}");
    }
}

#[test]
fn rewordings_are_found_with_the_service_and_batches_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path(), &folder.path().join("embedding.sock"), &[]);
    let (hinted, other) = hinted(&cases(), Some(service.socket()), Dialect::OpenaiChat);
    assert!(hinted.iter().all(|id| id.contains("-loop-")), "{hinted:?}");
    assert!(!other.iter().any(|id| id.starts_with("long prompts-loop")), "{other:?}");
    let found = hinted.iter().filter(|id| id.starts_with("wordings-loop")).count();
    assert!(found >= 8, "{found} of 10: {other:?}");
}
