//! What a loop looks like in the run, without asking any detector.

use super::*;

/// A run of `count` steps, no two alike, between a user's word and a last answer.
fn run(count: usize) -> RecordedRun {
    let mut messages =
        vec![MessageContent::User("Find out what is wrong with the harvest of this year.".to_owned())];
    for number in 0..count {
        let call = RecordedCall {
            id: format!("call_{number}"),
            name: if number % 2 == 0 { "search" } else { "read" }.to_owned(),
            arguments: format!(r#"{{"query":"field {number}","deep":{{"x":1,"y":[1,2]}},"limit":5}}"#),
        };
        messages.push(MessageContent::Assistant { text: String::new(), calls: vec![call] });
        messages.push(MessageContent::Result {
            call: format!("call_{number}"),
            name: String::new(),
            text: format!("What was found in field {number} is good wheat and nothing else at all"),
        });
    }
    messages
        .push(MessageContent::Assistant { text: "Nothing is wrong with it.".to_owned(), calls: Vec::new() });
    let messages = messages.into_iter().map(RecordedMessage::new).collect();
    RecordedRun {
        id: format!("run of {count}"),
        source: "made".to_owned(),
        label: "healthy".to_owned(),
        messages,
    }
}

/// A step's calls, as name and arguments, and its results.
type Taken = (Vec<(String, String)>, Vec<String>);

/// What was done in each step since the onset.
fn looped(run: &RecordedRun, injected: Injected) -> Vec<Taken> {
    let messages = &run.messages[injected.onset..];
    let unwrapped = |(name, arguments): (String, String)| {
        let inner = serde_json::from_str::<String>(&arguments).ok();
        let inner = inner.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        (name, inner.map_or(arguments, |value| value.to_string()))
    };
    steps(messages)
        .into_iter()
        .map(|step| {
            let results =
                messages[step.start + 1..step.end].iter().filter_map(|message| match &message.said {
                    MessageContent::Result { text, .. } => Some(text.clone()),
                    _ => None,
                });
            (approach(messages, step).into_iter().map(unwrapped).collect(), results.collect())
        })
        .collect()
}

fn injected(kind: Loop, seed: u64) -> (RecordedRun, Injected) {
    inject(&run(9), kind, At::Random, seed).expect("the run has room for it")
}

fn spellings(run: &RecordedRun) -> HashSet<String> {
    let calls = run.messages.iter().filter_map(|message| match &message.said {
        MessageContent::Assistant { calls, .. } => Some(calls.iter().map(|call| call.arguments.clone())),
        _ => None,
    });
    calls.flatten().collect()
}

#[test]
fn a_repeated_step_has_one_approach_and_one_result_in_many_spellings() {
    for seed in 0..50 {
        let (run, at) = injected(Loop::Repeat, seed);
        let steps = looped(&run, at);
        assert_eq!(steps.len(), ROUNDS);
        assert!(steps.iter().all(|step| *step == steps[0]), "{steps:?}");
        let tail = RecordedRun { messages: run.messages[at.onset..].to_vec(), ..run.clone() };
        assert!(spellings(&tail).len() > 1);
    }
}

#[test]
fn a_cycle_goes_round_with_its_period() {
    let mut periods = HashSet::new();
    for seed in 0..50 {
        let (run, at) = injected(Loop::Cycle, seed);
        let steps = looped(&run, at);
        assert_eq!(steps.len(), ROUNDS * at.period);
        for (number, step) in steps.iter().enumerate() {
            assert_eq!(*step, steps[number % at.period]);
        }
        assert!((1..at.period).all(|number| steps[number] != steps[0]));
        periods.insert(at.period);
    }
    assert_eq!(periods, HashSet::from([2, 3, 4, 5]));
}

#[test]
fn the_same_outcome_comes_of_other_arguments_each_time() {
    for seed in 0..50 {
        let (run, at) = injected(Loop::SameOutcome, seed);
        let steps = looped(&run, at);
        // The recorded step is the first where its result is the one that comes again.
        let is_first = at.onset < run.messages.len() - 2 * SAME_OUTCOMES;
        assert_eq!(steps.len(), SAME_OUTCOMES + usize::from(is_first));
        let approaches: HashSet<_> = steps.iter().map(|(approach, _)| approach).collect();
        assert_eq!(approaches.len(), steps.len());
        assert!(
            steps
                .iter()
                .all(|(approach, results)| *results == steps[0].1 && approach[0].0 == steps[0].0[0].0)
        );
    }
}

#[test]
fn a_paraphrase_holds_the_question_in_other_words_each_time() {
    let (run, at) = injected(Loop::Paraphrase, 1);
    let users: Vec<&String> = run.messages[at.onset..]
        .iter()
        .filter_map(|message| if let MessageContent::User(text) = &message.said { Some(text) } else { None })
        .collect();
    assert_eq!(users.len(), 1 + WORDINGS.len());
    assert!(users.iter().all(|text| text.contains(users[0].as_str())));
    assert_eq!(users.iter().collect::<HashSet<_>>().len(), users.len());
}

#[test]
fn up_to_the_onset_the_run_is_as_recorded_and_ids_are_never_used_twice() {
    for kind in [Loop::Repeat, Loop::Cycle, Loop::SameOutcome, Loop::Paraphrase] {
        let recorded = run(9);
        let (run, at) = injected(kind, 7);
        for (message, recorded) in run.messages[..at.onset].iter().zip(&recorded.messages) {
            assert_eq!(message.raw.get(), recorded.raw.get());
        }
        let ids: Vec<&String> = run
            .messages
            .iter()
            .filter_map(|message| {
                if let MessageContent::Assistant { calls, .. } = &message.said { calls.first() } else { None }
            })
            .map(|call| &call.id)
            .collect();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{kind:?}");
    }
}

#[test]
fn the_seed_decides_and_a_step_can_be_chosen() {
    let onset = |seed| injected(Loop::Repeat, seed).1.onset;
    assert_eq!(onset(5), onset(5));
    assert!((0..20).map(onset).collect::<HashSet<_>>().len() > 3);
    let (_, third) = inject(&run(9), Loop::Repeat, At::Step(3), 1).expect("there are nine");
    assert_eq!(third.onset, 5);
    assert!(inject(&run(9), Loop::Repeat, At::Step(10), 1).is_none());
}

#[test]
fn a_run_without_steps_takes_no_loop_of_steps() {
    for kind in [Loop::Repeat, Loop::Cycle, Loop::SameOutcome] {
        assert!(inject(&run(0), kind, At::Random, 1).is_none(), "{kind:?}");
    }
    assert!(inject(&run(1), Loop::Cycle, At::Random, 1).is_none());
    assert!(inject(&run(0), Loop::Paraphrase, At::Random, 1).is_some());
}

#[test]
fn shapes_of_live_agents_repeat_one_thing() {
    for (kind, rounds) in [
        (Loop::VolatileFailure, ROUNDS),
        (Loop::Reminder, ROUNDS),
        (Loop::Polling, 20),
        (Loop::Actuator, 20),
        (Loop::Empty, 20),
    ] {
        let (run, injected) = inject(&run(9), kind, At::Step(4), 7).expect("the run has room for it");
        let taken = looped(&run, injected);
        assert_eq!(taken.len(), rounds, "{kind:?}");
        assert!(taken.iter().all(|step| step.0 == taken[0].0), "{kind:?}: one approach");
        let results: HashSet<_> = taken.iter().map(|step| &step.1).collect();
        let expected = if kind == Loop::VolatileFailure { rounds } else { 1 };
        assert_eq!(results.len(), expected, "{kind:?}: {results:?}");
    }
    for kind in [Loop::Exchange, Loop::Scratchpad] {
        let (run, injected) = inject(&run(9), kind, At::Step(4), 7).expect("the run has room for it");
        assert_eq!(
            run.messages[injected.onset..].iter().filter(|message| message.is_assistant()).count(),
            ROUNDS
        );
        let is_text = |message: &RecordedMessage| {
            matches!(&message.said, MessageContent::Assistant { calls, .. } if calls.is_empty())
                || message.is_user()
        };
        assert!(run.messages.iter().all(is_text), "{kind:?}: no call is left");
    }
}
