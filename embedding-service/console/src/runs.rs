//! The page Runs: a table that is filtered, sorted and paged by its address alone, so that the address can be sent to a colleague.

use maud::{Markup, html};
use strum::VariantArray as _;

use crate::{
    figure,
    page::{Viewer, form, login_path},
    run::{Who, run_path},
    text::{NAME, encoded, name},
    words::{Finding, StatusWord},
};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    pub now_ms: u64,
    pub filter: Filter,
    pub rows: Vec<Row>,
    /// How many fit in all.
    pub total: u64,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// Signals and models to choose from.
    pub signals: Vec<String>,
    pub models: Vec<String>,
}

/// What the address says. Empty: all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub agent: String,
    pub client: String,
    pub tenant: String,
    pub status: String,
    pub signal: String,
    pub model: String,
    /// Minutes within which the run was seen. 0: no limit.
    pub within: u64,
    pub sort: String,
    pub ascending: bool,
    pub cursor: String,
}

/// A run of the table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub id: String,
    pub who: Who,
    pub status: StatusWord,
    pub finding: Option<Finding>,
    pub hints: u64,
    pub model: String,
    pub turns: u64,
    pub steps: u64,
    pub repeated_steps: u64,
    pub tokens: u64,
    pub cost_nano_usd: u64,
    pub first_seen_ms: u64,
    pub last_seen_ms: u64,
}

/// Columns that can be sorted: name in the address, heading, class.
const COLUMNS: [(&str, &str, &str); 6] = [
    ("turns", "Turns", "num less"),
    ("repeated_steps", "Repeated", "num less"),
    ("tokens", "Tokens", "num less"),
    ("cost", "Cost", "num"),
    ("first_seen", "Began", "num less"),
    ("last_seen", "Last seen", "num"),
];

const TIMES: [(u64, &str); 5] =
    [(0, "ever"), (15, "15 minutes"), (60, "hour"), (1_440, "day"), (10_080, "week")];

impl Filter {
    /// The address of the page with this filter.
    #[must_use]
    pub fn address(&self) -> String {
        let within = if self.within == 0 { String::new() } else { self.within.to_string() };
        let order = if self.ascending { "asc" } else { "" };
        let fields = [
            ("agent", self.agent.as_str()),
            ("client", &self.client),
            ("tenant", &self.tenant),
            ("status", &self.status),
            ("signal", &self.signal),
            ("model", &self.model),
            ("within", &within),
            ("sort", &self.sort),
            ("order", order),
            ("cursor", &self.cursor),
        ];
        let said = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = said.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        if query.is_empty() {
            "/console/runs".to_owned()
        } else {
            format!("/console/runs?{}", query.join("&"))
        }
    }

    fn is_empty(&self) -> bool {
        Self { sort: String::new(), ascending: false, cursor: String::new(), ..self.clone() }
            == Self::default()
    }

    fn sorted(&self) -> &str {
        if self.sort.is_empty() { "last_seen" } else { &self.sort }
    }
}

impl Runs {
    #[must_use]
    pub fn content(&self, viewer: &Viewer) -> Markup {
        html! {
            h1.hidden { "Runs" }
            (self.filters())
            @if self.rows.is_empty() {
                p.calm {
                    @if self.filter.is_empty() { "No run is known. As soon as an agent sends a request, its run appears here by itself." }
                    @else { "No run fits this filter. " a href="/console/runs" { "Show all" } "." }
                }
            } @else {
                (form("/console/stops/ask", viewer, &html! {
                    input type="hidden" name="back" value=(self.filter.address());
                    (self.bar(viewer))
                    (self.table())
                }))
                p.pager {
                    @if !self.filter.cursor.is_empty() {
                        a href=(Filter { cursor: String::new(), ..self.filter.clone() }.address()) { "First page" }
                    }
                    @if let Some(next) = &self.next {
                        a rel="next" href=(Filter { cursor: next.clone(), ..self.filter.clone() }.address()) { "Next page" }
                    }
                }
            }
        }
    }

    fn filters(&self) -> Markup {
        let Filter { agent, client, tenant, status, signal, model, within, sort, ascending, .. } =
            &self.filter;
        html! {
            form.filters method="get" action="/console/runs" role="search" {
                label { "Agent" input type="search" name="agent" value=(agent) data-filter; }
                label { "Client" input type="search" name="client" value=(client); }
                @if !tenant.is_empty() { label { "Tenant" input type="search" name="tenant" value=(tenant); } }
                label { "Status" select name="status" {
                    option value="" { "any" }
                    @if status.contains(',') { option value=(status) selected { (status) } }
                    @for one in StatusWord::VARIANTS.iter().copied() { option value=(one.id()) selected[one.id() == status] { (one.id()) } }
                } }
                label { "Signal" (choice("signal", signal, &self.signals)) }
                label { "Model" (choice("model", model, &self.models)) }
                label { "Seen within" select name="within" {
                    @for (minutes, word) in TIMES { option value=(minutes) selected[minutes == *within] { (word) } }
                } }
                @if !sort.is_empty() { input type="hidden" name="sort" value=(sort); }
                @if *ascending { input type="hidden" name="order" value="asc"; }
                button type="submit" { "Filter" }
                @if !self.filter.is_empty() { a href="/console/runs" { "Clear" } }
            }
        }
    }

    fn bar(&self, viewer: &Viewer) -> Markup {
        let shown = u64::try_from(self.rows.len()).unwrap_or_default();
        html! {
            div.toolbar {
                span { b { (figure::of(self.total, "run", "runs")) } @if shown < self.total { ", " (figure::count(shown)) " of them here" } }
                @match viewer {
                    Viewer::Operator { .. } => {
                        button.danger type="submit" data-chosen="Stop" { "Stop those chosen…" }
                    }
                    Viewer::Reader => { a href=(login_path(&self.filter.address())) { "Log in to stop runs" } }
                }
            }
        }
    }

    fn table(&self) -> Markup {
        html! {
            div.scroll {
                table.runs {
                    thead { tr {
                        th { span.hidden { "Choose" } }
                        th { "Status" }
                        th { "Agent / run" }
                        th.less { "Model" }
                        @for (id, heading, class) in COLUMNS { (self.heading(id, heading, class)) }
                    } }
                    tbody { @for row in &self.rows { (row.draw(self.now_ms)) } }
                }
            }
        }
    }

    fn heading(&self, id: &str, heading: &str, class: &str) -> Markup {
        let is_sorted = self.filter.sorted() == id;
        let ascending = is_sorted && !self.filter.ascending;
        let sort = if id == "last_seen" { String::new() } else { id.to_owned() };
        let address = Filter { sort, ascending, cursor: String::new(), ..self.filter.clone() }.address();
        let order = if self.filter.ascending { "ascending" } else { "descending" };
        html! {
            th class=(class) aria-sort=[is_sorted.then_some(order)] {
                a href=(address) { (heading) @if is_sorted { span aria-hidden="true" { @if self.filter.ascending { " ↑" } @else { " ↓" } } } }
            }
        }
    }
}

fn choice(id: &str, chosen: &str, values: &[String]) -> Markup {
    let is_unknown = !chosen.is_empty() && values.iter().all(|value| value != chosen);
    html! {
        select name=(id) {
            option value="" { "any" }
            @if is_unknown { option value=(chosen) selected { (crate::text::plain(chosen, NAME)) } }
            @for value in values { option value=(value) selected[value == chosen] { (crate::text::plain(value, NAME)) } }
        }
    }
}

impl Row {
    fn draw(&self, now_ms: u64) -> Markup {
        let label = format!(
            "Choose {} / {}",
            crate::text::plain(&self.who.agent, NAME),
            crate::text::plain(&self.who.run, NAME)
        );
        html! {
            // By its id a row stays the same row where others come above it, with what is chosen in it.
            tr #{ "run-" (self.id) } data-row {
                td { @if self.status.is_under_way() { input type="checkbox" name="run" value=(self.id) aria-label=(label); } }
                td { (self.status.badge()) }
                td.main {
                    a href=(run_path(&self.id)) { (self.who.draw()) }
                    @if let Some(finding) = &self.finding { p.sub { (finding.sentence(self.hints)) } }
                }
                td.less { (name(&self.model, 30)) }
                td.num.less { (figure::count(self.turns)) }
                td.num.less { @if self.repeated_steps > 0 { b { (figure::count(self.repeated_steps)) } } @else { "0" } " of " (figure::count(self.steps)) }
                td.num.less { (figure::short(self.tokens)) }
                td.num { (figure::usd(self.cost_nano_usd)) }
                td.num.less { (figure::ago(self.first_seen_ms, now_ms)) }
                td.num { (figure::ago(self.last_seen_ms, now_ms)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_holds_the_filter() {
        assert_eq!(Filter::default().address(), "/console/runs");
        let filter = Filter {
            agent: "a&b \"c\"".to_owned(),
            within: 60,
            sort: "cost".to_owned(),
            ascending: true,
            ..Filter::default()
        };
        assert_eq!(filter.address(), "/console/runs?agent=a%26b+%22c%22&within=60&sort=cost&order=asc");
    }
}
