//! The trait that each provider's wire format implements. `registry` lists the dialects.

use std::{borrow::Cow, fmt::Debug};

use crate::{
    answer_event::{Block, EventSink, Payload},
    conversation::Conversation,
    framing::Framing,
    json::Unreadable,
    openai_chat::OpenAiChat,
    path::PathFacts,
    repeatable::FunctionCall,
    usage::Usage,
};

/// A registered dialect.
pub type DialectRef = &'static dyn Dialect;

/// Gives the first value of the request header of this name.
pub type Header<'h> = &'h dyn Fn(&str) -> Option<Cow<'h, [u8]>>;

/// One provider wire format. Methods that a dialect does not implement are answered by the dialect that it is `like`.
pub trait Dialect: Debug + Sync {
    /// Its name in metrics, logs and the configuration.
    fn label(&self) -> &'static str;

    /// Whether the provider serves it on `path`, which is percent-decoded, in lower case and without a query.
    fn is_served_on(&self, path: &str) -> bool;

    /// The dialect that answers for this one where it does not implement a method. OpenAI chat by default, which most
    /// providers speak.
    fn like(&self) -> DialectRef {
        &OpenAiChat
    }

    /// What `path`, in its original case, says about the request. Most providers say it in the body.
    fn facts_of_path(&self, _path: &str, _query: &str) -> PathFacts {
        PathFacts::default()
    }

    /// Whether the client library marks the request as a retry.
    fn is_retry(&self, header: Header<'_>) -> bool {
        self.like().is_retry(header)
    }

    /// Reads a request body. `body` is a JSON object.
    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        self.like().read(body)
    }

    /// Reports to `sink` what an answer says, whole or event by event. Returns `None` when it is not an answer of
    /// this dialect.
    fn read_answer<'a>(&self, payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
        self.like().read_answer(payload, sink)
    }

    /// Builds a stream event that holds only this piece of text, a JSON string. `like` is an earlier event with a piece
    /// of the same text. Returns `None` when that event can be reused, because it holds nothing else.
    fn event_of(&self, _like: &str, _block: Block, _text: &str) -> Option<String> {
        None
    }

    /// An error that the provider's client library raises and does not retry.
    fn error(&self, status: u16, message: &str) -> LocalReply {
        self.like().error(status, message)
    }

    /// The error for a request that is refused because of its content and not because of a loop.
    fn refusal(&self, status: u16, message: &str) -> LocalReply {
        self.error(status, message)
    }

    /// The bytes that end a stream under way with an error. The provider's client library raises the error and does not retry it.
    /// They are sent behind a whole frame.
    fn stream_error(&self, status: u16, message: &str) -> Vec<u8> {
        self.like().stream_error(status, message)
    }

    /// A whole assistant message that ends its turn normally.
    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        self.like().final_message(message)
    }
}

/// Where a hint goes among the messages, if the dialect leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    #[default]
    Start,
    End,
}

/// A response that the filter sends in the provider's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalReply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl LocalReply {
    /// A reply with this body and only the `content-type` header.
    pub fn new(status: u16, framing: Framing, body: impl Into<Vec<u8>>) -> Self {
        let content_type = ("content-type", framing.content_type().to_owned());
        Self { status, headers: vec![content_type], body: body.into() }
    }

    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds the header that tells the client libraries made by Stainless (OpenAI, Anthropic) not to retry.
    #[must_use]
    pub fn without_stainless_retry(self) -> Self {
        self.with_header("x-should-retry", "false")
    }
}

/// The contents of a final message.
#[derive(Clone, Copy, Debug)]
pub struct FinalMessage<'a> {
    pub text: &'a str,
    /// The tool calls that follow the text.
    pub calls: &'a [FunctionCall],
    pub model: &'a str,
    pub framing: Framing,
    /// Unique for each reply. It becomes part of the reply's ids.
    pub id: u64,
    /// The id of an answer that the provider keeps and that a later request may name. Empty if it keeps none.
    pub kept_as: &'a str,
    /// The token usage that the reply reports.
    pub usage: Usage,
    /// Unix time in seconds.
    pub created: u64,
    /// The client asked for a last chunk with the usage (OpenAI chat streams).
    pub include_usage: bool,
}
