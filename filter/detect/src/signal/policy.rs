//! The policy of the signals in steps: from which count each kind of repetition speaks, and what proves a loop. Nothing is counted
//! here.

use strum::{IntoStaticStr, VariantArray};

use super::{kind_of, repeated_step};
use crate::{
    step::{Kind, LENGTH, Step, ToolRules, Weight},
    thresholds::Thresholds,
};

/// When the signals in the steps of a run speak.
#[derive(Clone, Debug, PartialEq)]
pub struct StepsPolicy {
    pub enabled: bool,
    /// Actions and observations in texts are steps too, and so are exchanges of texts.
    pub react: bool,
    /// How many steps, back from the last one, are searched for repetitions.
    pub window: usize,
    pub repeated_step: Thresholds,
    pub cycle: Thresholds,
    pub stagnation: Thresholds,
    pub stuck: Thresholds,
    pub similar_failures: Thresholds,
    pub same_outcome: Thresholds,
    /// For a repetition that brings nothing new.
    pub empty: Thresholds,
    /// For a repetition that is merely acknowledged. Hints only.
    pub acknowledgement: u32,
    /// For a repetition that waits. Hints only.
    pub waiting: u32,
    /// For a call that names one token and has a small outcome.
    pub one_token: Thresholds,
    /// For a call that had another outcome in the same count. The kill counts repetitions in a row.
    pub changing: Thresholds,
    /// For outcomes that differ only in what is volatile by its shape.
    pub alike: Thresholds,
    /// For weaker evidence: a call that says nothing and has a small outcome; a repetition with new work in between; the same
    /// call in a row with any outcomes. Hints only.
    pub weak: u32,
    /// For a talk. Hints only.
    pub talk: u32,
    pub tools: ToolRules,
    /// How our own final messages begin. They do not count as answers of the assistant. Empty if there are none.
    pub own_words: String,
    /// The user wants something done until something happens. Content then counts as waiting.
    pub is_open_ended: bool,
    /// The user has asked for a number of repetitions. One of them may be several calls: "blink ten times".
    pub counts_rounds: bool,
    /// The condition that a kill does not require. Only for measuring what each condition is worth.
    pub off: Option<Condition>,
}

/// The conditions of a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Condition {
    /// Equal outcomes are equal as they stand: nothing is masked in what may be content.
    Equal,
    /// Numbers in explicit failures count: a number that falls or moves otherwise is progress.
    Explicit,
    /// Nothing new was tried or learned in between.
    NothingNew,
    /// The call has the same outcome each time.
    CallDecides,
    /// The call and its outcome say enough (`Weight`).
    Weight,
    /// The user has not asked for the repetitions.
    Asked,
    /// The agent acts, and does not only talk.
    Acts,
    /// An answer of the assistant ends a task.
    Answered,
}

impl Condition {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

impl Default for StepsPolicy {
    /// Chosen on public runs of agents. `make eval` shows what they do on your own runs.
    fn default() -> Self {
        let never = 0;
        Self {
            enabled: true,
            react: true,
            window: 20,
            repeated_step: Thresholds { hint: 3, kill: 5 },
            cycle: Thresholds { hint: 3, kill: 5 },
            stagnation: Thresholds { hint: 3, kill: 5 },
            stuck: Thresholds { hint: 5, kill: never },
            similar_failures: Thresholds { hint: 3, kill: never },
            same_outcome: Thresholds { hint: 6, kill: never },
            empty: Thresholds { hint: 5, kill: never },
            acknowledgement: 10,
            waiting: 10,
            one_token: Thresholds { hint: 5, kill: 10 },
            changing: Thresholds { hint: 6, kill: 10 },
            alike: Thresholds { hint: 5, kill: never },
            weak: 6,
            talk: 5,
            tools: ToolRules::default(),
            own_words: String::new(),
            is_open_ended: false,
            counts_rounds: false,
            off: None,
        }
    }
}

impl StepsPolicy {
    /// The thresholds for a repetition of this step, by its kind and weight and by the operator's rules for its tools. `strong`:
    /// those for a step that says something in full.
    pub(super) fn row(&self, step: &Step<'_>, strong: Thresholds) -> Thresholds {
        let by_weight = match step.weight() {
            _ if self.off == Some(Condition::Weight) => strong,
            Weight::Words | Weight::Place | Weight::Full | Weight::Long | Weight::Page => strong,
            Weight::Token => self.one_token.lenient(strong),
            Weight::Nothing => Thresholds::hinting_from(self.weak).lenient(strong),
        };
        let by_kind = match step.kind() {
            Kind::Content | Kind::Empty if self.is_open_ended => Thresholds::hinting_from(self.waiting),
            // A failure that may pass by itself is hinted as early as any other.
            Kind::Failure => Thresholds { hint: strong.hint, ..by_weight },
            // A receipt says that something was done each time, so it is no proof.
            Kind::Content if step.weight_of_calls() < Weight::Place && step.is_receipt() => {
                by_weight.hinting()
            }
            Kind::Content => by_weight,
            Kind::Empty => self.empty,
            // Forty lines of code that are sent again say enough, whatever answers them.
            Kind::Acknowledgement if step.weight_of_calls() == Weight::Page => strong,
            Kind::Acknowledgement => Thresholds::hinting_from(self.acknowledgement),
            Kind::Waiting => Thresholds::hinting_from(self.waiting),
        };
        self.of_tools(step, self.of_deed(step, by_kind))
    }

    /// `row`, made milder if the step is a talk.
    pub(super) fn of_deed(&self, step: &Step<'_>, row: Thresholds) -> Thresholds {
        let acts = step.acts || self.off == Some(Condition::Acts);
        if acts { row } else { Thresholds::hinting_from(self.talk).lenient(row) }
    }

    /// `row`, replaced where the operator's rules for the tools of `step` say something else.
    pub(super) fn of_tools(&self, step: &Step<'_>, row: Thresholds) -> Thresholds {
        step.rules.iter().map(|rule| rule.over(row)).reduce(Thresholds::lenient).unwrap_or(row)
    }

    /// The thresholds for several steps together. If one of them waits, those for waiting. Otherwise those of the step that says most.
    pub(super) fn row_of_all(&self, steps: &[Step<'_>], strong: Thresholds) -> Thresholds {
        let kind = kind_of(steps);
        let tells = matches!(kind, Kind::Content | Kind::Failure);
        let of_kind = steps.iter().filter(|step| step.kind() == kind);
        let row = of_kind.map(|step| self.row(step, strong)).reduce(Thresholds::strict);
        // If a long text is repeated in each round, the other steps of the round get its weight.
        let says_much = tells && steps.iter().any(|step| step.acts && step.weight() >= Weight::Long);
        let row = if says_much { Some(strong) } else { row };
        // The operator's rules for tools can only raise the thresholds of a round.
        let told = steps.iter().filter(|step| !step.rules.is_empty()).map(|step| self.row(step, strong));
        let row = row.unwrap_or_else(|| Thresholds::hinting_from(self.acknowledgement));
        told.fold(row, Thresholds::lenient)
    }

    /// Whether a repetition of the step, as one of a `round`, is a proof: it is a failure or content, it has full weight, and its
    /// call has the same outcome each time.
    pub(super) fn is_proof(&self, steps: &[Step<'_>], round: &[Step<'_>], step: &Step<'_>) -> bool {
        let says_much = || round.iter().any(|step| step.weight() >= Weight::Long);
        let has_weight = step.weight() >= Weight::Full || self.off == Some(Condition::Weight) || says_much();
        let is_steady =
            self.off == Some(Condition::CallDecides) || repeated_step::is_steady(steps, step, self);
        // If a person says in each round to go on, the agent is at work. If a step of the round moves something on, each round
        // looks at something else.
        if round.iter().any(|step| step.is_go_ahead() || step.has_moved_on()) {
            return false;
        }
        let tells = step.kind() == Kind::Failure || (step.kind() == Kind::Content && !self.is_open_ended);
        tells && has_weight && (step.acts || self.off == Some(Condition::Acts)) && is_steady
    }

    /// The lowest count from which a repetition among `steps` can say anything, whatever its kind.
    pub(super) fn least(&self, steps: &[Step<'_>], strong: Thresholds) -> u32 {
        let weak = [self.acknowledgement, self.waiting].map(Thresholds::hinting_from);
        let by_kind = [strong, self.empty].into_iter().chain(weak);
        let by_tool = steps.iter().flat_map(|step| &step.rules).map(|rule| rule.over(Thresholds::default()));
        by_kind.chain(by_tool).map(Thresholds::least).min().unwrap_or(u32::MAX)
    }

    /// The number of steps below which no signal can say anything.
    pub(super) fn fewest(&self, steps: &[Step<'_>]) -> u32 {
        let rows = [
            self.repeated_step,
            self.cycle,
            self.stagnation,
            self.stuck,
            self.similar_failures,
            self.same_outcome,
            self.one_token,
            self.changing,
            self.alike,
            Thresholds::hinting_from(self.weak),
            Thresholds::hinting_from(self.talk),
        ];
        self.least(steps, rows.into_iter().fold(Thresholds::default(), Thresholds::strict))
    }

    /// The policy if the user wants something done until something happens. Content then counts as waiting. A failure counts as
    /// always, because waiting does not cause failures.
    pub(super) fn open_ended(&self) -> Self {
        let weak = Thresholds::hinting_from(self.weak).lenient(Thresholds::hinting_from(self.waiting)).hint;
        Self { weak, is_open_ended: true, ..self.clone() }
    }

    /// The policy if the same is done again and again, with minutes in between. Content counts as waiting. Failures have high
    /// thresholds too: a file that is awaited is missing until it comes.
    pub(super) fn at_intervals(&self) -> Self {
        /// Twice an hour for half a day.
        const LOOKS: u32 = 24;
        self.open_ended().asked_for(LOOKS)
    }

    /// This policy without kills below this count, and with the same hints.
    #[inline(never)]
    pub(super) fn killing_from(&self, least: u32) -> Self {
        let later =
            |row: Thresholds| Thresholds { kill: if row.kill == 0 { 0 } else { row.kill.max(least) }, ..row };
        Self {
            repeated_step: later(self.repeated_step),
            cycle: later(self.cycle),
            stagnation: later(self.stagnation),
            one_token: later(self.one_token),
            changing: later(self.changing),
            ..self.clone()
        }
    }

    /// The policy if the user has asked for `number` repetitions. A hint comes no sooner than two repetitions after that, and a
    /// kill as long after the hint as always.
    pub(super) fn asked_for(&self, number: u32) -> Self {
        let lift = |row: Thresholds| row.from(number.saturating_add(2));
        let count = |hint: u32| lift(Thresholds::hinting_from(hint)).hint;
        let mut tools = self.tools.clone();
        for (_, rule) in &mut tools.0 {
            rule.hint = rule.hint.map(count);
            rule.kill = rule.kill.map(|kill| lift(Thresholds { hint: 0, kill }).kill);
        }
        Self {
            repeated_step: lift(self.repeated_step),
            cycle: lift(self.cycle),
            stagnation: lift(self.stagnation),
            stuck: lift(self.stuck),
            similar_failures: lift(self.similar_failures),
            same_outcome: lift(self.same_outcome),
            empty: lift(self.empty),
            acknowledgement: count(self.acknowledgement),
            waiting: count(self.waiting),
            one_token: lift(self.one_token),
            changing: lift(self.changing),
            alike: lift(self.alike),
            weak: count(self.weak),
            talk: count(self.talk),
            window: self.window.max(LENGTH),
            tools,
            counts_rounds: true,
            ..self.clone()
        }
    }
}
