//! Results are items of their own, anywhere behind their call (OpenAI Responses, Gemini Interactions).

use std::collections::HashMap;

use super::{Pairing, Strays};
use crate::conversation::Role;

impl Pairing<'_, '_, '_> {
    pub(super) fn anywhere(&mut self) {
        let alive = self.alive();
        // The last call with an id, and whether it has a result. One result is enough for an id that names two calls.
        let mut called: HashMap<String, (usize, bool)> = HashMap::new();
        let mut strays = Strays::default();
        for at in &alive {
            for call in self.calls(*at) {
                called.entry(call.id().into_owned()).or_default().0 = *at;
            }
            for (number, result) in self.results(*at).iter().enumerate() {
                let of = result.of();
                match called.get_mut(&*of) {
                    Some((_, has_result)) => *has_result = true,
                    None => strays.add(&of, (*at, number)),
                }
            }
        }
        let mut missing: Vec<usize> =
            called.into_values().filter(|(_, has_result)| !has_result).map(|(at, _)| at).collect();
        missing.sort_unstable();
        let ends = self.ends_of_turns(&alive);
        let last = alive.last().copied();
        let end_of = |at: usize| ends.get(&at).copied().unwrap_or(at);
        // The last calls may wait for their results, all of them or none.
        let has_stray = |at: &usize| self.calls(*at).iter().any(|call| strays.has(&call.id()));
        let may_wait = self.outline.form.may_end_open
            && !missing.iter().any(|at| Some(end_of(*at)) == last && has_stray(at));
        for at in missing {
            let end = end_of(at);
            let Some(call) = self.calls(at).first().filter(|call| !call.id().is_empty()) else { continue };
            if Some(end) == last && may_wait {
                continue;
            }
            let wanting = self.wanting(call, &mut HashMap::new());
            let piece = self.supply(&wanting, &mut strays);
            self.changes.put_behind(end, piece);
        }
        self.drop_strays(strays);
    }

    /// The last item of the model's turn that an item belongs to.
    fn ends_of_turns(&self, alive: &[usize]) -> HashMap<usize, usize> {
        let (mut ends, mut end) = (HashMap::with_capacity(alive.len()), None);
        for at in alive.iter().rev() {
            let role = self.outline.entries.get(*at).map(|entry| entry.role);
            if matches!(role, Some(Role::Assistant | Role::Other)) {
                ends.insert(*at, *end.get_or_insert(*at));
            } else {
                end = None;
            }
        }
        ends
    }
}
