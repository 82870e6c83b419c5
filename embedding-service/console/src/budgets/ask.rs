//! The page that asks before limits are changed: what they mean now, and what they would have meant in the last seven days.

use maud::{Markup, html};

use super::{Limit, whose};
use crate::{
    figure,
    page::{Viewer, form},
    text::{NAME, name},
};

/// A change of limits that is to be made: says what it means first.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub budget: String,
    pub before: Vec<Limit>,
    pub after: Vec<Limit>,
    /// The version of the settings that the change is made to.
    pub version: u64,
    pub accounts: u64,
    /// Accounts that have spent all, and would have by the new limits.
    pub spent_before: u64,
    pub spent_after: u64,
    pub week: Week,
}

/// What the new limits would have meant in the last seven days.
#[derive(Clone, Debug, Default)]
pub struct Week {
    /// Accounts that were used in this time.
    pub accounts: u64,
    /// Those that reached a limit, and would have.
    pub before: Reached,
    pub after: Reached,
    /// Those that would have come close to one, and to no more than that.
    pub close: u64,
    /// For whom something would have been different, those first that spent the largest part.
    pub changed: Vec<AffectedAccount>,
    /// How many of those are not named.
    pub more: u64,
}

/// How many accounts reached a limit, and on how many days in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    pub accounts: u64,
    pub days: u64,
}

/// Somebody for whom something would have been different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffectedAccount {
    pub whose: Vec<(&'static str, String)>,
    /// What counted on the worst day, of the unit that decides.
    pub most: Limit,
    pub day_ms: u64,
    /// It would have been stopped; otherwise it was, and would have gone on.
    pub is_stopped: bool,
}

impl Ask {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        let content = html! {
            input type="hidden" name="budget" value=(self.budget);
            input type="hidden" name="version" value=(self.version);
            @for limit in &self.after { input type="hidden" name=(limit.unit.id()) value=(limit.unit.field(limit.most)); }
            label { "Reason" input type="text" name="reason" maxlength="500" autocomplete="off"; }
            label { "Your name" input type="text" name="author" maxlength="100" autocomplete="username"; }
            div.acts { button.primary type="submit" { "Change the limits" } a.button href="/console/budgets" { "Cancel" } }
        };
        html! {
            section.ask {
                h1 { "Change " (name(&self.budget, NAME)) "?" }
                ul { @for (before, after) in self.before.iter().zip(&self.after) {
                    li { (before.unit.said(before.most)) @if before.most == after.most { ", as before" } @else { " → " b { (after.unit.said(after.most)) } } }
                } }
                h2 { "Now" }
                p {
                    "Of " (figure::of(self.accounts, "account", "accounts")) ", "
                    (figure::count(self.spent_before)) (has(self.spent_before)) "spent all. With the new limits that would be "
                    b { (figure::count(self.spent_after)) } "."
                    @if self.spent_after < self.spent_before { " Their runs go on with their next request; nothing of them is lost." }
                    @if self.spent_after > self.spent_before { " These are refused from their next request on." }
                }
                h2 { "In the last seven days" }
                (self.week.draw())
                (form("/console/budgets", viewer, &content))
            }
        }
    }
}

fn has(number: u64) -> &'static str {
    if number == 1 { " has " } else { " have " }
}

impl Reached {
    /// On how many days, only where that says more.
    fn days(self) -> String {
        let Self { accounts, days } = self;
        if days > accounts { format!(", on {}", figure::of(days, "day", "days")) } else { String::new() }
    }
}

impl Week {
    fn draw(&self) -> Markup {
        if self.accounts == 0 {
            return html! { p.calm { "Nobody has spent anything of it." } };
        }
        html! {
            p.week {
                "Of " (figure::of(self.accounts, "account", "accounts")) ", " (figure::count(self.before.accounts))
                " reached a limit" (self.before.days()) ". With the new limits that would have been "
                b { (figure::count(self.after.accounts)) } (self.after.days())
                @if self.close > 0 { "; " (figure::count(self.close)) " more would have come close" }
                "."
            }
            @if self.changed.is_empty() {
                p.calm { "For nobody anything would have been different." }
            } @else {
                ul { @for changed in &self.changed { (changed.draw()) } }
                @if self.more > 0 { p.calm { "and " (figure::of(self.more, "account", "accounts")) " more" } }
            }
            @if self.changed.iter().any(|changed| !changed.is_stopped) {
                p.calm { "What those would have spent then is not known, because they were stopped." }
            }
        }
    }
}

impl AffectedAccount {
    fn draw(&self) -> Markup {
        let most = self.most.unit.said(self.most.most);
        let (sign, what) = if self.is_stopped {
            ("✕", format!("would have been stopped, with {most} on "))
        } else {
            ("✓", format!("would have gone on; it was stopped with {most} on "))
        };
        html! {
            li { span aria-hidden="true" { (sign) " " } (whose(&self.whose)) ": " (what) (figure::day(self.day_ms)) }
        }
    }
}
