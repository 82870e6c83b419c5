//! Repairs a history that was cut or reordered, so that calls and results pair as the provider requires: a result
//! without its call is dropped, one in the wrong place is moved, a missing one is added, and a duplicate id is
//! replaced. A history that is in order is not changed.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use super::{Changes, EntryResult, Outline, Placing, changes::Piece, place};
use crate::{item_part::ItemCall, json::quoted};

mod anywhere;
mod behind;
mod within;

/// The text of a result that was missing.
pub const MISSING: &str = "[Tool result missing -- session was compacted]";

/// The number of repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Results without a call dropped, and reasoning without what it led to.
    pub dropped: usize,
    /// Results moved to where the provider requires them.
    pub moved: usize,
    /// Missing results added.
    pub made: usize,
    /// Duplicate ids replaced.
    pub renamed: usize,
}

/// Adds the changes that make calls and results pair. Entries that are already dropped do not count. Adds nothing if
/// the provider keeps a part of the history.
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

fn is_plain(entry: &super::OutlineEntry<'_>) -> bool {
    entry.calls.is_empty() && entry.results.is_empty()
}

/// A result: the index of its entry, and its index in the entry.
type ResultAt = (usize, usize);

struct Pairing<'c, 'p, 'a> {
    outline: &'p Outline<'a>,
    changes: &'c mut Changes<'p, 'a>,
    done: Repaired,
    /// All ids of the request. Collected when first needed.
    taken: Option<ById>,
}

/// A call that needs a result.
struct Wanting<'p, 'a> {
    call: &'p ItemCall<'a>,
    /// Its id, which may be new.
    id: String,
    is_renamed: bool,
}

/// Places by the id of a call, in order. One type serves all lookups by id, to keep the module small.
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
    /// The entries that are not dropped, in order.
    fn alive(&self) -> Vec<usize> {
        (0..self.outline.entries.len()).filter(|at| !self.changes.is_dropped(*at)).collect()
    }

    fn calls(&self, entry: usize) -> &'p [ItemCall<'a>] {
        self.outline.entries.get(entry).map(|entry| entry.calls.as_slice()).unwrap_or_default()
    }

    fn results(&self, entry: usize) -> &'p [EntryResult<'a>] {
        self.outline.entries.get(entry).map(|entry| entry.results.as_slice()).unwrap_or_default()
    }

    fn result(&self, (entry, result): ResultAt) -> Option<&'p EntryResult<'a>> {
        self.results(entry).get(result)
    }

    /// The call, with a new id if an earlier call (`seen`) has the same one.
    fn wanting(&mut self, call: &'p ItemCall<'a>, seen: &mut ById) -> Wanting<'p, 'a> {
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

    /// An unused id that is derived from `id`. Providers accept at most 64 characters.
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

    /// Gives a result the new id of its call.
    #[inline(never)]
    fn follow(&mut self, wanting: &Wanting<'_, '_>, at: ResultAt) {
        if wanting.is_renamed
            && let Some(old) = self.result(at).and_then(|result| result.id)
        {
            self.changes.replace(old, quoted(&wanting.id));
        }
    }

    /// The result for a call that lacks one: a stray result, or a new one.
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
        let call = wanting.call;
        Piece::Made((self.outline.form.result)(&wanting.id, &call.name, call.is_custom(), MISSING))
    }

    /// Takes a result away from its place.
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

/// The key to look up a result: its id, or its tool if it has none.
fn key(id: Cow<'_, str>, name: &str) -> String {
    if id.is_empty() { format!("\n{name}") } else { id.into_owned() }
}
