//! Loops in the shapes that live agents have, and work that looks like a loop.

use super::{
    At, Chance, InjectedMessage, Looped, MessageContent, ROUNDS, RecordedCall, RecordedMessage, StepSpan,
    again, call_id, choose, recorded, steps, tells,
};

/// Rounds of healthy work.
const HEALTHY: usize = 20;

fn telling(messages: &[RecordedMessage]) -> Vec<StepSpan> {
    steps(messages).into_iter().filter(|step| tells(messages, *step)).collect()
}

/// A failing call of the tool of a recorded step, again and again. The failures differ only in ids, times and counters.
pub(super) fn volatile_failure(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    let steps = steps(messages);
    let step = *steps.get(choose(&steps, at, chance)?)?;
    let MessageContent::Assistant { calls, .. } = &messages.get(step.start)?.said else { return None };
    let name = calls.first()?.name.clone();
    let mut told = recorded(messages.get(..step.end)?);
    for attempt in 1..=ROUNDS {
        let id = call_id(chance);
        let call = RecordedCall {
            id: id.clone(),
            name: name.clone(),
            arguments: r#"{"again":"the same"}"#.to_owned(),
        };
        let (request, took) = (chance.draw(), 10 + chance.below(900));
        let text = format!(
            "Error: the service answered 503 (request id {request:016x}, attempt {attempt}, took {took} ms)"
        );
        told.push(InjectedMessage::New(MessageContent::Assistant { text: String::new(), calls: vec![call] }));
        told.push(InjectedMessage::New(MessageContent::Result { call: id, name: name.clone(), text }));
    }
    Some((told, step.end, 1))
}

/// A recorded step again and again; a framework counts down between.
pub(super) fn reminder(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    let steps = telling(messages);
    let step = *steps.get(choose(&steps, at, chance)?)?;
    let mut told = recorded(messages.get(..step.end)?);
    for left in (1..=ROUNDS).rev() {
        told.push(InjectedMessage::New(MessageContent::User(format!("You have {left} turns left."))));
        told.extend(again(messages, step, chance));
    }
    // The first reminder is new: what follows it is the loop.
    Some((told, step.end, 1))
}

/// The steps up to a recorded one as texts in the form of `write`, and then that one again and again.
fn in_texts(
    messages: &[RecordedMessage],
    at: At,
    chance: &mut Chance,
    write: impl Fn(&str, &str, &str, usize) -> Vec<MessageContent>,
) -> Option<Looped> {
    let steps = telling(messages);
    let chosen = choose(&steps, at, chance)?;
    let task = messages.iter().position(RecordedMessage::is_user)?;
    let mut told = recorded(messages.get(..=task)?);
    let mut onset = told.len();
    for (number, step) in steps.get(..=chosen)?.iter().enumerate() {
        let MessageContent::Assistant { calls, .. } = &messages.get(step.start)?.said else { return None };
        let MessageContent::Result { text, .. } = &messages.get(step.start + 1)?.said else { return None };
        let call = calls.first()?;
        let rounds = if number == chosen { ROUNDS } else { 1 };
        onset = told.len();
        for round in 0..rounds {
            told.extend(
                write(&call.name, &call.arguments, text, number + round)
                    .into_iter()
                    .map(InjectedMessage::New),
            );
        }
    }
    Some((told, onset, 1))
}

/// A block in the assistant's text, and what came of it as the user's.
pub(super) fn exchange(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    in_texts(messages, at, chance, |tool, arguments, result, number| {
        let text = format!("Thought {number}: this may help.\n```\n{tool} {arguments}\n```");
        vec![MessageContent::Assistant { text, calls: Vec::new() }, MessageContent::User(result.to_owned())]
    })
}

/// Action and observation in the assistant's own text.
pub(super) fn scratchpad(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    in_texts(messages, at, chance, |tool, arguments, result, number| {
        let text = format!(
            "Thought: step {number} may help.\nAction: {tool}\nAction Input: {arguments}\nObservation: {result}"
        );
        vec![MessageContent::Assistant { text, calls: Vec::new() }]
    })
}

/// Work that repeats one call with one result.
pub(super) fn healthy(
    messages: &[RecordedMessage],
    at: At,
    chance: &mut Chance,
    tool: &str,
    result: &str,
) -> Option<Looped> {
    let steps = steps(messages);
    let step = *steps.get(choose(&steps, at, chance)?)?;
    let mut told = recorded(messages.get(..step.end)?);
    for _ in 0..HEALTHY {
        let id = call_id(chance);
        let call = RecordedCall { id: id.clone(), name: tool.to_owned(), arguments: "{}".to_owned() };
        told.push(InjectedMessage::New(MessageContent::Assistant { text: String::new(), calls: vec![call] }));
        told.push(InjectedMessage::New(MessageContent::Result {
            call: id,
            name: tool.to_owned(),
            text: result.to_owned(),
        }));
    }
    Some((told, step.end, 1))
}

/// The call of a tool, and its result.
fn step(tool: &str, arguments: &str, result: &str, chance: &mut Chance) -> [InjectedMessage; 2] {
    let id = call_id(chance);
    let call = RecordedCall { id: id.clone(), name: tool.to_owned(), arguments: arguments.to_owned() };
    [
        InjectedMessage::New(MessageContent::Assistant { text: String::new(), calls: vec![call] }),
        InjectedMessage::New(MessageContent::Result {
            call: id,
            name: tool.to_owned(),
            text: result.to_owned(),
        }),
    ]
}

/// What is sampled, and what may come of it.
const SAMPLED: [(&str, &str, &[&str]); 4] = [
    ("flip_coin", "{}", &["heads", "tails"]),
    ("read_register", r#"{"register":4}"#, &["17.2", "17.4", "17.1"]),
    ("run_tests", r#"{"suite":"unit"}"#, &["3 passed", "1 failed, 2 passed"]),
    ("get_price", r#"{"symbol":"MAR"}"#, &["101.5", "101.7", "101.6", "101.4"]),
];

/// One call whose outcome is decided by chance, again and again.
pub(super) fn sampling(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    let steps = steps(messages);
    let place = *steps.get(choose(&steps, at, chance)?)?;
    let mut told = recorded(messages.get(..place.end)?);
    let (tool, arguments, outcomes) = *chance.pick(&SAMPLED)?;
    for _ in 0..HEALTHY {
        let outcome = *chance.pick(outcomes)?;
        told.extend(step(tool, arguments, outcome, chance));
    }
    Some((told, place.end, 1))
}

/// The user asks for a number of repetitions of one step, and gets them.
pub(super) fn asked_for(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    const TASKS: [&str; 4] = [
        "Run the tests {} times and tell me how often they fail.",
        "Please take {} samples of register 4.",
        "{}x the same request, to warm the cache up.",
        "I want to see {} test runs, one after the other.",
    ];
    let steps = steps(messages);
    let place = *steps.get(choose(&steps, at, chance)?)?;
    let mut told = recorded(messages.get(..place.end)?);
    let onset = told.len();
    let number = 6 + chance.below(7);
    told.push(InjectedMessage::New(MessageContent::User(
        chance.pick(&TASKS)?.replace("{}", &number.to_string()),
    )));
    for _ in 0..number {
        told.extend(step(
            "run",
            r#"{"command":"make check"}"#,
            "All of the 12 checks have passed on this machine.",
            chance,
        ));
    }
    Some((told, onset, 1))
}

/// Two agents that thank each other and find no end.
pub(super) fn talk(messages: &[RecordedMessage], at: At, chance: &mut Chance) -> Option<Looped> {
    const TALKS: [(&str, &str); 3] = [
        ("Thank you very much for your help!", "You are welcome! Have a nice day."),
        ("Is there any news?", "There is no news yet, but I will tell you as soon as there is."),
        ("Thanks again, that was all.", "It was a pleasure to help you with this."),
    ];
    let steps = steps(messages);
    let place = *steps.get(choose(&steps, at, chance)?)?;
    let mut told = recorded(messages.get(..place.end)?);
    let onset = told.len();
    let (said, answered) = *chance.pick(&TALKS)?;
    for _ in 0..HEALTHY {
        told.push(InjectedMessage::New(MessageContent::User(said.to_owned())));
        told.push(InjectedMessage::New(MessageContent::Assistant {
            text: answered.to_owned(),
            calls: Vec::new(),
        }));
    }
    Some((told, onset, 1))
}
