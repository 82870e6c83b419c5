//! Decides whether an answer can be given again. Such an answer is complete, ended normally, and consists only of a
//! text, calls of the client's own functions, a model and a usage. Anything unknown makes it unrepeatable. Hidden
//! reasoning is harmless beside a text. Answers are only checked if a caller asks for it.

use crate::{
    answer_event::{AnswerEvent, CallStart, Ending, EventSink, WholeCall},
    json::{Raw, object::Object, string},
};

/// Why an answer cannot be given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRepeatable {
    /// It did not end normally.
    Incomplete,
    /// It holds something else: unwanted calls, a refusal, reasoning, an error, an unknown member.
    Other,
    TooLong,
}

/// Which answers are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatableLimits {
    /// Most bytes of text, names and arguments together.
    pub most: usize,
    /// Whether answers with calls are wanted.
    pub with_calls: bool,
}

/// The content of an answer: a text followed by calls. At least one of them is present.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub text: String,
    pub calls: Vec<FunctionCall>,
}

/// A call of one of the client's functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    pub name: String,
    /// A JSON object, as the model wrote it.
    pub arguments: String,
}

impl FunctionCall {
    /// Whether it has a name, and its arguments are an object in which no name occurs twice. Nested objects are not
    /// checked.
    pub fn is_sound(&self) -> bool {
        !self.name.is_empty() && Object::read(&self.arguments).is_some_and(|object| object.has_no_twins())
    }
}

/// Collects the content of an answer until something makes it unrepeatable.
#[derive(Debug)]
pub struct Repeatable {
    content: Content,
    wanted: RepeatableLimits,
    /// Bytes collected so far.
    length: usize,
    /// The place of the call whose arguments are coming.
    open: Option<u64>,
    /// Places count the calls. Each call ends the one before it, and the end of the turn ends the last.
    is_counted: bool,
    stage: Stage,
    /// A part that holds text has begun.
    has_begun: bool,
    /// The model has reasoned.
    has_thought: bool,
    fault: Option<NotRepeatable>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// The turn has ended. The event that ends the stream must still come.
    Finished,
    /// The turn has ended. The end of the body ends the stream.
    Closing,
    Ended,
}

/// Models make fewer calls at once.
const MAX_CALLS: usize = 128;

// `inline(never)`: every dialect calls these functions, and inlined copies would make the module large.
impl Repeatable {
    pub(crate) fn new(wanted: RepeatableLimits) -> Self {
        Self {
            content: Content::default(),
            wanted,
            length: 0,
            open: None,
            is_counted: false,
            stage: Stage::Open,
            has_begun: false,
            has_thought: false,
            fault: None,
        }
    }

    /// Takes one event of the answer. After a fault, events are ignored.
    #[inline(never)]
    pub(crate) fn on_event(&mut self, event: &AnswerEvent<'_>) {
        if self.fault.is_none() && self.take(event).is_none() {
            self.break_off(NotRepeatable::Other);
        }
    }

    fn take(&mut self, event: &AnswerEvent<'_>) -> Option<()> {
        match event {
            AnswerEvent::TextStart => self.begin(),
            AnswerEvent::Text(piece) => self.push(&string(piece.text)?),
            AnswerEvent::HiddenReasoning => {
                self.has_thought = true;
                Some(())
            }
            AnswerEvent::Call(WholeCall { name, arguments, .. }) => self.call(plain(*name)?, arguments),
            AnswerEvent::CallStart(CallStart { at, name, is_counted, .. }) => {
                self.is_counted = *is_counted;
                if *is_counted {
                    self.close_call()?;
                    (usize::try_from(*at) == Ok(self.content.calls.len())).then_some(())?;
                }
                self.begin_call(*at, plain(*name)?)
            }
            AnswerEvent::Arguments { at, text } => self.arguments(*at, text),
            AnswerEvent::PartEnd { at, .. } if self.open.is_some() => self.end_call(*at, "{}"),
            AnswerEvent::PartEnd { at, is_first } => (*at == 0 || !is_first).then_some(()),
            AnswerEvent::Finished(ending) => self.finished(*ending),
            AnswerEvent::End => self.end(),
            AnswerEvent::Repeated(again) => {
                let mut other = Self::new(self.wanted);
                (again.read)(
                    &Object::of(again.whole),
                    &mut EventSink::strict(&mut |event| other.on_event(&event)),
                );
                (other.fault.is_none() && other.content == self.content).then_some(())
            }
            AnswerEvent::Other => None,
            AnswerEvent::Id(_)
            | AnswerEvent::Model(_)
            | AnswerEvent::Usage(_)
            | AnswerEvent::WholeText(_)
            | AnswerEvent::TextEnd(_) => Some(()),
        }
    }

    fn finished(&mut self, ending: Ending) -> Option<()> {
        if self.is_counted {
            self.close_call()?;
        }
        let has_calls = !self.content.calls.is_empty();
        match ending {
            Ending::Done => self.finish(false),
            Ending::ToCall => self.finish(true),
            Ending::Either => self.finish(has_calls),
            Ending::WithBody => self.go(Stage::Open, Stage::Closing),
        }
    }

    pub(crate) fn break_off(&mut self, why: NotRepeatable) {
        self.fault.get_or_insert(why);
        self.content = Content::default();
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.fault.is_some()
    }

    /// Begins the only part that holds text. Returns `None` when one has begun before.
    fn begin(&mut self) -> Option<()> {
        (!std::mem::replace(&mut self.has_begun, true)).then_some(())
    }

    /// Adds text. Returns `None` when none may come here.
    #[inline(never)]
    fn push(&mut self, text: &str) -> Option<()> {
        if (self.stage != Stage::Open || !self.content.calls.is_empty()) && !text.is_empty() {
            return None;
        }
        if self.grow(text.len()) {
            self.content.text.push_str(text);
        }
        Some(())
    }

    /// Counts more bytes. Returns whether they still fit.
    fn grow(&mut self, bytes: usize) -> bool {
        self.length = self.length.saturating_add(bytes);
        let fits = self.length <= self.wanted.most;
        if !fits {
            self.break_off(NotRepeatable::TooLong);
        }
        fits
    }

    /// Adds a whole call.
    #[inline(never)]
    fn call(&mut self, name: &str, arguments: &str) -> Option<()> {
        self.begin_call(0, name)?;
        self.arguments(0, arguments)?;
        self.end_call(0, "")
    }

    /// Begins a call at this place of the answer. Returns `None` when none may come here.
    #[inline(never)]
    fn begin_call(&mut self, at: u64, name: &str) -> Option<()> {
        let calls = &self.content.calls;
        let may = self.wanted.with_calls && self.stage == Stage::Open && calls.len() < MAX_CALLS;
        if !may || self.open.is_some() {
            return None;
        }
        if self.grow(name.len()) {
            self.content.calls.push(FunctionCall { name: name.to_owned(), arguments: String::new() });
            self.open = Some(at);
        }
        Some(())
    }

    /// Adds arguments to the call that began at this place.
    #[inline(never)]
    fn arguments(&mut self, at: u64, piece: &str) -> Option<()> {
        if self.open != Some(at) {
            return None;
        }
        if self.grow(piece.len()) {
            self.content.calls.last_mut()?.arguments.push_str(piece);
        }
        Some(())
    }

    /// Ends the call that began at this place. `empty` becomes its arguments if none came.
    #[inline(never)]
    fn end_call(&mut self, at: u64, empty: &str) -> Option<()> {
        if self.open.take() != Some(at) {
            return None;
        }
        let call = self.content.calls.last_mut()?;
        if call.arguments.is_empty() {
            call.arguments.push_str(empty);
        }
        call.is_sound().then_some(())
    }

    /// Ends the open call, if there is one.
    #[inline(never)]
    fn close_call(&mut self) -> Option<()> {
        self.open.map_or(Some(()), |at| self.end_call(at, ""))
    }

    /// The turn has ended normally, and an event that ends the stream must follow. `to_call`: the provider says that
    /// the turn ended to have functions called.
    #[inline(never)]
    fn finish(&mut self, to_call: bool) -> Option<()> {
        (to_call != self.content.calls.is_empty()).then_some(())?;
        self.go(Stage::Open, Stage::Finished)
    }

    /// The answer has ended.
    #[inline(never)]
    fn end(&mut self) -> Option<()> {
        if self.stage == Stage::Ended {
            return Some(());
        }
        self.go(Stage::Finished, Stage::Ended)
    }

    fn go(&mut self, from: Stage, to: Stage) -> Option<()> {
        (self.stage == from && self.open.is_none()).then(|| self.stage = to)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// The content, once the body or the answer has ended.
    #[inline(never)]
    pub(crate) fn into_content(self) -> Result<Content, NotRepeatable> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if !matches!(self.stage, Stage::Ended | Stage::Closing) {
            return Err(NotRepeatable::Incomplete);
        }
        let Content { text, calls } = &self.content;
        // A model that said nothing may say something when it is asked again.
        let is_other = if calls.is_empty() { text.trim().is_empty() } else { self.has_thought };
        if is_other { Err(NotRepeatable::Other) } else { Ok(self.content) }
    }
}

/// A function's name. These never have escapes.
fn plain(name: Option<Raw<'_>>) -> Option<&str> {
    name.and_then(Raw::inside).filter(|name| !name.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(most: usize, with_calls: bool) -> Repeatable {
        Repeatable::new(RepeatableLimits { most, with_calls })
    }

    #[test]
    fn a_text_counts_once_it_is_whole() {
        let mut text = of(4, false);
        text.push("abc").unwrap();
        assert_eq!(of(4, false).into_content(), Err(NotRepeatable::Incomplete));
        assert!(text.begin_call(0, "f").is_none() && text.finish(true).is_none());
        text.finish(false).unwrap();
        assert!(text.push("d").is_none() && text.finish(false).is_none());
        text.end().unwrap();
        assert_eq!(text.into_content(), Ok(Content { text: "abc".to_owned(), calls: vec![] }));
        let mut long = of(4, false);
        long.push("abcde").unwrap();
        assert_eq!(long.into_content(), Err(NotRepeatable::TooLong));
    }

    #[test]
    fn a_call_counts_once_it_is_whole() {
        let mut said = of(20, true);
        said.push("ab").unwrap();
        said.begin_call(3, "f").unwrap();
        assert!(said.begin_call(4, "g").is_none() && said.arguments(4, "{").is_none());
        said.arguments(3, r#"{"a":"#).unwrap();
        said.arguments(3, "1}").unwrap();
        assert!(said.finish(true).is_none(), "it is not whole");
        said.end_call(3, "{}").unwrap();
        assert!(said.push("c").is_none() && said.finish(false).is_none());
        said.call("g", "{}").unwrap();
        said.finish(true).unwrap();
        assert!(said.call("h", "{}").is_none());
        said.end().unwrap();
        let content = said.into_content().unwrap();
        let calls: Vec<_> =
            content.calls.iter().map(|call| format!("{}{}", call.name, call.arguments)).collect();
        assert_eq!((content.text.as_str(), calls), ("ab", vec![r#"f{"a":1}"#.to_owned(), "g{}".to_owned()]));
    }

    #[test]
    fn a_call_that_cannot_be_made_is_none() {
        for (name, arguments) in
            [("", "{}"), ("f", ""), ("f", "[1]"), ("f", r#"{"a":"#), ("f", r#"{"a":1,"a":2}"#)]
        {
            assert!(of(99, true).call(name, arguments).is_none(), "{name}{arguments}");
        }
        let mut long = of(4, true);
        assert!(long.call("f", r#"{"a":1}"#).is_none());
        assert_eq!(long.into_content(), Err(NotRepeatable::TooLong));
        let mut many = of(9_999, true);
        (0..MAX_CALLS).for_each(|_| many.call("f", "{}").unwrap());
        assert!(many.call("f", "{}").is_none());
    }

    #[test]
    fn thoughts_are_harmless_beside_a_text_alone() {
        let said = |calls: bool| {
            let mut said = of(99, true);
            said.take(&AnswerEvent::HiddenReasoning).unwrap();
            if calls {
                said.call("f", "{}").unwrap()
            } else {
                said.push("a").unwrap()
            }
            said.finish(calls).unwrap();
            said.end().unwrap();
            said.into_content().is_ok()
        };
        assert!(said(false) && !said(true));
    }
}
