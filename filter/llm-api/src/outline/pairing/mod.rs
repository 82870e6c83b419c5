//! Calls and results paired as the provider wants it, so that a history that was cut or mixed up is taken: a result without
//! its call is dropped, one in the wrong place is moved, a missing one is made, an id that names two calls is made two.
//! A history that is in order is not touched.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use super::{Changes, MadeCall, Outcome, Outline, Placing, changes::Piece, place};
use crate::json::quoted;

mod anywhere;
mod behind;
mod within;

/// Stands for a result that is not there.
pub const MISSING: &str = "[Tool result missing -- session was compacted]";

/// How much was repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Results dropped.
    pub dropped: usize,
    /// Results put where the provider wants them.
    pub moved: usize,
    /// Results made up.
    pub made: usize,
    /// Ids that named two calls.
    pub renamed: usize,
}

/// Adds what makes calls and results pair. What is dropped already is not there. Nothing where the provider keeps some of
/// the history.
pub fn repair(changes: &mut Changes<'_, '_>) -> Repaired {
    let outline = changes.outline();
    if outline.is_part || !outline.is_list() || outline.entries.iter().all(is_plain) {
        return Repaired::default();
    }
    let mut pairing = Pairing { outline, changes, done: Repaired::default(), taken: None };
    match outline.form.placing {
        Placing::Behind => pairing.behind(),
        Placing::Within => pairing.within(),
        Placing::Anywhere => pairing.anywhere(),
    }
    pairing.done
}

fn is_plain(entry: &super::Entry<'_>) -> bool {
    entry.calls.is_empty() && entry.results.is_empty()
}

/// A result by its numbers: entry, and result in it.
type ResultAt = (usize, usize);

struct Pairing<'c, 'p, 'a> {
    outline: &'p Outline<'a>,
    changes: &'c mut Changes<'p, 'a>,
    done: Repaired,
    /// Ids that stand anywhere, once that is asked.
    taken: Option<ById>,
}

/// A call that wants a result.
struct Wanting<'p, 'a> {
    call: &'p MadeCall<'a>,
    /// The id that it has from now on.
    id: String,
    is_renamed: bool,
}

/// Places by the id of a call, in their order. One type for all that is looked up by an id: each would be code of its own.
#[derive(Default)]
struct ById(HashMap<String, VecDeque<ResultAt>>);

impl ById {
    #[inline(never)]
    fn add(&mut self, of: &str, at: ResultAt) {
        self.0.entry(of.to_owned()).or_default().push_back(at);
    }

    fn has(&self, of: &str) -> bool {
        self.0.get(of).is_some_and(|places| !places.is_empty())
    }

    #[inline(never)]
    fn count(&self, of: &str) -> usize {
        self.0.get(of).map_or(0, VecDeque::len)
    }

    #[inline(never)]
    fn last(&mut self, of: &str) -> Option<&mut ResultAt> {
        self.0.get_mut(of)?.back_mut()
    }

    fn first(&self, of: &str) -> Option<ResultAt> {
        self.0.get(of)?.front().copied()
    }

    #[inline(never)]
    fn take(&mut self, of: &str) -> Option<ResultAt> {
        self.0.get_mut(of)?.pop_front()
    }
}

/// Results that belong to no call where they stand.
type Strays = ById;

impl<'p, 'a> Pairing<'_, 'p, 'a> {
    /// The entries that stay, in their order.
    fn alive(&self) -> Vec<usize> {
        (0..self.outline.entries.len()).filter(|at| !self.changes.is_dropped(*at)).collect()
    }

    fn calls(&self, entry: usize) -> &'p [MadeCall<'a>] {
        self.outline.entries.get(entry).map(|entry| entry.calls.as_slice()).unwrap_or_default()
    }

    fn results(&self, entry: usize) -> &'p [Outcome<'a>] {
        self.outline.entries.get(entry).map(|entry| entry.results.as_slice()).unwrap_or_default()
    }

    fn result(&self, (entry, result): ResultAt) -> Option<&'p Outcome<'a>> {
        self.results(entry).get(result)
    }

    /// The call, with another id where an earlier one has its id (`seen`).
    fn wanting(&mut self, call: &'p MadeCall<'a>, seen: &mut ById) -> Wanting<'p, 'a> {
        let id = call.id().into_owned();
        seen.add(&id, (0, 0));
        let times = seen.count(&id);
        if times == 1 || id.is_empty() || self.outline.form.is_counted {
            return Wanting { call, id, is_renamed: false };
        }
        let id = self.another(&id, times);
        if let Some(old) = call.id {
            self.changes.replace(old, quoted(&id));
            self.done.renamed = self.done.renamed.saturating_add(1);
        }
        Wanting { call, id, is_renamed: true }
    }

    /// An id like this one that stands nowhere. Providers take at most 64 characters.
    fn another(&mut self, id: &str, mut times: usize) -> String {
        let outline = self.outline;
        let taken = self.taken.get_or_insert_with(|| {
            let mut taken = ById::default();
            for entry in &outline.entries {
                entry.calls.iter().for_each(|call| taken.add(&call.id(), (0, 0)));
                entry.results.iter().for_each(|result| taken.add(&result.of(), (0, 0)));
            }
            taken
        });
        let stem = id.get(..id.floor_char_boundary(50)).unwrap_or(id);
        loop {
            let other = format!("{stem}_{times}");
            if !taken.has(&other) {
                taken.add(&other, (0, 0));
                return other;
            }
            times = times.saturating_add(1);
        }
    }

    /// A result names its call by the id that this now has.
    #[inline(never)]
    fn follow(&mut self, wanting: &Wanting<'_, '_>, at: ResultAt) {
        if wanting.is_renamed
            && let Some(old) = self.result(at).and_then(|result| result.id)
        {
            self.changes.replace(old, quoted(&wanting.id));
        }
    }

    /// What comes where a result is missing: one that stands elsewhere, or one that is made.
    #[inline(never)]
    fn supply(&mut self, wanting: &Wanting<'_, '_>, strays: &mut Strays) -> Piece {
        let old = wanting.call.id();
        if !old.is_empty()
            && let Some(stray) = strays.take(&old)
        {
            self.follow(wanting, stray);
            return self.lift(stray);
        }
        self.done.made = self.done.made.saturating_add(1);
        let MadeCall { name, is_custom, .. } = wanting.call;
        Piece::Made((self.outline.form.result)(&wanting.id, name, *is_custom, MISSING))
    }

    /// Takes a result away from where it stands.
    #[inline(never)]
    fn lift(&mut self, (entry, result): ResultAt) -> Piece {
        self.done.moved = self.done.moved.saturating_add(1);
        let place = self.place((entry, result));
        self.cut((entry, result));
        Piece::Moved(place)
    }

    fn place(&self, (entry, result): ResultAt) -> std::ops::Range<usize> {
        let Some(entry) = self.outline.entries.get(entry) else { return 0..0 };
        let element = entry.results.get(result).and_then(|result| result.element);
        let raw = element.and_then(|element| entry.elements.get(element)).copied().unwrap_or(entry.raw);
        place(self.outline.body, raw)
    }

    fn cut(&mut self, (entry, result): ResultAt) {
        match self.result((entry, result)).and_then(|result| result.element) {
            Some(element) => self.changes.cut_element(entry, element),
            None => self.changes.drop_entry(entry),
        }
    }

    fn drop_strays(&mut self, strays: Strays) {
        for at in strays.0.into_values().flatten() {
            self.done.dropped = self.done.dropped.saturating_add(1);
            self.cut(at);
        }
    }
}

/// What a result is looked for by: its id, or its tool where it has none.
fn key<'k>(id: Cow<'k, str>, name: &'k str) -> String {
    if id.is_empty() { format!("\n{name}") } else { id.into_owned() }
}
