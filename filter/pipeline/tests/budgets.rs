//! What requests take from budgets: from a lease without a call, or from the service if a lease has too little. Also what happens
//! at the hint, at the limit, and while the service is away. A small account with the contract's arithmetic plays the service.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use sentinel_pipeline::{
    budget::amounts::{Amounts, Price, PriceStep, Unit},
    bypass::Bypass,
    control::{
        BudgetState, Directive, Grant, LeaseUse, Limit, LiveSettings, Report, ReportReply, Reservation,
        ReserveReply,
    },
    in_memory::{ClientRequest, Exchange, InMemory, ProviderResponse},
    metric::{Metric, Reserved},
    service_outcome::ServiceOutcome,
};
use serde_json::{Value, json};

const BASE: &str = r#"{"control":{"enabled":true},"semantic":{"enabled":false},"score":{"enabled":false},"mcp":{"paths":[{"prefix":"/mcp"}]},"budgets":[BUDGETS]}"#;
const TOKENS: &str = r#"{"name":"each-task","limits":{"tokens":10000}}"#;
const USD: &str = r#"{"name":"each-task","limits":{"usd":0.5}}"#;

/// 1 USD for a million input tokens, half of it for cached ones, 10 USD for output.
fn price(is_estimated: bool) -> Price {
    let step = PriceStep { above: 0, input: 1_000_000_000, cached: 500_000_000, output: 10_000_000_000 };
    Price { steps: vec![step], is_estimated }
}

/// One account, whatever the names.
#[derive(Default)]
struct Service {
    limit: Amounts,
    warn_at: u64,
    /// It grants this many times what a request needs.
    share: u64,
    spent: u64,
    leases: HashMap<u64, (u64, u64)>,
    of_worker: Option<u64>,
    price: Option<Price>,
    only_records: bool,
    is_unpriced: bool,
    asked: Vec<Reservation>,
    told: Vec<LeaseUse>,
    fails: Option<ServiceOutcome>,
    /// The service hears the call, but its reply does not arrive.
    loses_replies: bool,
}

/// The unit that is limited.
fn unit(limit: Amounts) -> usize {
    limit.0.iter().position(|limit| *limit > 0).unwrap()
}

impl Service {
    fn of(unit: Unit, limit: u64) -> Self {
        let mut all = Amounts::default();
        all.0[unit as usize] = limit;
        Self { limit: all, warn_at: limit, share: 1, price: Some(price(false)), ..Self::default() }
    }

    fn held(&self) -> u64 {
        self.leases.values().map(|(granted, used)| granted.saturating_sub(*used)).sum()
    }

    fn count(&mut self, told: &LeaseUse) {
        self.told.push(told.clone());
        let at = unit(self.limit);
        let now = told.used.0[at];
        if told.outside.is_some() && !self.leases.contains_key(&told.id) {
            self.leases.insert(told.id, (0, 0));
        }
        if let Some((_, used)) = self.leases.get_mut(&told.id) {
            self.spent = self.spent + now - *used;
            *used = now;
            if told.is_returned {
                self.leases.remove(&told.id);
                self.of_worker = self.of_worker.filter(|id| *id != told.id);
            }
        }
    }

    fn reserve(&mut self, asked: &Reservation) -> Result<ReserveReply, ServiceOutcome> {
        self.asked.push(asked.clone());
        if let Some(outcome) = self.fails {
            return Err(outcome);
        }
        for told in &asked.leases {
            self.count(told);
        }
        let at = unit(self.limit);
        let limit = self.limit.0[at];
        let mut probable = asked.probable;
        if !asked.is_priced {
            let (input, output) = (probable.0[1] - probable.0[2], probable.0[2]);
            let usage = sentinel_llm_api::usage::Usage { input, cached: 0, output };
            probable.0[0] = self.price.as_ref().map_or(0, |price| price.of(&usage));
        }
        let need = probable.0[at];
        let id = self.of_worker.unwrap_or(asked.lease);
        let (granted, used) = self.leases.get(&id).copied().unwrap_or_default();
        let mine = granted.max(used) - used;
        let missing = need.saturating_sub(mine);
        let kind = Unit::Tokens;
        let unit = [Unit::NanoUsd, kind, Unit::OutputTokens, Unit::Requests, Unit::ToolCalls][at];
        let told = Limit { unit: Some(unit), limit, spent: self.spent, held: self.held() };
        let is_refused = self.is_unpriced || self.spent + self.held() + missing > limit;
        let refused = is_refused.then_some(told);
        let warned = (self.spent >= self.warn_at).then_some(told);
        let mut lease = None;
        if !is_refused || self.only_records {
            let room = limit.saturating_sub(self.spent + self.held() + missing);
            let extra = (need * (self.share - 1)).min(room);
            let granted = granted.max(used) + missing + extra;
            self.leases.insert(id, (granted, used));
            self.of_worker = Some(id);
            let mut all = Amounts::default();
            all.0[at] = granted;
            lease = Some(Grant { id, granted: all, ttl: 10_000, idle: 2_000 });
        }
        if self.loses_replies {
            return Err(ServiceOutcome::Timeout);
        }
        let state = BudgetState {
            budget: "each-task".into(),
            account: 77,
            lease,
            refused,
            warned,
            only_records: self.only_records,
            is_unpriced: self.is_unpriced,
        };
        Ok(ReserveReply { budgets: vec![state], price: self.price.clone() })
    }

    fn report(&mut self, report: &Report) -> Result<ReportReply, ServiceOutcome> {
        if let Some(outcome) = self.fails {
            return Err(outcome);
        }
        for told in &report.leases {
            self.count(told);
        }
        Ok(ReportReply::default())
    }
}

type Shared = Rc<RefCell<Service>>;

fn host_of(config: &str, service: Service) -> (InMemory, Shared) {
    let mut host = InMemory::of_json(config).unwrap();
    let service = Rc::new(RefCell::new(service));
    let (asked, told) = (Rc::clone(&service), Rc::clone(&service));
    host.reserve = Box::new(move |reservation| asked.borrow_mut().reserve(reservation));
    host.control = Box::new(move |report| told.borrow_mut().report(report));
    (host, service)
}

fn host(budget: &str, service: Service) -> (InMemory, Shared) {
    host_of(&BASE.replace("BUDGETS", budget), service)
}

fn with(config: &str, more: &str) -> String {
    config.replacen('{', &format!("{{{more},"), 1)
}

fn a_second_later(host: &mut InMemory) {
    host.now += 1_250;
    host.random += 1;
    host.tick();
}

fn request(model: &str, most: Option<u64>) -> ClientRequest {
    let mut body = json!({"model": model, "messages": [{"role": "user", "content": "x".repeat(4_000)}]});
    if let Some(most) = most {
        body["max_tokens"] = json!(most);
    }
    ClientRequest::post("/v1/chat/completions", body.to_string())
        .with("x-agent-id", "support-7")
        .with("x-run-id", "task-1")
}

fn ask() -> ClientRequest {
    request("gpt-4o", Some(100))
}

fn usage(input: u64, output: u64) -> ProviderResponse {
    ProviderResponse::json(
        json!({
            "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": input, "completion_tokens": output}
        })
        .to_string(),
    )
}

fn body_of(exchange: Exchange) -> String {
    String::from_utf8(exchange.reply.unwrap().body).unwrap()
}

fn reserved(host: &InMemory) -> [u64; 3] {
    [Reserved::Lease, Reserved::Granted, Reserved::Refused]
        .map(|outcome| host.counted(Metric::Reservations(outcome)))
}

#[test]
fn a_request_asks_once_and_the_next_ones_spend_of_the_lease_at_no_call() {
    let (mut host, service) = host(TOKENS, Service { share: 8, ..Service::of(Unit::Tokens, 10_000_000) });
    for _ in 0..8 {
        assert_eq!(host.exchange(&ask(), &usage(1_000, 90)).verdict(), Some("allow"));
    }
    let asked = service.borrow().asked.clone();
    let [first] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((first.names.agent.as_str(), first.names.run.as_str()), ("support-7", "task-1"));
    let bytes = u64::try_from(ask().body.len()).unwrap();
    assert_eq!(first.probable, Amounts([0, bytes.div_ceil(4) + 100, 100, 1, 0]));
    assert!(first.configuration.contains("each-task"), "the service may not know it yet");
    assert_eq!(reserved(&host), [7, 1, 0]);
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 8 * 1_090, "what they really took");
    a_second_later(&mut host);
    a_second_later(&mut host);
    assert_eq!((service.borrow().held(), service.borrow().leases.len()), (0, 0), "it is given back");
}

#[test]
fn who_has_no_budget_and_who_is_stopped_anyway_asks_for_nothing() {
    let config = with(&BASE.replace("BUDGETS", TOKENS), r#""models":[{"name":"gpt-4o"}]"#);
    let (mut host, service) = host_of(&config, Service::of(Unit::Tokens, 10_000));
    assert_eq!(host.exchange(&request("other", None), &usage(1, 1)).verdict(), Some("kill"));
    let nobody = ClientRequest { headers: Vec::new(), ..ask() };
    let nobody = ClientRequest::post("/v1/chat/completions", nobody.body);
    assert!(host.exchange(&nobody, &usage(1, 1)).sent.is_some(), "it belongs to no run");
    assert!(service.borrow().asked.is_empty());
}

#[test]
fn at_the_limit_the_agent_is_stopped_and_told_which_budget_and_what_is_spent() {
    for config in [BASE, &with(BASE, r#""kill":{"enabled":false}"#)] {
        let config = config.replace("BUDGETS", TOKENS);
        let (mut host, service) = host_of(&config, Service::of(Unit::Tokens, 3_000));
        for _ in 0..2 {
            assert_eq!(host.exchange(&ask(), &usage(1_000, 400)).verdict(), Some("allow"));
        }
        let killed = host.exchange(&ask(), &usage(1_000, 400));
        assert_eq!((killed.verdict(), killed.sent.is_some()), (Some("kill"), false));
        assert_eq!(killed.header("x-sentinel-reason"), Some("budget; budget=each-task"));
        let body = body_of(killed);
        assert!(
            body.contains("its budget `each-task` does not allow more: 2800 of 3000 tokens are spent"),
            "{body}"
        );
        let [line] = host.lines("verdict")[..] else { panic!("{:?}", host.log) };
        assert!(line.contains(r#""signal":"budget""#) && line.contains(r#""budget":"each-task""#), "{line}");
        assert!(!line.contains("support-7") && !line.contains("task-1"), "{line}");
        // A higher limit lets the same run go on.
        service.borrow_mut().limit.0[1] = 100_000;
        assert_eq!(host.exchange(&ask(), &usage(1_000, 400)).verdict(), Some("allow"));
        a_second_later(&mut host);
        assert_eq!(service.borrow().spent, 3 * 1_400);
    }
}

#[test]
fn the_hint_about_what_is_left_comes_once_in_a_run() {
    let (mut host, service) = host(TOKENS, Service { warn_at: 1_000, ..Service::of(Unit::Tokens, 10_000) });
    service.borrow_mut().spent = 8_000;
    service.borrow_mut().limit.0[1] = 10_000;
    let first = host.exchange(&ask(), &usage(300, 10));
    assert_eq!(
        (first.verdict(), first.header("x-sentinel-reason")),
        (Some("hint"), Some("budget; budget=each-task"))
    );
    let sent = String::from_utf8(first.sent.unwrap()).unwrap();
    assert!(
        sent.contains("About a fifth of what this task may spend is left: finish, or report what you have.")
    );
    assert_eq!(host.exchange(&ask(), &usage(300, 10)).verdict(), Some("allow"), "once");
    let other = host.exchange(&ask().with("x-run-id", "task-2"), &usage(300, 10));
    assert_eq!(other.verdict(), Some("hint"));
}

#[test]
fn what_is_only_recorded_neither_stops_nor_hints() {
    let service = Service { only_records: true, warn_at: 0, ..Service::of(Unit::Tokens, 1_000) };
    let (mut host, service) = host(TOKENS, service);
    for _ in 0..5 {
        assert_eq!(host.exchange(&ask(), &usage(1_000, 90)).verdict(), Some("allow"));
    }
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 5 * 1_090);
    assert!(host.counted(Metric::Reservations(Reserved::Recorded)) >= 4);
}

#[test]
fn in_observe_it_is_recorded_and_counted() {
    let config = with(&BASE.replace("BUDGETS", TOKENS), r#""mode":"observe""#);
    let (mut host, service) = host_of(&config, Service::of(Unit::Tokens, 500));
    assert!(host.exchange(&ask(), &usage(1_000, 90)).sent.is_some());
    assert_eq!(host.lines("verdict").len(), 1);
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 1_090);
    assert!(service.borrow().told.iter().any(|told| told.outside.is_some()));
}

#[test]
fn the_price_is_learned_once_and_a_model_without_one_is_refused_where_the_budget_says_so() {
    let (mut host, service) = host(USD, Service { share: 4, ..Service::of(Unit::NanoUsd, 500_000_000) });
    for _ in 0..3 {
        host.exchange(&ask(), &usage(1_000, 100));
    }
    assert_eq!(service.borrow().asked.len(), 1);
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 3 * (1_000_000 + 1_000_000));
    let refusing = USD.replace(r#""limits""#, r#""unpriced":"refuse","limits""#);
    let unpriced = Service { is_unpriced: true, price: None, ..Service::of(Unit::NanoUsd, 500_000_000) };
    let (mut host, _) = self::host(&refusing, unpriced);
    let body = body_of(host.exchange(&ask(), &usage(1, 1)));
    assert!(
        body.contains("`each-task` does not allow more: it counts money, and the model has no known price"),
        "{body}"
    );
}

#[test]
fn the_operators_own_prices_come_first_and_an_ignored_model_is_free() {
    let own = r#""prices":[{"name":"gpt-4o","input":3,"output":0}]"#;
    let config = with(&BASE.replace("BUDGETS", USD), own);
    let (mut host, service) = host_of(&config, Service::of(Unit::NanoUsd, 500_000_000));
    host.exchange(&ask(), &usage(1_000, 100));
    assert!(service.borrow().asked[0].is_priced);
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 3_000_000);
    let ignoring = USD.replace(r#""limits""#, r#""unpriced":"ignore","limits""#);
    let service = Service { price: None, ..Service::of(Unit::NanoUsd, 500_000_000) };
    let (mut host, service) = self::host(&ignoring, service);
    for _ in 0..3 {
        assert!(host.exchange(&ask(), &usage(1_000, 100)).sent.is_some());
    }
    a_second_later(&mut host);
    assert_eq!((service.borrow().spent, service.borrow().asked.len()), (0, 1));
}

fn stream(part: usize, is_cut_off: bool) -> ProviderResponse {
    let event =
        |word: &str| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": word}}]}));
    let words = ["one ", "two ", "six ", "ten ", "end "];
    let body = words.map(event).concat() + if is_cut_off { "" } else { "data: [DONE]\n\n" };
    let content_type = "text/event-stream".into();
    ProviderResponse { content_type, part: Some(part), is_cut_off, ..ProviderResponse::json(body) }
}

#[test]
fn a_stream_without_usage_is_counted_from_its_bytes_and_one_that_is_cut_off_as_much_as_it_probably_took() {
    let input = u64::try_from(ask().body.len().div_ceil(4)).unwrap();
    for (is_cut_off, output) in [(false, 5), (true, 100)] {
        let (mut host, service) = host(TOKENS, Service::of(Unit::Tokens, 10_000));
        host.exchange(&ask(), &stream(40, is_cut_off));
        a_second_later(&mut host);
        assert_eq!(service.borrow().spent, input + output, "{is_cut_off}");
    }
}

#[test]
fn an_answer_that_is_an_error_costs_a_request_and_no_tokens() {
    for (unit, spent) in [(Unit::Tokens, 0), (Unit::Requests, 1)] {
        let budget = r#"{"name":"each-task","limits":{"tokens":10000,"requests":9}}"#;
        let (mut host, service) = host(budget, Service::of(unit, 10_000));
        let failed = ProviderResponse { status: 500, ..usage(1_000, 90) };
        host.exchange(&ask(), &failed);
        a_second_later(&mut host);
        assert_eq!(service.borrow().spent, spent);
    }
}

#[test]
fn the_next_request_is_judged_by_what_the_last_one_took() {
    let (mut host, service) = host(TOKENS, Service::of(Unit::Tokens, 1_000_000));
    host.exchange(&request("gpt-4o", None), &usage(2_000, 7));
    host.exchange(&request("gpt-4o", None), &usage(2_000, 7));
    let asked = service.borrow().asked.clone();
    assert_eq!(asked[0].probable.get(Unit::OutputTokens), 1_000, "nothing is known of the run");
    let second = asked.last().unwrap().probable;
    assert_eq!((second.get(Unit::Tokens), second.get(Unit::OutputTokens)), (2_007, 7));
}

#[test]
fn while_the_service_is_away_requests_pass_and_are_reported_when_it_is_back() {
    for outcome in [ServiceOutcome::Unavailable, ServiceOutcome::Timeout, ServiceOutcome::Unimplemented] {
        let (mut host, service) = host(TOKENS, Service::of(Unit::Tokens, 3_000));
        service.borrow_mut().fails = Some(outcome);
        for _ in 0..4 {
            assert_eq!(host.exchange(&ask(), &usage(1_000, 90)).verdict(), Some("allow"));
            a_second_later(&mut host);
        }
        assert_eq!(host.counted(Bypass::Budget.into()), 4);
        assert_eq!(host.lines("fail_open").iter().filter(|line| line.contains("budget")).count(), 1);
        service.borrow_mut().fails = None;
        host.now += 61_000;
        a_second_later(&mut host);
        assert_eq!(service.borrow().spent, 4 * 1_090, "{outcome:?}");
        a_second_later(&mut host);
        assert_eq!(service.borrow().spent, 4 * 1_090, "once");
        assert_eq!(host.exchange(&ask(), &usage(1_000, 90)).verdict(), Some("kill"), "the outage counts");
    }
}

#[test]
fn a_lease_serves_requests_while_the_service_is_away_and_what_goes_beyond_it_is_told_under_it() {
    let (mut host, service) = host(TOKENS, Service { share: 3, ..Service::of(Unit::Tokens, 100_000) });
    host.exchange(&ask(), &usage(1_000, 90));
    service.borrow_mut().fails = Some(ServiceOutcome::Unavailable);
    for _ in 0..4 {
        assert_eq!(host.exchange(&ask(), &usage(1_000, 90)).verdict(), Some("allow"));
    }
    assert_eq!(reserved(&host), [2, 1, 0]);
    service.borrow_mut().fails = None;
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 5 * 1_090);
}

#[test]
fn with_refuse_nobody_passes_whom_no_lease_lets_pass() {
    let config = with(&BASE.replace("BUDGETS", TOKENS), r#""timeout":"50ms""#)
        .replace(r#""enabled":true}"#, r#""enabled":true,"on_unavailable":"refuse"}"#);
    let (mut host, service) = host_of(&config, Service { share: 2, ..Service::of(Unit::Tokens, 100_000) });
    assert!(host.exchange(&ask(), &usage(1_000, 90)).sent.is_some());
    service.borrow_mut().fails = Some(ServiceOutcome::Unavailable);
    assert!(host.exchange(&ask(), &usage(1_000, 90)).sent.is_some(), "the lease has enough");
    let refused = host.exchange(&ask(), &usage(1_000, 90));
    assert_eq!(refused.header("x-sentinel-reason"), Some("budget"));
    let body = body_of(refused);
    assert!(
        body.contains("what it may spend is not known: the service that counts it does not answer"),
        "{body}"
    );
    service.borrow_mut().fails = None;
    assert!(host.exchange(&ask(), &usage(1_000, 90)).sent.is_some(), "it is back");
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 3 * 1_090);
}

#[test]
fn what_a_call_without_a_reply_was_granted_is_given_back() {
    let (mut host, service) =
        host(TOKENS, Service { loses_replies: true, ..Service::of(Unit::Tokens, 10_000) });
    assert!(host.exchange(&ask(), &usage(1_000, 90)).sent.is_some());
    assert!(service.borrow().held() > 0, "nobody knows of it");
    a_second_later(&mut host);
    assert_eq!((service.borrow().spent, service.borrow().held()), (1_090, 0));
}

#[test]
fn a_service_that_does_not_know_the_configuration_gets_it_with_the_same_request() {
    let (mut host, service) = host(TOKENS, Service::of(Unit::Tokens, 10_000));
    host.exchange(&ask(), &usage(1_000, 90));
    let shared = Rc::clone(&service);
    // It was restarted.
    host.reserve = Box::new(move |asked| {
        if asked.configuration.is_empty() {
            Err(ServiceOutcome::Error)
        } else {
            shared.borrow_mut().reserve(asked)
        }
    });
    assert_eq!(host.exchange(&ask(), &usage(1_000, 90)).verdict(), Some("allow"));
    assert_eq!(host.counted(Metric::Reservations(Reserved::Unavailable)), 0);
}

#[test]
fn calls_of_mcp_tools_are_counted_and_stopped_in_their_form() {
    let budget = r#"{"name":"each-task","limits":{"tool_calls":3}}"#;
    let (mut host, service) = host(budget, Service::of(Unit::ToolCalls, 3));
    let call = |n: u32| {
        let body = json!({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "echo", "arguments": {"n": n}}});
        ClientRequest::post("/mcp", body.to_string()).with("x-agent-id", "a").with("x-run-id", "r")
    };
    let list = ClientRequest::post("/mcp", r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#)
        .with("x-agent-id", "a")
        .with("x-run-id", "r");
    for n in 0..3 {
        assert!(host.exchange(&call(n), &usage(0, 0)).sent.is_some(), "{n}");
        assert!(host.exchange(&list, &usage(0, 0)).sent.is_some(), "a list is no call");
    }
    let stopped = host.exchange(&call(3), &usage(0, 0));
    assert_eq!(stopped.header("x-sentinel-reason"), Some("budget; budget=each-task"));
    let body: Value = serde_json::from_str(&body_of(stopped)).unwrap();
    assert_eq!(body["id"], 3, "{body}");
    assert!(body.to_string().contains("does not allow more: 3 of 3 tool calls are spent"), "{body}");
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 3);
}

#[test]
fn results_that_are_new_are_tool_calls() {
    let budget = r#"{"name":"each-task","limits":{"tool_calls":30}}"#;
    let (mut host, service) = host(budget, Service::of(Unit::ToolCalls, 30));
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "find", "arguments": "{}"}});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "found"});
    let messages = json!([
        {"role": "user", "content": "find it"},
        {"role": "assistant", "tool_calls": [call("a"), call("b")]}, result("a"), result("b"),
    ]);
    let body = json!({"model": "gpt-4o", "messages": messages}).to_string();
    let sent =
        ClientRequest::post("/v1/chat/completions", body).with("x-agent-id", "a").with("x-run-id", "r");
    host.exchange(&sent, &usage(1, 1));
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 2);
}

#[test]
fn what_is_answered_in_the_providers_place_takes_nothing() {
    let config = with(&BASE.replace("BUDGETS", TOKENS), r#""run_limit":5"#);
    let (mut host, service) = host_of(&config, Service { share: 8, ..Service::of(Unit::Tokens, 1_000_000) });
    host.exchange(&ask(), &usage(1_000, 90));
    let turns: Vec<Value> = (0..6)
        .flat_map(|n| {
            let call = json!({"id": format!("c{n}"), "type": "function", "function": {"name": "f", "arguments": format!("{{\"n\":{n}}}")}});
            [
                json!({"role": "assistant", "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": format!("new result {n}")}),
            ]
        })
        .collect();
    let messages: Vec<Value> = [json!({"role": "user", "content": "go"})].into_iter().chain(turns).collect();
    let body = json!({"model": "gpt-4o", "messages": messages}).to_string();
    let killed = ClientRequest::post("/v1/chat/completions", body)
        .with("x-agent-id", "support-7")
        .with("x-run-id", "task-1");
    assert_eq!(host.exchange(&killed, &usage(1, 1)).verdict(), Some("kill"));
    a_second_later(&mut host);
    assert_eq!(service.borrow().spent, 1_090);
}

#[test]
fn live_settings_give_and_take_budgets() {
    let (mut host, service) = host("", Service::of(Unit::Tokens, 500));
    assert!(host.exchange(&ask(), &usage(1, 1)).sent.is_some());
    assert!(service.borrow().asked.is_empty());
    let settings = LiveSettings { version: 1, json: format!(r#"{{"budgets":[{TOKENS}]}}"#) };
    host.control = Box::new(move |_| {
        let directives = vec![Directive::Settings(settings.clone())];
        Ok(ReportReply { directives, ..ReportReply::default() })
    });
    a_second_later(&mut host);
    let killed = host.exchange(&ask(), &usage(1, 1));
    assert_eq!((killed.verdict(), killed.header("x-sentinel-settings-version")), (Some("kill"), Some("1")));
}

#[test]
fn without_control_nobody_is_held_to_budgets_and_the_log_says_so() {
    let config = BASE.replace("BUDGETS", TOKENS).replace(r#""enabled":true}"#, r#""enabled":false}"#);
    let (mut host, service) = host_of(&config, Service::of(Unit::Tokens, 1));
    assert!(host.exchange(&ask(), &usage(1_000, 90)).sent.is_some());
    assert!(service.borrow().asked.is_empty());
    assert!(host.worker.warning().unwrap().contains("nobody is held to `budgets`"));
}

/// Requests to a model that cannot be read: no JSON, too large by what it says, and too large without saying so.
fn unreadable() -> [(ClientRequest, Bypass); 3] {
    let with_body = |body: String, says_length: bool| {
        let length = body.len().to_string();
        let mut sent = ClientRequest { body: body.into_bytes(), ..ask() }.with("content-length", &length);
        if !says_length {
            sent.headers.retain(|(name, _)| name != "content-length");
        }
        sent
    };
    let large = String::from_utf8(ask().body).unwrap().replace("xxxx", "xxxxxxxx");
    [
        (with_body(format!("{{not json{}", " ".repeat(790)), true), Bypass::NotJson),
        (with_body(large.clone(), true), Bypass::TooLarge),
        (with_body(large, false), Bypass::TooLarge),
    ]
}

#[test]
fn a_request_that_cannot_be_read_counts_by_its_bytes_and_its_answers_usage_and_is_stopped_at_the_limit() {
    let config = with(&BASE.replace("BUDGETS", TOKENS), r#""max_body_bytes":4096"#);
    for (sent, cause) in unreadable() {
        let (mut host, service) = host_of(&config, Service::of(Unit::Tokens, 6_000));
        let bytes = u64::try_from(sent.body.len()).unwrap();
        let passed = host.exchange(&sent, &usage(1_000, 90));
        assert_eq!((passed.verdict(), passed.sent.is_some()), (None, true), "{cause:?}: it was not judged");
        assert_eq!(host.counted(Metric::Bypasses(cause)), 1);
        let asked = service.borrow().asked[0].clone();
        assert_eq!((asked.dialect, asked.model.as_str(), asked.probable.0[3]), ("openai_chat", "", 1));
        assert_eq!(asked.probable.0[1], bytes.div_ceil(4) + 1_000, "{cause:?}");
        a_second_later(&mut host);
        assert_eq!(service.borrow().spent, 1_090, "{cause:?}");
        // Without usage its bytes are what it took.
        let text = json!({"choices": [{"message": {"role": "assistant", "content": "word".repeat(20)}}]});
        host.exchange(&sent, &ProviderResponse::json(text.to_string()));
        a_second_later(&mut host);
        assert_eq!(service.borrow().spent, 1_090 + bytes.div_ceil(4) + 20, "{cause:?}");
        service.borrow_mut().spent = 6_000;
        a_second_later(&mut host);
        a_second_later(&mut host);
        let killed = host.exchange(&sent, &usage(1, 1));
        assert_eq!(killed.header("x-sentinel-reason"), Some("budget; budget=each-task"), "{cause:?}");
        assert_eq!(host.counted(Metric::Bypasses(cause)), 2, "what is refused passes nobody");
        assert!(host.exchange(&ask(), &usage(1, 1)).reply.is_some(), "as one that can be read");
    }
}

#[test]
fn the_model_of_a_request_that_cannot_be_read_has_no_known_price() {
    for (sent, cause) in unreadable() {
        let config = with(&BASE.replace("BUDGETS", USD), r#""max_body_bytes":4096"#);
        // The dearest of the provider.
        let service = Service { price: Some(price(true)), ..Service::of(Unit::NanoUsd, 500_000_000) };
        let (mut host, service) = host_of(&config, service);
        assert!(host.exchange(&sent, &usage(1_000, 90)).sent.is_some(), "{cause:?}");
        assert!(!service.borrow().asked[0].is_priced);
        a_second_later(&mut host);
        assert_eq!(service.borrow().spent, 1_000 * 1_000 + 90 * 10_000, "{cause:?}");
        // `unpriced: refuse`.
        let (mut host, _) =
            host_of(&config, Service { is_unpriced: true, ..Service::of(Unit::NanoUsd, 500_000_000) });
        assert!(host.exchange(&sent, &usage(1, 1)).reply.is_some(), "{cause:?}");
    }
    // A path can name the model.
    let (mut host, service) = host(TOKENS, Service::of(Unit::Tokens, 1_000_000));
    let path = "/v1beta/models/gemini-2.5-flash:generateContent";
    let sent = ClientRequest::post(path, "{not json").with("x-run-id", "r");
    assert!(host.exchange(&sent, &usage(1, 1)).sent.is_some());
    assert_eq!(service.borrow().asked[0].model, "gemini-2.5-flash");
}

#[test]
fn while_the_service_is_away_a_request_that_cannot_be_read_goes_on_or_is_refused() {
    for (decision, passes) in [("allow", true), ("refuse", false)] {
        let control = format!(r#""control":{{"enabled":true,"on_unavailable":"{decision}"}}"#);
        let config = BASE.replace(r#""control":{"enabled":true}"#, &control).replace("BUDGETS", TOKENS);
        let config = with(&config, r#""max_body_bytes":4096"#);
        for (sent, cause) in unreadable() {
            let away = Service { fails: Some(ServiceOutcome::Unavailable), ..Service::of(Unit::Tokens, 10) };
            let (mut host, service) = host_of(&config, away);
            assert_eq!(host.exchange(&sent, &usage(7, 3)).sent.is_some(), passes, "{decision} {cause:?}");
            service.borrow_mut().fails = None;
            a_second_later(&mut host);
            assert_eq!(service.borrow().spent, if passes { 10 } else { 0 }, "{decision} {cause:?}");
        }
    }
}
