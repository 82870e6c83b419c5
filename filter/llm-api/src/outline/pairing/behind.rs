//! Results are messages of their own, directly behind the message with their calls (OpenAI chat).

use super::{ById, Pairing, ResultAt, Strays, Wanting};

/// An assistant's calls, and the results directly behind them.
struct Group<'p, 'a> {
    calls: Vec<Wanting<'p, 'a>>,
    has_result: Vec<bool>,
    /// Calls without a result, by the id that results refer to.
    open: ById,
    /// The last message of the group that is not dropped.
    last: usize,
    /// A call has no id, so the results behind it are left alone.
    is_unpaired: bool,
}

impl<'p, 'a> Pairing<'_, 'p, 'a> {
    pub(super) fn behind(&mut self) {
        let (mut groups, mut strays) = (Vec::new(), Strays::default());
        let mut group: Option<Group<'p, 'a>> = None;
        for at in self.alive() {
            if self.results(at).is_empty() {
                groups.extend(group.take());
                group = self.group(at);
                continue;
            }
            for (number, result) in self.results(at).iter().enumerate() {
                self.join(&mut group, &mut strays, (at, number), &result.of());
            }
        }
        if !self.outline.form.may_end_open {
            groups.extend(group);
        }
        for group in groups {
            let missing = group.calls.iter().zip(&group.has_result).filter(|(_, has_result)| !**has_result);
            for (call, _) in missing {
                let piece = self.supply(call, &mut strays);
                self.changes.put_behind(group.last, piece);
            }
        }
        self.drop_strays(strays);
    }

    fn group(&mut self, at: usize) -> Option<Group<'p, 'a>> {
        let made = self.calls(at);
        if made.is_empty() {
            return None;
        }
        if made.iter().any(|call| call.id().is_empty()) {
            let (calls, has_result, open) = Default::default();
            return Some(Group { calls, has_result, open, last: at, is_unpaired: true });
        }
        let (mut seen, mut open) = (ById::default(), ById::default());
        let calls: Vec<_> = made.iter().map(|call| self.wanting(call, &mut seen)).collect();
        for (number, call) in calls.iter().enumerate() {
            open.add(&call.call.id(), (number, 0));
        }
        let has_result = vec![false; calls.len()];
        Some(Group { calls, has_result, open, last: at, is_unpaired: false })
    }

    fn join(&mut self, group: &mut Option<Group<'p, 'a>>, strays: &mut Strays, at: ResultAt, of: &str) {
        if group.as_ref().is_some_and(|group| group.is_unpaired) {
            return;
        }
        let call = group.as_mut().and_then(|group| {
            let (call, _) = group.open.take(of)?;
            group.last = at.0;
            *group.has_result.get_mut(call)? = true;
            group.calls.get(call)
        });
        match call {
            Some(call) => self.follow(call, at),
            // The older form without ids. The provider does not check the pairing.
            None if of.is_empty() && self.result(at).is_some_and(|result| !result.name.is_empty()) => {}
            None => strays.add(of, at),
        }
    }
}
