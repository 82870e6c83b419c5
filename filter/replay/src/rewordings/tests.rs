use sentinel_harness::Dialect;

use super::*;
use crate::replay::{Case, Verdict};
use crate::{native, settings};

/// Healthy runs with prompts of their own.
fn recorded() -> Vec<Run> {
    let subjects =
        ["rivers", "bridges", "violins", "harbours", "glaciers", "orchards", "lanterns", "deserts"];
    let asks =
        ["Tell me where the oldest {} of the country are", "Write a poem of four lines about {} at night"];
    let messages = subjects.iter().flat_map(|subject| asks.map(|ask| ask.replace("{}", subject)));
    let messages = messages.flat_map(|text| {
        [Said::User(text), Said::Assistant { text: "Here it is.".to_owned(), calls: Vec::new() }]
    });
    let messages = messages.map(Message::new).collect();
    vec![Run { id: "a".to_owned(), source: "made".to_owned(), label: "healthy".to_owned(), messages }]
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

/// Without the service only long prompts are compared, by their near duplicates; a template with another middle is none.
#[test]
fn long_prompts_with_one_other_word_are_found_without_the_service() {
    let made = runs(Path::new(OWN_NAME), &recorded(), 1).expect("runs");
    let cases: Vec<Case> = made.into_iter().map(|run| Case { run, injected: None }).collect();
    let settings = settings::read(None, false).expect("the defaults");
    for dialect in [Dialect::OpenaiChat, Dialect::Gemini] {
        let replayed = native::replay_all(&cases, &settings.config, dialect, None);
        for (case, replayed) in cases.iter().zip(replayed) {
            let is_hinted = replayed.first(Verdict::Hint).is_some();
            let is_found = case.run.source.ends_with("long prompts") && case.run.label == "stuck";
            assert_eq!(is_hinted, is_found, "{}, {dialect:?}", case.run.id);
            assert_eq!(replayed.first(Verdict::Kill), None, "{}, {dialect:?}", case.run.id);
        }
    }
}
