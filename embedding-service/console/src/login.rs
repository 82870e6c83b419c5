//! The page to log in with the operators' key.

use maud::{Markup, html};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// Where to go then.
    pub next: String,
    /// Why the last try failed.
    pub problem: Option<&'static str>,
    /// False: the service has no key, so nothing can be changed.
    pub has_key: bool,
}

impl Login {
    #[must_use]
    pub fn content(&self) -> Markup {
        html! {
            section.login {
                h1 { "Log in" }
                @if self.has_key {
                    p { "With the operators' key you may stop runs and change settings. It is what " code { "CONTROL_KEY_FILE" } " holds." }
                    @if let Some(problem) = self.problem { p.bad role="alert" { (problem) } }
                    form method="post" action="/console/login" {
                        input type="hidden" name="next" value=(self.next);
                        label { "Key" input type="password" name="key" required autofocus autocomplete="current-password"; }
                        button.primary type="submit" { "Log in" }
                    }
                } @else {
                    p { "This service has no key, so nothing can be changed here. Start it with "
                        code { "CONTROL_KEY_FILE" } " set to a file that holds a key of at least 16 characters, for example from "
                        code { "openssl rand -hex 32" } "." }
                }
            }
        }
    }
}
