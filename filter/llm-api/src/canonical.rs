//! The canonical form of a request's JSON: members sorted by name, escapes decoded, no white space, numbers as they are
//! written. Ambiguous JSON is refused: an object with the same name twice, and half of a surrogate pair.

use std::{borrow::Cow, ops::Range};

use crate::json::{Raw, Unreadable, reader::Reader, span, string};

/// Deepest nesting.
const MAX_DEPTH: usize = 127;

/// Why a text has no canonical form. As wide as `Unreadable`, for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Ambiguous {
    /// A name occurs twice in one object. Readers differ in which one they take.
    DuplicateKey,
    /// An escape that stands for no character.
    Escape,
    /// It is not JSON, is nested too deep, or has too many values.
    Shape,
}

impl From<Unreadable> for Ambiguous {
    fn from(_: Unreadable) -> Self {
        Self::Shape
    }
}

/// A value in canonical form.
#[derive(Debug, PartialEq)]
pub(crate) enum Node<'a> {
    /// `true`, `false`, `null`, or a number as it is written.
    Word(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// Sorted by name.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
    /// The place of the value that may differ.
    Hole,
}

impl<'a> Node<'a> {
    /// Reads all of `body`, with a hole in place of the string at `hole`.
    pub fn read(body: &'a str, hole: &Range<usize>) -> Result<Self, Ambiguous> {
        let mut tree = Tree { body, hole: hole.clone(), has_hole: false };
        let node = read(body, &mut tree)?;
        if tree.has_hole { Ok(node) } else { Err(Ambiguous::Shape) }
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

    /// Whether `is` holds of a text in the value.
    pub fn any_text(&self, is: &mut dyn FnMut(&str) -> bool) -> bool {
        match self {
            Self::Text(text) => is(text),
            Self::List(values) => values.iter().any(|value| value.any_text(is)),
            Self::Object(members) => members.iter().any(|(_, value)| value.any_text(is)),
            Self::Word(_) | Self::Hole => false,
        }
    }

    /// Writes the value. Different values are written differently, because each has its kind and length in front.
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

/// Makes something of a value while it is read: a tree, a digest.
pub trait Builder<'a> {
    type Value;
    type List: Default;
    type Object: Default;
    /// Most values in one text.
    const MAX_VALUES: usize;

    /// `true`, `false`, `null`, or a number as it is written.
    fn word(&mut self, word: &'a str) -> Self::Value;
    /// A string, as it stands in the text and decoded.
    fn text(&mut self, raw: Raw<'a>, text: Cow<'a, str>) -> Self::Value;
    fn push(list: &mut Self::List, element: Self::Value);
    fn list(list: Self::List) -> Self::Value;
    fn insert(object: &mut Self::Object, name: Cow<'a, str>, member: Self::Value);
    fn object(object: Self::Object) -> Result<Self::Value, Ambiguous>;
}

/// Reads all of `text` with a builder.
pub fn read<'a, B: Builder<'a>>(text: &'a str, builder: &mut B) -> Result<B::Value, Ambiguous> {
    let mut reading = Reading { reader: Reader::new(text), builder, values: 0 };
    let value = reading.value(0)?;
    reading.reader.end()?;
    Ok(value)
}

/// The state while a text is read.
struct Reading<'b, 'a, B> {
    reader: Reader<'a>,
    builder: &'b mut B,
    values: usize,
}

impl<'a, B: Builder<'a>> Reading<'_, 'a, B> {
    fn value(&mut self, depth: usize) -> Result<B::Value, Ambiguous> {
        self.values = self.values.saturating_add(1);
        if depth > MAX_DEPTH || self.values > B::MAX_VALUES {
            return Err(Ambiguous::Shape);
        }
        let (mut is_first, inner) = (true, depth.saturating_add(1));
        match self.reader.peek().ok_or(Ambiguous::Shape)? {
            b'[' => {
                let mut list = B::List::default();
                self.reader.open(b'[')?;
                while self.reader.goes_on(&mut is_first)? {
                    B::push(&mut list, self.value(inner)?);
                }
                Ok(B::list(list))
            }
            b'{' => {
                let mut object = B::Object::default();
                self.reader.open(b'{')?;
                while let Some(key) = self.reader.key(&mut is_first)? {
                    let name = key.exact().ok_or(Ambiguous::Escape)?;
                    B::insert(&mut object, name, self.value(inner)?);
                }
                B::object(object)
            }
            _ => {
                let raw = self.reader.raw()?;
                if !raw.is_string() {
                    return Ok(self.builder.word(raw.get()));
                }
                let text = string(raw).ok_or(Ambiguous::Escape)?;
                Ok(self.builder.text(raw, text))
            }
        }
    }
}

/// Makes a tree of nodes.
struct Tree<'a> {
    body: &'a str,
    hole: Range<usize>,
    has_hole: bool,
}

impl<'a> Builder<'a> for Tree<'a> {
    type Value = Node<'a>;
    type List = Vec<Node<'a>>;
    type Object = Vec<(Cow<'a, str>, Node<'a>)>;
    const MAX_VALUES: usize = 65_536;

    fn word(&mut self, word: &'a str) -> Node<'a> {
        Node::Word(word)
    }

    fn text(&mut self, raw: Raw<'a>, text: Cow<'a, str>) -> Node<'a> {
        if span(self.body, raw).is_some_and(|place| place == self.hole) {
            self.has_hole = true;
            return Node::Hole;
        }
        Node::Text(text)
    }

    fn push(list: &mut Self::List, element: Node<'a>) {
        list.push(element);
    }

    fn list(list: Self::List) -> Node<'a> {
        Node::List(list)
    }

    fn insert(object: &mut Self::Object, name: Cow<'a, str>, member: Node<'a>) {
        object.push((name, member));
    }

    fn object(mut members: Self::Object) -> Result<Node<'a>, Ambiguous> {
        members.sort_by(|(name, _), (other, _)| name.cmp(other));
        let has_twins = members.iter().zip(members.iter().skip(1)).any(|((name, _), (next, _))| name == next);
        if has_twins { Err(Ambiguous::DuplicateKey) } else { Ok(Node::Object(members)) }
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
