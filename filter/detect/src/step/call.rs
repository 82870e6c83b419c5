//! A call and its result as they came: what the call was for and what the result says are found out when somebody asks.

use std::{borrow::Cow, cell::OnceCell, ops::Range};

use sentinel_llm_api::json::Raw;
use serde::{Deserialize, Serialize};

use super::{
    Purpose, ToolRule, Weight,
    judge::{Facts, JudgedResult},
    memo::{Key, Memo},
    unwrapped,
};
use crate::WordSet;

/// A tool that was called. Runs call few tools over and over: each name is read once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Tool {
    pub digest: u64,
    /// The name, for people to read.
    pub shown: String,
    pub rule: ToolRule,
}

/// A call, and its result once there is one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct StepCall<'a> {
    pub id: u64,
    /// Place among the tools of the log.
    pub tool: usize,
    pub meaning: Meaning<'a>,
    /// Its arguments, where they are too long to be read.
    #[serde(skip)]
    pub long: Cow<'a, str>,
    pub approach: u64,
    pub words: WordSet,
    pub result: Option<CallResult<'a>>,
}

impl StepCall<'_> {
    /// The call without its words and its result.
    pub fn known(&self) -> StepCall<'static> {
        let Self { id, tool, approach, words, .. } = *self;
        StepCall {
            id,
            tool,
            meaning: self.meaning.known(),
            long: Cow::Borrowed(""),
            approach,
            words,
            result: None,
        }
    }
}

/// What a call was for, as far as it decides how its result is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Meaning<'a> {
    Known {
        purpose: Purpose,
        weight: Weight,
    },
    /// As the model wrote it.
    #[serde(skip)]
    Written(Written<'a>),
}

/// A call's name and arguments, and what it was for once somebody has asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    pub name: Cow<'a, str>,
    pub arguments: Cow<'a, str>,
    purpose: OnceCell<Purpose>,
}

impl<'a> Meaning<'a> {
    pub fn written(name: Cow<'a, str>, arguments: Cow<'a, str>) -> Self {
        Self::Written(Written { name, arguments, purpose: OnceCell::new() })
    }

    pub fn purpose(&self) -> Purpose {
        match self {
            Self::Known { purpose, .. } => *purpose,
            Self::Written(call) => *call.purpose.get_or_init(|| Purpose::of(&call.name, &call.arguments)),
        }
    }

    pub fn weight(&self) -> Weight {
        match self {
            Self::Known { weight, .. } => *weight,
            Self::Written(call) => Weight::of_arguments(&call.arguments),
        }
    }

    /// As the model wrote them; empty where they are not known.
    pub fn arguments(&self) -> &str {
        match self {
            Self::Known { .. } => "",
            Self::Written(call) => &call.arguments,
        }
    }

    /// The same without the words.
    pub fn known(&self) -> Meaning<'static> {
        Meaning::Known { purpose: self.purpose(), weight: self.weight() }
    }
}

/// A call's result.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum CallResult<'a> {
    Judged(Facts),
    #[serde(skip)]
    Unread(UnreadResult<'a>),
}

/// A result as it came.
#[derive(Clone, Debug)]
pub(crate) struct UnreadResult<'a> {
    /// As it stands in the body. `None` if it was read as a text.
    pub content: Option<Raw<'a>>,
    /// Its text, and whether a wrapper says that it is an error.
    text: OnceCell<(Text, bool)>,
    /// The client says that it is an error.
    pub is_error: bool,
    /// What earlier requests have found out; `None` for a result that is read once.
    pub memo: Option<&'a Memo>,
    /// Its key in the memory, once it was looked for there.
    pub key: OnceCell<Option<Key>>,
}

/// The text of a result without its wrappers.
#[derive(Clone, Debug)]
enum Text {
    /// A part of its content as it stands.
    Part(Range<usize>),
    Owned(String),
}

impl UnreadResult<'_> {
    pub fn said(&self) -> (&str, bool) {
        let content = self.content.map_or("", Raw::get);
        let (text, is_error) = self.text.get_or_init(|| {
            let said = unwrapped::read(self.content);
            let text = match said.text {
                Cow::Owned(text) => Text::Owned(text),
                Cow::Borrowed(part) => {
                    let start = super::place(content, part);
                    Text::Part(start..start.saturating_add(part.len()))
                }
            };
            (text, said.is_error)
        });
        let text = match text {
            Text::Part(range) => content.get(range.clone()).unwrap_or_default(),
            Text::Owned(text) => text,
        };
        (text, *is_error || self.is_error)
    }

    /// Whether its text was already taken out of its wrappers.
    pub fn is_read(&self) -> bool {
        self.text.get().is_some()
    }

    pub fn text(&self) -> &str {
        self.said().0
    }
}

impl PartialEq for UnreadResult<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is_error == other.is_error && self.text() == other.text()
    }
}

impl Eq for UnreadResult<'_> {}

impl CallResult<'_> {
    /// What it says. Returns `None` when the text was not stored.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Judged(_) => None,
            Self::Unread(result) => Some(result.text()),
        }
    }

    /// Length of the result as it stands in the body. It is not read for that.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Judged(_) => 0,
            Self::Unread(UnreadResult { content: Some(content), .. }) => written_bytes(*content),
            Self::Unread(result) => result.text().len(),
        }
    }
}

/// Length of a value as it stands in the body, without the quotes of a string.
pub(crate) fn written_bytes(value: Raw<'_>) -> usize {
    let quotes = if value.is_string() { 2 } else { 0 };
    value.get().len().saturating_sub(quotes)
}

impl<'a> CallResult<'a> {
    pub fn of_json(content: Option<Raw<'a>>, is_error: bool, memo: Option<&'a Memo>) -> Self {
        Self::unread(content, OnceCell::new(), is_error, memo)
    }

    pub fn of_text(said: &str, memo: Option<&'a Memo>) -> Self {
        let said = unwrapped::of_text(said);
        Self::unread(None, OnceCell::from((Text::Owned(said.text.into_owned()), said.is_error)), false, memo)
    }

    fn unread(
        content: Option<Raw<'a>>,
        text: OnceCell<(Text, bool)>,
        is_error: bool,
        memo: Option<&'a Memo>,
    ) -> Self {
        Self::Unread(UnreadResult { content, text, is_error, memo, key: OnceCell::new() })
    }

    /// `said`: the text of the result. The text is not stored.
    pub fn judged(said: &str, is_error: bool, meaning: &Meaning<'_>, tool: &Tool) -> Self {
        Self::Judged(judged(said, is_error, meaning, &tool.shown).facts(tool.rule.kind))
    }
}

/// `tool`: what is shown of its name, if the call itself is not stored.
pub(super) fn judged<'a>(
    said: &'a str,
    is_error: bool,
    meaning: &'a Meaning<'_>,
    tool: &'a str,
) -> JudgedResult<'a> {
    let call = match meaning {
        Meaning::Known { .. } => [tool, ""],
        Meaning::Written(call) => [&*call.name, &*call.arguments],
    };
    JudgedResult { said, purpose: meaning.purpose(), weight: meaning.weight(), is_error, call }
}
