//! Budgets as workers meet them, over both stores, and with two replicas at once: no limit is overrun by more than the requests then in
//! flight were misjudged.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use embedding_service::control::{
    Control,
    budgets::{AccountState, ReserveError},
    events::Event,
    live::{ChangeError, SettingsChange},
    options::ControlOptions,
    store::{ControlStore, Cursor, Log, MemoryControl, Part, RedisControl},
};
use sentinel_proto::v1::{self, Unit};
use serde_json::{Value, json};

use crate::{
    control_suite::names,
    support::redis::{Redis, redis_settings},
};

type Store = Arc<dyn ControlStore>;

macro_rules! suite {
    ($($behaviour:ident;)*) => {
        mod memory {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(Arc::new(MemoryControl::new(64 << 20))).await;
            })*
        }
        mod redis {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                let redis = Redis::start().await;
                let store = RedisControl::open(&redis_settings(&redis.url(), &[])).await;
                super::$behaviour(Arc::new(store)).await;
            })*
        }
    };
}

suite! {
    a_limit_is_overrun_by_no_more_than_what_was_in_flight_was_misjudged;
    far_from_the_limit_few_requests_ask;
    who_has_no_budget_goes_on_and_who_is_not_known_must_say_more;
    a_budget_that_refuses_leaves_the_others_as_they_were;
    a_raised_limit_lets_the_same_run_go_on;
    unknown_prices_are_never_silently_free;
    what_passed_without_a_lease_is_counted_once;
    what_counted_today_is_kept_with_the_account;
    what_passed_without_a_lease_and_without_a_price_is_priced;
    what_a_call_without_a_reply_was_granted_is_given_back;
    accounts_are_told_apart_as_the_budget_says;
    settings_are_checked_kept_and_brought_back;
}

const CONFIGURATION: u64 = 77;

async fn control(store: &Store, budgets: &Value) -> Control {
    let control = Control::new(Arc::clone(store), &ControlOptions::default());
    let json = json!({"identity": {"principal": "x-client"}, "budgets": budgets}).to_string();
    assert!(!control.configurations.report(CONFIGURATION, &json).await.unwrap());
    control
}

fn amount(unit: Unit, value: u64) -> v1::Amount {
    v1::Amount { unit: unit.into(), value }
}

fn request(worker: u32, names: v1::Names, probable: Vec<v1::Amount>) -> v1::ReserveRequest {
    v1::ReserveRequest {
        worker: Some(v1::Worker { envoy: 9, number: worker }),
        names: Some(names),
        configuration_digest: CONFIGURATION,
        provider: "openai".to_owned(),
        model: "gpt-4o-mini".to_owned(),
        probable,
        ..v1::ReserveRequest::default()
    }
}

async fn reserve(control: &Control, request: v1::ReserveRequest) -> v1::ReserveReply {
    control.budgets.reserve(request).await.unwrap().0
}

/// A worker as the contract wants it, with one account.
struct Worker {
    number: u32,
    lease: Option<v1::BudgetState>,
    granted: u64,
    used: u64,
}

impl Worker {
    fn uses(&self, returned: bool) -> Vec<v1::LeaseUse> {
        let Some(state) = &self.lease else { return Vec::new() };
        let id = state.lease.as_ref().unwrap().id;
        let used = vec![amount(Unit::Tokens, self.used)];
        vec![v1::LeaseUse { id, account: state.account, used, returned, ..v1::LeaseUse::default() }]
    }

    /// Whether a request that probably takes this much may go on. Asks the service if the lease has too little left.
    async fn may(&mut self, control: &Control, probable: u64, calls: &AtomicU64) -> bool {
        if self.granted.saturating_sub(self.used) < probable {
            calls.fetch_add(1, Ordering::Relaxed);
            let mut request = request(self.number, names("a", "r"), vec![amount(Unit::Tokens, probable)]);
            request.leases = self.uses(false);
            let state = reserve(control, request).await.budgets.remove(0);
            if state.refused.is_some() {
                return false;
            }
            self.granted = state.lease.as_ref().unwrap().granted[0].value;
            assert!(self.granted.saturating_sub(self.used) >= probable, "the grant is enough");
            self.lease = Some(state);
        }
        self.used += probable;
        true
    }
}

fn tokens_of_a_run(limit: u64) -> Value {
    json!([{"name": "run", "limits": {"tokens": limit}}])
}

async fn a_limit_is_overrun_by_no_more_than_what_was_in_flight_was_misjudged(store: Store) {
    const LIMIT: u64 = 50_000;
    let budgets = tokens_of_a_run(LIMIT);
    let replicas = [Arc::new(control(&store, &budgets).await), Arc::new(control(&store, &budgets).await)];
    let (billed, misjudged) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let workers = (0..8_u32).map(|number| {
        let replicas = replicas.clone();
        let (billed, misjudged) = (Arc::clone(&billed), Arc::clone(&misjudged));
        tokio::spawn(async move {
            let calls = AtomicU64::new(0);
            let mut worker = Worker { number, lease: None, granted: 0, used: 0 };
            for n in 0..10_000_u64 {
                let probable = 50 + (n * 37 + u64::from(number) * 11) % 100;
                // The calls go to both replicas in turn.
                let control = &replicas[(n as usize + number as usize) % 2];
                if !worker.may(control, probable, &calls).await {
                    return;
                }
                tokio::task::yield_now().await;
                // Some take less than was reserved, some more.
                let real = match n % 7 {
                    0 => probable + 30,
                    1..=3 => probable / 2,
                    _ => probable,
                };
                billed.fetch_add(real, Ordering::Relaxed);
                misjudged.fetch_add(real.saturating_sub(probable), Ordering::Relaxed);
                worker.used = worker.used + real - probable;
                if n % 10 == 0 {
                    let name = format!("0000000000000009-{number}");
                    control.budgets.report(&name, CONFIGURATION, &worker.uses(false)).await.unwrap();
                }
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    let (billed, misjudged) = (billed.load(Ordering::Relaxed), misjudged.load(Ordering::Relaxed));
    // If a request takes more than was reserved, the next grant pays for it. So only the last request of each of the eight workers can overrun
    // the limit, by at most 30.
    assert!(billed <= LIMIT + 8 * 30, "{billed} of {LIMIT}, {misjudged} misjudged in all");
    assert!(billed > LIMIT * 9 / 10, "the budget can be used: {billed} of {LIMIT}");
}

async fn far_from_the_limit_few_requests_ask(store: Store) {
    let control = control(&store, &tokens_of_a_run(100_000_000)).await;
    let calls = AtomicU64::new(0);
    let mut worker = Worker { number: 0, lease: None, granted: 0, used: 0 };
    for _ in 0..1_000 {
        assert!(worker.may(&control, 1_000, &calls).await);
    }
    let calls = calls.load(Ordering::Relaxed);
    assert!(calls <= 40, "{calls} calls for 1000 requests");
    // Given back, it is free for another.
    control.budgets.report("0000000000000009-0", CONFIGURATION, &worker.uses(true)).await.unwrap();
    let (accounts, total) = control.budgets.list(Some("run"), 10).await.unwrap();
    assert_eq!((total, accounts[0].spent.tokens, accounts[0].held.tokens), (1, 1_000_000, 0));
}

async fn who_has_no_budget_goes_on_and_who_is_not_known_must_say_more(store: Store) {
    let control = control(&store, &json!([{"name": "b", "agent": "rich", "limits": {"requests": 1}}])).await;
    let reply = reserve(&control, request(0, names("poor", "r"), vec![amount(Unit::Requests, 1)])).await;
    assert!(reply.budgets.is_empty());
    let unknown =
        v1::ReserveRequest { configuration_digest: 5, ..request(0, names("rich", "r"), Vec::new()) };
    assert!(matches!(control.budgets.reserve(unknown).await, Err(ReserveError::NoConfiguration)));
    let nobody = v1::ReserveRequest { worker: None, ..request(0, names("rich", "r"), Vec::new()) };
    assert!(matches!(control.budgets.reserve(nobody).await, Err(ReserveError::Nobody)));
    let huge = vec![
        amount(Unit::Requests, u64::MAX),
        amount(Unit::Tokens, u64::MAX),
        v1::Amount { unit: 99, value: 1 },
    ];
    let reply = reserve(&control, request(0, names("rich", "r"), huge)).await;
    assert_eq!(reply.budgets[0].refused.as_ref().unwrap().limit, 1);
}

async fn a_budget_that_refuses_leaves_the_others_as_they_were(store: Store) {
    let budgets = json!([
        {"name": "wide", "per": "tenant", "window": "day", "limits": {"requests": 1000}},
        {"name": "tight", "limits": {"requests": 2}},
    ]);
    let control = control(&store, &budgets).await;
    let ask = async |worker: u32| {
        reserve(&control, request(worker, names("a", "r"), vec![amount(Unit::Requests, 1)])).await
    };
    for worker in 0..2 {
        let reply = ask(worker).await;
        assert!(reply.budgets.iter().all(|state| state.lease.is_some() && state.refused.is_none()));
    }
    let held = async || control.budgets.list(Some("wide"), 1).await.unwrap().0[0].held.requests;
    let before = held().await;
    let reply = ask(2).await;
    let (wide, tight) = (&reply.budgets[0], &reply.budgets[1]);
    assert!(wide.refused.is_none() && wide.lease.is_none());
    let limit = tight.refused.as_ref().unwrap();
    assert_eq!((limit.unit(), limit.limit, limit.spent, limit.held), (Unit::Requests, 2, 0, 2));
    tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    assert_eq!(held().await, before);
}

async fn events(store: &Store) -> Vec<Event> {
    let entries = store.log(&Log::Events, Part::After(Cursor::default(), 1_000)).await.unwrap();
    entries.iter().map(|entry| serde_json::from_slice(&entry.data).unwrap()).collect()
}

async fn a_raised_limit_lets_the_same_run_go_on(store: Store) {
    let control = control(&store, &tokens_of_a_run(100)).await;
    let ask = async |tokens: u64, used: Option<u64>| {
        let mut request = request(0, names("a", "r"), vec![amount(Unit::Tokens, tokens)]);
        if let Some(used) = used {
            let (accounts, _) = control.budgets.list(None, 1).await.unwrap();
            assert_eq!(accounts[0].budget, "run");
            let state = reserve(&control, request.clone()).await.budgets.remove(0);
            let lease = state.lease.unwrap();
            let used = vec![amount(Unit::Tokens, used)];
            request.leases =
                vec![v1::LeaseUse { id: lease.id, account: state.account, used, ..Default::default() }];
        }
        reserve(&control, request).await.budgets.remove(0)
    };
    assert!(ask(50, None).await.warned.is_none());
    let near = ask(10, Some(85)).await;
    assert_eq!((near.warned.as_ref().unwrap().spent, near.refused), (85, None));
    for _ in 0..3 {
        assert!(ask(20, None).await.refused.is_some());
    }
    let change = SettingsChange { author: "eve".to_owned(), ..SettingsChange::default() };
    let more = json!({"budgets": tokens_of_a_run(1_000)});
    control.live.set(more.as_object().unwrap().clone(), change).await.unwrap();
    let after = ask(20, None).await;
    assert!(after.refused.is_none() && after.warned.is_none() && after.lease.is_some());
    let (accounts, _) = control.budgets.list(None, 1).await.unwrap();
    assert_eq!((accounts[0].limits.tokens, accounts[0].state), (Some(1_000), AccountState::Fine));
    let kinds: Vec<&str> = events(&store).await.iter().map(|event| event.kind.into()).collect();
    assert_eq!(kinds, ["budget.warned", "budget.spent", "settings.changed"], "each once");
}

async fn unknown_prices_are_never_silently_free(store: Store) {
    let budget = |name: &str, unpriced: &str| json!({"name": name, "agent": name, "limits": {"usd": 1.0}, "unpriced": unpriced});
    let budgets =
        json!([budget("estimates", "estimate"), budget("refuses", "refuse"), budget("ignores", "ignore")]);
    let control = control(&store, &budgets).await;
    let tokens = || vec![amount(Unit::Tokens, 1_100), amount(Unit::OutputTokens, 100)];
    let usd = |state: &v1::BudgetState| state.lease.as_ref().unwrap().granted[0].value;
    let ask = async |agent: &str, model: &str, probable: Vec<v1::Amount>| {
        let request =
            v1::ReserveRequest { model: model.to_owned(), ..request(0, names(agent, model), probable) };
        let (mut reply, outcome) = control.budgets.reserve(request).await.unwrap();
        (reply.budgets.remove(0), reply.price, outcome.unpriced)
    };
    let (known, price, unpriced) = ask("estimates", "gpt-4o-mini", tokens()).await;
    // 1000 input tokens at 0.15 USD a million and 100 of output at 0.60.
    assert!(usd(&known) >= 210_000 && !unpriced);
    let price = price.unwrap();
    let step = &price.steps[0];
    assert_eq!(
        (step.input, step.cached, step.output, price.estimated),
        (150_000_000, 75_000_000, 600_000_000, false)
    );
    let (estimated, price, unpriced) = ask("estimates", "my-own", tokens()).await;
    assert!(usd(&estimated) > usd(&known) && price.unwrap().estimated && unpriced);
    let (refused, price, unpriced) = ask("refuses", "my-own", tokens()).await;
    assert!(
        refused.unpriced
            && refused.refused.is_some()
            && refused.lease.is_none()
            && price.is_none()
            && unpriced
    );
    let (ignored, price, unpriced) = ask("ignores", "my-own", tokens()).await;
    assert!(ignored.lease.is_some() && price.is_none() && unpriced);
    let priced = [tokens(), vec![amount(Unit::NanoUsd, 0)]].concat();
    let (own, _, unpriced) = ask("refuses", "my-own-2", priced).await;
    assert!(own.lease.is_some() && !unpriced, "the worker has a price of its own, which is 0");
}

async fn what_passed_without_a_lease_is_counted_once(store: Store) {
    let budgets = json!([
        {"name": "run", "limits": {"tokens": 1000}},
        {"name": "agent", "per": "agent", "window": "1h", "limits": {"tokens": 1000}},
    ]);
    let control = control(&store, &budgets).await;
    let outside = |tokens: u64| v1::LeaseUse {
        id: 4711,
        used: vec![amount(Unit::Tokens, tokens)],
        outside: Some(names("a", "r")),
        ..v1::LeaseUse::default()
    };
    for tokens in [300, 300, 500, 400, 900] {
        control.budgets.report("w", CONFIGURATION, &[outside(tokens)]).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(210)).await;
        let (accounts, total) = control.budgets.list(None, 10).await.unwrap();
        assert_eq!(total, 2);
        assert!(accounts.iter().all(|account| account.spent.tokens == tokens), "{accounts:?}");
    }
    let first = control.budgets.list_after(None, None, 1).await.unwrap();
    let second = control.budgets.list_after(None, first.next.as_ref(), 1).await.unwrap();
    let shown = [&first.accounts[0].budget, &second.accounts[0].budget];
    assert!(shown[0] != shown[1] && first.next.is_some() && second.next.is_none(), "{shown:?}");
    assert_eq!((first.total, second.total), (2, 2));
    let state = reserve(&control, request(0, names("a", "r"), vec![amount(Unit::Tokens, 200)])).await.budgets;
    assert!(state.iter().all(|state| state.refused.is_some()));
    control.budgets.report("w", 12_345, &[outside(5)]).await.unwrap();
    control
        .budgets
        .report("w", CONFIGURATION, &[v1::LeaseUse { id: 1, account: 99, ..Default::default() }])
        .await
        .unwrap();
}

async fn what_counted_today_is_kept_with_the_account(store: Store) {
    let budgets =
        json!([{"name": "agent", "per": "agent", "window": "1m", "limits": {"tokens": 1000, "requests": 9}}]);
    let control = control(&store, &budgets).await;
    let outside = v1::LeaseUse {
        id: 4711,
        used: vec![amount(Unit::Tokens, 900), amount(Unit::Requests, 1)],
        outside: Some(names("a", "r")),
        ..v1::LeaseUse::default()
    };
    control.budgets.report("w", CONFIGURATION, &[outside]).await.unwrap();
    let refused = reserve(&control, request(0, names("a", "r"), vec![amount(Unit::Tokens, 200)])).await;
    assert!(refused.budgets[0].refused.is_some());
    // Whoever starts anew finds it in the store. The day may have changed meanwhile.
    let restarted = self::control(&store, &budgets).await;
    let (accounts, _) = restarted.budgets.list(None, 10).await.unwrap();
    let days = &accounts[0].days;
    assert_eq!(days.iter().map(|day| day.most.tokens).max(), Some(900), "{days:?}");
    assert!(days.iter().any(|day| day.was_refused(Some(Unit::Tokens))), "{days:?}");
    assert!(!days.iter().any(|day| day.was_refused(Some(Unit::Requests)) || day.was_refused(None)));
}

async fn what_passed_without_a_lease_and_without_a_price_is_priced(store: Store) {
    let budget =
        |name: &str, unpriced: &str| json!({"name": name, "limits": {"usd": 1.0}, "unpriced": unpriced});
    let control =
        control(&store, &json!([budget("estimates", "estimate"), budget("ignores", "ignore")])).await;
    let outside = |id: u64, model: &str, run: &str| v1::LeaseUse {
        id,
        used: vec![amount(Unit::Tokens, 1_100), amount(Unit::OutputTokens, 100), amount(Unit::Requests, 1)],
        outside: Some(names("a", run)),
        provider: "openai".to_owned(),
        model: model.to_owned(),
        ..v1::LeaseUse::default()
    };
    let told = [outside(1, "gpt-4o-mini", "known"), outside(2, "my-own", "unknown")];
    control.budgets.report("w", CONFIGURATION, &told).await.unwrap();
    let (accounts, _) = control.budgets.list(None, 10).await.unwrap();
    let spent = |budget: &str, run: &str| {
        let account = accounts.iter().find(|account| account.budget == budget && account.run == run).unwrap();
        account.spent.nano_usd
    };
    // 1000 input tokens at 0.15 USD a million and 100 of output at 0.60.
    assert_eq!((spent("estimates", "known"), spent("ignores", "known")), (210_000, 210_000));
    assert!(spent("estimates", "unknown") > 210_000, "as the dearest");
    assert_eq!(spent("ignores", "unknown"), 0);
}

async fn what_a_call_without_a_reply_was_granted_is_given_back(store: Store) {
    let control = control(&store, &tokens_of_a_run(10_000)).await;
    let ask =
        v1::ReserveRequest { lease: 4_711, ..request(0, names("a", "r"), vec![amount(Unit::Tokens, 500)]) };
    let state = reserve(&control, ask).await.budgets.remove(0);
    assert_eq!(state.lease.unwrap().id, 4_711, "the worker has chosen it");
    let given_back =
        v1::LeaseUse { id: 4_711, returned: true, outside: Some(names("a", "r")), ..v1::LeaseUse::default() };
    let worker = "0000000000000009-0";
    for _ in 0..2 {
        control.budgets.report(worker, CONFIGURATION, std::slice::from_ref(&given_back)).await.unwrap();
    }
    let (accounts, _) = control.budgets.list(None, 10).await.unwrap();
    assert_eq!((accounts[0].spent.tokens, accounts[0].held.tokens), (0, 0));
    // One that was never heard of leaves nothing behind either.
    let unheard = v1::LeaseUse { id: 5, ..given_back };
    control.budgets.report(worker, CONFIGURATION, &[unheard]).await.unwrap();
    let all = reserve(&control, request(0, names("a", "r"), vec![amount(Unit::Tokens, 10_000)])).await;
    assert!(all.budgets[0].refused.is_none(), "all of it is free");
}

async fn accounts_are_told_apart_as_the_budget_says(store: Store) {
    let budgets = json!([
        {"name": "run", "limits": {"requests": 1}},
        {"name": "agent", "per": "agent", "window": "week", "limits": {"requests": 100}},
        {"name": "client", "per": "client", "window": "month", "limits": {"requests": 100}},
        {"name": "tenant", "per": "tenant", "window": "90m", "limits": {"requests": 100}},
    ]);
    let control = control(&store, &budgets).await;
    let mut accounts: HashMap<String, Vec<u64>> = HashMap::new();
    for (tenant, client, agent, run) in [
        ("t", "c", "a", "r"),
        ("t", "c", "a", "s"),
        ("t", "c", "b", "r"),
        ("t", "d", "a", "r"),
        ("u", "c", "a", "r"),
        ("", "", "", "r"),
    ] {
        let names = v1::Names {
            tenant: tenant.to_owned(),
            client: client.to_owned(),
            agent: agent.to_owned(),
            run: run.to_owned(),
            history: 0,
        };
        for state in reserve(&control, request(0, names, vec![amount(Unit::Requests, 1)])).await.budgets {
            let known = accounts.entry(state.budget).or_default();
            if !known.contains(&state.account) {
                known.push(state.account);
            }
        }
    }
    let count = |name: &str| accounts[name].len();
    assert_eq!((count("run"), count("agent"), count("client"), count("tenant")), (6, 5, 3, 3));
    let none = v1::Names { tenant: "t".to_owned(), ..v1::Names::default() };
    let reply = reserve(&control, request(0, none, vec![amount(Unit::Requests, 1)])).await;
    assert!(reply.budgets.iter().all(|state| state.budget != "run"), "it belongs to no run");
}

async fn settings_are_checked_kept_and_brought_back(store: Store) {
    let (one, two) = (control(&store, &tokens_of_a_run(5)).await, control(&store, &tokens_of_a_run(5)).await);
    let change =
        |version: u64| SettingsChange { author: "eve".to_owned(), reason: "why".to_owned(), version };
    let object = |value: Value| value.as_object().unwrap().clone();
    for (settings, path) in [
        (json!({"kill": {}}), "kill"),
        (json!({"steps": {"window": 5}}), "steps.window"),
        (json!({"budgets": [{"name": "b", "limits": {"usd": 0}}]}), "budgets[0].limits.usd"),
        (json!({"agents": [{"name": "a", "settings": {"mode": "sometimes"}}]}), "agents[0].settings.mode"),
        (json!({"agents": 5}), "agents"),
    ] {
        let error = one.live.set(object(settings), change(0)).await.unwrap_err();
        assert!(matches!(&error, ChangeError::Invalid(said) if said.contains(path)), "{error}");
    }
    assert_eq!(one.live.news(0).await.unwrap(), (0, None));
    let first = json!({"budgets": tokens_of_a_run(7)});
    assert_eq!(one.live.set(object(first.clone()), change(0)).await.unwrap().version, 1);
    // Two at once: the second is told.
    let conflict = two.live.set(object(json!({})), change(0)).await.unwrap_err();
    assert!(matches!(conflict, ChangeError::Conflict(1)), "{conflict}");
    let (a, b) = tokio::join!(
        one.live.set(Default::default(), change(1)),
        two.live.set(Default::default(), change(1))
    );
    assert_eq!(usize::from(a.is_ok()) + usize::from(b.is_ok()), 1);
    assert!(two.live.observe("night", true, change(2)).await.is_ok());
    let back = one.live.roll_back(1, change(3)).await.unwrap();
    assert_eq!(
        (back.version, back.rolled_back_to, Value::Object(back.settings)),
        (4, Some(1), first.clone())
    );
    assert!(matches!(one.live.roll_back(99, change(4)).await, Err(ChangeError::NoVersion(99))));
    let history = two.live.history(None).await.unwrap();
    let versions: Vec<u64> = history.iter().map(|(_, settings)| settings.version).collect();
    assert_eq!(versions, [4, 3, 2, 1]);
    assert_eq!(history[1].1.settings["agents"], json!([{"name": "night", "settings": {"mode": "observe"}}]));
    let restarted = control(&store, &tokens_of_a_run(5)).await;
    let (version, directive) = restarted.live.news(0).await.unwrap();
    let Some(v1::directive::Kind::Settings(told)) = directive.unwrap().kind else { panic!("settings") };
    assert_eq!((version, told.version, serde_json::from_str::<Value>(&told.json).unwrap()), (4, 4, first));
    assert_eq!(restarted.live.news(4).await.unwrap(), (4, None));
    assert_eq!(one.live.roll_back(0, change(4)).await.unwrap().settings.len(), 0);
}
