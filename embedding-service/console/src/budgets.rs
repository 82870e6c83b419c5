//! The page Budgets: what each budget's accounts have spent of their limits, and the page that asks before a limit is changed.

mod ask;

use maud::{Markup, html};
use strum::{IntoStaticStr, VariantArray};

pub use self::ask::{AffectedAccount, Ask, Reached, Week};

use crate::{
    chart, figure,
    page::{Viewer, dialog, form},
    text::{NAME, encoded, name},
};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct Budgets {
    pub now_ms: u64,
    pub budgets: Vec<BudgetRow>,
    /// How many accounts there are that are not shown.
    pub more: u64,
}

/// A budget with its accounts.
#[derive(Clone, Debug, Default)]
pub struct BudgetRow {
    pub name: String,
    /// Whom it counts and over which time, in words.
    pub whom: String,
    pub limits: Vec<Limit>,
    /// Nothing is stopped at the limit.
    pub records_only: bool,
    /// It is still configured.
    pub is_configured: bool,
    /// Those first that have spent the largest part.
    pub accounts: Vec<Account>,
}

/// What may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub unit: Unit,
    pub most: u64,
}

/// What is counted. Dollars are billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Unit {
    #[strum(serialize = "usd")]
    NanoUsd,
    Tokens,
    OutputTokens,
    Requests,
    ToolCalls,
    Seconds,
}

impl Unit {
    /// As the configuration names it.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.into()
    }

    #[must_use]
    pub fn said(self, amount: u64) -> String {
        match self {
            Self::NanoUsd => figure::usd(amount),
            Self::Seconds => figure::duration(amount.saturating_mul(1_000)),
            Self::Tokens => format!("{} tokens", figure::short(amount)),
            Self::OutputTokens => format!("{} output tokens", figure::short(amount)),
            Self::Requests => figure::of(amount, "request", "requests"),
            Self::ToolCalls => figure::of(amount, "tool call", "tool calls"),
        }
    }

    fn number(self, amount: u64) -> String {
        match self {
            Self::NanoUsd | Self::Seconds => self.said(amount),
            Self::Tokens | Self::OutputTokens => figure::short(amount),
            Self::Requests | Self::ToolCalls => figure::count(amount),
        }
    }

    fn field(self, amount: u64) -> String {
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let usd = amount as f64 / 1e9;
        if self == Self::NanoUsd { usd.to_string() } else { amount.to_string() }
    }

    fn label(self) -> &'static str {
        match self {
            Self::NanoUsd => "US dollars",
            Self::Tokens => "Tokens",
            Self::OutputTokens => "Output tokens",
            Self::Requests => "Requests",
            Self::ToolCalls => "Tool calls",
            Self::Seconds => "Seconds of a run",
        }
    }
}

/// How far an account has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccountMark {
    #[default]
    Fine,
    Close,
    Spent,
}

impl AccountMark {
    fn badge(self) -> Markup {
        let (class, sign, word) = match self {
            Self::Fine => ("done", "✓", "fine"),
            Self::Close => ("stopped", "▲", "close"),
            Self::Spent => ("killed", "✕", "spent"),
        };
        html! { span class={ "status " (class) } { span aria-hidden="true" { (sign) } " " (word) } }
    }
}

/// What somebody has spent of a budget.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Whose it is, in words; may be empty.
    pub whose: Vec<(&'static str, String)>,
    pub state: AccountMark,
    /// Limit, what is spent of it, and what workers hold.
    pub used: Vec<Used>,
    pub last_asked_ms: u64,
    pub renews_ms: Option<u64>,
}

/// What is spent of one limit.
#[derive(Clone, Debug)]
pub struct Used {
    pub limit: Limit,
    pub spent: u64,
    pub held: u64,
    /// How what counts now was spent over time; empty where that is not kept.
    pub course: Vec<f64>,
}

impl Budgets {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        html! {
            h1.hidden { "Budgets" }
            @if self.budgets.is_empty() {
                p.calm { "No budget is configured. A budget limits what an agent, a task, a client or a tenant may spend: add "
                    code { "budgets" } " to the filter's configuration, or in the settings." }
            }
            @for budget in &self.budgets { (budget.draw(self.now_ms, viewer)) }
            @if self.more > 0 { p.calm { "and " (figure::of(self.more, "account", "accounts")) " more that have spent less" } }
        }
    }
}

impl BudgetRow {
    fn draw(&self, now_ms: u64, viewer: &Viewer) -> Markup {
        html! {
            section.budget {
                div.toolbar {
                    h2 { (name(&self.name, NAME)) span.number { " " (crate::text::plain(&self.whom, 300)) } }
                    @if self.is_configured { (self.change(viewer)) }
                }
                @if !self.is_configured { p.calm { "No worker is configured with this budget any more." } }
                @if self.records_only { p.calm { "It only records: nobody is stopped at its limit." } }
                @if self.accounts.is_empty() {
                    p.calm { "Nobody has spent anything of it yet." }
                } @else {
                    div.scroll { table {
                        thead { tr { th { "State" } th { "Whose" } th { "Spent" } th.num.less { "Last request" } th.num.less { "Free again" } } }
                        tbody { @for account in &self.accounts { (account.draw(now_ms)) } }
                    } }
                }
            }
        }
    }

    fn change(&self, viewer: &Viewer) -> Markup {
        let address = "/console/budgets";
        let fields = html! {
            input type="hidden" name="budget" value=(self.name);
            @for limit in &self.limits {
                label { (limit.unit.label())
                    input type="number" min="0" step=(if limit.unit == Unit::NanoUsd { "any" } else { "1" })
                        name=(limit.unit.id()) value=(limit.unit.field(limit.most)) required; }
            }
            button.primary type="submit" { "Show what it means" }
        };
        let title = html! { "Limits of " (name(&self.name, NAME)) };
        let id = format!("change-{}", encoded(&self.name));
        dialog(viewer, address, &id, "Change", &title, &form("/console/budgets/ask", viewer, &fields))
    }
}

/// Names with what they are names of.
fn whose(names: &[(&'static str, String)]) -> Markup {
    html! {
        @if names.is_empty() { "everybody" }
        @for (place, (what, who)) in names.iter().enumerate() { @if place > 0 { " · " } (what) " " b { (name(who, NAME)) } }
    }
}

impl Account {
    fn draw(&self, now_ms: u64) -> Markup {
        html! {
            tr data-row {
                td { (self.state.badge()) }
                td.main { (whose(&self.whose)) }
                td { @for used in &self.used { (used.draw()) } }
                td.num.less { (figure::ago(self.last_asked_ms, now_ms)) }
                td.num.less { @match self.renews_ms {
                    Some(at) => { "in " (figure::duration(at.saturating_sub(now_ms))) }
                    None => "when it is raised",
                } }
            }
        }
    }
}

impl Used {
    fn draw(&self) -> Markup {
        let Self { limit, spent, held, ref course } = *self;
        #[expect(clippy::cast_precision_loss, reason = "the width of a bar")]
        let part = if limit.most > 0 { spent as f64 / limit.most as f64 } else { 1.0 };
        let class = if part >= 1.0 { "over" } else { "cost" };
        #[expect(clippy::cast_precision_loss, reason = "a line of a chart")]
        let most = limit.most as f64;
        let label =
            format!("Spent over time: {} of {}", limit.unit.number(spent), limit.unit.said(limit.most));
        html! {
            p.used {
                (chart::bar(part, class))
                span { (limit.unit.number(spent)) " of " (limit.unit.said(limit.most))
                    @if held > 0 { span.part { (limit.unit.said(held)) " under way" } } }
                @if !course.is_empty() { (chart::against(course, most, &label)) }
            }
        }
    }
}
