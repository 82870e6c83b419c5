//! Accounts as people see them, in the API and in the console.

use std::sync::Arc;

use sentinel_config::BudgetWindow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    super::{effective::Settled, names::Names, runs::usd},
    account::Account,
    amounts::{self, Amounts, UNITS},
    past::{self, Day},
    place::ListPlace,
    window::Period,
};

/// An account as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AccountView {
    pub budget: String,
    /// `run`, `agent`, `client` or `tenant`; empty where no configuration has the budget any more.
    pub per: String,
    pub tenant: String,
    pub client: String,
    pub agent: String,
    pub run: String,
    pub history: String,
    pub limits: LimitsView,
    pub spent: Amounts,
    pub spent_usd: f64,
    /// What workers hold in leases and have not used yet.
    pub held: Amounts,
    /// The largest part of a limit that is spent: 1 is all of it.
    pub share: f64,
    /// `fine`, `close` (from `warn_at` on) or `spent`.
    pub state: AccountState,
    pub started_ms: u64,
    pub last_asked_ms: u64,
    /// When all that is spent now no longer counts; null: never by itself.
    pub renews_ms: Option<u64>,
    /// From when on what was spent counts, for the console.
    #[serde(skip)]
    pub since_ms: u64,
    /// When it was spent, by the parts of its window, for the console.
    #[serde(skip)]
    pub parts: Vec<(u64, Amounts)>,
    /// What counted on the last seven days, today among them, for the console.
    #[serde(skip)]
    pub days: Vec<Day>,
}

/// A page of accounts.
#[derive(Clone, Debug, Default)]
pub struct AccountPage {
    pub accounts: Vec<AccountView>,
    /// How many there are in all.
    pub total: usize,
    /// The place of the last, where there are more.
    pub next: Option<ListPlace>,
}

/// The limits of an account; null: any amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LimitsView {
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub requests: Option<u64>,
    pub tool_calls: Option<u64>,
    pub seconds: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    #[default]
    Fine,
    Close,
    Spent,
}

pub(super) fn view(account: &Account, configs: &[Arc<Settled>], now_ms: u64) -> AccountView {
    let mut account = account.clone();
    let mut budgets = configs.iter().flat_map(|config| &config.budgets);
    let budget = budgets.find(|budget| *budget.name == *account.budget);
    let period = Period::of(budget.map_or(&BudgetWindow::Run, |budget| &budget.window), now_ms);
    account.advance(period, now_ms);
    let (spent, held) = (account.spent(), account.held());
    let limits = budget.map(|budget| budget.limits).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let part = |spent: u64, limit: Option<u64>| limit.map_or(0.0, |limit| spent as f64 / limit.max(1) as f64);
    let lived = now_ms.saturating_sub(account.started_ms).checked_div(1_000).unwrap_or(0);
    let parts = UNITS.into_iter().map(|unit| part(spent.get(unit), amounts::limit(&limits, unit)));
    let share = parts.chain([part(lived, limits.seconds)]).fold(0.0, f64::max);
    let Names { tenant, client, agent, run, history } = account.names.clone();
    AccountView {
        budget: account.budget.clone(),
        per: budget.map(|budget| format!("{:?}", budget.per).to_lowercase()).unwrap_or_default(),
        tenant,
        client,
        agent,
        run,
        history,
        limits: LimitsView {
            usd: limits.nano_usd.map(usd),
            tokens: limits.tokens,
            output_tokens: limits.output_tokens,
            requests: limits.requests,
            tool_calls: limits.tool_calls,
            seconds: limits.seconds,
        },
        spent,
        spent_usd: usd(spent.nano_usd),
        held,
        share,
        state: match budget {
            _ if share >= 1.0 => AccountState::Spent,
            Some(budget) if share >= budget.warn_at => AccountState::Close,
            _ => AccountState::Fine,
        },
        started_ms: account.started_ms,
        last_asked_ms: account.asked_ms,
        renews_ms: period.renews_ms,
        since_ms: if period.renews_ms.is_some() { period.since_ms } else { account.started_ms },
        parts: account.parts().to_vec(),
        days: past::last_days(account.days(), now_ms),
    }
}
