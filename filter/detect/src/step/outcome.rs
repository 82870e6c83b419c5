//! What came of a call and of a whole turn. It is judged when somebody asks, and once: most steps of a healthy run differ
//! in what they did, or in the first letters of what came of it, and nobody needs to know more of them.

use std::{borrow::Cow, cell::OnceCell, ops::Range};

use sentinel_llm_api::json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    Kind, Purpose, ToolRule,
    judge::{Judged, MAX_FAILURE, may_be_failure},
    log::{Call, Tool},
    memo::{self, Findings, Key},
    text, volatile,
};

/// Characters of a result that are looked at before it is judged: results that differ do so early.
const BEGINNING: usize = 32;
/// Stands for the kind of a tool's results where the operator has said none; no kind has this number.
const NOT_TOLD: u8 = 0x3F;

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
    Written(Written<'a>),
}

/// A call's name and arguments, and what it was for once somebody has asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
    purpose: OnceCell<Purpose>,
}

impl<'a> Meaning<'a> {
    pub fn written(name: Cow<'a, str>, arguments: Cow<'a, str>) -> Self {
        Self::Written(Written { name, arguments, purpose: OnceCell::new() })
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Known { purpose, .. } => *purpose,
            Self::Written(call) => *call.purpose.get_or_init(|| Purpose::of(&call.name, &call.arguments)),
        }
    }

    fn names_something(&self) -> bool {
        match self {
            Self::Known { names_something, .. } => *names_something,
            Self::Written(call) => names_something(&call.arguments),
        }
    }

    /// The same without the words.
    pub fn known(&self) -> Meaning<'static> {
        Meaning::Known { purpose: self.purpose(), names_something: self.names_something() }
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
    Judged {
        outcome: u64,
        kind: Kind,
    },
    #[serde(skip)]
    Unread(UnreadResult<'a>),
}

/// A result as it came.
#[derive(Clone, Debug)]
pub(crate) struct UnreadResult<'a> {
    /// As it stands in the body; nothing once it is text.
    content: Option<&'a RawValue>,
    text: OnceCell<Text>,
    /// The client says that it is an error.
    is_error: bool,
    key: OnceCell<Option<Key>>,
    kind: OnceCell<Kind>,
    outcome: OnceCell<u64>,
}

/// What a result says, out of what it is wrapped in.
#[derive(Clone, Debug)]
enum Text {
    /// A part of its content as it stands.
    Part(Range<usize>),
    Owned(String),
}

impl UnreadResult<'_> {
    fn text(&self) -> &str {
        let content = self.content.map_or("", RawValue::get);
        let text = self.text.get_or_init(|| match text::read(self.content) {
            Cow::Owned(text) => Text::Owned(text),
            Cow::Borrowed(part) => {
                let start = (part.as_ptr() as usize).saturating_sub(content.as_ptr() as usize);
                Text::Part(start..start.saturating_add(part.len()))
            }
        });
        match text {
            Text::Part(range) => content.get(range.clone()).unwrap_or_default(),
            Text::Owned(text) => text,
        }
    }
}

impl PartialEq for UnreadResult<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is_error == other.is_error && self.text() == other.text()
    }
}

impl Eq for UnreadResult<'_> {}

impl<'a> CallResult<'a> {
    pub fn of_json(content: Option<&'a RawValue>, is_error: bool) -> Self {
        Self::unread(content, OnceCell::new(), is_error)
    }

    pub fn of_text(said: &str) -> Self {
        Self::unread(None, OnceCell::from(Text::Owned(said.to_owned())), false)
    }

    fn unread(content: Option<&'a RawValue>, text: OnceCell<Text>, is_error: bool) -> Self {
        Self::Unread(UnreadResult {
            content,
            text,
            is_error,
            key: OnceCell::new(),
            kind: OnceCell::new(),
            outcome: OnceCell::new(),
        })
    }

    /// `said`: what a result says whose text is not kept.
    pub fn judged(said: &str, is_error: bool, meaning: &Meaning<'_>, rule: ToolRule) -> Self {
        let result = judged(said, is_error, meaning);
        let kind = rule.kind.unwrap_or_else(|| result.kind());
        Self::Judged { outcome: result.outcome(kind), kind }
    }
}

fn judged<'a>(said: &'a str, is_error: bool, meaning: &Meaning<'_>) -> Judged<'a> {
    let (purpose, names_something) = (meaning.purpose(), meaning.names_something());
    Judged { said, purpose, names_something, is_error }
}

/// A call with its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done<'s, 'a> {
    pub call: &'s Call<'a>,
    pub result: &'s CallResult<'a>,
    pub tool: &'s Tool,
}

impl Done<'_, '_> {
    pub fn kind(&self) -> Kind {
        match self.result {
            CallResult::Judged { kind, .. } => *kind,
            CallResult::Unread(result) => *result.kind.get_or_init(|| {
                self.tool.rule.kind.unwrap_or_else(|| {
                    self.recalled(result, |known| &mut known.kind, || self.judged(result).kind())
                })
            }),
        }
    }

    pub fn outcome(&self) -> u64 {
        match self.result {
            CallResult::Judged { outcome, .. } => *outcome,
            CallResult::Unread(result) => *result.outcome.get_or_init(|| {
                self.recalled(result, |known| &mut known.outcome, || self.judged(result).outcome(self.kind()))
            }),
        }
    }

    fn judged<'r>(&self, result: &'r UnreadResult<'_>) -> Judged<'r> {
        judged(result.text(), result.is_error, &self.call.meaning)
    }

    /// A finding of an earlier request; where there is none, what `find` returns, which is kept for the next request.
    fn recalled<T: Copy>(
        &self,
        result: &UnreadResult<'_>,
        place: impl Fn(&mut Findings) -> &mut Option<T>,
        find: impl FnOnce() -> T,
    ) -> T {
        let Some(key) = *result.key.get_or_init(|| self.key(result)) else { return find() };
        if let Some(known) = *place(&mut memo::findings(key)) {
            return known;
        }
        let found = find();
        memo::keep(key, |findings| *place(findings) = Some(found));
        found
    }

    /// All that a finding depends on. Nothing where the call's words are not known.
    fn key(&self, result: &UnreadResult<'_>) -> Option<Key> {
        let Meaning::Written(Written { name, arguments, .. }) = &self.call.meaning else { return None };
        let said = result.content.map_or_else(|| result.text(), RawValue::get);
        let told = self.tool.rule.kind.map_or(NOT_TOLD, |kind| kind as u8);
        let sort = (told << 2) | (u8::from(result.content.is_some()) << 1) | u8::from(result.is_error);
        Key::of([name, arguments, said], sort)
    }

    /// Whether no other text can have the same outcome: it is compared as it stands.
    fn is_apart(&self) -> bool {
        let CallResult::Unread(result) = self.result else { return false };
        self.recalled(
            result,
            |known| &mut known.is_apart,
            || {
                let (text, meaning) = (result.text().trim(), &self.call.meaning);
                let may_be_failure = || match result.kind.get().copied().or(self.tool.rule.kind) {
                    Some(kind) => kind == Kind::Failure,
                    None => may_be_failure(result.text(), result.is_error),
                };
                // Receipts are compared without their ids.
                let may_be_receipt = || text.starts_with(['{', '[']) && meaning.purpose() == Purpose::Send;
                let is_compared_as_said =
                    text.len() > MAX_FAILURE || (!may_be_failure() && !may_be_receipt());
                is_compared_as_said && !volatile::may_be_settled(text)
            },
        )
    }

    /// Digest of the beginning of what it says; nothing where it is not known.
    fn beginning(&self) -> Option<u64> {
        let CallResult::Unread(result) = self.result else { return None };
        match (result.text.get(), result.content) {
            (None, Some(content)) if content.get().starts_with('"') => beginning(json::chars(content)?),
            _ => beginning(result.text().chars().map(Some)),
        }
    }
}

/// A digest of the first characters of a text without the white space around it. Nothing where one cannot be read.
fn beginning(chars: impl Iterator<Item = Option<char>>) -> Option<u64> {
    // FNV-1a; up to the last character that is no white space.
    let (mut hash, mut kept) = (0xCBF2_9CE4_8422_2325_u64, 0);
    let is_space = |c: &Option<char>| c.is_some_and(char::is_whitespace);
    for c in chars.skip_while(is_space).take(BEGINNING) {
        let c = c?;
        hash = (hash ^ u64::from(u32::from(c))).wrapping_mul(0x100_0000_01B3);
        if !c.is_whitespace() {
            kept = hash;
        }
    }
    Some(kept)
}

/// What came of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Brought<'a> {
    /// The calls of the turn, all with their results, and the tools of the log.
    turn: (&'a [Call<'a>], &'a [Tool]),
    kind: OnceCell<Kind>,
    outcome: OnceCell<u64>,
    is_apart: OnceCell<bool>,
    beginning: OnceCell<Option<u64>>,
}

impl<'a> Brought<'a> {
    pub fn by(calls: &'a [Call<'a>], tools: &'a [Tool]) -> Self {
        Self {
            turn: (calls, tools),
            kind: OnceCell::new(),
            outcome: OnceCell::new(),
            is_apart: OnceCell::new(),
            beginning: OnceCell::new(),
        }
    }

    pub fn known(outcome: u64, kind: Kind) -> Self {
        Self {
            turn: (&[], &[]),
            kind: OnceCell::from(kind),
            outcome: OnceCell::from(outcome),
            is_apart: OnceCell::from(false),
            beginning: OnceCell::from(None),
        }
    }

    pub fn kind(&self) -> Kind {
        *self.kind.get_or_init(|| {
            self.results().map(|done| done.kind()).reduce(Kind::and).unwrap_or(Kind::Acknowledgement)
        })
    }

    /// A sum, since the order within a turn does not count.
    pub fn outcome(&self) -> u64 {
        *self.outcome.get_or_init(|| self.results().fold(0_u64, |sum, done| sum.wrapping_add(done.outcome())))
    }

    /// Both came to the same.
    pub fn is_like(&self, other: &Self) -> bool {
        // What begins otherwise is another result, unless it is a failure.
        if self.begins_otherwise(other) && (self.is_apart() || other.is_apart()) {
            return false;
        }
        self.outcome() == other.outcome()
    }

    fn begins_otherwise(&self, other: &Self) -> bool {
        self.beginning().zip(other.beginning()).is_some_and(|(mine, its)| mine != its)
    }

    fn beginning(&self) -> Option<u64> {
        *self.beginning.get_or_init(|| {
            self.results().try_fold(0_u64, |sum, done| Some(sum.wrapping_add(done.beginning()?)))
        })
    }

    fn is_apart(&self) -> bool {
        *self.is_apart.get_or_init(|| self.results().all(|done| done.is_apart()))
    }

    fn results(&self) -> impl Iterator<Item = Done<'a, 'a>> {
        let (calls, tools) = self.turn;
        calls.iter().filter_map(|call| {
            let tool = tools.get(call.tool).filter(|tool| !tool.rule.ignore)?;
            Some(Done { call, result: call.result.as_ref()?, tool })
        })
    }
}
