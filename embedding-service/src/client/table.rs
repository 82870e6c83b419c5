//! Answers as tables for a terminal. Names come from agents: no character of theirs moves the cursor or turns the direction.

use comfy_table::{Cell, CellAlignment, Table, presets};
use jiff::Timestamp;
use serde_json::Value;

use crate::control::api::is_odd;

/// Characters of a cell.
const WIDEST: usize = 40;

/// A text without odd characters, and not too wide.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for (at, c) in text.chars().enumerate() {
        if at >= WIDEST {
            plain.push('…');
            break;
        }
        if is_odd(c) { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}

fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        Some(Value::String(text)) => plain(text),
        Some(Value::Null) | None => String::new(),
        Some(other) => plain(&other.to_string()),
    }
}

fn number(value: &Value, name: &str) -> Cell {
    Cell::new(text(value, name)).set_alignment(CellAlignment::Right)
}

fn usd(value: &Value, name: &str) -> Cell {
    let usd = value.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    // The price of one short turn has its first digit in the fifth place.
    let digits = if usd > 0.0 && usd < 0.01 { 7 } else { 4 };
    Cell::new(format!("{usd:.digits$}")).set_alignment(CellAlignment::Right)
}

fn time(value: &Value, name: &str) -> String {
    let at = value.get(name).and_then(Value::as_i64).and_then(|at| Timestamp::from_millisecond(at).ok());
    at.map(|at| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()).unwrap_or_default()
}

fn table(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(heads);
    table
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn lines(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// The name of a run, or of its history.
fn run_name(run: &Value) -> String {
    match text(run, "run") {
        name if name.is_empty() => text(run, "history"),
        name => name,
    }
}

pub fn runs(answer: &Value) -> String {
    let mut table = table(&[
        "ID",
        "TENANT",
        "CLIENT",
        "AGENT",
        "RUN",
        "STATUS",
        "TURNS",
        "REPEATED",
        "USD",
        "SIGNAL",
        "LAST SEEN",
    ]);
    for run in list(answer, "runs") {
        let signal = run.get("last_verdict").map(|verdict| text(verdict, "signal")).unwrap_or_default();
        table.add_row(vec![
            Cell::new(text(run, "id")),
            Cell::new(text(run, "tenant")),
            Cell::new(text(run, "client")),
            Cell::new(text(run, "agent")),
            Cell::new(run_name(run)),
            Cell::new(text(run, "status")),
            number(run, "turns"),
            number(run, "repeated_steps"),
            usd(run, "cost_usd"),
            Cell::new(signal),
            Cell::new(time(run, "last_seen_ms")),
        ]);
    }
    let shown = list(answer, "runs").len();
    format!("{}\n{shown} of {}", lines(&table), text(answer, "total"))
}

pub fn run(answer: &Value) -> String {
    let nothing = Value::Null;
    let run = answer.get("run").unwrap_or(&nothing);
    let mut about = String::new();
    for name in [
        "id",
        "tenant",
        "client",
        "agent",
        "run",
        "history",
        "status",
        "turns",
        "steps",
        "repeated_steps",
        "hints",
        "kills",
    ] {
        about.push_str(&format!("{name:16}{}\n", text(run, name)));
    }
    about.push_str(&format!("{:16}{}\n", "usd", text(run, "cost_usd")));
    for stop in list(answer, "stops") {
        about.push_str(&format!("{:16}{} ({})\n", "stopped", text(stop, "reason"), text(stop, "id")));
    }
    let mut table = table(&["TIME", "MODEL", "STATUS", "IN", "OUT", "VERDICT", "SIGNAL", "END", "STEPS"]);
    for turn in list(answer, "turns").iter().rev() {
        let verdict = turn.get("verdict").unwrap_or(&nothing);
        let step = |step: &Value| {
            let mark = if step.get("repeated").and_then(Value::as_bool) == Some(true) { "*" } else { "" };
            format!("{}{mark}:{}", text(step, "tool"), text(step, "kind"))
        };
        let steps: Vec<String> = list(turn, "steps").iter().map(step).collect();
        table.add_row(vec![
            Cell::new(time(turn, "at_ms")),
            Cell::new(text(turn, "model")),
            number(turn, "status"),
            number(turn, "input_tokens"),
            number(turn, "output_tokens"),
            Cell::new(text(verdict, "kind")),
            Cell::new(text(verdict, "signal")),
            Cell::new(text(turn, "end")),
            Cell::new(steps.join(" ")),
        ]);
    }
    format!("{about}\n{}", lines(&table))
}

pub fn budgets(answer: &Value) -> String {
    let mut table =
        table(&["BUDGET", "PER", "TENANT", "CLIENT", "AGENT", "RUN", "STATE", "SPENT", "USD", "LIMIT"]);
    for account in list(answer, "accounts") {
        let share = account.get("share").and_then(Value::as_f64).unwrap_or(0.0) * 100.0;
        let limits = account.get("limits").and_then(Value::as_object);
        let limits = limits.into_iter().flatten().filter(|(_, limit)| !limit.is_null());
        let limits: Vec<String> = limits.map(|(name, limit)| format!("{name} {limit}")).collect();
        table.add_row(vec![
            Cell::new(text(account, "budget")),
            Cell::new(text(account, "per")),
            Cell::new(text(account, "tenant")),
            Cell::new(text(account, "client")),
            Cell::new(text(account, "agent")),
            Cell::new(run_name(account)),
            Cell::new(text(account, "state")),
            Cell::new(format!("{share:.0} %")).set_alignment(CellAlignment::Right),
            usd(account, "spent_usd"),
            Cell::new(limits.join(", ")),
        ]);
    }
    lines(&table)
}

pub fn stop(answer: &Value) -> String {
    format!("stopped: {}", text(answer, "id"))
}

pub fn lifted(answer: &Value) -> String {
    format!("lifted: {}", answer.get("lifted").map(|stop| text(stop, "id")).unwrap_or_default())
}

/// One line.
pub fn event(event: &Value) -> String {
    let names: Vec<String> = ["tenant", "client", "agent"]
        .into_iter()
        .map(|name| text(event, name))
        .chain([run_name(event)])
        .filter(|name| !name.is_empty())
        .collect();
    let data = event.get("data").map(super::http::shown).unwrap_or_default();
    format!("{}  {:28}{}  {data}", time(event, "at_ms"), text(event, "kind"), names.join(" / "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_small_sum_is_not_shown_as_nothing() {
        for (usd, wanted) in
            [(0.0, "0.0000"), (0.000_028_8, "0.0000288"), (0.5, "0.5000"), (12.345_67, "12.3457")]
        {
            let shown = runs(&json!({"runs": [{"cost_usd": usd}], "total": 1}));
            assert!(shown.split_whitespace().any(|word| word == wanted), "{usd}: {shown}");
        }
    }

    #[test]
    fn names_of_any_kind_stay_in_their_cell() {
        let odd = "new\nline \u{1b}[2J \u{202e}right ".to_owned() + &"x".repeat(10_000);
        let run = json!({"id": "1", "tenant": odd, "agent": odd, "run": "", "history": "ab", "status": odd});
        let shown = runs(&json!({"runs": [run.clone(), run], "total": 2}));
        assert_eq!(shown.lines().count(), 4, "{shown}");
        assert!(shown.chars().all(|c| c == '\n' || !is_odd(c)), "{shown}");
        assert!(shown.len() < 2_000 && shown.ends_with("2 of 2"));
        for answer in [json!({}), json!(null), json!({"runs": 5, "accounts": "x", "run": [], "turns": {}})] {
            for table in [runs, super::run, budgets, stop, lifted, event] {
                assert!(table(&answer).len() < 1_000);
            }
        }
    }
}
