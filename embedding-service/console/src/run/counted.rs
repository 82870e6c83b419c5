//! "Why not?": what each signal had counted at the end of a run, beside the counts from which it acts.

use maud::{Markup, html};

/// What a signal had counted.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalCount {
    /// As the filter names it.
    pub signal: &'static str,
    /// What is counted, in words.
    pub what: &'static str,
    pub count: f64,
    /// From which count on the model is told; `None`: never.
    pub hint: Option<f64>,
    /// The signal acts only above this count, not at it.
    pub is_above: bool,
    /// From which count on the run is ended; `None`: never.
    pub kill: Option<f64>,
}

/// `acting` says in words where the counts to act at come from.
pub fn table(counted: &[SignalCount], was_let_pass: bool, acting: &str) -> Markup {
    html! {
        @if !counted.is_empty() {
            section {
                h2 { @if was_let_pass { "Why was it let pass?" } @else { "What each signal had counted" } }
                div.scroll {
                    table.counted {
                        thead { tr { th { "Signal" } th { "What it counts" } th.num { "Counted" } th.num { "Hint at" } th.num { "Kill at" } } }
                        tbody {
                            @for one in counted {
                                @let fires = one.hint.or(one.kill).is_some_and(|least| one.count > least || (one.count >= least && !one.is_above));
                                tr.fires[fires] {
                                    td { code { (one.signal) } }
                                    td { (one.what) }
                                    td.num { (shown(Some(one.count))) }
                                    td.num { (shown(one.hint)) }
                                    td.num { (shown(one.kill)) }
                                }
                            }
                        }
                    }
                }
                p.legend { "Counted from the turns that are shown here. The counts to act at are those " (acting) ", where its calls say something in full." }
            }
        }
    }
}

fn shown(count: Option<f64>) -> String {
    match count {
        None => "never".to_owned(),
        Some(count) if count.fract() == 0.0 => format!("{count:.0}"),
        Some(count) => format!("{count:.2}"),
    }
}
