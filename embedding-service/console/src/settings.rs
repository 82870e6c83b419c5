//! The page Settings: what acts on top of every worker's configuration, which agents are only observed, and all versions with their
//! authors.

mod agent;
mod ask;

use maud::{Markup, html};

pub use self::{
    agent::{AgentSettings, Field, Group, Input, PREFIX, agent_path},
    ask::{AskSettings, ChangedSetting, Differs, Fate, TriedSettings},
};

use crate::{
    figure,
    page::{Viewer, dialog, form, login_path},
    text::{self, NAME, encoded, name},
};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub now_ms: u64,
    /// What acts.
    pub current: Version,
    /// The same sections of the newest configuration of a worker, as JSON; empty where no worker has said.
    pub base: String,
    /// The text in the editor.
    pub draft: String,
    /// Why the draft is not taken.
    pub problem: Option<String>,
    pub agents: Vec<Mode>,
    /// The newest first, without the one that acts.
    pub history: Vec<Version>,
}

/// A version of the settings.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// 0: nothing was ever changed.
    pub number: u64,
    pub json: String,
    pub author: String,
    pub reason: String,
    pub at_ms: u64,
    pub rolled_back_to: Option<u64>,
}

/// Whether an agent is judged or only observed.
#[derive(Clone, Debug, Default)]
pub struct Mode {
    pub agent: String,
    pub observed: bool,
}

impl Settings {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        html! {
            h1.hidden { "Settings" }
            (self.acting())
            (self.modes(viewer))
            (self.editor(viewer))
            (self.versions(viewer))
        }
    }

    fn acting(&self) -> Markup {
        let Version { number, .. } = self.current;
        html! {
            section {
                h2 { "What acts" }
                @if number == 0 { p { "Nothing was changed: every worker acts as it was configured." } }
                @else { p { "Version " b { (number) } (self.current.origin(self.now_ms)) " acts on every worker, on top of its configuration." } }
            }
        }
    }

    fn modes(&self, viewer: &Viewer) -> Markup {
        html! {
            @if !self.agents.is_empty() {
                section {
                    h2 { "Agents" }
                    p.calm { "An agent that is observed is judged and counted as always, but nothing of its requests is changed or refused." }
                    div.scroll { table.modes { tbody { @for mode in &self.agents { (mode.draw(viewer, self.current.number)) } } } }
                }
            }
        }
    }

    fn editor(&self, viewer: &Viewer) -> Markup {
        let Viewer::Operator { .. } = viewer else {
            return html! { section { h2 { "Live settings" } pre.json { (text::block(&self.draft, 20_000)) }
            p { a href=(login_path("/console/settings")) { "Log in to change them" } } } };
        };
        let fields = html! {
            input type="hidden" name="version" value=(self.current.number);
            label { "Settings, as JSON"
                textarea name="settings" rows="14" spellcheck="false" aria-describedby="settings-help" { (self.draft) } }
            p.editor { button.primary type="submit" { "Show what it means" } }
        };
        html! {
            section {
                h2 { "All live settings" }
                p.calm #settings-help { "The sections " code { "agents" } ", " code { "budgets" } " and " code { "steps.tools" }
                    ". Each that is there stands in the place of the configuration's. They are checked as the configuration is, before they act." }
                @if let Some(problem) = &self.problem { p.bad role="alert" { "Not taken: " (text::plain(problem, text::TEXT)) } }
                (form("/console/settings/ask", viewer, &fields))
                @if !self.base.is_empty() {
                    details.texts { summary { "What the newest worker's configuration says of these sections" } pre { (text::block(&self.base, 20_000)) } }
                }
            }
        }
    }

    fn versions(&self, viewer: &Viewer) -> Markup {
        html! {
            @if !self.history.is_empty() {
                section {
                    h2 { "Earlier versions" }
                    @for version in &self.history {
                        div.banner {
                            div.what { p { b { "Version " (version.number) } (version.origin(self.now_ms)) }
                                details.texts { summary { "settings" } pre { (text::block(&version.json, 20_000)) } } }
                            (version.bring_back(viewer, self.current.number))
                        }
                    }
                }
            }
        }
    }
}

impl Version {
    /// By whom, when and why.
    fn origin(&self, now_ms: u64) -> Markup {
        html! {
            ", by " @if self.author.is_empty() { "somebody" } @else { (name(&self.author, 40)) } ", " (figure::ago(self.at_ms, now_ms))
            @if let Some(number) = self.rolled_back_to { ", as version " (number) " was" }
            @if !self.reason.is_empty() { ": “" (name(&self.reason, 200)) "”" }
        }
    }

    fn bring_back(&self, viewer: &Viewer, current: u64) -> Markup {
        let content = html! {
            input type="hidden" name="to" value=(self.number);
            input type="hidden" name="version" value=(current);
            label { "Reason" input type="text" name="reason" maxlength="500" autocomplete="off"; }
            label { "Your name" input type="text" name="author" maxlength="100" autocomplete="username"; }
            button.primary type="submit" { "Bring it back" }
        };
        let title = html! { "Bring back version " (self.number) "? It becomes a new version, and acts on every worker." };
        let form = form("/console/settings/rollback", viewer, &content);
        dialog(viewer, "/console/settings", &format!("back-{}", self.number), "Bring back", &title, &form)
    }
}

impl Mode {
    fn draw(&self, viewer: &Viewer, version: u64) -> Markup {
        html! {
            tr data-row {
                td.main { b { (name(&self.agent, NAME)) } }
                td { @if self.observed { span.status.stopped { "○ only observed" } } @else { span.status.working { "● judged" } } }
                td.num { div.acts {
                    a.button href=(agent_path(&self.agent)) aria-label=(format!("Settings of {}", text::plain(&self.agent, NAME))) { "Settings" }
                    (observe(viewer, "/console/settings", &self.agent, self.observed, version))
                } }
            }
        }
    }
}

/// The button that lets an agent be observed only, or judged again.
#[must_use]
pub fn observe(viewer: &Viewer, address: &str, agent: &str, observed: bool, version: u64) -> Markup {
    let word = if observed { "Judge it again" } else { "Only observe" };
    match viewer {
        Viewer::Reader => html! { a.button href=(login_path(address)) { (word) "…" } },
        Viewer::Operator { .. } => form(
            "/console/settings/observe",
            viewer,
            &html! {
                input type="hidden" name="back" value=(address);
                input type="hidden" name="agent" value=(agent);
                input type="hidden" name="version" value=(version);
                input type="hidden" name="observe" value=(!observed);
                button type="submit" data-agent=(encoded(agent)) { (word) }
            },
        ),
    }
}
