//! The page of one agent's settings: each that can be changed while everything runs as a field, with what the reference says of it, what
//! holds without it, and by whom it was changed.

use maud::{Markup, html};

use super::Version;
use crate::{
    page::{Viewer, form, login_path},
    text::{self, NAME, encoded, name},
};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct AgentSettings {
    pub now_ms: u64,
    pub agent: String,
    /// The version that acts.
    pub version: u64,
    /// Why what was typed in is not taken.
    pub problem: Option<String>,
    pub groups: Vec<Group>,
    /// Clients whose requests have an entry of their own, which comes first.
    pub clients: Vec<String>,
}

/// Fields that belong together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Empty: the common ones.
    pub name: String,
    /// Markdown.
    pub meaning: String,
    pub fields: Vec<Field>,
}

/// One setting.
#[derive(Clone, Debug)]
pub struct Field {
    /// As `score.hint`.
    pub path: String,
    /// Markdown.
    pub meaning: String,
    /// Which values are possible; may be empty.
    pub range: String,
    pub input: Input,
    /// What is said for this agent; `None`: nothing.
    pub own: Option<String>,
    /// What holds where nothing is said for it; empty: nothing.
    pub otherwise: String,
    /// What the worker's configuration says, where that is not what acts.
    pub configured: Option<String>,
    /// Where it was changed.
    pub changed: Option<Version>,
}

/// How a value is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    Choice(&'static [&'static str]),
    Whole,
    Number,
    Line,
    Text,
    /// As JSON.
    Json,
}

/// The address of the page.
#[must_use]
pub fn agent_path(agent: &str) -> String {
    format!("/console/settings/agent?agent={}", encoded(agent))
}

/// What the name of a field in the form begins with.
pub const PREFIX: &str = "set.";

impl AgentSettings {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        html! {
            h1 { "Settings of " (name(&self.agent, NAME)) }
            p.calm { "An empty field says nothing for this agent: the value that stands pale in it holds. What is said for this agent has a bold frame, and acts for it alone, "
                "within two seconds. Before it is saved, it is tried on the last runs. " a href="/console/settings" { "All settings" } }
            @for client in &self.clients {
                p.calm { "Requests of the client " b { (name(client, 40)) } " have an entry of their own, which comes before this one. Change it in "
                    a href="/console/settings" { "all settings" } "." }
            }
            @if let Some(problem) = &self.problem { p.bad role="alert" { "Not taken: " (text::plain(problem, text::TEXT)) } }
            @match viewer {
                Viewer::Reader => {
                    (self.fields())
                    p { a href=(login_path(&agent_path(&self.agent))) { "Log in to change them" } }
                }
                Viewer::Operator { .. } => (form("/console/settings/ask", viewer, &html! {
                    input type="hidden" name="agent" value=(self.agent);
                    input type="hidden" name="version" value=(self.version);
                    (self.fields())
                    div.acts.bottom { button.primary type="submit" { "Show what it means" } a.button href="/console/settings" { "Cancel" } }
                })),
            }
        }
    }

    fn fields(&self) -> Markup {
        html! {
            @for group in &self.groups {
                @let own = group.fields.iter().filter(|field| field.own.is_some()).count();
                details.group open[group.name.is_empty() || own > 0] {
                    summary {
                        b { @if group.name.is_empty() { "Common" } @else { code { (group.name) } } }
                        @if own > 0 { span.number { " " (own) " said for this agent" } }
                    }
                    @if !group.meaning.is_empty() { p.calm { (text::reference(&group.meaning)) } }
                    @for field in &group.fields { (field.draw(self.now_ms)) }
                }
            }
        }
    }
}

impl Field {
    fn draw(&self, now_ms: u64) -> Markup {
        let id = format!("set-{}", self.path);
        let help = format!("help-{}", self.path);
        html! {
            div.field data-row {
                label for=(id) { code { (self.path) } }
                (self.input(&id, &help))
                div.help id=(help) {
                    p { (text::reference(&self.meaning))
                        @if !self.range.is_empty() { " " span.range { "Possible: " (text::reference(&self.range)) "." } } }
                    @if self.own.is_some() && !self.otherwise.is_empty() { p { "Without it: " code { (text::plain(&self.otherwise, 200)) } } }
                    @if let Some(configured) = &self.configured {
                        p { "The worker's configuration: " @if configured.is_empty() { "says nothing for this agent" } @else { code { (text::plain(configured, 200)) } } }
                    }
                    @if let Some(version) = &self.changed { p.changed { "Changed in version " (version.number) (version.origin(now_ms)) } }
                }
            }
        }
    }

    fn input(&self, id: &str, help: &str) -> Markup {
        let field = format!("{PREFIX}{}", self.path);
        let own = self.own.as_deref().unwrap_or_default();
        let pale = text::plain(&self.otherwise, 200);
        match self.input {
            Input::Choice(names) => html! {
                select.said[self.own.is_some()] id=(id) name=(field) aria-describedby=(help) {
                    option value="" { "— " @if pale.is_empty() { "nothing" } @else { (pale) } }
                    @for choice in names { option value=(choice) selected[own == *choice] { (choice) } }
                }
            },
            Input::Whole | Input::Number => html! {
                input id=(id) name=(field) type="number" step=(if self.input == Input::Whole { "1" } else { "any" }) value=(own)
                    placeholder=(pale) aria-describedby=(help);
            },
            Input::Line => html! {
                input id=(id) name=(field) type="text" value=(own) placeholder=(pale) aria-describedby=(help) autocomplete="off";
            },
            Input::Text | Input::Json => html! {
                textarea id=(id) name=(field) rows="2" placeholder=(pale) spellcheck=(self.input == Input::Text) aria-describedby=(help) { (own) }
            },
        }
    }
}
