//! The signals: each looks at what is known and says what it found. None of them acts, and none knows a dialect.

mod again;
mod cycle;
mod progress;
mod repeated_step;
mod same_outcome;
pub mod score;
mod similar_failures;

pub use self::again::{Range, Recorded, is_earlier};
use self::{progress::Streak, repeated_step::Repeated};
pub use crate::thresholds::Thresholds;
use crate::{
    step::{Asked, Kind, LENGTH, Step, Steps, Task, ToolRules, Weight},
    verdict::{Finding, Signal, Verdict},
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
    /// A condition that a kill does not require. Only for measuring what each condition is worth.
    pub off: Option<Condition>,
}

/// The conditions of a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub const ALL: [(Self, &str); 8] = [
        (Self::Equal, "equal"),
        (Self::Explicit, "explicit"),
        (Self::NothingNew, "nothing-new"),
        (Self::CallDecides, "call-decides"),
        (Self::Weight, "weight"),
        (Self::Asked, "asked"),
        (Self::Acts, "acts"),
        (Self::Answered, "answered"),
    ];
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
            off: None,
        }
    }
}

impl StepsPolicy {
    /// The thresholds of a repetition of this step: those of its kind and weight, `strong` where it says something in
    /// full, and what the operator says of its tools.
    fn row(&self, step: &Step<'_>, strong: Thresholds) -> Thresholds {
        let by_weight = match step.weight() {
            _ if self.off == Some(Condition::Weight) => strong,
            Weight::Words | Weight::Place | Weight::Full | Weight::Long => strong,
            Weight::Token => self.one_token.lenient(strong),
            Weight::Nothing => Thresholds::hinting_from(self.weak).lenient(strong),
        };
        let by_kind = match step.kind() {
            Kind::Content | Kind::Empty if self.is_open_ended => Thresholds::hinting_from(self.waiting),
            // One that may pass is told as soon as any other.
            Kind::Failure => Thresholds { hint: strong.hint, ..by_weight },
            Kind::Content => by_weight,
            Kind::Empty => self.empty,
            Kind::Acknowledgement => Thresholds::hinting_from(self.acknowledgement),
            Kind::Waiting => Thresholds::hinting_from(self.waiting),
        };
        self.of_tools(step, self.of_deed(step, by_kind))
    }

    /// `row`, which is milder for a talk.
    fn of_deed(&self, step: &Step<'_>, row: Thresholds) -> Thresholds {
        let acts = step.acts || self.off == Some(Condition::Acts);
        if acts { row } else { Thresholds::hinting_from(self.talk).lenient(row) }
    }

    /// `row`, and what the operator says of the tools of `step` over it.
    fn of_tools(&self, step: &Step<'_>, row: Thresholds) -> Thresholds {
        step.rules.iter().map(|rule| rule.over(row)).reduce(Thresholds::lenient).unwrap_or(row)
    }

    /// The thresholds of several steps together: a round that waits waits; else those of the step that says most.
    fn row_of_all(&self, steps: &[Step<'_>], strong: Thresholds) -> Thresholds {
        let kind = kind_of(steps);
        let tells = matches!(kind, Kind::Content | Kind::Failure);
        let of_kind = steps.iter().filter(|step| step.kind() == kind);
        let row = of_kind.map(|step| self.row(step, strong)).reduce(Thresholds::strict);
        // A long text that is said again in each round lends its weight to the others.
        let says_much = tells && steps.iter().any(|step| step.acts && step.weight() == Weight::Long);
        let row = if says_much { Some(strong) } else { row };
        // What is said of a tool makes a round later, if anything.
        let told = steps.iter().filter(|step| !step.rules.is_empty()).map(|step| self.row(step, strong));
        let row = row.unwrap_or_else(|| Thresholds::hinting_from(self.acknowledgement));
        told.fold(row, Thresholds::lenient)
    }

    /// Whether a repetition of the step, as one of a `round`, is a proof: it is explicit or says something in full, and its call
    /// decides the outcome.
    fn is_proof(&self, steps: &[Step<'_>], round: &[Step<'_>], step: &Step<'_>) -> bool {
        let says_much = || round.iter().any(|step| step.weight() == Weight::Long);
        let has_weight = step.weight() >= Weight::Full || self.off == Some(Condition::Weight) || says_much();
        let is_steady =
            self.off == Some(Condition::CallDecides) || repeated_step::is_steady(steps, step, self);
        // Whom a person tells to go on in each round is at work.
        if round.iter().any(Step::is_go_ahead) {
            return false;
        }
        let tells = step.kind() == Kind::Failure || (step.kind() == Kind::Content && !self.is_open_ended);
        tells && has_weight && (step.acts || self.off == Some(Condition::Acts)) && is_steady
    }

    /// The count from which a repetition among `steps` can say anything, whatever its kind.
    fn least(&self, steps: &[Step<'_>], strong: Thresholds) -> u32 {
        let weak = [self.acknowledgement, self.waiting].map(Thresholds::hinting_from);
        let by_kind = [strong, self.empty].into_iter().chain(weak);
        let by_tool = steps.iter().flat_map(|step| &step.rules).map(|rule| rule.over(Thresholds::default()));
        by_kind.chain(by_tool).map(Thresholds::least).min().unwrap_or(u32::MAX)
    }

    /// The number of steps below which no signal can say anything.
    fn fewest(&self, steps: &[Step<'_>]) -> u32 {
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
    fn open_ended(&self) -> Self {
        let weak = Thresholds::hinting_from(self.weak).lenient(Thresholds::hinting_from(self.waiting)).hint;
        Self { weak, is_open_ended: true, ..self.clone() }
    }

    /// The policy with no kill before this count, and with the same hints.
    #[inline(never)]
    fn killing_from(&self, least: u32) -> Self {
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
    fn asked_for(&self, number: u32) -> Self {
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
            ..self.clone()
        }
    }
}

/// The kind of several steps together.
fn kind_of(steps: &[Step<'_>]) -> Kind {
    steps.iter().map(Step::kind).reduce(Kind::and).unwrap_or(Kind::Acknowledgement)
}

/// Steps that a cycle has at most, and that are remembered of a loop that was stopped.
const LONGEST_CYCLE: usize = 5;

/// The strongest finding in `steps`, which end with the last step before the request.
pub fn in_steps(steps: &Steps<'_>, policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let counts: Vec<_> = steps.counts().collect();
    unless_asked_for(&steps.task, steps.all.last(), policy, &|policy| {
        in_last_count(&counts, &steps.all, policy)
    })
}

/// What `find` finds, unless the user has asked for this many repetitions. The user's text is read only if something was found. `last`: the
/// step that may be what the user has counted.
fn unless_asked_for(
    task: &Task<'_>,
    last: Option<&Step<'_>>,
    policy: &StepsPolicy,
    find: &dyn Fn(&StepsPolicy) -> Option<Finding>,
) -> Option<Finding> {
    let found = find(policy)?;
    if policy.off == Some(Condition::Asked) {
        return Some(found);
    }
    let milder = match task.asked() {
        // What the call names may be what the user has counted: "craft 8 planks". That forgives, but does not hide.
        Asked::NotSaid => {
            let is_kill = found.verdict == Verdict::Kill;
            let number = last.filter(|_| is_kill).map_or(0, |last| task.named_by(last));
            if number == 0 {
                return Some(found);
            }
            policy.killing_from(number.saturating_add(4))
        }
        Asked::OpenEnded => policy.open_ended(),
        Asked::Times(number) => policy.asked_for(number),
    };
    find(&milder)
}

/// Steps of one count, and whether the assistant had answered before them.
type Count<'s, 'a> = (&'s [Step<'a>], bool);

/// The strongest finding in the last of these counts.
fn in_last_count(counts: &[Count<'_, '_>], all: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let ((count, is_answered), before) = counts.split_last()?;
    let found = told_first(count, policy, in_one_count);
    if found.as_ref().is_some_and(|finding| finding.verdict == Verdict::Kill) || *is_answered {
        return found;
    }
    resumed(count, before, all, policy).or(found)
}

/// A loop was stopped, and a user's text followed that may be a framework's. The loop goes on: its step has come for the
/// second time since.
fn resumed(
    count: &[Step<'_>],
    before: &[Count<'_, '_>],
    all: &[Step<'_>],
    policy: &StepsPolicy,
) -> Option<Finding> {
    let (last, (previous, _)) = (count.last()?, before.last()?);
    let tail = previous.get(previous.len().saturating_sub(LONGEST_CYCLE)..).unwrap_or_default();
    let is_known = tail.iter().any(|step| last.is_like(step));
    let again = || count.iter().filter(|step| last.is_like(step)).count();
    let is_evidence = || matches!(last.kind(), Kind::Content | Kind::Failure);
    let was_stopped =
        || in_last_count(before, all, policy).is_some_and(|finding| finding.verdict == Verdict::Kill);
    (is_known && again() >= 2 && is_evidence() && was_stopped()).then(|| Finding {
        count: number(all.iter().filter(|step| last.is_like(step)).count()),
        tool: last.tool.to_owned(),
        ..Finding::of(Signal::RepeatedStep, Verdict::Kill)
    })
}

/// What `find` finds in `steps`. The model is told first, and stopped if the loop goes on: a kill becomes a hint unless `find` already
/// found something one step earlier, or when the call of the last step was made the previous time.
fn told_first(
    steps: &[Step<'_>],
    policy: &StepsPolicy,
    find: fn(&[Step<'_>], &StepsPolicy) -> Option<Finding>,
) -> Option<Finding> {
    let found = find(steps, policy)?;
    let (last, earlier) = steps.split_last()?;
    // An operator may want no hint, or a kill as soon as a hint.
    let row = policy.of_tools(last, policy.repeated_step);
    let hints_first = row.hint > 0 && (row.kill == 0 || row.hint < row.kill);
    let last_time = || earlier.iter().rposition(|step| step.approach == last.approach);
    let was_found = |until: usize| earlier.get(..until).is_some_and(|steps| find(steps, policy).is_some());
    let is_told =
        || was_found(earlier.len()) || last_time().is_some_and(|at| was_found(at.saturating_add(1)));
    if found.verdict == Verdict::Kill && hints_first && !is_told() {
        return Some(Finding { verdict: Verdict::Hint, ..found });
    }
    Some(found)
}

/// The strongest finding in the steps of one count. Of equal ones the most telling: in the order below.
fn in_one_count(steps: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let last = steps.last()?;
    if number(steps.len()) < policy.fewest(steps) {
        return None;
    }
    let stale = progress::stagnation(steps, policy.least(steps, policy.stagnation));
    let very_old = match stale.very_old.proves(|step| policy.is_proof(steps, stale.very_old.steps, step)) {
        true => policy.row_of_all(stale.very_old.steps, policy.stagnation).killing(),
        false => Thresholds::default(),
    };
    let old = policy.row_of_all(stale.old.steps, policy.stagnation).hinting();
    let (old_kind, waits) = (kind_of(stale.old.steps), stale.old.waits());
    // Where something is waited for, only waiting is too long.
    let old_count = if old_kind == Kind::Waiting { waits } else { stale.old.length };
    // What is said of tools makes them later, if anything.
    let weak = |signal, strong: Thresholds, count: fn(&[Step<'_>], u32) -> u32, kind| {
        let count = count(steps, strong.least());
        Counted::of(signal, count, policy.of_tools(last, strong).lenient(strong), kind)
    };
    let [proven, hinting, across, same_call, alike] = repetition(steps, last, Signal::RepeatedStep, policy);
    strongest(
        last,
        [
            proven,
            hinting,
            across,
            in_rounds(steps, policy),
            Counted::of(Signal::Stagnation, stale.very_old.length, very_old, Kind::Content),
            Counted::of(Signal::Stagnation, old_count, old, old_kind),
            weak(Signal::SimilarFailures, policy.similar_failures, similar_failures::count, Kind::Failure),
            alike,
            weak(Signal::SameOutcome, policy.same_outcome, same_outcome::count, Kind::Content),
            weak(Signal::Stuck, policy.stuck, progress::stuck, Kind::Content),
            same_call,
        ],
    )
}

/// The strongest finding in exchanges of texts, which end with the last one before the request. Repetition, cycles and streaks of what is
/// old are judged, no failures: what comes of a text is not so plain as what comes of a call.
pub fn in_exchanges(exchanges: &Steps<'_>, policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let last = exchanges.all.last()?;
    // A prose that was answered ends what the agent did before.
    let talks = |step: &Step<'_>| !step.acts;
    let start = match policy.off {
        Some(Condition::Answered) => None,
        _ if talks(last) => None,
        _ => exchanges.all.iter().rposition(talks).map(|at| at.saturating_add(1)),
    };
    let steps = exchanges.all.get(start.unwrap_or(0)..).unwrap_or_default();
    unless_asked_for(&exchanges.task, None, policy, &|policy| {
        let found = told_first(steps, policy, in_one_row);
        if found.as_ref().is_some_and(|finding| finding.verdict == Verdict::Kill) {
            return found;
        }
        // What goes on after a kill was told before it.
        resumed_exchange(steps, policy).or(found)
    })
}

/// The strongest finding in exchanges without a talk among them, or with nothing else.
fn in_one_row(steps: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let last = steps.last()?;
    let [proven, hinting, across, same_call, alike] =
        repetition(steps, last, Signal::RepeatedExchange, policy);
    strongest(
        last,
        [proven, hinting, across, in_rounds(steps, policy), stale_exchanges(steps, policy), alike, same_call],
    )
}

/// An exchange that had been stopped, and goes on after a framework has asked again.
fn resumed_exchange(exchanges: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let last = exchanges.last()?;
    // The kind is judged only where it can matter.
    if exchanges.iter().filter(|exchange| exchange.approach == last.approach).count()
        < repeated_step::LEAST_RESUMED
    {
        return None;
    }
    let row = policy.row(last, policy.repeated_step);
    repeated_step::resumes(exchanges, row.kill).then(|| Finding {
        count: number(exchanges.iter().filter(|exchange| last.is_like(exchange)).count()),
        tool: last.tool.to_owned(),
        ..Finding::of(Signal::RepeatedExchange, Verdict::Kill)
    })
}

/// Exchanges in a row that were all there before, the last one for the fourth time.
fn stale_exchanges(exchanges: &[Step<'_>], policy: &StepsPolicy) -> Counted {
    let least = policy.stagnation.kill;
    let stale = if least == 0 { Streak::default() } else { progress::fourth(exchanges, least) };
    if !stale.proves(|step| policy.is_proof(exchanges, stale.steps, step)) {
        return Counted::NOTHING;
    }
    let row = policy.row_of_all(stale.steps, policy.stagnation).killing();
    Counted::of(Signal::Stagnation, stale.length, row, Kind::Content)
}

/// Rounds of a cycle. It kills where one of its steps is a proof; each of the others is equal too.
fn in_rounds(steps: &[Step<'_>], policy: &StepsPolicy) -> Counted {
    let least = policy.least(steps, policy.cycle);
    let (rounds, round) = cycle::rounds(steps, least);
    if rounds < least {
        return Counted::NOTHING;
    }
    let row = policy.row_of_all(round, policy.cycle);
    let is_proven = round.iter().any(|step| policy.is_proof(steps, round, step));
    Counted::of(Signal::Cycle, rounds, if is_proven { row } else { row.hinting() }, kind_of(round))
}

/// Five counts of the last step: towards a kill, towards a hint, towards a hint with new work in between, of the same call in a row,
/// and of outcomes that are alike.
fn repetition(steps: &[Step<'_>], last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> [Counted; 5] {
    let least = policy.least(steps, policy.repeated_step);
    let repeated = repeated_step::repeated(steps, policy, least);
    let [killing, hinting, across] = if repeated.nears_an_end {
        [Counted::NOTHING; 3]
    } else if repeated.in_window < least {
        // One failure is too often the same, whatever else is learned.
        let row = policy.of_tools(last, Thresholds::hinting_from(policy.waiting));
        let is_failure = last.kind() == Kind::Failure;
        let across = if is_failure {
            Counted::of(signal, repeated.in_all, row.hinting(), Kind::Failure)
        } else {
            Counted::NOTHING
        };
        [Counted::NOTHING, Counted::NOTHING, across]
    } else {
        repetitions(&repeated, last, signal, policy)
    };
    [killing, hinting, across, same_call(steps, last, signal, policy), alike(steps, last, signal, policy)]
}

/// What is counted of the last step, which is there often enough: for a kill, for a hint, for a hint where new work lies between.
fn repetitions(repeated: &Repeated, last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> [Counted; 3] {
    let weak = Thresholds::hinting_from(policy.weak);
    // Who waits in every round is polling.
    let waits = repeated.waits >= repeated.in_window.saturating_sub(1).max(1);
    let is_plain = waits || !matches!(last.kind(), Kind::Content | Kind::Failure);
    let kind = if waits { Kind::Waiting } else { last.kind() };
    let row = match waits {
        true => policy.of_tools(last, Thresholds::hinting_from(policy.waiting)),
        false => policy.row(last, policy.repeated_step),
    };
    // Counted in the window, whatever lies between: only weak rows do so. Who presses a key after each entry is at work.
    if is_plain {
        let count = if kind == Kind::Acknowledgement { repeated.in_rounds } else { repeated.in_window };
        [Counted::of(signal, count, row, kind), Counted::NOTHING, Counted::NOTHING]
    } else if repeated.is_steady {
        [
            Counted::of(signal, repeated.proven, row.killing(), kind),
            Counted::of(signal, repeated.in_rounds, row.hinting(), kind),
            // Where what was tried in between brought only what is known, once more is enough.
            if repeated.without_news > row.hint {
                Counted::of(signal, repeated.without_news, row.hinting(), kind)
            } else {
                Counted::of(signal, repeated.in_window, weak.lenient(row).hinting(), kind)
            },
        ]
    } else {
        let row = policy.changing.lenient(row);
        let kills = if repeated.is_chance { Thresholds::default() } else { row.killing() };
        [
            Counted::of(signal, repeated.in_a_row, kills, kind),
            Counted::of(signal, repeated.proven, row.hinting(), kind),
            Counted::of(signal, repeated.in_window, weak.lenient(row).hinting(), kind),
        ]
    }
}

/// The same call in a row, whatever came of it.
fn same_call(steps: &[Step<'_>], last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> Counted {
    let weak = Thresholds::hinting_from(policy.weak).lenient(policy.repeated_step.hinting());
    let count = repeated_step::same_call(steps, weak.least());
    if count < weak.least() {
        return Counted::NOTHING;
    }
    // A text that answers an agent without tools may be another task, if nothing like it was there before.
    if signal == Signal::RepeatedExchange && !steps.iter().rev().skip(1).any(|step| step.is_alike(last)) {
        return Counted::NOTHING;
    }
    // Where the outcome proves little, the call must say something.
    let is_told = last.weight() >= Weight::Full || matches!(last.kind(), Kind::Content | Kind::Failure);
    let row = if is_told { weak } else { policy.row(last, policy.repeated_step) };
    let row = policy.of_tools(last, policy.of_deed(last, row)).hinting();
    Counted { is_any_outcome: true, ..Counted::of(signal, count, row, Kind::Content) }
}

/// Outcomes that differ in what is volatile by its shape.
fn alike(steps: &[Step<'_>], last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> Counted {
    let count = repeated_step::alike(steps, policy.window, policy.alike.least());
    if count < policy.alike.least() || !matches!(last.kind(), Kind::Content | Kind::Failure) {
        return Counted::NOTHING;
    }
    let row = policy.row(last, policy.repeated_step);
    Counted::of(signal, count, policy.of_tools(last, policy.alike.lenient_hint(row)), last.kind())
}

/// What a signal has counted, from which count it speaks, and the kind of what it counted.
#[derive(Clone, Copy, Debug)]
struct Counted {
    signal: Signal,
    count: u32,
    thresholds: Thresholds,
    kind: Kind,
    /// The call is the same, and its outcome was another one now and then.
    is_any_outcome: bool,
}

impl Counted {
    /// A count that says nothing.
    const NOTHING: Self =
        Self::of(Signal::RepeatedStep, 0, Thresholds { hint: 0, kill: 0 }, Kind::Acknowledgement);

    const fn of(signal: Signal, count: u32, thresholds: Thresholds, kind: Kind) -> Self {
        Self { signal, count, thresholds, kind, is_any_outcome: false }
    }
}

fn strongest<const N: usize>(last: &Step<'_>, found: [Counted; N]) -> Option<Finding> {
    let mut strongest: Option<Finding> = None;
    for Counted { signal, count, thresholds, kind, is_any_outcome } in found {
        let verdict = thresholds.verdict(count);
        if verdict > strongest.as_ref().map_or(Verdict::Allow, |finding| finding.verdict) {
            strongest = Some(Finding {
                count,
                tool: last.tool.to_owned(),
                is_waiting: kind == Kind::Waiting,
                is_any_outcome,
                ..Finding::of(signal, verdict)
            });
        }
    }
    strongest
}

/// The run limit: so many assistant turns after the last user message.
pub fn in_turns(turns: u32, limit: u32) -> Option<Finding> {
    let hint = limit.saturating_mul(4).checked_div(5).unwrap_or(0);
    let verdict = Thresholds { hint, kill: limit }.verdict(turns);
    (limit > 0 && verdict > Verdict::Allow)
        .then(|| Finding { count: turns, ..Finding::of(Signal::RunLimit, verdict) })
}

/// A length as a count.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
