//! How a dialect's requests are written: how an item of the history is read, where edits may stand, and what the
//! provider requires of calls and results. Each dialect has one constant.

use crate::{
    conversation::{Conversation, Role},
    dialect::Position,
    edit::Slot,
    item_part::Finder,
    items::Item,
    json::{Raw, Unreadable},
    outline::Form,
    tools::{May, Offer},
};

/// How the requests of a dialect are written.
#[derive(Debug)]
pub(crate) struct Format {
    /// The role of an item.
    pub role: fn(Item<'_, '_>) -> Result<Role, Unreadable>,
    /// The content of an item, if it is a single value.
    pub content: for<'a> fn(Item<'_, 'a>) -> Option<Raw<'a>>,
    /// Whether an item may hold calls or results. If this is false, it holds none. Cheaper than `find`.
    pub has_calls: fn(Item<'_, '_>) -> bool,
    /// Gives everything that an item holds to the finder.
    pub find: for<'a> fn(Item<'_, 'a>, &mut Finder<'_, 'a>) -> Result<(), Unreadable>,
    /// How an item is joined to the message before it. `None` if every item is a message.
    pub joint: Option<fn(Item<'_, '_>) -> Joint>,
    /// Where a hint goes beside the messages.
    pub hint: fn(&Conversation<'_>, Position) -> Option<Slot>,
    /// Where a hint goes in the last result.
    pub hint_in_result: fn(&Conversation<'_>) -> Option<Slot>,
    /// The tools that the request offers once the denied ones are cut.
    pub offer: fn(&Conversation<'_>, May<'_>) -> Result<Offer, Unreadable>,
    /// The members of the body in which `offer` cuts tools.
    pub tools: &'static [&'static str],
    /// Whether a request may name an agent of the provider in place of a model or beside one.
    pub has_agents: bool,
    /// Whether the provider keeps an answer by default, so that a later request can name it.
    pub keeps_answers: bool,
    /// Whether a tool result may be an arbitrary JSON object.
    pub takes_objects_as_results: bool,
    pub form: Form,
}

/// How an item is joined to other items of the same message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    /// A whole text of one role. Another text starts another message.
    Text,
    /// A part of a user's message. The next such part belongs to the same message.
    Fragment,
    /// A call that carries its own result. What follows is another message.
    Closed,
    /// A call, a result, reasoning.
    Open,
}
