//! New settings, tried on the last runs: each verdict that is on record is judged again. Runs that were let pass keep no counts; what only they
//! could say is named as not judged.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, HashMap},
};

use sentinel_config::{Config, Mode, Policy};
use sentinel_console::settings::{Differs, Fate, TriedSettings};
use sentinel_detect::{signal::Range, verdict::Verdict};
use serde_json::{Map, Value};

use super::{
    super::{Console, pages::Failure, view},
    again::{again, not_judged},
    config, sender,
};
use crate::control::{
    live::LiveSettings,
    runs::RunQuery,
    turn::{Turn, VerdictKind},
};

/// Runs that are looked at.
const RUNS: usize = 1_000;
/// Turns of each that are looked at.
const TURNS: usize = 200;

/// Which settings acted at which time.
struct Acted {
    /// Each version of the settings with the time from which it acted, the newest first.
    versions: Vec<(u64, LiveSettings, OnceCell<Option<Config>>)>,
}

impl Acted {
    /// What acted at a time; `None` where that is not known any more.
    fn at(&self, at_ms: u64, base: &Value) -> Option<&Config> {
        let (_, settings, known) = self.versions.iter().find(|(from_ms, ..)| *from_ms <= at_ms)?;
        known.get_or_init(|| config(base, &settings.settings)).as_ref()
    }
}

pub async fn try_out(
    console: &Console,
    base: &Value,
    current: &LiveSettings,
    new: &Map<String, Value>,
) -> Result<TriedSettings, Failure> {
    let (Some(before), Some(after)) = (config(base, &current.settings), config(base, new)) else {
        return Ok(TriedSettings::default());
    };
    let acted = acted(console, current).await?;
    let query = RunQuery { limit: RUNS, ..RunQuery::default() };
    let page = console.control.runs.list(&query).await?;
    let mut tried = TriedSettings { runs: view::now::count(page.runs.len()), ..TriedSettings::default() };
    let mut changes: HashMap<(String, String), bool> = HashMap::new();
    let mut unjudged: BTreeMap<String, &'static str> = BTreeMap::new();
    for run in &page.runs {
        let names = &run.run.names;
        let (old, new) = (before.policy(sender(names)), after.policy(sender(names)));
        let is_other = *changes.entry((names.client.clone(), names.agent.clone())).or_insert_with(|| {
            unjudged.extend(not_judged(old, new));
            !is_same(old, new)
        });
        if !is_other {
            continue;
        }
        tried.touched = tried.touched.saturating_add(1);
        if run.run.hints == 0 && run.run.kills == 0 {
            continue;
        }
        let turns = console.control.runs.turns(&run.id, None, TURNS).await?.turns;
        let turns = || turns.iter().map(|turn| &turn.turn);
        let by = |policy: &Policy| {
            fates(turns(), policy, |turn| Some(&**acted.at(turn.at_ms, base)?.policy(sender(names))))
        };
        let (was, would_be) = (by(old), by(new));
        if was.least == was.most && would_be.least == would_be.most {
            if was.least != would_be.least {
                let who = view::who(names);
                tried.differ.push(Differs {
                    id: run.id.clone(),
                    who,
                    before: was.least,
                    after: would_be.least,
                });
            }
        } else if was != would_be {
            tried.unknown.push((run.id.clone(), view::who(names)));
        }
    }
    tried.not_judged = unjudged.into_iter().collect();
    Ok(tried)
}

async fn acted(console: &Console, current: &LiveSettings) -> Result<Acted, Failure> {
    let history = console.control.live.history(None).await?;
    let mut settings: Vec<LiveSettings> = vec![current.clone()];
    settings.extend(
        history.into_iter().map(|(_, version)| version).filter(|version| version.version < current.version),
    );
    // Before the first version the configuration acted alone.
    if settings.last().is_some_and(|oldest| oldest.version == 1) {
        settings.push(LiveSettings::default());
    }
    let version = |settings: LiveSettings| (settings.at_ms, settings, OnceCell::new());
    Ok(Acted { versions: settings.into_iter().map(version).collect() })
}

/// Whether two policies do the same. Their names in metrics may differ.
fn is_same(a: &Policy, b: &Policy) -> bool {
    Policy { agent: a.agent.clone(), ..b.clone() } == *a
}

/// The mildest and the severest thing that may have been done about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fates {
    least: Fate,
    most: Fate,
}

/// What a policy would do about a run. `recorded`: the policy that acted when a turn was judged.
fn fates<'t>(
    turns: impl Iterator<Item = &'t Turn>,
    policy: &Policy,
    recorded: impl Fn(&Turn) -> Option<&'t Policy>,
) -> Fates {
    let mut all = Fates { least: Fate::Passed, most: Fate::Passed };
    for turn in turns.filter(|turn| turn.verdict.kind != VerdictKind::Allow) {
        let range = recorded(turn).map_or(Range::ANY, |recorded| again(turn, recorded, policy));
        all.least = all.least.max(fate(range.least, policy));
        all.most = all.most.max(fate(range.most, policy));
    }
    all
}

fn fate(verdict: Verdict, policy: &Policy) -> Fate {
    match verdict {
        _ if policy.mode == Mode::Observe => Fate::Passed,
        Verdict::Allow => Fate::Passed,
        Verdict::Hint => Fate::Told,
        Verdict::Kill => Fate::Ended,
    }
}
