//! The story of a run: its pattern at a glance, then row by row. Steps that are equal have equal marks, and are joined by a line at the
//! side.

use std::collections::HashMap;

use maud::{Markup, html};

use super::{RunPage, StepRow, TurnRow, end_word, verdict_class};
use crate::{
    chart, figure,
    mark::{Mark, Marks},
    text::{self, NAME},
    words::{Outcome, VerdictWord},
};

/// Repeated steps that have a line of their own.
const LANES: usize = 4;

/// A step that comes again, and where.
struct Lane {
    approach: String,
    outcome: String,
    /// Places of the step in the order of all steps.
    places: Vec<usize>,
    class: String,
}

struct Look {
    approaches: Marks,
    outcomes: Marks,
    lanes: Vec<Lane>,
}

impl Look {
    fn of(turns: &[TurnRow]) -> Self {
        let steps = || turns.iter().flat_map(|turn| &turn.steps);
        let approaches = Marks::of(steps().map(|step| step.approach.as_str()));
        let outcomes = Marks::of(steps().map(|step| step.outcome.as_str()));
        let mut order: Vec<(&str, &str)> = Vec::new();
        let mut places: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        for (place, step) in steps().enumerate() {
            let key = (step.approach.as_str(), step.outcome.as_str());
            let known = places.entry(key).or_insert_with(|| {
                order.push(key);
                Vec::new()
            });
            known.push(place);
        }
        let lane = |key: &(&str, &str)| Lane {
            approach: key.0.to_owned(),
            outcome: key.1.to_owned(),
            places: places.get(key).cloned().unwrap_or_default(),
            class: approaches.get(key.0).class(),
        };
        let mut lanes: Vec<Lane> = order.iter().map(lane).filter(|lane| lane.places.len() > 1).collect();
        lanes.sort_by_key(|lane| std::cmp::Reverse(lane.places.len()));
        lanes.truncate(LANES);
        // The lane that begins first stands leftmost.
        lanes.sort_by_key(|lane| lane.places.first().copied());
        Self { approaches, outcomes, lanes }
    }

    /// The lines beside a row: `place` is the step of the row, or the next one, and `is_step` whether the row is that step itself.
    fn lines(&self, place: usize, is_step: bool) -> Markup {
        html! {
            span.lanes aria-hidden="true" {
                @for lane in &self.lanes {
                    @let first = lane.places.first().copied().unwrap_or_default();
                    @let last = lane.places.last().copied().unwrap_or_default();
                    @let shape = match (is_step, lane.places.contains(&place)) {
                        (true, true) if place == first => "dot start",
                        (true, true) if place == last => "dot end",
                        (true, true) => "dot through",
                        _ if place > first && place <= last => "through",
                        _ => "",
                    };
                    i class={ "lane " (lane.class) " " (shape) } {}
                }
            }
        }
    }

    /// Which repetition of its step this one is, how many there are, and the class of their colour.
    fn times(&self, step: &StepRow, place: usize) -> Option<(usize, usize, &str)> {
        let lane =
            self.lanes.iter().find(|lane| lane.approach == step.approach && lane.outcome == step.outcome)?;
        let time = lane.places.iter().position(|known| *known == place)?;
        Some((time.saturating_add(1), lane.places.len(), &lane.class))
    }
}

/// A strip with a column for each step: the call above, its result below. It shows a pattern at a glance.
pub fn glance(run: &RunPage) -> Markup {
    let look = Look::of(&run.turns);
    let count: usize = run.turns.iter().map(|turn| turn.steps.len()).sum();
    html! {
        @if count > 1 {
            section {
                h2 { "At a glance" }
                ol.glance {
                    @for turn in &run.turns {
                        @for step in &turn.steps {
                            @let marks = (look.approaches.get(&step.approach), look.outcomes.get(&step.outcome));
                            li title=(at_hand(turn, step, &marks.0)) {
                                a href={ "#turn-" (turn.number) } aria-label=(at_hand(turn, step, &marks.0)) {
                                    span class={ "half " (marks.0.class()) } { (first(&marks.0)) }
                                    span class={ "half round " (marks.1.class()) @if step.kind == Outcome::Failure { " failed" } } {}
                                }
                            }
                        }
                        @if let Some(finding) = &turn.finding {
                            li class={ "sign " (verdict_class(finding)) } title=(format!("turn {}: {}", turn.number, sign(finding.verdict).1)) {
                                span aria-hidden="true" { (sign(finding.verdict).0) }
                                span.hidden { (sign(finding.verdict).1) }
                            }
                        }
                    }
                }
                p.legend {
                    "Each column is a step: what was called above, what came of it below. Equal colours are equal calls or results; grey came once. "
                    span.sign.hint { "▲" } " a hint, " span.sign.kill { "✕" } " a kill."
                }
            }
        }
    }
}

fn first(mark: &Mark) -> String {
    if mark.hue.is_some() { mark.word.clone() } else { String::new() }
}

fn at_hand(turn: &TurnRow, step: &StepRow, mark: &Mark) -> String {
    format!("{}: turn {}, {}, {}", mark.word, turn.number, text::plain(&step.tool, NAME), step.kind.word())
}

fn sign(verdict: VerdictWord) -> (&'static str, &'static str) {
    match verdict {
        VerdictWord::Hint => ("▲", "hint"),
        VerdictWord::Kill => ("✕", "kill"),
    }
}

/// What one turn is measured against: the largest of the run.
struct Largest {
    tokens: u64,
    cost: u64,
    time: u64,
}

/// Row by row.
pub fn story(run: &RunPage) -> Markup {
    let look = Look::of(&run.turns);
    let most = |of: fn(&TurnRow) -> u64| run.turns.iter().map(of).max().unwrap_or_default();
    let largest = Largest {
        tokens: most(|turn| turn.input_tokens.saturating_add(turn.output_tokens)),
        cost: most(|turn| turn.cost_nano_usd),
        time: most(|turn| turn.duration_ms),
    };
    let mut place = 0_usize;
    let mut rows: Vec<Markup> = Vec::new();
    for turn in &run.turns {
        rows.push(head(run, turn, &largest, &look.lines(place, false)));
        for step in &turn.steps {
            rows.push(row(step, &look, place));
            place = place.saturating_add(1);
        }
        if turn.more_steps > 0 {
            let more = figure::of(turn.more_steps, "more step is", "more steps are");
            rows.push(note("", &look.lines(place, false), &html! { (more) " not kept." }));
        }
        if turn.injections > 0 {
            let texts = figure::of(turn.injections, "text looks", "texts look");
            rows.push(note("broken", &look.lines(place, false), &html! { (texts) " like an injection." }));
        }
        if let Some(finding) = &turn.finding {
            let what = told(finding.verdict, finding.enforced);
            let why = html! { b { (sign(finding.verdict).0) " " (what) } " " (finding.seen()) "." };
            rows.push(note(verdict_class(finding), &look.lines(place, false), &why));
        }
        let is_ended = turn
            .finding
            .as_ref()
            .is_some_and(|finding| finding.verdict == VerdictWord::Kill && finding.enforced);
        if let Some((class, text)) = end_word(turn.end, turn.status).filter(|_| !is_ended) {
            rows.push(note(class, &look.lines(place, false), &html! { (text) }));
        }
    }
    html! {
        section {
            h2 { "Its story" }
            @if let Some(earlier) = &run.earlier { p { a href=(earlier) { "Earlier turns" } } }
            ol.story { @for row in &rows { (row) } }
        }
    }
}

fn told(verdict: VerdictWord, enforced: bool) -> &'static str {
    match (verdict, enforced) {
        (VerdictWord::Hint, true) => "Here the model was told.",
        (VerdictWord::Hint, false) => "Only observed: here the model would have been told.",
        (VerdictWord::Kill, true) => "Here Sentinel ended it.",
        (VerdictWord::Kill, false) => "Only observed: here Sentinel would have ended it.",
    }
}

fn head(run: &RunPage, turn: &TurnRow, largest: &Largest, lines: &Markup) -> Markup {
    let tokens = turn.input_tokens.saturating_add(turn.output_tokens);
    let alike = turn.similarity.filter(|similarity| *similarity > run.threshold);
    html! {
        li.row.turn #{ "turn-" (turn.number) } data-row tabindex="-1" {
            (lines)
            div.cell {
                span.number { "Turn " (turn.number) }
                // A recorded run has no times, and nothing was paid for it.
                @if turn.at_ms > 0 {
                    span.at title=(figure::exact(turn.at_ms)) { (figure::since(turn.at_ms.saturating_sub(run.first_seen_ms))) }
                    span.bars {
                        (measure("time", &figure::duration(turn.duration_ms), turn.duration_ms, largest.time))
                        (measure("tokens", &figure::short(tokens), tokens, largest.tokens))
                        (measure("cost", &figure::usd(turn.cost_nano_usd), turn.cost_nano_usd, largest.cost))
                    }
                }
                @if turn.cache_hit { span.part { "from the cache" } }
                @if let Some(alike) = alike { span.part { "its prompt is like an earlier one (" (format!("{alike:.2}")) ")" } }
                @if !turn.prompt.is_empty() {
                    details.texts { summary { "prompt" } pre { (text::block(&turn.prompt, text::TEXT)) } }
                }
            }
        }
    }
}

fn measure(what: &str, said: &str, value: u64, most: u64) -> Markup {
    #[expect(clippy::cast_precision_loss, reason = "the width of a bar")]
    let part = if most > 0 { value as f64 / most as f64 } else { 0.0 };
    html! { span.measure { span.hidden { (what) " " } span.said { (said) } (chart::bar(part, what)) } }
}

fn row(step: &StepRow, look: &Look, place: usize) -> Markup {
    let (approach, outcome) = (look.approaches.get(&step.approach), look.outcomes.get(&step.outcome));
    let has_texts = !step.arguments.is_empty() || !step.result.is_empty();
    html! {
        li.row.step {
            (look.lines(place, true))
            div.cell {
                (approach.tile(false))
                code.tool { (text::name(&step.tool, NAME)) }
                span.arrow aria-hidden="true" { "→" }
                (outcome.tile(true))
                span class={ "kind " (step.kind.word()) } { (step.kind.word()) }
                span.bytes { (figure::bytes(step.bytes)) }
                @if let Some((time, of, class)) = look.times(step, place) {
                    span class={ "times " (class) } { (time) " of " (of) }
                }
                @if has_texts {
                    details.texts {
                        summary { "texts" }
                        @if !step.arguments.is_empty() { h3 { "Arguments" } pre { (text::block(&step.arguments, text::TEXT)) } }
                        @if !step.result.is_empty() { h3 { "Result" } pre { (text::block(&step.result, text::TEXT)) } }
                    }
                }
            }
        }
    }
}

fn note(class: &str, lines: &Markup, content: &Markup) -> Markup {
    html! { li class={ "row note " (class) } { (lines) div.cell { p { (content) } } } }
}
