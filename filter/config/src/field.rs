//! How configuration fields are read: each type says how it takes a JSON value, and how it is written in the reference. A group
//! is a set of fields, each with its comment, type and default in one place (`group!`). Reading is strict: an unknown field, or a
//! value of another type, is refused with its path.

use serde_json::{Map, Value};

use crate::ConfigError;

/// Something that can be configured.
pub trait Field: Sized {
    /// Takes the value on; a group takes the fields that are given and keeps the others.
    fn set(&mut self, value: &Value, path: &str) -> Result<(), ConfigError>;

    /// Its rows in the reference.
    #[cfg(feature = "reference")]
    fn rows(&self, path: &str, meaning: &str, rows: &mut Vec<Row>);

    /// What its values look like.
    #[cfg(feature = "reference")]
    fn shape() -> Shape;

    /// The comment of its type, line by line: what it is, and an example. Nothing for a plain value.
    #[cfg(feature = "reference")]
    fn about() -> &'static [&'static str] {
        &[]
    }
}

/// What the values of a field look like.
#[cfg(feature = "reference")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Whole,
    Number,
    Text,
    /// A number with its unit: `50ms`.
    Time,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A list of values or of groups.
    List,
    /// An object whose members have any name.
    Object,
    /// Fields of their own.
    Group,
}

/// A line of the reference.
#[cfg(feature = "reference")]
#[derive(Clone, Debug)]
pub struct Row {
    pub path: String,
    /// As JSON. Empty if the field has no default.
    pub default: String,
    pub meaning: String,
    pub shape: Shape,
}

/// A field of a group, for the reference.
#[cfg(feature = "reference")]
pub struct Section {
    /// Rows of the field itself and of all that is in it.
    pub rows: Vec<Row>,
    pub about: &'static [&'static str],
}

/// What a value should have been.
#[cold]
#[inline(never)]
pub fn wrong_type(path: &str, wanted: &str) -> ConfigError {
    ConfigError::new(if path.is_empty() { "." } else { path }, format!("must be {wanted}"))
}

/// An error for a name that no field of the group has.
#[cold]
#[inline(never)]
pub fn unknown(path: String, known: &[&str]) -> ConfigError {
    ConfigError::new(path, format!("is no field; these are: {}", known.join(", ")))
}

/// The path of a field of a group.
#[inline(never)]
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[inline(never)]
fn items_of<'a>(value: &'a Value, path: &str) -> Result<&'a [Value], ConfigError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| wrong_type(path, "a list, in brackets"))
}

#[inline(never)]
fn element_path(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

#[cfg(feature = "reference")]
fn row(path: &str, default: &str, meaning: &str, shape: Shape, rows: &mut Vec<Row>) {
    rows.push(Row {
        path: path.to_owned(),
        default: default.to_owned(),
        meaning: meaning.trim().to_owned(),
        shape,
    });
}

macro_rules! plain {
    ($type:ty, $shape:ident, $wanted:literal, $read:expr) => {
        impl Field for $type {
            #[inline(never)]
            fn set(&mut self, value: &Value, path: &str) -> Result<(), ConfigError> {
                let read: fn(&Value) -> Option<$type> = $read;
                *self = read(value).ok_or_else(|| wrong_type(path, $wanted))?;
                Ok(())
            }

            #[cfg(feature = "reference")]
            fn rows(&self, path: &str, meaning: &str, rows: &mut Vec<Row>) {
                row(path, &serde_json::json!(self).to_string(), meaning, Shape::$shape, rows);
            }

            #[cfg(feature = "reference")]
            fn shape() -> Shape {
                Shape::$shape
            }
        }
    };
}

plain!(bool, Flag, "true or false", Value::as_bool);
plain!(String, Text, "a string", |value| value.as_str().map(str::to_owned));
plain!(f64, Number, "a number", Value::as_f64);
plain!(u64, Whole, "a whole number, 0 or more", Value::as_u64);
plain!(u32, Whole, "a whole number, 0 to 4294967295", |value| value.as_u64()?.try_into().ok());
plain!(u16, Whole, "a whole number, 0 to 65535", |value| value.as_u64()?.try_into().ok());
plain!(Map<String, Value>, Object, "an object, in braces", |value| value.as_object().cloned());

/// A length of time as it is written: `50ms`. What it must be beyond that is checked with `duration`.
#[derive(Clone, Debug)]
pub struct Duration(String);

impl From<&str> for Duration {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl std::ops::Deref for Duration {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Field for Duration {
    fn set(&mut self, value: &Value, path: &str) -> Result<(), ConfigError> {
        if value.is_number() {
            let wanted =
                format!("a number with its unit, in quotes: \"{value}ms\", \"{value}s\" or \"{value}m\"");
            return Err(wrong_type(path, &wanted));
        }
        self.0.set(value, path)
    }

    #[cfg(feature = "reference")]
    fn rows(&self, path: &str, meaning: &str, rows: &mut Vec<Row>) {
        row(path, &serde_json::json!(self.0).to_string(), meaning, Shape::Time, rows);
    }

    #[cfg(feature = "reference")]
    fn shape() -> Shape {
        Shape::Time
    }
}

impl<T: Field + Default> Field for Option<T> {
    fn set(&mut self, value: &Value, path: &str) -> Result<(), ConfigError> {
        let mut inner = T::default();
        inner.set(value, path)?;
        *self = Some(inner);
        Ok(())
    }

    #[cfg(feature = "reference")]
    fn rows(&self, path: &str, meaning: &str, rows: &mut Vec<Row>) {
        row(path, "", meaning, T::shape(), rows);
    }

    #[cfg(feature = "reference")]
    fn shape() -> Shape {
        T::shape()
    }
}

/// A list replaces the one before it.
impl<T: Field + Default> Field for Vec<T> {
    fn set(&mut self, value: &Value, path: &str) -> Result<(), ConfigError> {
        self.clear();
        for (index, item) in items_of(value, path)?.iter().enumerate() {
            let mut element = T::default();
            element.set(item, &element_path(path, index))?;
            self.push(element);
        }
        Ok(())
    }

    #[cfg(feature = "reference")]
    fn about() -> &'static [&'static str] {
        T::about()
    }

    #[cfg(feature = "reference")]
    fn rows(&self, path: &str, meaning: &str, rows: &mut Vec<Row>) {
        let mut shown = Vec::new();
        self.iter().for_each(|item| item.rows("", "", &mut shown));
        let shown: Vec<_> = shown.iter().map(|row| row.default.as_str()).collect();
        row(path, &format!("[{}]", shown.join(", ")), meaning, Shape::List, rows);
        let mut inside = Vec::new();
        T::default().rows(&format!("{path}[]"), "", &mut inside);
        // Plain elements need no rows of their own.
        let inside = inside.into_iter().filter(|row| row.path.contains("[]."));
        rows.extend(inside.map(|row| Row { default: String::new(), ..row }));
    }

    #[cfg(feature = "reference")]
    fn shape() -> Shape {
        Shape::List
    }
}

/// Declares a group of fields: a struct with its default, and how it is read.
macro_rules! group {
    (
        $(#[doc = $meaning:literal])*
        struct $name:ident {
            $( $(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr, )*
        }
    ) => {
        $(#[doc = $meaning])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $( $(#[doc = $doc])* pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $name {
            /// Its fields one by one.
            #[cfg(feature = "reference")]
            #[allow(dead_code, reason = "asked of the outermost group alone")]
            pub fn sections(&self) -> Vec<$crate::field::Section> {
                let mut sections = Vec::new();
                $(
                    let mut rows = Vec::new();
                    self.$field.rows(stringify!($field), concat!($($doc),*), &mut rows);
                    sections.push($crate::field::Section { rows, about: <$type as Field>::about() });
                )*
                sections
            }
        }

        impl Field for $name {
            #[cfg(feature = "reference")]
            fn about() -> &'static [&'static str] {
                &[$($meaning),*]
            }

            // Not copied into the group around it: the module is to stay small.
            #[inline(never)]
            fn set(&mut self, value: &Value, path: &str) -> Result<(), ConfigError> {
                let members = value.as_object().ok_or_else(|| wrong_type(path, "an object, in braces"))?;
                for (name, value) in members {
                    let path = join(path, name);
                    match name.as_str() {
                        $( stringify!($field) => self.$field.set(value, &path)?, )*
                        _ => {
                            return Err($crate::field::unknown(path, &[$( stringify!($field) ),*]));
                        }
                    }
                }
                Ok(())
            }

            #[cfg(feature = "reference")]
            fn rows(&self, path: &str, meaning: &str, rows: &mut Vec<$crate::field::Row>) {
                if !path.is_empty() && !path.ends_with("[]") {
                    rows.push($crate::field::Row {
                        path: path.to_owned(),
                        default: String::new(),
                        meaning: meaning.trim().to_owned(),
                        shape: $crate::field::Shape::Group,
                    });
                }
                $( self.$field.rows(&join(path, stringify!($field)), concat!($($doc),*), rows); )*
            }

            #[cfg(feature = "reference")]
            fn shape() -> $crate::field::Shape {
                $crate::field::Shape::Group
            }
        }
    };
}

/// Declares a choice between names; the first is the default.
macro_rules! choice {
    (
        $(#[doc = $meaning:literal])*
        enum $name:ident { $first:ident = $first_label:literal, $( $variant:ident = $label:literal, )* }
    ) => {
        $(#[doc = $meaning])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            #[default]
            $first,
            $( $variant, )*
        }

        impl Field for $name {
            fn set(&mut self, value: &Value, path: &str) -> Result<(), ConfigError> {
                *self = match value.as_str() {
                    Some($first_label) => Self::$first,
                    $( Some($label) => Self::$variant, )*
                    _ => {
                        let wanted = concat!("one of \"", $first_label, "\"" $(, ", \"", $label, "\"")*);
                        return Err(wrong_type(path, wanted));
                    }
                };
                Ok(())
            }

            #[cfg(feature = "reference")]
            fn rows(&self, path: &str, meaning: &str, rows: &mut Vec<$crate::field::Row>) {
                let shown = match self {
                    Self::$first => $first_label,
                    $( Self::$variant => $label, )*
                };
                rows.push($crate::field::Row {
                    path: path.to_owned(),
                    default: format!("\"{shown}\""),
                    meaning: meaning.trim().to_owned(),
                    shape: Self::shape(),
                });
            }

            #[cfg(feature = "reference")]
            fn shape() -> $crate::field::Shape {
                $crate::field::Shape::Choice(&[$first_label, $( $label, )*])
            }
        }
    };
}

pub(super) use {choice, group};
