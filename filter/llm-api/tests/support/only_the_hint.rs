//! The law of edits: for any bytes, nothing changes, or the result is valid JSON and differs from the input only by
//! what was inserted. Used by the property tests and the fuzz target.

use sentinel_llm_api::{
    dialect::Position,
    edit,
    registry::{ALL, read},
};
use sentinel_wire::Dialect as Wire;
use serde_json::{Value, value::RawValue};

#[path = "only_the_bounds.rs"]
mod only_the_bounds;
#[path = "only_the_edits.rs"]
mod only_the_edits;

pub const HINT: &str = "Try something \"else\".\n\u{1F501}";

/// Checks the law for `body` in every dialect and position. Returns what breaks it.
pub fn check(body: &[u8]) -> Result<(), String> {
    for dialect in ALL {
        // Reading must not panic, whatever the result.
        let Ok(conversation) = read(dialect, body) else { continue };
        for at in 0..conversation.history.len() {
            let _ = conversation.history.parts(at, &mut |_| {});
        }
        let Ok(text) = std::str::from_utf8(body) else { continue };
        let label = dialect.label();
        let wire =
            Wire::of_label(label).ok_or_else(|| format!("{label}: sentinel-wire does not speak it"))?;
        let places = conversation.hint_places();
        let in_result = places.in_result.as_ref().map(|slot| slot.edit(HINT));
        let hint = places.beside(Position::Start).map(|slot| slot.edit(HINT));
        for hint in [hint.as_ref(), in_result.as_ref()] {
            only_the_edits::check(dialect, &conversation, text, hint)
                .map_err(|problem| format!("{label}: {problem}\n{text}"))?;
        }
        let tools = conversation.offer(&|_, _| false).map(|offer| offer.edits).unwrap_or_default();
        let others: Vec<_> = tools.iter().chain(&hint).chain(&in_result).cloned().collect();
        only_the_bounds::check(&conversation, text, &others)
            .map_err(|problem| format!("{label}: {problem}\n{text}"))?;
        for position in [Position::Start, Position::End] {
            let Some(hint) = places.beside(position).map(|slot| slot.edit(HINT)) else { continue };
            if let Some(other) = &in_result {
                only_the_edits::all_at_once(text, &[hint.clone(), other.clone()])
                    .map_err(|problem| format!("{label} {position:?} and in a result: {problem}\n{text}"))?;
            }
            let Some(changed) = edit::apply(text, &[hint]) else { continue };
            differs_by_the_hint_alone(text, &changed, |before, after| is_beside(wire, before, after))
                .map_err(|problem| format!("{label} {position:?}: {problem}\n{text}"))?;
        }
        if let Some(edit) = in_result
            && let Some(changed) = edit::apply(text, &[edit])
        {
            differs_by_the_hint_alone(text, &changed, |before, after| is_in_last(wire, before, after))
                .map_err(|problem| format!("{label} in a result: {problem}\n{text}"))?;
        }
    }
    Ok(())
}

/// Whether `after` is `before` with the hint where the provider takes instructions.
fn is_beside(wire: Wire, before: &Value, after: &Value) -> bool {
    let is_in_place = !wire.takes_instructions(before) || wire.system_text(after).contains(HINT);
    is_in_place && hints(before, after) == Some(1)
}

/// Whether `after` is `before` with the hint in the last message.
fn is_in_last(wire: Wire, before: &Value, after: &Value) -> bool {
    let (mut before, mut after) = (before.clone(), after.clone());
    let lasts = [&mut before, &mut after].map(|body| body.get_mut(wire.turns()).and_then(take_last));
    let [Some(last_before), Some(last_after)] = lasts else { return false };
    before == after && hints(&last_before, &last_after) == Some(1)
}

/// A single message may stand in place of the list.
fn take_last(list: &mut Value) -> Option<Value> {
    if list.is_object() { Some(list.take()) } else { list.as_array_mut()?.pop() }
}

fn differs_by_the_hint_alone(
    before: &str,
    after: &[u8],
    is_hinted: impl Fn(&Value, &Value) -> bool,
) -> Result<(), String> {
    serde_json::from_slice::<&RawValue>(after).map_err(|error| format!("the result is not JSON: {error}"))?;
    // Numbers beyond f64 are valid JSON, but not valid in `Value`. Then only the syntax can be checked.
    let Ok(before) = serde_json::from_str::<Value>(before) else { return Ok(()) };
    let after: Value = serde_json::from_slice(after).map_err(|error| error.to_string())?;
    if is_hinted(&before, &after) { Ok(()) } else { Err(format!("more than the hint differs: {after}")) }
}

/// The number of hints by which `after` differs from `before`. Returns `None` when anything else differs.
fn hints(before: &Value, after: &Value) -> Option<usize> {
    match (before, after) {
        (before, after) if before == after => Some(0),
        (Value::Null, after) => new_hint(after),
        (Value::String(before), Value::String(after)) => {
            let rest = after.strip_suffix(HINT)?;
            (rest.strip_suffix("\n\n").unwrap_or(rest) == before || rest == before).then_some(1)
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            before.iter().zip(after).map(|(before, after)| hints(before, after)).sum()
        }
        (Value::Array(before), Value::Array(after)) => match after.split_last()? {
            (last, rest) if rest == before.as_slice() => new_hint(last),
            _ => after
                .split_first()
                .filter(|(_, rest)| *rest == before.as_slice())
                .and_then(|(first, _)| new_hint(first)),
        },
        (Value::Object(before), Value::Object(after)) => {
            let is_complete = before.keys().all(|key| after.contains_key(key));
            let member = |(key, after): (&String, &Value)| match before.get(key) {
                Some(before) => hints(before, after),
                None => new_hint(after),
            };
            after.iter().filter(|_| is_complete).map(member).sum::<Option<usize>>().filter(|_| is_complete)
        }
        // A single element may stand in place of a list.
        (lone, Value::Array(after)) => match after.as_slice() {
            [first, last] if first == lone => new_hint(last),
            _ => None,
        },
        _ => None,
    }
}

/// An inserted value: the hint, and words that say what kind of value it is.
fn new_hint(value: &Value) -> Option<usize> {
    fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) -> Option<()> {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(elements) => elements.iter().try_for_each(|element| strings(element, found))?,
            Value::Object(members) => members.values().try_for_each(|member| strings(member, found))?,
            _ => return None,
        }
        Some(())
    }
    let mut found = Vec::new();
    strings(value, &mut found)?;
    found.retain(|text| !["text", "system", "input_text"].contains(text));
    (found == [HINT]).then_some(1)
}
