//! A recorded run that was judged again: drawn as the page of a run, without what a recording does not know (time, tokens, cost).

use maud::{Markup, html};

use super::{RunPage, counted, story};
use crate::{
    figure,
    words::{Finding, VerdictWord},
};

impl RunPage {
    /// `not_sent`: turns of the recording that would not have come, because the run was ended before. `after_user`: whether a new word of
    /// the user would have got through after the last hint or kill.
    #[must_use]
    pub fn replayed(&self, not_sent: u64, after_user: Option<bool>) -> Markup {
        html! {
            header.head {
                p.meta { (self.who.draw()) }
                h2.sentence {
                    @match &self.finding {
                        Some(finding) => (finding.would(self.hints)),
                        None => "Nothing in it repeats enough to matter: it would have been let pass.",
                    }
                }
                p.calm {
                    (figure::of(self.turn_count, "request", "requests")) ", " (figure::of(self.step_count, "step", "steps"))
                    @if not_sent > 0 { ". The recording goes on for " (figure::of(not_sent, "turn", "turns")) " that would not have been paid for" }
                    "."
                    @match after_user {
                        Some(true) => " A new word of the user gets through after it.",
                        Some(false) => " Even a new word of the user would not get through after it.",
                        None => "",
                    }
                }
            }
            (story::glance(self))
            (story::story(self))
            (counted::table(&self.counted, self.finding.is_none(), "of the sliders above"))
        }
    }
}

impl Finding {
    /// The sentence of a recorded run.
    fn would(&self, hints: u64) -> Markup {
        html! {
            (self.seen())
            @match self.verdict {
                VerdictWord::Hint => { "; the model would have been told " (figure::times(hints.max(1))) "." }
                VerdictWord::Kill => "; Sentinel would have ended the run.",
            }
        }
    }
}
