//! What agents do, as a worker of Envoy reports it.

use std::{
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use sentinel_proto::v1::{self, control_service_client::ControlServiceClient, verdict};
use tonic::transport::{Channel, Endpoint};

/// The configuration of the worker.
const CONFIGURATION: &str = r#"{"budgets": [
    {"name": "each-task", "per": "run", "limits": {"usd": 1.0}},
    {"name": "support", "agent_prefix": "support-", "per": "agent", "window": "5m", "limits": {"usd": 20, "requests": 500}}
]}"#;
const DIGEST: u64 = 77;
const HOSTILE: &str = "</title><script>document.title='broken'</script>\"'><img src=x onerror=\"document.title='broken'\">\u{202e}gnp\n";

/// A worker.
pub struct Agents {
    socket: String,
    number: u64,
}

/// A call, what came of it, and what was decided with the request that brought it.
struct Act {
    tool: &'static str,
    asks: u64,
    gets: u64,
    kind: &'static str,
    told: Option<(verdict::Kind, &'static str, u32)>,
}

fn act(tool: &'static str, asks: u64, gets: u64, kind: &'static str) -> Act {
    Act { tool, asks, gets, kind, told: None }
}

impl Act {
    fn told(self, kind: verdict::Kind, signal: &'static str, count: u32) -> Self {
        Self { told: Some((kind, signal, count)), ..self }
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap()
}

impl Agents {
    pub fn of(socket: &Path) -> Self {
        Self { socket: format!("unix://{}", socket.display()), number: 0 }
    }

    async fn service(&self) -> ControlServiceClient<Channel> {
        ControlServiceClient::new(
            Endpoint::from_shared(self.socket.clone()).unwrap().connect().await.unwrap(),
        )
    }

    /// Does what the browser asks for, and says what the browser has to know.
    pub async fn act(&mut self, what: &str) -> String {
        match what {
            "many" => self.many().await,
            "stuck" => self.run("repo-fixer", "task-8412", stuck(false), 61_000_000).await,
            "ended" => self.run("crawler", "site-map", stuck(true), 17_000_000).await,
            "cycle" => self.run("invoice-bot", "nightly", cycle(), 28_000_000).await,
            "hostile" => self.run(HOSTILE, &HOSTILE.repeat(100), stuck(false), 1_000_000).await,
            // The number of directives that a worker gets if it knows of none.
            "directives" => return self.report(Vec::new()).await.directives.len().to_string(),
            "reserve" => return self.reserve().await,
            other => panic!("{other}: nobody does this"),
        }
        String::new()
    }

    async fn report(&mut self, turns: Vec<v1::Turn>) -> v1::ReportReply {
        let report = v1::ReportRequest { turns, ..Self::told() };
        self.service().await.report(report).await.unwrap().into_inner()
    }

    /// A report of nothing.
    fn told() -> v1::ReportRequest {
        v1::ReportRequest {
            worker: Some(v1::Worker { envoy: 1 + now_ms(), number: 0 }),
            sent_at_ms: now_ms(),
            configuration_digest: DIGEST,
            configuration: CONFIGURATION.to_owned(),
            ..v1::ReportRequest::default()
        }
    }

    fn names(agent: &str, run: &str) -> v1::Names {
        let client = "billing".to_owned();
        v1::Names { client, agent: agent.to_owned(), run: run.to_owned(), ..v1::Names::default() }
    }

    async fn run(&mut self, agent: &str, run: &str, acts: Vec<Act>, cost: u64) {
        let mut known = std::collections::HashSet::new();
        let start = now_ms() - 1_000 * u64::try_from(acts.len()).unwrap();
        let turns = (1..).zip(acts).map(|(place, act): (u64, Act)| {
            self.number += 1;
            let Act { tool, asks, gets, kind, told } = act;
            let step = v1::Step {
                tool: tool.to_owned(),
                arguments_digest: asks,
                outcome_digest: gets,
                kind: kind.to_owned(),
                bytes: 40 + gets % 977,
                repeated: !known.insert((asks, gets)),
                ..v1::Step::default()
            };
            let verdict = told.map(|(kind, signal, count)| v1::Verdict {
                kind: kind.into(),
                signal: signal.to_owned(),
                count,
                tool: tool.to_owned(),
                enforced: true,
            });
            let is_killed = verdict.as_ref().is_some_and(|verdict| verdict.kind() == verdict::Kind::Kill);
            v1::Turn {
                number: self.number,
                names: Some(Self::names(agent, run)),
                at_ms: start + place * 900,
                duration_ms: u32::try_from(600 + place * 173 % 900).unwrap(),
                dialect: "openai_chat".to_owned(),
                provider: "openai".to_owned(),
                model: "gpt-5.2".to_owned(),
                status: if is_killed { 0 } else { 200 },
                input_tokens: 2_000 + place * 830,
                cached_tokens: 1_000 + place * 600,
                output_tokens: 150 + place * 37 % 90,
                cost_nano_usd: Some(if is_killed { 0 } else { cost + place * 2_000_000 }),
                verdict,
                steps: vec![step],
                similarity: place
                    .is_multiple_of(3)
                    .then(|| 0.8 + f64::from(u32::try_from(place).unwrap()) / 60.0),
                end: if is_killed { v1::End::Unspecified } else { v1::End::Calls }.into(),
                ..v1::Turn::default()
            }
        });
        let turns: Vec<v1::Turn> = turns.collect();
        self.report(turns).await;
    }

    /// Runs that go as they should.
    async fn many(&mut self) {
        let agents = ["planner", "support-triage", "support-mail", "reviewer"];
        let turns = (0..120_u64).map(|number| {
            self.number += 1;
            let agent = agents[usize::try_from(number % 4).unwrap()];
            v1::Turn {
                number: self.number,
                names: Some(Self::names(agent, &format!("task-{}", 1_000 + number))),
                at_ms: now_ms() - number * 15_000,
                duration_ms: 900,
                dialect: "openai_chat".to_owned(),
                provider: "openai".to_owned(),
                model: ["gpt-5.2", "gpt-5.2-mini"][usize::try_from(number % 2).unwrap()].to_owned(),
                status: 200,
                input_tokens: 900 + number * 31,
                output_tokens: 80 + number,
                cost_nano_usd: Some(3_000_000 + number * 211_000),
                end: v1::End::Text.into(),
                ..v1::Turn::default()
            }
        });
        let turns: Vec<v1::Turn> = turns.collect();
        self.report(turns).await;
    }

    /// Agents that spend a budget little by little, one of them nearly all of it: the page shows when it was spent.
    pub async fn spend(&mut self) {
        for (agent, nano_usd) in [("support-mail", 600_000_000), ("support-triage", 180_000_000)] {
            self.number += 1;
            let amount = |unit: v1::Unit, value| v1::Amount { unit: unit.into(), value };
            let used = vec![amount(v1::Unit::Requests, 3), amount(v1::Unit::NanoUsd, nano_usd)];
            // Of no run: the budget of each task is not for it.
            let outside = Some(Self::names(agent, ""));
            let lease = v1::LeaseUse {
                id: now_ms() + self.number,
                used,
                outside,
                returned: true,
                ..v1::LeaseUse::default()
            };
            let report = v1::ReportRequest { leases: vec![lease], ..Self::told() };
            self.service().await.report(report).await.unwrap();
        }
    }

    /// Whether a request of a task that has spent its budget may go on.
    async fn reserve(&mut self) -> String {
        let amount = |unit: v1::Unit, value| v1::Amount { unit: unit.into(), value };
        let request = v1::ReserveRequest {
            worker: Some(v1::Worker { envoy: 9, number: 0 }),
            names: Some(Self::names("support-mail", "long-case")),
            configuration_digest: DIGEST,
            provider: "openai".to_owned(),
            model: "gpt-5.2".to_owned(),
            probable: vec![amount(v1::Unit::Requests, 1), amount(v1::Unit::NanoUsd, 1_400_000_000)],
            ..v1::ReserveRequest::default()
        };
        let reply = self.service().await.reserve(request).await.unwrap().into_inner();
        let is_refused = reply.budgets.iter().any(|budget| budget.refused.is_some());
        if is_refused { "refused" } else { "granted" }.to_owned()
    }
}

/// Lists a folder and reads a file that is not there, in turns. It is told, and goes on; or it is ended.
fn stuck(is_ended: bool) -> Vec<Act> {
    let read = || act("read_file", 11, 84, "failure");
    let list = || act("list_dir", 12, 1_830, "content");
    let hint = |count| read().told(verdict::Kind::Hint, "repeated_step", count);
    let mut acts = vec![
        list(),
        act("grep", 13, 640, "content"),
        read(),
        list(),
        read(),
        list(),
        hint(3),
        list(),
        hint(4),
    ];
    if is_ended {
        acts.extend([list(), read().told(verdict::Kind::Kill, "repeated_step", 5)]);
    }
    acts
}

fn cycle() -> Vec<Act> {
    let round = || [act("open_invoice", 31, 310, "content"), act("check_total", 32, 320, "content")];
    let mut acts: Vec<Act> = (0..2).flat_map(|_| round()).collect();
    let [open, check] = round();
    acts.extend([open, check.told(verdict::Kind::Hint, "cycle", 3)]);
    acts
}
