//! A line of the log: one JSON object, with its members in the order in which they are added. Written by hand, because building a
//! tree of values for each line would make the module a good deal larger.

use sentinel_llm_api::json::quoted;
use serde_json::Number;

pub struct Line(String);

impl Line {
    pub fn of(event: &str) -> Self {
        let mut line = Self(String::with_capacity(512));
        line.add("event", &quoted(event));
        line
    }

    /// `json`: the value as it is to stand there. Names are our own, and need no escapes.
    #[inline(never)]
    fn add(&mut self, name: &str, json: &str) -> &mut Self {
        for part in [if self.0.is_empty() { "{\"" } else { ",\"" }, name, "\":", json] {
            self.0.push_str(part);
        }
        self
    }

    #[inline(never)]
    pub fn text<'a>(&mut self, name: &str, value: impl Into<Option<&'a str>>) -> &mut Self {
        match value.into() {
            Some(text) => self.add(name, &quoted(text)),
            None => self.add(name, "null"),
        }
    }

    #[inline(never)]
    pub fn number(&mut self, name: &str, value: Option<u64>) -> &mut Self {
        match value {
            Some(number) => self.add(name, &number.to_string()),
            None => self.add(name, "null"),
        }
    }

    #[inline(never)]
    pub fn float(&mut self, name: &str, value: Option<f64>) -> &mut Self {
        match value.and_then(Number::from_f64) {
            Some(number) => self.add(name, &number.to_string()),
            None => self.add(name, "null"),
        }
    }

    pub fn flag(&mut self, name: &str, value: bool) -> &mut Self {
        self.add(name, if value { "true" } else { "false" })
    }

    /// The whole line.
    #[inline(never)]
    pub fn end(&mut self) -> String {
        self.0.push('}');
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_object_whatever_the_values() {
        let mut line = Line::of("verdict");
        line.text("a", "say \"no\"\n").text("b", None).number("c", Some(u64::MAX)).number("d", None);
        line.float("e", Some(0.0)).float("f", Some(0.9512)).float("g", Some(f64::NAN)).flag("h", true);
        let line = line.end();
        let expected = r#"{"event":"verdict","a":"say \"no\"\n","b":null,"c":18446744073709551615,"d":null,"e":0.0,"f":0.9512,"g":null,"h":true}"#;
        assert_eq!(line, expected);
        assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok());
    }
}
