//! Results are items of their own, anywhere behind their call (OpenAI Responses, Gemini Interactions).

use super::{ById, Pairing, Strays};
use crate::conversation::Role;

impl Pairing<'_, '_, '_> {
    pub(super) fn anywhere(&mut self) {
        self.drop_leading();
        let alive = self.alive();
        // The last call with an id, and its results. If an id is used by two calls, the provider accepts one result as
        // well as two.
        let (mut called, mut strays, mut times) = (ById::default(), Strays::default(), ById::default());
        for at in &alive {
            for call in self.calls(*at) {
                let id = call.id();
                times.add(&id, (*at, 0));
                match called.last(&id) {
                    Some((last, _)) => *last = *at,
                    None => called.add(&id, (*at, 0)),
                }
            }
            for (number, result) in self.results(*at).iter().enumerate() {
                let of = result.of();
                match called.last(&of) {
                    Some((_, results)) if result.is_clients && *results >= times.count(&of) => {
                        self.done.dropped = self.done.dropped.saturating_add(1);
                        self.cut((*at, number));
                    }
                    Some((_, results)) => *results = results.saturating_add(1),
                    None => strays.add(&of, (*at, number)),
                }
            }
        }
        let is_missing = |at: &usize| {
            let mut calls = self.calls(*at).iter().filter(|call| !call.id().is_empty());
            calls.any(|call| called.first(&call.id()) == Some((*at, 0)))
        };
        let missing: Vec<usize> = alive.iter().copied().filter(is_missing).collect();
        let ends = self.ends_of_turns(&alive);
        let last = alive.last().copied();
        let end_of = |at: usize| ends.get(at).copied().unwrap_or(at);
        // The last calls may all lack their results, but not some of them.
        let has_stray = |at: &usize| self.calls(*at).iter().any(|call| strays.has(&call.id()));
        let may_wait = self.outline.form.may_end_open
            && !missing.iter().any(|at| Some(end_of(*at)) == last && has_stray(at));
        for at in missing {
            let end = end_of(at);
            if Some(end) == last && may_wait {
                continue;
            }
            for call in self.calls(at) {
                let wanting = self.wanting(call, &mut ById::default());
                let piece = self.supply(&wanting, &mut strays);
                self.changes.put_behind(end, piece);
            }
        }
        self.drop_strays(strays);
    }

    /// Drops reasoning whose call or text was cut.
    fn drop_leading(&mut self) {
        let mut is_followed = false;
        for at in self.alive().into_iter().rev() {
            let Some(entry) = self.outline.entries.get(at) else { continue };
            let is_models = matches!(entry.role, Role::Assistant | Role::Other);
            if !is_models || !(self.outline.form.leads)(entry.raw) {
                is_followed = is_models;
            } else if !is_followed {
                self.done.dropped = self.done.dropped.saturating_add(1);
                self.changes.drop_entry(at);
            }
        }
    }

    /// For each item, the last item of the model's turn that it belongs to.
    fn ends_of_turns(&self, alive: &[usize]) -> Vec<usize> {
        let mut ends: Vec<usize> = (0..self.outline.entries.len()).collect();
        let mut end = None;
        for at in alive.iter().rev() {
            let role = self.outline.entries.get(*at).map(|entry| entry.role);
            if matches!(role, Some(Role::Assistant | Role::Other)) {
                let end = *end.get_or_insert(*at);
                ends.iter_mut().skip(*at).take(1).for_each(|known| *known = end);
            } else {
                end = None;
            }
        }
        ends
    }
}
