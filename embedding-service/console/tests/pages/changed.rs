//! The settings of an agent, and a change of them that is asked about, made up with any texts.

use sentinel_console::{
    budgets::{self, Ask, Limit, Reached, Unit, Week},
    settings::{
        AgentSettings, AskSettings, ChangedSetting, Differs, Fate, Field, Group, Input, TriedSettings,
        Version,
    },
};

use super::sample::{NOW, who};

/// The settings of an agent, of which one says this.
pub fn settings(agent: &str, value: &str) -> AgentSettings {
    let changed = Version {
        number: 3,
        author: agent.to_owned(),
        reason: value.to_owned(),
        at_ms: NOW,
        ..Version::default()
    };
    let field = |path: &str, input: Input, own: Option<&str>| Field {
        path: path.to_owned(),
        meaning: "The largest `number` of turns: see [Control](control.md).".to_owned(),
        range: "0 and more".to_owned(),
        input,
        own: own.map(str::to_owned),
        otherwise: value.to_owned(),
        configured: own.map(|_| value.to_owned()),
        changed: own.map(|_| changed.clone()),
    };
    let fields = vec![
        field("run_limit", Input::Line, Some(value)),
        field("mode", Input::Choice(&["enforce", "observe"]), Some("observe")),
        field("score.hint", Input::Number, None),
        field("models", Input::Json, None),
    ];
    AgentSettings {
        now_ms: NOW,
        agent: agent.to_owned(),
        version: 3,
        problem: Some(value.to_owned()),
        groups: vec![Group { fields, ..Group::default() }],
        clients: vec![agent.to_owned()],
    }
}

/// A change that is asked about.
pub fn ask(agent: &str, value: &str) -> AskSettings {
    let run = Differs { id: "0f".repeat(16), who: who(agent, value), before: Fate::Ended, after: Fate::Told };
    AskSettings {
        version: 3,
        json: format!("{{\"agents\": [{{\"name\": {value:?}}}]}}"),
        changes: vec![ChangedSetting {
            whom: agent.to_owned(),
            path: "run_limit".to_owned(),
            before: String::new(),
            after: value.to_owned(),
        }],
        tried: TriedSettings {
            runs: 1_000,
            touched: 70,
            differ: vec![run; 30],
            unknown: vec![("1e".repeat(16), who(agent, value)); 30],
            not_judged: vec![("score".to_owned(), "runs do not keep their score")],
        },
        back: "/console/settings".to_owned(),
    }
}

/// A lower limit of a budget, with what it would have meant for this agent.
pub fn ask_budget(agent: &str) -> Ask {
    let limit = |most| Limit { unit: Unit::NanoUsd, most };
    let changed = |is_stopped| budgets::AffectedAccount {
        whose: vec![("client", "billing".to_owned()), ("agent", agent.to_owned())],
        most: limit(17_200_000_000),
        day_ms: NOW,
        is_stopped,
    };
    Ask {
        budget: agent.to_owned(),
        before: vec![limit(20_000_000_000)],
        after: vec![limit(15_000_000_000)],
        version: 3,
        accounts: 14,
        spent_before: 1,
        spent_after: 2,
        week: Week {
            accounts: 14,
            before: Reached { accounts: 1, days: 1 },
            after: Reached { accounts: 3, days: 5 },
            close: 2,
            changed: vec![changed(true), changed(false)],
            more: 1,
        },
    }
}
