//! The page that says what new settings mean before they act: what changes, and which of the last runs would have gone otherwise.

use maud::{Markup, html};

use crate::{
    figure,
    page::{Viewer, form},
    run::{Who, run_path},
    text::{self, NAME, name},
};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct AskSettings {
    /// The version that the change is made to.
    pub version: u64,
    /// All settings as they are to be, as JSON.
    pub json: String,
    pub changes: Vec<ChangedSetting>,
    pub tried: TriedSettings,
    /// Where the change was made.
    pub back: String,
}

/// A setting that changes.
#[derive(Clone, Debug, Default)]
pub struct ChangedSetting {
    /// Whom it is for; empty: all.
    pub whom: String,
    pub path: String,
    /// As JSON; empty: nothing was said.
    pub before: String,
    pub after: String,
}

/// What the last runs would have been.
#[derive(Clone, Debug, Default)]
pub struct TriedSettings {
    /// Runs that were looked at.
    pub runs: u64,
    /// Those of them whose agent has other settings then.
    pub touched: u64,
    /// Those that would have gone otherwise.
    pub differ: Vec<Differs>,
    /// Those of which what is stored does not say it.
    pub unknown: Vec<(String, Who)>,
    /// Settings that change and cannot be judged from what is stored, and why.
    pub not_judged: Vec<(String, &'static str)>,
}

/// A run that would have gone otherwise.
#[derive(Clone, Debug, Default)]
pub struct Differs {
    pub id: String,
    pub who: Who,
    pub before: Fate,
    pub after: Fate,
}

/// What was done about a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    #[default]
    Passed,
    Told,
    Ended,
}

/// Runs of one kind that are named.
const NAMED: usize = 20;

impl Fate {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "let pass",
            Self::Told => "told",
            Self::Ended => "ended",
        }
    }
}

impl AskSettings {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        let content = html! {
            input type="hidden" name="version" value=(self.version);
            input type="hidden" name="settings" value=(self.json);
            label { "Reason" input type="text" name="reason" maxlength="500" autocomplete="off"; }
            label { "Your name" input type="text" name="author" maxlength="100" autocomplete="username"; }
            div.acts { button.primary type="submit" { "Change the settings" } a.button href=(self.back) { "Cancel" } }
        };
        html! {
            section.ask {
                h1 { "Change the settings?" }
                ul { @for change in &self.changes { (change.draw()) } }
                (self.tried.draw())
                (form("/console/settings", viewer, &content))
            }
        }
    }
}

impl ChangedSetting {
    fn draw(&self) -> Markup {
        let value = |json: &str| html! { @if json.is_empty() { "nothing" } @else { code { (text::plain(json, 300)) } } };
        html! {
            li { @if !self.whom.is_empty() { b { (name(&self.whom, NAME)) } ": " }
                code { (text::plain(&self.path, 200)) } " " (value(&self.before)) " → " b { (value(&self.after)) } }
        }
    }
}

impl TriedSettings {
    fn draw(&self) -> Markup {
        let number = |fits: &dyn Fn(&Differs) -> bool| {
            u64::try_from(self.differ.iter().filter(|run| fits(run)).count()).unwrap_or_default()
        };
        let lines = [
            (number(&|run| run.after == Fate::Ended), "would have been ended"),
            (number(&|run| run.before == Fate::Ended), "would not have been ended"),
            (number(&|run| run.before == Fate::Passed && run.after == Fate::Told), "would have been told"),
            (
                number(&|run| run.before == Fate::Told && run.after == Fate::Passed),
                "would not have been told",
            ),
        ];
        html! {
            h2 { "Tried on the last runs" }
            @if self.runs == 0 { p { "No run is known yet, so there is nothing to try it on." } }
            @else if self.touched == 0 { p { "Of the last " (figure::of(self.runs, "run", "runs")) " none is of an agent that it changes anything for." } }
            @else {
                p { "Of the last " (figure::of(self.runs, "run", "runs")) ", " (figure::count(self.touched)) @if self.touched == 1 { " is" } @else { " are" } " of agents whose settings change. "
                    @if self.differ.is_empty() { "As far as it can be judged, none of these would have gone otherwise." } }
                ul.tried { @for (count, words) in lines { @if count > 0 { li { b { (figure::of(count, "run", "runs")) } " " (words) } } } }
                ul.runs { @for run in self.differ.iter().take(NAMED) {
                    li { a href=(run_path(&run.id)) { (run.who.draw()) } " was " (run.before.word()) ", would have been " b { (run.after.word()) } }
                } }
                @if let Some(more) = more(self.differ.len()) { p.calm { "and " (more) " more" } }
            }
            @if !self.unknown.is_empty() {
                p { "Of " (figure::of(u64::try_from(self.unknown.len()).unwrap_or_default(), "run", "runs"))
                    " it cannot be said: runs do not keep which threshold decided." }
                ul.runs { @for (id, who) in self.unknown.iter().take(NAMED) { li { a href=(run_path(id)) { (who.draw()) } } } }
                @if let Some(more) = more(self.unknown.len()) { p.calm { "and " (more) " more" } }
            }
            @if !self.not_judged.is_empty() {
                h3 { "What cannot be judged from what runs keep" }
                ul { @for (path, why) in &self.not_judged { li { code { (path) } ": " (why) } } }
            }
            @if self.touched > 0 { p.legend { "Judged again is the signal that acted then. Another one may still tell or end a run: only what acted is stored." } }
        }
    }
}

fn more(all: usize) -> Option<String> {
    let more = all.saturating_sub(NAMED);
    (more > 0).then(|| figure::of(u64::try_from(more).unwrap_or_default(), "run", "runs"))
}
