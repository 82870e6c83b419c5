//! The events of an answer. A dialect reads an answer once, whole or event by event, and emits what it says. Everything
//! that needs an answer listens: the record of calls and tokens (`answer`), the response cache (`repeatable`), and the
//! cleaning of texts.

use std::borrow::Cow;

use crate::{
    json::{self, Raw, members::Elements, object::Object},
    usage::UsageReport,
};

/// A piece of an answer that is read at once.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// A whole JSON answer.
    Whole(&'a str),
    /// One event of a stream. `kind` is the event's type if the framing has one (AWS event stream), and empty
    /// otherwise.
    Event { kind: &'a str, json: &'a str },
}

impl<'a> Payload<'a> {
    pub fn json(self) -> &'a str {
        match self {
            Self::Whole(json) | Self::Event { json, .. } => json,
        }
    }
}

/// Identifies a text of an answer: the index of its choice or output, and of its part within that.
pub type Block = (u64, u64);

/// One event of an answer.
#[derive(Debug)]
pub enum AnswerEvent<'a> {
    /// The answer's id, if a later request may name it.
    Id(Raw<'a>),
    Model(Raw<'a>),
    Usage(UsageReport),
    /// A part of the answer begins that may hold text.
    TextStart,
    /// More of a text.
    Text(Piece<'a>),
    /// The whole of a text that came in pieces before.
    WholeText(Raw<'a>),
    /// A text has ended. Without a block, all texts have.
    TextEnd(Option<Block>),
    /// The model has reasoned, and the answer does not show how.
    HiddenReasoning,
    /// A whole call.
    Call(WholeCall<'a>),
    CallStart(CallStart<'a>),
    /// More arguments of the call that began at this place.
    Arguments {
        at: u64,
        text: Cow<'a, str>,
    },
    /// A part of the answer has ended. If `is_first`, only the first part may be something else than a call.
    PartEnd {
        at: u64,
        is_first: bool,
    },
    /// The model's turn has ended normally.
    Finished(Ending),
    /// The answer has ended.
    End,
    /// The whole answer, repeated at the end of a stream.
    Repeated(Repeated<'a>),
    /// Something that the other events cannot express.
    Other,
}

/// More of a text.
#[derive(Debug)]
pub struct Piece<'a> {
    pub block: Block,
    /// A JSON string.
    pub text: Raw<'a>,
    /// The event holds nothing else, so it can be dropped if the piece becomes empty.
    pub is_all: bool,
    /// It belongs to another choice than the first.
    pub is_alternative: bool,
}

/// A whole call.
#[derive(Debug)]
pub struct WholeCall<'a> {
    /// The call's id, if a later request names the call by it.
    pub id: Option<Raw<'a>>,
    pub name: Option<Raw<'a>>,
    pub arguments: Cow<'a, str>,
}

/// The start of a call whose arguments come in pieces.
#[derive(Debug)]
pub struct CallStart<'a> {
    /// Its place in the answer.
    pub at: u64,
    /// The call's id, if a later request names the call by it.
    pub id: Option<Raw<'a>>,
    pub name: Option<Raw<'a>>,
    /// `at` counts the calls, and each call ends the one before it.
    pub is_counted: bool,
}

/// How the model's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// To have functions called, as the provider says itself.
    ToCall,
    /// Either of both. The provider does not say; it depends on whether there are calls.
    Either,
    /// As `Either`, and the provider does not announce the end of the stream.
    WithBody,
}

/// A whole answer that is repeated at the end of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Repeated<'a> {
    pub(crate) whole: Raw<'a>,
    pub(crate) read: fn(&Object<'a>, &mut EventSink<'_, 'a>),
}

/// Receives the events of an answer in order. Anything that a dialect does not know or expect is emitted as `Other`.
pub struct EventSink<'v, 'a> {
    visit: &'v mut dyn FnMut(AnswerEvent<'a>),
    is_strict: bool,
}

// `inline(never)`: every dialect calls these functions, and inlined copies would make the module large.
impl<'v, 'a> EventSink<'v, 'a> {
    /// Ignores what is unknown.
    pub fn new(visit: &'v mut dyn FnMut(AnswerEvent<'a>)) -> Self {
        Self { visit, is_strict: false }
    }

    /// Emits `Other` for unknown members, and where something required does not hold.
    pub fn strict(visit: &'v mut dyn FnMut(AnswerEvent<'a>)) -> Self {
        Self { visit, is_strict: true }
    }

    #[inline(never)]
    pub(crate) fn emit(&mut self, event: AnswerEvent<'a>) {
        (self.visit)(event);
    }

    /// Emits `Other` unless `holds` is true.
    #[inline(never)]
    pub(crate) fn require(&mut self, holds: bool) {
        if self.is_strict && !holds {
            self.emit(AnswerEvent::Other);
        }
    }

    /// The same for what takes a look at the object.
    #[inline]
    pub(crate) fn require_that(&mut self, holds: impl FnOnce() -> bool) {
        if self.is_strict {
            self.require(holds());
        }
    }

    /// Requires that no name occurs twice in `object`.
    #[inline(never)]
    pub(crate) fn require_unique_names(&mut self, object: &Object<'_>) {
        self.require_that(|| object.has_no_twins());
    }

    /// Requires that `object` has only members of these names, each at most once.
    #[inline(never)]
    pub(crate) fn require_only(&mut self, object: &Object<'_>, names: &[&str]) {
        self.require_that(|| object.has_only(names));
    }

    /// Requires that the string of this name, if present, equals `wanted`.
    #[inline(never)]
    pub(crate) fn require_if_present(&mut self, object: &Object<'_>, name: &str, wanted: &str) {
        self.require_that(|| object.says(name).is_none() || object.is(name, wanted));
    }

    /// Emits the model and the usage.
    #[inline(never)]
    pub(crate) fn envelope(&mut self, object: &Object<'a>, model: &str, usage: Option<UsageReport>) {
        object.get(model).into_iter().for_each(|model| self.emit(AnswerEvent::Model(model)));
        usage.into_iter().for_each(|usage| self.emit(AnswerEvent::Usage(usage)));
    }

    /// Emits the id by which a later request may name the answer.
    pub(crate) fn id(&mut self, object: &Object<'a>) {
        object.get("id").into_iter().for_each(|id| self.emit(AnswerEvent::Id(id)));
    }

    /// Emits the text of this name as a piece of `block`.
    #[inline(never)]
    pub(crate) fn text(&mut self, object: &Object<'a>, name: &str, block: Block) {
        match object.get(name) {
            Some(text) if text.is_string() => {
                self.emit(AnswerEvent::Text(Piece { block, text, is_all: false, is_alternative: false }));
            }
            other => self.require(other.is_none()),
        }
    }

    /// The decoded string of this name, or an empty string.
    #[inline(never)]
    pub(crate) fn string(&mut self, object: &Object<'a>, name: &str) -> Cow<'a, str> {
        let Some(raw) = object.get(name) else { return Cow::Borrowed("") };
        json::string(raw).unwrap_or_else(|| {
            self.emit(AnswerEvent::Other);
            json::lossy(raw).unwrap_or_default()
        })
    }

    /// The arguments of a call, which must be an object. An empty object if there are none.
    #[inline(never)]
    pub(crate) fn arguments(&mut self, object: &Object<'a>, name: &str) -> Cow<'a, str> {
        let given = object.present(name);
        self.require(given.is_none_or(Raw::is_object));
        Cow::Borrowed(given.filter(|given| !given.is_null()).map_or("{}", Raw::get))
    }

    /// Requires a call id that starts with `before`, as the provider's own ids do. Ids of another form may follow rules
    /// of their own (Mistral accepts only nine letters and digits), and the provider would refuse an id of ours.
    #[inline(never)]
    pub(crate) fn require_id(&mut self, object: &Object<'_>, name: &str, before: &str) {
        self.require_that(|| object.word(name).strip_prefix(before).is_some_and(|rest| !rest.is_empty()));
    }

    /// Requires a call by the model itself and not by a program that it wrote.
    #[inline(never)]
    pub(crate) fn require_direct_call(&mut self, object: &Object<'_>) {
        if self.is_strict && object.says("caller").is_some() {
            let caller = object.object("caller");
            self.require_only(&caller, &["type"]);
            self.require(caller.is("type", "direct"));
        }
    }

    /// The object of this name. Requires that it is an object in which no name occurs twice.
    #[inline(never)]
    pub(crate) fn object(&mut self, object: &Object<'a>, name: &str) -> Object<'a> {
        let raw = object.get(name);
        self.require(raw.is_none_or(Raw::is_object));
        let inner = raw.map(Object::of).unwrap_or_default();
        self.require_unique_names(&inner);
        inner
    }

    /// The elements of the list of this name. Requires that it is a list of objects.
    #[inline(never)]
    pub(crate) fn list(&mut self, object: &Object<'a>, name: &str) -> Vec<Object<'a>> {
        let list = object.get(name);
        self.require(list.is_none_or(Raw::is_list));
        let mut objects = Vec::new();
        let mut elements = list.map(Raw::elements);
        while let Some(inner) = elements.as_mut().and_then(Elements::next_object) {
            self.require(inner.is_some());
            let inner = inner.unwrap_or_default();
            self.require_unique_names(&inner);
            objects.push(inner);
        }
        objects
    }
}

/// The object `like` without the members `names`, and with `member` in front.
pub(crate) fn with_other(like: &str, names: &[&str], member: &str) -> Option<String> {
    let mut object = format!("{{{member}");
    for (key, value) in Raw::read(like).ok()?.members() {
        if !names.iter().any(|name| key.is(name)) {
            object.extend([",", &json::quoted(&key.text()), ":", value.get()]);
        }
    }
    object.push('}');
    Some(object)
}
