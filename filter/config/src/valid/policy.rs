//! What may differ from agent to agent.

use std::sync::Arc;

use sentinel_detect::{
    prompts::PromptsPolicy,
    signal::{StepsPolicy, score::ScorePolicy},
    verdict::Signal,
    window,
};
use sentinel_guard::Place;
use sentinel_llm_api::{dialect::Position, spotlight::Spotlight};

use super::{
    between,
    bounds::{BoundsPolicy, bounds},
    cache::{CachePolicy, cache},
    millis,
    models::{ModelPolicy, models},
    spotlight::spotlight,
    steps::steps,
    tools::{ToolPolicy, tools},
};
use crate::{
    ConfigError, placeholders,
    raw::{GuardAction, HintPosition, KillMode, Mode, RawConfig, WhenUnreadable},
};

/// Limits of the semantic signal's history, stored by the service (`LOOP_HISTORY_SIZE`).
const MAX_REPEATS: u32 = 5;
/// What metrics call agents that no row of `agents[]` fits.
const OTHER: &str = "other";
/// Statuses that SDKs of the providers retry.
const RETRIED: [u16; 4] = [408, 409, 425, 429];

/// What may differ from agent to agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The row of `agents[]` that it comes from, as metrics name it: its name, or its prefix and `*`; `other` where none
    /// fits. A closed set of the operator's own words, never what a client sent.
    pub agent: Arc<str>,
    pub enabled: bool,
    pub mode: Mode,
    pub similarity_threshold: f64,
    /// Earlier prompts that must match.
    pub semantic_repeats: u32,
    /// Earlier prompts that must match for a kill; 0: never.
    pub semantic_kill: u32,
    pub steps: StepsPolicy,
    /// 0: none.
    pub run_limit: u32,
    pub prompts: PromptsPolicy,
    pub models: ModelPolicy,
    pub tools: ToolPolicy,
    pub guard: GuardPolicy,
    pub unreadable: WhenUnreadable,
    pub bounds: BoundsPolicy,
    /// None: no answer is given again.
    pub cache: Option<CachePolicy>,
    /// How tool results are marked. `None` if they are not marked.
    pub spotlight: Option<Spotlight>,
    /// Whether answers are cleaned.
    pub cleans: bool,
    pub hint: HintPolicy,
    pub kill: KillPolicy,
}

/// What is done about injections, by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardPolicy {
    pub user: GuardAction,
    pub tool: GuardAction,
    /// Whether the service reads new tool results afterwards.
    pub second_opinion: bool,
}

impl Policy {
    /// Whether a request that cannot be read in full is refused: something is forbidden to the agent, and the request could hold
    /// just that.
    pub fn refuses_unreadable(&self) -> bool {
        let is_open = self.models.is_open() && self.tools.is_open() && !self.guard.blocks();
        self.enabled && !is_open && self.unreadable == WhenUnreadable::Refuse
    }
}

impl GuardPolicy {
    /// Whether an injection is blocked in any place.
    pub fn blocks(self) -> bool {
        [self.user, self.tool].contains(&GuardAction::Block)
    }

    /// What is done about one that stands here.
    pub fn action(self, place: Place) -> GuardAction {
        match place {
            Place::User => self.user,
            Place::Tool => self.tool,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct HintPolicy {
    pub position: Position,
    /// Never empty.
    texts: Vec<(Signal, String)>,
    /// For what waits, whatever the signal.
    pub waiting: String,
    /// For the same call in a row whose outcome was not always the same.
    pub same_call: String,
}

impl HintPolicy {
    /// The text for a signal, as configured: placeholders are not filled in.
    pub fn text(&self, signal: Signal) -> &str {
        self.texts.iter().find(|(known, _)| *known == signal).map_or("", |(_, text)| text.as_str())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct KillPolicy {
    pub enabled: bool,
    pub mode: KillMode,
    pub status: u16,
    pub message: String,
}

impl TryFrom<&RawConfig> for Policy {
    type Error = ConfigError;

    fn try_from(raw: &RawConfig) -> Result<Self, ConfigError> {
        let RawConfig { semantic, score, hint, kill, .. } = raw;
        if !(0.0..=1.0).contains(&raw.similarity_threshold) {
            return Err(ConfigError::new("similarity_threshold", "must lie between 0 and 1"));
        }
        if !(1..=MAX_REPEATS).contains(&semantic.repeats) {
            return Err(ConfigError::new("semantic.repeats", "must lie between 1 and 5"));
        }
        if semantic.kill > MAX_REPEATS || (1..semantic.repeats).contains(&semantic.kill) {
            return Err(ConfigError::new(
                "semantic.kill",
                "must be 0, or lie between semantic.repeats and 5",
            ));
        }
        let scores = 1.0..=1_000.0;
        if !scores.contains(&score.hint) {
            return Err(ConfigError::new("score.hint", "must lie between 1 and 1000"));
        }
        if !scores.contains(&score.kill) || score.kill < score.hint {
            return Err(ConfigError::new("score.kill", "must lie between score.hint and 1000"));
        }
        if !(400..=499).contains(&kill.status) || RETRIED.contains(&kill.status) {
            return Err(ConfigError::new(
                "kill.status",
                format!(
                    "{} would be retried or is no client error; take 400, which most agents show with its reason",
                    kill.status
                ),
            ));
        }
        let text = |path: &str, text: &str, known| {
            if text.trim().is_empty() {
                return Err(ConfigError::new(path, "must not be empty"));
            }
            placeholders::check(path, text, known).map(|()| text.to_owned())
        };
        let fallback = text("intervention_message", &raw.intervention_message, placeholders::IN_HINT)?;
        for signal in Signal::ALL.iter().copied() {
            let path = format!("hint.messages.{}", signal.label());
            let known =
                if signal == Signal::Budget { placeholders::IN_BUDGET } else { placeholders::IN_HINT };
            placeholders::check(&path, hint.messages.of(signal), known)?;
        }
        placeholders::check("hint.messages.waiting", &hint.messages.waiting, placeholders::IN_HINT)?;
        let message = |own: &str| if own.trim().is_empty() { fallback.clone() } else { own.to_owned() };
        Ok(Self {
            agent: OTHER.into(),
            enabled: raw.enabled,
            mode: raw.mode,
            similarity_threshold: raw.similarity_threshold,
            semantic_repeats: semantic.repeats,
            semantic_kill: semantic.kill,
            steps: steps(&raw.steps, own_words(&kill.message))?,
            run_limit: raw.run_limit,
            prompts: PromptsPolicy {
                score: ScorePolicy {
                    enabled: score.enabled,
                    hint: score.hint,
                    kill: score.kill,
                    min_words: score.min_words,
                    window: between("score.window", score.window, 2, window::MAX_LENGTH)?,
                    kill_by_agent: score.kill_by_agent,
                },
                words_to_ask: semantic.enabled.then_some(semantic.min_words),
                kill_lasts: millis("kill.expires", &kill.expires)?,
            },
            models: models(raw)?,
            tools: tools(&raw.tools)?,
            bounds: bounds(&raw.bounds)?,
            guard: GuardPolicy {
                user: raw.guard.user,
                tool: raw.guard.tool,
                second_opinion: raw.guard.second_opinion,
            },
            unreadable: raw.unreadable,
            cache: cache(&raw.cache)?,
            spotlight: spotlight(&raw.spotlight)?,
            cleans: raw.clean.enabled,
            hint: HintPolicy {
                position: match hint.position {
                    HintPosition::Start => Position::Start,
                    HintPosition::End => Position::End,
                },
                texts: Signal::ALL
                    .iter()
                    .map(|signal| (*signal, message(hint.messages.of(*signal))))
                    .collect(),
                waiting: message(&hint.messages.waiting),
                same_call: message(&hint.messages.same_call),
            },
            kill: KillPolicy {
                enabled: kill.enabled,
                mode: kill.mode,
                status: kill.status,
                message: text("kill.message", &kill.message, placeholders::IN_KILL)?,
            },
        })
    }
}

/// How our final messages begin: the text before its first placeholder. Empty if it is too short to be told from an answer.
fn own_words(message: &str) -> &str {
    /// Bytes that no answer begins with by chance.
    const LEAST: usize = 12;
    let before = message.split('{').next().unwrap_or_default().trim();
    if before.len() < LEAST { "" } else { before }
}
