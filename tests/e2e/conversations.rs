//! One body that carries a history: what counts as new, and what does not.

use sentinel_harness::{Dialect, Stack};

use crate::support::{QUESTION, assert_allowed};

/// Asking the same thing again and again in one conversation, and getting prose as the answer, is a talk: it gets a hint and is never stopped.
#[tokio::test]
async fn a_talk_that_goes_round_is_hinted_and_never_stopped() {
    let mut stack = Stack::builder().service().start();
    for dialect in Dialect::ALL {
        let mut turns: Vec<(String, String)> = Vec::new();
        let mut verdicts = Vec::new();
        for _ in 0..12 {
            turns.push(("user".into(), QUESTION.into()));
            let borrowed: Vec<(&str, &str)> =
                turns.iter().map(|(role, text)| (role.as_str(), text.as_str())).collect();
            let response = stack.converse(dialect, &format!("one-run {dialect:?}"), &borrowed).await;
            verdicts.push(response.verdict().to_owned());
            assert_eq!(response.status, 200, "{dialect:?}: {verdicts:?}");
            turns.push(("assistant".into(), dialect.answer_text(&response.body)));
        }
        assert_eq!(verdicts[..4], ["allow"; 4], "{dialect:?}");
        assert!(verdicts.contains(&"hint".to_owned()), "{dialect:?}: {verdicts:?}");
    }
    stack.assert_sound();
}

/// Without a run id, the beginning of a history identifies its run: two runs of one nameless agent stay apart.
#[tokio::test]
async fn runs_are_told_apart_by_the_head_of_their_history() {
    let mut stack = Stack::builder().service().start();
    for run in 0..6 {
        let opening =
            format!("Let us talk about {}", sentinel_harness::provider::reply::text_for(&run.to_string()));
        let turns = [
            ("user", opening.as_str()),
            ("assistant", "Gladly, what would you like to know?"),
            ("user", QUESTION),
        ];
        let body = Dialect::OpenaiChat.conversation(&turns, false).to_string();
        assert_allowed(&stack.post(Dialect::OpenaiChat, &[], body).await, &opening);
    }
    stack.assert_sound();
}

/// The same request again after its answer has come is a repetition; a history that shrinks is compaction.
#[tokio::test]
async fn compaction_starts_afresh() {
    let mut stack = Stack::builder().start();
    let long: Vec<(&str, &str)> = vec![
        ("user", "Plan the migration of the old database to the new one"),
        ("assistant", "First we list the tables and their sizes."),
        ("user", "Good, and which of them are written to at night?"),
        ("assistant", "Only the audit log and the queue."),
        ("user", "Then write down the order in which we move them"),
    ];
    assert_allowed(&stack.converse(Dialect::OpenaiChat, "compacts", &long).await, "the long history");
    let short: Vec<(&str, &str)> = vec![
        ("user", "Summary so far: tables listed, two are written to at night."),
        ("assistant", "Understood."),
        ("user", "Then write down the order in which we move them"),
    ];
    assert_allowed(&stack.converse(Dialect::OpenaiChat, "compacts", &short).await, "the short history");
    stack.assert_sound();
}
