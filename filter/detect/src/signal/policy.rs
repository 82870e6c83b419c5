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
    /// Steps back from the last one in which it is looked for.
    pub window: usize,
    pub repeated_step: Thresholds,
    pub cycle: Thresholds,
    pub stagnation: Thresholds,
    pub stuck: Thresholds,
    pub similar_failures: Thresholds,
    pub same_outcome: Thresholds,
    /// Of a repetition that brings nothing new.
    pub empty: Thresholds,
    /// Of a repetition that is merely acknowledged: hints only.
    pub acknowledgement: u32,
    /// Of a repetition that waits: hints only.
    pub waiting: u32,
    /// Of a call that names one token, with a small outcome.
    pub one_token: Thresholds,
    /// Of a call that had another outcome in the same count. The kill counts repetitions in a row.
    pub changing: Thresholds,
    /// Of outcomes that differ in what is volatile by its shape.
    pub alike: Thresholds,
    /// Of weaker evidence: a call that says nothing and has a small outcome; a repetition with new work in between; the same call
    /// in a row with any outcomes. Hints only.
    pub weak: u32,
    /// Of a talk: hints only.
    pub talk: u32,
    pub tools: ToolRules,
    /// How our own final messages begin: they are no answer of the assistant. Empty: there are none.
    pub own_words: String,
    /// The user wants something done until something comes about: what tells of it waits.
    pub is_open_ended: bool,
    /// The user has asked for a number of repetitions. One of them may be several calls: "blink ten times".
    pub counts_rounds: bool,
    /// A condition that a kill does not require. Only for measuring what each condition is worth.
    pub off: Option<Condition>,
}

/// The conditions of a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Condition {
    /// Equal means equal: nothing is masked in what may be content.
    Equal,
    /// Numbers in explicit failures count: what falls or moves is progress.
    Explicit,
    /// Nothing new was tried or learned in between.
    NothingNew,
    /// The call decides the outcome.
    CallDecides,
    /// What is repeated says something.
    Weight,
    /// Nobody asked for it.
    Asked,
    /// An agent acts, and does not talk.
    Acts,
    /// An answer ends a task.
    Answered,
}

impl Condition {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

impl Default for StepsPolicy {
    /// Set on public runs of agents: `make eval` shows what they do on yours.
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
    /// The thresholds of a repetition of this step: those of its kind and weight, `strong` where it says something in
    /// full, and what the operator says of its tools.
    pub(super) fn row(&self, step: &Step<'_>, strong: Thresholds) -> Thresholds {
        let by_weight = match step.weight() {
            _ if self.off == Some(Condition::Weight) => strong,
            Weight::Words | Weight::Place | Weight::Full | Weight::Long | Weight::Page => strong,
            Weight::Token => self.one_token.lenient(strong),
            Weight::Nothing => Thresholds::hinting_from(self.weak).lenient(strong),
        };
        let by_kind = match step.kind() {
            Kind::Content | Kind::Empty if self.is_open_ended => Thresholds::hinting_from(self.waiting),
            // One that may pass is told as soon as any other.
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

    /// `row`, which is milder for a talk.
    pub(super) fn of_deed(&self, step: &Step<'_>, row: Thresholds) -> Thresholds {
        let acts = step.acts || self.off == Some(Condition::Acts);
        if acts { row } else { Thresholds::hinting_from(self.talk).lenient(row) }
    }

    /// `row`, and what the operator says of the tools of `step` over it.
    pub(super) fn of_tools(&self, step: &Step<'_>, row: Thresholds) -> Thresholds {
        step.rules.iter().map(|rule| rule.over(row)).reduce(Thresholds::lenient).unwrap_or(row)
    }

    /// The thresholds of several steps together: a round that waits waits; else those of the step that says most.
    pub(super) fn row_of_all(&self, steps: &[Step<'_>], strong: Thresholds) -> Thresholds {
        let kind = kind_of(steps);
        let tells = matches!(kind, Kind::Content | Kind::Failure);
        let of_kind = steps.iter().filter(|step| step.kind() == kind);
        let row = of_kind.map(|step| self.row(step, strong)).reduce(Thresholds::strict);
        // A long text that is said again in each round lends its weight to the others.
        let says_much = tells && steps.iter().any(|step| step.acts && step.weight() >= Weight::Long);
        let row = if says_much { Some(strong) } else { row };
        // What is said of a tool makes a round later, if anything.
        let told = steps.iter().filter(|step| !step.rules.is_empty()).map(|step| self.row(step, strong));
        let row = row.unwrap_or_else(|| Thresholds::hinting_from(self.acknowledgement));
        told.fold(row, Thresholds::lenient)
    }

    /// Whether a repetition of the step, as one of a `round`, is a proof: it is explicit or says something in full, and its call
    /// decides the outcome.
    pub(super) fn is_proof(&self, steps: &[Step<'_>], round: &[Step<'_>], step: &Step<'_>) -> bool {
        let says_much = || round.iter().any(|step| step.weight() >= Weight::Long);
        let has_weight = step.weight() >= Weight::Full || self.off == Some(Condition::Weight) || says_much();
        let is_steady =
            self.off == Some(Condition::CallDecides) || repeated_step::is_steady(steps, step, self);
        // Whom a person tells to go on in each round is at work. A step that moves on makes each round look at something else.
        if round.iter().any(|step| step.is_go_ahead() || step.has_moved_on()) {
            return false;
        }
        let tells = step.kind() == Kind::Failure || (step.kind() == Kind::Content && !self.is_open_ended);
        tells && has_weight && (step.acts || self.off == Some(Condition::Acts)) && is_steady
    }

    /// The count from which a repetition among `steps` can say anything, whatever its kind.
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

    /// The policy where the user wants something done until something comes about. Content waits. A failure is not what comes of
    /// waiting: it counts as always.
    pub(super) fn open_ended(&self) -> Self {
        let weak = Thresholds::hinting_from(self.weak).lenient(Thresholds::hinting_from(self.waiting)).hint;
        Self { weak, is_open_ended: true, ..self.clone() }
    }

    /// The policy where the same is asked again and again, with minutes between. Content waits, and so does a failure: a file that is
    /// awaited is missing until it comes.
    pub(super) fn at_intervals(&self) -> Self {
        /// Twice an hour for half a day.
        const LOOKS: u32 = 24;
        self.open_ended().asked_for(LOOKS)
    }

    /// The policy with no kill before this count, and with the same hints.
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

    /// The policy where the user has asked for `number` repetitions: two more before a hint, and a kill as long after
    /// it as always.
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
