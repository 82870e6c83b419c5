//! What came of a call and of a whole turn. It is judged when somebody asks, and once: most steps of a healthy run differ
//! in what they did, or in the first letters of what came of it, and nobody needs to know more of them.

use std::{borrow::Cow, cell::OnceCell};

use sentinel_llm_api::json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    Judged, Kind, Purpose,
    kind::Judgement,
    log::{Call, Tool},
    text,
};

/// Characters of a result that are looked at before it is judged: results that differ do so early.
const BEGINNING: usize = 32;

/// What a call was for, as far as it decides how its result is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Meaning<'a> {
    Known {
        purpose: Purpose,
        /// The arguments say what is meant.
        names_something: bool,
    },
    /// As the model wrote it.
    #[serde(skip)]
    Written { name: Cow<'a, str>, arguments: Cow<'a, str> },
}

impl Meaning<'_> {
    /// What the call was for, and whether its arguments say what is meant.
    pub fn read(&self) -> (Purpose, bool) {
        match self {
            Self::Known { purpose, names_something } => (*purpose, *names_something),
            Self::Written { name, arguments } => (Purpose::of(name, arguments), names_something(arguments)),
        }
    }

    /// The same without the words.
    pub fn known(&self) -> Meaning<'static> {
        let (purpose, names_something) = self.read();
        Meaning::Known { purpose, names_something }
    }
}

/// Whether one of the arguments is a text: `{"order": "W1"}`, not `{"limit": 10}`. What is no JSON is a text itself.
pub(super) fn names_something(arguments: &str) -> bool {
    if !arguments.starts_with(['{', '[', '"']) {
        return !arguments.trim().is_empty();
    }
    let mut after_colon = false;
    for byte in arguments.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        if after_colon && byte == b'"' {
            return true;
        }
        after_colon = matches!(byte, b':' | b'[');
    }
    false
}

/// A call's result.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum CallResult<'a> {
    Judged(Judgement),
    #[serde(skip)]
    Unread(UnreadResult<'a>),
}

/// A result as it came.
#[derive(Clone, Debug)]
pub(crate) struct UnreadResult<'a> {
    said: Said<'a>,
    /// The client says that it is an error.
    is_error: bool,
    judged: OnceCell<Judgement>,
}

#[derive(Clone, Debug)]
enum Said<'a> {
    /// As it stands in the body.
    Json(Option<&'a RawValue>),
    Text(String),
}

impl Said<'_> {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Json(content) => text::read(*content),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }
}

impl PartialEq for UnreadResult<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is_error == other.is_error && self.said.text() == other.said.text()
    }
}

impl Eq for UnreadResult<'_> {}

impl<'a> CallResult<'a> {
    pub fn of_json(content: Option<&'a RawValue>, is_error: bool) -> Self {
        Self::Unread(UnreadResult { said: Said::Json(content), is_error, judged: OnceCell::new() })
    }

    pub fn of_text(said: &str) -> Self {
        let said = Said::Text(said.to_owned());
        Self::Unread(UnreadResult { said, is_error: false, judged: OnceCell::new() })
    }

    pub fn judged(&self, meaning: &Meaning<'_>, tool: &Tool) -> Judgement {
        match self {
            Self::Judged(judgement) => *judgement,
            Self::Unread(result) => {
                *result.judged.get_or_init(|| judge(&result.said.text(), result.is_error, meaning, tool))
            }
        }
    }

    /// Digest of the beginning of what it says; nothing where that may differ though the outcome is the same.
    fn beginning(&self, meaning: &Meaning<'_>) -> Option<u64> {
        let Self::Unread(UnreadResult { said, .. }) = self else { return None };
        let digest = match said {
            Said::Json(Some(content)) if content.get().starts_with('"') => beginning(json::chars(content)?),
            Said::Json(_) | Said::Text(_) => beginning(said.text().chars().map(Some)),
        };
        let (first, digest) = digest?;
        // Receipts are compared without their ids.
        let is_structure = matches!(first, Some('{' | '['));
        (!is_structure || meaning.read().0 != Purpose::Send).then_some(digest)
    }
}

pub(super) fn judge(said: &str, is_error: bool, meaning: &Meaning<'_>, tool: &Tool) -> Judgement {
    let (purpose, names_something) = meaning.read();
    Judged { said, purpose, names_something, is_error }.judge(tool.rule.kind)
}

/// The first character of a text without the white space around it, and a digest of the first few. Nothing where a
/// character cannot be read.
fn beginning(chars: impl Iterator<Item = Option<char>>) -> Option<(Option<char>, u64)> {
    let mut first = None;
    // FNV-1a; up to the last character that is no white space.
    let (mut hash, mut kept) = (0xCBF2_9CE4_8422_2325_u64, 0);
    let is_space = |c: &Option<char>| c.is_some_and(char::is_whitespace);
    for c in chars.skip_while(is_space).take(BEGINNING) {
        let c = c?;
        first = first.or(Some(c));
        hash = (hash ^ u64::from(u32::from(c))).wrapping_mul(0x100_0000_01B3);
        if !c.is_whitespace() {
            kept = hash;
        }
    }
    Some((first, kept))
}

/// What came of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Brought<'a> {
    /// The calls of the turn, all with their results, and the tools of the log.
    turn: (&'a [Call<'a>], &'a [Tool]),
    judged: OnceCell<Judgement>,
    beginning: OnceCell<Option<u64>>,
}

impl<'a> Brought<'a> {
    pub fn by(calls: &'a [Call<'a>], tools: &'a [Tool]) -> Self {
        Self { turn: (calls, tools), judged: OnceCell::new(), beginning: OnceCell::new() }
    }

    pub fn known(outcome: u64, kind: Kind) -> Self {
        let judged = OnceCell::from(Judgement { outcome, kind, is_apart: false });
        Self { turn: (&[], &[]), judged, beginning: OnceCell::from(None) }
    }

    pub fn judged(&self) -> Judgement {
        *self.judged.get_or_init(|| {
            let nothing = Judgement { outcome: 0, kind: Kind::Acknowledgement, is_apart: true };
            self.results().fold(nothing, |all, (call, result, tool)| {
                let judged = result.judged(&call.meaning, tool);
                Judgement {
                    // A sum, since the order within a turn does not count.
                    outcome: all.outcome.wrapping_add(judged.outcome),
                    kind: all.kind.and(judged.kind),
                    is_apart: all.is_apart && judged.is_apart,
                }
            })
        })
    }

    /// Both came to the same.
    pub fn is_like(&self, other: &Self) -> bool {
        let judged = self.judged();
        // What begins otherwise is another result, unless it is a failure.
        let begins_otherwise = || {
            let (mine, its) = (self.beginning(), other.beginning());
            mine.is_some() && its.is_some() && mine != its
        };
        if judged.is_apart && other.judged.get().is_none() && begins_otherwise() {
            return false;
        }
        judged.outcome == other.judged().outcome
    }

    fn beginning(&self) -> Option<u64> {
        *self.beginning.get_or_init(|| {
            self.results().try_fold(0_u64, |sum, (call, result, _)| {
                Some(sum.wrapping_add(result.beginning(&call.meaning)?))
            })
        })
    }

    fn results(&self) -> impl Iterator<Item = (&'a Call<'a>, &'a CallResult<'a>, &'a Tool)> {
        let (calls, tools) = self.turn;
        calls.iter().filter_map(|call| {
            let tool = tools.get(call.tool).filter(|tool| !tool.rule.ignore)?;
            Some((call, call.result.as_ref()?, tool))
        })
    }
}
