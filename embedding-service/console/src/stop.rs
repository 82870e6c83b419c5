//! Stops: the dialog that sets one, the page that asks before many are set, and the list of those that stand.

use maud::{Markup, html};

use crate::{
    figure,
    page::{Viewer, dialog, form},
    run::{Stop, Who, run_path},
    text,
};

/// For how long a stop may be set, in seconds; 0: until it is lifted.
const TIMES: [(u64, &str); 4] =
    [(0, "until it is lifted"), (3_600, "for an hour"), (86_400, "for a day"), (604_800, "for a week")];

/// The button that stops a run.
#[must_use]
pub fn of_run(viewer: &Viewer, id: &str, who: &Who, address: &str) -> Markup {
    let title = html! { "Stop " (who.draw()) "?" };
    let content = html! { (fields(address)) button.danger type="submit" { "Stop this run" } };
    let form = form(&format!("{}/stop", run_path(id)), viewer, &content);
    dialog(viewer, address, &format!("stop-{}", text::encoded(id)), "Stop", &title, &form)
}

pub(crate) fn fields(back: &str) -> Markup {
    html! {
        input type="hidden" name="back" value=(back);
        p.hint { "Requests from now on are refused, and answers under way are ended. The agent is told your reason." }
        label { "Reason" input type="text" name="reason" maxlength="500" autocomplete="off"; }
        label { "Your name" input type="text" name="author" maxlength="100" autocomplete="username"; }
        label { "How long" select name="seconds" { @for (seconds, word) in TIMES { option value=(seconds) { (word) } } } }
    }
}

/// Many runs that are to be stopped: asks first.
#[derive(Clone, Debug, Default)]
pub struct Many {
    /// Ids and names; no more than are stopped.
    pub runs: Vec<(String, Who)>,
    /// What they have cost so far.
    pub cost_nano_usd: u64,
    /// How many of those that were chosen have ended by themselves, so that there is nothing to stop.
    pub ended: u64,
    pub back: String,
}

/// Runs that are named before many are stopped.
const NAMED: usize = 20;

impl Many {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        let number = u64::try_from(self.runs.len()).unwrap_or(u64::MAX);
        let content = html! {
            @for (id, _) in &self.runs { input type="hidden" name="run" value=(id); }
            (fields(&self.back))
            div.acts {
                @if number > 0 { button.danger type="submit" { "Stop " (figure::of(number, "run", "runs")) } }
                a.button href=(self.back) { "Cancel" }
            }
        };
        html! {
            section.ask {
                h1 { "Stop " (figure::of(number, "run", "runs")) "?" }
                p { "They have cost " (figure::usd(self.cost_nano_usd)) " so far."
                    @if self.ended > 0 { " " (figure::of(self.ended, "run that you chose has ended by itself.", "runs that you chose have ended by themselves.")) } }
                ul { @for (_, who) in self.runs.iter().take(NAMED) { li { (who.draw()) } }
                    @if self.runs.len() > NAMED { li { "and " (figure::count(number.saturating_sub(20))) " more" } } }
                (form("/console/stops", viewer, &content))
            }
        }
    }
}

/// The stops that stand.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    pub now_ms: u64,
    /// The newest first.
    pub stops: Vec<Stop>,
    /// How many more there are.
    pub more: u64,
}

impl Stops {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        html! {
            h1 { "Stops" }
            @if self.stops.is_empty() { p.calm { "No stop stands. Every agent may send requests." } }
            @for stop in &self.stops { (stop.banner(self.now_ms, viewer, "/console/stops")) }
            @if self.more > 0 { p.calm { "and " (figure::count(self.more)) " more, which the API lists" } }
        }
    }
}
