//! The configuration as a JSON value. A key that occurs twice in one object is refused, because JSON readers silently take the last one.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use crate::ConfigError;

/// The value of this text. The error says line and column.
pub fn parse(json: &[u8]) -> Result<Value, ConfigError> {
    let read: Result<Unambiguous, _> = serde_json::from_slice(json);
    read.map(|read| read.0).map_err(|error| {
        let problem = if error.is_data() { error.to_string() } else { format!("this is not JSON: {error}") };
        ConfigError::new(".", problem)
    })
}

struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Self)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unambiguous(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the key `{name}` stands twice in one object")));
            }
            let Unambiguous(value) = members.next_value()?;
            object.insert(name, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, wanted) in [
            ("{\"mode\": \"observe\",\n \"kill\": {}\n \"hint\": {}}", "line 3 column 2"),
            ("{\"mode\": \"observe\",\n}", "line 2 column 1"),
            ("", "line 1 column 0"),
            (
                "{\"kill\": {\"status\": 400,\n \"status\": 403}}",
                "the key `status` stands twice in one object at line 2",
            ),
            ("{\"mode\": \"observe\", \"mode\": \"observe\"}", "the key `mode` stands twice"),
            ("[{\"a\": 1}, {\"a\": 1, \"\\u0061\": 2}]", "the key `a` stands twice"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.problem.contains(wanted), "{text}: {error}");
            assert_eq!(error.problem.starts_with("this is not JSON: "), !wanted.contains("twice"), "{error}");
        }
    }

    #[test]
    fn all_values_are_read_as_they_stand() {
        let value = json!({"a": [null, true, -3, 5, 0.25, "ü", {"a": {}}], "b": {"a": []}});
        assert_eq!(parse(value.to_string().as_bytes()), Ok(value));
    }
}
