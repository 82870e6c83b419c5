//! What may be spent, by whom.

use serde_json::Value;

use crate::{
    ConfigError,
    field::{Field, choice, group, join, wrong_type},
};

/// The share of a limit from which on the model gets a hint, where a budget says none.
pub const WARN_AT: f64 = 0.8;

group! {
    /// A budget. It counts what requests take, and stops those who have taken all of it. Whose requests it counts is said by `tenant`,
    /// `client` and one of `agent` and `agent_prefix`. All that are given must fit. Without any of them it counts all requests.
    ///
    /// ```json
    /// {
    ///   "budgets": [
    ///     {"name": "each-task", "per": "run", "limits": {"usd": 0.5, "seconds": 3600}},
    ///     {"name": "support", "agent_prefix": "support-", "per": "agent", "window": "day", "zone": "Europe/Zurich",
    ///      "limits": {"usd": 20, "requests": 5000}, "warn_at": 0.9},
    ///     {"name": "acme", "tenant": "acme", "per": "tenant", "window": "24h", "limits": {"tokens": 50000000}, "at_limit": "record"}
    ///   ]
    /// }
    /// ```
    struct RawBudget {
        /// The name of the budget: letters, digits, `-` and `_`, at most 64 of them. No two budgets may have the same name. What was spent
        /// is stored under this name.
        name: String = String::new(),
        /// The tenant whose requests it counts.
        tenant: Option<String> = None,
        /// The client whose requests it counts: a value of the header in `identity.principal`.
        client: Option<String> = None,
        /// The exact name of the agent whose requests it counts.
        agent: Option<String> = None,
        /// The beginning of the names of the agents whose requests it counts.
        agent_prefix: Option<String> = None,
        /// Who has the limits for themselves: each `run`, each `agent`, each `client` or each `tenant`.
        per: BudgetPer = BudgetPer::Run,
        /// The limits. At least one is needed. The first that is reached counts.
        limits: RawLimits = RawLimits::default(),
        /// The time over which is counted: `run` (as long as the run lives, only with `per: run`), a sliding time such as `1h` or `24h`
        /// (from 1m to 720h), or a calendar `day`, `week` (from Monday on) or `month`.
        window: String = "run".into(),
        /// The time zone of a calendar window: `UTC`, or a name of the IANA database such as `Europe/Zurich`.
        zone: String = "UTC".into(),
        /// From this share of a limit on, the model gets a hint, once in each run. With 1 there is no hint.
        /// Range: above 0, at most 1.
        warn_at: f64 = WARN_AT,
        /// What happens at the limit. `kill` stops the agent (signal `budget`). `record` only says so in events, metrics and the API, and
        /// there is no hint.
        at_limit: AtLimit = AtLimit::Kill,
        /// How a model without a known price counts, if there is a limit of `usd`. `estimate`: as the dearest known model of its provider.
        /// `refuse`: its requests are refused. `ignore`: it costs nothing.
        unpriced: Unpriced = Unpriced::Estimate,
    }
}

group! {
    /// The limits of a budget.
    struct RawLimits {
        /// US dollars.
        /// Range: 0.000001 to 1000000000.
        usd: Option<f64> = None,
        /// Input and output tokens.
        /// Range: 1 and more.
        tokens: Option<u64> = None,
        /// Output tokens.
        /// Range: 1 and more.
        output_tokens: Option<u64> = None,
        /// Requests to providers, and requests to MCP servers that call tools.
        /// Range: 1 and more.
        requests: Option<u64> = None,
        /// Tool calls: those whose results are new in a request to a provider, and those in requests to MCP servers.
        /// Range: 1 and more.
        tool_calls: Option<u64> = None,
        /// Seconds since the run's first request. Only with `per: run`.
        /// Range: 1 and more.
        seconds: Option<u64> = None,
    }
}

choice! {
    /// Who has the limits of a budget for themselves.
    enum BudgetPer { Run = "run", Agent = "agent", Client = "client", Tenant = "tenant", }
}

choice! {
    /// What happens at the limit of a budget.
    enum AtLimit { Kill = "kill", Record = "record", }
}

choice! {
    /// How a model without a known price counts.
    enum Unpriced { Estimate = "estimate", Refuse = "refuse", Ignore = "ignore", }
}
