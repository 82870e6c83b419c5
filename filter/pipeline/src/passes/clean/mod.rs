//! Clean: what models leave in their texts that is not meant for a reader does not reach the agent. In a stream, everything but
//! text passes at once. Text waits only if something that must be removed may have begun.

mod texts;

use strum::VariantArray;

use crate::clean_text::{Removal, is_no_reply};
use sentinel_llm_api::{answer::Answer, dialect::DialectRef, framing::rewrite::Rewriter};

use self::texts::Texts;
use super::Surroundings;
use crate::{
    bypass::Bypass,
    case::AnswerCase,
    metric::{CleanKind, Metric},
    note::Note,
};
use sentinel_config::{Mode, Policy};

/// One answer.
#[derive(Debug)]
pub struct Clean {
    rewriter: Rewriter,
    texts: Texts,
    /// Whether it is enforced. In `observe`, what would be removed is only counted.
    is_enforced: bool,
    /// Bytes that came, and bytes that passed.
    came: usize,
    passed: usize,
}

impl Clean {
    /// Returns `None` when answers of this type are not cleaned. `most`: bytes that may be held.
    pub fn new(dialect: DialectRef, policy: &Policy, content_type: &[u8], most: usize) -> Option<Self> {
        let rewriter = Rewriter::new(content_type, most)?;
        let is_enforced = policy.mode == Mode::Enforce;
        Some(Self { rewriter, texts: Texts::new(dialect), is_enforced, came: 0, passed: 0 })
    }

    pub fn is_enforced(&self) -> bool {
        self.is_enforced
    }

    /// Whether all of the answer so far is being held.
    pub fn holds_all(&self) -> bool {
        self.is_enforced && self.rewriter.holds_all()
    }

    /// What passes in the place of this part of the answer. Returns `None` when the part passes as it is.
    pub fn push(&mut self, part: &[u8], is_last: bool) -> Option<Vec<u8>> {
        let passed = self.rewriter.push(part, is_last, &mut self.texts).filter(|_| self.is_enforced);
        self.came = self.came.saturating_add(part.len());
        self.passed = self.passed.saturating_add(passed.as_deref().unwrap_or(part).len());
        passed
    }

    /// The new length of an answer that came with this length. Returns `None` when it has not changed.
    pub fn length(&self, came_with: u64) -> Option<u64> {
        let length = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let changed = came_with.saturating_sub(length(self.came)).saturating_add(length(self.passed));
        (changed != came_with).then_some(changed)
    }

    /// Counts what was removed.
    fn note(&self, dialect: &'static str, notes: &mut Vec<Note>) {
        let cut = Removal::VARIANTS.iter().copied().filter(|removal| self.texts.cuts().has(*removal));
        notes
            .extend(cut.map(|removal| Note::Count(Metric::Cleaned(CleanKind::Removal(removal), dialect), 1)));
        if self.rewriter.has_given_up() || self.texts.is_partial() {
            notes.push(Note::Bypassed(Bypass::Uncleaned));
        }
    }
}

/// Records what was removed from an answer, and whether it says that there is nothing to say.
pub fn run(_: &Surroundings<'_>, case: &mut AnswerCase) {
    let (Some(clean), dialect) = (&case.clean, case.dialect.label()) else { return };
    clean.note(dialect, &mut case.notes);
    case.is_silent = case.answer.as_ref().is_some_and(is_silent);
    if case.is_silent {
        case.notes.push(Note::Count(Metric::Cleaned(CleanKind::NoReply, dialect), 1));
        case.notes.push(Note::NoReply { is_marked: case.is_held });
    }
}

/// Whether an answer says that there is nothing to say. An answer with calls does not.
fn is_silent(answer: &Answer) -> bool {
    answer.calls.is_empty() && is_no_reply(&answer.text)
}
