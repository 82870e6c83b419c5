//! The page Agents: what each has done and spent, in all of its runs that are remembered.

use maud::{Markup, html};

use crate::{
    chart, figure,
    page::{Viewer, dialog, form},
    runs::Filter,
    stop,
    text::{NAME, encoded, name, plain},
};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    pub now_ms: u64,
    /// Those that were seen last first.
    pub agents: Vec<Agent>,
    /// How many there are in all.
    pub total: u64,
}

/// An agent of one client and tenant.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    pub tenant: String,
    pub client: String,
    pub agent: String,
    pub runs: u64,
    pub under_way: u64,
    pub turns: u64,
    pub steps: u64,
    pub repeated_steps: u64,
    pub tokens: u64,
    pub cost_nano_usd: u64,
    pub unpriced_turns: u64,
    pub hints: u64,
    pub kills: u64,
    pub last_seen_ms: u64,
    /// What was spent in each minute of the last hour; empty where nothing was.
    pub spent: Vec<f64>,
    /// A stop of the whole agent stands.
    pub is_stopped: bool,
}

impl Agents {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        let most = self.agents.iter().map(|agent| agent.cost_nano_usd).max().unwrap_or_default();
        let shown = u64::try_from(self.agents.len()).unwrap_or_default();
        html! {
            h1.hidden { "Agents" }
            @if self.agents.is_empty() {
                p.calm { "No agent is known. As soon as one sends a request, it appears here by itself." }
            } @else {
                p { b { (figure::of(self.total, "agent", "agents")) }
                    @if shown < self.total { ", the " (figure::count(shown)) " seen last" } }
                div.scroll {
                    table.agents {
                        thead { tr {
                            th { "Agent" } th.num { "Runs" } th.num.less { "Turns" } th.num.less { "Repeated steps" } th.num.less { "Tokens" }
                            th.num { "Told" } th.num { "Ended" } th.num { "Cost" } th.less { span.hidden { "Cost as a bar" } } th.less { "Spent in the last hour" }
                            th.num.less { "Last seen" } th { span.hidden { "Stop" } }
                        } }
                        tbody { @for agent in &self.agents { (agent.draw(self.now_ms, most, viewer)) } }
                    }
                }
            }
        }
    }
}

impl Agent {
    fn draw(&self, now_ms: u64, most: u64, viewer: &Viewer) -> Markup {
        let filter = Filter {
            agent: self.agent.clone(),
            client: self.client.clone(),
            tenant: self.tenant.clone(),
            ..Filter::default()
        };
        #[expect(clippy::cast_precision_loss, reason = "the width of a bar")]
        let part = if most > 0 { self.cost_nano_usd as f64 / most as f64 } else { 0.0 };
        html! {
            tr data-row {
                td.main {
                    a href=(filter.address()) {
                        b { @if self.agent.is_empty() { "without a name" } @else { (name(&self.agent, NAME)) } }
                    }
                    @if !self.client.is_empty() { span.part { "client " (name(&self.client, 30)) } }
                    @if !self.tenant.is_empty() { span.part { "tenant " (name(&self.tenant, 30)) } }
                }
                td.num { (figure::count(self.runs)) @if self.under_way > 0 { small { (figure::count(self.under_way)) " under way" } } }
                td.num.less { (figure::count(self.turns)) }
                td.num.less {
                    @if self.is_repetitive() { b.warning { (figure::count(self.repeated_steps)) } } @else { (figure::count(self.repeated_steps)) }
                    " of " (figure::count(self.steps))
                }
                td.num.less { (figure::short(self.tokens)) }
                td.num { @if self.hints > 0 { b.warning { span aria-hidden="true" { "▲ " } (figure::count(self.hints)) } } @else { "0" } }
                td.num { @if self.kills > 0 { b.bad { span aria-hidden="true" { "✕ " } (figure::count(self.kills)) } } @else { "0" } }
                td.num { (figure::usd(self.cost_nano_usd))
                    @if self.unpriced_turns > 0 { small.warning { (figure::of(self.unpriced_turns, "turn", "turns")) " without a price" } } }
                td.less.middle { (chart::bar(part, "cost")) }
                td.less.middle.curve-of { @if self.spent.is_empty() { small { "nothing" } } @else { (chart::spark(&self.spent, &self.hour())) } }
                td.num.less { (figure::ago(self.last_seen_ms, now_ms)) }
                td.num { (self.stop(viewer)) }
            }
        }
    }

    /// At least half of its steps repeat an earlier one.
    fn is_repetitive(&self) -> bool {
        self.repeated_steps > 0 && self.repeated_steps.saturating_mul(2) >= self.steps
    }

    /// The curve in words.
    fn hour(&self) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for people")]
        let spent = self.spent.iter().sum::<f64>() as u64;
        format!("{} spent in the last hour", figure::usd(spent))
    }

    fn stop(&self, viewer: &Viewer) -> Markup {
        if self.is_stopped {
            return html! { a.status.stopped href="/console/stops" { "■ stopped" } };
        }
        if self.agent.is_empty() {
            return html! {};
        }
        let address = "/console/agents";
        let content = html! {
            input type="hidden" name="agent" value=(self.agent);
            input type="hidden" name="client" value=(self.client);
            input type="hidden" name="tenant" value=(self.tenant);
            (stop::fields(address))
            button.danger type="submit" { "Stop this agent" }
        };
        let title = html! { "Stop all runs of " (name(&self.agent, NAME)) ", and those that it begins?" };
        let id = format!(
            "stop-{}",
            encoded(&plain(&format!("{}/{}/{}", self.tenant, self.client, self.agent), 300))
        );
        dialog(viewer, address, &id, "Stop", &title, &form("/console/stops/agent", viewer, &content))
    }
}
