//! Results stand in the user's message that follows the message with their calls (Anthropic, Bedrock, Gemini).
//! Consecutive messages of one side are one turn.

use super::{ById, Pairing, ResultAt, Strays, Wanting, key};
use crate::{
    conversation::Role,
    outline::changes::{DROPPED, Piece},
};

/// Consecutive messages of one side.
struct Side {
    is_models: bool,
    entries: Vec<usize>,
}

/// Calls of a turn that lack a result.
struct Group<'p, 'a> {
    missing: Vec<Wanting<'p, 'a>>,
    /// The last message with the calls, and the first message that may hold the results.
    last: usize,
    next: Option<usize>,
}

impl<'p, 'a> Pairing<'_, 'p, 'a> {
    pub(super) fn within(&mut self) {
        let turns = self.turns();
        let (mut groups, mut strays, mut seen) = (Vec::new(), Strays::default(), ById::default());
        let mut late: Vec<(usize, ResultAt)> = Vec::new();
        let mut turns = turns.iter().peekable();
        while let Some(turn) = turns.next() {
            if !turn.is_models {
                // No calls precede these results.
                self.all_stray(&turn.entries, &mut strays);
                continue;
            }
            let next = turns.next_if(|next| !next.is_models).map(|next| next.entries.as_slice());
            if !self.outline.form.has_unique_ids {
                seen = ById::default();
            }
            let mut calls = Vec::new();
            for at in &turn.entries {
                for call in self.calls(*at) {
                    calls.push(self.wanting(call, &mut seen));
                }
            }
            let (Some(last), next) = (turn.entries.last(), next.unwrap_or_default()) else { continue };
            if calls.is_empty() {
                self.all_stray(next, &mut strays);
                continue;
            }
            let missing = self.pair(calls, next, &mut strays);
            if self.outline.form.has_results_first {
                late.extend(self.late(next));
            }
            if !next.is_empty() || !self.outline.form.may_end_open {
                groups.push(Group { missing, last: *last, next: next.first().copied() });
            }
        }
        for group in groups {
            let pieces = group.missing.iter().map(|call| self.supply(call, &mut strays)).collect();
            self.put(&group, pieces);
        }
        // By now, some of them are dropped or moved.
        self.drop_strays(strays);
        for (entry, at) in late {
            let element = self.result(at).and_then(|result| result.element);
            if element.is_some_and(|element| !self.changes.is_cut(at.0, element)) {
                let piece = self.lift(at);
                self.changes.put_first(entry, piece);
            }
        }
        self.fill_or_drop();
    }

    fn turns(&self) -> Vec<Side> {
        let mut turns: Vec<Side> = Vec::new();
        for at in self.alive() {
            let is_models = match self.outline.entries.get(at).map(|entry| entry.role) {
                Some(Role::Assistant) => true,
                Some(Role::User | Role::Tool) => false,
                _ => continue,
            };
            match turns.last_mut().filter(|turn| turn.is_models == is_models) {
                Some(turn) => turn.entries.push(at),
                None => turns.push(Side { is_models, entries: vec![at] }),
            }
        }
        turns
    }

    fn results_of(&self, entries: &[usize]) -> Vec<ResultAt> {
        let of = |at: &usize| (0..self.results(*at).len()).map(|number| (*at, number)).collect::<Vec<_>>();
        entries.iter().flat_map(of).collect()
    }

    fn all_stray(&self, entries: &[usize], strays: &mut Strays) {
        for at in self.results_of(entries) {
            let of = self.result(at).map(|result| result.of().into_owned()).unwrap_or_default();
            strays.add(&of, at);
        }
    }

    /// Pairs calls with the results in the messages that follow. Returns the calls that have none there.
    fn pair(
        &mut self,
        calls: Vec<Wanting<'p, 'a>>,
        next: &[usize],
        strays: &mut Strays,
    ) -> Vec<Wanting<'p, 'a>> {
        let results = self.results_of(next);
        if self.outline.form.is_counted && results.len() == calls.len() {
            return Vec::new();
        }
        // First by id, then by tool if one of the two has no id.
        let (mut by_id, mut by_name) = (ById::default(), ById::default());
        let mut is_paired = vec![false; calls.len()];
        // Calls may be matched by the tool's name only if ids are optional.
        let name_of = |name: &'p str| if self.outline.form.is_counted { name } else { "" };
        for (number, call) in calls.iter().enumerate() {
            let name = name_of(&call.call.name);
            by_id.add(&key(call.call.id(), name), (number, 0));
            by_name.add(name, (number, 0));
        }
        for at in results {
            let Some(result) = self.result(at) else { continue };
            let of = result.of();
            let is_open = |call: &usize| is_paired.get(*call) == Some(&false);
            let name = key(of.clone(), &result.name);
            let named = std::iter::from_fn(|| by_id.take(&name)).map(|(call, _)| call).find(is_open);
            let has_both = |call: usize| {
                !of.is_empty() && calls.get(call).is_some_and(|call| !call.call.id().is_empty())
            };
            let number = named.or_else(|| {
                let mut like = std::iter::from_fn(|| {
                    let (call, _) = by_name.first(&result.name).filter(|(call, _)| !has_both(*call))?;
                    by_name.take(&result.name);
                    Some(call)
                });
                like.find(is_open).filter(|_| !result.name.is_empty())
            });
            let Some(call) = number.and_then(|number| calls.get(number)) else {
                strays.add(&of, at);
                continue;
            };
            if let Some(is_paired) = number.and_then(|number| is_paired.get_mut(number)) {
                *is_paired = true;
            }
            self.follow(call, at);
        }
        calls.into_iter().zip(is_paired).filter(|(_, is_paired)| !is_paired).map(|(call, _)| call).collect()
    }

    /// Results behind other content of their turn, and the message that they must be moved to.
    fn late(&self, next: &[usize]) -> Vec<(usize, ResultAt)> {
        let Some(first) = next.first().filter(|at| self.takes(**at)) else { return Vec::new() };
        let (mut late, mut is_late) = (Vec::new(), false);
        for at in next {
            let Some(entry) = self.outline.entries.get(*at) else { continue };
            is_late |= entry.elements.is_empty();
            let mut results = entry.results.iter().enumerate().peekable();
            for element in 0..entry.elements.len() {
                match results.next_if(|(_, result)| result.element == Some(element)) {
                    Some((number, _)) if is_late => late.push((*first, (*at, number))),
                    Some(_) => {}
                    None => is_late = true,
                }
            }
        }
        late
    }

    /// Whether elements can be inserted into the content of a message.
    fn takes(&self, at: usize) -> bool {
        let content = self.outline.entries.get(at).and_then(|entry| entry.content);
        content.is_some_and(|content| content.get().starts_with(['[', '"']))
    }

    fn put(&mut self, group: &Group<'_, '_>, pieces: Vec<Piece>) {
        match group.next.filter(|at| self.takes(*at)) {
            Some(next) => pieces.into_iter().for_each(|piece| self.changes.put_first(next, piece)),
            None if pieces.is_empty() => {}
            None => self.changes.put_behind(group.last, Piece::Alone(pieces)),
        }
    }

    /// A message that became empty is dropped if a neighbour is the user's too. Otherwise it gets a text, because user
    /// and model must alternate.
    fn fill_or_drop(&mut self) {
        let emptied = self.changes.emptied();
        if emptied.is_empty() {
            return;
        }
        let is_users = |role: Option<Role>| matches!(role, Some(Role::User | Role::Tool));
        let alive: Vec<usize> = self.alive();
        let role =
            |at: Option<&usize>| at.and_then(|at| self.outline.entries.get(*at)).map(|entry| entry.role);
        let mut before: Option<usize> = None;
        let (mut drops, mut fills) = (Vec::new(), Vec::new());
        let mut emptied = emptied.into_iter().peekable();
        for (number, at) in alive.iter().enumerate() {
            if emptied.next_if_eq(at).is_none() {
                before = Some(*at);
                continue;
            }
            let after = alive.get(number.saturating_add(1));
            if is_users(role(before.as_ref())) || is_users(role(after)) {
                drops.push(*at);
            } else {
                fills.push(*at);
                before = Some(*at);
            }
        }
        drops.into_iter().for_each(|at| self.changes.drop_entry(at));
        for at in fills {
            self.changes.put_first(at, Piece::Made((self.outline.form.text)(DROPPED)));
        }
    }
}
