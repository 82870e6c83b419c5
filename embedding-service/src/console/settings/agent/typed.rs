//! What a form of an agent's settings says: its fields as a configuration.

use std::collections::BTreeMap;

use sentinel_config::{FieldInfo, Shape, fields_of_agents};
use sentinel_console::settings::PREFIX;
use serde_json::{Map, Value};

use super::super::super::order::Order;

/// What a form says for an agent. A field that it does not have stays as it was; one that is empty says nothing.
pub fn typed(order: &Order, before: &Map<String, Value>) -> Map<String, Value> {
    let given: BTreeMap<&str, &str> =
        order.fields().filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value))).collect();
    let mut settings = before.clone();
    for FieldInfo { path, shape, .. } in fields_of_agents() {
        let Some(text) = given.get(path.as_str()) else { continue };
        // A browser ends lines in its own way.
        let text = text.replace("\r\n", "\n");
        let path: Vec<&str> = path.split('.').collect();
        match (text.is_empty(), get(&settings, &path)) {
            // An empty text that was said is no field that was left out.
            (true, Some(Value::String(said))) if said.is_empty() => {}
            (true, _) => remove(&mut settings, &path),
            (false, _) => put(&mut settings, &path, value(&text, shape)),
        }
    }
    settings
}

/// What stands in a field. What is no value of its shape stays a text: the check says what it must be.
fn value(text: &str, shape: Shape) -> Value {
    let json = || serde_json::from_str(text).unwrap_or_else(|_| text.into());
    match shape {
        Shape::Flag | Shape::Whole | Shape::Number | Shape::List | Shape::Object | Shape::Group => json(),
        Shape::Text | Shape::Time | Shape::Choice(_) => text.into(),
    }
}

fn get<'v>(settings: &'v Map<String, Value>, path: &[&str]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    let value = settings.get(*first)?;
    if rest.is_empty() { Some(value) } else { get(value.as_object()?, rest) }
}

fn put(settings: &mut Map<String, Value>, path: &[&str], new: Value) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        settings.insert((*first).to_owned(), new);
        return;
    }
    let group = settings.entry(*first).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(group) = group {
        put(group, rest, new);
    }
}

/// Groups that are empty then go too.
fn remove(settings: &mut Map<String, Value>, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else { return };
    let is_empty = match settings.get_mut(*first) {
        Some(Value::Object(group)) if !rest.is_empty() => {
            remove(group, rest);
            group.is_empty()
        }
        _ => rest.is_empty(),
    };
    if is_empty {
        settings.remove(*first);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::super::changes::tests::map, *};

    #[test]
    fn a_form_says_what_its_fields_hold() {
        let before = map(
            json!({"score": {"hint": 6.0}, "kill": {"message": ""}, "run_limit": 9, "guard": {"user": "log"}}),
        );
        let fields = [
            ("set.score.hint", ""),
            ("set.kill.message", ""),
            ("set.mode", "observe"),
            ("set.run_limit", "60"),
            ("set.models", "[{\"name\": \"a\"}]"),
            ("set.intervention_message", "a\r\nb"),
            ("set.score.kill", "much"),
            ("set.timeout", "9ms"),
        ];
        let wanted = json!({"kill": {"message": ""}, "run_limit": 60, "mode": "observe", "models": [{"name": "a"}],
            "intervention_message": "a\nb", "score": {"kill": "much"}, "guard": {"user": "log"}});
        assert_eq!(typed(&Order::made_of(&fields), &before), map(wanted));
        assert_eq!(typed(&Order::made_of(&[]), &before), before, "what is not in the form stays");
    }
}
