//! The page of a run: what is wrong with it in one sentence, its pattern at a glance, and its story step by step.

mod count;
mod counted;
mod replayed;
mod story;

use maud::{Markup, html};

pub use self::{count::count, counted::SignalCount};
use crate::{
    chart, figure,
    page::{Viewer, dialog, form},
    stop,
    text::{NAME, name},
    words::{Finding, Outcome, StatusWord, VerdictWord},
};

/// Who acts. Names are as they were sent; empty where none was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    pub tenant: String,
    pub client: String,
    pub agent: String,
    pub run: String,
}

impl Who {
    /// Agent and run, with client and tenant where they are known.
    #[must_use]
    pub fn draw(&self) -> Markup {
        html! {
            span.who {
                b { @if self.agent.is_empty() { "an agent without a name" } @else { (name(&self.agent, NAME)) } }
                " / "
                @if self.run.is_empty() { i { "a run without a name" } } @else { (name(&self.run, NAME)) }
            }
            @if !self.client.is_empty() { span.part { "client " (name(&self.client, 30)) } }
            @if !self.tenant.is_empty() { span.part { "tenant " (name(&self.tenant, 30)) } }
        }
    }
}

/// The page.
#[derive(Clone, Debug, Default)]
pub struct RunPage {
    pub now_ms: u64,
    pub id: String,
    pub who: Who,
    pub status: StatusWord,
    pub finding: Option<Finding>,
    pub hints: u64,
    pub kills: u64,
    pub models: Vec<String>,
    pub first_seen_ms: u64,
    pub last_seen_ms: u64,
    pub turn_count: u64,
    pub step_count: u64,
    pub repeated_steps: u64,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Some of the tokens were counted from bytes.
    pub estimated: bool,
    pub cost_nano_usd: u64,
    pub unpriced_turns: u64,
    pub cache_hits: u64,
    pub injections: u64,
    /// The oldest first.
    pub turns: Vec<TurnRow>,
    /// The address of the turns before these.
    pub earlier: Option<String>,
    /// Stops that stand for it.
    pub stops: Vec<Stop>,
    /// From which similarity a prompt counts.
    pub threshold: f64,
    /// What each signal had counted at the end.
    pub counted: Vec<SignalCount>,
    /// Where its trace is.
    pub trace: Option<String>,
}

/// One judged request with its answer.
#[derive(Clone, Debug, Default)]
pub struct TurnRow {
    /// Within the run, from 1 on.
    pub number: u64,
    pub at_ms: u64,
    pub duration_ms: u64,
    pub model: String,
    /// HTTP status of the answer. 0 if none has come.
    pub status: u32,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    pub cost_nano_usd: u64,
    pub cache_hit: bool,
    /// What is new in the request.
    pub steps: Vec<StepRow>,
    pub more_steps: u64,
    pub similarity: Option<f64>,
    pub finding: Option<Finding>,
    pub end: End,
    pub injections: u64,
    /// Empty unless texts are stored.
    pub prompt: String,
}

/// A call and what came of it.
#[derive(Clone, Debug, Default)]
pub struct StepRow {
    pub tool: String,
    pub approach: String,
    pub outcome: String,
    pub kind: Outcome,
    pub bytes: u64,
    /// Empty unless texts are stored.
    pub arguments: String,
    /// Empty unless texts are stored.
    pub result: String,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    #[default]
    Unknown,
    Text,
    Calls,
    Limit,
    Error,
    ClientGone,
}

/// A stop that stands.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    pub id: String,
    /// Whom it stops, in words.
    pub whom: String,
    pub reason: String,
    pub author: String,
    pub set_ms: u64,
    pub until_ms: Option<u64>,
}

/// The address of a run.
#[must_use]
pub fn run_path(id: &str) -> String {
    format!("/console/runs/{}", crate::text::encoded(id))
}

impl RunPage {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        let path = run_path(&self.id);
        html! {
            header.head {
                p.meta { (self.status.badge()) " " (self.who.draw()) }
                h1.sentence { (self.sentence()) }
                div.acts {
                    @if self.stops.is_empty() && self.status.is_under_way() { (stop::of_run(viewer, &self.id, &self.who, &path)) }
                    @if let Some(trace) = &self.trace { a.button href=(trace) rel="noreferrer" { "Trace" } }
                }
            }
            @for stop in &self.stops { (stop.banner(self.now_ms, viewer, &path)) }
            (self.facts())
            @if self.turns.is_empty() {
                p.calm { "None of its turns is stored any more." }
            } @else {
                (story::glance(self))
                (self.similarities())
                (story::story(self))
            }
            (counted::table(&self.counted, self.finding.is_none(), "that hold for the agent now"))
        }
    }

    /// What is wrong with it, or that nothing is.
    fn sentence(&self) -> Markup {
        match (&self.finding, self.status) {
            (Some(finding), _) => finding.sentence(self.hints),
            (None, StatusWord::Failed) => html! { "Its last answer was an error. Nothing in it repeats." },
            (None, status) if status.is_under_way() => {
                html! { "It is under way, and nothing in it repeats enough to matter." }
            }
            (None, _) => html! { "It ended well." },
        }
    }

    fn facts(&self) -> Markup {
        let all = self.input_tokens.saturating_add(self.output_tokens);
        html! {
            dl.facts.wide {
                (fact("Cost", &html! { (figure::usd(self.cost_nano_usd))
                    @if self.unpriced_turns > 0 { small.warning { (figure::of(self.unpriced_turns, "turn", "turns")) " without a known price" } } }))
                (fact("Time", &html! { (figure::duration(self.last_seen_ms.saturating_sub(self.first_seen_ms)))
                    small { "last seen " (figure::ago(self.last_seen_ms, self.now_ms)) } }))
                (fact("Turns", &html! { (figure::count(self.turn_count))
                    @if self.cache_hits > 0 { small { (figure::count(self.cache_hits)) " from the cache" } } }))
                (fact("Steps", &html! { (figure::count(self.step_count))
                    small { (figure::count(self.repeated_steps)) " repeated" } }))
                (fact("Tokens", &html! { @if self.estimated { "about " } (figure::short(all))
                    small { (figure::short(self.input_tokens)) " in, " (figure::short(self.cached_tokens)) " of them cached, "
                        (figure::short(self.output_tokens)) " out" } }))
                (fact("Told", &html! { (figure::of(self.hints, "hint", "hints"))
                    small { (figure::of(self.kills, "kill", "kills")) } }))
                @if self.injections > 0 {
                    (fact("Injections", &html! { span.bad { (figure::count(self.injections)) } small { "texts that look like one" } }))
                }
                @if !self.models.is_empty() {
                    (fact(if self.models.len() == 1 { "Model" } else { "Models" }, &html! {
                        @for (place, model) in self.models.iter().enumerate() { @if place > 0 { ", " } (name(model, 40)) } }))
                }
            }
        }
    }

    fn similarities(&self) -> Markup {
        let points: Vec<(u64, f64)> =
            self.turns.iter().filter_map(|turn| Some((turn.number, turn.similarity?))).collect();
        html! {
            @if points.len() > 1 {
                section {
                    h2 { "How like its prompts are" }
                    (chart::similarity(&points, self.threshold))
                }
            }
        }
    }
}

fn fact(label: &str, value: &Markup) -> Markup {
    html! { div { dt { (label) } dd { (value) } } }
}

impl Stop {
    /// A line with a button that lifts it.
    #[must_use]
    pub fn banner(&self, now_ms: u64, viewer: &Viewer, address: &str) -> Markup {
        let id = format!("lift-{}", self.id);
        let lift = html! {
            input type="hidden" name="back" value=(address);
            button type="submit" { "Lift the stop" }
        };
        let title = html! { "Lift the stop of " (crate::text::plain(&self.whom, 200)) "? What it stops may go on with its next request." };
        html! {
            div.banner.stopped {
                p {
                    b { "Stopped: " (crate::text::plain(&self.whom, 200)) }
                    @if !self.reason.is_empty() { " — “" (name(&self.reason, 500)) "”" }
                    span.part { "by " @if self.author.is_empty() { "somebody" } @else { (name(&self.author, 40)) } ", " (figure::ago(self.set_ms, now_ms)) }
                    span.part {
                        @match self.until_ms {
                            Some(until) => { "for another " (figure::duration(until.saturating_sub(now_ms))) }
                            None => "until it is lifted",
                        }
                    }
                }
                (dialog(viewer, address, &id, "Lift", &title, &form(&format!("/console/stops/{}/lift", self.id), viewer, &lift)))
            }
        }
    }
}

/// What an answer was, where it ended the turn with no call.
fn end_word(end: End, status: u32) -> Option<(&'static str, String)> {
    match end {
        End::Text => Some(("answered", "It answered with a text.".to_owned())),
        End::Limit => Some(("answered", "The answer ended at its limit of tokens.".to_owned())),
        End::ClientGone => Some(("broken", "The agent went away before the answer ended.".to_owned())),
        End::Error if status >= 400 => {
            Some(("broken", format!("The provider answered with the error {status}.")))
        }
        End::Error => Some(("broken", "The answer was an error.".to_owned())),
        End::Unknown if status >= 400 => {
            Some(("broken", format!("The provider answered with the error {status}.")))
        }
        End::Calls | End::Unknown => None,
    }
}

/// The class of a verdict's line.
fn verdict_class(finding: &Finding) -> &'static str {
    match (finding.verdict, finding.enforced) {
        (_, false) => "observed",
        (VerdictWord::Hint, true) => "hint",
        (VerdictWord::Kill, true) => "kill",
    }
}
