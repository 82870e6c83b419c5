//! What one request body says, in terms that all dialects share. Its messages are in `history`. The body is read once:
//! `tools`, `outline`, `spotlight` and the hints edit it at the places that were found then.

use std::borrow::Cow;

use crate::{
    dialect::Position,
    edit::{Around, Slot},
    format::Format,
    history::History,
    items::Body,
    json::{self, Raw, Unreadable, object::Object, scan::string_end},
    outline::Outline,
    tools::{May, Offer},
};

/// One request body, borrowed.
pub struct Conversation<'a> {
    /// Empty if the body does not name one.
    pub model: Cow<'a, str>,
    /// Whether the client asked for a stream, if the body says so.
    pub stream: bool,
    /// Whether the client asked for a last chunk with the usage (OpenAI chat streams).
    pub include_usage: bool,
    /// The system instructions beside the messages, as they stand in the body.
    pub instructions: Option<Raw<'a>>,
    pub history: History<'a>,
    /// Present if the provider keeps the earlier messages.
    pub kept: Option<Kept<'a>>,
    pub ids: BodyIds<'a>,
    /// The whole body as a text, as an object, and as its members.
    pub(crate) body: &'a str,
    pub(crate) whole: Raw<'a>,
    pub(crate) top: Object<'a>,
    /// The list of messages, or the value in its place.
    pub(crate) list: Option<Raw<'a>>,
    /// Whether the provider keeps a part of the history, so that the body does not hold all of it.
    pub(crate) is_part: bool,
    pub(crate) format: &'static Format,
}

impl<'a> Conversation<'a> {
    /// A conversation whose messages are the items of `body`, its member `list`.
    pub(crate) fn of(body: Body<'a>, list: &str, format: &'static Format) -> Result<Self, Unreadable> {
        let Body { text, whole, top, items } = body;
        let list = top.get(list);
        Ok(Self {
            model: Cow::Borrowed(""),
            stream: false,
            include_usage: false,
            instructions: None,
            history: History::of(items, format)?,
            kept: None,
            ids: BodyIds::default(),
            body: text,
            whole,
            list,
            top,
            is_part: false,
            format,
        })
    }

    /// The output tokens that the client allows at most, if the body says so.
    pub fn most_output(&self) -> Option<u64> {
        const NAMES: [&str; 5] =
            ["max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"];
        const GROUPS: [&str; 3] = ["generationConfig", "generation_config", "inferenceConfig"];
        let within = |object: &Object<'_>| NAMES.iter().find_map(|name| object.number(name));
        within(&self.top).or_else(|| GROUPS.iter().find_map(|group| within(&self.top.object(group))))
    }

    /// Where a hint can be put in. The places hold as long as the body does not change.
    pub fn hint_places(&self) -> HintPlaces {
        HintPlaces {
            start: (self.format.hint)(self, Position::Start),
            end: (self.format.hint)(self, Position::End),
            in_result: (self.format.hint_in_result)(self),
        }
    }

    /// The tools that the request offers once the denied ones are cut. An error where something in their place has no name.
    pub fn offer(&self, may: May<'_>) -> Result<Offer, Unreadable> {
        let mut offer = (self.format.offer)(self, may)?;
        if offer.forced.is_none()
            && let Some(denied) = self.denied_elsewhere(may)?
        {
            // If it is not known what it is, nothing can be cut.
            offer = Offer { edits: Vec::new(), forced: Some(denied), ..offer };
        }
        Ok(offer)
    }

    /// Its messages, calls and results as places that can be edited.
    pub fn outline(&self) -> Result<Outline<'a>, Unreadable> {
        Outline::of(self, self.format)
    }

    /// Whether the provider keeps an answer by default, so that a later request can name it.
    pub(crate) fn keeps_answers(&self) -> bool {
        self.format.keeps_answers
    }

    /// Whether a tool result may be an arbitrary JSON object.
    pub(crate) fn takes_objects_as_results(&self) -> bool {
        self.format.takes_objects_as_results
    }

    /// The string member of this name, or an empty string.
    pub(crate) fn text(&self, name: &str) -> Cow<'a, str> {
        self.top.text(name)
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.top.get(name).is_some_and(Raw::is_true)
    }

    /// The place of a text in the member `name`: at the end of the string that stands there, or as its value.
    pub(crate) fn text_member(&self, name: &str) -> Option<Slot> {
        match self.top.present(name) {
            Some(raw) if !raw.is_null() => Slot::end_of(self.body, raw),
            _ => self.new_member(name, ["", ""]),
        }
    }

    /// The place of the value of a member that is absent or null.
    pub(crate) fn new_member(&self, name: &str, [before, after]: Around<'_>) -> Option<Slot> {
        match self.top.present(name) {
            Some(null) => Slot::instead_of(self.body, null, [before, after]),
            None => Slot::first(self.body, self.whole, [&format!("\"{name}\":{before}"), after]),
        }
    }
}

/// Where a hint can be put into a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HintPlaces {
    start: Option<Slot>,
    end: Option<Slot>,
    /// In the last tool result, where the model reads it together with the result. `None` if the history does not end
    /// with one.
    pub in_result: Option<Slot>,
}

impl HintPlaces {
    /// Beside the messages, or among them if the dialect leaves a choice.
    pub fn beside(&self, position: Position) -> Option<&Slot> {
        match position {
            Position::Start => self.start.as_ref(),
            Position::End => self.end.as_ref(),
        }
    }
}

/// A history that the provider keeps. The body has only what is new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept<'a> {
    /// The id of the thread, if every request of the thread names it.
    pub thread: Option<Cow<'a, str>>,
    /// The id of the answer that this request follows, if the request names it.
    pub follows: Option<Cow<'a, str>>,
}

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// System and developer messages.
    Instruction,
    User,
    Assistant,
    /// A message that holds only tool results.
    Tool,
    Other,
}

/// A part of a message.
#[derive(Debug)]
pub enum Part<'a> {
    Text(Cow<'a, str>),
    /// An image, a sound or a file: its data, address or id, as it stands in the body. `texts_of_media` reads the words
    /// in it.
    Media(Raw<'a>),
    Call(Call<'a>),
    Result(ToolResult<'a>),
}

impl<'a> Part<'a> {
    /// The same part, borrowed from this one.
    pub(crate) fn borrowed(&self) -> Part<'_> {
        match self {
            Self::Text(text) => Part::Text(Cow::Borrowed(text)),
            Self::Media(raw) => Part::Media(*raw),
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

    /// Bytes of its text or arguments that had to be decoded.
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
    /// Empty if the dialect has no ids.
    pub id: Cow<'a, str>,
    pub name: Cow<'a, str>,
    /// JSON, JSON inside a JSON string, or whatever the model wrote.
    pub arguments: Cow<'a, str>,
}

/// A tool result.
#[derive(Debug)]
pub struct ToolResult<'a> {
    pub of: CallRef<'a>,
    pub content: Option<Raw<'a>>,
    /// The client marked it as an error. A result that is not marked may be one too.
    pub is_error: bool,
}

/// The call that a result belongs to.
#[derive(Debug)]
pub enum CallRef<'a> {
    Id(Cow<'a, str>),
    /// Only the tool's name is known (older forms of Gemini and OpenAI chat).
    Tool(Cow<'a, str>),
}

/// Body fields that may hold identifiers.
#[derive(Debug, Default)]
pub struct BodyIds<'a> {
    pub user: Option<Raw<'a>>,
    pub safety_identifier: Option<Raw<'a>>,
    pub metadata: Option<Raw<'a>>,
}

/// A body field that may hold an identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyField {
    User,
    SafetyIdentifier,
    Metadata(String),
}

impl<'a> BodyIds<'a> {
    /// The identifier in `field`: a string that is not empty, or a number.
    pub fn get(&self, field: &BodyField) -> Option<Cow<'a, str>> {
        let raw = match field {
            BodyField::User => self.user?,
            BodyField::SafetyIdentifier => self.safety_identifier?,
            BodyField::Metadata(key) => {
                self.metadata?.members().filter(|(name, _)| name.is(key)).last().map(|(_, value)| value)?
            }
        };
        let is_number = raw.get().starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let id = if is_number { Cow::Borrowed(raw.get()) } else { json::string(raw)? };
        (!id.is_empty()).then_some(id)
    }
}

/// No file has a longer name (bytes).
const LONGEST_NAME: usize = 256;

/// Gives `visit` everything that is said in and beside a picture, a file or anything else that a provider may know: every string
/// with a space, an escape or a letter beyond ASCII, at any depth, as it stands in `json`. Data has no such strings. In a file's
/// name, hyphens and the like may separate words.
pub fn texts_of_media<'a>(json: &'a str, visit: &mut dyn FnMut(&'a str)) {
    let bytes = json.as_bytes();
    let mut at = 0_usize;
    while let Some(start) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'"')) {
        let start = at.saturating_add(start);
        let Some((end, has_escapes)) = string_end(bytes, start.saturating_add(1)) else { return };
        let text = json.get(start..end).unwrap_or_default();
        let may_be_name =
            || text.len() < LONGEST_NAME && text.bytes().any(|byte| matches!(byte, b'-' | b'.' | b'+'));
        if has_escapes || text.contains(' ') || !text.is_ascii() || may_be_name() {
            visit(text);
        }
        at = end;
    }
}
