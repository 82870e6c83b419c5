//! Budgets: what a request will probably take is reserved before it goes on, and corrected when its answer has come. An account is a document
//! in the store, so all Envoys and all replicas together keep its limits.

mod account;
mod amounts;
mod past;
mod place;
mod view;
mod window;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sentinel_config::{AtLimit, Budget, BudgetPer, BudgetWindow, Payer, Unpriced};
use sentinel_proto::v1;

use self::{
    account::{Account, AccountAnswer, Question, Use},
    view::view,
    window::Period,
};
pub use self::{
    amounts::Amounts,
    past::{Day, WEEK_MS},
    place::ListPlace,
    view::{AccountPage, AccountState, AccountView, LimitsView},
};
use super::{
    clock,
    effective::Effective,
    events::{Event, EventKind},
    ingest::{append, decode, encode, worker_name},
    mirror::Mirror,
    names::{Names, digest, hex, unhex},
    prices::{Price, Prices, Tokens},
    store::{Commit, Committed, ControlStore, Document, DocumentKind, Key, Put, Version},
};
use crate::store::StoreError;

const ATTEMPTS: u32 = 50;
/// Budgets that one request can have.
const MOST_BUDGETS: usize = 64;
/// How long an account of a run is stored after its last request.
const RUN_TTL: Duration = Duration::from_secs(7 * 24 * 3_600);
const CALENDAR_TTL: Duration = Duration::from_secs(40 * 24 * 3_600);
/// Locks in this process. Each account has one of them, so that two reservations of one account do not conflict at the store.
const LOCKS: usize = 64;
const FRESH: Duration = Duration::from_millis(200);

/// All budgets.
pub struct Budgets {
    store: Arc<dyn ControlStore>,
    prices: Arc<Prices>,
    effective: Arc<Effective>,
    accounts: Mirror<Account>,
    /// About how many events are stored.
    events: usize,
    locks: Vec<tokio::sync::Mutex<()>>,
}

/// Why nothing was reserved.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    #[error("the request names no worker: `worker.envoy` must not be 0")]
    Nobody,
    #[error("the worker's configuration is not known here: send it with the next report")]
    NoConfiguration,
    #[error("a request has at most {MOST_BUDGETS} budgets")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of a reservation, for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReserveOutcome {
    pub refused: bool,
    pub warned: bool,
    /// No price is known of the model.
    pub unpriced: bool,
}

/// What a worker reports of a lease. For requests that passed without a lease, also whose they were and which budget they belong to.
type LeaseUse<'a> = (Use, Option<(Names, &'a Budget)>);

fn payer(names: &Names) -> Payer<'_> {
    Payer {
        tenant: names.tenant.as_bytes(),
        client: names.client.as_bytes(),
        agent: names.agent.as_bytes(),
        has_run: names.has_run(),
    }
}

/// The names that tell the accounts of a budget apart. Requests without a name share an account, so nobody evades a budget by leaving a name
/// out.
fn payers_names(budget: &Budget, names: &Names) -> Names {
    let Names { tenant, client, agent, run, history } = names.clone();
    match budget.per {
        BudgetPer::Run => Names { tenant, client, agent, run, history },
        BudgetPer::Agent => Names { tenant, client, agent, ..Names::default() },
        BudgetPer::Client => Names { client, ..Names::default() },
        BudgetPer::Tenant => Names { tenant, ..Names::default() },
    }
}

/// The account's number; never 0.
fn account_of(budget: &Budget, names: &Names) -> u64 {
    let Names { tenant, client, agent, run, history } = names;
    let per = format!("{:?}", budget.per);
    let digits = digest(&[&budget.name, &per, tenant, client, agent, run, history]);
    digits.get(..16).and_then(unhex).unwrap_or(0).max(1)
}

fn ttl(window: &BudgetWindow) -> Duration {
    match window {
        BudgetWindow::Run => RUN_TTL,
        // The last days are stored with it.
        BudgetWindow::Sliding(length) => Duration::from_millis(length.saturating_mul(2)).max(RUN_TTL),
        BudgetWindow::Calendar(..) => CALENDAR_TTL,
    }
}

fn told(lease: &v1::LeaseUse) -> Use {
    Use { id: lease.id, used: Amounts::of(&lease.used), returned: lease.returned }
}

/// The price of a request's model, and what the request needs. The need in money depends on how a budget treats unknown prices.
struct Cost {
    price: Option<Arc<Price>>,
    dearest: Option<Arc<Price>>,
    needs: Amounts,
}

impl Cost {
    fn needs(&self, unpriced: Unpriced) -> Amounts {
        let tokens = Tokens {
            input_tokens: self.needs.tokens.saturating_sub(self.needs.output_tokens),
            output_tokens: self.needs.output_tokens,
            ..Tokens::default()
        };
        let price = self.price.as_ref().or(self.dearest.as_ref().filter(|_| unpriced == Unpriced::Estimate));
        let nano_usd = match price {
            Some(price) if self.needs.nano_usd == 0 => price.of(tokens),
            _ => self.needs.nano_usd,
        };
        Amounts { nano_usd, ..self.needs }
    }
}

impl Budgets {
    #[must_use]
    pub fn new(
        store: Arc<dyn ControlStore>,
        prices: Arc<Prices>,
        effective: Arc<Effective>,
        events: usize,
    ) -> Self {
        let accounts = Mirror::new(Arc::clone(&store), DocumentKind::Account);
        let locks = (0..LOCKS).map(|_| tokio::sync::Mutex::default()).collect();
        Self { store, prices, effective, accounts, events, locks }
    }

    async fn lock(&self, account: u64) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        let count = u64::try_from(self.locks.len()).unwrap_or(1).max(1);
        let at = usize::try_from(account.checked_rem(count)?).ok()?;
        Some(self.locks.get(at)?.lock().await)
    }

    fn cost(&self, request: &v1::ReserveRequest) -> Cost {
        let needs = Amounts::of(&request.probable);
        let is_priced = request.probable.iter().any(|amount| amount.unit() == v1::Unit::NanoUsd);
        let price = if is_priced { None } else { self.prices.price(&request.provider, &request.model) };
        let is_known = is_priced || price.is_some();
        let dearest = if is_known { None } else { self.prices.dearest(&request.provider) };
        Cost { price, dearest, needs }
    }

    /// Reserves what a request will take, in all of its budgets or in none.
    pub async fn reserve(
        &self,
        request: v1::ReserveRequest,
    ) -> Result<(v1::ReserveReply, ReserveOutcome), ReserveError> {
        let worker = worker_name(request.worker).ok_or(ReserveError::Nobody)?;
        let config = self.effective.of(request.configuration_digest).await?;
        let config = config.ok_or(ReserveError::NoConfiguration)?;
        let cost = self.cost(&request);
        let names = Names::of(request.names.clone().unwrap_or_default());
        let fitting: Vec<&Budget> =
            config.budgets.iter().filter(|budget| budget.fits(payer(&names))).collect();
        let is_priced = cost.dearest.is_none();
        let counts_usd = |budget: &&Budget| budget.limits.nano_usd.is_some();
        let unpriced = !is_priced && fitting.iter().any(counts_usd);
        let estimates = fitting
            .iter()
            .filter(|budget| counts_usd(budget))
            .any(|budget| budget.unpriced == Unpriced::Estimate);
        let price = match (&cost.price, &cost.dearest) {
            (Some(price), _) => Some(price.message(false)),
            (None, Some(dearest)) if estimates => Some(dearest.message(true)),
            _ => None,
        };
        if fitting.is_empty() {
            let outcome = ReserveOutcome { refused: false, warned: false, unpriced };
            return Ok((v1::ReserveReply { budgets: Vec::new(), price }, outcome));
        }
        if fitting.len() > MOST_BUDGETS {
            return Err(ReserveError::TooMany);
        }
        let accounts: Vec<(u64, Names, &Budget)> = fitting
            .into_iter()
            .map(|budget| {
                let names = payers_names(budget, &names);
                (account_of(budget, &names), names, budget)
            })
            .collect();
        let _turn = self.lock(accounts.iter().map(|(id, ..)| *id).min().unwrap_or(0)).await;
        let keys: Vec<Key> =
            accounts.iter().map(|(id, ..)| Key::new(DocumentKind::Account, hex(*id))).collect();
        for _ in 0..ATTEMPTS {
            let read = self.store.read(&keys).await?;
            let now_ms = clock::now_ms();
            let mut before: Vec<Account> = Vec::new();
            let mut after: Vec<(Account, AccountAnswer, bool)> = Vec::new();
            for ((id, names, budget), document) in accounts.iter().zip(&read) {
                let mut account: Account = decode(document);
                account.budget = budget.name.to_string();
                account.names = names.clone();
                let period = Period::of(&budget.window, now_ms);
                // The worker's report counts first. Only then do leases expire that were not reported in time.
                for lease in request.leases.iter().filter(|lease| lease.account == *id) {
                    account.count(told(lease), period, now_ms);
                }
                account.advance(period, now_ms);
                before.push(account.clone());
                let is_unpriced =
                    unpriced && budget.limits.nano_usd.is_some() && budget.unpriced == Unpriced::Refuse;
                let needs = cost.needs(budget.unpriced);
                let new_id = if request.lease == 0 { clock::random() } else { request.lease };
                let question = Question { budget, worker: &worker, needs, is_unpriced, new_id, now_ms };
                let answer = account.reserve(question, period);
                after.push((account, answer, is_unpriced));
            }
            let is_refused = after.iter().zip(&accounts).any(|((_, answer, _), (.., budget))| {
                answer.refused.is_some() && budget.at_limit == AtLimit::Kill
            });
            let mut commit = Commit { expect: expected(&keys, &read), ..Commit::default() };
            let mut states = Vec::new();
            let mut warned = false;
            for (((account, mut answer, is_unpriced), before), (id, _, budget)) in
                after.into_iter().zip(before).zip(&accounts)
            {
                // If one budget refuses the request, no budget grants anything.
                let mut kept = account;
                if is_refused {
                    kept.keep_leases_of(&before);
                    answer.lease = None;
                }
                commit.appends.extend(self.told(&answer, budget, &names, now_ms));
                warned |= answer.warned.is_some();
                let key = Key::new(DocumentKind::Account, hex(*id));
                commit.puts.push(Put { key, data: encode(&kept), ttl: Some(ttl(&budget.window)) });
                states.push(v1::BudgetState {
                    budget: budget.name.to_string(),
                    account: *id,
                    lease: answer.lease,
                    refused: answer.refused,
                    warned: answer.warned,
                    record_only: budget.at_limit == AtLimit::Record,
                    unpriced: is_unpriced,
                });
            }
            if self.store.commit(&commit).await? != Committed::Conflict {
                let outcome = ReserveOutcome { refused: is_refused, warned, unpriced };
                return Ok((v1::ReserveReply { budgets: states, price }, outcome));
            }
        }
        Err(StoreError::Contended.into())
    }

    fn told(
        &self,
        answer: &AccountAnswer,
        budget: &Budget,
        names: &Names,
        now_ms: u64,
    ) -> Vec<super::store::Append> {
        let event = |kind: EventKind, limit: &v1::Limit| {
            let unit = if limit.seconds { "seconds" } else { limit.unit().as_str_name() };
            let event = Event::new(kind, now_ms, names).with("budget", &&*budget.name);
            let event = event.with("unit", &unit.to_ascii_lowercase()).with("limit", &limit.limit);
            append(&event.with("spent", &limit.spent).with("held", &limit.held), self.events)
        };
        let warned = answer.warned.as_ref().filter(|_| answer.tells_warned);
        let spent = answer.refused.as_ref().filter(|_| answer.tells_spent);
        let warned = warned.map(|limit| event(EventKind::BudgetWarned, limit));
        warned.into_iter().chain(spent.map(|limit| event(EventKind::BudgetSpent, limit))).collect()
    }

    /// Counts what a worker has used of its leases.
    pub async fn report(
        &self,
        worker: &str,
        configuration: u64,
        leases: &[v1::LeaseUse],
    ) -> Result<(), StoreError> {
        if leases.is_empty() {
            return Ok(());
        }
        let config = self.effective.of(configuration).await?;
        let budgets: &[Budget] = config.as_ref().map_or(&[], |config| &config.budgets);
        let mut by_account: BTreeMap<u64, Vec<LeaseUse<'_>>> = BTreeMap::new();
        for lease in leases.iter().filter(|lease| lease.id != 0) {
            match &lease.outside {
                None => by_account.entry(lease.account).or_default().push((told(lease), None)),
                Some(names) => {
                    let names = Names::of(names.clone());
                    for budget in budgets.iter().filter(|budget| budget.fits(payer(&names))) {
                        let names = payers_names(budget, &names);
                        let account = account_of(budget, &names);
                        let told = self.told_outside(lease, budget.unpriced);
                        by_account.entry(account).or_default().push((told, Some((names, budget))));
                    }
                }
            }
        }
        for (id, uses) in by_account {
            self.count(worker, id, &uses, budgets).await?;
        }
        Ok(())
    }

    /// What passed without a lease. If the worker knew no price, the tokens are priced here.
    fn told_outside(&self, lease: &v1::LeaseUse, unpriced: Unpriced) -> Use {
        let Use { id, used, returned } = told(lease);
        let is_priced = lease.used.iter().any(|amount| amount.unit() == v1::Unit::NanoUsd);
        if is_priced || used.tokens == 0 {
            return Use { id, used, returned };
        }
        let price = self.prices.price(&lease.provider, &lease.model);
        let dearest = || self.prices.dearest(&lease.provider).filter(|_| unpriced != Unpriced::Ignore);
        let tokens = Tokens {
            input_tokens: used.tokens.saturating_sub(used.output_tokens),
            output_tokens: used.output_tokens,
            ..Tokens::default()
        };
        let nano_usd = price.or_else(dearest).map_or(0, |price| price.of(tokens));
        Use { id, used: Amounts { nano_usd, ..used }, returned }
    }

    async fn count(
        &self,
        worker: &str,
        id: u64,
        uses: &[LeaseUse<'_>],
        budgets: &[Budget],
    ) -> Result<(), StoreError> {
        let _turn = self.lock(id).await;
        let key = Key::new(DocumentKind::Account, hex(id));
        for _ in 0..ATTEMPTS {
            let read = self.store.read(std::slice::from_ref(&key)).await?;
            let Some(document) = read.first() else { return Ok(()) };
            let outside = uses.iter().find_map(|(_, outside)| outside.as_ref());
            if document.version == 0 && outside.is_none() {
                return Ok(());
            }
            let mut account: Account = decode(document);
            if let Some((names, budget)) = outside {
                account.budget = budget.name.to_string();
                account.names = names.clone();
            }
            let budget = budgets.iter().find(|budget| *budget.name == *account.budget);
            let window = budget.map_or(BudgetWindow::Run, |budget| budget.window.clone());
            let now_ms = clock::now_ms();
            if account.started_ms == 0 {
                (account.started_ms, account.asked_ms) = (now_ms, now_ms);
            }
            if outside.is_some() {
                account.asked_ms = now_ms;
            }
            let period = Period::of(&window, now_ms);
            // As in a reservation.
            for (told, outside) in uses {
                match outside {
                    Some(_) => account.count_outside(worker, *told, period, now_ms),
                    None => account.count(*told, period, now_ms),
                }
            }
            account.advance(period, now_ms);
            let ttl = Some(budget.map_or(RUN_TTL, |budget| ttl(&budget.window)));
            let commit = Commit {
                expect: vec![(key.clone(), document.version)],
                puts: vec![Put { key: key.clone(), data: encode(&account), ttl }],
                appends: Vec::new(),
            };
            if self.store.commit(&commit).await? != Committed::Conflict {
                return Ok(());
            }
        }
        Err(StoreError::Contended)
    }

    /// All accounts, those first that have spent the largest part, and how many there are.
    pub async fn list(
        &self,
        budget: Option<&str>,
        most: usize,
    ) -> Result<(Vec<AccountView>, usize), StoreError> {
        let page = self.list_after(budget, None, most).await?;
        Ok((page.accounts, page.total))
    }

    /// A page of accounts, behind the last of the page before.
    pub async fn list_after(
        &self,
        budget: Option<&str>,
        after: Option<&ListPlace>,
        most: usize,
    ) -> Result<AccountPage, StoreError> {
        let configs = self.effective.all().await?;
        self.accounts.refresh(FRESH).await?;
        let now_ms = clock::now_ms();
        let oldest = now_ms.saturating_sub(clock::milliseconds(CALENDAR_TTL));
        self.accounts.forget(|account| account.asked_ms >= oldest);
        let items = self.accounts.items();
        let accounts = items.by_id.iter().map(|(id, item)| (id, &item.value));
        let accounts = accounts.filter(|(_, account)| budget.is_none_or(|budget| budget == account.budget));
        let mut total: usize = 0;
        let mut views: Vec<(ListPlace, AccountView)> = Vec::new();
        for (id, account) in accounts {
            total = total.saturating_add(1);
            let view = view(account, &configs, now_ms);
            let place = ListPlace::of(&view, id);
            if after.is_none_or(|after| place > *after) {
                views.push((place, view));
            }
        }
        views.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let more = views.len() > most;
        views.truncate(most);
        let next = views.last().filter(|_| more).map(|(place, _)| place.clone());
        Ok(AccountPage { accounts: views.into_iter().map(|(_, view)| view).collect(), total, next })
    }
}

fn expected(keys: &[Key], read: &[Document]) -> Vec<(Key, Version)> {
    keys.iter().cloned().zip(read.iter().map(|document| document.version)).collect()
}
