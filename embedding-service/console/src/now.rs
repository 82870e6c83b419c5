//! The page Now: what needs somebody, the most expensive first; four figures; and whether everything works.

use maud::{Markup, html};

use crate::{
    chart, figure,
    page::Viewer,
    run::{Who, run_path},
    settings, stop, text,
    words::{Finding, StatusWord},
};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct Now {
    pub now_ms: u64,
    pub figures: Figures,
    /// Runs that loop at this moment, the most expensive first.
    pub looping: Vec<Trouble>,
    /// How many more of them there are.
    pub more_looping: u64,
    /// Runs that were ended within the hour, the latest first.
    pub ended: Vec<Trouble>,
    pub health: Health,
    /// Version of the live settings that the page was made with.
    pub version: u64,
}

/// The last hour, minute by minute, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub under_way: u64,
    /// Turns of each minute.
    pub turns: Vec<f64>,
    pub hints: u64,
    pub kills: u64,
    /// Verdicts of each minute.
    pub verdicts: Vec<f64>,
    pub spent_nano_usd: u64,
    pub spent: Vec<f64>,
    pub saved_nano_usd: u64,
    pub saved: Vec<f64>,
    /// Turns of the last hour whose model has no known price.
    pub unpriced: u64,
    /// How many of these minutes are known; what happened before is forgotten.
    pub minutes: u64,
}

/// A run that needs somebody.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub id: String,
    pub who: Who,
    pub model: String,
    pub status: StatusWord,
    pub finding: Finding,
    pub hints: u64,
    pub cost_nano_usd: u64,
    pub turns: u64,
    pub first_seen_ms: u64,
    pub last_seen_ms: u64,
    /// A stop stands for it; it ends with its next request.
    pub is_stopped: bool,
    /// Its agent is only observed. `None` where it can do nothing more, or its agent has no name.
    pub observed: Option<bool>,
}

/// Whether everything works.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// Each reason why the service is not ready.
    pub not_ready: Vec<String>,
    /// Where runs are stored.
    pub store: String,
    /// Stops that stand.
    pub stops: u64,
    /// Envoy's workers that report.
    pub workers: u64,
    /// When the last of them did; 0: none has.
    pub last_report_ms: u64,
    /// Turns that workers dropped because they could not report them.
    pub dropped: u64,
}

impl Now {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        html! {
            h1.hidden { "Now" }
            (self.figures.draw())
            (self.needed(viewer))
            @if !self.ended.is_empty() {
                section.ended {
                    h2 { "Ended in the last hour" }
                    ol.troubles.small { @for trouble in &self.ended { (trouble.draw(self.now_ms, viewer, self.version)) } }
                }
            }
            (self.health.draw(self.now_ms))
        }
    }

    fn needed(&self, viewer: &Viewer) -> Markup {
        let all = figure::count(
            self.more_looping.saturating_add(u64::try_from(self.looping.len()).unwrap_or_default()),
        );
        html! {
            section.needed {
                @if self.looping.is_empty() {
                    h2 { "Nothing needs you" }
                    p.calm {
                        @if self.figures.under_way > 0 { "No run that is under way repeats itself." }
                        @else if self.health.last_report_ms == 0 {
                            "No agent has sent a request yet. As soon as one does, its run appears here by itself."
                        }
                        @else { "No run is under way." }
                    }
                } @else {
                    h2 { "Needs somebody " span.number { (all) } }
                    p.calm { "These runs repeat themselves at this moment. The most expensive is first." }
                    ol.troubles { @for trouble in &self.looping { (trouble.draw(self.now_ms, viewer, self.version)) } }
                    @if self.more_looping > 0 {
                        p { a href="/console/runs?status=working,tools&sort=repeated_steps" { (figure::count(self.more_looping)) " more" } }
                    }
                }
            }
        }
    }
}

impl Figures {
    fn draw(&self) -> Markup {
        let verdicts = self.hints.saturating_add(self.kills);
        let time = match self.minutes {
            0..60 => format!("in the last {}", figure::of(self.minutes.max(1), "minute", "minutes")),
            _ => "in the last hour".to_owned(),
        };
        let said = format!(
            "{} and {}",
            figure::of(self.hints, "hint", "hints"),
            figure::of(self.kills, "kill", "kills")
        );
        let unpriced = (self.unpriced > 0).then(|| figure::of(self.unpriced, "turn has", "turns have"));
        html! {
            dl.figures {
                (one("Runs under way", &figure::count(self.under_way), &self.turns, "the line: turns a minute", None))
                (one("Verdicts", &figure::count(verdicts), &self.verdicts, &said, None))
                (one("Spent", &figure::usd(self.spent_nano_usd), &self.spent, &time,
                    unpriced.map(|turns| format!("{turns} no known price"))))
                (one("Saved, at least", &figure::usd(self.saved_nano_usd), &self.saved, "requests that were not sent", None))
            }
        }
    }
}

fn one(label: &str, value: &str, values: &[f64], below: &str, warning: Option<String>) -> Markup {
    html! {
        div.figure {
            dt { (label) }
            dd.value { (value) }
            dd.chart { (chart::spark(values, &format!("{label}: {below}"))) }
            dd.below { (below) @if let Some(warning) = warning { span.warning { (warning) } } }
        }
    }
}

impl Trouble {
    fn draw(&self, now_ms: u64, viewer: &Viewer, version: u64) -> Markup {
        let path = run_path(&self.id);
        html! {
            li.trouble data-row {
                div.what {
                    p.sentence { a href=(path) { (self.finding.sentence(self.hints)) } }
                    p.meta {
                        (self.status.badge()) " " (self.who.draw())
                        @if !self.model.is_empty() { span.part { (text::name(&self.model, 40)) } }
                        span.part { (figure::of(self.turns, "turn", "turns")) " in "
                            (figure::duration(self.last_seen_ms.saturating_sub(self.first_seen_ms))) }
                        span.part { (figure::ago(self.last_seen_ms, now_ms)) }
                    }
                }
                p.cost { (figure::usd(self.cost_nano_usd)) span.hidden { " so far" } }
                div.acts {
                    @if self.is_stopped { span.status.stopped { "■ a stop stands" } }
                    @else if self.status.is_under_way() { (stop::of_run(viewer, &self.id, &self.who, &path)) }
                    @if let Some(observed) = self.observed { (settings::observe(viewer, "/console", &self.who.agent, observed, version)) }
                    a.button href=(path) { "Open" }
                }
            }
        }
    }
}

impl Health {
    fn draw(&self, now_ms: u64) -> Markup {
        let is_well = self.not_ready.is_empty() && self.dropped == 0;
        html! {
            section.health {
                h2 { "Health" @if is_well { span.good { " ✓ all well" } } @else { span.bad { " ! look here" } } }
                dl.facts {
                    div { dt { "Service" } dd {
                        @if self.not_ready.is_empty() { "ready" } @else { span.bad { "not ready: " (text::plain(&self.not_ready.join(" "), text::TEXT)) } }
                    } }
                    div { dt { "Runs are stored in" } dd { (self.store) } }
                    div { dt { "Envoy's workers" } dd {
                        @if self.last_report_ms == 0 { "none has reported yet" }
                        @else { (figure::count(self.workers)) " report, the last " (figure::ago(self.last_report_ms, now_ms)) }
                    } }
                    @if self.dropped > 0 {
                        div { dt { "Dropped" } dd { span.bad { (figure::of(self.dropped, "turn was", "turns were"))
                            " not reported: the workers could not reach the service in time" } } }
                    }
                    div { dt { "Stops that stand" } dd { a href="/console/stops" { (figure::count(self.stops)) } } }
                }
            }
        }
    }
}
