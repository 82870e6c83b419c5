//! Budgets, with what is spent of them.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    Controlled,
    answer::{ApiResult, CheckedQuery, JsonAnswer, Problem},
    runs::{bad_cursor, page},
};
use crate::control::budgets::AccountView;

/// Accounts of a page where nothing else is asked for.
const PAGE: usize = 100;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BudgetQuery {
    /// The name of a budget.
    budget: Option<String>,
    /// 1 to 1000.
    limit: Option<usize>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// Accounts of budgets.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AccountList {
    /// Those first that have spent the largest part of a limit.
    pub accounts: Vec<AccountView>,
    /// How many there are in all.
    pub total: usize,
    /// The `cursor` of the next page. Null on the last page.
    pub next: Option<String>,
}

/// What each run, agent, client or tenant with a budget has spent.
#[utoipa::path(get, path = "/v1/budgets", params(BudgetQuery), responses(
    (status = 200, body = AccountList), (status = 400, body = Problem)))]
pub async fn list(
    State(control): Controlled,
    CheckedQuery(query): CheckedQuery<BudgetQuery>,
) -> ApiResult<AccountList> {
    let limit = page(query.limit, PAGE)?;
    let after = query.cursor.as_deref().map(str::parse).transpose().map_err(|()| bad_cursor())?;
    let page = control.budgets.list_after(query.budget.as_deref(), after.as_ref(), limit).await?;
    let next = page.next.map(|place| place.to_string());
    Ok(JsonAnswer(AccountList { accounts: page.accounts, total: page.total, next }))
}
