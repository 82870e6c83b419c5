//! What a dialect finds in one item of a history, as places in the body. Two modules use it: `conversation` makes the
//! parts of a message from it (`Part`), and `outline` the places that can be edited.

use std::borrow::Cow;

use crate::{
    conversation::{Call, CallRef, Part, ToolResult},
    json::{self, Raw, Unreadable, members::Names, reader::Reader},
};

/// Something in an item.
#[derive(Debug)]
pub(crate) enum ItemPart<'a> {
    /// A text. If it is not a string, it is unreadable.
    Text(Raw<'a>),
    /// The rest of a long list, which is not read element by element.
    Rest(&'a str),
    /// An image, a sound or a file.
    Media(Raw<'a>),
    Call(ItemCall<'a>),
    Result(ItemResult<'a>),
    /// A reference to something that the provider keeps.
    Reference,
    /// Anything else, as it stands in the body.
    Other(Raw<'a>),
    /// The whole element that holds a picture or a file.
    Around(Raw<'a>),
}

/// A tool call.
#[derive(Debug)]
pub(crate) struct ItemCall<'a> {
    pub id: Option<Raw<'a>>,
    pub name: Cow<'a, str>,
    pub arguments: Option<Raw<'a>>,
    pub tool: Tool,
}

/// A tool result.
#[derive(Debug)]
pub(crate) struct ItemResult<'a> {
    pub id: Option<Raw<'a>>,
    pub name: Option<Raw<'a>>,
    pub content: Option<Raw<'a>>,
    pub is_error: bool,
    pub tool: Tool,
}

/// Whose tool it is. It decides how its result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// A function of the client.
    Function,
    /// A tool of the client that takes plain text (OpenAI).
    Custom,
    /// A tool with a format of its own, or one that the provider runs.
    Other,
}

impl<'a> ItemPart<'a> {
    /// Converts it into a part of a message. Returns an error when it is an unreadable text, and `None` when it is no
    /// part.
    pub fn part(self) -> Option<Result<Part<'a>, Unreadable>> {
        Some(Ok(match self {
            Self::Text(raw) => return Some(json::text(raw).map(Part::Text).ok_or(Unreadable::Shape)),
            Self::Rest(text) => Part::Text(Cow::Borrowed(text)),
            Self::Media(raw) => Part::Media(raw),
            Self::Call(ItemCall { id, name, arguments, .. }) => {
                Part::Call(Call { id: json::name(id), name, arguments: written(arguments) })
            }
            Self::Result(ItemResult { id, name, content, is_error, .. }) => {
                let of = match (id.and_then(json::text), name) {
                    (None, Some(name)) => CallRef::Tool(json::name(Some(name))),
                    (id, _) => CallRef::Id(id.unwrap_or_default()),
                };
                Part::Result(ToolResult { of, content, is_error })
            }
            Self::Reference | Self::Other(_) | Self::Around(_) => return None,
        }))
    }
}

/// A call's arguments, which may be a string or an object.
fn written(raw: Option<Raw<'_>>) -> Cow<'_, str> {
    raw.map_or(Cow::Borrowed("{}"), |raw| json::string(raw).unwrap_or(Cow::Borrowed(raw.get())))
}

/// Called with an element of a list and the picked members of that element.
type Look<'l, 'v, 'a, const N: usize> =
    dyn FnMut(&mut Finder<'v, 'a>, Raw<'a>, [Option<Raw<'a>>; N]) -> Result<(), Unreadable> + 'l;

/// Receives what a dialect finds in an item.
pub(crate) struct Finder<'v, 'a> {
    give: &'v mut dyn FnMut(Option<usize>, ItemPart<'a>),
    /// Most elements of one list that are read one by one.
    most: usize,
    /// The index of the element that is being read.
    element: Option<usize>,
    has_given: bool,
    has_media: bool,
}

impl<'v, 'a> Finder<'v, 'a> {
    /// `give` gets each part, with the index of the content element that it stands in.
    pub fn new(most: usize, give: &'v mut dyn FnMut(Option<usize>, ItemPart<'a>)) -> Self {
        Self { give, most, element: None, has_given: false, has_media: false }
    }

    #[inline(never)]
    pub fn give(&mut self, found: ItemPart<'a>) {
        self.has_given = true;
        self.has_media |= matches!(found, ItemPart::Media(_));
        (self.give)(self.element, found);
    }

    /// Gives the whole element if nothing was found in it, or if more may stand beside what was found.
    fn give_rest(&mut self, element: Raw<'a>) {
        if !self.has_given {
            self.give(ItemPart::Other(element));
        } else if self.has_media {
            self.give(ItemPart::Around(element));
        }
    }

    /// Calls `look` with the picked members of each element of `list`. An object in place of the list counts as its
    /// only element. Returns the rest of the list behind the most elements that are read. Returns an error if there is
    /// no list, if an element is not an object, or if `look` fails.
    pub fn each<const N: usize>(
        &mut self,
        list: Raw<'a>,
        names: Names<'_>,
        look: &mut Look<'_, 'v, 'a, N>,
    ) -> Result<Option<&'a str>, Unreadable> {
        let mut picked = [None; N];
        if list.is_object() {
            Reader::of_raw(list).pick(names, &mut picked)?;
            (self.has_given, self.has_media) = (false, false);
            look(self, list, picked)?;
            self.give_rest(list);
            return Ok(None);
        }
        if !list.is_list() {
            return Err(Unreadable::Shape);
        }
        let mut elements = list.elements();
        for at in 0..self.most {
            picked = [None; N];
            let Some(element) = elements.pick(names, &mut picked) else { return Ok(None) };
            (self.element, self.has_given, self.has_media) = (Some(at), false, false);
            let looked = element.and_then(|element| look(self, element, picked));
            if let Ok(element) = element {
                self.give_rest(element);
            }
            self.element = None;
            looked?;
        }
        Ok(elements.rest())
    }

    /// The same for an item's content. The rest of the list is given as one text, as it stands in the body.
    pub fn content<const N: usize>(
        &mut self,
        list: Raw<'a>,
        names: Names<'_>,
        look: &mut Look<'_, 'v, 'a, N>,
    ) -> Result<(), Unreadable> {
        if let Some(rest) = self.each(list, names, look)? {
            self.give(ItemPart::Rest(rest));
        }
        Ok(())
    }

    /// Reads content that is a string, or a list of parts in OpenAI's format. Parts of the types `kinds` are texts.
    pub fn texts(&mut self, content: Raw<'a>, kinds: &[&str]) -> Result<(), Unreadable> {
        if content.is_string() {
            self.give(ItemPart::Text(content));
            return Ok(());
        }
        const NAMES: [&str; 9] = [
            "type",
            "text",
            "image_url",
            "input_audio",
            "video_url",
            "file",
            "file_id",
            "file_data",
            "file_url",
        ];
        self.content::<{ NAMES.len() }>(
            content,
            Names::of(&NAMES),
            &mut |finder, part, [kind, text, media @ ..]| {
                if kinds.contains(&&*json::name(kind)) {
                    // TensorZero's text may be a template and its values.
                    finder.give(text.map_or(ItemPart::Other(part), ItemPart::Text));
                } else {
                    media.into_iter().flatten().for_each(|media| finder.give(ItemPart::Media(media)));
                }
                Ok(())
            },
        )
    }
}
