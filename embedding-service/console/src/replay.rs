//! The page Replay: a file of recorded runs is judged in the browser, and drawn as the page of a run is. The page itself holds the place
//! for the file and the thresholds; the rows and the story are drawn by the same code, compiled to WebAssembly (`console/replay`).

use maud::{Markup, html};

use crate::{
    asset::REPLAY,
    figure,
    text::{self, NAME, name},
    words::{Finding, VerdictWord},
};

/// Bytes of a file that are read, unpacked.
pub const LARGEST_FILE: u64 = 64 << 20;
/// Runs of a file that are judged.
pub const MOST_RUNS: u64 = 5_000;
/// Runs that have a row.
const MOST_ROWS: u64 = 500;
/// Bad lines that are named; the others are counted.
const MOST_BAD_LINES: u64 = 20;
/// The highest count of a slider. One place further means "never".
const HIGHEST: u32 = 20;

/// The page.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// Where the core is served; `None`: the service was built without it.
    pub core: Option<String>,
    pub thresholds: Vec<Thresholds>,
}

/// The counts of one signal, or of one kind of outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// As `cycle`.
    pub name: String,
    /// What is counted; Markdown.
    pub meaning: String,
    /// By default; 0: never.
    pub hint: u32,
    /// `None`: it never ends a run.
    pub kill: Option<u32>,
}

/// A run in the list.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Its place in the file, from 0 on.
    pub place: u32,
    pub id: String,
    pub source: String,
    pub label: String,
    pub turns: u64,
    pub finding: Option<Finding>,
    /// The turn before which the model was told first.
    pub hint_at: Option<u64>,
    pub kill_at: Option<u64>,
}

impl Replay {
    #[must_use]
    pub fn content(&self) -> Markup {
        html! {
            h1 { "Replay" }
            @match &self.core {
                Some(core) => (self.stage(core)),
                None => {
                    section.problem {
                        p { "This service was built without the core that judges runs in a browser. " code { "make service" } " builds it with the core: it builds "
                            "the core first, and names it to Cargo by " code { "SENTINEL_REPLAY_CORE" } "." }
                        p.calm { code { "make eval TRACES=runs.jsonl" } " judges a file of recorded runs without a browser." }
                    }
                }
            }
        }
    }

    fn stage(&self, core: &str) -> Markup {
        let (first, others) = self.thresholds.split_at(self.thresholds.len().min(2));
        html! {
            p.calm { "Choose a file of recorded runs. They are judged here, in your browser, by the filter's own code: nothing leaves this machine." }
            div #replay data-core=(core) data-largest=(LARGEST_FILE) data-runs=(MOST_RUNS) data-rows=(MOST_ROWS) data-bad=(MOST_BAD_LINES) {
                label.drop {
                    span { "Drop a file here, or choose one" }
                    input #file type="file" accept=".jsonl,.ndjson,.json,.gz" data-filter;
                    span.below {
                        "JSON lines as " code { "make eval" } " reads them, plain or packed with gzip, up to " (LARGEST_FILE >> 20) " MB and "
                        (figure::count(MOST_RUNS)) " runs: " code { r#"{"id", "source", "label", "messages"}"# } ", messages in OpenAI chat form."
                    }
                }
                form #thresholds {
                    @for one in first { (one.draw()) }
                    details.group {
                        summary { b { "More thresholds" } }
                        @for one in others { (one.draw()) }
                    }
                    div.acts { button type="reset" { "Back to the defaults" } }
                }
                p #told role="status" {}
                p.bad #refused role="alert" {}
                details.group #bad hidden { summary {} ul {} }
                section #list hidden {
                    h2 { "Runs" }
                    div.scroll {
                        table.runs {
                            thead { tr { th { "Verdict" } th { "Run" } th { "Label" } th.num { "Turns" } th { "What was found" } } }
                            tbody {}
                        }
                    }
                    p.legend {}
                }
                section #story tabindex="-1" aria-live="polite" {}
            }
            noscript { p.bad { "Without scripts no run can be judged here." } }
            script src=(REPLAY.path()) defer {}
        }
    }
}

impl Thresholds {
    fn draw(&self) -> Markup {
        html! {
            fieldset.slide {
                legend { code { "steps." (self.name) } }
                p.help { (text::reference(&self.meaning)) }
                (self.slider("hint", self.hint))
                @if let Some(kill) = self.kill { (self.slider("kill", kill)) }
            }
        }
    }

    /// The last place of the slider says "never".
    fn slider(&self, what: &str, count: u32) -> Markup {
        let never = HIGHEST.saturating_add(1);
        let place = if count == 0 { never } else { count.min(HIGHEST) };
        let said = if count == 0 { "never".to_owned() } else { count.to_string() };
        let path = format!("{}.{what}", self.name);
        html! {
            label {
                span { (what) }
                input type="range" name=(path) aria-label={ "steps." (path) } min="2" max=(never) value=(place) aria-valuetext=(said);
                output { (said) }
            }
        }
    }
}

impl Row {
    #[must_use]
    pub fn draw(&self) -> Markup {
        html! {
            tr data-row {
                td { (self.verdict()) }
                td {
                    a href="#story" data-run=(self.place) { (name(&self.id, NAME)) }
                    p.sub { (name(&self.source, 40)) }
                }
                td { (name(&self.label, 30)) }
                td.num { (figure::count(self.turns)) }
                td.main { @if let Some(finding) = &self.finding { (finding.seen()) } @else { span.calm { "—" } } }
            }
        }
    }

    fn verdict(&self) -> Markup {
        let at = |turn: Option<u64>| turn.map(|turn| format!(" at turn {turn}")).unwrap_or_default();
        html! {
            @match self.finding.as_ref().map(|finding| finding.verdict) {
                None => span.status.done { span aria-hidden="true" { "✓" } " let pass" },
                Some(VerdictWord::Hint) => span.sign.hint { "▲ told" (at(self.hint_at)) },
                Some(VerdictWord::Kill) => {
                    span.sign.kill { "✕ ended" (at(self.kill_at)) }
                    @if self.hint_at.is_some() { p.sub { "▲ told" (at(self.hint_at)) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_without_core_says_how_to_build_one() {
        let without = Replay::default().content().into_string();
        assert!(without.contains("make service") && !without.contains("type=\"file\""), "{without}");
        let core = Some("/console/assets/1/replay.wasm".to_owned());
        let with = Replay { core, thresholds: Vec::new() }.content().into_string();
        assert!(with.contains("type=\"file\"") && with.contains("64 MB"), "{with}");
    }

    #[test]
    fn never_is_the_last_place_of_a_slider() {
        let cycle = Thresholds { name: "cycle".to_owned(), hint: 3, kill: Some(0), ..Thresholds::default() };
        let drawn = cycle.draw().into_string();
        assert!(drawn.contains("max=\"21\" value=\"3\" aria-valuetext=\"3\""), "{drawn}");
        assert!(drawn.contains("value=\"21\" aria-valuetext=\"never\""), "{drawn}");
    }

    #[test]
    fn names_of_a_file_stay_names() {
        let row = Row { id: "<b>".to_owned(), label: "\u{202e}x".to_owned(), ..Row::default() };
        let drawn = row.draw().into_string();
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains('\u{202e}'), "{drawn}");
        assert!(drawn.contains("let pass"), "{drawn}");
    }
}
