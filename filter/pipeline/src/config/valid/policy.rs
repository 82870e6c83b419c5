//! What may differ from agent to agent.

use std::sync::Arc;

use sentinel_detect::{
    injection::Place,
    prompts::PromptsPolicy,
    signal::{StepsPolicy, score::ScorePolicy},
    verdict::Signal,
    window,
};
use sentinel_llm_api::{dialect::Position, marks::Marks};

use super::{
    super::{
        ConfigError,
        raw::{GuardAction, HintPosition, KillMode, Mode, RawConfig},
    },
    between,
    bounds::{BoundsPolicy, bounds},
    cache::{CachePolicy, cache},
    millis,
    spotlight::marks,
    steps::steps,
    tools::{ToolPolicy, tools},
};

/// Limits of the semantic signal's history, kept by the service (`LOOP_HISTORY_SIZE`).
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
    pub steps: StepsPolicy,
    /// 0: none.
    pub run_limit: u32,
    pub prompts: PromptsPolicy,
    pub tools: ToolPolicy,
    pub guard: GuardPolicy,
    pub bounds: BoundsPolicy,
    /// None: no answer is given again.
    pub cache: Option<CachePolicy>,
    /// How tool results are marked; none where they are not.
    pub marks: Option<Marks>,
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
}

impl GuardPolicy {
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
    texts: [(Signal, String); Signal::ALL.len()],
    /// For what waits, whatever the signal.
    pub waiting: String,
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
                format!("{} would be retried or is no client error; take 400, 403 or 422", kill.status),
            ));
        }
        let text = |path: &str, text: &str| {
            if text.trim().is_empty() {
                return Err(ConfigError::new(path, "must not be empty"));
            }
            Ok(text.to_owned())
        };
        let fallback = text("intervention_message", &raw.intervention_message)?;
        let message = |own: &str| if own.trim().is_empty() { fallback.clone() } else { own.to_owned() };
        Ok(Self {
            agent: OTHER.into(),
            enabled: raw.enabled,
            mode: raw.mode,
            similarity_threshold: raw.similarity_threshold,
            semantic_repeats: semantic.repeats,
            steps: steps(&raw.steps)?,
            run_limit: raw.run_limit,
            prompts: PromptsPolicy {
                score: ScorePolicy {
                    enabled: score.enabled,
                    hint: score.hint,
                    kill: score.kill,
                    min_words: score.min_words,
                    window: between("score.window", score.window, 2, window::MAX_LENGTH)?,
                },
                words_to_ask: semantic.enabled.then_some(semantic.min_words),
                kill_lasts: millis("kill.expires", &kill.expires)?,
            },
            tools: tools(&raw.tools)?,
            bounds: bounds(&raw.bounds)?,
            guard: GuardPolicy { user: raw.guard.user, tool: raw.guard.tool },
            cache: cache(&raw.cache)?,
            marks: marks(&raw.spotlight)?,
            cleans: raw.clean.enabled,
            hint: HintPolicy {
                position: match hint.position {
                    HintPosition::Start => Position::Start,
                    HintPosition::End => Position::End,
                },
                texts: Signal::ALL.map(|signal| (signal, message(hint.messages.of(signal)))),
                waiting: message(&hint.messages.waiting),
            },
            kill: KillPolicy {
                enabled: kill.enabled,
                mode: kill.mode,
                status: kill.status,
                message: text("kill.message", &kill.message)?,
            },
        })
    }
}
