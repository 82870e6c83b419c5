//! What all pages share: head, navigation, the place that is kept up to date, and forms.

use maud::{DOCTYPE, Markup, html};

use crate::{
    asset::{ICON, IDIOMORPH, KEYS, LIVE, STYLE},
    text,
};

/// Where the console is served.
pub const ROOT: &str = "/console";

/// The pages of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Now,
    Runs,
    Agents,
    Budgets,
    Settings,
    Replay,
    /// None of them.
    Other,
}

impl Tab {
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Now | Self::Other => "/console",
            Self::Runs => "/console/runs",
            Self::Agents => "/console/agents",
            Self::Budgets => "/console/budgets",
            Self::Settings => "/console/settings",
            Self::Replay => "/console/replay",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Now | Self::Other => "Now",
            Self::Runs => "Runs",
            Self::Agents => "Agents",
            Self::Budgets => "Budgets",
            Self::Settings => "Settings",
            Self::Replay => "Replay",
        }
    }
}

/// Who looks at a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Viewer {
    /// May read.
    #[default]
    Reader,
    /// May change things too. Every form carries the token.
    Operator { token: String },
}

/// A page around its content.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    pub title: &'a str,
    pub tab: Tab,
    /// The pages that there are.
    pub tabs: &'a [Tab],
    pub viewer: &'a Viewer,
    /// The address of the page with its query: where who logs in comes back to.
    pub address: &'a str,
    /// Whether it is kept up to date while it is looked at.
    pub is_live: bool,
}

impl Page<'_> {
    /// The whole document. `content` is what a live page replaces.
    #[must_use]
    pub fn document(&self, content: &Markup) -> Markup {
        let Self { title, tab, tabs, viewer, address, is_live } = self;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (text::plain(title, text::NAME)) " · Agent Sentinel" }
                    link rel="icon" href=(ICON.path()) type="image/svg+xml";
                    link rel="stylesheet" href=(STYLE.path());
                    @if *is_live {
                        script src=(IDIOMORPH.path()) defer {}
                        script src=(LIVE.path()) defer {}
                    }
                    script src=(KEYS.path()) defer {}
                }
                body {
                    a.skip href="#live" { "To the content" }
                    header.top {
                        a.brand href=(ROOT) { "Agent Sentinel" }
                        nav aria-label="Pages" {
                            @for one in *tabs {
                                a href=(one.path()) aria-current=[(one == tab).then_some("page")] { (one.word()) }
                            }
                        }
                        div.side {
                            @if *is_live { span #connection role="status" {} }
                            (who(viewer, address))
                        }
                    }
                    main #live tabindex="-1" data-live[*is_live] { (content) }
                    (help())
                }
            }
        }
    }
}

fn who(viewer: &Viewer, address: &str) -> Markup {
    match viewer {
        Viewer::Reader => html! { a href=(login_path(address)) { "Log in" } },
        Viewer::Operator { .. } => {
            html! { (form("/console/logout", viewer, &html! { button.quiet type="submit" { "Log out" } })) }
        }
    }
}

/// The keys, shown by `?`.
fn help() -> Markup {
    let keys = [
        ("j, k", "next and previous row"),
        ("Enter", "open the row"),
        ("/", "to the filter, or the file"),
        ("g, then n r a b s p", "to Now, Runs, Agents, Budgets, Settings, Replay"),
        ("?", "this list"),
        ("Esc", "close"),
    ];
    html! {
        div #keys popover role="dialog" aria-label="Keys" {
            h2 { "Keys" }
            dl { @for (key, what) in keys { div { dt { kbd { (key) } } dd { (what) } } } }
        }
    }
}

/// Where to log in, and come back to `address`.
#[must_use]
pub fn login_path(address: &str) -> String {
    format!("/console/login?next={}", text::encoded(address))
}

/// A form that changes something. Do not show it to a viewer who may not change anything: show a link to [`login_path`] instead.
#[must_use]
pub fn form(action: &str, viewer: &Viewer, content: &Markup) -> Markup {
    html! {
        form method="post" action=(action) {
            @if let Viewer::Operator { token } = viewer { input type="hidden" name="token" value=(token); }
            (content)
        }
    }
}

/// A button that opens a small dialog with a form, or leads to the login.
#[must_use]
pub fn dialog(
    viewer: &Viewer,
    address: &str,
    id: &str,
    button: &str,
    title: &Markup,
    form: &Markup,
) -> Markup {
    match viewer {
        Viewer::Reader => html! { a.button href=(login_path(address)) { (button) "…" } },
        Viewer::Operator { .. } => html! {
            button type="button" popovertarget=(id) { (button) "…" }
            div id=(id) popover role="dialog" aria-label=(button) {
                p.title { (title) }
                (form)
                button.quiet.close type="button" popovertarget=(id) popovertargetaction="hide" { "Cancel" }
            }
        },
    }
}

/// A page that says what went wrong, and what to do.
#[must_use]
pub fn problem(title: &str, what: &str) -> Markup {
    html! {
        section.problem {
            h1 { (text::plain(title, text::NAME)) }
            p { (text::plain(what, text::TEXT)) }
            p { a href=(ROOT) { "Back to Now" } }
        }
    }
}
