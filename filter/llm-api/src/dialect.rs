//! What each provider's wire format decides for itself. Which dialects there are is in `registry`.

use std::{borrow::Cow, fmt::Debug};

use crate::{
    answer::Answer,
    conversation::Conversation,
    edit::Edit,
    framing::Framing,
    json::Unreadable,
    outline::Outline,
    path::PathFacts,
    repeatable::{FunctionCall, Repeatable, Said},
    spoken::{Block, Visit},
    tools::{May, Offer},
    usage::Usage,
};

/// A registered dialect.
pub type DialectRef = &'static dyn Dialect;

/// One provider wire format.
pub trait Dialect: Debug + Sync {
    /// Name in metrics, logs and the configuration.
    fn label(&self) -> &'static str;

    /// Whether the provider serves it on `path`: percent-decoded, in lower case, without query.
    fn is_served_on(&self, path: &str) -> bool;

    /// What the path, in its own case, says beside the dialect. Most providers say it in the body.
    fn facts_of_path(&self, _path: &str, _query: &str) -> PathFacts {
        PathFacts::default()
    }

    /// Whether the client library says that it sends this request again. `header` gives the first value of a request
    /// header.
    fn is_retry(&self, _header: &dyn Fn(&str) -> Option<Vec<u8>>) -> bool {
        false
    }

    /// `target`, a path with its query as it was sent, in the form that it has where no stream is asked for. The same where the
    /// body says whether one is.
    fn without_stream<'a>(&self, target: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(target)
    }

    /// Whether the provider keeps an answer, so that a later request can name it, unless the request says otherwise.
    fn keeps_answers(&self) -> bool {
        false
    }

    /// What a request body says. `body` is a JSON object.
    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable>;

    /// The edit that puts `text` into a request as a hint to the model. `body` is a JSON object.
    fn hint(&self, body: &str, text: &str, position: Position) -> Result<Edit, Unreadable>;

    /// The edit that puts `text` into the last tool result, where the model reads it with the result; an error where
    /// the history does not end with one. `body` is a JSON object.
    fn hint_in_result(&self, body: &str, text: &str) -> Result<Edit, Unreadable>;

    /// What a request offers to the model when the tools that may not be offered are taken out. `body` is a JSON object.
    fn offer(&self, body: &str, may: May<'_>) -> Result<Offer, Unreadable>;

    /// Where the messages of a request stand, its calls and their results. `body` is a JSON object.
    fn outline<'a>(&self, body: &'a str) -> Result<Outline<'a>, Unreadable>;

    /// Whether a tool's result may be an object of any members.
    fn takes_objects_as_results(&self) -> bool {
        false
    }

    /// Reads a whole JSON answer; nothing where it is none of this dialect.
    fn whole_answer(&self, json: &str, answer: &mut Answer) -> Option<()>;

    /// Reads one event of a streamed answer; nothing where its shape is not known. `kind` is the event's type where the
    /// framing has one (AWS event stream), else empty.
    fn event(&self, kind: &str, json: &str, answer: &mut Answer) -> Option<()>;

    /// Looks at a whole JSON answer, or at one event of a stream, for its text and its calls; nothing where it says
    /// anything that these, a model and a usage do not tell.
    fn look(&self, said: Said<'_>, answer: &mut Repeatable) -> Option<()>;

    /// Where a whole JSON answer holds the assistant's text.
    fn spoken<'a>(&self, json: &'a str, visit: Visit<'_, 'a>);

    /// The same of one event of a streamed answer; `kind` as in `event`.
    fn spoken_in_event<'a>(&self, kind: &str, json: &'a str, visit: Visit<'_, 'a>);

    /// An event of a stream with this piece of a text, a JSON string, and nothing else; `like` is an earlier event with a piece
    /// of the text. Nothing where that event has nothing else in it.
    fn event_of(&self, _like: &str, _block: Block, _text: &str) -> Option<String> {
        None
    }

    /// Whether the provider takes a history in which the assistant has said an empty text.
    fn takes_empty_texts(&self) -> bool {
        true
    }

    /// An error that the provider's client library raises as its own and does not retry.
    fn error(&self, status: u16, message: &str) -> LocalReply;

    /// The same for a request that is refused for what it says, whatever came before it.
    fn refusal(&self, status: u16, message: &str) -> LocalReply {
        self.error(status, message)
    }

    /// A whole assistant message that ends the turn in good order.
    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply;
}

/// Place of a hint among the messages, where the dialect leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    #[default]
    Start,
    End,
}

/// A response in the provider's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalReply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl LocalReply {
    /// A reply with this body and no header but its type.
    pub fn new(status: u16, framing: Framing, body: impl Into<Vec<u8>>) -> Self {
        let content_type = ("content-type", framing.content_type().to_owned());
        Self { status, headers: vec![content_type], body: body.into() }
    }

    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The header that the client libraries made by Stainless (OpenAI, Anthropic) obey.
    #[must_use]
    pub fn without_stainless_retry(self) -> Self {
        self.with_header("x-should-retry", "false")
    }
}

/// What a final message is made of.
#[derive(Clone, Copy, Debug)]
pub struct FinalMessage<'a> {
    pub text: &'a str,
    /// What the model wants to have called, behind its text.
    pub calls: &'a [FunctionCall],
    pub model: &'a str,
    pub framing: Framing,
    /// Unique for the reply; becomes part of its ids.
    pub id: u64,
    /// The id of an answer that the provider keeps, where a later request may name it; else empty.
    pub kept_as: &'a str,
    /// What the reply says that it took.
    pub usage: Usage,
    /// Seconds since 1970.
    pub created: u64,
    /// The client asked for a last chunk with the usage (OpenAI chat streams).
    pub include_usage: bool,
}
