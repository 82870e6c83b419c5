//! A call with its result. The result is judged once, when somebody asks. Most steps of a healthy run differ in the call or in
//! the first letters of the result, and then nothing more is needed.

use sentinel_llm_api::json::{self, Raw};

use super::{
    Kind,
    beginning::{beginning, may_be_wrapped},
    call::{CallResult, Meaning, StepCall, Tool, UnreadResult, Written, judged},
    explicit,
    judge::{Facts, MAX_FAILURE},
    memo::{Finding, Key},
    residue::{self, Residue},
    volatile,
};

/// Stands for the kind of a tool's results if the operator gave none. No kind has this number.
const NOT_TOLD: u8 = 0x3F;

/// A call with its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnsweredCall<'s, 'a> {
    pub call: &'s StepCall<'a>,
    pub result: &'s CallResult<'a>,
    pub tool: &'s Tool,
}

impl AnsweredCall<'_, '_> {
    pub fn facts(&self) -> Facts {
        match self.result {
            CallResult::Judged(facts) => *facts,
            CallResult::Unread(result) => self.find(
                result,
                |found| &mut found.facts,
                || {
                    let (said, is_error) = result.said();
                    judged(said, is_error, &self.call.meaning, &self.tool.shown).facts(self.tool.rule.kind)
                },
            ),
        }
    }

    /// A finding about the result: from an earlier request or from this one, or else what `find` finds.
    fn find<T: Copy>(&self, result: &UnreadResult<'_>, finding: Finding<T>, find: impl FnOnce() -> T) -> T {
        let Some((memo, key)) = result.memo.zip(*result.key.get_or_init(|| self.key(result))) else {
            return find();
        };
        memo.get(key, finding).unwrap_or_else(|| {
            let value = find();
            memo.set(key, finding, value);
            value
        })
    }

    /// All that a finding depends on. `None` if there is no memory, or if the words of the call are not known.
    fn key(&self, result: &UnreadResult<'_>) -> Option<Key> {
        let memo = result.memo?;
        let Meaning::Written(Written { name, arguments, .. }) = &self.call.meaning else { return None };
        let said = result.content.map_or_else(|| result.text(), Raw::get);
        let told = self.tool.rule.kind.map_or(NOT_TOLD, |kind| kind as u8);
        // A text was already taken out of its wrapper, which may have said that it is an error.
        let is_error = if result.content.is_some() { result.is_error } else { result.said().1 };
        let sort = (told << 2) | (u8::from(result.content.is_some()) << 1) | u8::from(is_error);
        Some(memo.key([name, arguments, said], sort))
    }

    /// Whether only an identical text can have the same outcome, because this one is compared unchanged.
    pub fn is_apart(&self) -> bool {
        let CallResult::Unread(result) = self.result else { return false };
        let is_apart = || {
            let (said, is_error) = result.said();
            let text = said.trim();
            let is_failure = || match self.tool.rule.kind {
                Some(kind) => kind == Kind::Failure,
                None => is_error || explicit::may_be_failure(text) && explicit::is_failure(said),
            };
            (text.len() > MAX_FAILURE || !is_failure()) && !volatile::may_be_settled(text)
        };
        self.find(result, |found| &mut found.is_apart, is_apart)
    }

    /// Digest of the beginning of the text that `alike` digests.
    pub fn beginning_alike(&self) -> u64 {
        match self.result {
            CallResult::Judged(facts) => facts.outcome,
            CallResult::Unread(result) => self.find(
                result,
                |found| &mut found.beginning_alike,
                || volatile::beginning(result.text().trim()),
            ),
        }
    }

    /// Digest of the text without what is volatile by its shape, its numbers kept.
    pub fn alike(&self) -> u64 {
        match self.result {
            CallResult::Judged(facts) => facts.outcome,
            CallResult::Unread(result) => self.find(
                result,
                |found| &mut found.alike,
                || {
                    let text = result.text().trim();
                    if text.len() > MAX_FAILURE {
                        self.facts().outcome
                    } else {
                        volatile::settled(text).exact
                    }
                },
            ),
        }
    }

    pub fn residue(&self) -> Option<Residue> {
        match self.result {
            CallResult::Judged(facts) => {
                let is_nothing = matches!(facts.kind, Kind::Failure | Kind::Empty);
                Some(Residue { digest: facts.outcome, is_nothing })
            }
            CallResult::Unread(result) => self.find(
                result,
                |found| &mut found.residue,
                || residue::of(result.text(), self.call.meaning.arguments(), self.facts().kind),
            ),
        }
    }

    pub fn text(&self) -> Option<&str> {
        self.result.text()
    }

    /// Digest of the beginning of the result's text. `None` if it is not known.
    pub fn beginning(&self) -> Option<u64> {
        let CallResult::Unread(result) = self.result else { return None };
        self.find(
            result,
            |found| &mut found.beginning,
            || match (result.is_read(), result.content) {
                (false, Some(content))
                    if content.get().starts_with('"') && !may_be_wrapped(content.get()) =>
                {
                    beginning(json::chars(content)?)
                }
                _ => beginning(result.text().chars().map(Some)),
            },
        )
    }
}
