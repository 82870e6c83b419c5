//! Follows how a history grew, request by request. After a request that changes what is dropped and cut, the next nine change
//! nothing. A later request comes to the same decisions for the same beginning, so the provider's prompt cache of it stays valid.

use sentinel_llm_api::{
    conversation::Role,
    outline::{Changes, Cut, MeasuredTexts, Outline},
};

use super::{CLEARED, TRIMMED, truncation::Truncated};
use sentinel_config::price::BYTES_A_TOKEN;
use sentinel_config::{BoundsPolicy, PruningPolicy};

/// A request that moves a cut is followed by the next such request after this many at the earliest.
const BLOCK: usize = 10;

/// What becomes of an old result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldResult {
    Whole,
    Trimmed,
    Cleared,
}

/// A result that is old enough to be cut.
pub struct Old<'a> {
    pub entry: usize,
    pub number: usize,
    pub state: OldResult,
    /// `None` if it holds no text.
    pub texts: Option<MeasuredTexts<'a>>,
    /// Bytes that the cut saves.
    pub saved: usize,
    /// Bytes of its content as it is sent now.
    bytes: usize,
    can_be_cleared: bool,
    /// Characters before it was cleared.
    characters: usize,
}

/// The decisions for the newest request.
pub struct Followed<'a> {
    /// Messages before this one are dropped.
    pub first: usize,
    pub old: Vec<Old<'a>>,
    /// The newest turn fills the window up to the mark.
    pub crosses: bool,
}

pub struct Follow<'f, 'a> {
    outline: &'f Outline<'a>,
    changes: &'f Changes<'f, 'a>,
    policy: &'f BoundsPolicy,
    truncated: &'f Truncated<'a>,
    window: usize,
    /// Bytes that the model gets with this request, and with the request before.
    bytes: usize,
    before: Option<usize>,
    /// Bytes of each message as it is sent.
    sizes: Vec<usize>,
    requests: usize,
    /// The request that moved a cut last.
    moved: Option<usize>,
    /// Where users' and assistants' turns begin.
    users: Vec<usize>,
    assistants: Vec<usize>,
    first: usize,
    old: Vec<Old<'a>>,
    /// The first message whose results are not old.
    young: usize,
    /// The first of `old` that was not considered for clearing yet.
    uncleared: usize,
    /// The first of `old` that is not dropped.
    undropped: usize,
    /// Characters of all old results.
    prunable: usize,
}

/// What pruning leaves of a long result.
pub fn trimmed(pruning: &PruningPolicy) -> Cut<'static> {
    Cut { first: pruning.head, last: pruning.tail, mark: TRIMMED }
}

impl<'f, 'a> Follow<'f, 'a> {
    pub fn new(
        outline: &'f Outline<'a>,
        changes: &'f Changes<'f, 'a>,
        policy: &'f BoundsPolicy,
        truncated: &'f Truncated<'a>,
        window: usize,
    ) -> Self {
        Self {
            outline,
            changes,
            policy,
            truncated,
            window,
            bytes: outline.around(),
            before: None,
            sizes: Vec::with_capacity(outline.entries.len()),
            requests: 0,
            moved: None,
            users: Vec::new(),
            assistants: Vec::new(),
            first: 0,
            old: Vec::new(),
            young: 0,
            uncleared: 0,
            undropped: 0,
            prunable: 0,
        }
    }

    /// Goes through all requests. If the provider keeps a part of the history, its size is not known, so nothing is done.
    pub fn whole_run(mut self) -> Followed<'a> {
        let nothing = Followed { first: 0, old: Vec::new(), crosses: false };
        if !self.policy.follows() || self.outline.is_part || !self.outline.is_list() {
            return nothing;
        }
        let is_models = |role: Role| matches!(role, Role::Assistant | Role::Other);
        let (mut was_models, mut was_users) = (false, false);
        for (at, entry) in self.outline.entries.iter().enumerate() {
            if is_models(entry.role) && !was_models {
                self.request(at);
                self.assistants.push(at);
            }
            was_models = is_models(entry.role);
            if entry.is_user_turn() && !was_users {
                self.users.push(at);
            }
            if entry.role != Role::Instruction {
                was_users = entry.is_user_turn();
            }
            let size = self.truncated.size(at, entry);
            self.sizes.push(size);
            self.bytes = self.bytes.saturating_add(size);
        }
        let before = self.before;
        self.request(self.outline.entries.len());
        let mark = self.policy.flush.and_then(|left| self.window.checked_sub(left)).filter(|mark| *mark > 0);
        let is_over = |bytes: usize| mark.is_some_and(|mark| bytes >= mark.saturating_mul(BYTES_A_TOKEN));
        let crosses = is_over(self.bytes) && !before.is_some_and(is_over);
        Followed { first: self.first, old: self.old, crosses }
    }

    /// Decides for a request with the messages before `end`.
    fn request(&mut self, end: usize) {
        self.requests = self.requests.saturating_add(1);
        let may_move = self.moved.is_none_or(|moved| self.requests.saturating_sub(moved) >= BLOCK);
        if may_move {
            let is_dropped = self.drop_turns(end);
            let is_pruned = self.policy.pruning.is_some_and(|pruning| self.prune(&pruning, end));
            if is_dropped || is_pruned {
                self.moved = Some(self.requests);
            }
        }
        self.before = Some(self.bytes);
    }

    fn drop_turns(&mut self, end: usize) -> bool {
        let over = self.users.len().checked_sub(self.policy.history).filter(|_| self.policy.history > 0);
        let Some(first) = over.and_then(|over| self.users.get(over)).copied() else { return false };
        // Something may stand before the very first turn.
        if first <= self.first || over == Some(0) {
            return false;
        }
        for at in self.first..first.min(end) {
            let role = self.outline.entries.get(at).map(|entry| entry.role);
            if role != Some(Role::Instruction) {
                self.bytes = self.bytes.saturating_sub(self.sizes.get(at).copied().unwrap_or(0));
            }
        }
        self.first = first;
        while let Some(old) = self.old.get(self.undropped).filter(|old| old.entry < first) {
            self.prunable = self.prunable.saturating_sub(old.characters);
            self.undropped = self.undropped.saturating_add(1);
        }
        self.young = self.young.max(first);
        self.uncleared = self.uncleared.max(self.undropped);
        true
    }

    fn prune(&mut self, pruning: &PruningPolicy, end: usize) -> bool {
        if self.bytes < self.share(pruning.soft) {
            return false;
        }
        let (mut is_pruned, last) = (false, self.end_of_old(pruning.keep, end));
        let start = self.users.first().copied().unwrap_or(end).max(self.young);
        for at in start..last {
            let results = self.outline.entries.get(at).map_or(0, |entry| entry.results.len());
            for number in 0..results {
                is_pruned |= self.trim(pruning, at, number);
            }
        }
        self.young = self.young.max(last);
        if self.bytes < self.share(pruning.hard) || self.prunable < pruning.least_in_all {
            return is_pruned;
        }
        while self.bytes >= self.share(pruning.hard) && self.uncleared < self.old.len() {
            is_pruned |= self.clear();
            self.uncleared = self.uncleared.saturating_add(1);
        }
        is_pruned
    }

    /// Messages before this one are old: all before the last `keep` turns of the assistant.
    fn end_of_old(&self, keep: usize, end: usize) -> usize {
        if keep == 0 {
            return end;
        }
        let at = self.assistants.len().checked_sub(keep);
        at.and_then(|at| self.assistants.get(at)).copied().unwrap_or(0)
    }

    /// Adds a result that has become old. Returns whether it loses its middle.
    fn trim(&mut self, pruning: &PruningPolicy, entry: usize, number: usize) -> bool {
        let Some(result) = self.outline.entries.get(entry).and_then(|entry| entry.results.get(number)) else {
            return false;
        };
        let texts = MeasuredTexts::over(&result.texts, 0);
        let is_long = self.truncated.saved(entry, number);
        let all = texts.as_ref().map_or(0, |texts| texts.characters);
        let characters = if is_long > 0 { all.min(self.policy.result) } else { all };
        let bytes = self.changes.bytes_of(entry, number).saturating_sub(is_long);
        let can_be_cleared = result.can_be_cleared();
        let mut old = Old {
            entry,
            number,
            state: OldResult::Whole,
            texts,
            saved: 0,
            bytes,
            can_be_cleared,
            characters,
        };
        if let Some(texts) = old.texts.as_ref().filter(|_| characters > pruning.trim_above) {
            old.state = OldResult::Trimmed;
            old.saved = self.changes.would_cut(texts, trimmed(pruning)).saturating_sub(is_long);
            old.bytes = old.bytes.saturating_sub(old.saved);
            old.characters = pruning.head.saturating_add(pruning.tail).saturating_add(TRIMMED.len());
            self.shrink(entry, old.saved);
        }
        self.prunable = self.prunable.saturating_add(old.characters);
        let is_trimmed = old.state == OldResult::Trimmed;
        self.old.push(old);
        is_trimmed
    }

    /// Replaces the oldest result that is not replaced yet. Returns whether that saves something.
    fn clear(&mut self) -> bool {
        let Some(old) = self.old.get_mut(self.uncleared) else { return false };
        let Some(saved) = old.bytes.checked_sub(CLEARED.len().saturating_add(2)) else { return false };
        if !old.can_be_cleared || saved == 0 {
            return false;
        }
        (old.state, old.saved) = (OldResult::Cleared, old.saved.saturating_add(saved));
        let entry = old.entry;
        self.shrink(entry, saved);
        true
    }

    fn shrink(&mut self, entry: usize, by: usize) {
        self.bytes = self.bytes.saturating_sub(by);
        if let Some(size) = self.sizes.get_mut(entry) {
            *size = size.saturating_sub(by);
        }
    }

    /// Bytes of this share of the window.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share lies between 0 and 1, and a cast saturates"
    )]
    fn share(&self, share: f64) -> usize {
        (share * self.window.saturating_mul(BYTES_A_TOKEN) as f64) as usize
    }
}
