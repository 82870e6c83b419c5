//! A request's JSON in one form for all ways of writing it: members in the order of their names, escapes decoded, white space
//! left out; numbers as they are written. What could be read in two ways is refused: a name that stands twice, half a
//! surrogate pair. Knows no dialect.

use std::{borrow::Cow, ops::Range};

use crate::{json_escape::unescaped, json_scan::string_end};

/// Lists and objects within each other.
const MAX_DEPTH: usize = 127;
/// Values in one body: more cost more than an answer is worth.
const MAX_VALUES: usize = 65_536;

/// Why a body has no such form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguous {
    /// A name stands twice in one object: which of them counts is the reader's choice.
    DuplicateKey,
    /// An escape that stands for no character.
    Escape,
    /// No JSON, nested too deep, or of too many values.
    Shape,
}

/// A value.
#[derive(Debug, PartialEq)]
pub(crate) enum Node<'a> {
    /// `true`, `false`, `null`, or a number as it is written.
    Word(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// By name.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
    /// What may differ.
    Hole,
}

impl<'a> Node<'a> {
    /// The whole of `body`, with a hole in the place of the string that stands at `hole`.
    pub fn read(body: &'a str, hole: &Range<usize>) -> Result<Self, Ambiguous> {
        let mut reader = Reader { body, at: 0, hole: hole.clone(), has_hole: false, values: 0 };
        let node = reader.value(0)?;
        reader.space();
        if reader.at < body.len() || !reader.has_hole { Err(Ambiguous::Shape) } else { Ok(node) }
    }

    /// The member of this name.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    pub fn members(&self) -> &[(Cow<'a, str>, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    pub fn retain(&mut self, mut stays: impl FnMut(&str, &mut Self) -> bool) {
        if let Self::Object(members) = self {
            members.retain_mut(|(key, value)| stays(key, value));
        }
    }

    pub fn is_true(&self) -> bool {
        *self == Self::Word("true")
    }

    pub fn is_boolean(&self) -> bool {
        matches!(self, Self::Word("true" | "false"))
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Word(word) => word.parse().ok(),
            _ => None,
        }
    }

    /// Writes it so that no two values are written alike: each with its kind and its length before it.
    pub fn write(&self, out: &mut dyn FnMut(&[u8])) {
        match self {
            Self::Word(word) => tagged(b'w', word, out),
            Self::Text(text) => tagged(b't', text, out),
            Self::List(values) => {
                header(b'l', values.len(), out);
                values.iter().for_each(|value| value.write(out));
            }
            Self::Object(members) => {
                header(b'o', members.len(), out);
                for (key, value) in members {
                    tagged(b'k', key, out);
                    value.write(out);
                }
            }
            Self::Hole => header(b'h', 0, out),
        }
    }
}

fn header(kind: u8, length: usize, out: &mut dyn FnMut(&[u8])) {
    out(&[kind]);
    out(&u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
}

fn tagged(kind: u8, text: &str, out: &mut dyn FnMut(&[u8])) {
    header(kind, text.len(), out);
    out(text.as_bytes());
}

struct Reader<'a> {
    body: &'a str,
    at: usize,
    hole: Range<usize>,
    has_hole: bool,
    values: usize,
}

impl<'a> Reader<'a> {
    fn space(&mut self) {
        while matches!(self.next(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.step();
        }
    }

    fn next(&self) -> Option<u8> {
        self.body.as_bytes().get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// Goes over this byte, where it is next.
    fn takes(&mut self, byte: u8) -> bool {
        self.space();
        let is_next = self.next() == Some(byte);
        if is_next {
            self.step();
        }
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, Ambiguous> {
        self.values = self.values.saturating_add(1);
        if depth > MAX_DEPTH || self.values > MAX_VALUES {
            return Err(Ambiguous::Shape);
        }
        self.space();
        match self.next().ok_or(Ambiguous::Shape)? {
            b'"' => {
                let start = self.at;
                let text = self.string()?;
                if (start..self.at) != self.hole {
                    return Ok(Node::Text(text));
                }
                self.has_hole = true;
                Ok(Node::Hole)
            }
            b'[' => self.list(depth),
            b'{' => self.object(depth),
            _ => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node<'a>, Ambiguous> {
        self.step();
        let mut values = Vec::new();
        if self.takes(b']') {
            return Ok(Node::List(values));
        }
        loop {
            values.push(self.value(depth.saturating_add(1))?);
            if self.takes(b']') {
                return Ok(Node::List(values));
            }
            if !self.takes(b',') {
                return Err(Ambiguous::Shape);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Node<'a>, Ambiguous> {
        self.step();
        let mut members = Vec::new();
        if self.takes(b'}') {
            return Ok(Node::Object(members));
        }
        loop {
            self.space();
            let key = self.string()?;
            if !self.takes(b':') {
                return Err(Ambiguous::Shape);
            }
            members.push((key, self.value(depth.saturating_add(1))?));
            if self.takes(b'}') {
                break;
            }
            if !self.takes(b',') {
                return Err(Ambiguous::Shape);
            }
        }
        members.sort_by(|(key, _), (other, _)| key.cmp(other));
        let has_twins = members.iter().zip(members.iter().skip(1)).any(|((key, _), (next, _))| key == next);
        if has_twins { Err(Ambiguous::DuplicateKey) } else { Ok(Node::Object(members)) }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Ambiguous> {
        if self.next() != Some(b'"') {
            return Err(Ambiguous::Shape);
        }
        let start = self.at.saturating_add(1);
        let (end, has_escapes) = string_end(self.body.as_bytes(), start).ok_or(Ambiguous::Shape)?;
        let inside = self.body.get(start..end.saturating_sub(1)).ok_or(Ambiguous::Shape)?;
        self.at = end;
        if has_escapes {
            unescaped(inside).map(Cow::Owned).ok_or(Ambiguous::Escape)
        } else {
            Ok(Cow::Borrowed(inside))
        }
    }

    /// The body was read as JSON before: what stands here is a number or one of the three words.
    fn word(&mut self) -> Result<Node<'a>, Ambiguous> {
        let start = self.at;
        while matches!(self.next(), Some(b'a'..=b'z' | b'E' | b'0'..=b'9' | b'+' | b'-' | b'.')) {
            self.step();
        }
        let word = self.body.get(start..self.at).unwrap_or_default();
        if word.is_empty() { Err(Ambiguous::Shape) } else { Ok(Node::Word(word)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(body: &str) -> Result<Vec<u8>, Ambiguous> {
        let start = body.find("\"HOLE\"").unwrap();
        let node = Node::read(body, &(start..start + 6))?;
        let mut bytes = Vec::new();
        node.write(&mut |part| bytes.extend_from_slice(part));
        Ok(bytes)
    }

    #[test]
    fn the_way_of_writing_is_no_difference() {
        let one = canonical(r#"{"a":[1,{"b":true,"c":"é\n"}],"p":"HOLE"}"#).unwrap();
        let other = canonical(
            "{ \"p\" : \"HOLE\" ,\n\"a\": [ 1 , { \"\\u0063\":\"\\u00e9\\u000a\" , \"b\":true } ] }",
        );
        assert_eq!(Ok(one), other);
    }

    #[test]
    fn what_is_said_is() {
        let bodies = [
            r#"{"a":1,"p":"HOLE"}"#,
            r#"{"a":1.0,"p":"HOLE"}"#,
            r#"{"a":"1","p":"HOLE"}"#,
            r#"{"a":[1],"p":"HOLE"}"#,
            r#"{"a":{"1":null},"p":"HOLE"}"#,
            r#"{"a":[[1],[]],"p":"HOLE"}"#,
            r#"{"a":[[1,[]]],"p":"HOLE"}"#,
            r#"{"a":[],"b":[],"p":"HOLE"}"#,
            r#"{"a":["b"],"p":"HOLE"}"#,
            r#"{"p":"HOLE"}"#,
            r#"{"q":"HOLE"}"#,
            r#"["HOLE"]"#,
            r#"["HOLE","HOLE"]"#,
        ];
        for (at, body) in bodies.iter().enumerate() {
            for other in bodies.iter().skip(at + 1) {
                assert_ne!(canonical(body), canonical(other), "{body} {other}");
            }
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for (body, why) in [
            (r#"{"p":"HOLE","a":1,"a":1}"#, Ambiguous::DuplicateKey),
            (r#"{"p":"HOLE","a":1,"\u0061":2}"#, Ambiguous::DuplicateKey),
            (r#"{"p":"HOLE","x":[{"a":1,"a":2}]}"#, Ambiguous::DuplicateKey),
            (r#"{"p":"HOLE","x":"\ud800"}"#, Ambiguous::Escape),
            (r#"{"p":"HOLE","\udc00":1}"#, Ambiguous::Escape),
            (r#"{"p":"HOLE""#, Ambiguous::Shape),
            (r#"{"p":"HOLE"} x"#, Ambiguous::Shape),
        ] {
            assert_eq!(canonical(body), Err(why), "{body}");
        }
        let deep = format!("[\"HOLE\",{}{}]", "[".repeat(200), "]".repeat(200));
        assert_eq!(canonical(&deep), Err(Ambiguous::Shape));
        let wide = format!("[\"HOLE\",{}1]", "1,".repeat(70_000));
        assert_eq!(canonical(&wide), Err(Ambiguous::Shape));
    }
}
