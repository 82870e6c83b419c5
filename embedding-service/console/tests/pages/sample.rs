//! Values made up for the pages: a few runs that are typical, and one whose every text is hostile.

use sentinel_console::{
    now::{Figures, Health, Now, Trouble},
    run::{End, RunPage, SignalCount, StepRow, Stop, TurnRow, Who},
    runs::{Filter, Row, Runs},
    words::{Finding, Outcome, StatusWord, VerdictWord},
};
use strum::VariantArray as _;

pub const NOW: u64 = 1_790_000_000_000;
const MINUTE: u64 = 60_000;

/// Every kind of text that could do harm to a page.
pub const HOSTILE: &str = "</title><script>alert(1)</script><svg onload=alert(2)>\"'><img src=x onerror=alert(3)>\u{202e}gnp.exe\n\r\0\u{2028}{{7*7}}javascript:alert(4)";

pub fn hostile() -> String {
    format!("{HOSTILE}{}", "W\u{301}語".repeat(3_000))
}

pub fn who(agent: &str, run: &str) -> Who {
    Who { client: "billing".to_owned(), agent: agent.to_owned(), run: run.to_owned(), ..Who::default() }
}

pub fn finding(signal: &str, verdict: VerdictWord, count: u64, tool: &str, outcome: Outcome) -> Finding {
    Finding {
        verdict,
        signal: signal.to_owned(),
        count,
        tool: tool.to_owned(),
        enforced: true,
        outcome: Some(outcome),
    }
}

fn wave(seed: u64, of: fn(u64) -> u64) -> Vec<f64> {
    (0..60).map(|minute| f64::from(u32::try_from(of(seed * 7 + minute)).unwrap())).collect()
}

pub fn now() -> Now {
    let trouble = |id: &str, who, finding, hints, cost, turns| Trouble {
        id: id.to_owned(),
        who,
        model: "gpt-5.2".to_owned(),
        status: StatusWord::Tools,
        finding,
        hints,
        cost_nano_usd: cost,
        turns,
        first_seen_ms: NOW - 11 * MINUTE,
        last_seen_ms: NOW - 4_000,
        is_stopped: false,
        observed: Some(false),
    };
    let read = finding("repeated_step", VerdictWord::Hint, 4, "read_file", Outcome::Failure);
    let cycle = finding("cycle", VerdictWord::Hint, 3, "", Outcome::Content);
    let observed = Finding {
        enforced: false,
        ..finding("repeated_step", VerdictWord::Kill, 6, "search_orders", Outcome::Content)
    };
    let killed = finding("repeated_step", VerdictWord::Kill, 5, "fetch_page", Outcome::Failure);
    Now {
        now_ms: NOW,
        figures: Figures {
            under_way: 37,
            turns: wave(1, |n| 20 + n * n % 17),
            hints: 9,
            kills: 2,
            verdicts: wave(2, |n| u64::from(n % 9 == 0)),
            spent_nano_usd: 48_210_000_000,
            spent: wave(3, |n| 5 + n * 13 % 11),
            saved_nano_usd: 1_740_000_000,
            saved: wave(4, |n| u64::from(n % 23 == 0) * 3),
            unpriced: 0,
            minutes: 60,
        },
        looping: vec![
            trouble("a1", who("repo-fixer", "task-8412"), read, 2, 1_420_000_000, 41),
            trouble("a2", who("invoice-bot", "nightly-2026-09-21"), cycle, 1, 612_000_000, 22),
            Trouble {
                observed: Some(true),
                ..trouble("a3", who("support-triage", "case 77120"), observed, 0, 83_000_000, 9)
            },
        ],
        more_looping: 0,
        ended: vec![Trouble {
            status: StatusWord::Killed,
            last_seen_ms: NOW - 17 * MINUTE,
            observed: None,
            ..trouble("a4", who("crawler", "site-map"), killed, 2, 310_000_000, 18)
        }],
        health: Health {
            store: "memory".to_owned(),
            workers: 4,
            last_report_ms: NOW - 1_000,
            stops: 1,
            ..Health::default()
        },
        version: 3,
    }
}

pub fn calm() -> Now {
    Now {
        looping: Vec::new(),
        ended: Vec::new(),
        figures: Figures { under_way: 12, ..now().figures },
        ..now()
    }
}

pub fn runs() -> Runs {
    let agents = ["repo-fixer", "invoice-bot", "support-triage", "crawler", "planner"];
    let row = |number: u64| {
        let agent = agents[usize::try_from(number % 5).unwrap()];
        let status = StatusWord::VARIANTS[usize::try_from(number % 7).unwrap()];
        let killed = finding("repeated_step", VerdictWord::Kill, 5, "fetch_page", Outcome::Failure);
        let told = finding("cycle", VerdictWord::Hint, 3, "", Outcome::Content);
        Row {
            id: format!("{number:032x}"),
            who: who(agent, &format!("task-{}", 8_400 + number)),
            status,
            finding: match status {
                StatusWord::Killed => Some(killed),
                StatusWord::Tools => Some(told),
                _ => None,
            },
            hints: 1,
            model: "claude-sonnet-5".to_owned(),
            turns: 3 + number * 7 % 40,
            steps: 2 + number * 7 % 39,
            repeated_steps: if status == StatusWord::Killed { 5 } else { 0 },
            tokens: 1_200 + number * 7_919,
            cost_nano_usd: 1_000_000 + number * 31_000_000,
            first_seen_ms: NOW - number * 3 * MINUTE - 40_000,
            last_seen_ms: NOW - number * MINUTE,
        }
    };
    Runs {
        now_ms: NOW,
        filter: Filter { within: 60, ..Filter::default() },
        rows: (0..25).map(row).collect(),
        total: 12_345,
        next: Some("1789-00ff".to_owned()),
        signals: ["cycle", "repeated_step"].map(str::to_owned).to_vec(),
        models: vec!["claude-sonnet-5".to_owned(), "gpt-5.2".to_owned()],
    }
}

/// An agent that reads and lists in turns, is told, and is ended.
pub fn stuck() -> RunPage {
    let step = |tool: &str, approach: u64, outcome: u64, kind, bytes| StepRow {
        tool: tool.to_owned(),
        approach: format!("{approach:016x}"),
        outcome: format!("{outcome:016x}"),
        kind,
        bytes,
        ..StepRow::default()
    };
    let read = || step("read_file", 11, 21, Outcome::Failure, 84);
    let list = || step("list_dir", 12, 22, Outcome::Content, 1_830);
    let steps = [
        Vec::new(),
        vec![list()],
        vec![step("grep", 13, 23, Outcome::Content, 640)],
        vec![read()],
        vec![list()],
        vec![read()],
        vec![step("grep", 14, 24, Outcome::Empty, 2), list()],
        vec![read()],
        vec![list()],
        vec![read()],
        vec![list()],
        vec![read()],
    ];
    let turn = |(place, steps): (usize, Vec<StepRow>)| {
        let number = u64::try_from(place).unwrap() + 1;
        let finding = match number {
            8 => Some(finding("repeated_step", VerdictWord::Hint, 3, "read_file", Outcome::Failure)),
            10 => Some(finding("repeated_step", VerdictWord::Hint, 4, "read_file", Outcome::Failure)),
            12 => Some(finding("repeated_step", VerdictWord::Kill, 5, "read_file", Outcome::Failure)),
            _ => None,
        };
        TurnRow {
            number,
            at_ms: NOW - 300_000 + number * 19_000,
            duration_ms: 900 + number * 613 % 2_400,
            model: "gpt-5.2".to_owned(),
            status: if number == 12 { 0 } else { 200 },
            input_tokens: 1_800 + number * 950,
            cached_tokens: 1_100 + number * 700,
            output_tokens: 120 + number * 37 % 90,
            cost_nano_usd: 4_000_000 + number * 1_900_000,
            steps,
            similarity: match number {
                1 => Some(0.62),
                8..=10 => Some(0.93 + f64::from(u32::try_from(number - 8).unwrap()) * 0.025),
                number if number % 2 == 0 => Some(0.7 + f64::from(u32::try_from(number).unwrap()) / 50.0),
                _ => None,
            },
            finding,
            end: if number == 12 { End::Unknown } else { End::Calls },
            ..TurnRow::default()
        }
    };
    RunPage {
        now_ms: NOW,
        id: "a1".to_owned(),
        who: who("repo-fixer", "task-8412"),
        status: StatusWord::Killed,
        finding: Some(finding("repeated_step", VerdictWord::Kill, 5, "read_file", Outcome::Failure)),
        hints: 2,
        kills: 1,
        models: vec!["gpt-5.2".to_owned()],
        first_seen_ms: NOW - 281_000,
        last_seen_ms: NOW - 70_000,
        turn_count: 12,
        step_count: 12,
        repeated_steps: 8,
        input_tokens: 95_700,
        cached_tokens: 67_800,
        output_tokens: 2_010,
        cost_nano_usd: 196_200_000,
        turns: steps.into_iter().enumerate().map(turn).collect(),
        threshold: 0.95,
        counted: vec![
            SignalCount {
                signal: "repeated_step",
                what: "the last step with the same result",
                count: 5.0,
                is_above: false,
                hint: Some(3.0),
                kill: Some(5.0),
            },
            SignalCount {
                signal: "cycle",
                what: "rounds of the same steps",
                count: 2.0,
                is_above: false,
                hint: Some(3.0),
                kill: Some(5.0),
            },
            SignalCount {
                signal: "semantic",
                what: "the nearest earlier prompt",
                count: 0.98,
                is_above: true,
                hint: Some(0.95),
                kill: None,
            },
        ],
        ..RunPage::default()
    }
}

/// A run that went well, with its texts.
pub fn well() -> RunPage {
    let mut run = stuck();
    run.finding = None;
    run.status = StatusWord::Done;
    (run.hints, run.kills, run.repeated_steps, run.step_count) = (0, 0, 0, 3);
    run.turns.truncate(4);
    for (number, turn) in run.turns.iter_mut().enumerate() {
        turn.finding = None;
        for step in &mut turn.steps {
            step.outcome = format!("{:016x}", 900 + number);
            step.arguments = "{\n  \"path\": \"src/main.rs\"\n}".to_owned();
            step.result = "fn main() {\n    println!(\"ok\");\n}".to_owned();
        }
    }
    let last = run.turns.last_mut().unwrap();
    last.end = End::Text;
    last.prompt = "Why does the build fail?".to_owned();
    run
}

/// Every text that can come from outside is hostile.
pub fn evil() -> (Now, Runs, RunPage) {
    let text = hostile;
    let who = || Who { tenant: text(), client: text(), agent: text(), run: text() };
    let seen = || Finding {
        tool: text(),
        signal: text(),
        ..finding("", VerdictWord::Kill, 3, "", Outcome::Failure)
    };
    let mut now = now();
    for trouble in &mut now.looping {
        (trouble.who, trouble.model, trouble.finding) = (who(), text(), seen());
    }
    now.looping[0].finding.signal = "repeated_step".to_owned();
    now.health.not_ready = vec![text()];
    let mut runs = runs();
    runs.filter = Filter {
        agent: HOSTILE.to_owned(),
        client: HOSTILE.to_owned(),
        tenant: HOSTILE.to_owned(),
        status: HOSTILE.to_owned(),
        signal: HOSTILE.to_owned(),
        model: HOSTILE.to_owned(),
        sort: HOSTILE.to_owned(),
        cursor: HOSTILE.to_owned(),
        ..Filter::default()
    };
    (runs.signals, runs.models) = (vec![text()], vec![text()]);
    for row in &mut runs.rows {
        (row.who, row.model, row.finding) = (who(), text(), Some(seen()));
    }
    let mut run = stuck();
    (run.who, run.finding, run.models) = (who(), Some(seen()), vec![text()]);
    run.stops = vec![Stop {
        id: "s".to_owned(),
        whom: text(),
        reason: text(),
        author: text(),
        set_ms: NOW,
        until_ms: None,
    }];
    for turn in &mut run.turns {
        (turn.model, turn.prompt) = (text(), text());
        for step in &mut turn.steps {
            (step.tool, step.arguments, step.result) = (text(), text(), text());
        }
        if let Some(finding) = &mut turn.finding {
            *finding = seen();
        }
    }
    (now, runs, run)
}
