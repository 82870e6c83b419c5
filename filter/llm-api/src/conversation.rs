//! What one request body says, in terms that all dialects share. Its messages are in `history`.

use std::{borrow::Cow, collections::HashMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    history::History,
    json::{self, Unreadable},
    json_reader::Reader,
};

/// One request body, borrowed.
pub struct Conversation<'a> {
    /// Empty where the body does not name one.
    pub model: Cow<'a, str>,
    /// The client asked for a stream (where the body says so).
    pub stream: bool,
    /// The client asked for a last chunk with the usage (OpenAI chat streams).
    pub include_usage: bool,
    /// What instructs the model beside the messages, as it stands in the body.
    pub instructions: Option<&'a RawValue>,
    pub history: History<'a>,
    /// Where the provider keeps what was said before.
    pub kept: Option<Kept<'a>>,
    pub ids: BodyIds<'a>,
}

/// A history that the provider keeps: the body carries only what is new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept<'a> {
    /// The thread's id, where every request of the thread carries the same.
    pub thread: Option<Cow<'a, str>>,
    /// The id of the answer that this request follows, where the request names that.
    pub follows: Option<Cow<'a, str>>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// System and developer messages.
    Instruction,
    User,
    Assistant,
    /// A message that holds nothing but tool results.
    Tool,
    Other,
}

/// Something that a message holds.
#[derive(Debug)]
pub enum Part<'a> {
    Text(Cow<'a, str>),
    /// An image, a sound, a file: its data, address or id, as it stands in the body.
    Media(&'a RawValue),
    Call(Call<'a>),
    Result(ToolResult<'a>),
}

impl<'a> Part<'a> {
    /// The same part, with its texts borrowed from this one.
    pub(crate) fn borrowed(&self) -> Part<'_> {
        match self {
            Self::Text(text) => Part::Text(Cow::Borrowed(text)),
            Self::Media(raw) => Part::Media(raw),
            Self::Call(Call { id, name, arguments }) => Part::Call(Call {
                id: Cow::Borrowed(id),
                name: Cow::Borrowed(name),
                arguments: Cow::Borrowed(arguments),
            }),
            Self::Result(ToolResult { of, content, is_error }) => Part::Result(ToolResult {
                of: match of {
                    CallRef::Id(id) => CallRef::Id(Cow::Borrowed(id)),
                    CallRef::Tool(name) => CallRef::Tool(Cow::Borrowed(name)),
                },
                content: *content,
                is_error: *is_error,
            }),
        }
    }

    /// Bytes of its text or arguments that do not stand in the body like this.
    pub(crate) fn decoded(&self) -> usize {
        match self {
            Self::Text(Cow::Owned(text)) | Self::Call(Call { arguments: Cow::Owned(text), .. }) => text.len(),
            _ => 0,
        }
    }
}

/// A tool call as the model wrote it.
#[derive(Debug)]
pub struct Call<'a> {
    /// Empty where the dialect has none.
    pub id: Cow<'a, str>,
    pub name: Cow<'a, str>,
    /// JSON, or JSON inside a JSON string, or whatever the model wrote.
    pub arguments: Cow<'a, str>,
}

/// What came of a tool call.
#[derive(Debug)]
pub struct ToolResult<'a> {
    pub of: CallRef<'a>,
    pub content: Option<&'a RawValue>,
    /// The client says that it is an error. That it does not say so proves nothing.
    pub is_error: bool,
}

/// Which call a result belongs to.
#[derive(Debug)]
pub enum CallRef<'a> {
    Id(Cow<'a, str>),
    /// Only the tool's name is known (older forms of Gemini and OpenAI chat).
    Tool(Cow<'a, str>),
}

/// A call's arguments where they may be text or an object.
pub fn arguments(raw: Option<&RawValue>) -> Cow<'_, str> {
    match raw {
        None => Cow::Borrowed("{}"),
        Some(raw) => json::string(raw).unwrap_or(Cow::Borrowed(raw.get())),
    }
}

/// Body fields that may hold identifiers.
#[derive(Debug, Default)]
pub struct BodyIds<'a> {
    pub user: Option<&'a RawValue>,
    pub safety_identifier: Option<&'a RawValue>,
    pub metadata: Option<&'a RawValue>,
}

/// A body field that may hold an identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyField {
    User,
    SafetyIdentifier,
    Metadata(String),
}

impl<'a> BodyIds<'a> {
    /// The identifier in `field`; strings and numbers only, and never an empty one.
    pub fn get(&self, field: &BodyField) -> Option<Cow<'a, str>> {
        let raw = match field {
            BodyField::User => self.user?,
            BodyField::SafetyIdentifier => self.safety_identifier?,
            BodyField::Metadata(key) => {
                let metadata: HashMap<Cow<'a, str>, &'a RawValue> = json::read(self.metadata?.get()).ok()?;
                *metadata.get(key.as_str())?
            }
        };
        let is_number = raw.get().starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let id = if is_number { Cow::Borrowed(raw.get()) } else { json::string(raw)? };
        (!id.is_empty()).then_some(id)
    }
}

/// Gives the texts of a content that is a string, or a list of parts of which those of the types `kinds` are text. Of the
/// other parts the media are given.
pub fn texts<'a>(
    content: &'a RawValue,
    kinds: &[&str],
    visit: &mut dyn FnMut(Part<'a>),
) -> Result<(), Unreadable> {
    if content.get().starts_with('"') {
        visit(Part::Text(json::text(content).ok_or(Unreadable::Shape)?));
        return Ok(());
    }
    each_part(content, visit, &mut |part: TypedPart<'a>, visit| {
        if kinds.contains(&part.kind.as_ref()) {
            visit(Part::Text(part.text.and_then(json::text).ok_or(Unreadable::Shape)?));
        } else {
            part.media().for_each(|media| visit(Part::Media(media)));
        }
        Ok(())
    })
}

/// Parts of one message that are read one by one. All behind them are one text, as it stands in the body.
const MAX_PARTS: usize = 1_024;

/// Gives what one part holds to its second argument.
type ReadPart<'r, 'a, T> = dyn FnMut(T, &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> + 'r;

/// Gives what the parts of a content list hold: `read` says what of a part. An error of `read` ends it.
pub(crate) fn each_part<'a, T: Deserialize<'a>>(
    content: &'a RawValue,
    visit: &mut dyn FnMut(Part<'a>),
    read: &mut ReadPart<'_, 'a, T>,
) -> Result<(), Unreadable> {
    let mut beyond = None;
    let parts = EachPart { visit, read, beyond: &mut beyond, part: PhantomData::<T> };
    let is_read = Reader::of_raw(content).deserialize_seq(parts).is_ok();
    match beyond.and_then(|first| json::span(content.get(), first)) {
        Some(first) => visit(Part::Text(Cow::Borrowed(content.get().get(first.start..).unwrap_or_default()))),
        None if is_read => {}
        None => return Err(Unreadable::Shape),
    }
    Ok(())
}

struct EachPart<'v, 'a, T> {
    visit: &'v mut dyn FnMut(Part<'a>),
    read: &'v mut ReadPart<'v, 'a, T>,
    /// The first part that is not read.
    beyond: &'v mut Option<&'a RawValue>,
    part: PhantomData<T>,
}

impl<'a, T: Deserialize<'a>> Visitor<'a> for EachPart<'_, 'a, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of parts")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut parts: A) -> Result<(), A::Error> {
        for _ in 0..MAX_PARTS {
            let Some(part) = parts.next_element::<T>()? else { return Ok(()) };
            (self.read)(part, self.visit).map_err(serde::de::Error::custom)?;
        }
        *self.beyond = parts.next_element()?;
        // The list was found to be sound when the body was read: nobody need go through the rest of it again.
        if self.beyond.is_none() { Ok(()) } else { Err(serde::de::Error::custom("more parts than are read")) }
    }
}

/// Messages that a conversation may have to be read: more cost more than they tell.
const MAX_MESSAGES: usize = 16_384;
/// Messages that there is room for at once.
const ROOM: usize = 16;

/// The messages of a conversation. An error where there are too many.
#[derive(Debug)]
pub(crate) struct Messages<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Messages<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EachMessage<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EachMessage<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MAX_MESSAGES} messages")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
                let mut messages = Vec::with_capacity(ROOM);
                while let Some(message) = list.next_element()? {
                    if messages.len() >= MAX_MESSAGES {
                        return Err(serde::de::Error::invalid_length(messages.len(), &self));
                    }
                    messages.push(message);
                }
                Ok(messages)
            }
        }
        deserializer.deserialize_seq(EachMessage(PhantomData)).map(Self)
    }
}

/// One part of a message's content: a text, or a medium under one of the keys that OpenAI's formats have for it.
#[derive(Debug, Deserialize)]
struct TypedPart<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    image_url: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input_audio: Option<&'a RawValue>,
    #[serde(borrow, default)]
    video_url: Option<&'a RawValue>,
    #[serde(borrow, default)]
    file: Option<&'a RawValue>,
    #[serde(borrow, default)]
    file_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    file_data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    file_url: Option<&'a RawValue>,
}

impl<'a> TypedPart<'a> {
    fn media(&self) -> impl Iterator<Item = &'a RawValue> {
        let Self { image_url, input_audio, video_url, file, file_id, file_data, file_url, .. } = *self;
        [image_url, input_audio, video_url, file, file_id, file_data, file_url].into_iter().flatten()
    }
}

/// A model's name, or nothing.
pub fn model(raw: Option<&RawValue>) -> Cow<'_, str> {
    raw.and_then(json::string).unwrap_or_default()
}
