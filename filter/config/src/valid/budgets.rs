//! What may be spent, by whom. Nothing here counts: the embedding service does.

use std::sync::Arc;

use super::agents::AgentName;
use crate::{
    ConfigError,
    duration::parse_millis,
    raw::{AtLimit, BudgetPer, RawBudget, RawConfig, RawLimits, Unpriced},
};

/// Most budgets: each request is compared with all of them.
const MOST: usize = 1_000;
/// Bytes of a budget's name, which becomes a label of a metric.
const LONGEST_NAME: usize = 64;
/// Milliseconds of a sliding window.
const SLIDING: std::ops::RangeInclusive<u64> = 60_000..=2_592_000_000;
const NANO: f64 = 1e9;
/// Names of the IANA time zones, one a line.
const ZONES: &str = include_str!(concat!(env!("OUT_DIR"), "/zones.txt"));

/// A budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    pub name: Arc<str>,
    tenant: Option<String>,
    client: Option<String>,
    agent: Option<AgentName>,
    pub per: BudgetPer,
    pub limits: Limits,
    pub window: BudgetWindow,
    /// Above 0, at most 1.
    pub warn_at: f64,
    pub at_limit: AtLimit,
    pub unpriced: Unpriced,
}

/// What may be taken; `None`: any amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Billionths of a US dollar.
    pub nano_usd: Option<u64>,
    pub tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub requests: Option<u64>,
    pub tool_calls: Option<u64>,
    /// Since the first request of a run.
    pub seconds: Option<u64>,
}

/// The time over which a budget counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BudgetWindow {
    /// As long as the run lives.
    Run,
    /// The last milliseconds, as many as the number.
    Sliding(u64),
    /// The day, week or month of a time zone with this name in the IANA database.
    Calendar(CalendarUnit, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalendarUnit {
    Day,
    /// From Monday on.
    Week,
    Month,
}

/// Who pays for a request. A name that was not sent is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Payer<'a> {
    pub tenant: &'a [u8],
    pub client: &'a [u8],
    pub agent: &'a [u8],
    /// Whether the request belongs to a run.
    pub has_run: bool,
}

impl Budget {
    /// Whether it counts the requests of this payer.
    pub fn fits(&self, payer: Payer<'_>) -> bool {
        let is = |wanted: &Option<String>, name: &[u8]| {
            wanted.as_ref().is_none_or(|wanted| wanted.as_bytes() == name)
        };
        (payer.has_run || self.per != BudgetPer::Run)
            && is(&self.tenant, payer.tenant)
            && is(&self.client, payer.client)
            && self.agent.as_ref().is_none_or(|wanted| wanted.fits(payer.agent))
    }
}

pub fn budgets(raw: &RawConfig) -> Result<Vec<Budget>, ConfigError> {
    if raw.budgets.len() > MOST {
        return Err(ConfigError::new("budgets", format!("must not have more than {MOST} entries")));
    }
    let has_clients = !raw.identity.principal.is_empty();
    let mut checked: Vec<Budget> = Vec::with_capacity(raw.budgets.len());
    for (index, entry) in raw.budgets.iter().enumerate() {
        let budget = budget(entry, has_clients).map_err(|error| error.below(&format!("budgets[{index}]")))?;
        // There are few, and this is not done for a request.
        if checked.iter().any(|known| known.name == budget.name) {
            let problem = format!("`{}` is the name of another budget too", budget.name);
            return Err(ConfigError::new(format!("budgets[{index}].name"), problem));
        }
        checked.push(budget);
    }
    Ok(checked)
}

fn budget(raw: &RawBudget, has_clients: bool) -> Result<Budget, ConfigError> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if raw.name.is_empty() || raw.name.len() > LONGEST_NAME || !raw.name.bytes().all(is_plain) {
        let problem =
            format!("must be a name of letters, digits, `-` and `_`, at most {LONGEST_NAME} of them");
        return Err(ConfigError::new("name", problem));
    }
    for (field, name) in [
        ("tenant", &raw.tenant),
        ("client", &raw.client),
        ("agent", &raw.agent),
        ("agent_prefix", &raw.agent_prefix),
    ] {
        if name.as_deref() == Some("") {
            return Err(ConfigError::new(field, "must not be empty; leave it out for all"));
        }
    }
    for (field, wants_clients) in [("client", raw.client.is_some()), ("per", raw.per == BudgetPer::Client)] {
        if wants_clients && !has_clients {
            let problem = "needs `identity.principal`, the header that names the client";
            return Err(ConfigError::new(field, problem));
        }
    }
    let agent = match (&raw.agent, &raw.agent_prefix) {
        (None, None) => None,
        (Some(name), None) => Some(AgentName::Exact(name.clone())),
        (None, Some(prefix)) => Some(AgentName::Prefix(prefix.clone())),
        (Some(_), Some(_)) => {
            return Err(ConfigError::new("agent", "takes only one of `agent` and `agent_prefix`"));
        }
    };
    if !(raw.warn_at > 0.0 && raw.warn_at <= 1.0) {
        return Err(ConfigError::new("warn_at", "must be above 0 and at most 1"));
    }
    Ok(Budget {
        name: raw.name.as_str().into(),
        tenant: raw.tenant.clone(),
        client: raw.client.clone(),
        agent,
        per: raw.per,
        limits: limits(&raw.limits, raw.per)?,
        window: window(raw)?,
        warn_at: raw.warn_at,
        at_limit: raw.at_limit,
        unpriced: raw.unpriced,
    })
}

fn limits(raw: &RawLimits, per: BudgetPer) -> Result<Limits, ConfigError> {
    let nano_usd = match raw.usd {
        None => None,
        Some(usd) if usd.is_finite() && (0.000_001..=1_000_000_000.0).contains(&usd) =>
        {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
            Some((usd * NANO).round() as u64)
        }
        Some(_) => {
            return Err(ConfigError::new("limits.usd", "must lie between 0.000001 and 1000000000"));
        }
    };
    let counts = [
        ("tokens", raw.tokens),
        ("output_tokens", raw.output_tokens),
        ("requests", raw.requests),
        ("tool_calls", raw.tool_calls),
        ("seconds", raw.seconds),
    ];
    for (field, count) in counts {
        if count == Some(0) {
            let problem = "must be 1 or more: a budget of 0 lets nothing pass; leave it out for no limit";
            return Err(ConfigError::new(format!("limits.{field}"), problem));
        }
    }
    if raw.seconds.is_some() && per != BudgetPer::Run {
        return Err(ConfigError::new("limits.seconds", "is the time of a run, and needs `per: run`"));
    }
    if nano_usd.is_none() && counts.iter().all(|(_, count)| count.is_none()) {
        return Err(ConfigError::new("limits", "needs at least one limit"));
    }
    Ok(Limits {
        nano_usd,
        tokens: raw.tokens,
        output_tokens: raw.output_tokens,
        requests: raw.requests,
        tool_calls: raw.tool_calls,
        seconds: raw.seconds,
    })
}

fn window(raw: &RawBudget) -> Result<BudgetWindow, ConfigError> {
    let refuse = |field: &str, problem: String| Err(ConfigError::new(field, problem));
    let unit = match raw.window.as_str() {
        "run" if raw.per == BudgetPer::Run => None,
        "run" => {
            let problem = "`run` needs `per: run`; write a time such as 24h, or day, week or month";
            return refuse("window", problem.to_owned());
        }
        "day" => Some(CalendarUnit::Day),
        "week" => Some(CalendarUnit::Week),
        "month" => Some(CalendarUnit::Month),
        time => match parse_millis(time) {
            Ok(millis) if SLIDING.contains(&millis) => return Ok(BudgetWindow::Sliding(millis)),
            Ok(_) => return refuse("window", "a sliding time must lie between 1m and 720h".to_owned()),
            Err(_) => {
                let problem = format!("`{time}` is none of run, day, week, month, and no time such as 1h");
                return refuse("window", problem);
            }
        },
    };
    if !ZONES.lines().any(|name| name == raw.zone) {
        let problem = format!("`{}` is no time zone of the IANA database, such as Europe/Zurich", raw.zone);
        return refuse("zone", problem);
    }
    Ok(unit.map_or(BudgetWindow::Run, |unit| BudgetWindow::Calendar(unit, raw.zone.clone())))
}

#[cfg(test)]
mod tests {
    use crate::{BudgetWindow, Config, Payer};

    fn config(budgets: &str) -> Result<Config, String> {
        let principal = r#""identity": {"principal": "x-client-id"}"#;
        let json = format!(r#"{{{principal}, "budgets": [{budgets}]}}"#);
        Config::from_json(json.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_budget_that_can_never_be_met_is_refused_with_its_path() {
        let with = |rest: &str| format!(r#"{{"name": "b", {rest}}}"#);
        for (budget, path) in [
            (with(r#""limits": {}"#), "budgets[0].limits`"),
            (with(r#""limits": {"usd": 0}"#), "limits.usd"),
            (with(r#""limits": {"usd": -1}"#), "limits.usd"),
            (with(r#""limits": {"usd": 1e300}"#), "limits.usd"),
            (with(r#""limits": {"eur": 1}"#), "limits.eur"),
            (with(r#""limits": {"tokens": 0}"#), "limits.tokens"),
            (with(r#""limits": {"tokens": 1.5}"#), "limits.tokens"),
            (with(r#""limits": {"seconds": 5}, "per": "agent", "window": "1h""#), "limits.seconds"),
            (with(r#""limits": {"tokens": 1}, "warn_at": 1.1"#), "warn_at"),
            (with(r#""limits": {"tokens": 1}, "warn_at": 0"#), "warn_at"),
            (with(r#""limits": {"tokens": 1}, "per": "agent""#), "window"),
            (with(r#""limits": {"tokens": 1}, "window": "year""#), "window"),
            (with(r#""limits": {"tokens": 1}, "window": "30s""#), "window"),
            (with(r#""limits": {"tokens": 1}, "window": "day", "zone": "Mars/Base""#), "zone"),
            (with(r#""limits": {"tokens": 1}, "window": "day", "zone": """#), "zone"),
            (with(r#""limits": {"tokens": 1}, "agent": "a", "agent_prefix": "b""#), "agent"),
            (with(r#""limits": {"tokens": 1}, "tenant": """#), "tenant"),
            (r#"{"name": "a b", "limits": {"tokens": 1}}"#.to_owned(), "budgets[0].name"),
            (r#"{"limits": {"tokens": 1}}"#.to_owned(), "budgets[0].name"),
        ] {
            let error = config(&budget).expect_err(&budget);
            assert!(error.contains(path), "{budget}: {error}");
        }
        let twice = r#"{"name": "b", "limits": {"tokens": 1}}, {"name": "b", "limits": {"tokens": 2}}"#;
        assert!(config(twice).expect_err(twice).contains("budgets[1].name"));
        let no_clients =
            br#"{"budgets": [{"name": "b", "per": "client", "window": "1h", "limits": {"tokens": 1}}]}"#;
        assert_eq!(Config::from_json(no_clients).unwrap_err().path, "budgets[0].per");
    }

    #[test]
    fn it_counts_whom_it_names() {
        let budgets = r#"
            {"name": "all", "per": "tenant", "window": "week", "limits": {"usd": 0.03}},
            {"name": "some", "tenant": "t", "agent_prefix": "s-", "per": "agent", "window": "90m", "limits": {"tokens": 1}},
            {"name": "runs", "client": "c", "limits": {"requests": 1}}"#;
        let config = config(budgets).unwrap();
        let fitting = |payer: Payer<'_>| -> Vec<&str> {
            config.budgets.iter().filter(|budget| budget.fits(payer)).map(|budget| &*budget.name).collect()
        };
        assert_eq!(fitting(Payer::default()), ["all"]);
        let payer = Payer { tenant: b"t", client: b"c", agent: b"s-1", has_run: true };
        assert_eq!(fitting(payer), ["all", "some", "runs"]);
        assert_eq!(fitting(Payer { has_run: false, ..payer }), ["all", "some"]);
        assert_eq!(fitting(Payer { tenant: b"\xff", ..payer }), ["all", "runs"]);
        assert_eq!(config.budgets[0].limits.nano_usd, Some(30_000_000));
        assert_eq!(config.budgets[1].window, BudgetWindow::Sliding(5_400_000));
    }
}
