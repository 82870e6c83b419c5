//! Whether an answer can be given again: it is told by a text, calls of the client's own functions, a model and a usage; it is
//! complete, ended in good order, and holds nothing that these do not say. What is not known to be harmless counts as
//! something else; that a model thought, without a word of what, is harmless beside a text. Looked at only where somebody wants
//! to give the answer again.

use crate::{json, object::unique};

/// Why an answer is not to be given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRepeatable {
    /// It did not come to its end in good order.
    Incomplete,
    /// It holds something else: calls where none are wanted, a refusal, thinking, an error, a member that nobody knows.
    Other,
    TooLong,
}

/// What a provider says at once.
#[derive(Clone, Copy, Debug)]
pub enum Said<'a> {
    /// A whole JSON answer.
    Whole(&'a str),
    /// One event of a stream. `kind` is the event's type where the framing has one, else empty.
    Event { kind: &'a str, json: &'a str },
}

/// Which answers are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Bytes that text, names and arguments may have.
    pub most: usize,
    /// Also those with calls.
    pub with_calls: bool,
}

/// What an answer says: a text, and behind it calls. At least one of them is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub text: String,
    pub calls: Vec<FunctionCall>,
}

/// A call of a function that the client offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    pub name: String,
    /// A JSON object, as the model wrote it.
    pub arguments: String,
}

impl FunctionCall {
    /// Whether it has a name, and its arguments are an object in which no name stands twice. What lies deeper is not looked at.
    pub fn is_sound(&self) -> bool {
        !self.name.is_empty() && json::read(&self.arguments).is_ok_and(|raw| unique(raw).is_some())
    }
}

/// The content of an answer, as long as it is nothing but that.
#[derive(Debug)]
pub struct Repeatable {
    content: Content,
    wanted: Wanted,
    /// Bytes so far.
    length: usize,
    /// Where the call stands in the answer whose arguments are coming.
    open: Option<u64>,
    stage: Stage,
    /// A part of the answer that holds text has begun.
    has_begun: bool,
    /// The model has thought.
    has_thought: bool,
    fault: Option<NotRepeatable>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// The model has finished; the event that closes the stream is still to come.
    Finished,
    /// The model has finished; what closes the stream is the end of the body.
    Closing,
    Ended,
}

/// More calls than models make at once.
const MAX_CALLS: usize = 128;

// Asked for by every dialect: what is copied into each makes the module large.
impl Repeatable {
    pub(crate) fn new(wanted: Wanted) -> Self {
        Self {
            content: Content::default(),
            wanted,
            length: 0,
            open: None,
            stage: Stage::Open,
            has_begun: false,
            has_thought: false,
            fault: None,
        }
    }

    /// Nothing seen yet, for the same answer told once more.
    pub(crate) fn anew(&self) -> Self {
        Self::new(self.wanted)
    }

    /// Notes what a look at a part of the answer gave.
    #[inline(never)]
    pub(crate) fn note(&mut self, seen: Option<()>) {
        if seen.is_none() {
            self.break_off(NotRepeatable::Other);
        }
    }

    pub(crate) fn break_off(&mut self, why: NotRepeatable) {
        self.fault.get_or_insert(why);
        self.content = Content::default();
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.fault.is_some()
    }

    pub(crate) fn takes_calls(&self) -> bool {
        self.wanted.with_calls
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// The only part that holds text begins; nothing where one has.
    pub(crate) fn begin(&mut self) -> Option<()> {
        (!std::mem::replace(&mut self.has_begun, true)).then_some(())
    }

    /// The model has thought, and does not say what. Beside calls the provider may want to have it back.
    pub(crate) fn think(&mut self) -> Option<()> {
        self.has_thought = true;
        Some(())
    }

    /// More of the text; nothing where none may come any more.
    #[inline(never)]
    pub(crate) fn push(&mut self, text: &str) -> Option<()> {
        if (self.stage != Stage::Open || !self.content.calls.is_empty()) && !text.is_empty() {
            return None;
        }
        if self.grow(text.len()) {
            self.content.text.push_str(text);
        }
        Some(())
    }

    /// Whether so many bytes more are not too many.
    fn grow(&mut self, bytes: usize) -> bool {
        self.length = self.length.saturating_add(bytes);
        let fits = self.length <= self.wanted.most;
        if !fits {
            self.break_off(NotRepeatable::TooLong);
        }
        fits
    }

    /// A whole call.
    #[inline(never)]
    pub(crate) fn call(&mut self, name: &str, arguments: &str) -> Option<()> {
        self.begin_call(0, name)?;
        self.arguments(0, arguments)?;
        self.end_call(0, "")
    }

    /// A call begins, at this place of the answer; nothing where none may come.
    #[inline(never)]
    pub(crate) fn begin_call(&mut self, at: u64, name: &str) -> Option<()> {
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

    /// More arguments of the call that has begun there.
    #[inline(never)]
    pub(crate) fn arguments(&mut self, at: u64, piece: &str) -> Option<()> {
        if self.open != Some(at) {
            return None;
        }
        if self.grow(piece.len()) {
            self.content.calls.last_mut()?.arguments.push_str(piece);
        }
        Some(())
    }

    /// Whether a call has begun that has not ended.
    pub(crate) fn is_calling(&self) -> bool {
        self.open.is_some()
    }

    /// The call that has begun there is whole. `empty`: its arguments if none came.
    #[inline(never)]
    pub(crate) fn end_call(&mut self, at: u64, empty: &str) -> Option<()> {
        if self.open.take() != Some(at) {
            return None;
        }
        let call = self.content.calls.last_mut()?;
        if call.arguments.is_empty() {
            call.arguments.push_str(empty);
        }
        call.is_sound().then_some(())
    }

    /// The call that has begun is whole, if one has.
    #[inline(never)]
    pub(crate) fn close_call(&mut self) -> Option<()> {
        self.open.map_or(Some(()), |at| self.end_call(at, ""))
    }

    /// Whether the model has ended in order to have functions called, as it says itself; nothing where it ended otherwise.
    #[inline(never)]
    pub(crate) fn ended_to_call(&self, reason: &str, [done, calling]: [&str; 2]) -> Option<bool> {
        let is_calling = self.wanted.with_calls && reason == calling;
        (is_calling || reason == done).then_some(is_calling)
    }

    /// The model has finished, in good order; an event that says that nothing more comes must follow. `to_call`: it says that
    /// functions are to be called.
    #[inline(never)]
    pub(crate) fn finish(&mut self, to_call: bool) -> Option<()> {
        (to_call != self.content.calls.is_empty()).then_some(())?;
        self.go(Stage::Open, Stage::Finished)
    }

    /// The model has finished, in good order; only the end of the body says that nothing more comes.
    #[inline(never)]
    pub(crate) fn finish_with_body(&mut self) -> Option<()> {
        self.go(Stage::Open, Stage::Closing)
    }

    /// Nothing more comes.
    #[inline(never)]
    pub(crate) fn end(&mut self) -> Option<()> {
        self.go(Stage::Finished, Stage::Ended)
    }

    fn go(&mut self, from: Stage, to: Stage) -> Option<()> {
        (self.stage == from && self.open.is_none()).then(|| self.stage = to)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// The content, once the body is over or nothing more can come.
    #[inline(never)]
    pub(crate) fn into_content(self) -> Result<Content, NotRepeatable> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if !matches!(self.stage, Stage::Ended | Stage::Closing) {
            return Err(NotRepeatable::Incomplete);
        }
        let Content { text, calls } = &self.content;
        // A model that says nothing may say something when it is asked again.
        let is_other = if calls.is_empty() { text.trim().is_empty() } else { self.has_thought };
        if is_other { Err(NotRepeatable::Other) } else { Ok(self.content) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(most: usize, with_calls: bool) -> Repeatable {
        Repeatable::new(Wanted { most, with_calls })
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
            said.think().unwrap();
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
