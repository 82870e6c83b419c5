//! The order in which a result is judged, and by what it is compared. The form of the result decides first. Words only protect a
//! result: they say that it waits, is empty or merely acknowledges.

use std::{borrow::Cow, cell::OnceCell};

use sentinel_text::{digest, words};
use serde::{Deserialize, Serialize};

use super::{
    Kind, MAX_RESULT, Purpose, Weight, acknowledging, explicit,
    first_words::{ACKNOWLEDGEMENT_WORDS, FirstWords, SHORT_WORDS, is_nothing_new, says_no_output},
    known::is_one_of,
    numbers::Numbers,
    phrases::{self, Says},
    plain, states,
    structure::Structure,
    volatile, waiting,
    weight::TELLING_WORDS,
};
use crate::words::{english, programs};

/// Failures are compared without what is volatile up to this size (bytes): a traceback, the output of a test run.
pub(super) const MAX_FAILURE: usize = 16_384;

/// A result without its wrappers, and what is known of its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedResult<'a> {
    pub said: &'a str,
    pub purpose: Purpose,
    /// How much the call says.
    pub weight: Weight,
    /// The client or a wrapper says that it is an error. If neither does, it may still be one.
    pub is_error: bool,
    /// The tool's name and the arguments, where they are known.
    pub call: [&'a str; 2],
}

/// What is known of a result, or of all results of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Facts {
    pub kind: Kind,
    pub weight: Weight,
    /// What it is compared by. For an explicit failure, without the numbers.
    pub outcome: u64,
    /// The numbers of an explicit failure. Empty for any other result.
    pub numbers: Numbers,
}

/// Whether a user's text that answers an agent proves nothing when it comes again: "yes", "still running".
pub(crate) fn is_weak_answer(text: &str) -> bool {
    // A long text is a failure or tells something: it proves as much as it says.
    if text.trim().len() > MAX_RESULT {
        return false;
    }
    let judged = JudgedResult {
        said: text,
        purpose: Purpose::Any,
        weight: Weight::Full,
        is_error: false,
        call: [""; 2],
    };
    matches!(judged.kind(), Kind::Acknowledgement | Kind::Empty | Kind::Waiting)
}

/// An explicit failure without what differs from time to time; any other text as it stands.
pub(crate) fn without_volatile(text: &str) -> Cow<'_, str> {
    let is_failure = text.len() <= MAX_RESULT && explicit::is_failure(text);
    if is_failure { Cow::Owned(volatile::without(text)) } else { Cow::Borrowed(text) }
}

impl<'a> JudgedResult<'a> {
    /// `told`: the kind that the operator gives for the results of the tool.
    pub fn facts(self, told: Option<Kind>) -> Facts {
        let text = self.said.trim();
        let kind = told.unwrap_or_else(|| self.kind());
        let is_told = matches!(told, Some(Kind::Content | Kind::Failure));
        let weight = if is_told || kind == Kind::Failure {
            Weight::Full
        } else if kind == Kind::Content {
            self.weight.with_outcome(&self.plain())
        } else {
            self.weight.with_outcome("")
        };
        // A failure that may pass by itself has at most the weight of one token.
        let weight = if !is_told && states::may_pass(text) { weight.min(Weight::Token) } else { weight };
        // A call that takes the next item (`next`, `pop`) fails for another item each time, so its failures are compared as they stand.
        let may_be_settled = kind == Kind::Failure && self.purpose != Purpose::MoveOn;
        if may_be_settled && text.len() <= MAX_FAILURE {
            let settled = volatile::settled(text);
            return Facts { kind, weight, outcome: settled.digest, numbers: settled.numbers };
        }
        Facts { kind, weight, outcome: digest(text.as_bytes()), numbers: Numbers::default() }
    }

    /// The text without tags and labels.
    fn plain(&self) -> Cow<'a, str> {
        if self.said.len() <= MAX_RESULT { plain::of(self.said) } else { Cow::Borrowed(self.said) }
    }

    pub fn kind(self) -> Kind {
        let (first, structure, words) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let looked = ResultParts { plain: self.plain(), judged: self, first, structure, words };
        ORDER.iter().find(|row| (row.is_it)(&looked)).map_or(Kind::Content, |row| row.kind)
    }
}

/// One row of the order of judging.
#[cfg_attr(not(test), allow(dead_code, reason = "`when` is for the page, which a test writes"))]
pub(super) struct Row {
    /// What it is about, as the page says it.
    pub when: &'static str,
    pub kind: Kind,
    is_it: fn(&ResultParts<'_>) -> bool,
}

/// The order in which a result is judged: the first line that fits counts. What the operator says in `steps.tools` goes before all of it.
/// `docs/how-it-decides.md` has the same table; a test writes it there.
pub(super) const ORDER: [Row; 9] = [
    Row {
        when: "the call lets time pass: `sleep`, `wait`, `poll`, `watch`",
        kind: Kind::Waiting,
        is_it: |it| it.judged.purpose == Purpose::Wait,
    },
    Row {
        when: "the code of a JSON error says that something is still to come: `authorization_pending`, `slow_down`",
        kind: Kind::Waiting,
        is_it: |it| it.structure().is_some_and(Structure::fails_for_now),
    },
    Row {
        when: "the result is an explicit failure: see below",
        kind: Kind::Failure,
        is_it: |it| it.judged.is_error || explicit::is_failure(it.judged.said),
    },
    Row {
        when: "its words say that something is still to come: \"running\", \"pending\", `{\"state\": \"kneading\"}`",
        kind: Kind::Waiting,
        is_it: |it| waiting::is_waiting(&it.plain, it.first().count, || it.structure()),
    },
    Row {
        when: "the call asks how something stands: `get_job_status`, `kubectl get`",
        kind: Kind::Waiting,
        is_it: |it| it.judged.purpose == Purpose::AskState,
    },
    Row {
        when: "nothing is in it: `[]`, `{\"items\": []}`, `null`, \"no new messages\"",
        kind: Kind::Empty,
        is_it: |it| it.by_words() == Kind::Empty,
    },
    Row {
        when: "it merely says that something was done: \"ok\", \"Clicked.\", \"Photo taken.\" to `take_photo`, no text at all",
        kind: Kind::Acknowledgement,
        is_it: |it| {
            it.by_words() == Kind::Acknowledgement
                || acknowledging::echoes(&it.plain, it.first().count, it.judged.call)
        },
    },
    Row {
        when: "the call moves something on (`press`, `scroll`, `next`, `./take_next.sh`, `env.step(1)`, a debugger's `continue`), and the result says little beside the words of the call",
        kind: Kind::Acknowledgement,
        is_it: |it| {
            /// A receipt of two or three sentences: "Frame rendered: no missing textures. Memory released."
            const RECEIPT_WORDS: usize = 24;
            if it.judged.purpose != Purpose::MoveOn {
                return false;
            }
            // Only tools that move on by their name give receipts. The output of a command is none.
            let [name, _] = it.judged.call;
            let moves_by_name = Purpose::of(name, "") == Purpose::MoveOn;
            let most = if moves_by_name { RECEIPT_WORDS } else { TELLING_WORDS };
            acknowledging::tells_little(&it.plain, it.judged.call, most)
        },
    },
    Row { when: "anything else", kind: Kind::Content, is_it: |_| true },
];

/// A result while it is judged. Each part of it is read once, when a row asks for it.
struct ResultParts<'a> {
    judged: JudgedResult<'a>,
    plain: Cow<'a, str>,
    first: OnceCell<FirstWords>,
    structure: OnceCell<Option<Structure>>,
    words: OnceCell<Kind>,
}

impl ResultParts<'_> {
    fn first(&self) -> &FirstWords {
        self.first.get_or_init(|| FirstWords::of(&self.plain))
    }

    fn structure(&self) -> Option<&Structure> {
        self.structure.get_or_init(|| Structure::of(self.plain.trim())).as_ref()
    }

    fn by_words(&self) -> Kind {
        *self.words.get_or_init(|| {
            by_words(&self.plain, self.first(), || self.structure().and_then(Structure::kind))
        })
    }
}

/// The kind of a short text by its words. A long text is content, whatever it says.
fn by_words(said: &str, first: &FirstWords, by_structure: impl FnOnce() -> Option<Kind>) -> Kind {
    if said.len() > MAX_RESULT {
        return Kind::Content;
    }
    let trimmed = said.trim();
    if trimmed.is_empty() {
        return Kind::Acknowledgement;
    }
    if let Some(kind) = by_structure() {
        return kind;
    }
    let is_json = trimmed.starts_with(['{', '[']);
    match first.count {
        0 if trimmed.contains(['✅', '✓', '✔', '👍', '👌']) => Kind::Acknowledgement,
        0 => Kind::Empty,
        // MySQL says that rows were changed, whatever follows.
        _ if trimmed.starts_with("Query OK, ") && !trimmed.contains('\n') => Kind::Acknowledgement,
        // A state in one word. It may stay the same for long.
        1 if is_one_of(trimmed, english::OFF) => Kind::Empty,
        1 if programs::NOTHING.contains(&trimmed) => Kind::Empty,
        // "[silence]", "(no answer)": nobody said anything.
        1..=3 if is_stage_direction(trimmed) => Kind::Acknowledgement,
        1..=ACKNOWLEDGEMENT_WORDS if says_no_output(trimmed) => Kind::Acknowledgement,
        1..=ACKNOWLEDGEMENT_WORDS if first.is_none && is_nothing_new(trimmed) => Kind::Empty,
        1..=ACKNOWLEDGEMENT_WORDS if is_nothing_new(trimmed) && first.is_short_empty => Kind::Empty,
        1..=SHORT_WORDS if phrases::says(trimmed, Says::NothingNew) => Kind::Empty,
        1..=ACKNOWLEDGEMENT_WORDS if !is_json && acknowledging::says_so(trimmed, first.count) => {
            Kind::Acknowledgement
        }
        1..=SHORT_WORDS if !is_json && acknowledging::begins_so(trimmed) => Kind::Acknowledgement,
        _ => Kind::Content,
    }
}

/// A few words in brackets, which no one has said: "[silence]".
fn is_stage_direction(text: &str) -> bool {
    let is_in = |open: char, close: char| text.starts_with(open) && text.ends_with(close);
    (is_in('[', ']') || is_in('(', ')') || is_in('<', '>') || is_in('*', '*'))
        && words(text).any(|word| is_one_of(word, english::STAGE_DIRECTIONS))
}

/// The beginning of a result and its digest. Nothing else of it is needed once its call is known.
pub(crate) fn keep(said: &str) -> Cow<'_, str> {
    if said.len() <= MAX_RESULT {
        return Cow::Borrowed(said);
    }
    let beginning = said.get(..said.floor_char_boundary(MAX_RESULT)).unwrap_or_default();
    Cow::Owned(format!("{beginning} {:016x}", digest(said.as_bytes())))
}

#[cfg(test)]
mod tests;
