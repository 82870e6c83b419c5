//! An object whose members are looked up by name. It knows no dialect.

use std::borrow::Cow;

use super::{Raw, Unreadable, members::Key, name, reader::Reader};

/// Members that most objects do not exceed.
const USUAL: usize = 8;

/// The members of an object in order.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(Vec<(Key<'a>, Raw<'a>)>);

// `inline(never)`: these functions are called in many places, and inlined copies would make the module large.
impl<'a> Object<'a> {
    /// Empty if `raw` is not an object.
    #[inline(never)]
    pub fn of(raw: Raw<'a>) -> Self {
        if raw.is_object() {
            Self::next(&mut Reader::of_raw(raw)).unwrap_or_default()
        } else {
            Self::default()
        }
    }

    pub fn push(&mut self, key: Key<'a>, value: Raw<'a>) {
        self.0.push((key, value));
    }

    /// The members in order.
    pub fn members(&self) -> &[(Key<'a>, Raw<'a>)] {
        &self.0
    }

    /// The first member of this name, which may be null.
    #[inline(never)]
    pub fn present(&self, key: &str) -> Option<Raw<'a>> {
        self.0.iter().find(|(name, _)| name.is_one(key)).map(|(_, value)| *value)
    }

    /// The first member of this name. Returns `None` when it is absent or null.
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.present(key).filter(|value| !value.is_null())
    }

    /// The member that may be spelled in two ways. Returns an error when both spellings occur, because readers differ
    /// in which one they take.
    pub fn either(&self, [one, other]: [&str; 2]) -> Result<Option<Raw<'a>>, Unreadable> {
        match (self.get(one), self.get(other)) {
            (Some(_), Some(_)) => Err(Unreadable::Shape),
            (one, other) => Ok(one.or(other)),
        }
    }

    /// All members of these names but null, with duplicates.
    #[inline(never)]
    pub fn all(&self, keys: &[&str]) -> Vec<Raw<'a>> {
        let named = self.0.iter().filter(|(name, _)| keys.iter().any(|key| name.is(key)));
        named.map(|(_, value)| *value).filter(|value| !value.is_null()).collect()
    }

    /// Returns an error when one of these names occurs twice.
    #[inline(never)]
    pub fn only_once(&self, keys: &[&str]) -> Result<(), Unreadable> {
        let is_once = |key: &&str| self.0.iter().filter(|(name, _)| name.is(key)).nth(1).is_none();
        if keys.iter().all(is_once) { Ok(()) } else { Err(Unreadable::Shape) }
    }

    /// The string of this name, or an empty string.
    pub fn text(&self, key: &str) -> Cow<'a, str> {
        name(self.get(key))
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub fn object(&self, key: &str) -> Self {
        self.get(key).map_or_else(Self::default, Self::of)
    }

    /// Reads a whole text. Returns `None` when it is not an object.
    #[inline(never)]
    pub fn read(json: &'a str) -> Option<Self> {
        let mut reader = Reader::new(json);
        let read = Self::next(&mut reader)?;
        reader.end().ok()?;
        Some(read)
    }

    /// Reads the value that is next. Returns `None` when it is not an object.
    #[inline(never)]
    pub fn next(reader: &mut Reader<'a>) -> Option<Self> {
        let mut is_first = true;
        let mut members = Vec::with_capacity(USUAL);
        reader.open(b'{').ok()?;
        while let Some(key) = reader.key(&mut is_first).ok()? {
            members.push((key, reader.raw().ok()?));
        }
        Some(Self(members))
    }

    /// The member of this name. Returns `None` when it is absent or empty, because providers write many empty members.
    #[inline(never)]
    pub fn says(&self, key: &str) -> Option<Raw<'a>> {
        self.present(key).filter(|value| !says_nothing(*value))
    }

    /// The string of this name if it has no escapes, as known words never have. Empty otherwise.
    #[inline(never)]
    pub fn word(&self, key: &str) -> &'a str {
        let inside = self.present(key).and_then(Raw::inside);
        inside.filter(|inside| !inside.contains('\\')).unwrap_or_default()
    }

    /// Whether the string of this name equals `wanted`.
    pub fn is(&self, key: &str, wanted: &str) -> bool {
        self.word(key) == wanted
    }

    /// The non-negative integer of this name.
    #[inline(never)]
    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.get().parse().ok()
    }

    /// Whether the number of this name is 0 or absent.
    pub fn is_first(&self, key: &str) -> bool {
        self.says(key).is_none_or(|raw| raw.get() == "0")
    }

    /// Whether no name occurs twice, and every member that is not empty has one of these names, written without
    /// escapes.
    #[inline(never)]
    pub fn has_only(&self, known: &[&str]) -> bool {
        let is_known = |(name, value): &(Key<'_>, Raw<'_>)| {
            name.plain().is_some_and(|name| known.contains(&name) || says_nothing(*value))
        };
        self.0.iter().all(is_known) && self.has_no_twins()
    }

    /// Whether no name occurs twice.
    #[inline(never)]
    pub fn has_no_twins(&self) -> bool {
        let mut names: Vec<Cow<'_, str>> = self.0.iter().map(|(name, _)| name.text()).collect();
        names.sort_unstable();
        names.iter().zip(names.iter().skip(1)).all(|(name, next)| name != next)
    }
}

fn says_nothing(raw: Raw<'_>) -> bool {
    matches!(raw.get(), "null" | "false" | "\"\"" | "[]" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Object<'_> {
        Object::read(json).unwrap()
    }

    #[test]
    fn only_what_is_known_may_say_something_and_only_once() {
        assert!(Object::read("[1]").is_none() && Object::read("{").is_none());
        assert!(!read(r#"{"a":1,"b":2,"\u0061":3}"#).has_only(&["a", "b"]));
        assert!(!read(r#"{"\u0061":3}"#).has_only(&["a"]), "a name that is known has no escapes");
        let object = read(r#"{"a":"x","b":null,"c":[],"d":0}"#);
        assert!(object.has_only(&["a", "d"]) && !object.has_only(&["a"]));
        assert!(object.is("a", "x") && object.says("c").is_none() && object.says("d").is_some());
        assert!(object.is_first("d") && object.is_first("e") && !object.is_first("a"));
        assert_eq!([object.number("d"), object.number("e"), object.number("a")], [Some(0), None, None]);
    }

    #[test]
    fn what_stands_there_once_in_one_spelling_can_be_picked() {
        let object = read(r#"{"a":1,"b":2,"b":3,"c":null,"d":4}"#);
        assert_eq!(object.either(["a", "c"]).unwrap().map(Raw::get), Some("1"));
        assert!(object.either(["a", "d"]).is_err());
        assert!(object.only_once(&["a", "c"]).is_ok() && object.only_once(&["b"]).is_err());
        assert_eq!(
            object.all(&["b", "c", "d"]).into_iter().map(Raw::get).collect::<Vec<_>>(),
            ["2", "3", "4"]
        );
    }
}
