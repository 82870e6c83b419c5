//! The report as one page: figures, the table, and every flagged run to be opened and read, its evidence marked. No script,
//! nothing from a network.

use crate::escape::escaped;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::evidence;
use crate::figure::{Bar, bars, histogram};
use crate::group::{Group, turns};
use sentinel_replay_core::history::{MessageContent, RecordedMessage};
use sentinel_replay_core::replay::{Replayed, RequestVerdict};

use crate::case::Case;
use crate::report::EvalReport;

/// Characters of all runs' texts together: the page stays small however many runs are flagged.
const TEXT: usize = 1_500_000;
/// Characters of one message.
const MOST: usize = 1_500;
const LEAST: usize = 120;
/// Characters of an instruction: no verdict rests on one.
const INSTRUCTION: usize = 300;

const STYLE: &str = include_str!("page.css");

pub fn page(report: &EvalReport<'_>) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Agent Sentinel: replay</title><style>{STYLE}</style></head><body>\n<h1>Replay of recorded agent runs</h1>\n"
    );
    let _ = writeln!(
        html,
        "<p>{} runs, {} requests, {:.0} requests a second. <span class=\"key hint\"></span> hinted <span class=\"key kill\"></span> killed</p>",
        report.cases.len(),
        report.requests(),
        report.requests_per_second()
    );
    figures(report, &mut html);
    let _ = writeln!(html, "<h2>By source and label</h2>\n<pre>{}</pre>", escaped(&report.table()));
    let _ = writeln!(
        html,
        "<details><summary>Configuration</summary><pre>{}</pre></details>",
        escaped(&format!("{:#}", report.config))
    );
    runs(report, &mut html);
    html.push_str("</body></html>\n");
    html
}

fn figures(report: &EvalReport<'_>, html: &mut String) {
    let bar = |group: &Group| {
        let part = |class, count: usize| {
            let share = count as f64 / group.runs as f64;
            (class, share, format!("{count} of {} ({:.0} %)", group.runs, share * 100.0))
        };
        Bar {
            name: format!("{}: {}", group.source, group.title()),
            parts: vec![part("hint", group.hinted), part("kill", group.killed)],
        }
    };
    let all: Vec<Bar> = report.groups.iter().map(bar).collect();
    let _ = writeln!(html, "<h2>Runs hinted and killed</h2>\n{}", bars(&all));
    let gather = |of: fn(&Group) -> &Vec<usize>| -> Vec<usize> {
        report.groups.iter().flat_map(|group| of(group).iter().copied()).collect()
    };
    let (hints, kills) = (gather(|group| &group.hint_at), gather(|group| &group.kill_at));
    if !hints.is_empty() || !kills.is_empty() {
        let svg =
            histogram("steps taken when the hint, or the kill, came", &[("hint", &hints), ("kill", &kills)]);
        let _ = writeln!(html, "<h2>How early</h2>\n{svg}");
    }
    let (hints, kills) = (gather(|group| &group.found.hint_rounds), gather(|group| &group.found.kill_rounds));
    if !hints.is_empty() || !kills.is_empty() {
        let svg = histogram(
            "rounds of the injected loop when the hint, or the kill, came",
            &[("hint", &hints), ("kill", &kills)],
        );
        let _ = writeln!(html, "<h2>Detection delay</h2>\n{svg}");
    }
}

fn runs(report: &EvalReport<'_>, html: &mut String) {
    let shown: Vec<_> = report.to_read().collect();
    let flagged = report.flagged().count();
    let missed = if shown.len() > flagged {
        format!(" The {} in which the injected loop was not found come first.", shown.len() - flagged)
    } else {
        String::new()
    };
    let _ = writeln!(
        html,
        "<h2>Flagged runs</h2>\n<p>{flagged} of {}. Open one to read it; what the verdict rests on is marked.{missed}</p>",
        report.cases.len()
    );
    let messages: usize = shown.iter().map(|(case, _)| case.run.messages.len()).sum();
    let most = (TEXT / messages.max(1)).clamp(LEAST, MOST);
    let (flagged, missed): (Vec<_>, Vec<_>) =
        shown.into_iter().partition(|(_, replayed)| replayed.flagged().is_some());
    for (case, replayed) in missed.into_iter().chain(flagged) {
        run(case, replayed, most, html);
    }
}

fn run(case: &Case, replayed: &Replayed, most: usize, html: &mut String) {
    let flags: Vec<_> = [RequestVerdict::Hint, RequestVerdict::Kill]
        .into_iter()
        .filter_map(|verdict| replayed.first(verdict))
        .collect();
    let mut marked = BTreeSet::new();
    let mut said = Vec::new();
    for sent in &flags {
        marked.extend(evidence::messages(&case.run.messages, sent));
        said.push(format!(
            "{} after step {}: {}",
            word(sent.judged.verdict),
            turns(case, sent),
            sent.judged.reason
        ));
    }
    if flags.is_empty() {
        said.push("not found".to_owned());
    }
    let colour = flags.last().map_or("", |sent| class(sent.judged.verdict));
    let _ = writeln!(
        html,
        "<details class=\"run\"><summary><span class=\"key {colour}\"></span> <b>{}</b> {} \u{b7} {} \u{b7} {}</summary>",
        escaped(&case.run.id),
        escaped(&case.run.source),
        escaped(&case.run.label),
        escaped(&said.join("; "))
    );
    for (at, message) in case.run.messages.iter().enumerate() {
        for sent in flags.iter().filter(|sent| sent.history == at) {
            let verdict = sent.judged.verdict;
            let _ = writeln!(
                html,
                "<p class=\"flag {}\">{} here: {}</p>",
                class(verdict),
                word(verdict),
                escaped(&sent.judged.reason)
            );
        }
        if case.injected.is_some_and(|injected| injected.onset == at) {
            html.push_str("<p class=\"flag\">the injected loop begins</p>\n");
        }
        tell(at, message, marked.contains(&at), most, html);
    }
    html.push_str("</details>\n");
}

fn tell(at: usize, message: &RecordedMessage, is_evidence: bool, most: usize, html: &mut String) {
    let most =
        if matches!(message.said, MessageContent::Instruction(_)) { most.min(INSTRUCTION) } else { most };
    let (who, text) = match &message.said {
        MessageContent::Instruction(text) => ("system", text.clone()),
        MessageContent::User(text) => ("user", text.clone()),
        MessageContent::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| format!("\u{2192} {}({})", call.name, call.arguments));
            let all = Some(text.clone()).filter(|text| !text.is_empty()).into_iter().chain(calls);
            ("assistant", all.collect::<Vec<_>>().join("\n"))
        }
        MessageContent::Result { text, .. } => ("result", text.clone()),
    };
    let evidence = if is_evidence { " evidence" } else { "" };
    let _ = writeln!(
        html,
        "<div class=\"{who}{evidence}\"><i>{at} {who}</i><pre>{}</pre></div>",
        escaped(&cut(&text, most))
    );
}

fn word(verdict: RequestVerdict) -> &'static str {
    if verdict == RequestVerdict::Kill { "killed" } else { "hinted" }
}

fn class(verdict: RequestVerdict) -> &'static str {
    if verdict == RequestVerdict::Kill { "kill" } else { "hint" }
}

/// Beginning and end of a text that is too long.
fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (head, tail) = (most * 2 / 3, most / 3);
    let head: String = text.chars().take(head).collect();
    let tail: String = text.chars().skip(count - tail).collect();
    format!("{head} [\u{2026} {} characters \u{2026}] {tail}", count - most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_ends() {
        let text = format!("begin{}end", "x".repeat(1_000));
        let short = cut(&text, 90);
        assert!(
            short.starts_with("begin") && short.ends_with("end") && short.contains("918 characters"),
            "{short}"
        );
        assert_eq!(cut("short", 90), "short");
    }

    #[test]
    fn a_text_stays_a_text() {
        assert_eq!(escaped("<script>'&\"\u{0}\u{1b}"), "&lt;script&gt;&#39;&amp;&quot;\u{fffd}\u{fffd}");
    }
}
