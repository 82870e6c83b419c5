//! Loops in the shapes that live agents have, and work that looks like a loop.

use super::{
    At, Call, Chance, Looped, Message, ROUNDS, Said, Step, Told, again, call_id, choose, recorded, steps,
    tells,
};

/// Rounds of healthy work.
const HEALTHY: usize = 20;

fn telling(messages: &[Message]) -> Vec<Step> {
    steps(messages).into_iter().filter(|step| tells(messages, *step)).collect()
}

/// One more call of a recorded step's tool that fails, in other words only by accident.
pub(super) fn volatile_failure(messages: &[Message], at: At, chance: &mut Chance) -> Option<Looped> {
    let steps = steps(messages);
    let step = *steps.get(choose(&steps, at, chance)?)?;
    let Said::Assistant { calls, .. } = &messages.get(step.start)?.said else { return None };
    let name = calls.first()?.name.clone();
    let mut told = recorded(messages.get(..step.end)?);
    for attempt in 1..=ROUNDS {
        let id = call_id(chance);
        let call =
            Call { id: id.clone(), name: name.clone(), arguments: r#"{"again":"the same"}"#.to_owned() };
        let (request, took) = (chance.next(), 10 + chance.below(900));
        let text = format!(
            "Error: the service answered 503 (request id {request:016x}, attempt {attempt}, took {took} ms)"
        );
        told.push(Told::New(Said::Assistant { text: String::new(), calls: vec![call] }));
        told.push(Told::New(Said::Result { call: id, name: name.clone(), text }));
    }
    Some((told, step.end, 1))
}

/// A recorded step again and again; a framework counts down between.
pub(super) fn reminder(messages: &[Message], at: At, chance: &mut Chance) -> Option<Looped> {
    let steps = telling(messages);
    let step = *steps.get(choose(&steps, at, chance)?)?;
    let mut told = recorded(messages.get(..step.end)?);
    for left in (1..=ROUNDS).rev() {
        told.push(Told::New(Said::User(format!("You have {left} turns left."))));
        told.extend(again(messages, step, chance));
    }
    // The first reminder is new: what follows it is the loop.
    Some((told, step.end, 1))
}

/// The steps up to a recorded one as texts, as `write` writes them, and that one again and again.
fn in_texts(
    messages: &[Message],
    at: At,
    chance: &mut Chance,
    write: impl Fn(&str, &str, &str, usize) -> Vec<Said>,
) -> Option<Looped> {
    let steps = telling(messages);
    let chosen = choose(&steps, at, chance)?;
    let task = messages.iter().position(Message::is_user)?;
    let mut told = recorded(messages.get(..=task)?);
    let mut onset = told.len();
    for (number, step) in steps.get(..=chosen)?.iter().enumerate() {
        let Said::Assistant { calls, .. } = &messages.get(step.start)?.said else { return None };
        let Said::Result { text, .. } = &messages.get(step.start + 1)?.said else { return None };
        let call = calls.first()?;
        let rounds = if number == chosen { ROUNDS } else { 1 };
        onset = told.len();
        for round in 0..rounds {
            told.extend(write(&call.name, &call.arguments, text, number + round).into_iter().map(Told::New));
        }
    }
    Some((told, onset, 1))
}

/// A block in the assistant's text, and what came of it as the user's.
pub(super) fn exchange(messages: &[Message], at: At, chance: &mut Chance) -> Option<Looped> {
    in_texts(messages, at, chance, |tool, arguments, result, number| {
        let text = format!("Thought {number}: this may help.\n```\n{tool} {arguments}\n```");
        vec![Said::Assistant { text, calls: Vec::new() }, Said::User(result.to_owned())]
    })
}

/// Action and observation in the assistant's own text.
pub(super) fn scratchpad(messages: &[Message], at: At, chance: &mut Chance) -> Option<Looped> {
    in_texts(messages, at, chance, |tool, arguments, result, number| {
        let text = format!(
            "Thought: step {number} may help.\nAction: {tool}\nAction Input: {arguments}\nObservation: {result}"
        );
        vec![Said::Assistant { text, calls: Vec::new() }]
    })
}

/// Work that repeats one call with one result.
pub(super) fn healthy(
    messages: &[Message],
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
        let call = Call { id: id.clone(), name: tool.to_owned(), arguments: "{}".to_owned() };
        told.push(Told::New(Said::Assistant { text: String::new(), calls: vec![call] }));
        told.push(Told::New(Said::Result { call: id, name: tool.to_owned(), text: result.to_owned() }));
    }
    Some((told, step.end, 1))
}
